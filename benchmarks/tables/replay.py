"""A task that is answered from a recorded table: nothing is trained, and the clock is that of the recording."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import Evaluation, Objective, resumes
from benchmarks.tables import table as tables
from benchmarks.tables.design import grid_space
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
    is_grid : bool
        Whether the table holds a grid; `space` then consists of its values, and every configuration has its own answer.
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
        If the table was recorded with another value of a parameter, ends before a level does, or lacks
        configurations of its grid.
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
        if not head.full_length:
            _check_ends(recording.name, task, recording.task.heavy)
        if task.heavy.iterations > recording.task.heavy.iterations:
            raise ValueError(
                f"heavy_iterations must be at most {recording.task.heavy.iterations}, where table {recording.name} "
                f"ends, got {task.heavy.iterations}"
            )
        self.task, self.cautions = head.task, recording.cautions
        self.is_grid = head.grid is not None
        self.space, self.levels = recording.space, task.levels
        self.light, self.heavy = task.light, task.heavy
        self.delta_bounds, self.rho_bounds = task.delta_bounds, task.rho_bounds
        self.resume_training = resumes(task)
        self.data: DataSource | None = _source(recording)
        self.points, self.numbers = recording.points, recording.numbers
        if math.isnan(self.optimum):
            raise tables.CorruptTable(f"table {recording.name}: no configuration has a heavy result, all have diverged")

    @property
    def optimum(self) -> float:
        """The best heavy measurement in the table."""
        return self._recording.best(self.heavy)

    @property
    def quickest(self) -> float:
        """The fewest seconds, from the start of training, of a heavy run that has a result."""
        return self._recording.quickest(self.heavy)

    def prepare(self) -> None:
        """There is nothing to do."""

    def evaluate(self, config: dict[str, Any], level: Level, seed: int) -> Evaluation:
        """What the nearest recorded configuration did, from the start; `seed` changes nothing."""
        return self.read(self.place(self.space.validate(config)), level, 0)

    def place(self, config: Mapping[str, Any]) -> int:
        """The place in `points` of the recorded configuration nearest to a valid one; of a grid, the very same."""
        if self.is_grid:
            return self._recording.places[tuple(config.values())]
        return int(np.argmin(((self.points - self.space.to_unit(config)) ** 2).sum(1)))

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
            If the table knows nothing of so few iterations, or of so many.
        """
        known = self.light.iterations if light_known else 0
        return self._recording.read(index, level, done, known)


def _check_ends(name: str, task: Objective, ends: Level) -> None:
    """Refuse levels with which training might go on where the curves of a table end."""
    for which, level in (("light", task.light), ("heavy", task.heavy)):
        if not level.is_as_impatient_as(ends):
            raise ValueError(
                f"{which}_patience must be at most {ends.patience} and {which}_tolerance at least {ends.tolerance:g}, "
                f"by which training ended in table {name}, got {level.patience} and {level.tolerance:g}"
            )


def _source(recording: _Recording) -> DataSource:
    """The table as the data of a replay, with the data set that was recorded, if there was one."""
    used, table = recording.head.data, f"table {recording.name}"
    if used is None:
        return DataSource(table, recording.sha256, 0, 0)
    return DataSource(f"{used.name} ({table})", recording.sha256, used.n_train, used.n_validation)


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
        self.space = self.task.space
        configurations = table.configurations
        if table.head.grid is not None:
            self.space = grid_space(self.space, table.head.grid)
            if (missing := self.space.size - len(configurations)) > 0:
                raise ValueError(
                    f"table {table.name} lacks {missing} of the {self.space.size} configurations of its grid: "
                    "finish its recording, or choose another table"
                )
        self.curves = [
            _Curve(
                curve["iteration"].tolist(),
                curve["consumed"].tolist(),
                curve["validation_error"].tolist(),
                curve["test_error"].tolist(),
                [0.0, *curve[self.head.clock]],
            )
            for _, curve in table.rows.groupby("configuration", sort=False)
        ]
        self.numbers = list(configurations)
        self.points = np.array([self.space.to_unit(config) for config in configurations.values()])
        self.places = {tuple(config.values()): place for place, config in enumerate(configurations.values())}
        self._best: dict[Level, float] = {}

    def read(self, index: int, level: Level, done: int, known: int) -> Evaluation:
        """As `Replay.read`; `known` are the iterations of a machine that is remembered."""
        curve = self.curves[index]
        return curve.followed(level, done) if self.head.every_iteration else curve.looked_up(level.iterations, known)

    def best(self, level: Level) -> float:
        """The best measurement at a level, nan if there is none."""
        if level not in self._best:
            self._best[level] = min((each.value for each in self._results(level)), default=math.nan)
        return self._best[level]

    def quickest(self, level: Level) -> float:
        """The fewest seconds of a run from the start that has a result."""
        return min(each.seconds for each in self._results(level) if each.seconds is not None)

    def _results(self, level: Level) -> Iterator[Evaluation]:
        """What each configuration comes to at a level, without those that diverge."""
        runs = (self.read(index, level, 0, 0) for index in range(len(self.curves)))
        return (each for each in runs if not math.isnan(each.value))


class _Curve:
    """A recorded curve; `seconds` begins with a zero."""

    def __init__(
        self,
        iterations: list[int],
        consumed: list[int],
        errors: list[float],
        test_errors: list[float],
        seconds: list[float],
    ) -> None:
        self.iterations, self.consumed, self.seconds = iterations, consumed, seconds
        self.errors, self.test_errors = errors, test_errors

    def followed(self, level: Level, done: int) -> Evaluation:
        """As `CurveTask.evaluate` trains it, on from `done` iterations."""
        stop = tables.stop_of(level, self.errors)
        seen = self.errors[:stop]
        if math.isnan(seen[-1]):
            trained = max(stop - done, 0)
            before = "" if trained else " before,"
            return self._answer(math.nan, trained, done, f"training diverged{before} in iteration {stop}")
        best = level.best(seen)
        assert best is not None, "a curve whose end is a number has a best one"
        return self._answer(seen[best - 1], max(stop - done, 0), done, test_error=self._tested(best))

    def _answer(
        self, value: float, trained: int, done: int, error: str | None = None, test_error: float | None = None
    ) -> Evaluation:
        seconds = self.seconds[done + trained] - self.seconds[done] if trained else 0.0
        return Evaluation(value, trained, error, seconds=seconds, test_error=test_error)

    def _tested(self, place: int) -> float | None:
        """The test error at a place from 1, None where it is not known."""
        error = self.test_errors[place - 1]
        return None if math.isnan(error) else error

    def looked_up(self, granted: int, known: int) -> Evaluation:
        """As `SVM.evaluate` trains it, with the machine of `known` iterations, if any, remembered."""
        place = int(np.searchsorted(self.iterations, granted, side="right"))
        if place == 0:
            raise ValueError(f"the table knows nothing of fewer than {self.iterations[0]} iterations, got {granted}")
        paid = self.seconds[int(np.searchsorted(self.iterations, known, side="right"))]
        return Evaluation(
            self.errors[place - 1],
            self.consumed[place - 1],
            seconds=max(self.seconds[place] - paid, 0.0),
            test_error=self._tested(place),
        )
