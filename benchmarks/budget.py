"""When a run ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

from baselines.protocol import Trial
from benchmarks.records import Row


@dataclass
class Spent:
    """What a run has used of its budget."""

    heavy: int = 0
    iterations: int = 0
    seconds: float = 0.0

    def add(self, row: Row) -> None:
        """Charge one trial: at least one iteration, so that a method which repeats itself for nothing ends too."""
        self.heavy += row.heavy
        self.iterations += max(row.iterations, 1)
        self.seconds = row.time


@dataclass(frozen=True)
class Budget:
    """When a run ends: at whichever limit it reaches first. At least one is set.

    Parameters
    ----------
    heavy : int, optional
        Heavy trials, failed ones included.
    iterations : int, optional
        Iterations consumed by all trials, never exceeded: the run ends with the first trial whose
        grant is more than what is left, which is not started.
    seconds : float, optional
        Seconds of training and of the method, as recorded. The trial during which they run out
        is the last one.

    Raises
    ------
    ValueError
        If no limit is set, or one is out of its range.
    """

    heavy: int | None = None
    iterations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.heavy is None and self.iterations is None and self.seconds is None:
            raise ValueError("budget must limit at least one of heavy, iterations and seconds, got none")
        for name in ("heavy", "iterations"):
            limit = getattr(self, name)
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
                raise ValueError(f"budget.{name} must be an integer of at least 1, got {limit!r}")
        if self.seconds is not None:
            number = isinstance(self.seconds, int | float) and not isinstance(self.seconds, bool)
            if not (number and math.isfinite(self.seconds) and self.seconds > 0):
                raise ValueError(f"budget.seconds must be a finite number above 0, got {self.seconds!r}")
            object.__setattr__(self, "seconds", float(self.seconds))

    def lasts(self, spent: Spent) -> bool:
        """Whether another trial may be asked for."""
        return (
            (self.heavy is None or spent.heavy < self.heavy)
            and (self.iterations is None or spent.iterations < self.iterations)
            and (self.seconds is None or spent.seconds < self.seconds)
        )

    def covers(self, trial: Trial, spent: Spent) -> bool:
        """Whether all the iterations that a trial is granted are left."""
        return self.iterations is None or spent.iterations + trial.budget <= self.iterations
