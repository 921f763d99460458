"""A process that runs experiments one after another, seen from its parent."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing import current_process, resource_tracker
from pathlib import Path
from typing import Any

from benchmarks.common.environment import START, environment, variables
from benchmarks.common.errors import UsageError
from benchmarks.records.command import Command
from benchmarks.running import worker_process
from benchmarks.running.experiment import Experiment
from benchmarks.running.progress import Ended, Progress

OTHER_VARIABLES = {
    "TF_NUM_INTEROP_THREADS": "1",
    # The parent has found the data, or fetched it, and has said so where it is a stand-in.
    "BTAO_OFFLINE": "1",
    "BTAO_NOTICE": "0",
}
PROCESS = "BTAO worker"
# The environment is the process's: its threads, if it has several that start workers, take turns.
STARTING = threading.Lock()


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

    Raises
    ------
    UsageError
        In a worker, which would start workers that start workers.
    """

    def __init__(self, threads: int) -> None:
        if current_process().name == PROCESS:
            raise UsageError(
                "a module that a worker imports for a class runs a study itself: put that under "
                "`if __name__ == '__main__':`, or into another module"
            )
        context = multiprocessing.get_context(START)
        self.threads = threads
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=worker_process.work, args=(theirs,), name=PROCESS)
        with STARTING, environment(variables(threads) | OTHER_VARIABLES), interrupts_blocked(), main_left_out():
            self._process.start()
        theirs.close()  # only the worker holds it now, so its death ends the connection

    def give(self, experiment: Experiment, out: Path, command: Command) -> None:
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
        code = self._process.exitcode or 0
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


@contextlib.contextmanager
def main_left_out() -> Iterator[None]:
    """Have a process that is started meanwhile not import the script of this one, which it has no use for.

    So a script needs no guard around the call that starts workers. What is of its classes comes by value.
    """
    main = vars(sys.modules["__main__"])
    hidden: dict[str, Any] = {name: main[name] for name in ("__spec__", "__file__") if name in main}
    main["__spec__"] = None
    main.pop("__file__", None)
    try:
        yield
    finally:
        main.update(hidden)
