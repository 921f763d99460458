"""What is searched, given as scikit-learn's searches take it, and the parameters that an estimator is set to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btao.checks import is_integer, is_number
from btao.parameters import Categorical, Integer, Ordinal, Parameter, Real, Scalar
from btao.space import Space

# Of a distribution without an end on a side, what is searched there ends at this quantile.
TAIL = 1e-3


@dataclass(frozen=True)
class Candidates:
    """A space, and how its configurations are told to an estimator.

    Attributes
    ----------
    space : Space
    decoders : dict
        By name, the function that gives the estimator's value; the others are given as they are.
    constants : dict
        What every candidate has, too.
    """

    space: Space
    decoders: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, space: object) -> Candidates:
        """What `BTAOSearchCV` takes as its `space`.

        Parameters
        ----------
        space : Space, or mapping of str to parameter, frozen distribution of scipy.stats, or list
            Uniform and log-uniform distributions and `randint` become `Real` and `Integer`, other discrete ones the
            integers between their quantiles 0.001 and 0.999. Any other distribution is searched by its quantiles.
            A list of ints, or of floats, becomes an `Ordinal`, any other a `Categorical`; one with a single value is
            a constant.

        Raises
        ------
        TypeError, ValueError
            If `space` is none of these.
        """
        if isinstance(space, Space):
            return cls(space)
        if not isinstance(space, Mapping):
            raise TypeError(
                f"space must be a btao.Space, or map names to parameters, distributions or lists, got {space!r}"
            )
        parameters: dict[str, Parameter] = {}
        decoders: dict[str, Callable[[Any], Any]] = {}
        constants: dict[str, Any] = {}
        for name, given in space.items():
            if isinstance(given, Parameter):
                parameters[name] = given
            elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
                values = _distinct(name, given)
                if len(values) == 1:
                    constants[name] = values[0]
                else:
                    parameters[name], decoder = _of_list(values)
                    decoders |= {name: decoder} if decoder else {}
            else:
                parameters[name], decoder = _of_distribution(name, given)
                decoders |= {name: decoder} if decoder else {}
        if not parameters:
            if not constants:
                raise ValueError(f"space must hold a parameter at least, got {dict(space)!r}")
            for name, value in constants.items():  # a space of one configuration, as a grid of one is
                parameters[name], decoder = _of_list([value])
                decoders |= {name: decoder} if decoder else {}
            constants = {}
        return cls(Space(parameters), decoders, constants)

    @property
    def names(self) -> set[str]:
        """What candidates set."""
        return {*self.space.names, *self.constants}

    def params(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of an estimator that a configuration of the space stands for."""
        decoded = {name: self.decoders.get(name, _as_it_is)(value) for name, value in config.items()}
        return {**self.constants, **decoded}


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class _At:
    """The value at a place of a list: what a model cannot hold, such as an estimator, is known by its place."""

    values: Sequence[Any]

    def __call__(self, place: int) -> Any:
        return self.values[place]


@dataclass(frozen=True)
class _Quantile:
    """The quantile of a distribution."""

    distribution: Any

    def __call__(self, share: float) -> float:
        return float(self.distribution.ppf(share))


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | bool) or (is_number(value) and math.isfinite(value))


def _distinct(name: object, given: Sequence[Any] | np.ndarray[Any, Any]) -> list[Any]:
    """The values of a list in plain Python, without repeated ones where these can be told."""
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not values:
        raise ValueError(f"space: the list of {name!r} must hold a value at least, got none")
    if all(_is_plain(value) for value in values):
        return list({(type(value), value): value for value in values}.values())
    return values


def _of_list(values: list[Any]) -> tuple[Parameter, Callable[[Any], Any] | None]:
    if all(is_integer(value) for value in values) or all(type(value) is float for value in values):
        if all(math.isfinite(value) for value in values):
            return Ordinal(sorted(values)), None
    elif all(_is_plain(value) for value in values):
        choices: list[Scalar] = values
        return Categorical(choices), None
    return Categorical(range(len(values))), _At(values)


def _of_distribution(name: object, given: Any) -> tuple[Parameter, Callable[[Any], Any] | None]:
    if not (hasattr(given, "ppf") and hasattr(given, "support")):
        raise TypeError(
            f"space: {name!r} must be a btao parameter, a list or a frozen distribution of scipy.stats, got {given!r}"
        )
    low, high = (float(end) for end in given.support())
    kind = getattr(given, "dist", given).name
    if hasattr(given, "pmf"):
        if kind != "randint":
            low, high = (float(given.ppf(share)) for share in (TAIL, 1 - TAIL))
        return Integer(int(low), int(high)), None
    if kind in ("uniform", "loguniform", "reciprocal"):
        return Real(low, high, log=kind != "uniform"), None
    shares = Real(0.0 if math.isfinite(low) else TAIL, 1.0 if math.isfinite(high) else 1 - TAIL)
    return shares, _Quantile(given)
