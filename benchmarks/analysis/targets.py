"""What it costs to reach a target, and how much faster one method is than another.

Definitions
-----------
median
    Of costs and of targets: the smallest that more than half of the runs are at or below. Of an even
    number of runs it is the upper of the two in the middle, and it is always the number of one run, as
    there is nothing between a finite cost and an infinite one.
cost to a target
    What a run had spent, the trial included, when it first was at or below the target; a regret below
    `scores.REGRET_FLOOR` is below any target above 0. A run that has not reached it counts as infinite in every
    statistic, and what it has spent is given beside: a run that ended early is thereby judged as if it never
    would have.
half-way
    A target taken from B: the median over its seeds of what they have reached at half of their own
    cost, so that more than half of B's runs have reached it by then. The paper's comparisons in "the
    middle training period" are at this target; at the share 1 of B's cost it is "the best that B reaches".
speed-up of A over B
    B's median cost to the target divided by A's. It is infinite where only A's is finite, 0 where only
    B's is, and undefined (nan) where neither is. At the share 1 even a method that is as good as B has
    about an even chance of 0: half of its runs, more or less, end at the target. Read its interval.
speed-up over tasks
    The median of those of the tasks that have one, so that none of them decides alone, be it infinite or 0. Of an even
    number of tasks it is the lower of the two in the middle.

Intervals are percentile bootstrap intervals (`intervals.py`) in which the seeds of A and of B are
resampled independently and, where the target is taken from B, it is taken again from each resample. For two
methods that are alike, of 6, 10, 20 or 30 seeds, three kinds of curves and both shares, they then
cover 1 in 95.0% to 99.5% of 400 simulated comparisons; with the target held as known it is 97.0% to 100%.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from benchmarks.analysis.aggregate import AXES, IDENTITY, hold
from benchmarks.analysis.intervals import RESAMPLING, Resampling, check_choice, widened_tail, wilson
from benchmarks.analysis.scores import judged


def costs(states: DataFrame, target: float | Mapping[str, float], measure: str | None = None) -> DataFrame:
    """The cost of every run to a target, on each axis.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them.
    target : float, or mapping of task to float
        What is to be reached; smaller is better.
    measure : {None, "regret", "value", "test_error"}
        None takes the regret on tasks where it is known, else the value. A regret may rise again
        with noise: it is reached when it first is at the target.

    Returns
    -------
    DataFrame
        One row per run: task, data, method, hash, label, seed, target, reached; heavy_runs,
        heavy_equivalents, train_seconds, time: the cost to the target where reached, else
        what the run has spent without reaching it.

    Raises
    ------
    ValueError
        If a task has no target or one that is nan, or `measure` is not one of those named.
    """
    targets = _targets(states, target)
    y = judged(states, measure)
    rows = []
    for (*identity, seed), run in states.groupby([*IDENTITY, "seed"], sort=False, dropna=False):
        (at,) = _first(y[run.index].to_numpy(float), np.array([targets[identity[0]]]))
        rows.append([*identity, seed, targets[identity[0]], bool(at >= 0), *run.iloc[at][list(AXES)]])
    return pd.DataFrame(rows, columns=[*IDENTITY, "seed", "target", "reached", *AXES])


def reach(table: DataFrame, against: str = "time", resampling: Resampling = RESAMPLING) -> DataFrame:
    """How many runs of each method reach the target, and at what cost.

    Parameters
    ----------
    table : DataFrame
        As `costs` returns it.
    against : {"heavy_runs", "heavy_equivalents", "train_seconds", "time"}
    resampling : Resampling

    Returns
    -------
    DataFrame
        One row per task and method: task, data, method, hash, label, target, against, seeds,
        reached (how many), share with its interval share_low, share_high (Wilson's); median (the
        cost) with its bootstrap interval low, high (nan for one seed), and spent: the least that a run
        without success has spent, nan where all have reached it.

    Raises
    ------
    ValueError
        If `against` is not one of those named.
    """
    check_choice("against", against, AXES)
    rows = []
    for identity, runs in table.groupby([*IDENTITY, "target"], sort=False, dropna=False):
        n, reached = len(runs), int(runs["reached"].sum())
        share_low, share_high = wilson(reached, n, resampling.confidence)
        cost = runs[against].astype(float).where(runs["reached"], np.inf).to_numpy()
        medians = _median(cost[np.random.default_rng(resampling.seed).integers(n, size=(resampling.resamples, n))])
        low, high = _ends(medians, [n], resampling)
        rows.append(
            {
                **dict(zip([*IDENTITY, "target"], identity, strict=True)),
                "against": against,
                "seeds": n,
                "reached": reached,
                "share": reached / n,
                "share_low": share_low,
                "share_high": share_high,
                "median": float(_median(cost)),
                "low": low,
                "high": high,
                "spent": runs.loc[~runs["reached"], against].min(),
            }
        )
    return pd.DataFrame(rows)


def target_of(
    states: DataFrame, label: str, share: float = 0.5, against: str = "time", measure: str | None = None
) -> float:
    """What a method has reached at a share of its cost: the median over its seeds, each at that share of its own.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them, of one task.
    label : str
        The method.
    share : float
        In (0, 1]: 0.5 is half-way, 1 the end.
    against, measure
        As in `speed_ups`.

    Returns
    -------
    float
        Infinity where no more than half of the runs have a heavy result by then.

    Raises
    ------
    ValueError
        If an argument is none of those named, or there are no runs of the method or several tasks.
    """
    return float(_median(_reached(_steps(states, label, against, measure), share)))


def speed_up(
    of: np.ndarray, over: np.ndarray, reached: np.ndarray | None = None, resampling: Resampling = RESAMPLING
) -> dict[str, float]:
    """The speed-up of one method over another, from what their runs cost to the targets that may be taken.

    Parameters
    ----------
    of, over : ndarray, shape (n, k) and (m, k)
        The cost of each run of A and of B to each of k targets in ascending order, infinite where it
        has not reached it.
    reached : ndarray of int, shape (m,), optional
        Which of the targets each run of B has reached at the share of its cost: the target is the median of
        them, in every resample of B's seeds that of the resample. Without it, k is 1 and the target is known.
    resampling : Resampling
        A resample in which neither median is finite says nothing about the
        ratio: it counts as 0 for the low end and as infinity for the high end.

    Returns
    -------
    dict
        speed_up; low, high, its interval (nan where a method has one seed); n, n_over, the seeds of A
        and B; reached, reached_over, how many of them reach the target; undefined, the share of
        resamples that say nothing.
    """
    n, m = len(of), len(over)
    reached = np.zeros(m, dtype=int) if reached is None else reached
    target = _median(reached)
    ratios = _resampled(of, over, reached, resampling)
    low, high = _ends(ratios, [n, m], resampling)
    return {
        "speed_up": _at(of, over, target),
        "low": low,
        "high": high,
        "n": n,
        "n_over": m,
        "reached": int(np.isfinite(of[:, target]).sum()),
        "reached_over": int(np.isfinite(over[:, target]).sum()),
        "undefined": float(np.isnan(ratios).mean()),
    }


def speed_ups(
    states: DataFrame,
    of: str,
    against: str = "time",
    *,
    target: float | Mapping[str, float] | None = None,
    share: float = 0.5,
    measure: str | None = None,
    resampling: Resampling = RESAMPLING,
) -> DataFrame:
    """The speed-up of one method over every other, on every task.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them.
    of : str
        Label of the method A.
    against : {"heavy_runs", "heavy_equivalents", "train_seconds", "time"}
    target : float, or mapping of task to float, optional
        What is to be reached. Without it: what the other method, B, has reached at `share` of
        its cost.
    share : float
        In (0, 1]: 0.5 is half-way, 1 the end of B.
    measure : {None, "regret", "value", "test_error"}
        None takes the regret on tasks where it is known, else the value.
    resampling : Resampling
        As in `speed_up`.

    Returns
    -------
    DataFrame
        One row per task and other method: task, of, over, against, target, share (nan where the
        target is given) and what `speed_up` returns. Where the target is infinite (see `target_of`),
        any heavy result reaches it.

    Raises
    ------
    ValueError
        If an argument is none of those named, a task has no target or one that is nan, or no runs of A.
    """
    check_choice("against", against, AXES)
    given = None if target is None else _targets(states, target)
    rows = []
    for task, here in states.groupby("task"):
        mine = _steps(here, of, against, measure)
        for over in here["label"].unique():
            if over == of:
                continue
            other = _steps(here, over, against, measure)
            ends = np.array([given[task]] * len(other)) if given else _reached(other, share)
            result = speed_up(*_spent(mine, other, ends), resampling)
            row = {"task": task, "of": of, "over": over, "against": against, "target": float(_median(ends))}
            rows.append(row | {"share": np.nan if given else share} | result)
    return pd.DataFrame(rows)


def speed_ups_over_tasks(
    states: DataFrame, of: str, against: str = "time", *, share: float = 0.5, resampling: Resampling = RESAMPLING
) -> DataFrame:
    """The speed-up of one method over every other, over all tasks on which both have runs.

    Parameters
    ----------
    states, of, against, share
        As in `speed_ups`; methods are matched across tasks by their label.
    resampling : Resampling
        A resample takes the seeds of both methods, and the target, anew on each task: the interval is for these tasks,
        and that of one task is `speed_up`'s. Other methods and tasks do not change what is taken. A resample in which
        no task says anything counts as in `speed_up`.

    Returns
    -------
    DataFrame
        One row per other method that has runs on a task of A's: of, over, against, share, tasks (on which there is a
        speed-up), speed_up (see above; nan where there is none), low, high (nan where a method has one seed on a task).

    Raises
    ------
    ValueError
        If an argument is none of those named, or there are no runs of A.
    """
    check_choice("against", against, AXES)
    if of not in set(states["label"]):
        raise ValueError(f"of must be one of {', '.join(states['label'].unique())}, got {of!r}")
    rows = []
    for over in (label for label in states["label"].unique() if label != of):
        points, resamples, seeds = [], [], []
        for task, here in states[states["label"].isin([of, over])].groupby("task"):
            if here["label"].nunique() < 2:
                continue
            mine, other = (_steps(here, label, against, None) for label in (of, over))
            a, b, reached = _spent(mine, other, _reached(other, share))
            points.append(_at(a, b, _median(reached)))
            # In an order of the task's own: tasks of as many seeds would else take the same of them in each resample.
            order = np.random.default_rng([resampling.seed, *str(task).encode()])
            resamples.append(order.permutation(_resampled(a, b, reached, resampling)))
            seeds += [len(a), len(b)]
        if not points:
            continue
        low, high = _ends(_middle(np.array(resamples)), seeds, resampling)
        row = {"of": of, "over": over, "against": against, "share": share, "tasks": int((~np.isnan(points)).sum())}
        rows.append(row | {"speed_up": float(_middle(np.array(points))), "low": low, "high": high})
    return pd.DataFrame(rows)


def _at(of: np.ndarray, over: np.ndarray, target: np.ndarray) -> float:
    """The speed-up to one of the targets, see `speed_up`."""
    return float(_ratio(_median(over[:, target]), _median(of[:, target])))


def _resampled(of: np.ndarray, over: np.ndarray, reached: np.ndarray, resampling: Resampling) -> np.ndarray:
    """The speed-up in each resample of the seeds of both, see `speed_up`; nan where neither median is finite."""
    n, m, resamples = len(of), len(over), resampling.resamples
    generator = np.random.default_rng(resampling.seed)
    b, a = generator.integers(m, size=(resamples, m)), generator.integers(n, size=(resamples, n))
    targets = _median(reached[b])[:, None]
    return _ratio(_median(over[b, targets]), _median(of[a, targets]))


def _targets(states: DataFrame, target: float | Mapping[str, float]) -> dict[Any, float]:
    """The target of every task; ValueError if one has none."""
    targets = {}
    for task in states["task"].unique():
        value = target.get(task) if isinstance(target, Mapping) else target
        if value is None or np.isnan(value):
            raise ValueError(f"target must be a number for every task, got {value} for {task!r}")
        targets[task] = value
    return targets


def _steps(states: DataFrame, label: str, against: str, measure: str | None) -> list[tuple[np.ndarray, np.ndarray]]:
    """The runs of a method on one task: the costs so far and what was reached at each."""
    check_choice("against", against, AXES)
    y = judged(states, measure)
    mine = states[states["label"] == label]
    if mine["task"].nunique() != 1:
        raise ValueError(f"states must hold runs of {label!r} on one task, got {mine['task'].nunique()} tasks")
    return [(run[against].to_numpy(float), y[run.index].to_numpy(float)) for _, run in mine.groupby("seed")]


def _reached(steps: list[tuple[np.ndarray, np.ndarray]], share: float) -> np.ndarray:
    """What each run has reached at a share of its own cost, infinity for nothing."""
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share!r}")
    reached = np.array([hold(x, y, share * x[-1:])[0] for x, y in steps])
    return np.where(np.isnan(reached), np.inf, reached)


def _first(y: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Where a curve first is at or below each target; -1 for never."""
    at = y[:, None] <= targets
    return np.where(at.any(axis=0), at.argmax(axis=0), -1)


def _costs(steps: list[tuple[np.ndarray, np.ndarray]], targets: np.ndarray) -> np.ndarray:
    """The cost of each run to each target, infinite where it is not reached."""
    first = [_first(y, targets) for _, y in steps]
    return np.array([np.where(at < 0, np.inf, x[at]) for (x, _), at in zip(steps, first, strict=True)])


def _spent(
    mine: list[tuple[np.ndarray, np.ndarray]], other: list[tuple[np.ndarray, np.ndarray]], ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The costs of the runs of A and of B to each of what B's have reached, and which of these each of B's has."""
    goals, reached = np.unique(ends, return_inverse=True)
    return _costs(mine, goals), _costs(other, goals), reached


def _median(values: np.ndarray) -> np.ndarray:
    """The median as defined at the top, along the last axis."""
    middle = values.shape[-1] // 2
    return np.partition(values, middle, axis=-1)[..., middle]


def _middle(ratios: np.ndarray) -> np.ndarray:
    """The median over tasks as defined at the top, along the first axis; nan where none has a ratio."""
    ordered = np.sort(ratios, axis=0)  # nan comes last
    known = (~np.isnan(ratios)).sum(axis=0, keepdims=True)
    return np.take_along_axis(ordered, (known - 1) // 2, axis=0)[0]


def _ends(resamples: np.ndarray, seeds: Sequence[int], resampling: Resampling) -> tuple[float, float]:
    """The percentiles at either end of samples of so many seeds, nan where one has a single seed.

    They are order statistics, as between a number and infinity there is nothing. What is nan counts at either end as
    the farthest.
    """
    if min(seeds) < 2:
        return np.nan, np.nan
    silent, tail = np.isnan(resamples), widened_tail(seeds, resampling.confidence)
    low = np.quantile(np.where(silent, 0.0, resamples), tail, method="lower")
    return float(low), float(np.quantile(np.where(silent, np.inf, resamples), 1 - tail, method="higher"))


def _ratio(over: np.ndarray, of: np.ndarray) -> np.ndarray:
    """over / of; nan where both are infinite or both 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(over, of)
