"""How far the recording of a table is: configurations, where `benchmarks.status` has seeds for runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.tables.design_log import DEFAULT_N, PART, logged

if TYPE_CHECKING:
    from benchmarks.records.grid import Grid

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


def is_recording(grid: Grid) -> bool:
    """Whether what a grid holds are the parts of a table, not runs of methods."""
    return {run["method"] for run, _ in grid.runs.values()} == {METHOD}


def counts(grid: Grid, root: Path, numbers: Iterable[str | None]) -> Counts:
    """What is recorded of the table of these logs; numbers are what the commands say of n, None for nothing."""
    there, logs = _in_table(root.with_suffix(".parquet")), set()
    for run, folder in grid.runs.values():
        logs.update(_logged(run["configuration"]["method"].get("parameters", {}), folder))
    most = max(map(wanted, numbers))
    return Counts(len(there.intersection(range(most))), len(logs - there), most)


def lines(grid: Grid, there: Counts) -> list[str]:
    """Title, configurations, and what the parts that have begun are doing."""
    states = Counter(grid.states.values())
    parts = ", ".join(f"{n} {state}" for state, n in states.items())
    more = f", {there.logged} more logged" if there.logged else ""
    return [
        grid.title,
        f"{there.recorded} of {there.wanted} configurations in the table{more}; parts begun here: {parts}",
    ]


def wanted(n: str | None) -> int:
    """How many configurations a command asks for, by what it says of n; None for nothing."""
    asked = int(n) if n and n.isdecimal() else DEFAULT_N
    return -(-asked // PART) * PART


def _in_table(path: Path) -> set[int]:
    if not path.exists():
        return set()
    from pyarrow import parquet

    return set(parquet.read_table(path, columns=["configuration"])["configuration"].to_pylist())


def _logged(parameters: Mapping[str, Any], folder: Path) -> range:
    start = parameters.get("start", 0)
    return range(start, start + logged(folder, parameters.get("budgets", ())))
