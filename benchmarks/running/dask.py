"""Many experiments on a Dask cluster: one that exists, or one of this machine's own processes.

One Dask task is one experiment. Its records are the result; what comes back is only how it ended. A plugin
checks each worker and gives a fit one the resource that tasks ask for. Dask chooses among these workers, and
starts the experiment of a lost one again, which continues from its log.
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
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from baselines.libraries.interpreter import run_module
from benchmarks.common.errors import UsageError, describe_error
from benchmarks.records.command import Command
from benchmarks.running.experiment import NO_COMMAND, Experiment
from benchmarks.running.local import failure_of, longest
from benchmarks.running.progress import Failure, Observer, Progress
from benchmarks.running.worker import interrupts_blocked

try:
    import distributed
except ImportError as error:
    raise UsageError(f"engine=dask needs distributed: {run_module('pip', 'install', 'distributed')}") from error
from benchmarks.running.dask_task import WorkerRequirements, checking_plugin, run_task

CONNECTING = 10.0  # seconds that a scheduler has to answer, and a worker to hand over what it returned
PATIENCE = 60.0  # seconds without a fit worker, where there are others, after which experiments fail
LOOKS = 1.0  # seconds between two looks at whether that is so
COMMON = ("dask", "distributed")  # what the scheduler, too, must have in the driver's version, beside Python
GONE = "the Dask scheduler is gone or has dropped it; the same command continues"


@contextlib.contextmanager
def connect(address: str | None, jobs: int, out: Path) -> Iterator[DaskEngine]:
    """Connect to a cluster and have its workers checked.

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
        If there is no scheduler, or a worker has other software or does not see `out`.
    """
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it reports with a trace is told below
    token = out.resolve() / f".seen-by-workers-{uuid.uuid4().hex}"
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(_client(address, jobs))
        if not client.nthreads():
            print(f"no worker is at {address} yet: waiting for the first", file=sys.stderr)
            client.wait_for_workers(1)
        _check_versions(client)
        stack.callback(token.unlink, missing_ok=True)
        token.touch()
        engine = DaskEngine(client, WorkerRequirements.of_this_process(token))
        stack.callback(engine.close)
        engine.check_workers()
        yield engine


def _client(address: str | None, jobs: int) -> distributed.Client:
    """Connect to a scheduler, or start a cluster on this machine, which ends with the client."""
    own = {
        "n_workers": jobs,
        "threads_per_worker": 1,
        "dashboard_address": ":0",  # any port that is free
        "memory_limit": None,  # what takes memory are the workers' children
        "silence_logs": logging.ERROR,
    }
    try:
        with contextlib.ExitStack() as stack:
            if address is None:  # Ctrl-C is for this process alone, which then ends the others
                stack.enter_context(interrupts_blocked())
            stack.enter_context(warnings.catch_warnings(action="ignore"))  # versions that differ are told later
            options = own if address is None else {}
            return distributed.Client(address, timeout=CONNECTING, set_as_default=False, **options)
    except (OSError, ValueError) as error:
        if address is None:
            raise
        raise UsageError(
            f"engine.address={address}: no Dask scheduler answered there within {CONNECTING:.0f} s"
        ) from error


def _check_versions(client: distributed.Client) -> None:
    """Refuse a scheduler or workers that may not even understand what is sent to them."""
    versions: Any = client.get_versions()
    ours = _common(versions["client"])
    workers = {f"Dask worker {name}": found for name, found in versions["workers"].items()}
    for name, found in {"the scheduler": versions["scheduler"], **workers}.items():
        theirs = _common(found)
        told = [f"{each} {theirs[each]} instead of {ours[each]}" for each in ours if theirs[each] != ours[each]]
        if told:
            raise UsageError(f"engine=dask: {name} has {', '.join(told)}")


def _common(found: dict[str, Any]) -> dict[str, str | None]:
    packages = found["packages"]
    return {"Python": ".".join(packages["python"].split(".")[:2])} | {name: packages.get(name) for name in COMMON}


class DaskEngine:
    """Runs experiments on a cluster.

    Attributes
    ----------
    client : Client
    requirements : WorkerRequirements
        What a worker must have in common with this process.
    threads : dict of str to int
        By address: the fit workers and how many experiments each takes at a time.
    unfit : dict of str to str
        By address: the other workers and what they lack.
    """

    def __init__(self, client: distributed.Client, requirements: WorkerRequirements) -> None:
        self.client, self.requirements = client, requirements
        self.threads: dict[str, int] = {}
        self.unfit: dict[str, str] = {}
        self._name = f"experiments-{uuid.uuid4().hex}"  # of the plugin, the resource and the topic of events
        self._events: queue.SimpleQueue[tuple[Callable[[Any], None], Any]] = queue.SimpleQueue()
        self._durations: dict[str, list[float]] = {}  # by method

    @property
    def jobs(self) -> int:
        """How many experiments run at a time, now."""
        return max(1, sum(self.threads.values()))

    def check_workers(self) -> None:
        """Have workers checked, now and when they come.

        Raises
        ------
        UsageError
            If one that is there does not fit.
        """
        for topic, handle in (self._name, self._reported), ("all", self._changed):  # "all" is Dask's own
            self.client.subscribe_topic(topic, lambda event, handle=handle: self._events.put((handle, event[1])))
        fit = None
        while fit is None:
            try:
                fit = self.client.register_plugin(checking_plugin(self.requirements, self._name))
            except RuntimeError as error:
                raise UsageError(f"engine=dask: {error}") from None
            except OSError:  # a worker left meanwhile
                self.client.wait_for_workers(1)
        self.threads = {address: threads for address, threads in self.client.nthreads().items() if address in fit}

    def close(self) -> None:
        """Have no further worker checked."""
        with contextlib.suppress(Exception):  # a scheduler or a worker that is gone checks none
            for topic in (self._name, "all"):
                self.client.unsubscribe_topic(topic)
            self.client.unregister_worker_plugin(self._name)

    def run_all(
        self,
        experiments: Sequence[Experiment],
        out: Path,
        *,
        command: Command = NO_COMMAND,
        observer: Observer,
        skip: Container[int] = (),
    ) -> list[Failure]:
        """Run experiments as `benchmarks.running.local.run_all` does, the one expected to last longest first.

        One that another process works on is waited for. Workers may come and go: as many experiments
        are handed out as the fit ones have threads. One that does not fit is named on stderr and left
        alone; only where no fit one is left, and none comes, do experiments fail for that.
        """
        self._experiments, self._observer = experiments, observer
        self._failures: list[Failure] = []
        self._pending = [index for index in range(len(experiments)) if index not in skip]
        self._submitted: dict[distributed.Future, int] = {}  # index
        self._running: dict[int, tuple[str, float]] = {}  # by index: address of the worker, and start
        fit_at = time.monotonic()
        try:
            while self._pending or self._submitted:
                # Dask would assign all tasks to the workers of now, as they ask for a resource, and count the loss
                # of one against each task that waits there. So it gets no more than run at a time.
                while self._pending and len(self._submitted) < self.jobs:
                    self._submit(longest(self._pending, experiments, self._durations), out.resolve(), command)
                # as_completed waits for ends alone; here reports and changes of workers come in between.
                with contextlib.suppress(queue.Empty):
                    handle, event = self._events.get(timeout=LOOKS)
                    handle(event)
                # Dask's no-workers-timeout is set with the scheduler, and does not say what the workers lack.
                if self.threads or not self.unfit or any(at in self.unfit for at, _ in self._running.values()):
                    fit_at = time.monotonic()
                elif time.monotonic() - fit_at > PATIENCE:
                    address, lacking = next(iter(self.unfit.items()))
                    self._give_up(f"UnfitWorker: Dask worker {address} {lacking}")
        finally:
            self.client.cancel(list(self._submitted))  # the tasks notice, and end their processes
        return self._failures

    def _submit(self, index: int, out: Path, command: Command) -> None:
        experiment = self._experiments[index]
        future = self.client.submit(
            run_task,
            *(index, experiment, out, command, self.requirements, self._name),
            key=f"{experiment.task.name}-{experiment.method.name}-seed-{experiment.seed}-{uuid.uuid4().hex}",
            pure=False,
            resources={self._name: 1},
        )
        self._pending.remove(index)
        self._submitted[future] = index
        self._await(future)

    def _await(self, future: distributed.Future) -> None:
        future.add_done_callback(lambda future: self._events.put((self._ended, future)))

    def _reported(self, report: Any) -> None:
        """Handle what a task reports of its experiment, or the check of a worker."""
        if isinstance(report, bytes):
            self._progressed(*pickle.loads(report))
            return
        address, threads, lacking = report
        if lacking is None:
            self.threads[address] = threads
            return
        if address not in self.unfit:
            print(f"engine=dask: Dask worker {address} {lacking}. It is given no experiment", file=sys.stderr)
        self.threads.pop(address, None)
        self.unfit[address] = lacking

    def _changed(self, change: dict[str, Any]) -> None:
        """Forget a worker that is gone, if that is what the scheduler says."""
        if change.get("action") == "remove-worker":
            for workers in (self.threads, self.unfit):
                workers.pop(change["worker"], None)

    def _progressed(self, index: int, address: str, progress: Progress | None) -> None:
        if index not in self._submitted.values():
            return  # it came after the end
        if progress is None:
            self._running[index] = address, time.monotonic()
            self._observer.started(index)
        else:
            self._observer.progressed(index, progress)

    def _ended(self, future: distributed.Future) -> None:
        if future not in self._submitted:
            return  # given up
        if future.cancelled():
            self._give_up(GONE)
            return
        experiment = self._experiments[self._submitted[future]]
        try:
            failure = failure_of(experiment, future.result(CONNECTING))
        except Exception as error:
            if future.status != "error":  # a worker is gone with the answer: Dask has the task run again
                self._await(future)
                return
            failure = Failure(experiment, _why(error))
        self._over(self._submitted.pop(future), failure)

    def _give_up(self, reason: str) -> None:
        """Let all that is left fail."""
        left = [*self._submitted.values(), *self._pending]
        self.client.cancel(list(self._submitted))
        self._submitted.clear()
        self._pending.clear()
        for index in left:
            self._over(index, Failure(self._experiments[index], reason))

    def _over(self, index: int, failure: Failure | None) -> None:
        if index in self._running:
            _, start = self._running.pop(index)
            self._durations.setdefault(self._experiments[index].method.name, []).append(time.monotonic() - start)
        if failure is not None:
            self._failures.append(failure)
        self._observer.ended(index, failure)


def _why(error: Exception) -> str:
    """Why a task was not run to its end, in one line."""
    if isinstance(error, distributed.KilledWorker):
        return f"its Dask worker was lost {error.allowed_failures + 1} times, the last at {error.last_worker.address}"
    return describe_error(error)
