"""A table that is to be recorded: what of its design is there, what is to be trained, and how it is put together."""

from __future__ import annotations

import dataclasses
import fcntl
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.errors import UsageError
from benchmarks.config.options import make_folder
from benchmarks.config.registry import INTERNAL, document
from benchmarks.config.request import Request
from benchmarks.config.spec import Spec
from benchmarks.data.source import DataSource
from benchmarks.objectives.curve import CurveTask
from benchmarks.objectives.protocol import Objective, is_trained
from benchmarks.records.command import Command
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment
from benchmarks.running.local import run_all
from benchmarks.running.progress import Failure, Observer, Progress, finished
from benchmarks.running.source import Live, build_objective
from benchmarks.tables import table
from benchmarks.tables.design import Grid, check_grid, grid_size, grid_space, least
from benchmarks.tables.design_log import DEFAULT_N, PART, PartLog, logged, wanted
from btao import Categorical, Constant, Space

MOST = 2**16  # configurations; what a design is asked for is held in memory
REDUCTION = 3  # between the budgets of a task whose iterations are not recorded one by one, as in Hyperband's rungs
FULL_LENGTH = {"heavy_patience": None, "heavy_tolerance": 0.0}
OF_A_COLUMN = (str, int, float, bool)  # what a table keeps as it is; a missing value says that a parameter is inactive


@dataclass(frozen=True)
class Gathered:
    """What a table holds.

    Attributes
    ----------
    numbers : set of int
        Of its configurations.
    failed : dict of int to str
        Those that are logged and could not be trained, with the reasons.
    cautions : list of str
        Those of the table.
    """

    numbers: set[int]
    failed: dict[int, str]
    cautions: list[str]


@dataclass(frozen=True)
class Recording:
    """A table to be recorded.

    Attributes
    ----------
    path : Path
        The table's.
    request : Request
    objective : Objective
    training : Spec
        The task as it is trained, to its full length if that is asked for.
    budgets : tuple of int
        Iterations recorded; empty: every one.
    n : int
        Configurations: a multiple of `PART`, or the whole grid.
    grid : mapping or None
        The values of each parameter, if the design is their grid.
    full_length : bool
        Whether curves go on to the end of the heavy level, whatever its patience.
    """

    path: Path
    request: Request
    objective: Objective
    training: Spec
    budgets: tuple[int, ...]
    n: int
    grid: Grid | None = None
    full_length: bool = True

    @property
    def data(self) -> DataSource | None:
        """The data set of the task, if it has one."""
        return self.objective.data

    @property
    def logs(self) -> Path:
        """Where the trials are logged."""
        return self.path.with_suffix(".parts")

    def part(self, start: int, stop: int) -> Experiment:
        """The training of the configurations start, ..., stop - 1."""
        settings = {"start": start, "stop": stop, "budgets": self.budgets or (self.objective.heavy.iterations,)}
        settings |= {} if self.grid is None else {"grid": self.grid}
        search = Spec("design", INTERNAL["design"], settings)
        request, budget = self.request, Budget(heavy=stop - start)
        return Experiment(self.training, search, request.seeds[0], budget, request.threads, self.data, Live.of(request))

    @property
    def parts(self) -> list[Experiment]:
        """The whole design, `PART` configurations each; the last part of a grid may have fewer."""
        return [self.part(start, min(start + PART, self.n)) for start in range(0, self.n, PART)]

    def run(self, command: Command, display: Callable[..., AbstractContextManager[Observer]]) -> list[Failure]:
        """Train what is not recorded yet; what failed, and what is locked as other processes work on it.

        Parameters
        ----------
        command : Command
            What it was started with, for the record.
        display : callable
            Opens what shows the progress: `benchmarks.console.display.open_display`.
        """
        experiments, done = self._experiments()
        jobs = self.request.jobs
        title = f"recording {self.n} configurations: {self.path}"
        with display(self.request.display, experiments, done, jobs=jobs, title=title, shared=True) as observer:
            return run_all(experiments, self.logs, jobs=jobs, command=command, observer=observer, skip=done)

    def _experiments(self) -> tuple[list[Experiment], dict[int, Progress]]:
        """What trains the design, and how much of it, by index, is done.

        Parts go on where their logs end. But where some of the rest is in the table, from logs that
        are not here, or was begun one by one, the others are trained one by one.
        """
        recorded, in_table = _numbers(self._known()), {}
        experiments: list[Experiment] = []
        for whole in self.parts:
            numbers = numbers_of(whole)
            rest = numbers[logged(whole.folder(self.logs), self.budgets) :]
            alone = {number: self.part(number, number + 1) for number in rest}
            if recorded.issuperset(numbers):
                in_table[len(experiments)] = Progress(heavy=len(numbers), share=1.0)
                experiments.append(whole)
            elif any(number in recorded or one.folder(self.logs).exists() for number, one in alone.items()):
                experiments += [one for number, one in alone.items() if number not in recorded]
            else:
                experiments.append(whole)
        return experiments, in_table | finished(experiments, self.logs)

    def _known(self) -> table.Table | None:
        """The table, if it is there; UsageError if it was recorded otherwise."""
        if not self.path.exists():
            return None
        known = table.load(self.path)
        if differing := self._head().unlike(known.head):
            is_all = not self._head().unlike(known.head, but={"full_length"})
            cure = f"full_length={str(known.head.full_length).lower()} or " if is_all else ""
            raise UsageError(f"{self.path} was recorded with {'; '.join(differing)}: give {cure}another out=")
        return known

    def gather(self) -> Gathered:
        """Write the table of all that is recorded so far, of the n configurations and any that it held before.

        Raises
        ------
        ValueError
            If a log or the table is damaged, or the table was recorded otherwise.
        OSError
            If it cannot be written.
        """
        known = self._known()
        recorded = _numbers(known)
        if not self.logs.exists() or recorded.issuperset(range(self.n)):  # there is nothing to write
            if known is not None:
                known.check(self.objective.space, self.objective.heavy)
            return Gathered(recorded, {}, [] if known is None else known.cautions)
        with (self.logs / "gather.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another process that gathers, too, would write an older state over it
            return self._gather()

    def _gather(self) -> Gathered:
        import pandas  # slow

        known = self._known()
        failed: dict[int, str] = {}
        there = _numbers(known)
        frames = [] if known is None else [known.rows]
        made_by = [] if known is None else list(known.head.made_by)
        timed_by = [] if known is None else list(known.head.timed_by)
        for start, folder in self._folders():
            log = PartLog.read(folder)
            failed |= {
                start + place: f"{row.config}: {row.error} (in {folder})"
                for place, row in log.failures(self.budgets).items()
            }
            curves = {start + place: curve for place, curve in log.curves(self.budgets).items()}
            new = [number for number in curves if number not in there]
            for made in log.made_by if new else ():
                made_by += [made] if made not in made_by else []
                timed_by += [made] if timed_by and made not in timed_by else []
            for number in new:
                curves[number].insert(0, "configuration", number)
                frames.append(curves[number])
            there.update(new)
        cautions = []
        if there:
            rows = table.arranged(pandas.concat(frames, ignore_index=True), self.objective.space)
            result = table.Table(self.path.stem, self._head(made_by, timed_by), rows)
            result.check(self.objective.space, self.objective.heavy)
            result.save(self.path)
            cautions = result.cautions
        return Gathered(there, {number: why for number, why in failed.items() if number not in there}, cautions)

    def _folders(self) -> Iterable[tuple[int, Path]]:
        """The folders of the logs there are, each with the number of its first configuration."""
        for part in [*self.parts, *(self.part(number, number + 1) for number in range(self.n))]:
            folder = part.folder(self.logs)
            if folder.exists():
                yield numbers_of(part).start, folder

    def _head(self, made_by: Iterable[dict[str, Any]] = (), timed_by: Iterable[dict[str, Any]] = ()) -> table.Head:
        request, task = self.request, self.request.task
        return table.Head(
            task["name"],
            self.training.version,
            Spec(task["name"], task["_target_"], task["parameters"]).typed_parameters,
            request.scale,
            self.data,
            request.seeds[0],
            request.threads,
            not self.budgets,
            tuple(made_by),
            tuple(timed_by),
            self.grid,
            self.full_length,
        )


def _numbers(known: table.Table | None) -> set[int]:
    return set() if known is None else set(known.rows["configuration"])


def numbers_of(part: Experiment) -> range:
    """The configurations that a part trains."""
    return range(part.method.parameters["start"], part.method.parameters["stop"])


def plan(request: Request, design: str, n: int | None, full_length: bool = True) -> Recording:
    """What a request comes to.

    Parameters
    ----------
    request : Request
    design : {"sobol", "grid"}
    n : int or None
        Configurations asked for; None: `DEFAULT_N`, or the whole grid.
    full_length : bool
        Whether training goes on to the end of the heavy level, whatever its patience.

    Raises
    ------
    UsageError
        A task that is not trained, a parameter that does not fit, a number of configurations that is no
        design or more than there are, a grid that is none of the task's, data that cannot be found, or a table in
        the folder that was recorded otherwise.
    """
    if n is not None and n > MOST:
        raise UsageError(f"n={n}: give at most {MOST}")
    task = request.task
    try:
        spec = Spec(task["name"], task["_target_"], task.get("parameters", {}))
        objective = _built(request, spec, n)
        grid = None if design == "sobol" else _grid(task, objective.space)
        is_curve = isinstance(objective, CurveTask)
        full_length = full_length or (is_curve and objective.heavy.patience is None)  # it is, then
        training = _full_length(spec) if is_curve and full_length else spec
        if faults := _faults(training, objective, task, grid, full_length):
            faults += _too_few(objective.space, grid, n)
            raise UsageError(f"task {task['name']} cannot be recorded: {'; '.join(faults)}")
        n = _count(objective.space, grid, n)
        budgets = () if is_curve else _budgets(objective)
        path = request.out / f"{table_name(request, objective.data, design)}.parquet"
        recording = Recording(path, request, objective, training, budgets, n, grid, full_length)
        recording.parts[-1].build()
        recording._known()
        make_folder("out", request.out)
    except UsageError:
        raise
    except (ValueError, TypeError, OSError) as error:
        raise UsageError(f"task {task['name']}: {error}") from error
    return recording


def _built(request: Request, spec: Spec, n: int | None) -> Objective:
    """The task. Where it cannot be built, the error tells of a wrong n, too, as far as the class says its space."""
    try:
        return build_objective(Live.of(request), spec)
    except (ValueError, TypeError, OSError) as error:
        space = getattr(spec.resolve(), "space", None)
        for line in _too_few(space, None, n) if isinstance(space, Space) else ():
            place = "" if isinstance(error, UsageError) else f"task {spec.name}: "
            raise UsageError(f"{place}{error}; {line}") from error
        raise


def _full_length(spec: Spec) -> Spec:
    """A task that goes on to the end of its heavy level, by the parameters that its class takes."""
    accepted = inspect.signature(spec.resolve()).parameters
    taken = {name: value for name, value in FULL_LENGTH.items() if name in accepted}
    return dataclasses.replace(spec, parameters=dict(spec.parameters) | taken)


def _faults(
    training: Spec, objective: Objective, task: Mapping[str, Any], grid: Grid | None, full_length: bool
) -> list[str]:
    """All for which a task cannot be recorded, with what would be right: see `Objective`."""
    faults = []
    if not is_trained(objective):
        faults.append("its class must say `trains = True`, as it has no data set (of a formula there is no table)")
    if task.get("needs_data") and objective.data is None:
        faults.append("its `data` must be a DataSource, as its file says needs_data")
    if objective.space.constraint is not None:
        faults.append("its space must have no constraint, as a design holds the corners of the space")
    faults += _no_columns(objective.space if grid is None else grid_space(objective.space, grid))
    if not full_length:
        faults += _nowhere_to_end(objective)
    elif isinstance(objective, CurveTask) and objective.heavy.patience is not None:
        parameter = inspect.signature(training.resolve()).parameters.get("heavy_patience")
        if parameter is None or not (parameter.annotation is parameter.empty or "None" in str(parameter.annotation)):
            faults.append("its class must take heavy_patience=None, with which training goes on to its full length")
    return faults


def _nowhere_to_end(objective: Objective) -> Iterator[str]:
    """A line, if curves cannot end with a heavy run."""
    light, heavy = objective.light, objective.heavy
    if not isinstance(objective, CurveTask):
        yield "leave out full_length=false: its iterations are not recorded one by one"
    elif not light.is_as_impatient_as(heavy):
        yield (
            "leave out full_length=false: its light level must have no more patience and no less tolerance than its "
            f"heavy one, got {light} and {heavy}"
        )


def _no_columns(space: Space) -> Iterator[str]:
    """A line for each parameter whose choices cannot be told from each other again in a column of a table."""
    listed = {name: each.choices for name, each in space.parameters.items() if isinstance(each, Categorical)}
    listed |= {name: (each.value,) for name, each in space.parameters.items() if isinstance(each, Constant)}
    for name, choices in listed.items():
        kind = type(choices[0])
        for choice in [each for each in choices if kind not in OF_A_COLUMN or type(each) is not kind][:1]:
            yield (
                f"its parameter {name} must have choices that are all str, all int, all float or all bool, as a column "
                f"of a table is, but has {choice!r} among {list(choices)!r}"
            )


def _too_few(space: Space, grid: Grid | None, n: int | None) -> list[str]:
    """A line, if so many configurations are no design."""
    n = DEFAULT_N if n is None else n
    if grid is not None or n >= least(space):
        return []
    return [f"n={n}: give at least {least(space)}: the center and the {least(space) - 1} corners"]


def _grid(task: Mapping[str, Any], space: Space) -> Grid:
    """The grid of a task, in the order of its parameters."""
    if "grid" not in task:
        raise UsageError(
            f"design=grid: conf/task/{task['name']}.yaml has no grid; give it the values of each parameter"
        )
    check_grid(space, task["grid"])
    if (size := grid_size(task["grid"])) > MOST:
        raise UsageError(f"design=grid: the grid has {size} configurations; give it at most {MOST}")
    return {name: list(task["grid"][name]) for name in space.names}


def _count(space: Space, grid: Grid | None, n: int | None) -> int:
    """How many configurations are recorded where n are asked for."""
    if grid is None:
        for line in _too_few(space, grid, n):
            raise UsageError(line)
        return wanted(n, None)
    size = grid_size(grid)
    if n is not None and n > size:
        raise UsageError(f"n={n}: the grid has {size} configurations")
    return wanted(n, size)


def table_name(request: Request, data: DataSource | None, design: str) -> str:
    """<task>-<data>-<scale>; the data with their number of training images where the scale has another.

    Where there are no data, they are left out. A grid is named before the scale.
    """
    task = request.task["name"]
    grid = "" if design == "sobol" else f"-{design}"
    return f"{task}{'' if data is None else _data_name(request, data)}{grid}-{request.scale}"


def _data_name(request: Request, data: DataSource) -> str:
    name = "-" + re.sub(r"[^\w-]+", "-", data.name.partition(" ")[0])
    asked, used = request.task.get("parameters", {}).get("n_train"), data.n_train
    if asked is None:
        return name
    task = document("task", request.task["name"])
    own = (task["parameters"] | task["scales"][request.scale].get("parameters", {}))["n_train"]
    all_of_less = used < asked and used <= own  # a stand-in, of which the scale takes all, too
    return name if asked == own or all_of_less else f"{name}-n{used}"


def _budgets(objective: Objective) -> tuple[int, ...]:
    """The heavy number of iterations, those of the rungs below as in Hyperband, and the light one as the lowest.

    Of a task with two levels only these.
    """
    light, heavy = objective.light.iterations, objective.heavy.iterations
    if objective.levels == "two":
        return light, heavy
    rungs = [heavy]
    while heavy / REDUCTION ** len(rungs) >= light:
        rungs.append(round(heavy / REDUCTION ** len(rungs)))
    return (light, *sorted(rungs[: max(len(rungs) - 1, 1)]))
