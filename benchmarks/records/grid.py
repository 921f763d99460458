"""The runs below a folder as grids of methods and seeds, one a task and configuration."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.errors import UsageError
from benchmarks.config.options import text
from benchmarks.config.registry import INTERNAL
from benchmarks.records.code_versions import several
from benchmarks.records.command import Command, Job
from benchmarks.records.labels import Cell, labels, name_of
from benchmarks.records.run_folder import RunFolder, run_folders
from benchmarks.records.run_info import RunInfo, Status
from benchmarks.records.trials import has_result

MARKS = {"done": ".", "running": "R", "truncated": "T", "failed": "F", "missing": "-"}
LEGEND = ". done   R running   T truncated: begun, and nobody works on it   F failed   - missing"


@dataclass
class Grid:
    """The runs of one task and configuration.

    Attributes
    ----------
    title : str
        With the folder, where another grid below the one that was read would have the same.
    root : Path
        The folder of the records: out of out/<task>/<method>-<hash>/seed-<n>.
    states : dict
        By method (name and hash) and seed: a key of `MARKS`. Missing ones are not in it.
    runs : dict
        By method and seed: the description of the run, and its folder.
    only : sequence of str, optional
        The names of methods that are meant, though its commands name others.
    """

    title: str
    root: Path
    states: dict[Cell, str] = field(default_factory=dict)
    runs: dict[Cell, tuple[RunInfo, Path]] = field(default_factory=dict)
    only: Sequence[str] | None = None

    @property
    def one(self) -> RunInfo:
        """One of its runs, for what they have in common."""
        return next(iter(self.runs.values()))[0]

    @property
    def commands(self) -> list[Command]:
        """The different commands that its runs were started with last; of equal ones that which tells most jobs."""
        commands = sorted((run.command for run, _ in self.runs.values()), key=lambda command: -len(command.jobs))
        return list(dict.fromkeys(command for command in commands if command.module))

    @property
    def jobs(self) -> list[tuple[Command, Job]]:
        """The jobs of these commands that are of this grid."""
        setting = self.one.setting
        return [(command, job) for command in self.commands for job in command.jobs if job.setting == setting]

    @property
    def methods(self) -> list[str]:
        """Name and hash of those that have begun; of those that a command names beside them, the name and "-"."""
        begun = {method for method, _ in self.states}
        names = {name_of(method) for method in begun}
        named = {name for _, job in self.jobs for name in job.methods if self.only is None or name in self.only}
        return sorted(begun.union(f"{name}-" for name in named - names))

    @property
    def labels(self) -> dict[str, str]:
        """The label of each method that has begun, by name and hash."""
        return labels({method: run.parameters for (method, _), (run, _) in self.runs.items()})

    @property
    def seeds(self) -> list[int]:
        """Those of its runs, and those that a command names."""
        return sorted({seed for _, seed in self.states}.union(seed for _, job in self.jobs for seed in job.seeds))

    def state(self, method: str, seed: int) -> str:
        """A key of `MARKS`."""
        return self.states.get((method, seed), "missing")

    def undone(self) -> list[Cell]:
        """Methods and seeds whose runs are not done."""
        cells = ((method, seed) for method in self.methods for seed in self.seeds)
        return [cell for cell in cells if self.state(*cell) != "done"]

    def lines(self) -> list[str]:
        """The grid as text, a row a method; one that is there twice is shown with the parameters that tell it apart."""
        named = self.labels
        shown = [named.get(method, name_of(method)) for method in self.methods]
        width = max(map(len, shown))
        widths = [len(str(seed)) for seed in self.seeds]
        head = " ".join(str(seed) for seed in self.seeds)
        lines = [self.title, f"{'':{width}}  {head}"]
        for name, method in zip(shown, self.methods, strict=True):
            states = [self.state(method, seed) for seed in self.seeds]
            marks = " ".join(MARKS[state].rjust(each) for state, each in zip(states, widths, strict=True))
            lines.append(f"{name:{width}}  {marks}  {states.count('done')}/{len(states)}")
        early = Counter(
            (run.method, run.why) for run, _ in self.runs.values() if run.status is Status.EXHAUSTED and run.why
        )
        lines += [f"{name}, {n} done with budget left: {why}" for (name, why), n in early.items()]
        lines += [f"{line}; rerun=changed makes them anew" for line in self.several_versions(self.runs)]
        return lines

    def several_versions(self, cells: Iterable[Cell]) -> list[str]:
        """A line for each method, and one for the task, whose code was not the same in all of these runs."""
        return several({cell: self.runs[cell][0] for cell in sorted(cells)}, self.labels)

    def without_result(self) -> list[Cell]:
        """Methods and seeds of runs that are done, and have no heavy result; CorruptRecord if a trial is damaged."""
        done = [(cell, *self.runs[cell]) for cell, state in sorted(self.states.items()) if state == "done"]
        budgets = (run.identity["budget"].get("train_seconds") for _, run, _ in done)
        return [
            cell
            for (cell, _, folder), budget in zip(done, budgets, strict=True)
            if not has_result(folder, math.inf if budget is None else budget)
        ]

    def finishing(self) -> list[Command]:
        """The commands that finish it, each once: recorded ones, or for a seed that none of them has, one for it."""
        return list(dict.fromkeys(self._finishing(*cell).at(self.root) for cell in self.undone()))

    def _finishing(self, method: str, seed: int) -> Command:
        if (method, seed) in self.runs:
            return self.runs[method, seed][0].command
        name = name_of(method)
        mine = dict.fromkeys(run.command for (other, _), (run, _) in self.runs.items() if other == method)
        mine = mine or dict.fromkeys(command for command, job in self.jobs if name in job.methods)
        having = next((command for command in mine if command.has(seed)), None)
        return having or next(iter(mine)).given(method=name, seeds=f"[{seed}]")


def grids(out: Path) -> list[Grid]:
    """What is recorded below a folder.

    Raises
    ------
    UsageError
        If nothing is.
    CorruptRecord
        If a run.json is damaged.
    OSError
        If a folder cannot be read, or its file system knows no locks.
    """
    found: dict[str, Grid] = {}
    for folder in run_folders(out):
        run = folder.info()
        if run is None:
            continue  # moved away meanwhile
        root = folder.path.absolute().parents[2]
        # Of a recording all parts are one grid, whatever the number of configurations in each.
        shared = run.shared | {"budget": {}} if run.method in INTERNAL else run.shared
        key = json.dumps([str(root), shared], sort_keys=True)
        grid = found.setdefault(key, Grid(_title(run.task, shared), root))
        cell = f"{run.method}-{run.hash}", run.seed
        if grid.states.get(cell) != "done":  # two spellings of one run had a folder each before schema 2
            grid.states[cell] = _state(folder, run)
            grid.runs[cell] = run, folder.path
    if not found:
        raise UsageError(f"no records below {out}: give the folder that was given as out= to the run")
    titles = [grid.title for grid in found.values()]
    for grid in found.values():
        if titles.count(grid.title) > 1:
            grid.title += f", in {grid.root}"
    return list(found.values())


def not_started(found: list[Grid]) -> dict[str, Command]:
    """The jobs of recorded sweeps of which there is no run, by the options that tell them apart, and their commands."""
    there = {(grid.root, run.task, run.hash) for grid in found for run, _ in grid.runs.values()}
    return {
        job.label: command.at(grid.root)
        for grid in found
        for command in grid.commands
        for job in command.jobs
        if job.label and not any((grid.root, job.task, hashed) in there for hashed in job.methods.values())
    }


def _state(folder: RunFolder, run: RunInfo) -> str:
    if folder.is_done(run):
        return "done"
    if folder.is_locked():
        return "running"
    return "failed" if run.status in (Status.FAILED, Status.KILLED) else "truncated"


def _title(task: str, shared: Mapping[str, Any]) -> str:
    """Task and configuration in one line."""
    parts = [f"{name}={text(value)}" for name, value in shared["task"].get("parameters", {}).items()]
    parts += [f"budget.{name}={value}" for name, value in shared["budget"].items() if value is not None]
    parts += [f"threads={shared['threads']}"] + ["shared_init=true"] * ("shared_init" in shared)
    parts += [f"data: {shared['data']['name']}"] if shared["data"] else []
    return ", ".join([task, *parts])
