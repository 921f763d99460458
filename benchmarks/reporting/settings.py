"""What a report is drawn from: the runs below a folder, sorted into settings that can be compared."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas
from pandas import DataFrame, Series

from benchmarks import records
from benchmarks.analysis.incumbents import incumbents, keys
from benchmarks.analysis.over_time import axes_of_tasks
from benchmarks.common.errors import UsageError
from benchmarks.config.options import unknown
from benchmarks.figures.style import method_styles
from benchmarks.records.grid import Grid, grids
from benchmarks.records.labels import Cell, first_of, name_of
from benchmarks.records.run_folder import RUN
from benchmarks.records.trials import TRIALS


@dataclass(frozen=True)
class Setting:
    """One task in one configuration, with all methods that were run on it.

    Attributes
    ----------
    name : str
        The task, and what tells this configuration of it from others below the folder.
    anchor : str
        What links to it on the page.
    grid : Grid
    labels : dict
        By method (name and hash): the name that tables and figures show, in the order in which commands gave them.
    trials : DataFrame
        Those of all its runs, as `records.load` gives them.
    results : DataFrame
        Those of the runs that are done. All results are drawn from these: another run has spent less
        than its budget, and its best value is not to be averaged with those of whole runs.
    asked : str, optional
        The label or the method that others are to be compared to where it is there; see `records.labels.first_of`.
    """

    name: str
    anchor: str
    grid: Grid
    labels: dict[str, str]
    trials: DataFrame
    results: DataFrame
    asked: str | None = None

    @property
    def first(self) -> str:
        """The label of the method that others are compared to, of those with results."""
        present = set(keys(self.results))
        methods = {label: name_of(key) for key, label in self.labels.items() if key in present}
        asked = self.asked if self.asked in {*methods, *methods.values()} else None
        return first_of(methods, asked)

    @property
    def shared(self) -> dict[str, Any]:
        """What its runs have in common: task, budget, threads, data and, where it is used, shared_init."""
        return self.grid.one.shared

    @property
    def axis(self) -> str:
        """The cost by which its results compare: the one that runs end at together (`over_time.axes_of_tasks`)."""
        return next(iter(axes_of_tasks(self.results)), "heavy_equivalents")

    @property
    def named(self) -> dict[str, str]:
        """`labels`, then those of the methods that have not begun though a command names them."""
        return self.labels | {method: name_of(method) for method in self.grid.methods if method not in self.labels}

    @functools.cached_property
    def contradiction(self) -> str | None:
        """In what its results contradict themselves, so that they allow no statistics; None where they do not."""
        try:
            incumbents(self.results)
        except ValueError as error:
            return str(error)
        return None

    @property
    def done(self) -> list[Cell]:
        """The runs that results are drawn from, in the order of tables."""
        states, seeds = self.grid.states, self.grid.seeds
        return [(method, seed) for method in self.labels for seed in seeds if states.get((method, seed)) == "done"]


def read(out: Path) -> list[Setting]:
    """The settings recorded below a folder, in the order of their folders.

    Raises
    ------
    UsageError
        If there is no record.
    CorruptRecord
        If one is damaged. None is left out silently: a figure would not say what it lacks.
    ValueError
        If two folders record the same run.
    OSError
        If a folder cannot be read, or its file system knows no locks.
    """
    found = grids(out)
    frame = records.load(out, strict=True)
    settings = []
    for number, (grid, name) in enumerate(zip(found, _names(found), strict=True), start=1):
        mine = frame[_cells(frame).isin(list(grid.states))]
        done = [cell for cell, state in grid.states.items() if state == "done"]
        results = mine[_cells(mine).isin(done)]
        settings.append(Setting(name, f"setting-{number}", grid, _labels(grid), mine, results))
    return settings


def select(
    settings: Sequence[Setting],
    tasks: Sequence[str] = (),
    methods: Sequence[str] = (),
    first: str | None = None,
) -> list[Setting]:
    """The settings of some tasks with some methods, both in the order given; all in their own order without.

    Parameters
    ----------
    settings : sequence of Setting
        As `read` returns them.
    tasks, methods : sequence of str
        Names; of methods all variants are meant. A method may be missing in some settings.
    first : str, optional
        The method, by name or label, that others are compared to.

    Raises
    ------
    UsageError
        If no setting has a task, a method or `first`; or if no setting remains.
    """
    known_tasks = dict.fromkeys(setting.grid.one.task for setting in settings)
    known = dict.fromkeys(name_of(method) for setting in settings for method in setting.named)
    labels = dict.fromkeys(label for setting in settings for label in setting.labels.values())
    for option, given, there in (
        ("task", tasks, known_tasks),
        ("method", methods, known),
        ("first", [first] if first else [], known | labels),
    ):
        for name in given:
            if name not in there:
                raise UsageError(f"{option}: {unknown(option.replace('first', 'method'), name, there)}")
    chosen = [setting for task in tasks or known_tasks for setting in settings if setting.grid.one.task == task]
    if methods:
        chosen = [_with_methods(setting, methods) for setting in chosen]
        chosen = [setting for setting in chosen if setting.grid.runs]
    if not chosen:
        raise UsageError(f"task and method: no run of {', '.join(methods)} on {', '.join(tasks)}")
    return [
        dataclasses.replace(setting, asked=first, anchor=f"setting-{number}")
        for number, setting in enumerate(chosen, start=1)
    ]


def _with_methods(setting: Setting, methods: Sequence[str]) -> Setting:
    """A setting with these methods alone, in their order."""
    labels = {key: label for name in methods for key, label in setting.labels.items() if name_of(key) == name}
    runs = {cell: run for cell, run in setting.grid.runs.items() if cell[0] in labels}
    states = {cell: state for cell, state in setting.grid.states.items() if cell[0] in labels}
    grid = dataclasses.replace(setting.grid, states=states, runs=runs, only=methods)
    trials, results = (each[keys(each).isin(labels)] for each in (setting.trials, setting.results))
    return dataclasses.replace(setting, grid=grid, labels=labels, trials=trials, results=results)


def checksums(settings: Iterable[Setting], out: Path) -> str:
    """SHA-256 and path below `out` of every file that results were drawn from, as `sha256sum --check` reads them."""
    files = [
        setting.grid.runs[cell][1] / name for setting in settings for cell in setting.done for name in (RUN, TRIALS)
    ]
    lines = (f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(out)}" for file in files)
    return "".join(f"{line}\n" for line in lines)


def _names(found: Sequence[Grid]) -> list[str]:
    """The task of each grid; where one is there several times, its configuration too."""
    names = [grid.one.task for grid in found]
    return [name if names.count(name) == 1 else grid.title for name, grid in zip(names, found, strict=True)]


def _cells(frame: DataFrame) -> Series:
    """Method (name and hash) and seed of each row."""
    return pandas.Series(list(zip(keys(frame), frame["seed"], strict=True)), index=frame.index, dtype=object)


def _labels(grid: Grid) -> dict[str, str]:
    """The label of each method of a grid (name and hash), as commands gave them, then in the order of figures."""
    asked = [item for _, job in grid.jobs for item in job.methods.items()]
    names = list(dict.fromkeys(name for name, _ in asked))
    names += [name for name in method_styles(map(name_of, grid.labels)) if name not in names]
    given = [f"{name}-{hashed}" for name, hashed in asked]

    def place(method: str) -> tuple[int, int]:
        return names.index(name_of(method)), [*given, method].index(method)

    return {method: grid.labels[method] for method in sorted(sorted(grid.labels), key=place)}
