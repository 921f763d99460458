"""Studies of what is recorded: of the runs below a folder, and of a table of trials."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

import pandas as pd
from pandas import DataFrame

from benchmarks.analysis.aggregate import reasons_without_result
from benchmarks.figures.style import method_styles
from benchmarks.records.labels import name_of
from benchmarks.reporting.settings import Setting, read
from benchmarks.studies.study import Study
from benchmarks.studies.study_sum import MissingRun, several_settings


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
    for line in several_settings(study.trials, study.settings):
        warnings.warn(line, stacklevel=3)  # in what calls `benchmarks.study.load`
    return study


def of_trials(trials: DataFrame, title: str) -> Study:
    """The study of trials that are all of runs that are done, as `records.load` gives them."""
    runs = trials[["task", "method", "seed"]].drop_duplicates()
    planned = dict(Counter(zip(runs["task"], runs["method"], strict=True)))
    return Study(trials, (title,), tuple(method_styles(trials["method"])), planned)


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
