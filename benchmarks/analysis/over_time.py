"""Methods compared all along their runs: ranks over time, and the targets that they have reached by a cost.

Definitions
-----------
share of the cost
    Of what all runs of a task have spent at least, so that tasks of any size have one axis.
target
    On each task so many values between what the first heavy results are worth, on average, and the best that any run
    has reached: evenly spaced in the logarithm of the regret where that is known, down to `REGRET_FLOOR`, else in the
    value. Which of them runs have reached by a cost is the empirical cumulative distribution that COCO draws (Hansen
    et al., 2021); here the best is that of the methods at hand, so that curves of other company do not compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame
from scipy import stats

from benchmarks.analysis.aggregate import AXES, hold
from benchmarks.analysis.intervals import RESAMPLING, Resampling, check_choice, interval
from benchmarks.analysis.scores import REGRET_FLOOR, common_cost, judged

SHARES = np.linspace(0.02, 1, 50)
TARGETS = 51  # of each task, as COCO has them


def axes_of_tasks(frame: DataFrame) -> dict[str, list[str]]:
    """The axis on which the runs of each task end together: by axis the tasks.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them.

    Returns
    -------
    dict
        Tasks whose runs have a budget of training at "train_seconds", the others at "heavy_equivalents"; in the order
        of the frame, and only axes that have tasks.
    """
    by_seconds = set(frame.loc[frame["train_budget"].notna(), "task"]) if "train_budget" in frame else set()
    axes: dict[str, list[str]] = {}
    for task in frame["task"].unique():
        axes.setdefault("train_seconds" if task in by_seconds else "heavy_equivalents", []).append(task)
    return axes


def ranks_over_time(
    states: DataFrame,
    against: str = "heavy_equivalents",
    *,
    shares: Sequence[float] | np.ndarray = SHARES,
    resampling: Resampling = RESAMPLING,
) -> DataFrame:
    """The mean rank of each method after shares of the cost, with its interval.

    Of several tasks a block is a task, in which a method has the median over its seeds; of one task it is a seed.
    A run without a heavy result yet is among the last.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them. Methods are matched by their label; only blocks count in which all have a run.
    against : {"heavy_runs", "heavy_equivalents", "train_seconds", "time"}
    shares : sequence of float
        Of the cost, above 0 and at most 1.
    resampling : Resampling
        Of the blocks.

    Returns
    -------
    DataFrame
        One row a label and share: label, by ("task" or "seed"), blocks, against, share, rank, low, high.

    Raises
    ------
    ValueError
        If `against` is none of those named, a share is out of its range, or no block has runs of all methods.
    """
    check_choice("against", against, AXES)
    for share in shares:
        if not 0 < share <= 1:
            raise ValueError(f"shares must be above 0 and at most 1, got {share}")
    y = judged(states)
    labels = list(states["label"].unique())
    by = "task" if states["task"].nunique() > 1 else "seed"
    blocks = []
    for _, here in states.groupby("task"):
        at = np.asarray(shares) * common_cost(here, against)
        held: dict[Any, dict[Any, np.ndarray]] = {label: {} for label in labels}
        for (label, seed), run in here.groupby(["label", "seed"]):
            reached = hold(run[against].to_numpy(float), y[run.index].to_numpy(float), at)
            held[label][seed] = np.where(np.isnan(reached), np.inf, reached)
        if by == "task" and all(held.values()):
            blocks.append([np.median(list(runs.values()), axis=0) for runs in held.values()])
        elif by == "seed":
            seeds = set.intersection(*(set(runs) for runs in held.values()))
            blocks += [[runs[seed] for runs in held.values()] for seed in sorted(seeds)]
    if not blocks:
        raise ValueError(f"no {by} has runs of all of {', '.join(labels)}")
    ranks = stats.rankdata(np.array(blocks), axis=1)  # blocks, labels, shares
    low, high = interval(np.moveaxis(ranks, 0, -1), resampling=resampling)
    return pd.DataFrame(
        {
            "label": np.repeat(labels, len(shares)),
            "by": by,
            "blocks": len(blocks),
            "against": against,
            "share": np.tile(shares, len(labels)),
            "rank": ranks.mean(axis=0).ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
        }
    )


def targets_reached(states: DataFrame, against: str = "heavy_equivalents", targets: int = TARGETS) -> DataFrame:
    """The share of targets, of all runs on all tasks, that each method has reached by a cost: a step curve.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them. Methods are matched by their label; every task of a method counts alike.
    against : {"heavy_runs", "heavy_equivalents", "train_seconds", "time"}
    targets : int
        Of each task.

    Returns
    -------
    DataFrame
        One row a label and cost at which a target is reached, and one at the largest cost of its runs: label, tasks,
        runs, against, cost, reached.

    Raises
    ------
    ValueError
        If `against` is none of those named, `targets` is below 2, or no run of a task has a worse first heavy result
        than the best, so that there is nothing between.
    """
    check_choice("against", against, AXES)
    if targets < 2:
        raise ValueError(f"targets must be at least 2, got {targets!r}")
    y = judged(states)
    parts: dict[str, list[tuple[np.ndarray, int, float]]] = {}
    for task, here in states.groupby("task"):
        goals = _goals(str(task), here.assign(y=y[here.index]), targets)
        for label, runs in here.groupby("label"):
            curves = [(run[against].to_numpy(float), y[run.index].to_numpy(float)) for _, run in runs.groupby("seed")]
            costs = [_costs(x, reached, goals) for x, reached in curves]
            parts.setdefault(str(label), []).append((np.concatenate(costs), len(costs), runs[against].max()))
    rows = []
    for label, tasks in parts.items():
        cost = np.concatenate([costs for costs, _, _ in tasks])
        weight = np.concatenate([np.full(len(costs), 1 / len(costs) / len(tasks)) for costs, _, _ in tasks])
        order = np.argsort(cost, kind="stable")
        found = order[np.isfinite(cost[order])]
        reached = np.cumsum(weight[found])
        at, last = np.unique(cost[found][::-1], return_index=True)
        end = max(spent for _, _, spent in tasks)
        steps = dict(zip(at, reached[::-1][last], strict=True)) | {end: reached[-1] if len(reached) else 0.0}
        head = {"label": label, "tasks": len(tasks), "runs": sum(n for _, n, _ in tasks), "against": against}
        rows += [head | {"cost": float(x), "reached": float(share)} for x, share in steps.items()]
    return pd.DataFrame(rows)


def _goals(task: str, here: DataFrame, targets: int) -> np.ndarray:
    """The targets of a task, in descending order."""
    known = here["regret"].notna().any()
    found = here[here["y"].notna()]
    start = found.groupby(["label", "seed"])["y"].first().mean()
    best = max(found["y"].min(), REGRET_FLOOR) if known else found["y"].min()
    if not start > best:
        raise ValueError(f"task {task!r} gives no targets: no run has a worse first heavy result than its best")
    return np.geomspace(start, best, targets) if known else np.linspace(start, best, targets)


def _costs(x: np.ndarray, y: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """The cost at which a run first is at each goal, infinite where it never is."""
    best = np.minimum.accumulate(np.where(np.isnan(y), np.inf, y))
    first = (best[:, None] > goals * (1 + 1e-12 * np.sign(goals))).sum(axis=0)  # the last goal may be rounded
    return np.where(first < len(x), x[np.minimum(first, len(x) - 1)], np.inf)
