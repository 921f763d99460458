"""Studies of what is recorded: of the runs below a folder, and of a table of trials."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
from pandas import DataFrame

from benchmarks.figures.style import method_styles
from benchmarks.records.grid import Grid
from benchmarks.records.labels import name_of
from benchmarks.reporting.settings import read
from benchmarks.studies.study import Study


def of_folder(out: Path) -> Study:
    """The study of all runs below a folder; those that are not done are its `missing`.

    Raises
    ------
    UsageError, CorruptRecord, ValueError, OSError
        As `reporting.settings.read`.
    """
    settings = read(out)
    planned: dict[tuple[str, str], int] = {}
    for setting in settings:
        for method in setting.grid.methods:
            key = setting.shared["task"]["name"], name_of(method)
            planned[key] = max(planned.get(key, 0), len(setting.grid.seeds))
    names = dict.fromkeys(name_of(method) for setting in settings for method in setting.named)
    results = [setting.results for setting in settings if len(setting.results)]
    return Study(
        pd.concat(results, ignore_index=True) if results else DataFrame(),
        tuple(setting.grid.title for setting in settings),
        tuple(names),
        planned,
        tuple(line for setting in settings for line in _missing(setting.grid)),
    )


def of_trials(trials: DataFrame, title: str) -> Study:
    """The study of trials that are all of runs that are done, as `records.load` gives them."""
    runs = trials[["task", "method", "seed"]].drop_duplicates()
    planned = dict(Counter(zip(runs["task"], runs["method"], strict=True)))
    return Study(trials, (title,), tuple(method_styles(trials["method"])), planned)


def _missing(grid: Grid) -> list[str]:
    """A line for each run of a grid that is not done."""
    lines = []
    for method, seed in grid.undone():
        run = grid.runs.get((method, seed))
        why = f": {run[0].why}" if run is not None and run[0].why else ""
        lines.append(f"{grid.one.task}, {name_of(method)}, seed {seed}: {grid.state(method, seed)}{why}")
    return lines
