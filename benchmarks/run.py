"""Run methods on tasks: `python -m benchmarks.run task=currin`; `--help` says all of it.

Exit status: 0 when all is done, 1 when an experiment failed, 2 for a mistake in the command, 130
after Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

# The rest is imported where it is used: `--help` and a mistake show at once.
from benchmarks.common.errors import UsageError
from benchmarks.config.help import help_text
from benchmarks.config.options import without
from benchmarks.console.command import command

if TYPE_CHECKING:
    from benchmarks.running.plan import Plan


@command(help_text, continued="benchmarks.run")
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    plans = _plans(arguments)
    from benchmarks.studies.execution import command_of, execute
    from benchmarks.studies.rerun import set_aside

    recorded = command_of(arguments, plans)
    plans = set_aside(plans)
    arguments[:] = without(arguments, "rerun")  # after Ctrl-C what was made anew stays so
    return 0 if execute(plans, recorded) else 1


def _plans(arguments: Sequence[str]) -> list[Plan]:
    """What is to be run, all of it checked."""
    from benchmarks.config.request import read

    requests = read(arguments)  # first, as it needs no numpy: a mistake shows at once
    from benchmarks.running.plan import plan

    plans = []
    for request in requests:
        try:
            plans.append(plan(request))
        except UsageError as error:
            if len(requests) == 1:
                raise
            raise UsageError(f"job {request.label}: {error}") from error
    return plans


if __name__ == "__main__":
    sys.exit(main())
