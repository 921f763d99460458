"""A process that runs experiments one after another, seen from the parent (`Worker`) and from within."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import math
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path

from baselines.protocol import Trial
from benchmarks import worker_start
from benchmarks.arithmetic import environment, variables
from benchmarks.budget import Budget, Spent
from benchmarks.experiment import Experiment, ExperimentFailed, run_experiment
from benchmarks.reason import reason
from benchmarks.records import ERROR, Row, RunLocked

OUTPUT = "output.txt"  # in the folder of a run: what libraries printed while it ran, if anything
INTERVAL = 0.05  # seconds between two messages of progress
OTHER_VARIABLES = {
    "TF_NUM_INTEROP_THREADS": "1",
    # The parent has found the data, or fetched it, and has said so where it is a stand-in.
    "BTAO_OFFLINE": "1",
    "BTAO_NOTICE": "0",
}

# The environment is the process's: its threads, if it has several that start workers, take turns.
STARTING = threading.Lock()


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


class Worker:
    """The parent's side.

    Parameters
    ----------
    threads : int
        Threads of linear algebra; set in the process's environment, so before numpy is loaded.

    Attributes
    ----------
    connection : Connection
        Ready when there is something to `receive`.
    """

    def __init__(self, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.threads = threads
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=worker_start.start, args=(theirs,))
        with STARTING, environment(variables(threads) | OTHER_VARIABLES), interrupts_blocked():
            self._process.start()
        theirs.close()  # only the worker holds it now, so its death ends the connection

    def give(self, experiment: Experiment, out: Path, command: str) -> None:
        """Have an experiment run."""
        with contextlib.suppress(BrokenPipeError):  # it died while idle: `receive` will tell
            self.connection.send((experiment, out, command))

    def receive(self) -> Progress | Ended | None:
        """What the worker says, None if it has died."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            return None

    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process.is_alive()

    def killed(self) -> bool:
        """Whether the process, which is gone, was killed by SIGKILL, as where memory runs out; waits for its end."""
        self._process.join()
        return self._process.exitcode == -signal.SIGKILL

    def cause_of_death(self) -> str:
        """Why the process is gone, in words; waits for its end."""
        self._process.join()
        code = self._process.exitcode
        if code >= 0:
            return f"its process ended with exit status {code}"
        return f"its process was killed by signal {-code}" + (" (out of memory?)" if self.killed() else "")

    def end(self) -> None:
        """End the process at once: records survive that, and an idle worker has nothing to lose."""
        self._process.kill()
        self._process.join()
        self.connection.close()


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block SIGINT here, where it is only put off, and for good in a process that is started meanwhile.

    Ctrl-C reaches the whole group of processes, but it is for the parent to end the workers.
    """
    resource_tracker.ensure_running()  # its own start, which the first process started would cause, unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work(connection: Connection) -> None:
    """The worker's side: run what comes."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError):  # the parent is gone
        while True:
            experiment, out, command = connection.recv()
            ended = _run(experiment, out, command, Reporter(connection, experiment.budget))
            connection.send(dataclasses.replace(ended, memory=_peak_memory()))


def _run(experiment: Experiment, out: Path, command: str, reporter: Reporter) -> Ended:
    path = experiment.folder(out) / OUTPUT
    ended = Ended()
    try:
        _send_output_to(path)
        try:
            run_experiment(experiment, out, command=command, on_trial=reporter, on_iteration=reporter.iteration)
        finally:
            reporter.send()
    except RunLocked as error:  # the file is that of the process that works on the run
        return Ended(reason(error), locked=True)
    except ExperimentFailed as error:
        ended = Ended(str(error), error.folder / ERROR)
    except Exception as error:  # such as a damaged record, which is left as it is
        ended = Ended(reason(error))
    _drop_if_empty(path)
    return ended


def _peak_memory() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _die_with_parent() -> None:
    """Leave no worker behind, holding its run, when the parent is killed."""
    wait([multiprocessing.parent_process().sentinel])
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
        share = spent_share(self._budget, self._spent)
        try:
            self._connection.send(Progress(self._spent.heavy, self._light, self._best, share, self._training))
        except BrokenPipeError:  # the parent is gone; that is no failure of the experiment
            os._exit(1)


def spent_share(budget: Budget, spent: Spent) -> float:
    """The share of a budget that is spent, by the limit nearest to its end; at most 1."""
    limits = [(budget.heavy, spent.heavy), (budget.iterations, spent.iterations), (budget.seconds, spent.seconds)]
    return min(1.0, max(used / limit for limit, used in limits if limit is not None))
