"""Conditional parameters: each is active only where others have certain values.

An inactive parameter is absent from a configuration and stands at `INACTIVE` in the unit cube, so that all points that
differ in inactive coordinates alone are one point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btao.arrays import BoolArray, FloatArray, IntArray
from btao.parameters import Parameter, key

# The coordinate of an inactive parameter: the middle, which is no farther from one active value than from its mirror.
INACTIVE = 0.5
FEW = 8  # values that are looked for one by one


@dataclass(frozen=True, init=False)
class When:
    """A condition: the parameter that has it is active where another one is active and has one of some values.

    Parameters
    ----------
    parameter : str
        The name of the other parameter: one with single values, as integers or categories.
    *values
        Its values, at least one.

    Raises
    ------
    TypeError
        If `parameter` is no str.
    ValueError
        If there are no values.

    Examples
    --------
    >>> from btao import Categorical, Real, Space, When
    >>> space = Space(
    ...     {"optimizer": Categorical(["adam", "sgd"]), "momentum": Real(0, 0.99)},
    ...     conditions={"momentum": When("optimizer", "sgd")},
    ... )
    >>> space.from_unit([0.0, 1.0]), space.from_unit([1.0, 1.0])
    ({'optimizer': 'adam'}, {'optimizer': 'sgd', 'momentum': 0.99})
    >>> space.validate({"optimizer": "adam", "momentum": 0.9})
    Traceback (most recent call last):
        ...
    ValueError: config has a value for 'momentum', which is active only where optimizer is 'sgd': leave it out
    """

    parameter: str
    values: tuple[Any, ...] = field(compare=False)
    _keys: tuple[Any, ...] = field(repr=False)

    def __init__(self, parameter: str, *values: Any) -> None:
        if not isinstance(parameter, str):
            raise TypeError(f"When: parameter must be the name of a parameter, got {parameter!r}")
        if not values:
            raise ValueError(f"When: give the values of {parameter!r} at which the parameter is active, got none")
        object.__setattr__(self, "parameter", parameter)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_keys", tuple(map(key, values)))

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether the other parameter is among the active ones, whose values these are, and has one of its values."""
        return self.parameter in values and key(values[self.parameter]) in self._keys

    def __str__(self) -> str:
        return f"{self.parameter} is {' or '.join(map(repr, self.values))}"


class Conditions:
    """The conditions of a space.

    Parameters
    ----------
    parameters : mapping of str to Parameter
    conditions : mapping of str to When or sequence of When
        By the name of the conditional parameter; all of a sequence must hold.

    Attributes
    ----------
    of : dict of str to tuple of When
        By conditional parameter, in the order of the parameters; the values as the parameters have them.
    order : tuple of str
        All names such that each comes after those that its conditions name, otherwise in their own order.

    Raises
    ------
    TypeError
        If `conditions` is of another form, or a value of another type than its parameter takes.
    ValueError
        If a name is unknown, a value is none of its parameter, or conditions form a circle.
    """

    def __init__(self, parameters: Mapping[str, Parameter], conditions: Mapping[str, When | Sequence[When]]) -> None:
        if not isinstance(conditions, Mapping):
            raise TypeError(f"conditions must map names of parameters to When, got {conditions!r}")
        for name in conditions:
            if name not in parameters:
                raise ValueError(f"conditions: no parameter is called {name!r}; the names are {list(parameters)}")
        self._parameters = parameters
        self.of: dict[str, tuple[When, ...]] = {
            name: tuple(_checked(name, when, parameters) for when in _listed(name, conditions[name]))
            for name in parameters
            if name in conditions
        }
        self.order: tuple[str, ...] = _ordered(parameters, self.of)
        self._places = {name: place for place, name in enumerate(parameters)}
        # Of each condition the name of the other parameter and the bins of its values.
        self._bins: dict[str, list[tuple[str, IntArray]]] = {
            name: [(when.parameter, _bins(parameters[when.parameter], when)) for when in whens]
            for name, whens in self.of.items()
        }

    def text(self, name: str) -> str:
        """The conditions of a parameter, for messages."""
        return " and ".join(map(str, self.of[name]))

    def holds(self, name: str, values: Mapping[str, Any]) -> bool:
        """Whether a parameter is active, given the values of all active ones that come before it in `order`."""
        return all(when.holds(values) for when in self.of.get(name, ()))

    def active(self, points: FloatArray) -> BoolArray:
        """Which parameters are active at points (n, dim) of the cube, (n, dim)."""
        active = np.ones(points.shape, dtype=bool)
        found: dict[str, IntArray] = {}  # bins of the others at the points
        for name in self.order:
            for other, bins in self._bins.get(name, ()):
                place = self._places[other]
                if other not in found:
                    found[other] = self._parameters[other].bins(points[:, place])
                active[:, self._places[name]] &= active[:, place] & _among(found[other], bins)
        return active

    def count(self) -> int | float:
        """The number of distinct configurations."""
        return self._count(self.order, {})

    def _count(self, names: Sequence[str], fixed: Mapping[str, Any]) -> int | float:
        """The number of distinct configurations of some parameters, given the values of those that come before them.

        Parameters that no condition ties are counted apart and multiplied, so that the work grows with the longest
        chain of conditions and not with their number.
        """
        total: int | float = 1
        for first, *rest in self._components(names):
            if not self.holds(first, fixed):
                counted = self._count(rest, fixed)
            elif not rest:
                counted = self._parameters[first].size
            else:
                cases = self._cases(first)
                parts = [number * self._count(rest, {**fixed, first: value}) for value, number in cases]
                # Neither sum nor product with an infinity among them: an int above 1e308 overflows there.
                counted = math.inf if math.inf in parts else sum(parts)
            total = math.inf if math.inf in (total, counted) else total * counted
        return total

    def _components(self, names: Sequence[str]) -> list[list[str]]:
        """The names, in their order, in groups such that conditions tie names of one group only."""
        group = {name: [name] for name in names}
        for name in names:
            for other, _ in self._bins.get(name, ()):
                if other in group and group[other] is not group[name]:
                    joined = group[other] + group[name]
                    group.update(dict.fromkeys(joined, joined))
        distinct = {id(joined): set(joined) for joined in group.values()}
        return [[name for name in names if name in joined] for joined in distinct.values()]

    def _cases(self, name: str) -> list[tuple[Any, int]]:
        """Values of a parameter and how many are as good as each: those that no condition names are all alike."""
        kind = self._parameters[name]
        named = {int(i) for bins in self._bins.values() for other, each in bins if other == name for i in each}
        cases = [(kind.at(index), 1) for index in sorted(named)]
        if len(named) < kind.count:
            unnamed = next(index for index in range(kind.count) if index not in named)
            cases.append((kind.at(unnamed), kind.count - len(named)))
        return cases

    def all_points(self) -> FloatArray:
        """Every configuration of a finite space, as points (size, dim)."""
        points = np.full((1, len(self._parameters)), INACTIVE)
        for name in self.order:
            kind, place = self._parameters[name], self._places[name]
            active = self.active(points)[:, place]
            repeats = np.where(active, kind.count, 1)
            points, active = np.repeat(points, repeats, axis=0), np.repeat(active, repeats)
            points[active, place] = np.tile(kind.centers(), active.sum() // kind.count)
        return points


def _among(values: IntArray, some: IntArray) -> BoolArray:
    """Which values are among some others."""
    if len(some) > FEW:
        return np.isin(values, some)
    among: BoolArray = (values[:, None] == some).any(axis=1)
    return among


def _listed(name: str, conditions: When | Sequence[When]) -> Sequence[When]:
    listed = (conditions,) if isinstance(conditions, When) else conditions
    if not (isinstance(listed, list | tuple) and listed and all(isinstance(when, When) for when in listed)):
        raise TypeError(f"conditions[{name!r}] must be a When or a list of them, got {conditions!r}")
    return listed


def _checked(name: str, when: When, parameters: Mapping[str, Parameter]) -> When:
    """A condition with the values as the other parameter has them."""
    where = f"conditions[{name!r}]"
    if when.parameter not in parameters:
        raise ValueError(f"{where}: no parameter is called {when.parameter!r}; the names are {list(parameters)}")
    other = parameters[when.parameter]
    if other.continuous:
        raise TypeError(
            f"{where}: {when.parameter!r} is real; a condition is on an integer, ordinal or categorical one, or on one "
            "with a step"
        )
    try:
        return When(when.parameter, *(other.validate(value) for value in when.values))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: parameter {when.parameter!r}: {error}") from None


def _ordered(parameters: Mapping[str, Parameter], of: Mapping[str, tuple[When, ...]]) -> tuple[str, ...]:
    ordered: dict[str, None] = {}
    waiting = list(parameters)
    while waiting:
        ready = [name for name in waiting if all(when.parameter in ordered for when in of.get(name, ()))]
        if not ready:
            raise ValueError(f"conditions form a circle, so that none of {waiting} is ever active: remove one of them")
        ordered[ready[0]] = None
        waiting.remove(ready[0])
    return tuple(ordered)


def _bins(parameter: Parameter, when: When) -> IntArray:
    return np.array(sorted({parameter.index(value) for value in when.values}))
