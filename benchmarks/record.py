"""`python -m benchmarks.record`: train a design of configurations once, and keep the curves as a table."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baselines.interpreter import run_module
from benchmarks import options, table
from benchmarks.catalogue import document
from benchmarks.command_line import Request, own_options, read
from benchmarks.options import UsageError

if TYPE_CHECKING:
    from benchmarks.experiment import Experiment
    from benchmarks.objectives.protocol import DataSource, Objective

HELP = """\
usage: python -m benchmarks.record task=NAME [OPTION=VALUE ...]

Trains a design of configurations (the centre and the corners of the space, then a scrambled Sobol
sequence) to the full length of the heavy level, whatever its patience, and writes their curves to
<out>/<task>-<data>-<scale>.parquet. `python -m benchmarks.run task=NAME source=table` then answers
from there. The same command again continues what is unfinished; several processes or machines that
see the same folder share the work; a larger n extends the table.

options (with their defaults)
  task=NAME                   the task; +task=NAME is the same
  n=512                       configurations, rounded up to a multiple of 8
  seed=0                      of the design and of the training
  scale=laptop                smoke, laptop or paper: the size of the task
  task.parameters.NAME=VALUE  a parameter of the task; n_train, if it is not the scale's, is named in the file
  data=auto  data_dir=  jobs=2  threads=1  display=auto
                              as `python -m benchmarks.run --help` says
  out=results/tables          the folder of the table, and of <name>.parts, where its trials are logged
  -h, --help                  this text
"""

PART = 8  # configurations that one worker trains before it may be replaced: TensorFlow keeps what it compiled
REDUCTION = 3  # between the budgets of a task whose iterations are not recorded one by one, as in Hyperband's rungs
# Options of `benchmarks.run` that have no effect here.
RUN_ONLY = ("method", "methods", "seeds", "budget", "shared_init", "source", "table", "engine")
FULL_LENGTH = {"heavy_patience": None, "heavy_tolerance": 0.0}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(arguments):
        print(HELP)
        return 0
    command = shlex.join(["python", "-m", "benchmarks.record", *arguments])
    try:
        recording = plan(*_read(arguments))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failures = None
    try:
        with contextlib.suppress(KeyboardInterrupt):
            failures = recording.run(command)
        holds, failed = recording.gather()
        print(holds)
    except (ValueError, OSError) as error:  # a damaged log, or a full disk
        print(f"error: {error}", file=sys.stderr)
        return 1
    if failures is None:
        print(f"stopped; the same command continues: {run_module('benchmarks.record', *arguments)}", file=sys.stderr)
        return 130
    for failure in [*failures, *failed]:
        print(f"failed: {failure}", file=sys.stderr)
    if failed:
        print("to train a configuration that failed again, remove the folder of its part", file=sys.stderr)
    return 1 if failures or failed else 0


def _read(arguments: Sequence[str]) -> tuple[Request, int]:
    """The request for the task, and n."""
    own, rest = own_options(arguments, {"n": "512", "seed": "0"}, RUN_ONLY, "a table")
    n = options.count("n", options.number(own["n"]), required=True)
    if not any(argument.lstrip("+").startswith("out=") for argument in rest):
        rest.append("out=results/tables")
    (request,) = read([*rest, f"seeds=[{options.number(own['seed'])}]", "method=random_search"])
    return request, -(-n // PART) * PART


@dataclass(frozen=True)
class Recording:
    """A table to be recorded.

    Attributes
    ----------
    path : Path
        The table's.
    parts : list of Experiment
        Each trains `PART` configurations.
    budgets : tuple of int
        Iterations recorded; empty: every one.
    """

    path: Path
    request: Request
    objective: Objective
    parts: list[Experiment]
    budgets: tuple[int, ...]

    @property
    def logs(self) -> Path:
        """Where the parts are logged."""
        return self.path.with_suffix(".parts")

    def run(self, command: str) -> list[str]:
        """Train what is not recorded yet; what failed, a line each. Parts that other processes work on are left out."""
        from benchmarks.display import open_display
        from benchmarks.engine import run_all
        from benchmarks.summary import finished
        from benchmarks.worker import Progress

        recorded = self.recorded()
        done = finished(self.parts, self.logs)
        for index in range(len(self.parts)):
            if recorded.issuperset(range(index * PART, (index + 1) * PART)):
                done.setdefault(index, Progress(heavy=PART, share=1.0))
        title = f"recording {len(self.parts) * PART} configurations: {self.path}"
        jobs = self.request.jobs
        with open_display(self.request.display, self.parts, done, jobs=jobs, title=title) as display:
            failures = run_all(self.parts, self.logs, jobs=jobs, command=command, observer=display, skip=done)
        return [failure.reason for failure in failures if not failure.locked]

    def recorded(self) -> set[int]:
        """The configurations in the table, if it is there."""
        if not self.path.exists():
            return set()
        return set(self._known().rows["configuration"])

    def _known(self) -> table.Table:
        known = table.load(self.path)
        mine = self._head(())
        if dataclasses.replace(known.head, made_by=()) != mine:
            differing = [
                f"{field.name} {getattr(known.head, field.name)} instead of {getattr(mine, field.name)}"
                for field in dataclasses.fields(mine)
                if field.name != "made_by" and getattr(known.head, field.name) != getattr(mine, field.name)
            ]
            raise UsageError(f"{self.path} was recorded with {'; '.join(differing)}: give another out=")
        return known

    def gather(self) -> tuple[str, list[str]]:
        """Write the table of all that is recorded so far.

        Returns
        -------
        str
            What it holds, in words.
        list of str
            The configurations that could not be trained, with the reasons.
        """
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.logs / "gather.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another process that gathers, too, would write an older state over it
            return self._gather()

    def _gather(self) -> tuple[str, list[str]]:
        import pandas

        from benchmarks.part_log import PartLog

        frames, made_by, there, failed = [], [], set(), []
        if self.path.exists():
            known = self._known()
            frames.append(known.rows)
            made_by += known.head.made_by
            there = set(known.rows["configuration"])
        for index, part in enumerate(self.parts):
            folder = part.folder(self.logs)
            log = PartLog.read(folder)
            failed += [f"{row.config}: {row.error} (in {folder})" for row in log.failures(self.budgets).values()]
            curves = {index * PART + place: curve for place, curve in log.curves(self.budgets).items()}
            new = [number for number in curves if number not in there]
            for made in log.made_by if new else ():
                made_by += [made] if made not in made_by else []
            for number in new:
                curves[number].insert(0, "configuration", number)
                frames.append(curves[number])
        if not frames:
            return "nothing is recorded yet", failed
        rows = pandas.concat(frames, ignore_index=True).sort_values(["configuration", "iteration"], ignore_index=True)
        result = table.Table(self.path.stem, self._head(tuple(made_by)), rows.astype(table.COLUMNS))
        result.check(self.objective.space, self.objective.heavy.iterations)
        result.save(self.path)
        holds = f"{self.path} holds {rows['configuration'].nunique()} of {len(self.parts) * PART} configurations"
        return holds, failed

    def _head(self, made_by: tuple[dict[str, Any], ...]) -> table.Head:
        request, task = self.request, self.request.task
        data = self.objective.data
        return table.Head(
            task["name"],
            task["_target_"],
            dict(task["parameters"]),
            request.scale,
            data,
            request.seeds[0],
            request.threads,
            not self.budgets,
            made_by,
        )


def plan(request: Request, n: int) -> Recording:
    """What a request comes to.

    Raises
    ------
    UsageError
        A task that is not trained, a parameter that does not fit, data that cannot be found, or a
        table in the folder that was recorded otherwise.
    """
    from benchmarks.budget import Budget
    from benchmarks.experiment import Experiment
    from benchmarks.objectives.curve import CurveTask
    from benchmarks.spec import Spec

    task = request.task
    if not task.get("needs_data"):
        raise UsageError(f"task {task['name']} trains nothing: there is nothing to record")
    places = {"data": request.data, "data_dir": request.data_dir}
    try:
        spec = Spec(task["name"], task["_target_"], task["parameters"])
        objective = spec.build(**places)
        is_curve = isinstance(objective, CurveTask)
        budgets = () if is_curve else _budgets(objective.light.iterations, objective.heavy.iterations)
        full = dataclasses.replace(spec, parameters=dict(task["parameters"]) | (FULL_LENGTH if is_curve else {}))
        path = request.out / f"{table_name(request, objective.data)}.parquet"
        parts = []
        for start in range(0, n, PART):
            settings = {"start": start, "stop": start + PART, "budgets": budgets or (objective.heavy.iterations,)}
            search = Spec("design", "benchmarks.design.DesignSearch", settings)
            budget = Budget(heavy=PART)
            parts.append(Experiment(full, search, request.seeds[0], budget, request.threads, objective.data, places))
        parts[-1].build()
        recording = Recording(path, request, objective, parts, budgets)
        recording.recorded()
    except UsageError:
        raise
    except (ValueError, TypeError, OSError) as error:
        raise UsageError(f"task {task['name']}: {error}") from error
    return recording


def table_name(request: Request, data: DataSource) -> str:
    """<task>-<data>-<scale>; the data with their number of training images where that is not the scale's."""
    name = re.sub(r"[^\w-]+", "-", data.name.partition(" ")[0])
    task = document("task", request.task["name"])
    own = (task["parameters"] | task["scales"][request.scale].get("parameters", {}))["n_train"]
    asked = request.task["parameters"]["n_train"]
    number = f"-n{asked}" if asked != own else ""
    return f"{request.task['name']}-{name}{number}-{request.scale}"


def _budgets(light: int, heavy: int) -> tuple[int, ...]:
    """The heavy number of iterations, those of the rungs below as in Hyperband, and the light one as the lowest."""
    rungs = [heavy]
    while heavy / REDUCTION ** len(rungs) >= light:
        rungs.append(round(heavy / REDUCTION ** len(rungs)))
    return (light, *sorted(rungs[: max(len(rungs) - 1, 1)]))


if __name__ == "__main__":
    sys.exit(main())
