"""`btao.Space` as a ConfigSpace, which SMAC, BOHB and DEHB search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.libraries.encoding import encode, encode_value
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
        One parameter of the same name for each of `space`, with the same conditions.
    """
    from ConfigSpace import (
        AndConjunction,
        CategoricalHyperparameter,
        ConfigurationSpace,
        InCondition,
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
    for name, whens in space.conditions.items():
        conditions = [
            InCondition(
                configspace[name],
                configspace[when.parameter],
                [encode_value(space.parameters[when.parameter], value) for value in when.values],
            )
            for when in whens
        ]
        configspace.add(conditions[0] if len(conditions) == 1 else AndConjunction(*conditions))
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
        Plain Python values of the active parameters, in the order of the parameters of `space`.
    """

    def value_of(name: str) -> Any:
        parameter, value = space.parameters[name], configuration[name]
        if isinstance(parameter, Real):
            return parameter.from_unit(float(value))
        return int(value) if isinstance(parameter, Integer) else parameter.at(int(value))

    return space.assemble(value_of)


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
    for name, value in config.items():
        if isinstance(parameter := space.parameters[name], Real):
            values[name] = parameter.to_unit(value)
    return Configuration(configspace, values=values)
