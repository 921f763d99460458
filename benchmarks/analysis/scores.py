"""What a run is worth as one number, alone and on a scale that tasks share.

Definitions
-----------
score
    What a run has reached at its end, or at a common cost. The regret where the task's optimum is
    known, else the best value so far; smaller is better. A regret below `REGRET_FLOOR` is 0: methods
    that have found an optimum tie. A run without a heavy result by then has the score infinity: it ran
    and found nothing.
normalized score
    (score - best) / (start - best): `best` is the task's optimum where it is known, else the smallest
    value that any run of the task has reached; `start` is the mean over all runs of the task of what
    their first heavy result was worth. So 1 is what the methods that are compared have after their first
    heavy run, on average, and 0 is the best there is, whatever the unit of the task. Tasks are not
    equally hard on this scale: one with large scores can fall out of an interquartile mean over
    all of them, so look at the mean as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from benchmarks.analysis.aggregate import AXES, IDENTITY, MEASURES
from benchmarks.analysis.intervals import RESAMPLING, Resampling, check_choice, statistic_of, stratified_interval

REGRET_FLOOR = 1e-9  # a logarithm has no zero, and below this a regret is rounding
FEW_TASKS = 5  # with fewer, what is said across tasks is warned of


def judged(states: DataFrame, measure: str | None = None) -> Series:
    """The column to judge runs by: `measure`, or of each task the regret where it is known, else the value.

    A regret that is rounding is 0.

    Raises
    ------
    ValueError
        If `measure` is not one of those named, or a heavy result has none on record: it would count as no result.
    """
    regret = states["regret"].mask(states["regret"].abs() < REGRET_FLOOR, 0.0)
    if measure is None:
        known = regret.notna().groupby(states["task"]).transform("any")
        return regret.where(known, states["value"])
    check_choice("measure", measure, MEASURES)
    lacking = states[states["value"].notna() & states[measure].isna()]
    if len(lacking):
        runs = lacking[["label", "task"]].drop_duplicates().agg(" on ".join, axis=1)
        raise ValueError(f"measure={measure!r} is not on record of every heavy result, not of {', '.join(runs)}")
    return regret if measure == "regret" else states[measure]


def lowest(values: Series) -> Series:
    """Which values are the lowest, those included that rounding alone puts above it."""
    return pd.Series(np.isclose(values, values.min(), rtol=1e-9, atol=0.0), index=values.index)


def last_states(states: DataFrame) -> DataFrame:
    """The last state of each run, by the number in the column `run`."""
    return states.drop_duplicates("run", keep="last").set_index("run")


def scores(
    states: DataFrame, measure: str | None = None, *, against: str | None = None, at: float | None = None
) -> DataFrame:
    """The score of every run.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them.
    measure : {None, "regret", "value", "test_error"}
        None takes the regret on tasks where it is known, else the value.
    against, at : str and float, optional
        An axis of `aggregate.AXES` and a cost on it: the score is then what the run has reached at
        this cost. Without them it is what the run has reached at its end, so give finished runs.

    Returns
    -------
    DataFrame
        One row per run: task, data, method, hash, label, seed, score and `normalized`, which is False;
        a score is infinity for a run without a heavy result by then, nan for one that ended before `at`.

    Raises
    ------
    ValueError
        If one of `against` and `at` is given without the other, or is none of those named.
    """
    if (against is None) != (at is None):
        raise ValueError(f"against and at go together, got {against!r} and {at!r}")
    if against is not None:
        check_choice("against", against, AXES)
    runs = states.groupby([*IDENTITY, "seed"], sort=False, dropna=False).ngroup()
    rows = states.assign(score=judged(states, measure).astype(float), run=runs)
    ends = last_states(rows).sort_index()
    found = ends["score"].fillna(np.inf)
    if against is not None:
        until = last_states(rows[rows[against] <= at])["score"]
        found = until.reindex(ends.index).fillna(np.inf).mask(ends[against] < at)  # nan where it ended before
    return ends[[*IDENTITY, "seed"]].assign(score=found, normalized=False).reset_index(drop=True)


def common_cost(states: DataFrame, against: str) -> float:
    """The most of a cost that all runs have spent: where `scores` compares them as they are."""
    return states.groupby([*IDENTITY, "seed"], dropna=False)[against].last().min()


def normalized(states: DataFrame) -> DataFrame:
    """The normalized score of every run at its end.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them, of all the methods that are compared.

    Returns
    -------
    DataFrame
        As `scores`, `normalized` being True; infinity for a run without a heavy result.

    Raises
    ------
    ValueError
        If no run of a task improves on its first heavy result, so that there is no scale.
    """
    table = scores(states)
    y = judged(states)
    for task, runs in table.groupby("task"):
        rows = states["task"] == task
        first = y[rows & y.notna()].groupby([states["label"], states["seed"]]).first()
        best = 0.0 if states.loc[rows, "regret"].notna().any() else y[rows].min()
        start = first.mean()
        if not start > best:
            raise ValueError(f"task {task!r} gives no scale: no run has a worse first heavy result than its best")
        table.loc[runs.index, "score"] = (runs["score"] - best) / (start - best)
    return table.assign(normalized=True)


def on_one_scale(table: DataFrame) -> bool:
    """Whether scores may be subtracted from each other: they are of one task, or normalized."""
    return table["task"].nunique() < 2 or bool(table["normalized"].all())


def across_tasks(
    table: DataFrame,
    statistic: str = "iqm",
    *,
    task_of: Mapping[str, str] | None = None,
    resampling: Resampling = RESAMPLING,
) -> DataFrame:
    """A statistic of each method over all runs of all tasks, with an interval stratified by task.

    Parameters
    ----------
    table : DataFrame
        As `normalized` returns it. Methods are matched across tasks by their label. Only tasks
        count on which every method has a run; the others are warned of.
    statistic : {"mean", "median", "iqm"}
        Over the runs of all tasks together: a task with more seeds weighs more.
    task_of : mapping of str to str, optional
        As in `distinct`.
    resampling : Resampling
        Of the intervals.

    Returns
    -------
    DataFrame
        One row per label, the best first: label, tasks, dropped (tasks left out), n (runs),
        statistic, score, low, high. A run that found nothing makes a mean infinite; then, as where a
        task has one seed only, there is no interval (nan).

    Raises
    ------
    ValueError
        If there is no such statistic, the scores are of several tasks and not normalized, or there is no
        task on which every method has a run.

    Warns
    -----
    UserWarning
        If tasks are left out, or fewer than 5 distinct ones remain.
    """
    function = statistic_of(statistic)
    if not on_one_scale(table):
        raise ValueError("table must hold the scores of several tasks on one scale, as `normalized` returns them")
    counts = table.groupby(["task", "label"]).size().unstack(fill_value=0)
    complete = counts.index[(counts > 0).all(axis=1)]
    dropped = len(counts) - len(complete)
    if complete.empty:
        raise ValueError(f"no task has runs of all of {', '.join(counts.columns)}")
    if dropped:
        warnings.warn(f"left out {dropped} of {len(counts)} tasks: a method has no run there", stacklevel=2)
    warn_of_few_tasks(distinct(complete, task_of), stacklevel=3)
    rows = []
    for label, runs in table[table["task"].isin(complete)].groupby("label"):
        strata = [one["score"].to_numpy() for _, one in runs.groupby("task")]
        everything = np.concatenate(strata)
        finite = np.isfinite(everything).all()
        low, high = np.nan, np.nan
        if finite:
            low, high = stratified_interval(strata, statistic, resampling)
        rows.append(
            {
                "label": label,
                "tasks": len(strata),
                "dropped": dropped,
                "n": len(everything),
                "statistic": statistic,
                "score": float(function(everything)),
                "low": low,
                "high": high,
            }
        )
    return pd.DataFrame(rows).sort_values("score", kind="stable", ignore_index=True)


def distinct(tasks: Iterable[str], task_of: Mapping[str, str] | None = None) -> int:
    """How many distinct tasks there are.

    Parameters
    ----------
    tasks : iterable of str
        As the column `task` of a table names them.
    task_of : mapping of str to str, optional
        Of those that are one task in several settings (budgets, parameters): the task. It is counted
        once, for more settings of one task say nothing about other tasks.
    """
    return len({(task_of or {}).get(task, task) for task in tasks})


def few_tasks(count: int) -> str | None:
    """What is to be said where statistics across tasks rest on fewer than 5; None where they do not."""
    if count >= FEW_TASKS:
        return None
    return f"{count} task{'s' if count > 1 else ''} only, fewer than {FEW_TASKS}: this says little about other tasks"


def warn_of_few_tasks(count: int, *, stacklevel: int = 2) -> None:
    """Warn where statistics across tasks rest on fewer than 5."""
    text = few_tasks(count)
    if text:
        warnings.warn(text, stacklevel=stacklevel)
