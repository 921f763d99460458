"""Run methods on tasks: `python -m benchmarks.run task=currin`; `--help` says all of it.

Exit status: 0 when all is done, 1 when an experiment failed, 2 for a mistake in the command, 130
after Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from baselines.libraries.interpreter import run_module

# The rest is imported where it is used: `--help` starts at once, and workers import this module too.
from benchmarks.config import options
from benchmarks.config.help import help_text

if TYPE_CHECKING:
    from benchmarks.records.command import Command
    from benchmarks.running.plan import Plan


@options.command(help_text)
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    try:
        plans = _plans(arguments)
        command = _command(arguments, plans)
        from benchmarks.studies.execution import execute

        return 0 if execute(plans, command) else 1
    except KeyboardInterrupt:
        again = run_module("benchmarks.run", *options.without(arguments, "rerun"))
        print(f"stopped; all recorded trials are kept, and the same command continues: {again}", file=sys.stderr)
        return 130


def _command(arguments: Sequence[str], plans: Sequence[Plan]) -> Command:
    """The command for the record, which finds the same published data whatever the shell and its folder, or fails.

    What a sweep varies stays as it was given; and of one over tasks of several data sets, or that replays tables, too,
    no option can name the data of all. It goes on with what `rerun=` made anew, and does not make it anew once more.
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
    again = options.with_values(options.without(arguments, "rerun"), found)
    return Command(RUN_MODULE, tuple(again), tuple(plan.job for plan in plans))


def _plans(arguments: Sequence[str]) -> list[Plan]:
    """What is to be run, all of it checked."""
    from benchmarks.config.request import read

    requests = read(arguments)  # first, as it needs no numpy: a mistake shows at once
    from benchmarks.running.plan import plan

    return [plan(request) for request in requests]


if __name__ == "__main__":
    sys.exit(main())
