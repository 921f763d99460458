"""From a request to experiments, each built once beforehand: what can fail before trial 1 fails there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.command_line import Request, UsageError
from benchmarks.experiment import DONE, Budget, Experiment, Spec
from benchmarks.records import CorruptRecord, read_run

if TYPE_CHECKING:
    from benchmarks.objectives.protocol import DataSource


@dataclass(frozen=True)
class Plan:
    """What a request comes to: experiments, seed by seed and in the order of the methods.

    `done` holds the indices of those that an earlier start has finished.
    """

    request: Request
    experiments: Sequence[Experiment]
    done: frozenset[int]
    data: DataSource | None

    @property
    def title(self) -> str:
        """What is run, in one line that names the data."""
        task, budget = self.request.task["name"], self.request.budget
        units = {"heavy": "heavy runs", "iterations": "iterations", "seconds": "seconds"}
        limits = " or ".join(f"{budget[name]:g} {unit}" for name, unit in units.items() if name in budget)
        return f"{task}, scale {self.request.scale}: {limits}; {self.describe_data()}"

    def describe_data(self) -> str:
        """The data set that is really used."""
        if self.data is None:
            return "no data set"
        return (
            f"data: {self.data.name}, {self.data.n_train:,} training and {self.data.n_validation:,} validation images"
        )


def plan(request: Request) -> Plan:
    """Build what a request names and check that it fits together.

    Raises
    ------
    UsageError
        A parameter that a class does not take, a value out of range, a method that cannot do the
        task, data that cannot be found, a record that is damaged, or a folder that cannot be made.
    """
    task = Spec(request.task["name"], request.task["_target_"], request.task["parameters"])
    places = {"data": request.data, "data_dir": request.data_dir} if request.task.get("needs_data") else {}
    try:
        request.out.mkdir(parents=True, exist_ok=True)
        data = task.build(**places).data
        methods = [_method(name, dict(settings)) for name, settings in request.methods.items()]
        experiments = [
            Experiment(task, method, seed, Budget(**request.budget), request.threads, data, places)
            for seed in request.seeds
            for method in methods
        ]
        for experiment in experiments[: len(methods)]:
            experiment.build()
        done = frozenset(index for index, experiment in enumerate(experiments) if _is_done(experiment, request))
    except CorruptRecord as error:
        raise UsageError(str(error)) from error
    except (ValueError, TypeError, OSError) as error:
        raise UsageError(f"task {task.name}: {error}") from error
    return Plan(request, experiments, done, data)


def _method(name: str, settings: dict[str, Any]) -> Spec:
    return Spec(name, settings.pop("_target_"), settings)


def _is_done(experiment: Experiment, request: Request) -> bool:
    run = read_run(experiment.folder(request.out))
    return run is not None and run.get("status") in DONE
