"""How far the recording of a table is: configurations, where `benchmarks.status` has seeds for runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.part_log import logged

if TYPE_CHECKING:
    from benchmarks.status import Grid

METHOD = "design"  # by which the parts of a recording are logged
DEFAULT_N = 512  # of `benchmarks.record`


def is_recording(grid: Grid) -> bool:
    """Whether what a grid holds are the parts of a table, not runs of methods."""
    return {run["method"] for run, _ in grid.runs.values()} == {METHOD}


def recorded(grid: Grid, root: Path) -> int:
    """How many configurations are in the table of these logs, or logged to their end."""
    numbers = _in_table(root.with_suffix(".parquet"))
    for run, folder in grid.runs.values():
        numbers.update(_logged(run["configuration"]["method"].get("parameters", {}), folder))
    return len(numbers)


def lines(grid: Grid, done: int, wanted: int) -> list[str]:
    """Title, configurations, and what the parts that have begun are doing."""
    states = Counter(grid.states.values())
    parts = ", ".join(f"{n} {state}" for state, n in states.items())
    return [grid.title, f"{done} of {wanted} configurations recorded; parts begun here: {parts}"]


def wanted(commands: Iterable[str | None]) -> int:
    """The most configurations that a command asks for; each is given as what it says of n, None for nothing."""
    return max(int(n) if n and n.isdecimal() else DEFAULT_N for n in commands)


def _in_table(path: Path) -> set[int]:
    if not path.exists():
        return set()
    from pyarrow import parquet

    return set(parquet.read_table(path, columns=["configuration"])["configuration"].to_pylist())


def _logged(parameters: Mapping[str, Any], folder: Path) -> range:
    start = parameters.get("start", 0)
    return range(start, start + logged(folder, parameters.get("budgets", ())))
