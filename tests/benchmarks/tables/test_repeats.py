"""Repeats of a table: where they are found, and what is none."""

import dataclasses
import re

import pytest
from small_grid import save_grid, small_grid

from benchmarks.tables.repeats import check_repeats, repeats_of
from benchmarks.tables.table import Table


def test_repeats_lie_in_folders_of_their_own_and_come_by_their_seeds(tmp_path):
    path = save_grid(tmp_path)
    assert repeats_of(path) == []
    for folder, seed in (("a", 2), ("b", 1)):
        save_grid(tmp_path / "repeats" / folder, seed=seed, n=8)
    found = repeats_of(path)
    assert [(table.head.seed, len(table.configurations)) for table in found] == [(1, 8), (2, 8)]
    check_repeats(small_grid(), found)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"seed": 0}, "with seed 0 is there already: record it with a seed other than [0]"),
        ({"seed": 1, "threads": 2}, "must be recorded as the table was, but has threads 2 instead of 1"),
        ({"seed": 1, "grid": None}, "is none: only a grid has the same configurations for every seed"),
    ],
)
def test_what_is_no_repeat_is_refused(head, message):
    table = small_grid()
    with pytest.raises(ValueError, match=re.escape(message)):
        check_repeats(table, [Table(table.name, dataclasses.replace(table.head, **head), table.rows)])
