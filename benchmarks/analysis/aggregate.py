"""Curves and final tables of methods: pure functions on the DataFrame that `records.load` gives.

Definitions
-----------
Those of `incumbents.py`, and

curve
    A step that holds the last result, and is never interpolated. That of a run is undefined (nan) before its first
    heavy result. That of a method is over the same seeds all along, those that have a heavy result: it begins where
    the last of them has its first, and a seed that has ended keeps its last value. So a mean of best values never
    rises: seeds that come and go would let it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from benchmarks.analysis.incumbents import METHOD, RUN, heavy_results, incumbents
from benchmarks.analysis.intervals import RESAMPLING, STATISTICS, Resampling, check_choice, interval, statistic_of

IDENTITY = ["task", "data", "method", "hash", "label"]
AXES = ("heavy_runs", "heavy_equivalents", "train_seconds", "time")
MEASURES = ("value", "regret", "test_error")


def aggregate(
    curves: DataFrame,
    against: str = "heavy_runs",
    measure: str = "regret",
    *,
    statistic: str = "mean",
    resampling: Resampling = RESAMPLING,
) -> DataFrame:
    """Statistics over the seeds of each method, at every step of any seed, and just after the end of one.

    Give runs that are done: one that is not has less than its budget, and would keep a value that it improves yet.

    Parameters
    ----------
    curves : DataFrame
        As `incumbents` returns them.
    against : {"heavy_runs", "heavy_equivalents", "train_seconds", "time"}
        The cost on the horizontal axis.
    measure : {"regret", "value", "test_error"}
        What to average.
    statistic : {"mean", "median", "iqm"}
        What the interval is of.
    resampling : Resampling
        Of the intervals.

    Returns
    -------
    DataFrame
        task, data, method, hash, label, `against`, seeds (of the method), n (those with a heavy result; 0 at steps
        before all of them have their first), ended (how many of these ended before this step), mean, median, iqm,
        q25, q75; `statistic` and its interval, low and high. All statistics are over the n seeds, nan where n is 0.

    Raises
    ------
    ValueError
        If `against`, `measure` or `statistic` is not one of those named.
    """
    check_choice("against", against, AXES)
    check_choice("measure", measure, MEASURES)
    statistic_of(statistic)

    names = [*STATISTICS, "q25", "q75", "low", "high"]
    columns = [*IDENTITY, against, "seeds", "n", "ended", *names[:-2], "statistic", *names[-2:]]
    parts = []
    for identity, group in curves.groupby(IDENTITY, sort=False, dropna=False):
        steps = [(run[against].to_numpy(float), run[measure].to_numpy()) for _, run in group.groupby("seed")]
        found = [(x, y) for x, y in steps if not np.isnan(y).all()]
        grid = np.unique(np.concatenate([x for x, _ in steps]))
        ends = np.array([x[-1] for x, _ in found])
        if against != "heavy_runs":  # between two of which there is nothing
            grid = np.union1d(grid, np.nextafter(ends[ends < grid[-1]], np.inf))
        numbers, n = np.full((len(grid), len(names)), np.nan), np.zeros(len(grid), dtype=int)
        if found:
            held = np.column_stack([hold(x, y, np.minimum(grid, x[-1])) for x, y in found])
            there = ~np.isnan(held).any(axis=1)
            numbers[there], n[there] = _statistics(held[there], statistic, resampling), len(found)
        parts.append(
            pd.DataFrame(
                {
                    **dict(zip(IDENTITY, identity, strict=True)),
                    against: grid,
                    "seeds": len(steps),
                    "n": n,
                    "ended": (ends[:, None] < grid).sum(axis=0),
                    **dict(zip(names, numbers.T, strict=True)),
                    "statistic": statistic,
                }
            )[columns]
        )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def readings(curves: DataFrame, against: str, costs: Sequence[float]) -> DataFrame:
    """What each method has at some costs, as read off its curve.

    Parameters
    ----------
    curves : DataFrame
        As `aggregate` returns it, against `against`.
    costs : sequence of float

    Returns
    -------
    DataFrame
        One row a task, method (hash) and cost: task, data, method, hash, label, `against`, the statistic of the
        curves, low, high. The numbers are nan before a curve begins and where a seed of it has ended.
    """
    names = [*curves["statistic"].unique(), "low", "high"]
    rows = []
    for identity, curve in curves.groupby(IDENTITY, sort=False, dropna=False):
        for cost in costs:
            steps = curve[curve[against] <= cost]
            known = len(steps) and not steps["ended"].any() and cost <= curve[against].max()
            rows.append([*identity, cost, *(steps[names].iloc[-1] if known else [math.nan] * len(names))])
    return pd.DataFrame(rows, columns=[*IDENTITY, against, *names])


def _statistics(samples: np.ndarray, statistic: str, resampling: Resampling) -> np.ndarray:
    """Statistics, quartiles and interval of each row of samples, which share their resamples as whole curves do."""
    # Most trials improve nothing, so that most steps repeat the one before.
    new = np.append(True, np.any(samples[1:] != samples[:-1], axis=1))
    distinct = samples[new]
    points = [function(distinct, axis=1) for function in STATISTICS.values()]
    quartiles = np.quantile(distinct, [0.25, 0.75], axis=1)
    numbers = np.column_stack([*points, *quartiles, *interval(distinct, statistic, resampling)])
    return numbers[np.cumsum(new) - 1]


def summary(frame: DataFrame, *, statistic: str = "mean", resampling: Resampling = RESAMPLING) -> DataFrame:
    """What each method reached and what it cost: the table at the end of a run.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them. A run that is not finished counts with what it has.
    statistic : {"mean", "median", "iqm"}
        What the intervals are of.
    resampling : Resampling
        Of the intervals.

    Returns
    -------
    DataFrame
        One row per task and method (hash): task, data, method, hash, label; seeds (with a trial
        on record) and n (with a heavy result); over these n the statistics of the best observed
        value (best_mean, best_median, best_iqm) with the interval of the one asked for (best_low,
        best_high), and the same of the final regret (regret_mean to regret_high; nan where the
        optimum is not known), and of the test error at the incumbent (test_mean to test_high; over those where
        it was measured). With noise the best observed value flatters, the regret does not.
        Then light_runs, heavy_runs, failed_runs:
        totals over the seeds, failed runs of either level counted in their level too, and those that a budget of
        training cut short; and heavy_equivalents, train_seconds (that the runs are charged, see `incumbents`),
        method_seconds: the mean per seed, of the last two with totals over the seeds in train_seconds_total and
        method_seconds_total.

    Raises
    ------
    ValueError
        If there is no such statistic; and as `incumbents`.
    """
    statistic_of(statistic)
    states = incumbents(frame)
    trials = frame.groupby(METHOD)
    rows = []
    for identity, group in states.groupby(METHOD):
        last = group.groupby("seed").last(skipna=False)
        mine = trials.get_group(identity)
        heavy = mine["heavy"].astype(bool)
        row = {
            "task": identity[0],
            "data": group["data"].iloc[0],
            "method": identity[1],
            "hash": identity[2],
            "label": group["label"].iloc[0],
            "seeds": len(last),
            "n": int(last["value"].notna().sum()),
        }
        for name, measure in (("best", "value"), ("regret", "regret"), ("test", "test_error")):
            final = last[measure].dropna().to_numpy()
            for each, function in STATISTICS.items():
                row |= {f"{name}_{each}": float(function(final)) if final.size else np.nan}
            low, high = interval(final, statistic, resampling)
            row |= {f"{name}_low": float(low), f"{name}_high": float(high)}
        row |= {
            "light_runs": int((~heavy).sum()),
            "heavy_runs": int(heavy.sum()),
            "failed_runs": int((mine["status"] != "ok").sum()),
            "heavy_equivalents": float(last["heavy_equivalents"].mean()),
        }
        totals = {"train_seconds": last["train_seconds"].sum(), "method_seconds": mine["method_seconds"].sum()}
        for name, total in totals.items():
            row |= {name: float(total) / len(last), f"{name}_total": float(total)}
        rows.append(row)
    return pd.DataFrame(rows)


def without_result(frame: DataFrame) -> list[str]:
    """A line for every run without a heavy result: method, seed and why."""
    return [f"{method}, seed {seed}: {why}" for (_, method, _, seed), why in reasons_without_result(frame).items()]


def reasons_without_result(frame: DataFrame) -> dict[tuple[str, str, str, int], str]:
    """By run, of task, method, hash and seed, why it has no heavy result; only of those without one."""
    reasons: dict[Any, str] = {}
    results = heavy_results(frame)
    for run, rows in frame.groupby(RUN, sort=False):
        if not results[frame.index.get_indexer(rows.index)].any():
            errors = rows["error"].dropna()
            why = "none succeeded" + (f", the last with: {errors.iloc[-1]}" if len(errors) else "")
            if (rows["heavy"] & (rows["status"] == "ok")).any():
                why = f"none within budget.train_seconds={rows['train_budget'].iloc[0]:g}"
            reasons[run] = f"{rows['heavy'].sum()} heavy trials, {why}"
    return reasons


def hold(x: np.ndarray, y: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """A step curve read at `grid`: the last y at or before each point, nan outside of [x[0], x[-1]].

    Parameters
    ----------
    x, y : ndarray, shape (k,)
        The curve; x does not decrease, and of equal x the last counts.
    grid : ndarray, shape (m,)
    """
    last = np.searchsorted(x, grid, side="right") - 1
    return np.where((last >= 0) & (grid <= x[-1]), y[last], np.nan)
