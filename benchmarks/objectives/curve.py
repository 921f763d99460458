"""A task that is trained iteration by iteration: one curve a configuration, read by any level (METHOD items 16, 17)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

from numpy.typing import NDArray

from benchmarks.common.errors import describe_error
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import NO_TIME, Curve, Evaluation, Time
from btao import Space
from btao.errors import is_of_code
from btao.training import Level

State = dict[str, NDArray[Any]]


class Iteration(NamedTuple):
    """What one iteration brought: errors as shares of wrong answers, from 0 to 1.

    `training_error` is that of the training images as they were met in this iteration, or by a model that meets all at
    once, after it. A `validation_error` of nan says that training diverged.
    """

    validation_error: float
    training_error: float


class Training(Protocol):
    """The training of one configuration, from its initialization on.

    It may have `test_error() -> float` too: the error on test images as training stands, which changes nothing, is
    not charged, and is reported beside the measurement.
    """

    def advance(self) -> Iteration:
        """Train one iteration and validate."""

    def state(self) -> State:
        """All that it takes to go on bit for bit, as arrays."""

    def restore(self, state: State) -> None:
        """Go to where `state` was taken.

        Raises
        ------
        KeyError, ValueError
            If it is not a state of this training.
        """


class Checkpoints(Protocol):
    """Where states are kept between the trials of a run."""

    def load(self, config: dict[str, Any], iterations: int) -> State | None:
        """The state of a configuration after so many iterations, or None if it is not kept."""

    def save(self, config: dict[str, Any], iterations: int, state: Callable[[], State]) -> None:
        """Take a state and keep it. Never raises: what cannot be kept is trained again."""


@dataclass(frozen=True)
class Past:
    """What a run has made of a configuration so far: its curve from the first iteration, and the states kept."""

    curve: Curve = field(default_factory=Curve)
    checkpoints: Checkpoints | None = None


def at_best(level: Level, curve: Curve) -> float | None:
    """The test error where a level has its measurement; None where it is not known."""
    best = level.best(curve.validation_errors)
    error = math.nan if best is None else curve.test_errors[best - 1]
    return None if math.isnan(error) else error


class CurveTask(ABC):
    """An objective (see `Objective`) whose training can be stopped and continued.

    A subclass says how one configuration is trained; here stands when it stops, what it measures and
    what it pays for. The value of a level is the best validation error up to its stop, so a heavy
    run that continues a light one pays for the rest only and is never worse.
    """

    space: Space
    light: Level
    heavy: Level
    delta_bounds: tuple[float, float]
    rho_bounds: tuple[float, float]
    optimum: float | None = None
    levels: ClassVar[str] = "any"
    trains: ClassVar[bool] = True
    resume_training: bool

    @property
    @abstractmethod
    def data(self) -> DataSource | None:
        """See `Objective.data`."""

    @abstractmethod
    def prepare(self) -> None:
        """See `Objective.prepare`."""

    @abstractmethod
    def start(self, config: dict[str, Any], seed: int) -> Training:
        """The training of a valid configuration from its start; all its randomness comes from (seed, config)."""

    def evaluate(
        self,
        config: dict[str, Any],
        level: Level,
        seed: int,
        past: Past | None = None,
        on_iteration: Callable[[int, float], None] | None = None,
    ) -> Evaluation:
        """Train `config` until `level` stops it.

        Parameters
        ----------
        config : dict
        level : Level
        seed : int
        past : Past, optional
            What to continue. Without a state for its last iteration, the iterations of its curve are
            trained again, and not charged: they were paid for.
        on_iteration : callable, optional
            Called after each iteration with its number, from 1, and its validation error.

        Returns
        -------
        Evaluation
            `iterations` and `curve` are those trained in addition to `past`.

        Raises
        ------
        ValueError
            If `config` is not of the space.
        """
        config = self.space.validate(config)
        past = past or Past()
        errors = list(past.curve.validation_errors)
        stop = level.stop(errors)
        if any(map(math.isnan, errors[:stop])):
            return Evaluation(math.nan, 0, f"training diverged before, in iteration {len(errors)}", Curve())
        if stop is not None:
            return Evaluation(level.measure(errors), 0, curve=Curve(), test_error=at_best(level, past.curve))
        new: list[tuple[float, float, float, float, float]] = []
        failure, code_error, testing = None, None, NO_TIME
        try:
            training = self._continue(config, seed, past)
            test = getattr(training, "test_error", lambda: math.nan)
            while level.stop(errors) is None and failure is None:
                started = Time.now()
                result = training.advance()
                trained = Time.now()
                test_error = math.nan if math.isnan(result.validation_error) else test()
                tested = Time.now().since(trained)
                testing = testing.plus(tested)
                new.append((*result, *trained.since(started), test_error))
                errors.append(result.validation_error)
                if on_iteration is not None:
                    on_iteration(len(errors), result.validation_error)
                if math.isnan(result.validation_error):
                    failure = f"training diverged in iteration {len(errors)}"
        except Exception as error:  # out of memory, say: what was trained until then is known, and charged
            failure = describe_error(error)
            code_error = error if is_of_code(error) else None  # of others, the traceback would hold memory
        if failure is None and past.checkpoints is not None and level.iterations < self.heavy.iterations:
            past.checkpoints.save(config, len(errors), training.state)
        curve = Curve(*map(tuple, zip(*new, strict=True))) if new else Curve()
        value = math.nan if failure else level.measure(errors)
        tested_value = None if failure else at_best(level, past.curve + curve)
        return Evaluation(
            value, len(new), failure, curve, test_error=tested_value, testing=testing, code_error=code_error
        )

    def truth(self, config: dict[str, Any]) -> float | None:
        """Not known."""
        return None

    def _continue(self, config: dict[str, Any], seed: int, past: Past) -> Training:
        training = self.start(config, seed)
        done = len(past.curve.validation_errors)
        state = past.checkpoints.load(config, done) if done and past.checkpoints is not None else None
        if state is not None:
            try:
                training.restore(state)
            except (KeyError, ValueError):  # a damaged file
                training = self.start(config, seed)
            else:
                return training
        for _ in range(done):
            training.advance()
        return training
