"""`python -m benchmarks.retime`: give a table that unlike machines recorded the seconds of one machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.errors import UsageError
from benchmarks.config import options
from benchmarks.console.command import CommandFailed, command
from benchmarks.tables import table as tables
from benchmarks.tables.table import Table
from benchmarks.tables.timing import retimed

HELP = """\
usage: python -m benchmarks.retime table=FILE clock=FILE out=FOLDER

A replay charges for a configuration what it took the machine that recorded it. Where several
machines recorded a table and one of them is faster, its configurations look cheap. So record the same
design once more, all of it on one machine, but each configuration for a few iterations only: by the
command of the table (task, design, scale, n, seed and all) with

  task.parameters.light_iterations=2 task.parameters.heavy_iterations=5 out=CLOCKS

but without full_length=false, if it has that. Then give the table that this makes as clock=. Every
iteration of a configuration is charged the mean seconds of its iterations there; errors stay as they
are. The more iterations, the steadier the clock: the mean of five is within about 10% for a network of
half a second an iteration.

options
  table=FILE   the table, with a row for every iteration. One of certain numbers of iterations, as of
               the SVM, cannot be timed anew: record it on one machine
  clock=FILE   CLOCKS/<name>.parquet, with the configurations of the table or more
  out=FOLDER   where the table is written, by the same name; there must be none yet
  -h, --help   this text

The result is another table, so runs that replayed the old one are not continued but made anew.

exit status: 0 written, 1 it could not be written, 2 a mistake in the command or tables that do not fit
"""
OPTIONS = {"table": "a file", "clock": "a file", "out": "a folder"}


@command(lambda _: HELP, mistakes=(ValueError, OSError))
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    files, path = _read(arguments)
    timed = retimed(*(_load(option, file) for option, file in files.items()))
    try:
        timed.save(path)
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    print(f"{path} holds {len(timed.configurations)} configurations with the seconds of {files['clock']}")
    return 0


def _read(arguments: Sequence[str]) -> tuple[dict[str, Path], Path]:
    """The files by their options, and the one to be written."""
    given = options.given(arguments, OPTIONS)
    if missing := [f"{option}=" for option in OPTIONS if option not in given]:
        raise UsageError(f"{' and '.join(missing)} must be given; --help explains the command")
    table, clock, out = (Path(os.path.expanduser(given[option])) for option in OPTIONS)
    if out.exists() and not out.is_dir():
        raise UsageError(f"out={given['out']} is a file; give a folder")
    if (out / table.name).exists():
        raise UsageError(f"out={given['out']}: {out / table.name} is there already; give another folder")
    return {"table": table, "clock": clock}, out / table.name


def _load(option: str, file: Path) -> Table:
    """A table that holds what `retimed` wants of both, or ValueError that names the option."""
    try:
        table = tables.load(file)
        table.checked()
    except (ValueError, TypeError, FileNotFoundError) as error:
        raise ValueError(f"{option}={file}: {error}") from error
    return table


if __name__ == "__main__":
    sys.exit(main())
