"""The side of a Dask worker: one experiment in a process of its own, told to the driver while it runs."""

from __future__ import annotations

import multiprocessing
import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.environment import variables
from benchmarks.records.provenance import provenance
from benchmarks.records.run_folder import held
from benchmarks.running.experiment import Experiment
from benchmarks.running.local import ending
from benchmarks.running.progress import Ended, Progress
from benchmarks.running.worker import Worker

LOOKS = 0.2  # seconds between two looks at whether the experiment is wanted still
REPORTS = 0.5  # seconds between two messages of progress, at least: they go through the scheduler


class UnfitWorker(RuntimeError):
    """What a Dask worker lacks of the driver's terms, as `complaint` says it."""


class Unwanted(RuntimeError):
    """The driver is gone or has given the experiment up, or this worker is closing."""


@dataclass(frozen=True)
class Terms:
    """What a worker must have in common with the driver.

    Attributes
    ----------
    token : Path
        A file in the folder of the records.
    versions : mapping of str to str
        Of all that can decide an outcome.
    commit : str or None
        Of the suite, where it is a git checkout.
    arithmetic : mapping of str to str or None
        What decides how the processes that run experiments round.
    """

    token: Path
    versions: Mapping[str, str]
    commit: str | None
    arithmetic: Mapping[str, str | None]

    @classmethod
    def of_this_process(cls, token: Path) -> Terms:
        """The terms that this process itself meets, and those that it starts for experiments."""
        made_by = provenance(variables(1))
        # What numpy is told not to use differs between processors that then compute alike: what it uses counts.
        used = made_by["machine"]["arithmetic"]
        arithmetic = {
            **{name: used[name] for name in ("OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA")},
            "SIMD extensions of numpy": " ".join(sorted(used["simd"])),
        }
        return cls(token, made_by["versions"], made_by["git"] and made_by["git"]["commit"], arithmetic)


def complaint(terms: Terms) -> str | None:
    """What this process lacks to work on the driver's terms, None if nothing."""
    if not terms.token.exists():
        return f"does not see {terms.token.parent}: out= must be a folder that all machines share"
    here = Terms.of_this_process(terms.token)
    names = sorted({*terms.versions, *here.versions})
    differing = [(name, here.versions.get(name), terms.versions.get(name)) for name in names]
    if None not in (here.commit, terms.commit):
        differing.append(("the suite at commit", here.commit, terms.commit))
    differing += [(name, here.arithmetic.get(name), theirs) for name, theirs in terms.arithmetic.items()]
    told = [
        f"{name} {ours or '(none)'} instead of {theirs or 'none'}" for name, ours, theirs in differing if ours != theirs
    ]
    return f"has {', '.join(told)}: tables would depend on the machine" if told else None


def missing(experiment: Experiment) -> str | None:
    """What this process lacks of the table or the data of an experiment, None if nothing."""
    try:
        experiment.objective()
    except (OSError, ValueError) as error:
        return f"cannot set up task {experiment.task.name}, as the driver can ({type(error).__name__}: {error})"
    return None


def run_task(
    index: int, experiment: Experiment, out: Path, command: str, terms: Terms, topic: str
) -> tuple[Ended, Progress | None]:
    """Run an experiment as a Dask task; how it ended, and where it then stood.

    What happens meanwhile is logged as events of `topic`: the index with None at the start, then
    with progress. Where another process works on the experiment, as one whose worker was thought
    lost may do, this waits for its end and goes on from there.

    Raises
    ------
    UnfitWorker, Unwanted
    """
    from distributed import get_worker

    dask_worker = get_worker()
    lacking = complaint(terms) or missing(experiment)
    if lacking is not None:
        raise UnfitWorker(lacking)
    # Dask starts its workers as daemons, which may have no children. Ours watch their parent themselves.
    multiprocessing.current_process().daemon = False
    key = dask_worker.get_current_task()
    report = _Report(lambda progress: dask_worker.log_event(topic, pickle.dumps((index, progress))))
    report.send(None)
    while True:
        _check_wanted(dask_worker, key)
        ended = _attempt(experiment, out, command, report, lambda: _check_wanted(dask_worker, key))
        if ended is not None and not ended.locked:
            return ended, report.last
        while held(experiment.folder(out)):
            _check_wanted(dask_worker, key)
            time.sleep(LOOKS)


class _Report:
    """Hands progress on now and then, and keeps the last."""

    def __init__(self, send: Callable[[Progress | None], None]) -> None:
        self.send = send
        self.last: Progress | None = None
        self._sent = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        if time.monotonic() - self._sent >= REPORTS:
            self._sent = time.monotonic()
            self.send(progress)


def _attempt(
    experiment: Experiment, out: Path, command: str, report: _Report, check: Callable[[], None]
) -> Ended | None:
    """Run an experiment in a fresh process; None where that was killed and it is to be started again."""
    worker = Worker(experiment.threads)
    try:
        worker.give(experiment, out, command)
        while True:
            check()
            if not worker.connection.poll(LOOKS):
                continue
            message = worker.receive()
            if not isinstance(message, Progress):
                return ending(worker, message, experiment, out, command)
            report(message)
    finally:
        worker.end()


def _check_wanted(dask_worker: Any, key: str) -> None:
    """Raise Unwanted if Dask has cancelled the task, whose thread it cannot stop, or closes the worker."""
    from distributed.core import Status

    task = dask_worker.state.tasks.get(key)
    if (
        task is None
        or task.state != "executing"
        or dask_worker.status in (Status.closing, Status.closed, Status.failed)
    ):
        raise Unwanted(key)
