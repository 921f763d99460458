"""Many experiments on this machine: at most so many at a time, in an order that wastes no core.

Experiments run in worker processes however many there are, so that one that dies takes no other
with it, the number of threads is set before numpy is loaded, and results do not depend on `jobs`.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections.abc import Container, Sequence
from multiprocessing.connection import wait
from pathlib import Path

from benchmarks.common.environment import variables
from benchmarks.records.command import Command
from benchmarks.records.run_folder import TRIES, RunFolder
from benchmarks.records.run_info import Status
from benchmarks.records.trials import CorruptRecord, RunLocked
from benchmarks.running.experiment import NO_COMMAND, Experiment, describe
from benchmarks.running.progress import Ended, Failure, Observer, Progress
from benchmarks.running.worker import Worker

# Bytes that a worker may have held and still take another experiment. TensorFlow never gives back what
# it compiles: some megabytes for each shape of a network.
MEMORY = 2 * 2**30
TAIL = 4000  # characters of a dead worker's output that are kept with the failure, at least
FAULT = "Fatal Python error"  # how faulthandler begins; the innermost call follows, so nothing after it is cut


def run_all(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    jobs: int,
    command: Command = NO_COMMAND,
    observer: Observer,
    skip: Container[int] = (),
) -> list[Failure]:
    """Run experiments; one that fails, or whose process dies, does not stop the others.

    One whose process is killed, as where memory runs out, is started again (see `RunFolder.note_crash`).

    One that another process works on is passed over; when all others are over it is looked at once more,
    and has failed only if that process holds it still.

    With several jobs, the method whose experiments took longest so far goes first, so that no long
    one is left for the end; with one, they run in the order given.

    Parameters
    ----------
    experiments : sequence of Experiment
    out : Path
        Where records go.
    jobs : int
        Processes at the same time.
    command : Command, optional
        What they were started with, for the record.
    observer : Observer
    skip : container of int
        Indices of experiments that are left out.


    Returns
    -------
    list of Failure

    Raises
    ------
    KeyboardInterrupt
        After the workers were ended; what they recorded stays.
    """
    pending = [index for index in range(len(experiments)) if index not in skip]
    held: list[int] = []  # by other processes, when their turn came
    looked_again: Container[int] = ()
    durations: dict[str, list[float]] = {}
    running: dict[Worker, tuple[int, float]] = {}  # index and start
    idle: list[Worker] = []
    failures = []
    try:
        while pending or running or held:
            if not (pending or running):
                pending, looked_again, held = held, tuple(held), []
            while pending and len(running) < jobs:
                index = pending[0] if jobs == 1 else longest(pending, experiments, durations)
                pending.remove(index)
                worker = _idle_worker(idle, experiments[index].threads) or Worker(experiments[index].threads)
                running[worker] = index, time.monotonic()
                worker.give(experiments[index], out, command)
                observer.started(index)
            ready = wait([worker.connection for worker in running])
            for worker in [worker for worker in running if worker.connection in ready]:
                index, start = running[worker]
                message = worker.receive()
                if isinstance(message, Progress):
                    observer.progressed(index, message)
                    continue
                del running[worker]
                ended = ending(worker, message, experiments[index], out, command)
                if ended is None or ended.memory > MEMORY:
                    worker.end()
                else:
                    idle.append(worker)
                if ended is None:
                    pending.insert(0, index)
                    continue
                if ended.locked and index not in looked_again:
                    held.append(index)
                    continue
                failure = failure_of(experiments[index], ended)
                if failure is not None:
                    failures.append(failure)
                durations.setdefault(experiments[index].method.name, []).append(time.monotonic() - start)
                observer.ended(index, failure)
    finally:
        for worker in [*running, *idle]:
            worker.end()
    return failures


def ending(worker: Worker, message: Ended | None, experiment: Experiment, out: Path, command: Command) -> Ended | None:
    """How an experiment ended whose worker said so, or died; None where it is to be started again."""
    if message is not None:
        return message
    if worker.killed() and _may_go_on(experiment.folder(out)):
        return None
    return _death(worker, experiment, out, command)


def failure_of(experiment: Experiment, ended: Ended) -> Failure | None:
    """What is told of an experiment that failed, None of one that did not."""
    return None if ended.reason is None else Failure(experiment, ended.reason, ended.error_file, ended.locked)


def longest(pending: Sequence[int], experiments: Sequence[Experiment], durations: dict[str, list[float]]) -> int:
    """The pending experiment whose method took longest on average; one not yet known before all others."""

    def expected(index: int) -> float:
        return statistics.fmean(durations.get(experiments[index].method.name, [math.inf]))

    return max(pending, key=expected)


def _idle_worker(idle: list[Worker], threads: int) -> Worker | None:
    """An idle worker that lives and has so many threads; others are ended on the way."""
    while idle:
        worker = idle.pop()
        if worker.threads == threads and worker.alive():
            return worker
        worker.end()
    return None


def _may_go_on(path: Path) -> bool:
    """Whether to start an experiment again whose worker was killed; the trial it was in is noted."""
    folder = RunFolder(path)
    try:
        with folder.log() as log:
            return folder.note_crash(log.n_rows) <= TRIES
    except (OSError, RunLocked, CorruptRecord):
        return False


def _death(worker: Worker, experiment: Experiment, out: Path, command: Command) -> Ended:
    """The end of an experiment whose worker died, put on record with what it printed last."""
    folder = RunFolder(experiment.folder(out))
    reason = worker.cause_of_death()
    printed = ""
    with contextlib.suppress(OSError):
        printed = _last_words(folder.output.read_text(errors="replace"))
    # What cannot be marked is left as it is. No other process works on it now.
    with contextlib.suppress(OSError, RunLocked, CorruptRecord), folder.log() as log:
        run = folder.info()
        if run is None:  # its worker died before it could describe it
            run = describe(experiment, command, log.n_rows, variables(experiment.threads))
        if not run.status.is_done:
            folder.fail(run, reason, f"{reason}\n{printed}", Status.KILLED)
    return Ended(reason, folder.error if folder.error.exists() else None)


def _last_words(printed: str) -> str:
    """The end of what a worker printed, with the whole of its last report of a crash."""
    start = max(len(printed) - TAIL, 0)
    fault = printed.rfind(FAULT)
    return printed[start if fault < 0 else min(start, fault) :]
