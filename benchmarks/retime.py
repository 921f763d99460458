"""`python -m benchmarks.retime`: give a table that unlike machines recorded the seconds of one machine."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import table as tables
from benchmarks.options import UsageError, unknown
from benchmarks.table import Table

HELP = """\
usage: python -m benchmarks.retime table=FILE clock=FILE out=FOLDER

A replay charges for a configuration what it took the machine that recorded it. Where several
machines recorded a table and one of them is faster, its configurations look cheap. Record the same
design once more on one machine, to a few iterations only,

  python -m benchmarks.record +task=NAME ... task.parameters.light_iterations=2 \\
      task.parameters.heavy_iterations=5 out=CLOCKS

and with the table that this gives as clock= every iteration of a configuration gets the mean seconds
that one took there. Errors stay as they are.

options
  table=FILE   the table; one row an iteration (that of the SVM trains each number from the start)
  clock=FILE   what was recorded on one machine: the configurations of the table or more
  out=FOLDER   where the table is written, by the same name; there must be none yet
  -h, --help   this text
"""

OPTIONS = ("table", "clock", "out")
# Parameters of a task that say how long it is trained, but do not change an iteration.
LENGTHS = {f"{level}_{what}" for level in ("light", "heavy") for what in ("iterations", "patience", "tolerance")}
CLOCKS = ["seconds", "processor_seconds"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(arguments):
        print(HELP)
        return 0
    try:
        given = _read(arguments)
        path = Path(given["out"]).expanduser() / Path(given["table"]).name
        if path.exists():
            raise UsageError(f"out={given['out']}: {path} is there already; give another folder")
        timed = retimed(*(tables.load(Path(given[name]).expanduser()) for name in ("table", "clock")))
    except (UsageError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        timed.save(path)
    except OSError as error:
        print(f"error: {path}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{path} holds {len(timed.configurations)} configurations with the seconds of {shlex.quote(given['clock'])}")
    return 0


def _read(arguments: Sequence[str]) -> dict[str, str]:
    given = {}
    for argument in arguments:
        name, is_option, value = argument.lstrip("+").partition("=")
        if name not in OPTIONS or not is_option:
            raise UsageError(unknown("option", name, OPTIONS))
        given[name] = value
    if missing := [f"{option}=" for option in OPTIONS if not given.get(option)]:
        raise UsageError(f"give {' and '.join(missing)} too; --help explains the command")
    return given


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
        If the tables do not fit together, iterations are not recorded one by one, or `clock` itself is of several
        machines.
    """
    for each in (table, clock):
        task = each.head.objective()
        each.check(task.space, task.heavy.iterations)
        if not each.head.every_iteration:
            raise ValueError(f"table {each.name} holds some numbers of iterations only, each trained from the start")
    if differing := _differing(table, clock):
        raise ValueError(f"the clock was recorded with another {' and '.join(differing)} than the table")
    if len(clock.head.machines) > 1:
        raise ValueError(f"the clock is of {len(clock.head.machines)} machines itself; record it on one")
    timed = clock.configurations
    if missing := [number for number, config in table.configurations.items() if timed.get(number) != config]:
        raise ValueError(f"the clock lacks {len(missing)} configurations of the table, the first of them {missing[0]}")
    ends = clock.rows.groupby("configuration").last()
    pace = ends[CLOCKS].div(ends["iteration"], axis="index").loc[table.rows["configuration"]]
    seconds = pace.reset_index(drop=True).mul(table.rows["iteration"], axis="index")
    head = dataclasses.replace(table.head, timed_by=clock.head.timed_by or clock.head.made_by)
    return Table(table.name, head, table.rows.assign(**seconds))


def _differing(table: Table, clock: Table) -> list[str]:
    """What a clock must share with the table and does not."""
    one, other = table.head, clock.head
    differing = [name for name in ("task", "target", "data", "threads") if getattr(one, name) != getattr(other, name)]
    names = sorted({*one.parameters, *other.parameters} - LENGTHS)
    return differing + [name for name in names if one.parameters.get(name) != other.parameters.get(name)]


if __name__ == "__main__":
    sys.exit(main())
