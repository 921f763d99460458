"""Many experiments on a Dask cluster: one that exists, or one of this machine's own processes.

One Dask task is one experiment. Its records are the result; what comes back is only how it ended. Each
goes to a worker that was looked at and found fit. One whose worker is lost is started again elsewhere,
and continues from its log.
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
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from baselines.interpreter import run_module
from benchmarks.common.errors import UsageError, describe_error
from benchmarks.running.dask_task import Terms, UnfitWorker, Unwanted, complaint, run_task
from benchmarks.running.experiment import Experiment
from benchmarks.running.local import failure_of, longest
from benchmarks.running.progress import Failure, Observer, Progress
from benchmarks.running.worker import interrupts_blocked

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECTING = 10.0  # seconds that a scheduler has to answer, and a worker to hand over what it returned
LOOKS = 1.0  # seconds between two looks at which workers there are
PATIENCE = 60.0  # seconds without a fit worker, where there are others, after which experiments fail
LOSSES = 3  # workers that an experiment may lose and be started again, as Dask has it
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
        engine = DaskEngine(client, terms)
        for worker, lacking in engine.look().items():
            raise UsageError(f"engine=dask: Dask worker {worker} {lacking}")
        yield engine


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


@dataclass
class DaskEngine:
    """Runs experiments on a cluster.

    Attributes
    ----------
    client : Client
    terms : Terms
        What workers must meet.
    threads : dict of str to int
        By address: the fit workers and how many experiments each takes at a time.
    unfit : dict of str to str
        By address: the other workers and what they lack.
    """

    client: Client
    terms: Terms
    threads: dict[str, int] = field(default_factory=dict)
    unfit: dict[str, str] = field(default_factory=dict)

    @property
    def jobs(self) -> int:
        """How many experiments run at a time, now."""
        return max(1, sum(self.threads.values()))

    def look(self) -> dict[str, str]:
        """Take note of the workers that came and went; those that came and do not fit, with what they lack."""
        try:
            living = self.client.nthreads()
            known = {*self.threads, *self.unfit}
            came = [address for address in living if address not in known]
            answers = self.client.run(complaint, self.terms, workers=came, on_error="return") if came else {}
            there = self.client.nthreads() if came else living
        except OSError:  # the scheduler is gone: what runs there says so
            return {}
        answers = {address: _lacking(answer) for address, answer in answers.items() if address in there}
        unfit = {address: lacking for address, lacking in answers.items() if lacking is not None}
        fit = {*self.threads, *answers} - {*unfit}
        self.threads = {address: there[address] for address in fit if address in there}
        self.unfit = {address: lacking for address, lacking in self.unfit.items() if address in there} | unfit
        return unfit

    def lacks(self, address: str, what: str) -> None:
        """Take note that a worker is not fit, as it turned out."""
        self.threads.pop(address, None)
        self.unfit[address] = what

    def run_all(
        self,
        experiments: Sequence[Experiment],
        out: Path,
        *,
        command: str,
        observer: Observer,
        skip: Container[int] = (),
    ) -> list[Failure]:
        """Run experiments as `benchmarks.running.local.run_all` does, the one expected to last longest first.

        One that another process works on is waited for. Workers may come and go: as many experiments
        are handed out as the fit ones have threads. One that does not fit is named on stderr and left
        alone; only where no fit one is left, and none comes, do experiments fail for that.
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
        self._running: dict[Future, tuple[int, str]] = {}  # index, and the address of the worker
        self._losses: Counter[int] = Counter()  # of workers, by index
        self._begun: dict[int, float] = {}
        self._durations: dict[str, list[float]] = {}
        self._fit_at = time.monotonic()  # when there was a fit worker last
        self._topic = f"experiments-{uuid.uuid4().hex}"
        self._events: queue.SimpleQueue[Future | bytes] = queue.SimpleQueue()
        engine.client.subscribe_topic(self._topic, lambda event: self._events.put(event[1]))

    def run(self) -> None:
        """Go on until all experiments are over."""
        looked = time.monotonic()
        while self.pending or self._running:
            while self.pending and (address := self._free_worker()) is not None:
                self._hand_out(longest(self.pending, self.experiments, self._durations), address)
            with contextlib.suppress(queue.Empty):
                event = self._events.get(timeout=LOOKS)
                if isinstance(event, bytes):
                    self._progressed(*pickle.loads(event))
                else:
                    self._ended(event)
            if time.monotonic() - looked > LOOKS:
                self._look()
                looked = time.monotonic()

    def close(self) -> None:
        """Give up what runs: the tasks notice, and end their processes."""
        self.engine.client.unsubscribe_topic(self._topic)
        self.engine.client.cancel(list(self._running))

    def _look(self) -> None:
        """See which workers came, and which went with what they had to do."""
        for address, lacking in self.engine.look().items():
            _warn(f"Dask worker {address} {lacking}")
        living = {*self.engine.threads, *self.engine.unfit}
        lost = [future for future, (_, address) in self._running.items() if address not in living]
        for future in lost:
            if not future.done():  # else its end is among the events
                self.engine.client.cancel([future])
                self._lost(*self._running.pop(future))
        if self.engine.threads or not self.engine.unfit:
            self._fit_at = time.monotonic()
        elif not self._running and time.monotonic() - self._fit_at > PATIENCE:
            address, lacking = next(iter(self.engine.unfit.items()))
            for index in self.pending:
                reason = f"{UnfitWorker.__name__}: Dask worker {address} {lacking}"
                self._over(index, Failure(self.experiments[index], reason))
            self.pending.clear()

    def _free_worker(self) -> str | None:
        """The fit worker with most threads that nothing of ours runs on, None if there is no such thread."""
        busy = Counter(address for _, address in self._running.values())
        free = {address: threads - busy[address] for address, threads in self.engine.threads.items()}
        address = max(free, key=free.__getitem__, default=None)
        return address if address is not None and free[address] > 0 else None

    def _hand_out(self, index: int, address: str) -> None:
        self.pending.remove(index)
        experiment = self.experiments[index]
        future = self.engine.client.submit(
            run_task,
            *(index, experiment, self.out, self.command, self.engine.terms, self._topic),
            key=f"{experiment.task.name}-{experiment.method.name}-seed-{experiment.seed}-{uuid.uuid4().hex}",
            pure=False,
            workers=[address],
        )
        self._running[future] = index, address
        future.add_done_callback(self._events.put)

    def _lost(self, index: int, address: str) -> None:
        """Let an experiment whose worker is gone be started again, if it did not lose too many."""
        self._losses[index] += 1
        if self._losses[index] > LOSSES:
            self._over(index, Failure(self.experiments[index], _too_many_losses(self._losses[index], address)))
        else:
            self.pending.insert(0, index)

    def _progressed(self, index: int, progress: Progress | None) -> None:
        if all(index != running for running, _ in self._running.values()):
            return  # it came after the end
        if progress is None:
            self._begun[index] = time.monotonic()
            self.observer.started(index)
        else:
            self.observer.progressed(index, progress)

    def _ended(self, future: Future) -> None:
        if future not in self._running:
            return  # given up, as its worker was lost
        index, address = self._running.pop(future)
        if future.cancelled():
            for gone in (index, *(running for running, _ in self._running.values()), *self.pending):
                self._over(gone, Failure(self.experiments[gone], GONE))
            self._running.clear()
            self.pending.clear()
            return
        try:
            error = future.exception(CONNECTING)
            answer = future.result(CONNECTING) if error is None else None
        except TimeoutError:  # the worker is gone with its answer: whoever is next finds it in the records
            self.engine.client.cancel([future])
            self._lost(index, address)
            return
        if isinstance(error, UnfitWorker):  # it was fit when it was looked at
            if address not in self.engine.unfit:
                _warn(f"Dask worker {address} {error}")
            self.engine.lacks(address, str(error))
            self.pending.insert(0, index)
            return
        if isinstance(error, Unwanted):  # not by us: the worker was about to close
            self._lost(index, address)
            return
        if index in self._begun:
            name = self.experiments[index].method.name
            self._durations.setdefault(name, []).append(time.monotonic() - self._begun[index])
        if error is not None:
            self._over(index, Failure(self.experiments[index], _why(error)))
            return
        ended, progress = answer
        if progress is not None:
            self.observer.progressed(index, progress)
        self._over(index, failure_of(self.experiments[index], ended))

    def _over(self, index: int, failure: Failure | None) -> None:
        if failure is not None:
            self.failures.append(failure)
        self.observer.ended(index, failure)


def _lacking(answer: str | BaseException | None) -> str | None:
    """What a worker lacks that was asked for its complaint, None if nothing."""
    return f"cannot load the suite: {describe_error(answer)}" if isinstance(answer, BaseException) else answer


def _warn(unfit: str) -> None:
    print(f"engine=dask: {unfit}. It is given no experiment", file=sys.stderr)


def _why(error: BaseException) -> str:
    """Why a task was not run to its end, in one line."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return _too_many_losses(error.allowed_failures + 1, error.last_worker.address)
    return describe_error(error)


def _too_many_losses(times: int, address: str) -> str:
    return f"its Dask worker was lost {times} times, the last at {address}"
