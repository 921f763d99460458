"""What a display knows of experiments that run, by method."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.common.formats import duration, number
from benchmarks.running.experiment import Experiment
from benchmarks.running.progress import Failure, Progress


@dataclass
class State:
    """One experiment as the display knows it; times on the clock of the display.

    `elsewhere` says that it ended as another process works on it, which is no failure.
    """

    progress: Progress
    start: float | None = None
    end: float | None = None
    failed: bool = False
    elsewhere: bool = False

    def seconds(self, now: float) -> float:
        """Seconds it ran in this session."""
        return 0.0 if self.start is None else (now if self.end is None else self.end) - self.start


@dataclass(frozen=True)
class MethodRow:
    """A method's line: seeds done and failed of all, runs, the best value with its seed, seconds left.

    `best` is inf before the first heavy result; `left` is None while there is nothing to judge by.
    """

    method: str
    seeds: int
    done: int
    failed: int
    heavy: int
    light: int
    best: float
    best_seed: int | None
    left: float | None


class Board:
    """What is known of the experiments, by method.

    Parameters
    ----------
    experiments : sequence of Experiment
    before : mapping of int to Progress
        Those that were done before, by index.
    jobs : int
        How many run at a time.
    clock : callable
        Seconds from any origin.
    shared : bool
        Whether an experiment that another process works on is left to it, and has not failed.
    """

    def __init__(
        self,
        experiments: Sequence[Experiment],
        before: Mapping[int, Progress],
        jobs: int,
        clock: Callable[[], float] = time.monotonic,
        shared: bool = False,
    ) -> None:
        self.experiments = experiments
        self.jobs = jobs
        self.shared = shared
        self.clock = clock
        self.states = [State(before.get(index, Progress())) for index in range(len(experiments))]
        for index in before:
            self.states[index].end = clock()

    def started(self, index: int) -> None:
        self.states[index].start = self.clock()

    def progressed(self, index: int, progress: Progress) -> None:
        self.states[index].progress = progress

    def ended(self, index: int, failure: Failure | None) -> None:
        state = self.states[index]
        state.end, state.elsewhere = self.clock(), self.shared and failure is not None and failure.locked
        state.failed = failure is not None and not state.elsewhere

    def fault(self, index: int, failure: Failure) -> str:
        """Which experiment did not come to its end, and why."""
        experiment = self.experiments[index]
        why = "left to the process that works on it" if self.states[index].elsewhere else f"FAILED, {failure.reason}"
        return f"{experiment.method.name}, seed {experiment.seed}: {why}"

    def training(self) -> list[str]:
        """A line for every experiment with a training run that tells how it goes."""
        return [
            line
            for index, state in enumerate(self.states)
            if state.end is None and (line := self.training_line(index)) is not None
        ]

    def training_line(self, index: int) -> str | None:
        """Method, seed, iteration, error and time left of an experiment's training run, if it tells."""
        training, experiment = self.states[index].progress.training, self.experiments[index]
        if training is None:
            return None
        left = "" if training.left is None else f", {duration(training.left)} left"
        return (
            f"{experiment.method.name}, seed {experiment.seed}: iteration {training.iteration} of "
            f"{training.granted}, error {number(training.error, 4)}{left}"
        )

    @property
    def n_ended(self) -> int:
        """Experiments that are over, failed or not."""
        return sum(state.end is not None for state in self.states)

    def rows(self) -> list[MethodRow]:
        """A row for every method, in the order of the experiments."""
        names = dict.fromkeys(experiment.method.name for experiment in self.experiments)
        return [self._row(name) for name in names]

    def _row(self, method: str) -> MethodRow:
        mine = [
            (experiment, state)
            for experiment, state in zip(self.experiments, self.states, strict=True)
            if experiment.method.name == method
        ]
        best, seed = min((state.progress.best, experiment.seed) for experiment, state in mine)
        states = [state for _, state in mine]
        return MethodRow(
            method=method,
            seeds=len(mine),
            done=sum(state.end is not None and not (state.failed or state.elsewhere) for state in states),
            failed=sum(state.failed for state in states),
            heavy=sum(state.progress.heavy for state in states),
            light=sum(state.progress.light for state in states),
            best=best,
            best_seed=seed if math.isfinite(best) else None,
            left=self._left(states),
        )

    def _left(self, states: Sequence[State]) -> float | None:
        """Seconds until a method's experiments are done, at the pace of those that have run."""
        now = self.clock()
        undone = sum(1.0 - state.progress.share for state in states if state.end is None)
        if undone == 0.0:
            return 0.0
        whole = [
            state.seconds(now) / state.progress.share
            for state in states
            if state.start is not None and state.progress.share > 0.0
        ]
        return statistics.fmean(whole) * undone / self.jobs if whole else None
