"""The side of a Dask worker: one experiment in a process of its own, told to the driver while it runs."""

from __future__ import annotations

import multiprocessing
import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import distributed
from distributed.core import Status
from distributed.utils import sync

from benchmarks.common.environment import variables
from benchmarks.records.command import Command
from benchmarks.records.provenance import provenance
from benchmarks.records.run_folder import RunFolder
from benchmarks.running.experiment import Experiment
from benchmarks.running.local import ending
from benchmarks.running.progress import Ended, Progress
from benchmarks.running.worker import Worker

LOOKS = 0.2  # seconds between two looks at whether the experiment is wanted still
REPORTS = 0.5  # seconds between two messages of progress, at least: they go through the scheduler


@dataclass(frozen=True)
class WorkerRequirements:
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
    def of_this_process(cls, token: Path) -> WorkerRequirements:
        """The requirements that this process itself meets, and those that it starts for experiments."""
        made_by = provenance(variables(1))
        # What numpy is told not to use differs between processors that then compute alike: what it uses counts.
        used = made_by["machine"]["arithmetic"]
        arithmetic = {
            **{name: used[name] for name in ("OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA")},
            "SIMD extensions of numpy": " ".join(sorted(used["simd"])),
        }
        return cls(token, made_by["versions"], made_by["git"] and made_by["git"]["commit"], arithmetic)


def check_worker(requirements: WorkerRequirements) -> str | None:
    """Say what this process lacks to meet the requirements; None if nothing."""
    if not requirements.token.exists():
        return f"does not see {requirements.token.parent}: out= must be a folder that all machines share"
    here = WorkerRequirements.of_this_process(requirements.token)
    names = sorted({*requirements.versions, *here.versions})
    differing = [(name, here.versions.get(name), requirements.versions.get(name)) for name in names]
    if None not in (here.commit, requirements.commit):
        differing.append(("the suite at commit", here.commit, requirements.commit))
    differing += [(name, here.arithmetic.get(name), theirs) for name, theirs in requirements.arithmetic.items()]
    told = [
        f"{name} {ours or '(none)'} instead of {theirs or 'none'}" for name, ours, theirs in differing if ours != theirs
    ]
    return f"has {', '.join(told)}: tables would depend on the machine" if told else None


def missing(experiment: Experiment) -> str | None:
    """Say what this process lacks of the table or the data of an experiment; None if nothing."""
    try:
        experiment.objective()
    except (OSError, ValueError) as error:
        return f"cannot set up task {experiment.task.name}, as the driver can ({type(error).__name__}: {error})"
    return None


def checking_plugin(requirements: WorkerRequirements, name: str) -> distributed.WorkerPlugin:
    """Make a plugin that checks each worker, and gives a fit one a resource for each of its threads.

    It logs the address, the threads and what is lacking as an event. Its setup fails at an unfit worker.

    Parameters
    ----------
    requirements : WorkerRequirements
    name : str
        Of the plugin, the resource and the topic of events.
    """
    check, plugin_name = pickle.dumps(partial(check_worker, requirements)), name

    # Local, so that it is pickled by value: a worker that cannot load the suite says so itself.
    class CheckingPlugin(distributed.WorkerPlugin):
        name = plugin_name

        async def setup(self, worker: distributed.Worker) -> None:
            try:
                lacking = pickle.loads(check)()
            except Exception as error:
                lacking = f"cannot load the suite: {type(error).__name__}: {' '.join(str(error).split())}"
            address, threads = worker.contact_address, worker.state.nthreads
            await worker.set_resources(**{plugin_name: 0 if lacking else threads})
            worker.log_event(plugin_name, (address, threads, lacking))
            if lacking:
                raise RuntimeError(f"Dask worker {address} {lacking}")
            # Tasks that no worker could take are looked at again where one resumes, not where it gets a resource.
            if worker.status == Status.running:
                worker.status = Status.paused
                worker.status = Status.running

    return CheckingPlugin()


def run_task(
    index: int, experiment: Experiment, out: Path, command: Command, requirements: WorkerRequirements, topic: str
) -> Ended:
    """Run an experiment as a Dask task, and return how it ended.

    It logs events of `topic`: the index and the worker with None at the start, then with progress.
    Where another process works on the experiment, as one whose worker was thought lost may do, it
    waits for the end of that and goes on from there.

    Raises
    ------
    Reschedule
        If the worker does not fit, as it turns out, or is closing, or the task was cancelled.
    """
    worker = distributed.get_worker()
    lacking = check_worker(requirements) or missing(experiment)
    if lacking is not None:
        # The scheduler alone is to know: here, tasks that it has sent already would wait for the resource for good.
        sync(worker.loop, worker.scheduler.set_resources, worker=worker.contact_address, resources={topic: 0})
        worker.log_event(topic, (worker.contact_address, 0, lacking))
        raise distributed.Reschedule
    # Dask starts its workers as daemons, which may have no children. Ours watch their parent themselves.
    multiprocessing.current_process().daemon = False

    def report(progress: Progress | None) -> None:
        worker.log_event(topic, pickle.dumps((index, worker.contact_address, progress)))

    report(None)
    while True:
        ended = _attempt(experiment, out, command, report)
        if ended is not None and not ended.locked:
            return ended
        while RunFolder(experiment.folder(out)).is_locked():
            _check_wanted()
            time.sleep(LOOKS)


def _attempt(experiment: Experiment, out: Path, command: Command, report: Callable[[Progress], None]) -> Ended | None:
    """Run an experiment in a fresh process; None where that was killed and it is to be started again."""
    _check_wanted()
    worker = Worker(experiment.threads)
    last, reported = None, time.monotonic()
    try:
        worker.give(experiment, out, command)
        while True:
            _check_wanted()
            if not worker.connection.poll(LOOKS):
                continue
            message = worker.receive()
            if not isinstance(message, Progress):
                if last is not None:
                    report(last)
                return ending(worker, message, experiment, out, command)
            last = message
            if time.monotonic() - reported >= REPORTS:
                report(last)
                reported = time.monotonic()
    finally:
        worker.end()


def _check_wanted() -> None:
    """Raise Reschedule if Dask has cancelled the task, whose thread it cannot stop, or closes the worker."""
    worker = distributed.get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    closing = worker.status in (Status.closing, Status.closed, Status.failed)
    if task is None or task.state != "executing" or closing:
        raise distributed.Reschedule
