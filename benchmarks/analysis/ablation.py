"""What each choice in BTAO is worth: one option at a time is changed around its defaults.

Definitions
-----------
variant
    BTAO with one option changed; its label names the option and the value, as `light_per_heavy=4`.
    Two bounds that make one model count as one option. See `benchmarks.analysis.variants`.
cost
    Heavy runs, or heavy equivalents: iterations of all runs, light ones too, divided by those of a heavy run.
    Options that buy information with light runs have to be judged by the second.
effect
    Variant against default on the same task and seed, at the same cost: the difference of their regrets,
    and the difference of the decimal logarithms of their regrets, in decades. Negative: the variant is better.
    A regret below `REGRET_FLOOR` counts as that in the logarithm. Where the truth is known, decades are
    the measure. On measured errors it is the difference, which is that of the errors too: there the
    best of few recorded configurations has a regret of exactly 0, and decades would tell how often it was hit.
tie
    A seed on which both are equal. Where all seeds are ties nothing can be told: there is no interval.
pairing
    `candidates`, `square_root_beta` and the bounds leave the start as it is, so pairs share it trial by
    trial. `light_per_heavy`, `n_init` and `start` change the start itself: there a pair shares no more than
    its seed, and its interval is as wide as that of independent samples.
start
    The default one is a nested Latin hypercube, of 50 the best spread. With `start=random` the heavy runs
    are among the light ones as well; what it lacks are the strata and the spread, and which of
    them an effect comes from cannot be told.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.intervals import RESAMPLING, Resampling, check_choice, interval
from benchmarks.analysis.scores import REGRET_FLOOR, judged, last_states
from benchmarks.analysis.variants import DEFAULT, METHOD, label, variants

EQUAL_COSTS = ("heavy_runs", "heavy_equivalents")  # of which variants have spent the same when they are compared


def labels(trials: DataFrame) -> Series:
    """The label of every trial, by its column `parameters`.

    Raises
    ------
    ValueError
        If a trial is of another method, or its parameters are not on record.
    """
    others = set(trials["method"]) - {METHOD}
    if others or trials["parameters"].isna().any():
        raise ValueError(
            f"an ablation is of {METHOD} with its parameters on record: got trials of {', '.join(sorted(others))}"
            if others
            else "the frame has trials whose parameters are not on record: run them again"
        )
    return trials["parameters"].map({each: label(json.loads(each)) for each in trials["parameters"].unique()})


def regrets(trials: DataFrame, cost: str, at: float) -> DataFrame:
    """The regret of every run at one cost.

    Parameters
    ----------
    trials : DataFrame
        As `records.load` returns them, of BTAO alone.
    cost : {"heavy_runs", "heavy_equivalents"}
    at : float
        How much of it.

    Returns
    -------
    DataFrame
        One row a run: task, label, seed, regret (nan where the run has no result at this cost, or has
        ended before it).

    Raises
    ------
    ValueError
        If `cost` is none of these, or runs of several configurations (budgets, threads, data) have
        one label; and as `labels` and `incumbents`.
    """
    return _reached(_states(trials, cost), cost, at)


def common_end(trials: DataFrame, cost: str) -> Series:
    """The most of a cost that all runs of a variant and of the default have reached, by task and label.

    Of the seeds that both have; without one, or without runs of the default, the variant is left out.
    Parameters, errors: as in `regrets`.
    """
    return _common_end(_states(trials, cost), cost)


def _common_end(states: DataFrame, cost: str) -> Series:
    ends: Any = states.groupby(["task", "seed", "label"])[cost].max().unstack("label")
    if DEFAULT not in ends:
        return ends.iloc[:0].stack()
    pairs = ends.drop(columns=DEFAULT).apply(lambda mine: np.minimum(mine, ends[DEFAULT]))  # nan without a partner
    return pairs.groupby("task").min().stack().dropna().rename_axis(["task", "label"])


def first_proposal(trials: DataFrame, cost: str) -> float:
    """What the default has spent on one task, in the median, with its first heavy run beyond the start.

    A start is light runs, then heavy ones; the first light run after them ends it.
    Parameters: as in `regrets`.

    Raises
    ------
    ValueError
        As `regrets`, and if no run of the default goes beyond its start.
    """
    return _first_proposal(_states(trials, cost), cost)


def _first_proposal(states: DataFrame, cost: str) -> float:
    spent = []
    for _, run in states[states["label"] == DEFAULT].groupby("seed"):
        heavy = np.diff(run["heavy_runs"], prepend=0) > 0
        begun = np.logical_or.accumulate(~heavy & (run["heavy_runs"] > 0).to_numpy())
        if (heavy & begun).any():
            spent.append(run[cost].to_numpy(float)[(heavy & begun).argmax()])
    if not spent:
        raise ValueError("no run of the default has a heavy run beyond its start: give it a larger budget")
    return float(np.median(spent))


def effects(trials: DataFrame, cost: str, at: float | Series, resampling: Resampling = RESAMPLING) -> DataFrame:
    """Each variant against the default, paired by seed.

    Parameters
    ----------
    trials, cost
        As in `regrets`.
    at : float or Series
        How much of it, for all variants or by task and label, as `common_end` returns it.
    resampling : Resampling
        Of the intervals.

    Returns
    -------
    DataFrame
        One row a task and variant, in the order of `variants`: task, label, cost, at; n (seeds that
        both have a result of at this cost) and missing (seeds of the variant that are left out);
        median regrets of variant and default (`regret`, `default`); mean and interval of the paired
        differences of regrets (difference, difference_low, difference_high) and of their logarithms
        (decades, decades_low, decades_high); `measure`, which of the two is to be read on this task,
        and that again as value, low, high; and the seeds on which the variant is better, equal and worse by
        this measure. Where all n are equal there is no interval: low and high are nan.

    Raises
    ------
    ValueError
        As `regrets`, and if a task has no runs of the default.
    """
    return _effects(_states(trials, cost), cost, at, _known(trials), resampling)


def at_moments(trials: DataFrame, resampling: Resampling = RESAMPLING) -> DataFrame:
    """`effects` of each task at both costs and at each of `MOMENTS`, which its column `moment` names.

    Parameters, errors: as in `effects`, and as in `first_proposal`.
    """
    known = _known(trials)
    parts = [
        _effects(states, cost, at(states, cost), known, resampling).assign(moment=moment)
        for _, states in _states(trials).groupby("task")
        for moment, at in MOMENTS.items()
        for cost in EQUAL_COSTS
    ]
    return pd.concat(parts, ignore_index=True)


def _known(trials: DataFrame) -> Series:
    """By task whether the truth is known."""
    return trials["truth"].notna().groupby(trials["task"]).any()


def _effects(states: DataFrame, cost: str, at: float | Series, known: Series, resampling: Resampling) -> DataFrame:
    rows = []
    for task, of_task in states.groupby("task"):
        runs = of_task.groupby("label")["seed"].nunique()
        if DEFAULT not in runs:
            raise ValueError(f"task {task!r} has no runs of the default: there is nothing to compare with")
        measure = "decades" if known[task] else "difference"
        ordered = [name for name in variants() if name in runs] + sorted(set(runs.index) - set(variants()))
        of_label, of_default = dict(tuple(of_task.groupby("label"))), dict[float, Series]()
        for name in ordered[1:]:
            spent = float(at.get((task, name), np.nan)) if isinstance(at, pd.Series) else at
            if spent not in of_default:  # most variants are read at the same cost
                of_default[spent] = _reached(of_label[DEFAULT], cost, spent).set_index("seed")["regret"]
            both = [_reached(of_label[name], cost, spent).set_index("seed")["regret"], of_default[spent]]
            pairs = pd.concat(both, axis="columns", join="inner", keys=[name, DEFAULT]).dropna().sort_index()
            mine, default = pairs[name].to_numpy(), pairs[DEFAULT].to_numpy()
            decades = np.log10(np.maximum(mine, REGRET_FLOOR)) - np.log10(np.maximum(default, REGRET_FLOOR))
            paired = {"difference": mine - default, "decades": decades}
            row = {"task": task, "label": name, "cost": cost, "at": spent}
            row |= {"n": len(pairs), "missing": int(runs[name]) - len(pairs)}
            row |= {"regret": _median(mine), "default": _median(default)}
            for each, values in paired.items():
                numbers = _mean(values, resampling)
                row |= dict(zip((each, f"{each}_low", f"{each}_high"), numbers, strict=True))
            row |= {"measure": measure, "value": row[measure]}
            row |= {end: row[f"{measure}_{end}"] for end in ("low", "high")}
            signs = np.sign(paired[measure])
            row |= {word: int((signs == sign).sum()) for word, sign in (("better", -1), ("equal", 0), ("worse", 1))}
            rows.append(row)
    return pd.DataFrame(rows)


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else np.nan


def _mean(values: np.ndarray, resampling: Resampling) -> tuple[float, float, float]:
    """A mean with its interval, which there is none of where all values are 0."""
    if not len(values):
        return np.nan, np.nan, np.nan
    if not values.any():
        return 0.0, np.nan, np.nan
    low, high = interval(values, resampling=resampling)
    return float(values.mean()), float(low), float(high)


def _states(trials: DataFrame, cost: str = EQUAL_COSTS[0]) -> DataFrame:
    """The states of all runs after each of their trials, labeled as by `labels`; `cost` must be one of their columns.

    Numbers in the column `run` tell the runs apart.
    """
    check_choice("cost", cost, EQUAL_COSTS)
    one = trials.drop_duplicates(["method", "hash", "parameters"])
    names = dict(zip(one["hash"], labels(one), strict=True))
    states = incumbents(trials)
    states = states.assign(label=states["hash"].map(names), regret=judged(states, "regret"))
    states["run"] = states.groupby(["task", "label", "seed"], sort=False).ngroup()
    for (task, name), rows in states.groupby(["task", "label"])["hash"]:
        if len(hashes := rows.unique()) > 1:
            raise ValueError(
                f"task {task!r} has runs of several configurations with the label {name!r}: hashes "
                f"{', '.join(sorted(hashes))}; they differ in budget, threads or data, select the rows of one"
            )
    return states[["task", "label", "seed", "run", *EQUAL_COSTS, "regret"]]


def _reached(states: DataFrame, cost: str, at: float) -> DataFrame:
    """As `regrets`."""
    ends, until = last_states(states), last_states(states[states[cost] <= at])["regret"]
    regret = until.reindex(ends.index).mask(ends[cost] < at)
    return ends[["task", "label", "seed"]].assign(regret=regret).reset_index(drop=True)


# Where effects are read: from states of one task and a cost to how much of it.
MOMENTS: dict[str, Callable[[DataFrame, str], float | Series]] = {
    "first proposal": _first_proposal,
    "end": _common_end,
}
