"""Spaces from and to those of ConfigSpace, value for value.

A library that searches in place of a method is given coordinates instead: see `baselines.libraries.configspace`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from btao.optional import load
from btao.parameters import Categorical, Constant, Integer, Ordinal, Parameter, Real, key
from btao.space import Space
from btao.spaces.conditions import When

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

# A condition by order is written as the list of the values at which it holds, a step as that of all values.
MOST_LISTED = 4096


def from_configspace(configspace: ConfigurationSpace) -> Space:
    """The space that a ConfigSpace describes.

    Parameters
    ----------
    configspace : ConfigurationSpace
        Of uniform floats and integers, ordinals of numbers, categories of equal weight and constants. Conditions are of
        any kind on parameters with single values, and joined by and; by or, where they are on one parameter.

    Returns
    -------
    Space
        Its parameters in the order of `configspace`. Defaults and names of the space are left out.

    Raises
    ------
    ImportError
        If ConfigSpace is not installed.
    TypeError
        If `configspace` is none.
    ValueError
        If a parameter or a condition is of another kind, such as one on a float, or there are forbidden clauses; it
        names them.

    Examples
    --------
    >>> from ConfigSpace import ConfigurationSpace
    >>> from_configspace(ConfigurationSpace({"rate": (0.0, 1.0), "kind": ["a", "b"]})).parameters["rate"]
    Real(low=0.0, high=1.0, log=False, step=None)
    """
    library = load("ConfigSpace", "this conversion")
    if not isinstance(configspace, library.ConfigurationSpace):
        raise TypeError(f"configspace must be a ConfigurationSpace, got {configspace!r}")
    if configspace.forbidden_clauses:
        raise ValueError(
            f"configspace has forbidden clauses, {configspace.forbidden_clauses[0]}: remove them, and give the space "
            "that you build a constraint= instead"
        )
    parameters = {name: _parameter(library, hyperparameter) for name, hyperparameter in configspace.items()}
    conditions: dict[str, list[When]] = {}
    for condition in configspace.conditions:
        conditions.setdefault(_child(condition).name, []).extend(_whens(library, condition, parameters))
    return Space(parameters, conditions=conditions)


def to_configspace(space: Space, *, seed: int | None = None) -> ConfigurationSpace:
    """The ConfigSpace that describes a space.

    Parameters
    ----------
    space : Space
        Without a constraint. Parameters with a step become ordinals, those with one value constants.
    seed : int, optional
        Of its samples.

    Returns
    -------
    ConfigurationSpace

    Raises
    ------
    ImportError
        If ConfigSpace is not installed.
    ValueError
        If the space has a constraint, more than 4,096 steps, choices that ConfigSpace takes for one, as True and 1, or
        numbers of several types as choices, which it gives back as numbers of one.

    Examples
    --------
    >>> from btao import Integer, Real, Space
    >>> configspace = to_configspace(Space({"rate": Real(0, 1), "units": Integer(8, 64)}), seed=0)
    >>> list(configspace), from_configspace(configspace).parameters["units"]
    (['rate', 'units'], Integer(low=8, high=64, log=False, step=1))
    """
    library = load("ConfigSpace", "this conversion")
    if space.constraint is not None:
        raise ValueError(
            "space has a constraint, which a ConfigSpace cannot hold; leave it out and check samples by it"
        )
    configspace = library.ConfigurationSpace(seed=seed)
    for name, kind in space.parameters.items():
        configspace.add(_hyperparameter(library, name, kind))
    for name, whens in space.conditions.items():
        parts = [
            library.InCondition(configspace[name], configspace[when.parameter], list(when.values)) for when in whens
        ]
        configspace.add(parts[0] if len(parts) == 1 else library.AndConjunction(*parts))
    made: ConfigurationSpace = configspace
    return made


def _parameter(library: Any, given: Any) -> Parameter:
    kinds = library.hyperparameters
    if isinstance(given, kinds.UniformFloatHyperparameter):
        return Real(float(given.lower), float(given.upper), log=bool(given.log))
    if isinstance(given, kinds.UniformIntegerHyperparameter):
        return Integer(int(given.lower), int(given.upper), log=bool(given.log))
    if isinstance(given, kinds.Constant):
        return Constant(_plain(given.value))
    if isinstance(given, kinds.CategoricalHyperparameter) and len({*map(float, given.probabilities)}) == 1:
        return Categorical([_plain(choice) for choice in given.choices])
    if isinstance(given, kinds.OrdinalHyperparameter):
        try:
            return Ordinal([_plain(value) for value in given.sequence])
        except (TypeError, ValueError) as error:
            raise ValueError(f"parameter {given.name!r} cannot be converted: {error}") from None
    raise ValueError(
        f"parameter {given.name!r} cannot be converted: it must be a uniform float or integer, an ordinal of numbers, "
        f"a category of equal weights or a constant, got {given}"
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _child(condition: Any) -> Any:
    return condition.components[0].child if hasattr(condition, "components") else condition.child


def _whens(library: Any, condition: Any, parameters: dict[str, Parameter]) -> list[When]:
    """A condition of ConfigSpace as those of a space, all of which must hold."""
    if isinstance(condition, library.AndConjunction):
        return [when for part in condition.components for when in _whens(library, part, parameters)]
    if isinstance(condition, library.OrConjunction):
        parts = [_whens(library, part, parameters) for part in condition.components]
        if any(len(part) != 1 or part[0].parameter != parts[0][0].parameter for part in parts):
            raise ValueError(f"condition {condition} cannot be converted: its parts must be on one parameter")
        distinct = {key(value): value for (when,) in parts for value in when.values}
        return [When(parts[0][0].parameter, *distinct.values())]
    name = condition.parent.name
    kind = parameters[name]
    if kind.continuous:
        raise ValueError(
            f"condition {condition} cannot be converted: {name!r} is a float, and a condition of a Space is on a "
            "parameter with single values; make it an integer or an ordinal"
        )
    if isinstance(condition, library.EqualsCondition | library.InCondition):
        named = condition.values if isinstance(condition, library.InCondition) else [condition.value]
        return [When(name, *(_as_held(kind, _plain(value)) for value in named))]
    holds: Callable[[Any], bool] = {
        library.NotEqualsCondition: lambda value: value != condition.value,
        library.LessThanCondition: lambda value: value < condition.value,
        library.GreaterThanCondition: lambda value: value > condition.value,
    }[type(condition)]
    values = [value for value in _values(name, kind) if holds(value)]
    if not values:
        raise ValueError(f"condition {condition} cannot be converted: it never holds")
    return [When(name, *values)]


def _as_held(kind: Parameter, value: Any) -> Any:
    """The value of a parameter that a condition means: ConfigSpace takes 1, 1.0 and True for one another."""
    if isinstance(kind, Integer):
        return int(value) if int(value) == value else value
    return next((held for held in map(kind.at, range(kind.count)) if held == value), value)


def _values(name: str, kind: Parameter) -> Sequence[Any]:
    if kind.size > MOST_LISTED:
        raise ValueError(
            f"parameter {name!r} cannot be converted: its values must be listed, and it has more than {MOST_LISTED:,}"
        )
    return [kind.at(index) for index in range(kind.count)]


def _hyperparameter(library: Any, name: str, kind: Parameter) -> Any:
    if kind.size == 1:
        return library.Constant(name, kind.at(0))
    if isinstance(kind, Categorical):
        if len({*kind.choices}) < kind.size:
            raise ValueError(f"parameter {name!r}: ConfigSpace takes some of {list(kind.choices)!r} for one choice")
        types = {*map(type, kind.choices)}
        if len(types) > 1 and types <= {bool, int, float}:
            raise ValueError(
                f"parameter {name!r}: ConfigSpace makes numbers of one type of {list(kind.choices)!r}; give choices of "
                "one type, or texts"
            )
        return library.CategoricalHyperparameter(name, list(kind.choices))
    if isinstance(kind, Integer) and kind.step == 1:
        return library.UniformIntegerHyperparameter(name, kind.low, kind.high, log=kind.log)
    if isinstance(kind, Real) and kind.continuous:
        return library.UniformFloatHyperparameter(name, kind.low, kind.high, log=kind.log)
    return library.OrdinalHyperparameter(name, _values(name, kind))
