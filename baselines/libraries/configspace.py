"""`btao.Space` as a ConfigSpace, which SMAC, BOHB and DEHB search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.libraries.encoding import conditions, decode_value, encode, encode_value, is_plain, varying
from btao import Categorical, Integer, Space

# ConfigSpace is imported when used: it is slow, and most methods do without.
if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace


def to_configspace(space: Space, seed: int) -> ConfigurationSpace:
    """The ConfigSpace in which a library searches in place of a space.

    A library models and samples the coordinate of a ConfigSpace parameter in [0, 1], linear in the
    value or in its logarithm. A real parameter is that coordinate itself: ConfigSpace rounds real
    values and bounds to 13 decimals, which would turn a bound of 1e-15 into 0. An integer is
    ConfigSpace's own uniform integer, on its own log scale where the parameter has one. An ordinal, or what has a step,
    is the uniform integer of its index: ConfigSpace's ordinals have no place in the models of SMAC and BOHB but as
    that index. A category is the number of the choice, for ConfigSpace takes True, 1 and 1.0 for one value. Constants
    are left out.

    Parameters
    ----------
    space : Space
    seed : int
        At least 0, of any size.

    Returns
    -------
    ConfigurationSpace
        One parameter of the same name for each of `space` that varies, with the same conditions.
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
    searched = varying(space)
    for name, parameter in searched.items():
        if parameter.continuous:
            configspace.add(UniformFloatHyperparameter(name, 0.0, 1.0))
        elif isinstance(parameter, Integer) and is_plain(parameter):
            configspace.add(UniformIntegerHyperparameter(name, parameter.low, parameter.high, log=parameter.log))
        elif isinstance(parameter, Categorical):
            configspace.add(CategoricalHyperparameter(name, range(parameter.size)))
        else:
            configspace.add(UniformIntegerHyperparameter(name, 0, parameter.count - 1))
    for name, whens in conditions(space).items():
        parts = [
            InCondition(
                configspace[name],
                configspace[when.parameter],
                [encode_value(searched[when.parameter], value) for value in when.values],
            )
            for when in whens
        ]
        configspace.add(parts[0] if len(parts) == 1 else AndConjunction(*parts))
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
        parameter = space.parameters[name]
        if parameter.size == 1:
            return parameter.at(0)
        if parameter.continuous:
            return parameter.from_unit(float(configuration[name]))
        return decode_value(parameter, int(configuration[name]))

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
        if (parameter := space.parameters[name]).continuous:
            values[name] = parameter.to_unit(value)
    return Configuration(configspace, values=values)
