"""From a request to experiments, each built once beforehand: what can fail before trial 1 fails there."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from baselines.protocol import IncompatibleMethod, Method, MissingLibrary
from benchmarks.common.errors import UsageError, describe_error
from benchmarks.config.options import make_folder
from benchmarks.config.request import Request
from benchmarks.config.spec import Spec
from benchmarks.objectives.protocol import is_trained, remembers
from benchmarks.records.command import Job
from benchmarks.records.trials import CorruptRecord
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment
from benchmarks.running.forecast import cautions_of, check_budget
from benchmarks.running.progress import Progress, finished
from benchmarks.running.source import Live, Recorded, Source, build_objective

if TYPE_CHECKING:
    from benchmarks.data.source import DataSource


@dataclass(frozen=True)
class Plan:
    """What a request comes to: experiments, seed by seed and in the order of the methods.

    `done` says of those that an earlier start has finished where they stand, by index; `skipped`
    names the methods left out, as their libraries are not installed or broken, each in one line;
    `cautions` are those of the table that is replayed, of methods and of a budget that may be too small.
    """

    request: Request
    experiments: Sequence[Experiment]
    done: Mapping[int, Progress]
    data: DataSource | None
    skipped: Sequence[str] = ()
    cautions: Sequence[str] = ()

    @property
    def title(self) -> str:
        """What is run, in one line that names the data."""
        request = self.request
        data = "no data set"
        if (used := self.data) is not None:  # the data set that is really used
            sizes = f", {used.n_train:,} training and {used.n_validation:,} validation images" if used.n_train else ""
            data = f"data: {used.name}{sizes}"
        job = f" ({request.label})" if request.label else ""
        limits = ", ".join(f"budget.{name}={limit:g}" for name, limit in request.budget.items())
        return f"{request.task['name']}{job}, scale={request.scale}, {limits}; {data}"

    @property
    def job(self) -> Job:
        """What is asked for, for the record of the command."""
        request = self.request
        hashes = {experiment.method.name: experiment.hash for experiment in self.experiments}
        methods = {name: hashes.get(name) for name in request.methods}
        setting = self.experiments[0].setting
        return Job(request.label, request.task["name"], setting, request.seeds, methods)

    @property
    def done_runs(self) -> list[tuple[Path, Mapping[str, Spec]]]:
        """The folders of the experiments that are done, with their methods and tasks."""
        done = (self.experiments[index] for index in self.done)
        return [(experiment.folder(self.request.out), experiment.parts) for experiment in done]

    def only(self, indexes: Sequence[int]) -> Plan:
        """The same of some experiments, by their places."""
        places = {index: place for place, index in enumerate(indexes)}
        done = {places[index]: progress for index, progress in self.done.items() if index in places}
        return dataclasses.replace(self, experiments=[self.experiments[index] for index in indexes], done=done)


def plan(request: Request) -> Plan:
    """Build what a request names and check that it fits together.

    Raises
    ------
    UsageError
        A parameter that a class does not take, a value out of range, a method that cannot do the
        task, a budget that covers no heavy run, data that cannot be found, a record that is damaged, or a folder that
        cannot be made.
    """
    try:
        parameters = request.task["parameters"] if request.table is None else request.given
        task = _spec(request, "task", request.task["name"], request.task["_target_"], parameters)
        # A whole path, as the workers of a cluster start elsewhere.
        source = Live.of(request) if request.table is None else Recorded(Path(os.path.abspath(request.table)))
        objective = build_objective(source, task)
        if request.cache and remembers(objective):
            raise UsageError(
                f"cache=true is not for the task {task.name!r}: a heavy run costs less after its light one, so what a "
                "run has trained tells not what another is charged; give cache=false"
            )
        data = objective.data
        methods, fresh, skipped = [], {}, []
        for name, settings in request.methods.items():
            parameters = {option: value for option, value in settings.items() if option != "_target_"}
            method = _spec(request, "method", name, settings["_target_"], parameters)
            try:
                fresh[name] = _built(_experiment(request, task, method, request.seeds[0], data, source))
                methods.append(method)
            except MissingLibrary as lacking:
                skipped.append(str(lacking))
        if not methods:
            raise UsageError("no method is left: " + "; ".join(skipped))
        experiments = [
            _experiment(request, task, method, seed, data, source) for seed in request.seeds for method in methods
        ]
        cautions = [
            *source.cautions(objective),
            *cautions_of(fresh),
            *check_budget(experiments[0].budget, objective, fresh),
        ]
        if request.cache and not is_trained(objective):
            cautions.append(f"cache=true keeps nothing: the task {task.name!r} trains nothing")
        make_folder("out", request.out)
        done = finished(experiments, request.out)
    except CorruptRecord as error:
        raise UsageError(str(error)) from error
    except UsageError:
        raise
    except (ValueError, TypeError, OSError) as error:
        raise UsageError(f"task {request.task['name']}: {error}") from error
    return Plan(request, experiments, done, data, skipped, cautions)


def _spec(request: Request, group: str, name: str, target: str, parameters: Mapping[str, Any]) -> Spec:
    """The task or a method of a request, with the code of its class where that cannot be imported."""
    added = request.additions.get((group, name))
    if added is None or added.read()["_target_"] != target:  # the command line names another class
        return Spec(name, target, parameters)
    return Spec(name, target, parameters, added.code, added.registered)


def _built(experiment: Experiment) -> Method:
    """The method of an experiment, as it begins.

    Raises
    ------
    MissingLibrary
        If its library is not installed, or broken.
    UsageError
        If it cannot be built for another reason, naming the method.
    """
    name = experiment.method.name
    try:
        return experiment.build()[1]
    except MissingLibrary:
        raise
    except ImportError as error:
        raise MissingLibrary(f"method {name!r} cannot import its library: {' '.join(str(error).split())}") from error
    except IncompatibleMethod as error:
        raise UsageError(str(error)) from None
    except (ValueError, TypeError, OSError) as error:
        raise UsageError(f"method {name}: {error}") from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"method {name}: {describe_error(error)}") from error


def _experiment(
    request: Request, task: Spec, method: Spec, seed: int, data: DataSource | None, source: Source
) -> Experiment:
    budget = Budget(**cast("dict[str, Any]", request.budget))
    options = request.shared_init, request.cache
    return Experiment(task, method, seed, budget, request.threads, data, source, *options)
