"""`python -m benchmarks.retime`: give a table that unlike machines recorded the seconds of one machine."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import options
from benchmarks import table as tables
from benchmarks.options import UsageError
from benchmarks.replay import READING
from benchmarks.table import CorruptTable, Head, Table

HELP = """\
usage: python -m benchmarks.retime table=FILE clock=FILE out=FOLDER

A replay charges for a configuration what it took the machine that recorded it. Where several
machines recorded a table and one of them is faster, its configurations look cheap. So record the same
design once more, all of it on one machine, but each configuration for a few iterations only: by the
command of the table (task, scale, n, seed and all) with

  task.parameters.light_iterations=2 task.parameters.heavy_iterations=5 out=CLOCKS

Then give the table that this makes as clock=. Every iteration of a configuration is charged the mean
seconds of its iterations there; errors stay as they are. The more iterations, the steadier the clock:
the mean of five is within about 10% for a network of half a second an iteration.

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
CLOCKS = ["seconds", "processor_seconds"]


@options.command(lambda: HELP)
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    try:
        files, path = _read(arguments)
        timed = retimed(*(_load(option, file) for option, file in files.items()))
    except (UsageError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        timed.save(path)
    except OSError as error:
        print(f"error: {path}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{path} holds {len(timed.configurations)} configurations with the seconds of {files['clock']}")
    return 0


def _read(arguments: Sequence[str]) -> tuple[dict[str, Path], Path]:
    """The files by their options, and the one to be written."""
    given = options.given(arguments, OPTIONS)
    if missing := [f"{option}=" for option in OPTIONS if option not in given]:
        raise UsageError(f"{' and '.join(missing)} must be given; --help explains the command")
    table, clock, out = (Path(given[option]).expanduser() for option in OPTIONS)
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


def retimed(table: Table, clock: Table) -> Table:
    """A table with seconds of another.

    Parameters
    ----------
    table : Table
        Whose errors are kept.
    clock : Table
        Recorded by one machine: the same task on the same data, the configurations of `table` or more, to any length.

    Returns
    -------
    Table
        Each iteration of a configuration takes the mean seconds of those in `clock`, by both clocks.

    Raises
    ------
    ValueError
        If the tables do not fit together, iterations are not recorded one by one, or `clock` itself is not of one
        machine.
    """
    for option, each in (("table", table), ("clock", clock)):
        if not each.head.every_iteration:
            raise ValueError(
                f"{option}: {each.name} holds certain numbers of iterations, each trained from the start, "
                "and cannot be timed anew; record it on one machine"
            )
    if differing := _differing(table.head, clock.head):
        raise ValueError(f"clock: it must be recorded as the table was, but has {'; '.join(differing)}")
    if (machines := len(clock.head.machines)) != 1:
        raise ValueError(f"clock: it is of {machines} machines itself; record all of it on one, in another out=")
    timed = clock.configurations
    missing = [number for number, config in table.configurations.items() if timed.get(number) != config]
    if missing:
        wanted = f"record it with seed={table.head.seed} and n={max(table.configurations) + 1}"
        raise ValueError(
            f"clock: it lacks {len(missing)} configurations of the table, the first of them {missing[0]}; {wanted}"
        )
    ends = clock.rows.groupby("configuration").last()
    pace = ends[CLOCKS].div(ends["iteration"], axis="index").loc[table.rows["configuration"]]
    seconds = pace.set_axis(table.rows.index).mul(table.rows["iteration"], axis="index")
    head = dataclasses.replace(table.head, timed_by=clock.head.timed_by or clock.head.made_by)
    timed_table = Table(table.name, head, table.rows.assign(**seconds))
    try:
        timed_table.checked()
    except CorruptTable as error:  # what few iterations may have, many may not
        raise ValueError(f"clock: the table would be damaged by it: {error}") from error
    return timed_table


def _differing(table: Head, clock: Head) -> list[str]:
    """What an iteration depends on and a clock has otherwise than the table, in words."""
    shared = {name: (getattr(clock, name), getattr(table, name)) for name in ("task", "target", "data", "threads")}
    names = sorted({*clock.parameters, *table.parameters} - {*READING})
    shared |= {name: (clock.parameters.get(name), table.parameters.get(name)) for name in names}
    return [f"{name} {ours} instead of {theirs}" for name, (ours, theirs) in shared.items() if ours != theirs]


if __name__ == "__main__":
    sys.exit(main())
