"""Checked plans are run here: with the display while they run, and with a table and a figure at the end."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import records
from benchmarks.config.options import value_of, with_values, without
from benchmarks.config.request import PATHS, whole_paths
from benchmarks.console.command import print_error
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import Status

# pandas, matplotlib, rich and the engines are imported when used: a command that finds a mistake ends at once.
if TYPE_CHECKING:
    from pandas import DataFrame

    from benchmarks.records.command import Command
    from benchmarks.running.experiment import Experiment
    from benchmarks.running.plan import Plan
    from benchmarks.running.progress import Failure


def command_of(arguments: Sequence[str], plans: Sequence[Plan]) -> Command:
    """The command for the record, which finds the same folders and published data whatever the shell, or fails.

    What a sweep varies stays as it was given; and of one over tasks of several data sets, or that replays tables, too,
    no option can name the data of all.
    """
    from benchmarks.records.command import RUN_MODULE, Command

    requests = [plan.request for plan in plans]
    live = [(plan.data.name, plan.request.data) for plan in plans if plan.data is not None]
    found = {}
    if live and not any(request.table for request in requests):
        from benchmarks.data.datasets import found_by

        found = found_by(live[0][0], requests[0].data_dir)
        if len(live) < len(plans) or len(set(live)) > 1:
            found.pop("data", None)
        if len({request.data_dir for request in requests}) > 1:
            found.pop("data_dir", None)
    found |= whole_paths({option: value_of(arguments, option) for option in PATHS if option != "data_dir"})
    again = with_values(without(arguments, "rerun"), found)  # a run that was made anew is not made anew once more
    return Command(RUN_MODULE, tuple(again), tuple(plan.job for plan in plans))


def execute(plans: Sequence[Plan], command: Command) -> bool:
    """Run plans one after another and report on each; whether every experiment has come to a result.

    Parameters
    ----------
    plans : sequence of Plan
    command : Command
        What they were started with, for the record.

    Raises
    ------
    UsageError
        If the cluster that a plan asks for cannot be used.
    """
    from benchmarks.console.summary import print_failures, print_outputs

    failures: list[Failure] = []
    all_reported = True
    for number, plan in enumerate(plans, start=1):
        prefix = f"({number}/{len(plans)}) " if len(plans) > 1 else ""
        failed = run_plan(plan, command, prefix)
        failures += failed
        all_reported &= report(plan, failed, prefix)
    folders = [experiment.folder(plan.request.out) for plan in plans for experiment in plan.experiments]
    print_outputs(dict.fromkeys(folders))
    if failures:
        print_failures(failures)
    return all_reported and not failures


def run_plan(plan: Plan, command: Command, prefix: str = "") -> list[Failure]:
    """Run what is not done yet and show how it goes; the experiments that failed.

    Parameters
    ----------
    plan : Plan
    command : Command
        What they were started with, for the record.
    prefix : str
        What goes before the title of the plan.
    """
    from benchmarks.console.display import open_display
    from benchmarks.records.source_code import changed
    from benchmarks.running import local

    request, experiments, title = plan.request, plan.experiments, f"{prefix}{plan.title}"
    if request.data != "auto" and not request.task.get("needs_data"):
        print(f"data={request.data} has no effect: task {request.task['name']} uses no data set", file=sys.stderr)
    for reason in plan.skipped:
        print(f"skipped: {reason}", file=sys.stderr)
    for line in (*plan.cautions, *changed(plan.done_runs)):
        print(f"note: {line}", file=sys.stderr)
    with contextlib.ExitStack() as stack:
        jobs = request.jobs
        run_all: Callable[..., list[Failure]] = functools.partial(local.run_all, jobs=jobs)
        if request.engine == "dask" and len(plan.done) < len(experiments):
            from benchmarks.running.dask import connect

            cluster = stack.enter_context(connect(request.address, request.jobs, request.out))
            jobs, run_all = cluster.jobs, cluster.run_all
        display = stack.enter_context(open_display(request.display, experiments, plan.done, jobs=jobs, title=title))
        return run_all(experiments, request.out, command=command, observer=display, skip=plan.done)


def report(plan: Plan, failures: Sequence[Failure], prefix: str = "") -> bool:
    """Print the table and draw the figure of the experiments that did not fail.

    False where the records do not allow it, or a run has no heavy result.
    """
    from benchmarks.analysis.aggregate import without_result
    from benchmarks.console.summary import print_table, table
    from benchmarks.figures.curves import figure_run

    out, title = plan.request.out, f"{prefix}{plan.title}"
    failed = [failure.experiment for failure in failures]
    ended = [experiment for experiment in plan.experiments if experiment not in failed]
    try:
        frame = trials(ended, out)
        if frame.empty:
            print(f"{title}: no trial of a finished run on record")
            return not ended
        print_table(*table(frame, plan.experiments), title=title)
        path = figure_path(plan.experiments, out)
        print(f"figure: {figure_run(frame, path, labels=labels_of(frame, plan.experiments))}")
        for line in ended_early(plan.experiments, out):
            print(f"ended with budget left: {line}", file=sys.stderr)
        lines = without_result(frame)
        lines += [f"{each.method.name}, seed {each.seed}: no trial" for each in without_trial(ended, frame)]
        for line in lines:
            print(f"no result: {line}", file=sys.stderr)
    except (ValueError, OSError) as error:
        print_error(error)
        return False
    return not lines


def trials(experiments: Iterable[Experiment], out: Path) -> DataFrame:
    """The recorded trials of these experiments and no others, as `records.load` gives them."""
    import pandas

    folders = dict.fromkeys(experiment.folder(out) for experiment in experiments)
    frames = [records.load(folder, strict=True) for folder in folders if folder.is_dir()]
    frames = [frame for frame in frames if not frame.empty]
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()


def labels_of(frame: DataFrame, experiments: Iterable[Experiment]) -> dict[str, str]:
    """By method (name and hash) the label of each that has trials, in the order of the experiments."""
    from benchmarks.analysis.incumbents import ordered_labels

    return ordered_labels(frame, dict.fromkeys(experiment.method.name for experiment in experiments))


def without_trial(experiments: Iterable[Experiment], frame: DataFrame) -> list[Experiment]:
    """Those that have no row among the trials of a command."""
    there = set() if frame.empty else set(zip(frame["method"], frame["seed"], strict=True))
    return [experiment for experiment in experiments if (experiment.method.name, experiment.seed) not in there]


def ended_early(experiments: Iterable[Experiment], out: Path) -> list[str]:
    """A line for every method and reason for which runs ended with budget left: how many, and why."""
    runs = (RunFolder(experiment.folder(out)).info() for experiment in experiments)
    counts = Counter((run.method, run.why) for run in runs if run is not None and run.status is Status.EXHAUSTED)
    return [f"{name}, {n} run{'s' if n > 1 else ''}: {why}" for (name, why), n in counts.items()]


def figure_path(experiments: Sequence[Experiment], out: Path) -> Path:
    """Where the figure of these experiments goes: the same for the same command."""
    identity = " ".join(f"{experiment.method.name}-{experiment.hash}-{experiment.seed}" for experiment in experiments)
    digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
    return out / experiments[0].task.name / f"figure-{digest}.png"
