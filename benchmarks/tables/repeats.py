"""Tables of the same grid that were trained from other seeds: repeats, which tell the noise of training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.tables.table import Table, load

FOLDER = "repeats"  # beside the table; each recording has a folder of its own in there, and the name of the table


def repeats_of(path: Path) -> list[Table]:
    """The repeats of the table in a file, in the order of their seeds: <folder>/repeats/*/<name>.parquet.

    Raises
    ------
    CorruptTable
        If one is no table.
    """
    found = sorted((path.parent / FOLDER).glob(f"*/{path.name}"))
    return sorted((load(each) for each in found), key=lambda table: table.head.seed)


def check_repeats(table: Table, repeats: Sequence[Table]) -> None:
    """Refuse what does not repeat a table: the same grid of the same task on the same data, trained from other seeds.

    Raises
    ------
    ValueError
        Naming the repeat by its seed, and what is wrong.
    """
    seeds = [table.head.seed]
    for repeat in repeats:
        name = f"the repeat of {table.name} with seed {repeat.head.seed}"
        if repeat.head.grid is None:
            raise ValueError(f"{name} is none: only a grid has the same configurations for every seed")
        if differing := table.head.unlike(repeat.head, but={"seed"}):
            raise ValueError(f"{name} must be recorded as the table was, but has {'; '.join(differing)}")
        if repeat.head.seed in seeds:
            raise ValueError(f"{name} is there already: record it with a seed other than {sorted(seeds)}")
        seeds.append(repeat.head.seed)
