"""Where experiments stand: what is told while they run and at their end, and what an earlier start has done."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.records.run_folder import RunFolder
from benchmarks.running.experiment import Experiment


@dataclass(frozen=True)
class TrainingProgress:
    """Where a training run stands: iterations trained and granted, the last error, seconds left at most.

    `left` is None after its first iteration, which may have had to compile.
    """

    iteration: int
    granted: int
    error: float
    left: float | None


@dataclass(frozen=True)
class Progress:
    """Where an experiment stands.

    Attributes
    ----------
    heavy, light : int
        Runs made.
    best : float
        Smallest heavy value so far, inf before the first.
    share : float
        The share of its budget that is spent, from 0 to 1.
    training : TrainingProgress, optional
        The training run that goes on, where it tells.
    """

    heavy: int = 0
    light: int = 0
    best: float = math.inf
    share: float = 0.0
    training: TrainingProgress | None = None


@dataclass(frozen=True)
class Ended:
    """The end of an experiment: None, or why it failed in one line and the file with the traceback.

    `memory` is the most that the process has held so far, in bytes; `locked` says that it was not
    even begun, as another process works on it.
    """

    reason: str | None = None
    error_file: Path | None = None
    memory: int = 0
    locked: bool = False


@dataclass(frozen=True)
class Failure:
    """An experiment that did not come to its end: why, in one line, and the file that says more.

    `locked` says that another process works on it.
    """

    experiment: Experiment
    reason: str
    error_file: Path | None = None
    locked: bool = False


class Observer(Protocol):
    """What is told how the experiments go; `index` is that of the sequence that is run."""

    def started(self, index: int) -> None: ...

    def progressed(self, index: int, progress: Progress) -> None: ...

    def ended(self, index: int, failure: Failure | None) -> None: ...


def finished(experiments: Sequence[Experiment], out: Path) -> dict[int, Progress]:
    """Where those experiments stand, by index, that an earlier start has finished; CorruptRecord if one is damaged."""
    standing = {}
    for index, experiment in enumerate(experiments):
        folder = RunFolder(experiment.folder(out))
        if folder.is_done():
            rows = folder.rows()
            best = min((row.value for row in rows if row.heavy and row.value is not None), default=math.inf)
            heavy = sum(row.heavy for row in rows)
            standing[index] = Progress(heavy, len(rows) - heavy, best, 1.0)
    return standing
