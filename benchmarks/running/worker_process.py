"""The inside of a worker process: it runs experiments one after another and tells its parent how they go."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import math
import multiprocessing
import os
import resource
import sys
import threading
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path

from baselines.protocol import Trial
from benchmarks.common.errors import describe_error
from benchmarks.records.command import Command
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.trials import Row, RunLocked
from benchmarks.running.budget import Budget, Spent
from benchmarks.running.experiment import Experiment, ExperimentFailed, run_experiment
from benchmarks.running.progress import Ended, Progress, TrainingProgress

INTERVAL = 0.05  # seconds between two messages of progress


def work(connection: Connection) -> None:
    """The worker's side: run what comes."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError):  # the parent is gone
        while True:
            experiment, out, command = connection.recv()
            ended = _run(experiment, out, command, Reporter(connection, experiment.budget))
            connection.send(dataclasses.replace(ended, memory=_peak_memory()))


def _run(experiment: Experiment, out: Path, command: Command, reporter: Reporter) -> Ended:
    path = RunFolder(experiment.folder(out)).output
    ended = Ended()
    try:
        _send_output_to(path)
        try:
            run_experiment(experiment, out, command=command, on_trial=reporter, on_iteration=reporter.iteration)
        finally:
            reporter.send()
    except RunLocked as error:  # the file is that of the process that works on the run
        return Ended(describe_error(error), locked=True)
    except ExperimentFailed as error:
        ended = Ended(str(error), RunFolder(error.folder).error)
    except Exception as error:  # such as a damaged record, which is left as it is
        ended = Ended(describe_error(error))
    _drop_if_empty(path)
    return ended


def _peak_memory() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _die_with_parent() -> None:
    """Leave no worker behind, holding its run, when the parent is killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _send_output_to(path: Path) -> None:
    """Send what is printed, by Python or by C, to the end of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    faulthandler.enable(file=2)  # a crash in C leaves its Python stack there, too


def _drop_if_empty(path: Path) -> None:
    """Remove the file of the output if nothing was printed."""
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


class Reporter:
    """Turns rows into progress and sends it to the parent, often enough for an eye and no more.

    Waking the parent for every row would cost short trials more than their recording does.
    """

    def __init__(self, connection: Connection, budget: Budget) -> None:
        self._connection = connection
        self._budget = budget
        self._spent = Spent()
        self._light = 0
        self._best = math.inf
        self._sent = -math.inf
        self._training: TrainingProgress | None = None
        self._trial: Trial | None = None
        self._first = (0, 0.0)  # the trial's first iteration here, and when it was over

    def __call__(self, row: Row) -> None:
        self._spent.add(row)
        self._light += not row.heavy
        if row.heavy and row.value is not None:
            self._best = min(self._best, row.value)
        self._training = None
        self._send_now_and_then()

    def iteration(self, trial: Trial, number: int, error: float) -> None:
        """Take note of an iteration of a trial's training, by its number from 1."""
        now = time.monotonic()
        if trial is not self._trial:
            self._trial, self._first = trial, (number, now)
        first, since = self._first
        left = (now - since) / (number - first) * (trial.budget - number) if number > first else None
        self._training = TrainingProgress(number, trial.budget, error, left)
        self._send_now_and_then()

    def _send_now_and_then(self) -> None:
        if time.monotonic() - self._sent >= INTERVAL:
            self.send()

    def send(self) -> None:
        """Send where the experiment stands now."""
        self._sent = time.monotonic()
        share = self._budget.share(self._spent)
        try:
            self._connection.send(Progress(self._spent.heavy, self._light, self._best, share, self._training))
        except BrokenPipeError:  # the parent is gone; that is no failure of the experiment
            os._exit(1)
