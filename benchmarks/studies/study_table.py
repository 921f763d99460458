"""The tables of a study: what each method reached and what it cost, a table a task."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from pandas import DataFrame, Series

from benchmarks.analysis import aggregate as analysis
from benchmarks.analysis.incumbents import RUN, keys
from benchmarks.analysis.intervals import SEEDS_FOR_INTERVAL
from benchmarks.common.formats import interval_name, mean_text, number
from benchmarks.reporting.page import Table
from benchmarks.reporting.results import MEASURES
from benchmarks.studies.study_sum import Settings

Planned = Mapping[tuple[str, str], int]  # by task and method: how many seeds were asked for


def tables(trials: DataFrame, methods: Sequence[str], planned: Planned) -> list[Table]:
    """A table for each task, in the order of their names.

    Parameters
    ----------
    trials : DataFrame
        As `records.load` returns them, of runs that are done; may be empty.
    methods : sequence of str
        The order of the rows. A method without a run that is done has a row of dashes.
    planned : mapping
        Of a method that is not in it, the seeds are those that it has.

    Raises
    ------
    ValueError
        As `analysis.incumbents`.
    """
    summary = analysis.summary(trials) if len(trials) else DataFrame()
    names = dict.fromkeys([*(summary["task"] if len(summary) else ()), *(task for task, _ in planned)])
    return [
        _table(task, summary[summary["task"] == task] if len(summary) else summary, methods, planned)
        for task in sorted(names)
    ]


def unequal_budgets(trials: DataFrame, settings: Settings) -> list[str]:
    """A line for each task whose runs have not spent alike, so that their ends do not compare.

    Runs have spent alike that have one budget. Where the settings of some are not known, they have if they have one
    budget in seconds of training or, without one, equally many heavy runs, or iterations that differ by less than a
    heavy run: a budget of iterations leaves less than that.
    """
    lines = []
    for task, mine in trials.groupby("task"):
        heavy = mine.groupby(RUN)["heavy"].sum()
        methods = keys(mine).unique()
        if all(key in settings for key in methods):
            alike = len({json.dumps(settings[key]["budget"], sort_keys=True) for key in methods}) == 1
        else:
            budgets = mine["train_budget"].unique() if "train_budget" in mine else [math.nan]
            alike = len(budgets) == 1 and (not math.isnan(budgets[0]) or _as_much(mine, heavy))
        if not alike:
            lines.append(
                f"{task}: the runs have not one budget ({heavy.min()} to {heavy.max()} heavy runs a seed), so compare "
                "them by their curves, at equal cost"
            )
    return lines


def _as_much(trials: DataFrame, heavy: Series) -> bool:
    """Whether runs have made equally many heavy runs, by run in `heavy`, or used up one budget of iterations."""
    spent = trials["iterations"].clip(lower=1).groupby([trials[name] for name in RUN]).sum()
    equally_many = heavy.groupby("method").max().nunique() == 1
    return bool(equally_many or spent.max() - spent.min() < trials["budget"].max())


def _table(task: str, summary: DataFrame, methods: Sequence[str], planned: Planned) -> Table:
    regret = len(summary) > 0 and bool(summary["regret_mean"].notna().any())
    shown = ["best", "regret"] if regret else ["best"]
    shown += ["test"] if len(summary) and summary["test_mean"].notna().any() else []
    interval = interval_name(summary["n"][summary["n"] > 1] >= SEEDS_FOR_INTERVAL) if len(summary) else "range"
    head = ["method", "n of seeds", *(f"{MEASURES[name]}: mean [{interval}]" for name in shown)]
    head += ["heavy runs", "light runs", "training s a seed", "method s a seed"]
    rows = []
    for method in methods:
        mine = summary[summary["method"] == method] if len(summary) else summary
        if not len(mine) and (task, method) in planned:
            rows.append((method, f"0 of {planned[task, method]}", *["–"] * (len(head) - 2)))
        for _, row in mine.iterrows():
            seeds = max(planned.get((task, method), 0), row["seeds"])
            cells = [row["label"], f"{row['n']} of {seeds}", *(mean_text(row, name) for name in shown)]
            cells += [str(row[name]) for name in ("heavy_runs", "light_runs")]
            rows.append((*cells, *(number(row[name], 4) for name in ("train_seconds", "method_seconds"))))
    return Table(f"{task}: what each method reached", tuple(head), tuple(rows), "l" + "r" * (len(head) - 1))
