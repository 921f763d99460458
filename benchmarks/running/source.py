"""Where the measurements of an experiment come from: live training, or a recorded table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from baselines.protocol import Trial
from benchmarks.config.spec import Spec
from benchmarks.objectives.protocol import Evaluation, Objective
from benchmarks.records.trials import Row
from benchmarks.running.continuation import Continuation
from benchmarks.tables.replay import Replay, ReplayedTraining
from btao.training import Level


class Training(Protocol):
    """What measures the trials of one run.

    Attributes
    ----------
    trains : bool
        Whether something is trained, so that the processor's seconds count.
    """

    trains: bool

    def cost(self, trial: Trial) -> int:
        """The most iterations that a trial can consume: what an earlier one has paid for is not paid again."""

    def evaluate(
        self, trial: Trial, level: Level, on_iteration: Callable[[int, float], None] | None = None
    ) -> Evaluation:
        """Measure a trial at a level."""

    def done(self, config: dict[str, Any]) -> int:
        """Iterations of a configuration that are on its recorded curve."""

    def remember(self, row: Row) -> None:
        """Take account of a trial that is on record."""

    def settle(self, row: Row) -> None:
        """Remove what nothing needs any more, now that a trial is on record."""

    def close(self) -> None:
        """Remove all that only an unfinished run needs."""


class Source(ABC):
    """A source of measurements: it builds the task and what measures the trials of a run.

    Attributes
    ----------
    name : str
        In the identity of a run.
    table : Path or None
        The file of the recorded table, if one answers.
    """

    name: ClassVar[str]
    table: Path | None

    @property
    @abstractmethod
    def given(self) -> set[str]:
        """The parameters of the task's class that this passes itself."""

    @abstractmethod
    def objective(self, task: Spec) -> Objective:
        """The task, with its data or its table found; ValueError or OSError where it cannot be built."""

    @abstractmethod
    def training(self, objective: Objective, seed: int, folder: Path) -> Training:
        """What measures the trials of the run in a folder."""

    def cautions(self, objective: Objective) -> Sequence[str]:
        """Lines about what may not compare."""
        return ()


@dataclass(frozen=True)
class Live(Source):
    """Training while the experiment runs.

    Parameters
    ----------
    data : mapping
        Keyword arguments that tell the task where to find its data; no part of the identity, as the
        hash of the data is.
    """

    name: ClassVar[str] = "live"
    data: Mapping[str, Any] = field(default_factory=dict)
    table: None = field(default=None, init=False)

    @property
    def given(self) -> set[str]:
        return set(self.data)

    def objective(self, task: Spec) -> Objective:
        return task.build(**self.data)

    def training(self, objective: Objective, seed: int, folder: Path) -> Training:
        return Continuation(objective, seed, folder)


@dataclass(frozen=True)
class Recorded(Source):
    """A recorded table: nothing is trained, and the clock is that of the recording.

    Parameters
    ----------
    table : Path
        The file. The task's parameters are those of the recording, but for the ones that the experiment gives.
    """

    name: ClassVar[str] = "table"
    table: Path

    @property
    def given(self) -> set[str]:
        return set()

    def objective(self, task: Spec) -> Objective:
        replay = Replay(self.table, task.typed_parameters)
        if replay.task != task.name:
            raise ValueError(f"table={self.table} is one of task {replay.task}, not of {task.name}")
        return replay

    def training(self, objective: Objective, seed: int, folder: Path) -> Training:
        return ReplayedTraining(_replay(objective))

    def cautions(self, objective: Objective) -> Sequence[str]:
        return _replay(objective).cautions


def _replay(objective: Objective) -> Replay:
    assert isinstance(objective, Replay), "a recorded source builds nothing else"
    return objective
