"""Several objectives at a time, on threads, processes or an executor of the caller."""

from __future__ import annotations

import multiprocessing
import queue
from collections.abc import Callable
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
        self._ended: queue.SimpleQueue[tuple[Trial, Future[Any]]] = queue.SimpleQueue()
        self.n_running = 0

    def start(self, trial: Trial, objective: Callable[..., Any], arguments: dict[str, Any]) -> None:
        """Run the objective of a trial."""
        future = self._executor.submit(objective, dict(trial.config), **arguments)
        self.n_running += 1
        future.add_done_callback(lambda ended: self._ended.put((trial, ended)))

    def next(self, wait: bool = True) -> tuple[Trial, Future[Any]]:
        """The trial that ended next, with its future; queue.Empty if none has and we do not wait."""
        ended = self._ended.get(block=wait)
        self.n_running -= 1
        return ended

    def close(self) -> None:
        """Start nothing more; what is under way goes on, and nobody waits for it."""
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)
