"""The parts of a report that speak of the runs themselves: what was compared, what is missing, what failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.analysis.aggregate import without_result
from benchmarks.common.errors import shortened
from benchmarks.config import options
from benchmarks.config.registry import document
from benchmarks.records.grid import MARKS
from benchmarks.records.run_folder import ERROR, RunFolder
from benchmarks.reporting.page import Block, Code, Items, Paragraph, Section, Table
from benchmarks.reporting.settings import Setting
from benchmarks.tables.progress import finishing

STATES = tuple(MARKS)  # of a run: done, running, truncated, failed, missing
STATE_WORDS = (
    "done: its budget is spent or its method had nothing left to propose; running: a process is working on it; "
    "truncated: begun, and nobody works on it; failed: ended with an error; missing: never begun, though a command "
    "names it or another method has its seed."
)


def compared(settings: Sequence[Setting]) -> Section:
    """Tasks, data sets, methods, seeds, budgets."""
    rows = [
        (
            setting.name,
            _words(setting.shared["task"].get("parameters", {})),
            _words({name: limit for name, limit in setting.shared["budget"].items() if limit is not None}),
            ", ".join(scales(setting)),
            seed_list(setting.grid.seeds),
            "answered from a recorded table" if replayed(setting) else "live",
            "the same for all model-based methods" if setting.shared.get("shared_init") else "each method's own",
            str(setting.shared["threads"]),
        )
        for setting in settings
    ]
    head = ("setting", "task parameters", "budget", "scale", "seeds", "evaluations", "start", "threads")
    blocks: list[Block] = [
        Paragraph(
            "A setting is one task in one configuration; methods are compared within it. The scale is that which the "
            "commands named; what decides are the parameters and the budget."
        ),
        Table("Settings", head, tuple(rows), "lllllllr"),
    ]
    return Section("What was compared", "compared", (*blocks, *_data_sets(settings), _methods(settings)))


def missing(settings: Sequence[Setting]) -> Section:
    """How far each setting is, the seeds that are not done, and the commands that finish them."""
    rows = []
    blocks: list[Block] = []
    for setting in settings:
        seeds = {method: _by_state(setting, method) for method in setting.named}
        counts = [sum(len(of[state]) for of in seeds.values()) for state in STATES]
        rows.append((setting.name, str(sum(counts)), *map(str, counts)))
        if setting.grid.undone():
            undone = tuple(
                (setting.named[method], str(len(of["done"])), *(seed_list(of[state]) or "–" for state in STATES[1:]))
                for method, of in seeds.items()
            )
            head = ("method", "runs done", *(f"seeds {state}" for state in STATES[1:]))
            blocks.append(Table(f"Seeds not done: {setting.name}", head, undone, "lrllll"))
    overview = Table("Runs by state", ("setting", "runs", *STATES), tuple(rows), "l" + "r" * (1 + len(STATES)))
    commands = dict.fromkeys(str(command) for setting in settings for command in finishing(setting.grid))
    if commands:
        blocks += [Paragraph("These commands finish what is not done:"), Code(tuple(commands))]
    else:
        blocks.append(Paragraph("Nothing is missing: every run is done."))
    return Section("What is missing", "missing", (Paragraph(f"A run is {STATE_WORDS}"), overview, *blocks))


def failures(settings: Sequence[Setting]) -> Section:
    """Runs that failed, trials that failed, and runs that are done without a result, with the reasons."""
    runs = [
        (setting.name, setting.labels[method], str(seed), last_error(setting.grid.runs[method, seed][1]))
        for setting in settings
        for method in setting.labels
        for seed in _by_state(setting, method)["failed"]
    ]
    trials = [row for setting in settings for row in _failed_trials(setting)]
    lines = [f"{setting.name}: {line}" for setting in settings for line in without_result(setting.results)]
    blocks: list[Block] = []
    if runs:
        head = ("setting", "method", "seed", "reason")
        blocks.append(Table(f"Runs that failed; the traceback is in {ERROR} of the run", head, tuple(runs), "llrl"))
    if trials:
        names = ("setting", "method", "level", "reason", "trials", "seeds")
        caption = "Trials that failed, of all runs; each cost what it cost and is never best"
        blocks.append(Table(caption, names, tuple(trials), "llllrl"))
    if lines:
        blocks += [Paragraph("Runs that are done without any heavy result:"), Items(tuple(lines))]
    return Section("What failed", "failures", tuple(blocks) or (Paragraph("No run and no trial failed."),))


def scales(setting: Setting) -> list[str]:
    """The scales that the commands of a setting named, or left to the default."""
    default = "the table's" if replayed(setting) else document("", "config")["scale"]
    return list(dict.fromkeys(command.value("scale") or default for command in setting.grid.commands))


def replayed(setting: Setting) -> bool:
    """Whether a recorded table answers, so that seconds of training are those of the recording."""
    return setting.shared["source"] == "table"


def seed_list(seeds: Iterable[int]) -> str:
    """Seeds in ascending order, neighbors as a range: "0–4, 7"."""
    ranges: list[list[int]] = []
    for seed in sorted(seeds):
        if ranges and seed == ranges[-1][1] + 1:
            ranges[-1][1] = seed
        else:
            ranges.append([seed, seed])
    return ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in ranges)


def last_error(folder: Path) -> str:
    """The error at the end of a run's traceback, in one line that is `shortened`."""
    try:
        lines = RunFolder(folder).error.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"unknown: there is no {ERROR}"
    frames = [number for number, line in enumerate(lines) if line.startswith(("  ", "Traceback "))]
    text = " ".join(" ".join(lines[frames[-1] + 1 if frames else 0 :]).split())
    return shortened(text) or f"unknown: {ERROR} is empty"


def _data_sets(settings: Sequence[Setting]) -> list[Block]:
    users: dict[tuple[str, ...], list[str]] = {}
    for setting in settings:
        if data := setting.shared["data"]:
            key = (data["name"], f"{data['n_train']:,}", f"{data['n_validation']:,}", data["sha256"])
            users.setdefault(key, []).append(setting.name)
    if not users:
        return [Paragraph("No setting uses a data set.")]
    rows = tuple((*row, "; ".join(names)) for row, names in users.items())
    head = ("data set", "training", "validation", "SHA-256 of the content", "setting")
    return [Table("Data sets that were really used", head, rows, "lrrll")]


def _methods(settings: Sequence[Setting]) -> Table:
    users: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        for method in setting.labels:
            run = next(run for (name, _), (run, _) in setting.grid.runs.items() if name == method)
            row = (run.method, _words(run.parameters))
            users.setdefault(row, []).append(f"{setting.name} as {setting.labels[method]} ({run.hash})")
    rows = tuple((*row, "; ".join(where)) for row, where in sorted(users.items()))
    return Table("Methods", ("method", "parameters", "setting, name shown there (hash of the runs)"), rows, "lll")


def _by_state(setting: Setting, method: str) -> dict[str, list[int]]:
    seeds: dict[str, list[int]] = {state: [] for state in STATES}
    for seed in setting.grid.seeds:
        seeds[setting.grid.state(method, seed)].append(seed)
    return seeds


def _failed_trials(setting: Setting) -> list[tuple[str, ...]]:
    """A row for each method, level and reason, with how often and in which seeds."""
    failed = setting.trials[setting.trials["status"] != "ok"]
    rows: list[tuple[str, ...]] = []
    for (method, hash, heavy, error), trials in failed.fillna({"error": "–"}).groupby(
        ["method", "hash", "heavy", "error"]
    ):
        level = "heavy" if heavy else "light"
        label = setting.labels[f"{method}-{hash}"]
        rows.append((setting.name, label, level, str(error), str(len(trials)), seed_list(trials["seed"].unique())))
    return rows


def _words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={options.text(value)}" for name, value in values.items()) or "–"
