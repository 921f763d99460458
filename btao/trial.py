"""One training run: what was asked for and what came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from btao.arrays import BoolArray, FloatArray
from btao.checks import LARGEST_VALUE, is_number

LevelName = Literal["light", "heavy"]
Status = Literal["pending", "ok", "failed"]

LEVELS: tuple[LevelName, ...] = ("light", "heavy")


@dataclass(frozen=True)
class Trial:
    """A configuration to train at a level.

    Attributes
    ----------
    number : int
        0, 1, ... in the order of asking.
    config : dict
        Parameter names to plain Python values.
    level : str
        "light" or "heavy".
    status : str
        "pending", "ok" or "failed".
    value : float or None
        What was measured; None unless the status is "ok".
    error : str or None
        Why the trial failed.
    point : (dim,) array
        The configuration in the unit cube.
    cost : float or None
        What it cost, if that was told.
    given : bool
        Whether it was made elsewhere: its result was told without having been asked for.
    """

    number: int
    config: dict[str, Any]
    level: LevelName
    point: FloatArray = field(repr=False, compare=False)
    status: Status = "pending"
    value: float | None = None
    error: str | None = None
    cost: float | None = None
    given: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The trial as JSON-able data; the point says more than the configuration and stands for it."""
        return {
            "number": self.number,
            "level": self.level,
            "point": self.point.tolist(),
            "status": self.status,
            "value": self.value,
            "error": self.error,
            "cost": self.cost,
            "given": self.given,
        }


def check_level(level: object) -> LevelName:
    """A level by its name, or ValueError."""
    for name in LEVELS:
        if isinstance(level, str) and level == name:
            return name
    raise ValueError(f"level must be 'light' or 'heavy', got {level!r}")


def check_cost(cost: object) -> float | None:
    """A cost as a Python float, or None where it is None or nan: not known.

    Raises
    ------
    TypeError
        If it is no number.
    ValueError
        If it is negative or infinite.
    """
    if isinstance(cost, np.ndarray) and cost.ndim == 0:
        cost = cost.item()
    if cost is None:
        return None
    if not is_number(cost):
        raise TypeError(f"cost must be a number, got {cost!r}")
    try:
        known = float(cost)
    except OverflowError:
        known = math.inf if cost > 0 else -math.inf
    if math.isnan(known):
        return None
    if not 0 <= known < math.inf:
        raise ValueError(f"cost must be finite and not negative, got {known!r}")
    return known


def is_result(values: ArrayLike) -> BoolArray:
    """Which values are results: those that are finite and at most `LARGEST_VALUE` in size. Others are failures."""
    kept: BoolArray = np.abs(np.asarray(values, dtype=float)) <= LARGEST_VALUE
    return kept


def fault(value: float) -> str | None:
    """Why a trial that measured this value has failed, None where it has not."""
    if is_result(value):
        return None
    return f"the value is {value}" + (f", more than {LARGEST_VALUE:g} in size" if math.isfinite(value) else "")


def measured(trial: Trial) -> float:
    """The value of a trial whose status is "ok"."""
    assert trial.value is not None
    return trial.value


@dataclass(frozen=True)
class Measurement:
    """What came of a run, where it is more than a number.

    Attributes
    ----------
    value : float
        The value, nan if there is none.
    error : str or None
        Why the run failed, if it did.
    cost : float or None
        What the run cost, in any unit that all runs share, such as seconds; see `BTAO.tell`.

    Examples
    --------
    >>> from btao import Measurement, Real, Space, minimize
    >>> objectives = {
    ...     "light": lambda config: Measurement((config["x"] - 0.4) ** 2, cost=1.5),
    ...     "heavy": lambda config: Measurement((config["x"] - 0.5) ** 2, cost=20.0),
    ... }
    >>> result = minimize(objectives, Space({"x": Real(0, 1)}), n_heavy=3)
    >>> sum(trial.cost for trial in result.trials if trial.level == "heavy")
    60.0
    """

    value: float
    error: str | None = None
    cost: float | None = None

    @property
    def failed(self) -> bool:
        """Whether the run failed: an error, or a value that is no result."""
        return self.error is not None or not is_result(self.value)


class Outcome(TypedDict):
    """What a trial is told, as attributes of `Trial`."""

    status: Status
    value: float | None
    error: str | None


def outcome(value: Any, error: str | None) -> Outcome:
    """Status, value and error of a trial that was told `value`, or failed with `error`.

    Raises
    ------
    TypeError
        If the value is no real number, or the error no text.
    ValueError
        If neither is given.
    """
    if error is not None:
        if not isinstance(error, str):
            raise TypeError(f"error must be a text, got {error!r}")
        return {"status": "failed", "value": None, "error": error}
    if value is None:
        raise ValueError('value is missing: tell(trial, 0.1) for a result, tell(trial, error="...") for a failure')
    if isinstance(value, (bool, np.bool_, str)):
        raise TypeError(f"value must be a real number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise TypeError(f"value must be a real number, got {value!r}") from None
    if (why := fault(number)) is not None:
        return {"status": "failed", "value": None, "error": why}
    return {"status": "ok", "value": number, "error": None}
