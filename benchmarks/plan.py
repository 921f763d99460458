"""From a request to experiments, each built once beforehand: what can fail before trial 1 fails there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.budget import Budget
from benchmarks.command_line import Request
from benchmarks.experiment import Experiment
from benchmarks.options import UsageError
from benchmarks.records import CorruptRecord
from benchmarks.spec import Spec
from benchmarks.summary import finished
from benchmarks.worker import Progress

if TYPE_CHECKING:
    from benchmarks.objectives.protocol import DataSource


@dataclass(frozen=True)
class Plan:
    """What a request comes to: experiments, seed by seed and in the order of the methods.

    `done` says of those that an earlier start has finished where they stand, by index.
    """

    request: Request
    experiments: Sequence[Experiment]
    done: Mapping[int, Progress]
    data: DataSource | None

    @property
    def title(self) -> str:
        """What is run, in one line that names the data."""
        request = self.request
        limits = ", ".join(f"budget.{name}={limit:g}" for name, limit in request.budget.items())
        return f"{request.task['name']}, scale={request.scale}, {limits}; {self.describe_data()}"

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
    places = {"data": request.data, "data_dir": request.data_dir} if request.task.get("needs_data") else {}
    try:
        request.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"out={request.out}: no folder can be made there ({error.strerror})") from error
    try:
        task = Spec(request.task["name"], request.task["_target_"], request.task["parameters"])
        data = task.build(**places).data
        methods = [_method(name, dict(settings)) for name, settings in request.methods.items()]
        experiments = [
            Experiment(task, method, seed, Budget(**request.budget), request.threads, data, places)
            for seed in request.seeds
            for method in methods
        ]
        for experiment in experiments[: len(methods)]:
            experiment.build()
        done = finished(experiments, request.out)
    except CorruptRecord as error:
        raise UsageError(str(error)) from error
    except (ValueError, TypeError, OSError) as error:
        raise UsageError(f"task {request.task['name']}: {error}") from error
    return Plan(request, experiments, done, data)


def _method(name: str, settings: dict[str, Any]) -> Spec:
    return Spec(name, settings.pop("_target_"), settings)
