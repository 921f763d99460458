"""`btao.Space` as a ConfigSpace, which SMAC, BOHB and DEHB search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.libraries.encoding import encode
from btao import Integer, Ordinal, Real, Space

if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace


def to_configspace(space: Space, seed: int) -> ConfigurationSpace:
    """The ConfigSpace in which a library searches in place of a space.

    A library models and samples the coordinate of a ConfigSpace parameter in [0, 1], linear in the
    value or in its logarithm. A real parameter is that coordinate itself: ConfigSpace rounds real
    values and bounds to 13 decimals, which would turn a bound of 1e-15 into 0. An integer is
    ConfigSpace's own uniform integer, on its own log scale where the parameter has one. An ordinal is the
    uniform integer of its index: ConfigSpace's ordinals have no place in the models of SMAC and BOHB but as
    that index. A category is the number of the choice, for ConfigSpace takes True, 1 and 1.0 for one value.

    Parameters
    ----------
    space : Space
    seed : int
        At least 0, of any size.

    Returns
    -------
    ConfigurationSpace
        One parameter of the same name for each of `space`, none conditional.
    """
    from ConfigSpace import (
        CategoricalHyperparameter,
        ConfigurationSpace,
        UniformFloatHyperparameter,
        UniformIntegerHyperparameter,
    )

    configspace = ConfigurationSpace(seed=int(np.random.SeedSequence(seed).generate_state(1)[0]))
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Real):
            configspace.add(UniformFloatHyperparameter(name, 0.0, 1.0))
        elif isinstance(parameter, Integer):
            configspace.add(UniformIntegerHyperparameter(name, parameter.low, parameter.high, log=parameter.log))
        elif isinstance(parameter, Ordinal):
            configspace.add(UniformIntegerHyperparameter(name, 0, parameter.size - 1))
        else:
            configspace.add(CategoricalHyperparameter(name, range(parameter.size)))
    return configspace


def from_configuration(space: Space, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of `space` that one of `to_configspace(space, ...)` stands for.

    Parameters
    ----------
    space : Space
    configuration : Configuration or mapping of str to value
        Numpy scalars are accepted.

    Returns
    -------
    dict
        Plain Python values, in the order of the parameters of `space`.
    """
    config: dict[str, Any] = {}
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Real):
            config[name] = parameter.from_unit(float(configuration[name]))
        elif isinstance(parameter, Integer):
            config[name] = int(configuration[name])
        else:
            config[name] = parameter.at(int(configuration[name]))
    return config


def to_configuration(space: Space, config: Mapping[str, Any], configspace: ConfigurationSpace) -> Configuration:
    """The configuration of `configspace` that stands for one of `space`.

    Parameters
    ----------
    space : Space
    config : mapping of str to value
        Valid in `space`.
    configspace : ConfigurationSpace
        What `to_configspace(space, ...)` returned.

    Returns
    -------
    Configuration
        `from_configuration` takes it back: exactly for integers, ordinals and categories, to the 13 decimals
        of the coordinate in [0, 1] for real parameters.
    """
    from ConfigSpace import Configuration

    values = encode(space, config)
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Real):
            values[name] = parameter.to_unit(config[name])
    return Configuration(configspace, values=values)
