"""Run methods on tasks: `python -m benchmarks.run task=currin`; `--help` says all of it.

Exit status: 0 when all is done, 1 when an experiment failed, 2 for a mistake in the command, 130
after Ctrl-C.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from baselines.interpreter import run_module
from benchmarks.common.errors import UsageError

# The rest is imported where it is used: `--help` starts at once, and workers import this module too.
from benchmarks.config import options
from benchmarks.config.help import help_text

if TYPE_CHECKING:
    from benchmarks.records.command import Command
    from benchmarks.running.plan import Plan
    from benchmarks.running.progress import Failure


@options.command(help_text)
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    try:
        plans = _plans(arguments)
        command = _command(arguments, plans)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return _stopped(arguments)

    failures: list[Failure] = []
    faults = 0
    try:
        for number, each in enumerate(plans, start=1):
            prefix = f"({number}/{len(plans)}) " if len(plans) > 1 else ""
            failed = _run(each, command, prefix)
            failures += failed
            faults += not _report(each, failed, prefix)
    except UsageError as error:  # of the cluster
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return _stopped(arguments)
    from benchmarks.console.summary import print_failures, print_outputs

    folders = [experiment.folder(each.request.out) for each in plans for experiment in each.experiments]
    print_outputs(dict.fromkeys(folders))
    if failures:
        print_failures(failures)
    return 1 if failures or faults else 0


def _command(arguments: Sequence[str], plans: Sequence[Plan]) -> Command:
    """The command for the record, which finds the same published data whatever the shell and its folder, or fails.

    What a sweep varies stays as it was given; and of one over tasks of several data sets, or that replays tables, too,
    no option can name the data of all.
    """
    from benchmarks.records.command import RUN_MODULE, Command

    requests = [plan.request for plan in plans]
    live = [plan for plan in plans if plan.data is not None]
    found = {}
    if live and not any(request.table for request in requests):
        from benchmarks.data.datasets import found_by

        found = found_by(live[0].data.name, requests[0].data_dir)
        if len(live) < len(plans) or len({(plan.data.name, plan.request.data) for plan in live}) > 1:
            found.pop("data", None)
        if len({request.data_dir for request in requests}) > 1:
            found.pop("data_dir", None)
    return Command(RUN_MODULE, tuple(options.with_values(arguments, found)), tuple(plan.job for plan in plans))


def _stopped(arguments: list[str]) -> int:
    """Say how to go on after Ctrl-C; the exit status."""
    again = run_module("benchmarks.run", *arguments)
    print(f"stopped; all recorded trials are kept, and the same command continues: {again}", file=sys.stderr)
    return 130


def _plans(arguments: Sequence[str]) -> list[Plan]:
    """What is to be run, all of it checked."""
    from benchmarks.config.request import read

    requests = read(arguments)  # first, as it needs no numpy: a mistake shows at once
    from benchmarks.running.plan import plan

    return [plan(request) for request in requests]


def _run(plan: Plan, command: Command, prefix: str) -> list[Failure]:
    """Run what is not done yet, showing how it goes."""
    from benchmarks.console.display import open_display
    from benchmarks.records.source_code import changed
    from benchmarks.running import local as engine

    request, experiments, title = plan.request, plan.experiments, f"{prefix}{plan.title}"
    if request.data != "auto" and not request.task.get("needs_data"):
        print(f"data={request.data} has no effect: task {request.task['name']} uses no data set", file=sys.stderr)
    for reason in plan.skipped:
        print(f"skipped: {reason}", file=sys.stderr)
    for line in (*plan.cautions, *changed(plan.done_runs)):
        print(f"note: {line}", file=sys.stderr)
    with contextlib.ExitStack() as stack:
        jobs, run_all = request.jobs, functools.partial(engine.run_all, jobs=request.jobs)
        if request.engine == "dask" and len(plan.done) < len(experiments):
            from benchmarks.running.dask import connect

            cluster = stack.enter_context(connect(request.address, request.jobs, request.out))
            jobs, run_all = cluster.jobs, cluster.run_all
        display = stack.enter_context(open_display(request.display, experiments, plan.done, jobs=jobs, title=title))
        return run_all(experiments, request.out, command=command, observer=display, skip=plan.done)


def _report(plan: Plan, failures: Sequence[Failure], prefix: str) -> bool:
    """Print the table and draw the figure of the runs that finished.

    False where the records do not allow it, or a run has no result as all its heavy trials failed.
    """
    from benchmarks.console.summary import ended_early, figure_path, fruitless, print_table, table, trials
    from benchmarks.figures.curves import figure_run

    out = plan.request.out
    failed = [failure.experiment for failure in failures]
    try:
        frame = trials([experiment for experiment in plan.experiments if experiment not in failed], out)
        if frame.empty:
            print(f"{prefix}{plan.title}: no trial of a finished run on record")
            return True
        print_table(*table(frame, plan.experiments), title=f"{prefix}{plan.title}")
        print(f"figure: {figure_run(frame, figure_path(plan.experiments, out))}")
        for line in ended_early(plan.experiments, out):
            print(f"ended with budget left: {line}", file=sys.stderr)
        without_result = fruitless(frame)
        for line in without_result:
            print(f"no result: {line}", file=sys.stderr)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return False
    return not without_result


if __name__ == "__main__":
    sys.exit(main())
