"""Several objectives at a time, on threads, processes or an executor of the caller."""

from __future__ import annotations

import multiprocessing
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from btao.trial import Trial

KINDS = ("threads", "processes")


class Workers:
    """What is under way, and what has ended of it in the order of ending.

    Parameters
    ----------
    executor : {"threads", "processes"}, Executor or Dask client
        The first two are made here, and ended by `close`. Processes are new interpreters: what they run must be
        importable there, and a script that starts them be guarded by `if __name__ == "__main__":`.
    n_jobs : int
        How many of them to make.

    Attributes
    ----------
    running : dict of int to (Trial, Future)
        By number what was started and not taken out since, whether or not it has ended.

    Raises
    ------
    TypeError, ValueError
        If `executor` is none of these.
    """

    def __init__(self, executor: Any, n_jobs: int) -> None:
        self._own: Executor | None = None
        if isinstance(executor, str):
            if executor not in KINDS:
                raise ValueError(f"executor must be one of {KINDS} or an executor, got {executor!r}")
            if executor == "threads":
                self._own = ThreadPoolExecutor(n_jobs)
            else:
                self._own = ProcessPoolExecutor(n_jobs, mp_context=multiprocessing.get_context("spawn"))
        elif hasattr(executor, "get_executor"):  # a Dask client
            executor = executor.get_executor()
        if self._own is None and not isinstance(executor, Executor):
            raise TypeError(f"executor must be one of {KINDS} or a concurrent.futures.Executor, got {executor!r}")
        self._executor: Executor = self._own or executor
        # The futures of Dask do not say which have begun: to cancel them would lose trials under way.
        self._tells_what_begins = not type(self._executor).__module__.startswith("distributed.")
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.running: dict[int, tuple[Trial, Future[Any]]] = {}

    def start(self, trial: Trial, objective: Callable[..., Any], arguments: dict[str, Any]) -> None:
        """Run the objective of a trial."""
        future = self._executor.submit(objective, dict(trial.config), **arguments)
        self.running[trial.number] = trial, future
        future.add_done_callback(lambda ended: self._ended.put(trial.number))

    def next(self, seconds: float | None) -> Trial | None:
        """Wait for the trial that ends next; None where none has after `seconds`.

        It stays in `running` until it is taken out: a Ctrl-C loses none.
        """
        try:
            number = self._ended.get(timeout=None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
        except queue.Empty:
            return None
        return self.running[number][0] if number in self.running else None  # None of one that was withdrawn

    def withdraw(self) -> None:
        """Take back what an executor of the caller has not begun, as one does of fewer workers than jobs."""
        for number, (_, future) in list(self.running.items()):
            if self._tells_what_begins and future.cancel():
                del self.running[number]

    def can_load(self, objectives: Sequence[Callable[..., Any]]) -> bool:
        """Whether a new process can be given these; of an executor of the caller, which is not tried, True."""
        if not isinstance(self._own, ProcessPoolExecutor):
            return True
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as fresh:
            return fresh.submit(len, objectives).exception() is None

    def close(self) -> None:
        """Start nothing more; what is under way goes on, and nobody waits for it."""
        self.withdraw()
        if self._own is not None:
            self._own.shutdown(wait=False)
