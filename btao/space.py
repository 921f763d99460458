"""Search spaces: named parameters and their map to the unit cube (METHOD item 15).

Every parameter has one coordinate in [0, 1]. A real parameter is scaled linearly, or in its
logarithm. An integer or a categorical parameter cuts its coordinate into one bin per value; all
points of a bin denote the same value, and the bin's center stands for it. Kernel features are
computed from the centers, so two points that round alike are one point to a model.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from btao.arrays import BoolArray, FloatArray, IntArray
from btao.checks import is_integer, is_number

Scalar = str | int | float | bool | None

# Above this, the center of a bin and its edges are too close to be told apart after rounding.
MAX_INTEGER_RANGE = 2**40

# Two different one-hot vectors of this height are at squared distance 1.
ONE_HOT_HEIGHT = 1 / math.sqrt(2)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def _real(value: object, what: str) -> float:
    """`value` as a finite Python float, or an error that says `what` it should have been."""
    if not is_number(value):
        raise TypeError(f"{what} must be a number, got {value!r} of type {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{what} must be finite, got {value!r}")
    return number


def _integer(value: object, what: str) -> int:
    """`value` as a Python int, or an error that says `what` it should have been."""
    if not is_integer(value):
        raise TypeError(f"{what} must be an integer, got {value!r} of type {type(value).__name__}")
    return int(value)


def _check_bounds(kind: str, low: float, high: float, log: object) -> None:
    if not _is_bool(log):
        raise TypeError(f"{kind}: log must be True or False, got {log!r}")
    if low == high:
        raise ValueError(
            f"{kind}: low and high are both {low!r}; a constant is no parameter: leave it out of the space "
            "and set it in the function that is minimized"
        )
    if low > high:
        raise ValueError(f"{kind}: low must be below high, got low={low!r}, high={high!r}")
    if log and low <= 0:
        raise ValueError(f"{kind}: low must be above 0 for a log scale, got low={low!r}")


def _check_within(value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"must lie in [{low!r}, {high!r}], got {value!r}")


@dataclass(frozen=True)
class Real:
    """A real parameter in [low, high].

    Parameters
    ----------
    low, high : float
        Bounds, finite, low < high.
    log : bool
        Whether the coordinate is linear in the logarithm of the value; low must then be positive.

    Raises
    ------
    TypeError
        If a bound is no number, or `log` no bool.
    ValueError
        If the bounds are not as above, or too far apart or too close for double precision.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        low, high = _real(self.low, "Real: low"), _real(self.high, "Real: high")
        _check_bounds("Real", low, high, self.log)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "log", bool(self.log))
        _, width = self._scale()
        if not math.isfinite(width) or width <= 0:
            raise ValueError(f"Real: double precision cannot resolve the range from {low!r} to {high!r}")

    @property
    def size(self) -> float:
        """Number of distinct values: infinite."""
        return math.inf

    def validate(self, value: object) -> float:
        """`value` as a Python float; TypeError or ValueError if it is not of this parameter."""
        number = _real(value, "value")
        _check_within(number, self.low, self.high)
        return number

    def to_unit(self, value: float) -> float:
        """The coordinate in [0, 1] of a valid value."""
        start, width = self._scale()
        return min(max((self._warp(value) - start) / width, 0.0), 1.0)

    def from_unit(self, u: float) -> float:
        """The value at a coordinate in [0, 1]; the bounds themselves at 0 and 1."""
        if u in (0.0, 1.0):
            return self.high if u else self.low
        start, width = self._scale()
        warped = start + u * width
        return min(max(math.exp(warped) if self.log else warped, self.low), self.high)

    def _warp(self, value: float) -> float:
        return math.log(value) if self.log else value

    def _scale(self) -> tuple[float, float]:
        start = self._warp(self.low)
        return start, self._warp(self.high) - start


def _equal_bins(u: FloatArray, count: int) -> IntArray:
    """The bin, of `count` equally wide ones, in which each coordinate in [0, 1] falls."""
    return np.minimum(np.floor(u * count).astype(np.int64), count - 1)


@dataclass(frozen=True)
class Integer:
    """An integer parameter in low, low + 1, ..., high (both included).

    Parameters
    ----------
    low, high : int
        Bounds, low < high.
    log : bool
        False: all bins are equally wide. True: the coordinate is linear in the logarithm and the
        bin of k is log(k - 1/2) to log(k + 1/2); low must then be at least 1.

    Raises
    ------
    TypeError
        If a bound is no integer, or `log` no bool.
    ValueError
        If the bounds are not as above, or span (with log: reach) more than 2**40.
    """

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        low, high = _integer(self.low, "Integer: low"), _integer(self.high, "Integer: high")
        _check_bounds("Integer", low, high, self.log)
        if (high if self.log else high - low) > MAX_INTEGER_RANGE:
            raise ValueError(
                f"Integer: double precision cannot resolve single integers from {low!r} to {high!r}; "
                "use Real and round in the function that is minimized"
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "log", bool(self.log))

    @property
    def size(self) -> int:
        """Number of distinct values."""
        return self.high - self.low + 1

    def validate(self, value: object) -> int:
        """`value` as a Python int; TypeError or ValueError if it is not of this parameter."""
        number = _integer(value, "value")
        _check_within(number, self.low, self.high)
        return number

    def to_unit(self, value: int) -> float:
        """The bin center of a valid value."""
        return float(self._center(np.array([value - self.low]))[0])

    def from_unit(self, u: float) -> int:
        """The value whose bin holds a coordinate in [0, 1]."""
        return self.low + int(self._bin(np.array([u]))[0])

    def snap(self, u: FloatArray) -> FloatArray:
        """Each coordinate in [0, 1] replaced by the center of its bin."""
        return self._center(self._bin(u))

    def shift(self, u: FloatArray, steps: int) -> FloatArray:
        """The bin centers `steps` values above each coordinate, or the last ones on that side."""
        return self._center(np.clip(self._bin(u) + steps, 0, self.size - 1))

    def centers(self) -> FloatArray:
        """The centers of all bins, (size,), in the order of the values."""
        return self._center(np.arange(self.size))

    def _bin(self, u: FloatArray) -> IntArray:
        if not self.log:
            return _equal_bins(u, self.size)
        start, width = self._log_scale()
        value = np.floor(np.exp(start + u * width) + 0.5).astype(np.int64)
        return np.clip(value - self.low, 0, self.size - 1)

    def _center(self, index: IntArray) -> FloatArray:
        if not self.log:
            return (index + 0.5) / self.size
        start, width = self._log_scale()
        value = (index + self.low).astype(float)
        return (0.5 * (np.log(value - 0.5) + np.log(value + 0.5)) - start) / width

    def _log_scale(self) -> tuple[float, float]:
        start = math.log(self.low - 0.5)
        return start, math.log(self.high + 0.5) - start


def _choice(value: object) -> Scalar:
    """`value` as a plain Python scalar that JSON can hold."""
    plain = value.item() if isinstance(value, np.generic) else value
    # Not isinstance: a subclass, such as an enumeration, would not survive JSON as itself.
    if plain is not None and type(plain) not in (str, int, float, bool):
        raise TypeError(
            f"a choice must be a str, int, float, bool or None, got {value!r} of type {type(value).__name__}"
        )
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"a choice must be finite, got {value!r}")
    return cast(Scalar, plain)


def _key(choice: Scalar) -> tuple[type, Scalar]:
    """What tells choices apart: True, 1 and 1.0 are equal in Python, but not the same choice."""
    return type(choice), choice


@dataclass(frozen=True)
class Categorical:
    """A parameter with unordered values.

    Parameters
    ----------
    choices : sequence of str, int, float, bool or None
        At least two, all different. Their order is that of the bins, all equally wide. True, 1
        and 1.0 are three different choices.

    Raises
    ------
    TypeError
        If `choices` is no sequence, or a choice is none of the types above.
    ValueError
        If there are fewer than two choices, a duplicate or a number that is not finite.
    """

    choices: Sequence[Scalar] = field(compare=False)
    _keys: tuple[tuple[type, Scalar], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.choices, str | bytes) or not isinstance(self.choices, Sequence | np.ndarray):
            raise TypeError(f"Categorical: choices must be a list or tuple, got {self.choices!r}")
        choices = tuple(_choice(choice) for choice in self.choices)
        keys = tuple(_key(choice) for choice in choices)
        duplicates = [key[1] for i, key in enumerate(keys) if key in keys[:i]]
        if duplicates:
            raise ValueError(f"Categorical: choices must differ, got {duplicates[0]!r} more than once")
        if len(choices) < 2:
            raise ValueError(
                f"Categorical: choices must be at least two, got {list(choices)!r}; leave a constant out of the "
                "space and set it in the function that is minimized"
            )
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "_keys", keys)

    @property
    def size(self) -> int:
        """Number of distinct values."""
        return len(self.choices)

    def validate(self, value: object) -> Scalar:
        """`value` as the choice it is; TypeError or ValueError if it is not of this parameter."""
        choice = _choice(value)
        if _key(choice) not in self._keys:
            raise ValueError(f"must be one of {list(self.choices)!r}, got {value!r}")
        return choice

    def to_unit(self, value: Scalar) -> float:
        """The bin center of a valid value."""
        return (self._keys.index(_key(value)) + 0.5) / self.size

    def from_unit(self, u: float) -> Scalar:
        """The choice whose bin holds a coordinate in [0, 1]."""
        return self.choices[int(_equal_bins(np.array([u]), self.size)[0])]

    def snap(self, u: FloatArray) -> FloatArray:
        """Each coordinate in [0, 1] replaced by the center of its bin."""
        return (_equal_bins(u, self.size) + 0.5) / self.size

    def shift(self, u: FloatArray, steps: int) -> FloatArray:
        """The bin centers `steps` choices after each coordinate, from the last one on to the first."""
        return ((_equal_bins(u, self.size) + steps) % self.size + 0.5) / self.size

    def centers(self) -> FloatArray:
        """The centers of all bins, (size,), in the order of the choices."""
        return (np.arange(self.size) + 0.5) / self.size

    def one_hot(self, u: FloatArray) -> FloatArray:
        """Kernel features (n, size) of coordinates (n,): different choices at squared distance 1."""
        features: FloatArray = ONE_HOT_HEIGHT * (_equal_bins(u, self.size)[:, None] == np.arange(self.size))
        return features


Parameter = Real | Integer | Categorical

PARAMETER_CLASSES: dict[str, type[Parameter]] = {"real": Real, "integer": Integer, "categorical": Categorical}


class Space:
    """Named parameters and the unit cube that stands for them.

    Parameters
    ----------
    parameters : mapping of str to Real, Integer or Categorical
        At least one. Their order is that of the coordinates.

    Attributes
    ----------
    parameters : dict
    names : tuple of str
    dim : int
        Number of parameters, which is the dimension of the unit cube.
    size : int or float
        Number of distinct configurations; infinite with a real parameter.
    continuous : (dim,) array of bool
        Which parameters are real.
    groups : (p,) array of int
        The parameter that each kernel feature belongs to.

    Raises
    ------
    TypeError
        If `parameters` is no mapping, a name no str or a parameter none of the three kinds.
    ValueError
        If `parameters` is empty.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters must map names to Real, Integer or Categorical, got {parameters!r}")
        if not parameters:
            raise ValueError("parameters must hold at least one parameter, got none")
        for name, parameter in parameters.items():
            if not isinstance(name, str):
                raise TypeError(f"the name of a parameter must be a str, got {name!r}")
            if not isinstance(parameter, Parameter):
                raise TypeError(f"parameter {name!r} must be a Real, Integer or Categorical, got {parameter!r}")
        self.parameters: dict[str, Parameter] = dict(parameters)
        self.names: tuple[str, ...] = tuple(self.parameters)
        self.dim: int = len(self.names)
        kinds = list(self.parameters.values())
        self.continuous: BoolArray = np.array([isinstance(kind, Real) for kind in kinds])
        # Not one product over all sizes: an int above 1e308 times inf overflows.
        self.size: int | float = math.inf if self.continuous.any() else math.prod(kind.size for kind in kinds)
        widths = [kind.size if isinstance(kind, Categorical) else 1 for kind in kinds]
        self.groups: IntArray = np.repeat(np.arange(self.dim), widths)
        self.continuous.flags.writeable = False
        self.groups.flags.writeable = False
        self._discrete = [(j, kind) for j, kind in enumerate(kinds) if not isinstance(kind, Real)]
        self._categorical = [(j, kind) for j, kind in enumerate(kinds) if isinstance(kind, Categorical)]

    def to_unit(self, config: Mapping[str, Any]) -> FloatArray:
        """The point of the unit cube that stands for a configuration.

        Parameters
        ----------
        config : mapping of str to value
            One value for each parameter; numpy scalars are accepted.

        Returns
        -------
        (dim,) array
            Integers and categories at the centers of their bins.

        Raises
        ------
        TypeError
            If `config` is no mapping, or a value has the wrong type.
        ValueError
            If a name is missing or unknown, or a value out of bounds or no choice.
        """
        valid = self.validate(config)
        return np.array([parameter.to_unit(valid[name]) for name, parameter in self.parameters.items()])

    def from_unit(self, u: ArrayLike) -> dict[str, Any]:
        """The configuration that a point of the unit cube denotes.

        Parameters
        ----------
        u : (dim,) array
            Clipped to [0, 1].

        Returns
        -------
        dict
            Plain Python values, within bounds, in the order of the parameters.

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        point = np.asarray(u, dtype=float)
        if point.shape != (self.dim,):
            raise ValueError(f"u must have shape ({self.dim},), got {point.shape}")
        (clipped,) = self._clip(point[None, :]).tolist()
        pairs = zip(self.parameters.items(), clipped, strict=True)
        return {name: parameter.from_unit(coordinate) for (name, parameter), coordinate in pairs}

    def validate(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration in plain Python values and the order of the parameters.

        Parameters, errors: as `to_unit`.
        """
        if not isinstance(config, Mapping):
            raise TypeError(f"config must map the names {list(self.names)} to values, got {config!r}")
        for name in config:
            if name not in self.parameters:
                near = difflib.get_close_matches(str(name), self.names, n=1, cutoff=0.0)
                raise ValueError(
                    f"config has no parameter {name!r}: did you mean {near[0]!r}? The names are {list(self.names)}"
                )
        missing = [name for name in self.names if name not in config]
        if missing:
            raise ValueError(f"config lacks a value for {missing}")
        valid = {}
        for name, parameter in self.parameters.items():
            try:
                valid[name] = parameter.validate(config[name])
            except (TypeError, ValueError) as error:
                raise type(error)(f"parameter {name!r}: {error}") from None
        return valid

    def snap(self, U: ArrayLike) -> FloatArray:
        """The canonical representative of the configuration that each point denotes.

        Parameters
        ----------
        U : (n, dim) array
            Clipped to [0, 1].

        Returns
        -------
        (n, dim) array
            Bin centers for integers and categories; real coordinates as they were. A new array.

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        points = self._clip(U)
        for j, parameter in self._discrete:
            points[:, j] = parameter.snap(points[:, j])
        return points

    def features(self, U: ArrayLike) -> FloatArray:
        """What a kernel sees of each point (METHOD item 15).

        Parameters
        ----------
        U : (n, dim) array
            Clipped to [0, 1].

        Returns
        -------
        (n, p) array
            The snapped coordinate of a real or integer parameter; one column per choice of a
            categorical one, so that two different choices are at squared distance 1. `groups`
            names the parameter of each column.

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        points = self.snap(U)
        if not self._categorical:
            return points
        features = points[:, self.groups]
        for j, parameter in self._categorical:
            first = np.searchsorted(self.groups, j)
            features[:, first : first + parameter.size] = parameter.one_hot(points[:, j])
        return features

    def to_dict(self) -> dict[str, Any]:
        """The space as JSON-able data. A list carries the order, which sorted keys would lose."""
        rows: list[dict[str, Any]] = []
        for name, parameter in self.parameters.items():
            if isinstance(parameter, Categorical):
                rows.append({"name": name, "type": "categorical", "choices": list(parameter.choices)})
            else:
                kind = "real" if isinstance(parameter, Real) else "integer"
                bounds = {"low": parameter.low, "high": parameter.high, "log": parameter.log}
                rows.append({"name": name, "type": kind, **bounds})
        return {"parameters": rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Space:
        """The space that `to_dict` described.

        Raises
        ------
        TypeError, ValueError
            If `data` is not of the form that `to_dict` writes.
        """
        parameters: dict[str, Parameter] = {}
        try:
            rows = [dict(row) for row in data["parameters"]]
            named = [(row.pop("name"), row.pop("type"), row) for row in rows]
        except KeyError as error:
            raise ValueError(f"data must be what Space.to_dict writes, but it lacks {error}") from None
        for name, kind, fields in named:
            if kind not in PARAMETER_CLASSES:
                raise ValueError(f"parameter {name!r}: type must be one of {list(PARAMETER_CLASSES)}, got {kind!r}")
            if name in parameters:
                raise ValueError(f"parameter {name!r} appears twice")
            parameters[name] = PARAMETER_CLASSES[kind](**fields)
        return cls(parameters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        return list(self.parameters.items()) == list(other.parameters.items())

    def __hash__(self) -> int:
        return hash(tuple(self.parameters.items()))

    def __repr__(self) -> str:
        return f"Space({self.parameters!r})"

    def _clip(self, U: ArrayLike) -> FloatArray:
        points: FloatArray = np.asarray(U, dtype=float)
        if points.ndim != 2 or points.shape[1] != self.dim:
            raise ValueError(f"U must have shape (n, {self.dim}), got {points.shape}")
        if np.isnan(points).any():
            raise ValueError("coordinates must not be nan")
        return np.clip(points, 0.0, 1.0)
