"""A task that is answered from a recorded table: nothing is trained, and the clock is that of the recording."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from baselines.protocol import SearchExhausted, Trial
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import Evaluation
from benchmarks.records.trials import Row
from benchmarks.tables import table as tables
from btao.training import Level

# The parameters of a task that may differ from those it was recorded with: they decide how a curve is read.
READING = (
    *(f"{level}_{part}" for level in ("light", "heavy") for part in ("iterations", "patience", "tolerance")),
    *("resume_training", "delta_bounds", "rho_bounds"),
)


class Replay:
    """A recorded task.

    Parameters
    ----------
    table : str or Path
        The file.
    parameters : mapping, optional
        Parameters of the task that differ from those of the recording; see `READING`.

    Attributes
    ----------
    task : str
        The name of the recorded task.
    optimum : float
        The best heavy measurement in the table.
    cautions : list of str
        Those of the table.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    CorruptTable
        If it is no table, cannot have been recorded, or has no heavy result.
    ValueError
        If the table was recorded with another value of a parameter, or ends before the heavy level does.
    """

    def __init__(self, table: str | Path, parameters: Mapping[str, Any] | None = None) -> None:
        path = Path(table)
        self._recording = recording = _read(path, path.stat().st_mtime_ns if path.exists() else None)
        head = recording.head
        for name, value in (parameters or {}).items():
            if name not in READING and value != head.parameters.get(name, value):
                raise ValueError(
                    f"table {recording.name} was recorded with {name}={head.parameters[name]}, not {value}: "
                    "leave it out, or record another table"
                )
        task = head.objective(**(parameters or {}))
        if not head.every_iteration:
            recorded = recording.curves[0].iterations
            for name, level in (("light", task.light), ("heavy", task.heavy)):
                allowed = [recording.task.light.iterations] if name == "light" else recorded[1:]
                if level.iterations not in allowed:
                    raise ValueError(
                        f"{name}_iterations must be {' or '.join(map(str, allowed))}, which is what table "
                        f"{recording.name} has, got {level.iterations}"
                    )
        if task.heavy.iterations > recording.task.heavy.iterations:
            raise ValueError(
                f"heavy_iterations must be at most {recording.task.heavy.iterations}, where table {recording.name} "
                f"ends, got {task.heavy.iterations}"
            )
        self.task, self.cautions = head.task, recording.cautions
        self.space, self.levels = task.space, task.levels
        self.light, self.heavy = task.light, task.heavy
        self.delta_bounds, self.rho_bounds = task.delta_bounds, task.rho_bounds
        self.resume_training = getattr(task, "resume_training", False)
        self.data: DataSource | None = DataSource(
            f"{head.data.name} (table {recording.name})", recording.sha256, head.data.n_train, head.data.n_validation
        )
        self.points, self.numbers = recording.points, recording.numbers
        if math.isnan(self.optimum):
            raise tables.CorruptTable(f"table {recording.name}: no configuration has a heavy result, all have diverged")

    @property
    def optimum(self) -> float:
        """The best heavy measurement in the table."""
        return self._recording.best(self.heavy)

    def prepare(self) -> None:
        """There is nothing to do."""

    def evaluate(self, config: dict[str, Any], level: Level, seed: int) -> Evaluation:
        """What the nearest recorded configuration did, from the start; `seed` changes nothing."""
        point = self.space.to_unit(self.space.validate(config))
        return self.read(int(np.argmin(((self.points - point) ** 2).sum(1))), level, 0)

    def truth(self, config: dict[str, Any]) -> None:
        """Not known."""
        return None

    def read(self, index: int, level: Level, done: int, light_known: bool = False) -> Evaluation:
        """What a live run would have measured and consumed.

        Parameters
        ----------
        index : int
            Of the recorded configuration in `points`.
        level : Level
        done : int
            Iterations that were trained and paid for before.
        light_known : bool
            Whether its light run was made before, by a task that cannot continue but remembers that.

        Raises
        ------
        ValueError
            If the table knows nothing of so few iterations.
        """
        known = self.light.iterations if light_known else 0
        return self._recording.read(index, level, done, known)


@functools.lru_cache(4)
def _read(path: Path, changed: int | None) -> _Recording:
    """What a table holds; read again when the file has changed."""
    return _Recording(tables.load(path))


class _Recording:
    """A sound table, laid out for being read many times.

    Raises
    ------
    CorruptTable
        If it cannot have been recorded.
    """

    def __init__(self, table: tables.Table) -> None:
        self.name, self.head, self.sha256 = table.name, table.head, table.sha256
        self.cautions = table.cautions
        self.task = table.checked()
        self.curves = [
            _Curve(
                curve["iteration"].tolist(),
                curve["consumed"].tolist(),
                curve["validation_error"].tolist(),
                [0.0, *curve[self.head.clock]],
            )
            for _, curve in table.rows.groupby("configuration", sort=False)
        ]
        configurations = table.configurations
        self.numbers = list(configurations)
        self.points = np.array([self.task.space.to_unit(config) for config in configurations.values()])
        self._best: dict[Level, float] = {}

    def read(self, index: int, level: Level, done: int, known: int) -> Evaluation:
        """As `Replay.read`; `known` are the iterations of a machine that is remembered."""
        curve = self.curves[index]
        return curve.followed(level, done) if self.head.every_iteration else curve.looked_up(level.iterations, known)

    def best(self, level: Level) -> float:
        """The best measurement at a level, nan if there is none."""
        if level not in self._best:
            values = [self.read(index, level, 0, 0).value for index in range(len(self.curves))]
            self._best[level] = min((value for value in values if not math.isnan(value)), default=math.nan)
        return self._best[level]


class _Curve:
    """A recorded curve; `seconds` begins with a zero."""

    def __init__(self, iterations: list[int], consumed: list[int], errors: list[float], seconds: list[float]) -> None:
        self.iterations, self.consumed, self.errors, self.seconds = iterations, consumed, errors, seconds

    def followed(self, level: Level, done: int) -> Evaluation:
        """As `CurveTask.evaluate` trains it, on from `done` iterations."""
        stop = level.stop(self.errors) or len(self.errors)
        seen = self.errors[:stop]
        if math.isnan(seen[-1]):
            trained = max(stop - done, 0)
            before = "" if trained else " before,"
            return self._answer(math.nan, trained, done, f"training diverged{before} in iteration {stop}")
        return self._answer(level.measure(seen), max(stop - done, 0), done)

    def _answer(self, value: float, trained: int, done: int, error: str | None = None) -> Evaluation:
        seconds = self.seconds[done + trained] - self.seconds[done] if trained else 0.0
        return Evaluation(value, trained, error, seconds=seconds)

    def looked_up(self, granted: int, known: int) -> Evaluation:
        """As `SVM.evaluate` trains it, with the machine of `known` iterations, if any, remembered."""
        place = int(np.searchsorted(self.iterations, granted, side="right"))
        if place == 0:
            raise ValueError(f"the table knows nothing of fewer than {self.iterations[0]} iterations, got {granted}")
        paid = self.seconds[int(np.searchsorted(self.iterations, known, side="right"))]
        return Evaluation(
            self.errors[place - 1], self.consumed[place - 1], seconds=max(self.seconds[place] - paid, 0.0)
        )


class ReplayedTraining:
    """Answers the trials of one run, each by the nearest recorded configuration that the run has not yet seen.

    A configuration that was answered before, at another budget, is answered by the same one again, so
    that a heavy run continues its own light run and pays for the rest only. One that is new gets an answer
    that was not seen at any budget, so that it takes nothing that another will continue; when all were
    seen, the nearest that was not at its budget. Then what another configuration has paid for is paid again, as a
    live run would have to train it. Of equally near ones the first is taken. The counterpart of
    `benchmarks.running.continuation.Continuation`.
    """

    trains = False

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._seen: dict[int, np.ndarray] = {}  # by budget, inf where it was seen
        # By the values of the configuration asked for, iterations by answer.
        self._trained: dict[tuple[Any, ...], dict[int, int]] = {}
        self._found: tuple[Trial, int, float] | None = None

    def _nearest(self, trial: Trial) -> tuple[int, float]:
        """The place of the answer, and its distance in the unit cube."""
        if self._found is None or self._found[0] is not trial:
            replay = self._replay
            squares = ((replay.points - replay.space.to_unit(trial.config)) ** 2).sum(1)
            unseen = squares + self._seen.get(trial.budget, 0.0)
            own = self._trained.get(tuple(trial.config.values()), ())
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
        index, _ = self._nearest(trial)
        return max(trial.budget - self._done(trial.config, index), 0)

    def evaluate(
        self, trial: Trial, level: Level, on_iteration: Callable[[int, float], None] | None = None
    ) -> Evaluation:
        """What the table says; there is no progress to report."""
        index, distance = self._nearest(trial)
        known = index in self._trained.get(tuple(trial.config.values()), {})
        evaluation = self._replay.read(index, level, self._done(trial.config, index), light_known=known)
        answer = {"configuration": self._replay.numbers[index], "distance": distance}
        return dataclasses.replace(evaluation, answer=answer)

    def done(self, config: dict[str, Any]) -> int:
        """Nothing is trained, and no curve recorded."""
        return 0

    def remember(self, row: Row) -> None:
        """Take account of a trial that is on record."""
        if row.answer is None:
            return  # the table had none
        index = self._replay.numbers.index(row.answer["configuration"])
        seen = self._seen.setdefault(row.budget, np.zeros(len(self._replay.points)))
        seen[index] = math.inf
        asked = tuple(row.config.values())
        self._trained.setdefault(asked, {})[index] = self._done(row.config, index) + row.iterations

    def settle(self, row: Row) -> None:
        """There are no states."""

    def close(self) -> None:
        """There are no states."""

    def _done(self, config: Mapping[str, Any], index: int) -> int:
        """Iterations that this configuration has paid for on this answer and can continue."""
        return self._trained.get(tuple(config.values()), {}).get(index, 0) if self._replay.resume_training else 0
