"""How far what is recorded below a folder is: grids of runs and, where a table is recorded, its configurations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.records.command import Command
from benchmarks.records.grid import Grid
from benchmarks.tables.design import grid_size
from benchmarks.tables.design_log import logged, wanted

METHOD = "design"  # by which the parts of a recording are logged


@dataclass(frozen=True)
class Counts:
    """Of configurations.

    Attributes
    ----------
    recorded : int
        In the table.
    logged : int
        Logged to their end and not in the table: not gathered yet, or failed.
    wanted : int
        The most that a command asks for.
    """

    recorded: int
    logged: int
    wanted: int


def lines(grid: Grid) -> list[str]:
    """A grid as text: of runs, or of a recording its title, its configurations, and what the parts are doing."""
    if not is_recording(grid):
        return grid.lines()
    states, there = Counter(grid.states.values()), counts(grid)
    parts = ", ".join(f"{n} {state}" for state, n in states.items())
    more = f", {there.logged} more logged" if there.logged else ""
    return [
        grid.title,
        f"{there.recorded} of {there.wanted} configurations in the table{more}; parts begun here: {parts}",
    ]


def finishing(grid: Grid) -> list[Command]:
    """The commands that finish a grid, each once."""
    if not is_recording(grid):
        return grid.finishing()
    there = counts(grid)
    if there.recorded >= there.wanted:
        return []
    size = _size(grid)
    longest = [command.at(grid.root) for command in grid.commands if _wanted(command, size) == there.wanted]
    return sorted(dict.fromkeys(longest), key=str)


def is_recording(grid: Grid) -> bool:
    """Whether what a grid holds are the parts of a table, not runs of methods."""
    return {run.method for run, _ in grid.runs.values()} == {METHOD}


def counts(grid: Grid) -> Counts:
    """What is recorded of the table that the logs of a grid are for."""
    there = _in_table(grid.root.with_suffix(".parquet"))
    logs: set[int] = set()
    for run, folder in grid.runs.values():
        start = run.parameters.get("start", 0)
        logs.update(range(start, start + logged(folder, run.parameters.get("budgets", ()))))
    size = _size(grid)
    most = max(_wanted(command, size) for command in grid.commands)
    return Counts(len(there.intersection(range(most))), len(logs - there), most)


def _size(grid: Grid) -> int | None:
    """How many configurations a recording has at most, if its design is a grid of parameters."""
    designs = [run.parameters.get("grid") for run, _ in grid.runs.values()]
    return max((grid_size(design) for design in designs if design), default=None)


def _wanted(command: Command, size: int | None) -> int:
    """How many configurations a command asks for, of a design that has `size` of them, or any number."""
    n = command.value("n")
    return wanted(int(n) if n and n.isdecimal() else None, size)


def _in_table(path: Path) -> set[int]:
    if not path.exists():
        return set()
    from pyarrow import parquet  # slow

    return set(parquet.read_table(path, columns=["configuration"])["configuration"].to_pylist())
