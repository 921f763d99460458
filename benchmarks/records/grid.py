"""The runs below a folder as grids of methods and seeds, and what finishes those that are not done."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.errors import UsageError
from benchmarks.config import options
from benchmarks.config.registry import ROOT, TABLES, document
from benchmarks.records.run_folder import RUN, held, is_done, read_run
from benchmarks.records.trials import CorruptRecord
from benchmarks.tables import progress as status_recordings

MARKS = {"done": ".", "running": "R", "truncated": "T", "failed": "F", "missing": "-"}
LEGEND = ". done   R running   T truncated: begun, and nobody works on it   F failed   - missing"


@dataclass
class Grid:
    """The runs of one task and configuration.

    Attributes
    ----------
    title : str
        With the folder, where another grid below the one that was read would have the same.
    states : dict
        By method (name and hash) and seed: a key of `MARKS`. Missing ones are not in it.
    runs : dict
        By method and seed: the contents of run.json, and the folder of the run.
    """

    title: str
    states: dict[tuple[str, int], str] = field(default_factory=dict)
    runs: dict[tuple[str, int], tuple[dict[str, Any], Path]] = field(default_factory=dict)

    @property
    def commands(self) -> dict[tuple[str, int], tuple[str, Path]]:
        """By method and seed: what the run was started with last, and the folder of its records."""
        return {cell: (run["command"], root_of(folder)) for cell, (run, folder) in self.runs.items()}

    @property
    def methods(self) -> list[str]:
        """Name and hash of those that have begun; of those that a command names beside them, the name and "-"."""
        begun = {method for method, _ in self.states}
        names = {name_of(method) for method in begun}
        named = {name for command in self._different_commands() for name in methods_of(command)}
        return sorted(begun.union(f"{name}-" for name in named - names))

    @property
    def seeds(self) -> list[int]:
        named = (seed for command in self._different_commands() for seed in seeds_of(command))
        return sorted({seed for _, seed in self.states}.union(named))

    def _different_commands(self) -> set[str]:
        return {command for command, _ in self.commands.values()}

    def state(self, method: str, seed: int) -> str:
        return self.states.get((method, seed), "missing")

    def undone(self) -> list[tuple[str, int]]:
        """Methods and seeds whose runs are not done."""
        cells = ((method, seed) for method in self.methods for seed in self.seeds)
        return [cell for cell in cells if self.state(*cell) != "done"]

    @functools.cached_property
    def configurations(self) -> status_recordings.Counts:
        """Of the recording of a table: how many are recorded, and how many its commands want."""
        commands, roots = zip(*self.commands.values(), strict=True)
        return status_recordings.counts(self, roots[0], (value_of(command, "n") for command in commands))

    def lines(self) -> list[str]:
        """The grid as text, a row a method; a method that is there twice is shown with its hash."""
        if status_recordings.is_recording(self):
            return status_recordings.lines(self, self.configurations)
        names = [name_of(method) for method in self.methods]
        shown = [name if names.count(name) == 1 else method for name, method in zip(names, self.methods, strict=True)]
        width = max(map(len, shown))
        widths = [len(str(seed)) for seed in self.seeds]
        head = " ".join(str(seed) for seed in self.seeds)
        lines = [self.title, f"{'':{width}}  {head}"]
        for name, method in zip(shown, self.methods, strict=True):
            states = [self.state(method, seed) for seed in self.seeds]
            marks = " ".join(MARKS[state].rjust(each) for state, each in zip(states, widths, strict=True))
            lines.append(f"{name:{width}}  {marks}  {states.count('done')}/{len(states)}")
        early = Counter((name_of(method), run.get("exhausted")) for (method, _), (run, _) in self.runs.items())
        lines += [f"{name}, {n} done with budget left: {why}" for (name, why), n in early.items() if why]
        return lines


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
    for path in sorted(out.rglob(RUN)):
        folder = path.parent
        run = read_run(folder)
        if run is None:
            continue  # moved away meanwhile
        try:
            shared = {name: value for name, value in run["configuration"].items() if name != "method"}
            cell = f"{run['method']}-{run['hash']}", run["seed"]
            title, _, status = _title(run["task"], shared), run["command"], run["status"]
        except (KeyError, TypeError, AttributeError):
            raise CorruptRecord(f"{path} describes no run. Move {folder} away to run it again") from None
        grid = found.setdefault(json.dumps([str(root_of(folder)), shared], sort_keys=True), Grid(title))
        grid.states[cell] = _state(folder, status)
        grid.runs[cell] = run, folder
    if not found:
        raise UsageError(f"no records below {out}: give the folder that was given as out= to the run")
    titles = [grid.title for grid in found.values()]
    for grid in found.values():
        if titles.count(grid.title) > 1:
            _, folder = next(iter(grid.runs.values()))
            grid.title += f", in {root_of(folder)}"
    return list(found.values())


def name_of(method: str) -> str:
    """The name of a method of a grid, without its hash."""
    return method.rpartition("-")[0]


def root_of(folder: Path) -> Path:
    """The folder of the records that a run's is in: out of out/<task>/<method>-<hash>/seed-<n>."""
    return folder.absolute().parents[2]


def _state(folder: Path, status: str) -> str:
    if is_done(folder):
        return "done"
    if held(folder):
        return "running"
    return "failed" if status == "failed" else "truncated"


def _title(task: str, shared: Mapping[str, Any]) -> str:
    """Task and configuration in one line."""
    parts = [f"{name}={value}" for name, value in shared["task"].get("parameters", {}).items()]
    parts += [f"budget.{name}={value}" for name, value in shared["budget"].items() if value is not None]
    parts += [f"threads={shared['threads']}"] + ["shared_init=true"] * ("shared_init" in shared)
    parts += [f"data: {shared['data']['name']}"] if shared["data"] else []
    return ", ".join([task, *parts])


def finishing(grid: Grid) -> list[str]:
    """The commands that finish a grid, each once: recorded ones, or for a seed that none of them has, one for it."""
    commands, recorded = [], grid.commands
    if status_recordings.is_recording(grid):
        there = grid.configurations
        if there.recorded >= there.wanted:
            return []
        longest = [
            (command, root)
            for command, root in sorted(grid.commands.values())
            if status_recordings.wanted(value_of(command, "n")) == there.wanted
        ]
        return list(dict.fromkeys(_at(command, root) for command, root in longest))
    for method, seed in grid.undone():
        if (method, seed) in recorded:
            command, root = recorded[method, seed]
            commands.append(_at(command, root))
            continue
        name = name_of(method)
        mine = [recorded[cell] for cell in recorded if cell[0] == method]
        mine = mine or [(command, root) for command, root in recorded.values() if name in methods_of(command)]
        having = [(command, root) for command, root in mine if seed in seeds_of(command)]
        command, root = having[0] if having else (_only(mine[0][0], name, seed), mine[0][1])
        commands.append(_at(command, root))
    return list(dict.fromkeys(commands))


def unbegun(found: Iterable[Grid]) -> dict[str, str]:
    """The jobs of recorded sweeps that no grid is of, by the values that tell them apart, with their commands."""
    there: dict[Path, list[dict[str, Any]]] = {}
    sweeps: dict[tuple[str, Path], None] = {}
    for grid in found:
        run, folder = next(iter(grid.runs.values()))
        there.setdefault(root_of(folder), []).append(_values_of_run(run))
        sweeps |= dict.fromkeys(grid.commands.values())
    jobs = {}
    for command, root in sweeps:
        names = {word.lstrip("+").partition("=")[0] for word in shlex.split(command) if "=" in word}
        given = {name: _values(command, name, None) for name in sorted(names - {"method", "seeds"})}
        axes = [[(name, value) for value in values] for name, values in given.items() if len(values) > 1]
        for job in itertools.product(*axes):
            # What a run does not tell, such as the scale, tells no jobs apart.
            if not any(all(_fits(name, value, run.get(name, value)) for name, value in job) for run in there[root]):
                jobs[", ".join(f"{name}={options.text(value)}" for name, value in job)] = _at(command, root)
    return jobs


def _values_of_run(run: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a run tells of what may be swept over, by option."""
    configuration = run["configuration"]
    values = {"task": run["task"], "threads": configuration["threads"]}
    values["shared_init"] = configuration.get("shared_init", False)
    values |= {f"budget.{name}": value for name, value in configuration["budget"].items()}
    parameters = configuration["task"].get("parameters", {})
    table = (run.get("data_arguments") or {}).get("table")
    if table is not None:  # a replay's parameters are those of the task that were given
        values["table"], parameters = table, parameters.get("parameters", {})
    return values | {f"task.parameters.{name}": value for name, value in parameters.items()}


def _fits(name: str, value: Any, recorded: Any) -> bool:
    """Whether a run with this value may be of a command that gives that one, which may be a part of a path."""
    if name != "table":
        return value == recorded
    if value is None:  # the default may have been any
        return True
    parts = [part for part in Path(value).parts if part not in ("..", "~")]
    return Path(recorded).parts[-len(parts) :] == tuple(parts)


def _at(command: str, root: Path) -> str:
    """A command with the folder of its records, or of the table they are for, where that is another one from here."""
    if _of_run(command):
        folder, default = root, document("", "config")["out"]
    elif _of_module(command, "benchmarks.record"):
        folder, default = root.parent, TABLES.relative_to(ROOT)
    else:
        return command
    given = value_of(command, "out") or default
    return command if Path(given).expanduser().resolve() == folder.resolve() else _with(command, out=str(folder))


def _only(command: str, method: str, seed: int) -> str:
    """A command for one method and one seed."""
    return _with(command, method=method, seeds=f"[{seed}]") if _of_run(command) else command


@functools.cache
def seeds_of(command: str) -> tuple[int, ...]:
    """The seeds that a command names, those of a sweep together; none if it is no `benchmarks.run`."""
    found: dict[int, None] = {}
    for value in _values(command, "seeds", document("", "config")["seeds"]):
        with contextlib.suppress(UsageError):
            found |= dict.fromkeys(options.seeds(value))
    return tuple(found)


@functools.cache
def methods_of(command: str) -> tuple[str, ...]:
    """The names of the methods that a command names, those of a sweep together; none if it is no `benchmarks.run`."""
    default = next(entry["method"] for entry in document("", "config")["defaults"] if "method" in entry)
    values = _values(command, "method", default)
    lists = (value if isinstance(value, list) else [value] for value in values)
    return tuple(dict.fromkeys(str(name) for names in lists for name in names))


def _values(command: str, option: str, default: Any) -> list[Any]:
    """What a `benchmarks.run` gives an option: one value, or each that it sweeps over; none if that cannot be read."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    if not _of_run(command):
        return []
    given = value_of(command, option)
    if given is None:
        return [default]
    parser = OverridesParser.create()
    try:
        override = parser.parse_override(f"{option}={given}")
        if not override.is_sweep_override():
            return [override.value()]
        return [parser.parse_override(f"{option}={value}").value() for value in override.sweep_string_iterator()]
    except HydraException:
        return []


def _of_run(command: str) -> bool:
    return _of_module(command, "benchmarks.run")


def _of_module(command: str, module: str) -> bool:
    return shlex.split(command)[1:3] == ["-m", module]


def value_of(command: str, option: str) -> str | None:
    """What a command gives an option, None if nothing."""
    values = [word.lstrip("+").partition("=") for word in shlex.split(command)]
    return next((value for name, _, value in reversed(values) if name == option), None)


def _with(command: str, **given: str) -> str:
    """A command with other values of options."""
    return shlex.join(options.with_values(shlex.split(command), given))
