"""Studies of what is recorded: of the runs below a folder, and of a table of trials."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from benchmarks.analysis.aggregate import reasons_without_result
from benchmarks.analysis.incumbents import keys
from benchmarks.figures.style import method_styles
from benchmarks.records.labels import name_of
from benchmarks.reporting.settings import Setting, read
from benchmarks.studies.study import Study
from benchmarks.studies.study_sum import MissingRun


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
    study = Study(
        pd.concat(results, ignore_index=True) if results else DataFrame(),
        tuple(setting.grid.title for setting in settings),
        tuple(names),
        planned,
        tuple(line for setting in settings for line in _missing(setting)),
        {key: setting.shared for setting in settings for key in setting.labels},
    )
    for line in study.cautions:
        warnings.warn(line, stacklevel=3)  # in what calls `benchmarks.study.load`
    return study


def of_trials(trials: DataFrame, title: str, shared: Mapping[str, Mapping[str, Any]]) -> Study:
    """The study of trials that are all of runs that are done, as `records.load` gives them.

    `shared` is by task what its runs have in common, see `RunInfo.shared`; of a task whose trials are of other data, it
    is taken for unknown.
    """
    runs = trials[["task", "method", "seed"]].drop_duplicates()
    planned = dict(Counter(zip(runs["task"], runs["method"], strict=True)))
    known = {task: of for task, of in shared.items() if _is_of(trials[trials["task"] == task], of)}
    settings = {key: of for task, of in known.items() for key in keys(trials[trials["task"] == task]).unique()}
    return Study(trials, (title,), tuple(method_styles(trials["method"])), planned, settings=settings)


def _is_of(trials: DataFrame, shared: Mapping[str, Any]) -> bool:
    """Whether trials are of the data that a setting names."""
    name = shared["data"]["name"] if shared["data"] else None
    return bool((trials["data"] == name).all() if name else trials["data"].isna().all())


def _missing(setting: Setting) -> list[MissingRun]:
    """A line for each run of a setting that is not done, or has no result."""
    grid, task = setting.grid, setting.grid.one.task
    asked = {name: hashed for _, job in grid.jobs for name, hashed in job.methods.items()}
    reasons = {}
    for method, seed in grid.undone():
        run = grid.runs.get((method, seed))
        name, _, hashed = method.rpartition("-")  # the hash of one that has not begun is told by a command alone
        why = f": {run[0].why}" if run is not None and run[0].why else ""
        reasons[task, name, hashed or asked.get(name) or "", seed] = f"{grid.state(method, seed)}{why}"
    for method, seed in setting.done:
        name, _, hashed = method.rpartition("-")
        if not grid.runs[method, seed][0].n_trials:
            reasons[task, name, hashed, seed] = "no trial"
    if len(setting.results):
        reasons |= reasons_without_result(setting.results)
    return [MissingRun.of(run, why) for run, why in reasons.items()]
