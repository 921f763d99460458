"""What a benchmark task is: a space, two levels of training and an evaluation."""

from __future__ import annotations

import hashlib
import json
import math
import operator
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from benchmarks.data.source import DataSource
from btao import Space
from btao.checks import is_number
from btao.training import Level


class Time(NamedTuple):
    """Real seconds, and those of the processor, summed over threads."""

    seconds: float
    processor_seconds: float

    @classmethod
    def now(cls) -> Time:
        """The clocks, whose zeros mean nothing."""
        return cls(time.perf_counter(), time.process_time())

    def since(self, start: Time) -> Time:
        """What has passed from `start` to here."""
        return Time(self.seconds - start.seconds, self.processor_seconds - start.processor_seconds)

    def plus(self, more: Time) -> Time:
        """Both together."""
        return Time(self.seconds + more.seconds, self.processor_seconds + more.processor_seconds)


NO_TIME = Time(0.0, 0.0)


@dataclass(frozen=True)
class Curve:
    """A training curve, iteration by iteration: errors (shares of wrong answers, 0 to 1) and real seconds of each.

    Those of the processor are summed over threads; with one thread other programs do not lengthen them.
    A last validation error of nan says that training diverged there. A test error of nan is not known; it
    decides nothing, and no seconds of testing are in the curve.
    """

    validation_errors: tuple[float, ...] = ()
    training_errors: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()
    processor_seconds: tuple[float, ...] = ()
    test_errors: tuple[float, ...] = ()

    def __add__(self, rest: Curve) -> Curve:
        """This curve, continued by another."""
        return Curve(*map(operator.add, vars(self).values(), vars(rest).values()))


@dataclass(frozen=True)
class Evaluation:
    """The outcome of one evaluation.

    `value` is to be minimized (a maximization task returns its negated value); `iterations` is
    what was really trained, and `curve` how that went, where the task has one. A run that diverged
    gives nan and an `error`, with what it cost. Where nothing is trained but a recording is read,
    `seconds` are those of the recording, and `answer` says which configuration's it is, by its number
    ("configuration"), and how far away from the one asked for, in the unit cube ("distance"). `seconds` and
    `processor_seconds` that are given are charged in place of those that pass; `cached` says that the outcome is one
    of an earlier training.
    `test_error` is that of what `value` was measured on, for the report alone, and `testing` the time that
    the evaluation spent on it, which no trial is charged. `code_error` is what broke it off, where that is an
    error of the task's own code (`btao.errors.is_of_code`), and `error` says so.
    """

    value: float
    iterations: int
    error: str | None = None
    curve: Curve | None = None
    seconds: float | None = None
    answer: dict[str, Any] | None = None
    test_error: float | None = None
    testing: Time = field(default=NO_TIME, compare=False)
    code_error: Exception | None = field(default=None, compare=False)
    processor_seconds: float | None = None
    cached: bool = False


class Objective(Protocol):
    """A task. Everything is minimized; `optimum` and `truth` are None where they are not known.

    `heavy.iterations` and `light.iterations` are the costs of the two levels in iterations.
    `levels` is "any" if a run of any number of iterations up to the heavy one makes sense, "two"
    if these two only. `delta_bounds` and `rho_bounds` are the truncated additive model's (METHOD
    item 18). Training that can be continued: see `CurveTask`.

    A task that trains without a data set says `trains = True` (see `is_trained`); one whose evaluation costs less after
    an earlier one of the same object, `remembers = True` (see `remembers`). To be recorded by
    `benchmarks.record`, a task trains, its values are errors from 0 to 1, and a `CurveTask` with patience takes a
    parameter `heavy_patience` that may be None, so that curves are recorded to their full length; with
    full_length=false its light level has no more patience, and no less tolerance, than its heavy one instead.
    """

    space: Space
    light: Level
    heavy: Level
    levels: str
    delta_bounds: tuple[float, float]
    rho_bounds: tuple[float, float]

    @property
    def data(self) -> DataSource | None:
        """The data set, if there is one."""

    @property
    def optimum(self) -> float | None:
        """The smallest true heavy value, where it is known."""

    def prepare(self) -> None:
        """Load libraries and data. Called before the first `evaluate` or `truth`: no trial's clock pays for it."""

    def evaluate(self, config: dict[str, Any], level: Level, seed: int) -> Evaluation:
        """Train `config` as `level` says; all randomness comes from (seed, config).

        A configuration that cannot be trained is one of these: an `Evaluation` with an `error`, a ValueError, a
        RuntimeError, or whatever training raises. It is a failed trial, and the run goes on. A TypeError, a KeyError
        and the like are errors of this code: they end a run in which no trial of the level has succeeded yet.
        """

    def truth(self, config: dict[str, Any]) -> float | None:
        """The noiseless heavy response at `config`, where it is known."""


def is_trained(objective: Objective) -> bool:
    """Whether something is trained, and no formula evaluated: `trains`, by default whether there is a data set."""
    return bool(getattr(objective, "trains", objective.data is not None))


def remembers(objective: Objective) -> bool:
    """Whether what an evaluation costs depends on those before it, so that none can be answered from a cache."""
    return bool(getattr(objective, "remembers", False))


def resumes(objective: Objective) -> bool:
    """Whether a run that grants more than an earlier one of its configuration goes on from there: see `CurveTask`."""
    return bool(getattr(objective, "resume_training", False))


def bounds(pair: Sequence[float]) -> tuple[float, float]:
    """A lower and an upper bound as a tuple: a configuration file gives a list."""
    low, high = pair
    return low, high


def check_order(light: Level, heavy: Level) -> None:
    """Refuse levels of which the light one is not the shorter one."""
    if light.iterations >= heavy.iterations:
        raise ValueError(
            f"light_iterations must be below heavy_iterations, got {light.iterations} and {heavy.iterations}"
        )


def _is_pair(value: Any) -> bool:
    return isinstance(value, Sequence) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]


# What each member must be, in words, and whether a value is that.
MEMBERS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "space": ("a btao.Space", lambda value: isinstance(value, Space)),
    "light": ("a btao.training.Level", lambda value: isinstance(value, Level)),
    "heavy": ("a btao.training.Level", lambda value: isinstance(value, Level)),
    "levels": ("'any' or 'two'", lambda value: value in ("any", "two")),
    "delta_bounds": ("a lower and a higher bound", _is_pair),
    "rho_bounds": ("a lower and a higher bound", _is_pair),
    "data": ("a DataSource or None", lambda value: value is None or isinstance(value, DataSource)),
    "optimum": ("a finite number or None", lambda value: value is None or (is_number(value) and math.isfinite(value))),
    **dict.fromkeys(("prepare", "evaluate", "truth"), ("a method", callable)),
}


def check_objective(objective: Objective) -> None:
    """Refuse what is no task.

    Raises
    ------
    ValueError
        Naming the class, all that it lacks and all that is of another kind, in one line.
    """
    name = type(objective).__name__
    missing = [member for member in MEMBERS if not hasattr(objective, member)]
    wrong = [
        f"{member} must be {right}, got {getattr(objective, member)!r}"
        for member, (right, is_right) in MEMBERS.items()
        if member not in missing and not is_right(getattr(objective, member))
    ]
    if missing:
        wrong.insert(0, f"it lacks {', '.join(missing)}")
    if wrong:
        raise ValueError(f"{name} is no task as benchmarks/objectives/protocol.py has it: {'; '.join(wrong)}")
    check_order(objective.light, objective.heavy)


def configuration_seed(seed: int, config: dict[str, Any]) -> int:
    """A 63-bit seed from the run's seed and a configuration, the same on every machine.

    A training run is seeded with this, so one configuration gives one curve whichever method asks for it.
    """
    text = json.dumps([seed, sorted(config.items())])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
