"""Many experiments on a Dask cluster: one that exists, or one of this machine's own processes.

One Dask task is one experiment. Its records are the result; what comes back is only how it ended. A
task whose worker is lost is started again elsewhere by Dask, and continues from its log.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import queue
import sys
import time
import uuid
import warnings
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from baselines.interpreter import run_module
from benchmarks.dask_task import Terms, complaint, run_task
from benchmarks.engine import Failure, Observer, failure_of, longest
from benchmarks.experiment import Experiment
from benchmarks.options import UsageError
from benchmarks.reason import reason
from benchmarks.worker import Progress, interrupts_blocked

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECTING = 10.0  # seconds that a scheduler has to answer
LOOKS = 1.0  # seconds between two looks at how many workers there are
COMMON = ("dask", "distributed")  # what the scheduler, too, must have in the driver's version, beside Python
GONE = "the Dask scheduler is gone or has dropped it; the same command continues"


@contextlib.contextmanager
def connect(address: str | None, jobs: int, out: Path) -> Iterator[DaskEngine]:
    """A cluster whose workers are fit for work.

    Parameters
    ----------
    address : str or None
        Of the scheduler; None: a cluster of processes on this machine, ended with the context.
    jobs : int
        Workers of the cluster of this machine, with a thread each.
    out : Path
        Where records go; exists.

    Raises
    ------
    UsageError
        If Dask is not installed, there is no scheduler, or a worker has other software or does not
        see `out`.
    """
    try:
        import distributed
    except ImportError as error:
        raise UsageError(f"engine=dask needs distributed: {run_module('pip', 'install', 'distributed')}") from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it reports with a trace is told below
    token = out.resolve() / f".seen-by-workers-{uuid.uuid4().hex}"
    with contextlib.ExitStack() as stack:
        if address is None:
            # Ctrl-C is for this process alone, which then ends the others.
            with interrupts_blocked():
                cluster = distributed.LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=":0",  # any port that is free
                    memory_limit=None,  # what takes memory are the workers' children
                    silence_logs=logging.ERROR,
                )
            stack.enter_context(cluster)
            address = cluster.scheduler_address
        client = stack.enter_context(_client(address))
        stack.callback(token.unlink, missing_ok=True)
        token.touch()
        terms = Terms.of_this_process(token)
        _wait_for_a_worker(client, address)
        _check_versions(client)
        _check_workers(client, terms)
        yield DaskEngine(client, terms)


def _client(address: str) -> Client:
    import distributed

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions that differ: these are checked later
            return distributed.Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"engine.address={address}: no Dask scheduler answered there within {CONNECTING:.0f} s"
        ) from error


def _wait_for_a_worker(client: Client, address: str) -> None:
    """Wait until there is a worker, as where they are in a queue of their own; Ctrl-C ends it."""
    if not client.nthreads():
        print(f"no worker is at {address} yet: waiting for the first", file=sys.stderr)
    while not client.nthreads():
        time.sleep(LOOKS)


def _check_versions(client: Client) -> None:
    """Refuse a scheduler or workers that may not even understand what is sent to them."""
    versions = client.get_versions()
    others = {"the scheduler": versions["scheduler"]}
    others |= {f"Dask worker {name}": found for name, found in versions["workers"].items()}
    ours = _common(versions["client"])
    for name, found in others.items():
        theirs = _common(found)
        if theirs != ours:
            told = (f"{each} {theirs[each]} instead of {ours[each]}" for each in ours if theirs[each] != ours[each])
            raise UsageError(f"engine=dask: {name} has {', '.join(told)}")


def _common(found: dict) -> dict[str, str | None]:
    packages = found["packages"]
    return {"Python": ".".join(packages["python"].split(".")[:2])} | {name: packages.get(name) for name in COMMON}


def _check_workers(client: Client, terms: Terms) -> None:
    """Refuse workers that do not see the records or have other software."""
    for address, answer in client.run(complaint, terms, on_error="return").items():
        if isinstance(answer, BaseException):
            raise UsageError(f"engine=dask: Dask worker {address} cannot load the suite: {reason(answer)}")
        if answer is not None:
            raise UsageError(f"engine=dask: Dask worker {address} {answer}")


@dataclass
class DaskEngine:
    """Runs experiments on a cluster; `jobs` is how many at a time, now."""

    client: Client
    terms: Terms
    jobs: int = 1

    def __post_init__(self) -> None:
        self.count()

    def count(self) -> None:
        """Take note of how many threads the workers have in all."""
        with contextlib.suppress(OSError):  # where the scheduler is gone, what runs there says so
            self.jobs = max(1, sum(self.client.nthreads().values()))

    def run_all(
        self,
        experiments: Sequence[Experiment],
        out: Path,
        *,
        command: str,
        observer: Observer,
        skip: Container[int] = (),
    ) -> list[Failure]:
        """Run experiments as `benchmarks.engine.run_all` does, the one expected to last longest first.

        One that another process works on is waited for. Workers may come and go: as many
        experiments are handed out as these have threads.
        """
        pending = [index for index in range(len(experiments)) if index not in skip]
        session = _Session(self, experiments, out.resolve(), command, observer, pending)
        try:
            session.run()
        finally:
            session.close()
        return session.failures


class _Session:
    """One call of `run_all`; parameters as there, and what is still to be handed out."""

    def __init__(
        self,
        engine: DaskEngine,
        experiments: Sequence[Experiment],
        out: Path,
        command: str,
        observer: Observer,
        pending: list[int],
    ) -> None:
        self.engine, self.experiments, self.out, self.command = engine, experiments, out, command
        self.observer, self.pending = observer, pending
        self.failures: list[Failure] = []
        self._running: dict[Future, int] = {}
        self._begun: dict[int, float] = {}
        self._durations: dict[str, list[float]] = {}
        self._topic = f"experiments-{uuid.uuid4().hex}"
        self._events: queue.SimpleQueue[Future | bytes] = queue.SimpleQueue()
        engine.client.subscribe_topic(self._topic, lambda event: self._events.put(event[1]))

    def run(self) -> None:
        """Go on until all experiments are over."""
        counted = time.monotonic()
        while self.pending or self._running:
            while self.pending and len(self._running) < self.engine.jobs:
                self._hand_out(longest(self.pending, self.experiments, self._durations))
            with contextlib.suppress(queue.Empty):
                event = self._events.get(timeout=LOOKS)
                if isinstance(event, bytes):
                    self._progressed(*pickle.loads(event))
                else:
                    self._ended(event)
            if time.monotonic() - counted > LOOKS:
                self.engine.count()
                counted = time.monotonic()

    def close(self) -> None:
        """Give up what runs: the tasks notice, and end their processes."""
        self.engine.client.unsubscribe_topic(self._topic)
        self.engine.client.cancel(list(self._running))

    def _hand_out(self, index: int) -> None:
        self.pending.remove(index)
        experiment = self.experiments[index]
        future = self.engine.client.submit(
            run_task,
            *(index, experiment, self.out, self.command, self.engine.terms, self._topic),
            key=f"{experiment.task.name}-{experiment.method.name}-seed-{experiment.seed}-{uuid.uuid4().hex}",
            pure=False,
        )
        self._running[future] = index
        future.add_done_callback(self._events.put)

    def _progressed(self, index: int, progress: Progress | None) -> None:
        if index not in self._running.values():
            return  # it came after the end
        if progress is None:
            self._begun[index] = time.monotonic()
            self.observer.started(index)
        else:
            self.observer.progressed(index, progress)

    def _ended(self, future: Future) -> None:
        index = self._running.pop(future)
        if future.cancelled():
            for lost in (index, *self._running.values(), *self.pending):
                self._over(lost, Failure(self.experiments[lost], GONE))
            self._running.clear()
            self.pending.clear()
            return
        if index in self._begun:
            name = self.experiments[index].method.name
            self._durations.setdefault(name, []).append(time.monotonic() - self._begun[index])
        error = future.exception()
        if error is not None:
            self._over(index, Failure(self.experiments[index], _why(error)))
            return
        ended, progress = future.result()
        if progress is not None:
            self.observer.progressed(index, progress)
        self._over(index, failure_of(self.experiments[index], ended))

    def _over(self, index: int, failure: Failure | None) -> None:
        if failure is not None:
            self.failures.append(failure)
        self.observer.ended(index, failure)


def _why(error: BaseException) -> str:
    """Why a task was not run to its end, in one line."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return f"its Dask worker was lost {error.allowed_failures + 1} times, the last at {error.last_worker.address}"
    return reason(error)
