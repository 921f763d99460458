"""A table that unlike machines recorded, with the seconds of one machine."""

from __future__ import annotations

import dataclasses

from benchmarks.tables.replay import READING
from benchmarks.tables.table import CorruptTable, Head, Table

CLOCKS = ["seconds", "processor_seconds"]


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
    shared = {name: (getattr(clock, name), getattr(table, name)) for name in ("task", "version", "data", "threads")}
    names = sorted({*clock.parameters, *table.parameters} - {*READING})
    shared |= {name: (clock.parameters.get(name), table.parameters.get(name)) for name in names}
    return [f"{name} {ours} instead of {theirs}" for name, (ours, theirs) in shared.items() if ours != theirs]
