"""`python -m benchmarks.status out=...`: how far recorded runs are, and what finishes the others.

Exit status: 0 when all are done with a result, 1 when not, 2 for a mistake in the command or a damaged record.
"""

from __future__ import annotations

import sys

from benchmarks.common.errors import UsageError
from benchmarks.config.registry import out_folder
from benchmarks.console.command import command
from benchmarks.records.grid import LEGEND, Grid, grids, not_started
from benchmarks.records.trials import CorruptRecord
from benchmarks.tables import progress

HELP = """\
usage: python -m benchmarks.status [out=results/runs]

Shows a grid of methods and seeds for every task and configuration recorded below a folder, then the
commands that finish what is not done. A seed is missing where a command names it, or another method of
the same grid has it; a method is missing where a command names it and it has not begun, also where it was
skipped as its library is not installed. Of the recording of a table (out=results/tables) it counts the
configurations in the table, and those that are logged and not gathered yet, or failed.

A run that is done without a heavy result is named, and no command finishes it: give another one a larger budget.

exit status: 0 all are done with a result, 1 not all, 2 a mistake in the command or a damaged record
"""


@command(lambda _: HELP, mistakes=(UsageError, CorruptRecord, OSError))
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    found = grids(out_folder(arguments))
    jobs = not_started(found)
    for lines in [*(progress.lines(grid) for grid in found), *([f"{job}: not begun"] for job in jobs)]:
        print(*lines, sep="\n", end="\n\n")
    print(LEGEND)
    lacking = [line for grid in found if not progress.is_recording(grid) for line in _without_result(grid)]
    if lacking:
        print("\ndone without a result:", *lacking, sep="\n  ")
    commands = dict.fromkeys([*(command for grid in found for command in progress.finishing(grid)), *jobs.values()])
    if commands:
        print("\nto finish:", *(command.here for command in commands), sep="\n  ")
    return 1 if commands or lacking else 0


def _without_result(grid: Grid) -> list[str]:
    """A line for each run of a grid that is done and has no heavy result: what `benchmarks.run` says of it, too."""
    task, lines = grid.one.task, []
    for method, seed in grid.without_result():
        run, folder = grid.runs[method, seed]
        why = [f"{run.method}, seed {seed}: no trial"]
        if run.n_trials:
            from benchmarks import records  # slow
            from benchmarks.analysis.aggregate import without_result  # slow

            why = without_result(records.load(folder, strict=True))
        lines += [f"{task}: {line}" for line in why]
    return lines


if __name__ == "__main__":
    sys.exit(main())
