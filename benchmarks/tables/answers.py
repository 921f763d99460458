"""How the trials of a run are answered from a recorded table, and what each is charged.

The counterparts of `benchmarks.running.continuation.Continuation`: nothing is trained, and no states are kept.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from baselines.protocol import SearchExhausted, Trial
from benchmarks.objectives.protocol import Evaluation
from benchmarks.records.trials import Row
from benchmarks.tables.replay import Replay
from btao.training import Level


class Account:
    """What a run was charged for each configuration: a trial that grants more than one before it pays for the rest.

    Parameters
    ----------
    resumes : bool
        Whether training can be continued.
    """

    def __init__(self, resumes: bool) -> None:
        self._resumes = resumes
        self._trained: dict[Hashable, tuple[int, int]] = {}  # the most that was granted, and the iterations then

    def continues(self, key: Hashable, budget: int) -> bool:
        """Whether a trial that grants so much goes on where an earlier one ended."""
        return key in self._trained and self._trained[key][0] < budget

    def done(self, key: Hashable, budget: int) -> int:
        """Iterations that are paid for and that a trial which grants so much continues."""
        return self._trained[key][1] if self._resumes and self.continues(key, budget) else 0

    def charge(self, key: Hashable, budget: int, iterations: int) -> None:
        """Take account of a trial that granted so much and consumed so many iterations."""
        granted, _ = self._trained.get(key, (0, 0))
        if budget > granted:
            self._trained[key] = budget, self.done(key, budget) + iterations


class _Answers:
    """What answers from a table have in common: nothing is trained, and there are no states."""

    trains = False

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._account = Account(replay.resume_training)

    def done(self, trial: Trial) -> int:
        """Nothing is trained, and no curve recorded."""
        return 0

    def settle(self, row: Row) -> None:
        """There are no states."""

    def close(self) -> None:
        """There are no states."""


class ExactAnswers(_Answers):
    """Answers the trials of one run by the very configurations that they ask for: for a grid.

    A trial that grants more than its configuration was granted before continues it, and pays for the rest. Any
    other is trained again, and pays in full: a method that repeats itself learns nothing.
    """

    def cost(self, trial: Trial) -> int:
        """The most iterations that a trial can consume."""
        return trial.budget - self._account.done(self._replay.place(trial.config), trial.budget)

    def evaluate(
        self, trial: Trial, level: Level, on_iteration: Callable[[int, float], None] | None = None
    ) -> Evaluation:
        """What the table says; there is no progress to report."""
        place = self._replay.place(trial.config)
        done, known = self._account.done(place, trial.budget), self._account.continues(place, trial.budget)
        evaluation = self._replay.read(place, level, done, light_known=known)
        return dataclasses.replace(evaluation, answer={"configuration": self._replay.numbers[place], "distance": 0.0})

    def remember(self, row: Row) -> None:
        """Take account of a trial that is on record."""
        self._account.charge(self._replay.place(row.config), row.budget, row.iterations)


class NearestAnswers(_Answers):
    """Answers the trials of one run, each by the nearest recorded configuration that the run has not yet seen.

    For a table whose design is no grid.

    A configuration that was answered before, at another budget, is answered by the same one again, so
    that a heavy run continues its own light run and pays for the rest only. One that is new gets an answer
    that was not seen at any budget, so that it takes nothing that another will continue; when all were
    seen, the nearest that was not at its budget. Then what another configuration has paid for is paid again, as a
    live run would have to train it. Of equally near ones the first is taken. The counterpart of
    `benchmarks.running.continuation.Continuation`.
    """

    def __init__(self, replay: Replay) -> None:
        super().__init__(replay)  # whose account is by the values of the configuration asked for and the answer
        self._seen: dict[int, np.ndarray] = {}  # by budget, inf where it was seen
        self._answers: dict[tuple[Any, ...], list[int]] = {}  # by the values of the configuration asked for
        self._found: tuple[Trial, int, float] | None = None

    def _nearest(self, trial: Trial) -> tuple[int, float]:
        """The place of the answer, and its distance in the unit cube."""
        if self._found is None or self._found[0] is not trial:
            replay = self._replay
            squares = ((replay.points - replay.space.to_unit(trial.config)) ** 2).sum(1)
            unseen = squares + self._seen.get(trial.budget, 0.0)
            own = self._answers.get(tuple(trial.config.values()), ())
            index = next((answer for answer in own if unseen[answer] < math.inf), None)
            if index is None:
                free = squares + sum(self._seen.values())
                index = int((unseen if math.isinf(free.min()) else free).argmin())
            if math.isinf(unseen[index]):
                raise SearchExhausted(f"every recorded configuration was seen at {trial.budget} iterations")
            self._found = trial, index, math.sqrt(squares[index])
        return self._found[1:]

    def cost(self, trial: Trial) -> int:
        """The most iterations that a trial can consume.

        Raises
        ------
        SearchExhausted
            If every recorded configuration was seen at its budget.
        """
        return trial.budget - self._account.done(self._key(trial), trial.budget)

    def evaluate(
        self, trial: Trial, level: Level, on_iteration: Callable[[int, float], None] | None = None
    ) -> Evaluation:
        """What the table says; there is no progress to report."""
        index, distance = self._nearest(trial)
        done = self._account.done(self._key(trial), trial.budget)
        known = index in self._answers.get(tuple(trial.config.values()), ())
        evaluation = self._replay.read(index, level, done, light_known=known)
        answer = {"configuration": self._replay.numbers[index], "distance": distance}
        return dataclasses.replace(evaluation, answer=answer)

    def remember(self, row: Row) -> None:
        """Take account of a trial that is on record."""
        if row.answer is None:
            return  # the table had none
        index = self._replay.numbers.index(row.answer["configuration"])
        seen = self._seen.setdefault(row.budget, np.zeros(len(self._replay.points)))
        seen[index] = math.inf
        asked = tuple(row.config.values())
        own = self._answers.setdefault(asked, [])
        own += [index] if index not in own else []
        self._account.charge((asked, index), row.budget, row.iterations)

    def _key(self, trial: Trial) -> Hashable:
        """What a trial is charged for: its configuration, by the answer that it has."""
        return tuple(trial.config.values()), self._nearest(trial)[0]
