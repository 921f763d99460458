"""The kinds of parameters of a search space, and their coordinates in [0, 1] (METHOD item 15).

A real parameter is scaled linearly, or in its logarithm. One with single values, as integers, categories or a real one
with a step, cuts its coordinate into one bin a value; all points of a bin denote the same value, and the bin's center
stands for it. A constant has one bin.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

import numpy as np

from btao.arrays import FloatArray, IntArray
from btao.checks import is_integer, is_number

Scalar = str | int | float | bool | None
Choice = Scalar | tuple["Choice", ...]

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
    if low > high:
        raise ValueError(f"{kind}: low must not exceed high, got low={low!r}, high={high!r}")
    if log and low <= 0:
        raise ValueError(f"{kind}: low must be above 0 for a log scale, got low={low!r}")


def _check_step(kind: str, low: float, high: float, log: bool, step: float) -> None:
    if step <= 0:
        raise ValueError(f"{kind}: step must be above 0, got {step!r}")
    if log:
        raise ValueError(f"{kind}: a log scale has no step, got step={step!r}; use Ordinal and list the values")
    if high - low > step * MAX_INTEGER_RANGE:
        raise ValueError(f"{kind}: double precision cannot resolve steps of {step!r} from {low!r} to {high!r}")
    count, rest = divmod(_decimal(high) - _decimal(low), _decimal(step))
    if rest:
        last = type(high)(_decimal(low) + count * _decimal(step))
        raise ValueError(
            f"{kind}: steps of {step!r} from low={low!r} must reach high, got high={high!r}; the last below is {last!r}"
        )


def _decimal(number: float) -> Decimal:
    """A number as it is written, so that 0.1 + 2 * 0.1 is 0.3."""
    return Decimal(repr(number))


def _check_within(value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"must lie in [{low!r}, {high!r}], got {value!r}")


class _Binned(ABC):
    """A parameter with single values, whose places are counted from 0; all bins are equally wide."""

    @property
    @abstractmethod
    def size(self) -> int | float:
        """Number of distinct values; infinite where they are not single ones."""

    @abstractmethod
    def index(self, value: Any) -> int:
        """The place of a valid value, from 0."""

    @abstractmethod
    def at(self, index: int) -> Any:
        """The value at a place."""

    @property
    def continuous(self) -> bool:
        """Whether every point of the coordinate is a value of its own."""
        return False

    @property
    def count(self) -> int:
        """The number of bins: the size of what is not continuous."""
        assert not self.continuous
        return int(self.size)

    def to_unit(self, value: Any) -> float:
        """The bin center of a valid value."""
        return float(self._center(np.array([self.index(value)]))[0])

    def from_unit(self, u: float) -> Any:
        """The value whose bin holds a coordinate in [0, 1]."""
        return self.at(int(self.bins(np.array([u]))[0]))

    def from_units(self, u: FloatArray) -> list[Any]:
        """`from_unit` of coordinates (n,)."""
        distinct, places = np.unique(self.bins(u), return_inverse=True)
        values = [self.at(index) for index in distinct.tolist()]
        return [values[place] for place in places.tolist()]

    def bins(self, u: FloatArray) -> IntArray:
        """The place of the value whose bin holds each coordinate in [0, 1]."""
        count = self.count
        return np.minimum(np.floor(u * count).astype(np.int64), count - 1)

    def snap(self, u: FloatArray) -> FloatArray:
        """Each coordinate in [0, 1] replaced by the center of its bin."""
        return self._center(self.bins(u))

    def shift(self, u: FloatArray, steps: int) -> FloatArray:
        """The bin centers `steps` values above each coordinate, or the last ones on that side."""
        return self._center(np.clip(self.bins(u) + steps, 0, self.count - 1))

    def centers(self) -> FloatArray:
        """The centers of all bins, (size,), in the order of the values."""
        return self._center(np.arange(self.count))

    def _center(self, index: IntArray) -> FloatArray:
        return (index + 0.5) / self.count


@dataclass(frozen=True)
class Real(_Binned):
    """A real parameter in [low, high].

    Parameters
    ----------
    low, high : float
        Bounds, finite, low <= high; a constant where they are equal.
    log : bool
        Whether the coordinate is linear in the logarithm of the value; low must then be positive.
    step : float, optional
        Above 0: the values are low, low + step, ..., high alone, in bins of equal width. Not with `log`.

    Raises
    ------
    TypeError
        If a bound or the step is no number, or `log` no bool.
    ValueError
        If the bounds are not as above, or too far apart or too close for double precision; if steps do not reach
        `high`, or are more than 2**40.

    Examples
    --------
    >>> rate = Real(1e-4, 1e-2, log=True)
    >>> round(rate.from_unit(0.5), 6)
    0.001
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        low, high = _real(self.low, "Real: low"), _real(self.high, "Real: high")
        _check_bounds("Real", low, high, self.log)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "log", bool(self.log))
        if self.step is not None:
            object.__setattr__(self, "step", _real(self.step, "Real: step"))
            _check_step("Real", low, high, self.log, self.step)
        _, width = self._scale()
        if low < high and (not math.isfinite(width) or width <= 0):
            raise ValueError(f"Real: double precision cannot resolve the range from {low!r} to {high!r}")

    @property
    def continuous(self) -> bool:
        """Whether every point of the coordinate is a value of its own: without a step, and if it is no constant."""
        return self.step is None and self.low < self.high

    @property
    def size(self) -> int | float:
        """Number of distinct values: infinite without a step."""
        if self.continuous:
            return math.inf
        return 1 if self.step is None else 1 + int((_decimal(self.high) - _decimal(self.low)) / _decimal(self.step))

    def validate(self, value: object) -> float:
        """`value` as a Python float; TypeError or ValueError if it is not of this parameter."""
        number = _real(value, "value")
        _check_within(number, self.low, self.high)
        if self.continuous:
            return number
        nearest = self.at(self.index(number))
        if self.step is not None and abs(number - nearest) > 1e-9 * self.step:
            raise ValueError(f"must be a number of steps of {self.step!r} from {self.low!r}, got {value!r}")
        return nearest

    def index(self, value: float) -> int:
        """The place of the single value that is nearest, from 0."""
        return 0 if self.step is None else round((value - self.low) / self.step)

    def at(self, index: int) -> float:
        """The single value at a place."""
        return self.low if self.step is None else float(_decimal(self.low) + index * _decimal(self.step))

    def to_unit(self, value: float) -> float:
        """The coordinate in [0, 1] of a valid value."""
        if not self.continuous:
            return super().to_unit(value)
        start, width = self._scale()
        return min(max((self._warp(value) - start) / width, 0.0), 1.0)

    def from_unit(self, u: float) -> float:
        """The value at a coordinate in [0, 1]; the bounds themselves at 0 and 1."""
        if u in (0.0, 1.0):
            return self.high if u else self.low
        if not self.continuous:
            value: float = super().from_unit(u)
            return value
        start, width = self._scale()
        warped = start + u * width
        return min(max(math.exp(warped) if self.log else warped, self.low), self.high)

    def from_units(self, u: FloatArray) -> list[float]:
        """`from_unit` of coordinates (n,)."""
        return [self.from_unit(each) for each in u.tolist()] if self.continuous else super().from_units(u)

    def _warp(self, value: float) -> float:
        return math.log(value) if self.log else value

    def _scale(self) -> tuple[float, float]:
        start = self._warp(self.low)
        return start, self._warp(self.high) - start


@dataclass(frozen=True)
class Integer(_Binned):
    """An integer parameter in low, low + 1, ..., high (both included).

    Parameters
    ----------
    low, high : int
        Bounds, low <= high; a constant where they are equal.
    log : bool
        False: all bins are equally wide. True: the coordinate is linear in the logarithm and the
        bin of k is log(k - 1/2) to log(k + 1/2); low must then be at least 1.
    step : int
        At least 1: the values are low, low + step, ..., high. 1 with `log`.

    Raises
    ------
    TypeError
        If a bound or the step is no integer, or `log` no bool.
    ValueError
        If the bounds are not as above, or span (with log: reach) more than 2**40; if steps do not reach `high`.

    Examples
    --------
    >>> Integer(8, 64).from_unit(0.5), Integer(8, 64, log=True).from_unit(0.5)
    (36, 22)
    """

    low: int
    high: int
    log: bool = False
    step: int = 1

    def __post_init__(self) -> None:
        low, high = _integer(self.low, "Integer: low"), _integer(self.high, "Integer: high")
        _check_bounds("Integer", low, high, self.log)
        step = _integer(self.step, "Integer: step")
        if step != 1:
            _check_step("Integer", low, high, bool(self.log), step)
        if (high if self.log else high - low) > MAX_INTEGER_RANGE:
            raise ValueError(
                f"Integer: double precision cannot resolve single integers from {low!r} to {high!r}; "
                "use Real and round in the function that is minimized"
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "log", bool(self.log))
        object.__setattr__(self, "step", step)

    @property
    def size(self) -> int:
        """Number of distinct values."""
        return (self.high - self.low) // self.step + 1

    def validate(self, value: object) -> int:
        """`value` as a Python int; TypeError or ValueError if it is not of this parameter."""
        number = _integer(value, "value")
        _check_within(number, self.low, self.high)
        if (number - self.low) % self.step:
            raise ValueError(f"must be a number of steps of {self.step!r} from {self.low!r}, got {value!r}")
        return number

    def index(self, value: int) -> int:
        """The place of a valid value, from 0."""
        return (value - self.low) // self.step

    def at(self, index: int) -> int:
        """The value at a place."""
        return self.low + index * self.step

    def bins(self, u: FloatArray) -> IntArray:
        """The place of the value whose bin holds each coordinate in [0, 1]."""
        if not self.log:
            return super().bins(u)
        start, width = self._log_scale()
        value = np.floor(np.exp(start + u * width) + 0.5).astype(np.int64)
        return np.clip(value - self.low, 0, self.size - 1)

    def _center(self, index: IntArray) -> FloatArray:
        if not self.log:
            return super()._center(index)
        start, width = self._log_scale()
        value = (index + self.low).astype(float)
        return (0.5 * (np.log(value - 0.5) + np.log(value + 0.5)) - start) / width

    def _log_scale(self) -> tuple[float, float]:
        start = math.log(self.low - 0.5)
        return start, math.log(self.high + 0.5) - start


class _Listed(_Binned):
    """A parameter whose values are listed."""

    @property
    @abstractmethod
    def _listed(self) -> Sequence[Any]: ...

    @property
    def size(self) -> int:
        """Number of distinct values."""
        return len(self._listed)

    def at(self, index: int) -> Any:
        """The value at a place."""
        return self._listed[index]


@dataclass(frozen=True)
class Ordinal(_Listed):
    """A parameter with some numbers as values, in their order.

    Neighbors are equally far from each other, whatever their difference: give the values on the scale that matters,
    as (8, 16, 32, 64) for one that works by octaves.

    Parameters
    ----------
    values : sequence of int or of float
        At least one, ascending. With a float among them all are floats. One alone is a constant.

    Raises
    ------
    TypeError
        If `values` is no sequence, or a value no number.
    ValueError
        If there are no values, they do not ascend or one is not finite.

    Examples
    --------
    >>> Ordinal([8, 16, 32, 64]).from_unit(0.3)
    16
    """

    values: Sequence[int] | Sequence[float]

    def __post_init__(self) -> None:
        if isinstance(self.values, str | bytes) or not isinstance(self.values, Sequence | np.ndarray):
            raise TypeError(f"Ordinal: values must be a list or tuple of numbers, got {self.values!r}")
        numbers = [_real(value, "Ordinal: a value") for value in self.values]
        if not numbers:
            raise ValueError("Ordinal: values must be at least one, got none")
        whole = all(is_integer(value) for value in self.values)
        values = tuple(int(value) for value in self.values) if whole else tuple(numbers)
        if any(low >= high for low, high in itertools.pairwise(values)):
            raise ValueError(f"Ordinal: values must ascend, got {list(self.values)!r}")
        object.__setattr__(self, "values", values)

    @property
    def _listed(self) -> Sequence[int] | Sequence[float]:
        return self.values

    def validate(self, value: object) -> int | float:
        """`value` as the one of this parameter that it equals; TypeError or ValueError if it is none."""
        _real(value, "value")
        number = value.item() if isinstance(value, np.generic) else value
        if number not in self.values:
            raise ValueError(f"must be one of {list(self.values)!r}, got {value!r}")
        return self.values[self.values.index(cast(float, number))]

    def index(self, value: float) -> int:
        """The place of a valid value, from 0."""
        return self.values.index(value)


def _choice(value: object) -> Choice:
    """`value` as a plain Python scalar that JSON can hold, or a tuple of such."""
    if isinstance(value, tuple):
        return tuple(_choice(item) for item in value)
    plain = value.item() if isinstance(value, np.generic) else value
    # Not isinstance: a subclass, such as an enumeration, would not survive JSON as itself.
    if plain is not None and type(plain) not in (str, int, float, bool):
        raise TypeError(
            f"a choice must be a str, int, float, bool, None or a tuple of these, got {value!r} of type "
            f"{type(value).__name__}"
        )
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"a choice must be finite, got {value!r}")
    return cast(Scalar, plain)


def with_tuples(value: Any) -> Any:
    """A value as JSON gives it back, with tuples for its lists."""
    return tuple(with_tuples(item) for item in value) if isinstance(value, list | tuple) else value


def key(choice: Any) -> Any:
    """What tells choices apart: True, 1 and 1.0 are equal in Python, but not the same choice."""
    return (tuple, *map(key, choice)) if isinstance(choice, tuple) else (type(choice), choice)


@dataclass(frozen=True)
class Categorical(_Listed):
    """A parameter with unordered values.

    Parameters
    ----------
    choices : sequence of str, int, float, bool, None or tuple of these
        At least one, all different. Their order is that of the bins, all equally wide. True, 1
        and 1.0 are three different choices. One alone is a constant.

    Raises
    ------
    TypeError
        If `choices` is no sequence, or a choice is none of the types above.
    ValueError
        If there are no choices, a duplicate or a number that is not finite.

    Examples
    --------
    >>> Categorical(["hinge", "log"]).from_unit(0.9)
    'log'
    """

    choices: Sequence[Choice] = field(compare=False)
    _keys: tuple[Any, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.choices, str | bytes) or not isinstance(self.choices, Sequence | np.ndarray):
            raise TypeError(f"Categorical: choices must be a list or tuple, got {self.choices!r}")
        choices = tuple(_choice(choice) for choice in self.choices)
        keys = tuple(map(key, choices))
        duplicates = [choices[i] for i in range(len(choices)) if keys[i] in keys[:i]]
        if duplicates:
            raise ValueError(f"Categorical: choices must differ, got {duplicates[0]!r} more than once")
        if not choices:
            raise ValueError("Categorical: choices must be at least one, got none")
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "_keys", keys)

    @property
    def _listed(self) -> Sequence[Choice]:
        return self.choices

    def validate(self, value: object) -> Choice:
        """`value` as the choice it is, a list as a tuple; TypeError or ValueError if it is not of this parameter."""
        choice = _choice(with_tuples(value))
        if key(choice) not in self._keys:
            raise ValueError(f"must be one of {list(self.choices)!r}, got {value!r}")
        return choice

    def index(self, value: Choice) -> int:
        """The place of a valid choice, from 0."""
        return self._keys.index(key(value))

    def shift(self, u: FloatArray, steps: int) -> FloatArray:
        """The bin centers `steps` choices after each coordinate, from the last one on to the first."""
        return self._center((self.bins(u) + steps) % self.size)

    def one_hot(self, u: FloatArray) -> FloatArray:
        """Kernel features (n, size) of coordinates (n,): different choices at squared distance 1."""
        features: FloatArray = ONE_HOT_HEIGHT * (self.bins(u)[:, None] == np.arange(self.size))
        return features


@dataclass(frozen=True)
class Constant(_Listed):
    """A parameter with one value, which every configuration has where it is active.

    Parameters
    ----------
    value : str, int, float, bool, None or tuple of these

    Raises
    ------
    TypeError
        If `value` is of another type.
    ValueError
        If it is a number that is not finite.

    Examples
    --------
    >>> from btao import Constant, Real, Space
    >>> Space({"solver": Constant("adam"), "rate": Real(0, 1)}).from_unit([0.5, 0.25])
    {'solver': 'adam', 'rate': 0.25}
    """

    value: Choice = field(compare=False)
    _key: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _choice(self.value))
        object.__setattr__(self, "_key", key(self.value))

    @property
    def _listed(self) -> Sequence[Choice]:
        return (self.value,)

    def validate(self, value: object) -> Choice:
        """`value`, if it is the one of this parameter; TypeError or ValueError if not."""
        choice = _choice(with_tuples(value))
        if key(choice) != self._key:
            raise ValueError(f"must be {self.value!r}, got {value!r}")
        return choice

    def index(self, value: Choice) -> int:
        """0, the place of the one value."""
        return 0


Parameter = Real | Integer | Ordinal | Categorical | Constant

PARAMETER_CLASSES: dict[str, type[Parameter]] = {
    "real": Real,
    "integer": Integer,
    "ordinal": Ordinal,
    "categorical": Categorical,
    "constant": Constant,
}
KINDS: dict[type[Parameter], str] = {each: kind for kind, each in PARAMETER_CLASSES.items()}
