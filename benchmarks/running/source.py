"""Where the measurements of an experiment come from: live training, or a recorded table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.common.errors import UsageError, describe_error
from benchmarks.config.spec import Spec
from benchmarks.objectives.protocol import Objective, check_objective
from benchmarks.running.cache import CachedTraining
from benchmarks.running.continuation import Continuation
from benchmarks.tables.answers import ExactAnswers, NearestAnswers
from benchmarks.tables.replay import Replay

if TYPE_CHECKING:
    from benchmarks.config.request import Request  # workers need none

Training = Continuation | CachedTraining | ExactAnswers | NearestAnswers  # what measures the trials of one run


@dataclass(frozen=True)
class Live:
    """Training while the experiment runs.

    A source builds the task and what measures the trials of a run. Its `name` is part of the identity of a run,
    `table` the file of the recorded table, if one answers.

    Parameters
    ----------
    data : mapping
        Keyword arguments that tell the task where to find its data; no part of the identity, as the
        hash of the data is.
    """

    name: ClassVar[str] = "live"
    data: Mapping[str, Any] = field(default_factory=dict)
    table: ClassVar[None] = None

    @classmethod
    def of(cls, request: Request) -> Live:
        """Training on the data that a request names, if its task needs some."""
        if not request.task.get("needs_data"):
            return cls()
        # A whole path, as the workers of a cluster start elsewhere.
        folder = None if request.data_dir is None else os.path.abspath(os.path.expanduser(request.data_dir))
        return cls({"data": request.data, "data_dir": folder})

    @property
    def given(self) -> set[str]:
        """The parameters of the task's class that this passes itself."""
        return set(self.data)

    def objective(self, task: Spec) -> Objective:
        """The task, with its data or its table found; ValueError or OSError where it cannot be built."""
        objective: Objective = task.build(**self.data)
        check_objective(objective)
        return objective

    def training(self, objective: Objective, seed: int, folder: Path) -> Training:
        """What measures the trials of the run in a folder."""
        return Continuation(objective, seed, folder)

    def cautions(self, objective: Objective) -> Sequence[str]:
        """Lines about what may not compare."""
        return ()


@dataclass(frozen=True)
class Recorded:
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
        replay = _replay(objective)
        return ExactAnswers(replay) if replay.is_grid else NearestAnswers(replay)

    def cautions(self, objective: Objective) -> Sequence[str]:
        return _replay(objective).cautions


Source = Live | Recorded


def build_objective(source: Source, task: Spec) -> Objective:
    """The task that a source measures.

    Raises
    ------
    ValueError, TypeError, OSError
        As `Live.objective` does; UsageError, naming the task, where its class fails with an error of its own code.
    """
    try:
        return source.objective(task)
    except (ValueError, TypeError, OSError):
        raise
    except (Exception, SystemExit) as error:  # of the class's own code
        raise UsageError(f"task {task.name}: {task.target!r} cannot be built: {describe_error(error)}") from error


def _replay(objective: Objective) -> Replay:
    assert isinstance(objective, Replay), "a recorded source builds nothing else"
    return objective
