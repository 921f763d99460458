"""When a run ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from baselines.protocol import Method, SearchExhausted, Trial
from benchmarks.records.trials import Row
from benchmarks.running.contract import CheckedMethod
from btao.checks import check_integer, is_number

# An experiment whose trials all fail is not the method's to solve: BTAO, for one, grants no heavy run
# before a light one has succeeded, so a budget of heavy runs alone would never end it.
MAX_FAILURES_IN_A_ROW = 50
# A budget of heavy runs does not end a method that asks for none. No schedule has so many light runs between two.
MAX_TRIALS_WITHOUT_HEAVY = 2000


class BudgetSpent(RuntimeError):
    """No further trial is covered by the budget."""


class NothingSucceeds(RuntimeError):
    """Too many trials failed one after the other."""


@dataclass
class Spent:
    """What a run has used of its budget.

    Of its last trials, too: how many in a row failed, the last with `error`, and how many were no heavy ones.
    """

    heavy: int = 0
    iterations: int = 0
    seconds: float = 0.0
    train_seconds: float = 0.0
    failures_in_a_row: int = 0
    without_heavy: int = 0
    error: str | None = None

    def add(self, row: Row) -> None:
        """Charge one trial: at least one iteration, so that a method which repeats itself for nothing ends too."""
        self.heavy += row.heavy
        self.iterations += max(row.iterations, 1)
        self.seconds = row.time
        self.train_seconds += row.train_seconds
        self.failures_in_a_row = self.failures_in_a_row + 1 if row.status == "failed" else 0
        self.without_heavy = 0 if row.heavy else self.without_heavy + 1
        self.error = row.error


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
    train_seconds : float, optional
        Seconds of training alone, which a replay makes deterministic. The trial during which they run out is the
        last one, and its result comes too late to count (see `benchmarks.analysis.incumbents`).

    Raises
    ------
    ValueError
        If no limit is set, or one is out of its range.
    """

    heavy: int | None = None
    iterations: int | None = None
    seconds: float | None = None
    train_seconds: float | None = None

    def __post_init__(self) -> None:
        if all(limit is None for limit in vars(self).values()):
            raise ValueError(f"budget must limit at least one of {', '.join(vars(self))}, got none")
        for name in ("heavy", "iterations"):
            if (limit := getattr(self, name)) is not None:
                object.__setattr__(self, name, check_integer(f"budget.{name}", limit))
        for name in ("seconds", "train_seconds"):
            if (limit := getattr(self, name)) is not None:
                if not (is_number(limit) and 0 < limit < math.inf):
                    raise ValueError(f"budget.{name} must be a finite number above 0, got {limit!r}")
                object.__setattr__(self, name, float(limit))

    @property
    def identity(self) -> dict[str, float | None]:
        """The limits as the identity of a run has them: `train_seconds`, which the first runs did not know, if set."""
        return {name: limit for name, limit in vars(self).items() if name != "train_seconds" or limit is not None}

    def allows_next(self, spent: Spent) -> bool:
        """Whether another trial may be asked for."""
        return self.share(spent) < 1.0

    def share(self, spent: Spent) -> float:
        """The share that is spent, by the limit nearest to its end; at most 1."""
        limits = {name: limit for name, limit in vars(self).items() if limit is not None}
        return min(1.0, max(getattr(spent, name) / limit for name, limit in limits.items()))

    def can_afford(self, iterations: int, spent: Spent) -> bool:
        """Whether so many iterations are left."""
        return self.iterations is None or spent.iterations + iterations <= self.iterations


class BudgetedMethod:
    """A method that is asked within a budget.

    Parameters
    ----------
    method : Method or CheckedMethod
    budget : Budget
    cost : callable, optional
        The iterations that a trial may consume: its budget, or less if it continues an earlier one.

    Attributes
    ----------
    spent : Spent
    """

    def __init__(
        self, method: Method | CheckedMethod, budget: Budget, cost: Callable[[Trial], int] | None = None
    ) -> None:
        self._method = method
        self._budget = budget
        self._cost = cost or (lambda trial: trial.budget)
        self._over: BudgetSpent | None = None
        self.spent = Spent()

    def ask(self) -> Trial:
        """The method's next trial.

        Raises
        ------
        BudgetSpent
            If the budget does not last for it, or does not cover it: the run is over then.
        NothingSucceeds
            If the last `MAX_FAILURES_IN_A_ROW` trials failed.
        SearchExhausted
            As the method does; and if the last `MAX_TRIALS_WITHOUT_HEAVY` trials brought no heavy run.
        """
        if self._over is not None:
            raise self._over
        try:
            return self._ask()
        except BudgetSpent as over:
            self._over = over
            raise

    def _ask(self) -> Trial:
        """The next trial, if the budget lasts for it."""
        spent = self.spent
        if not self._budget.allows_next(spent):
            raise BudgetSpent(f"the budget is spent after {spent.heavy} heavy trials and {spent.iterations} iterations")
        if spent.failures_in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise NothingSucceeds(f"the last {spent.failures_in_a_row} trials failed, at last with: {spent.error}")
        if spent.without_heavy >= MAX_TRIALS_WITHOUT_HEAVY:
            raise SearchExhausted(f"the last {spent.without_heavy} trials brought no heavy run")
        trial = self._method.ask()
        cost = self._cost(trial)
        if not self._budget.can_afford(cost, spent):
            raise BudgetSpent(f"the next trial may take {cost} iterations, more than are left after {spent.iterations}")
        return trial

    def tell(self, trial: Trial, row: Row) -> None:
        """Hand a measurement on; charge it with `spent.add` once its row is complete."""
        self._method.tell(trial, row.measurement)
