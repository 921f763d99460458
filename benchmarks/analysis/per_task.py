"""Methods on each task by itself: what they reached, and how they do against one of them.

Runs of equal seed are compared with each other, as their start and the noise of training may depend on the seed: a
block is a seed. What is said is of this task alone; see `ranking` for statements across tasks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from benchmarks.analysis.intervals import RESAMPLING, Resampling, bootstrap, interval, statistic_of
from benchmarks.analysis.ranking import signed_rank
from benchmarks.analysis.scores import REGRET_FLOOR, lowest

# statsmodels is imported when used: it is slow, and one table needs it.

COLUMNS = ("task", "label", "n", "statistic", "value", "low", "high", "std", "best")
TEST = ("over", "pairs", "wins", "ties", "losses", "rank_sum", "p", "p_holm")


def per_task(
    scores: DataFrame, first: str | None = None, statistic: str = "mean", resampling: Resampling = RESAMPLING
) -> DataFrame:
    """What each method reached on each task, with its interval, and a test against one method.

    Parameters
    ----------
    scores : DataFrame
        As `scores.scores` returns them. Those that are nan do not count.
    first : str, optional
        The label that others are compared to. Without it there are no tests.
    statistic : {"mean", "median", "iqm"}
        Over seeds.
    resampling : Resampling
        Of the intervals.

    Returns
    -------
    DataFrame
        One row a task and label, in the order of `scores`: task, label, n (runs), statistic, value, low, high (its
        interval; nan for one run, and where a run found nothing), std (the sample standard deviation; nan likewise),
        best (whether none of the task is smaller but by rounding). With `first` also over, which it names; pairs (seeds
        that both have); wins, ties and losses of the label; rank_sum, below 0 where it is better by the test; p of
        Wilcoxon's signed-rank test over these seeds; and p_holm, corrected for the number of tests on this task: nan
        for `first` itself, and where it has no run.

    Raises
    ------
    ValueError
        If there is no such statistic, a seed of a label is there twice, or `first` has no run at all.
    """
    function = statistic_of(statistic)
    scores = scores.dropna(subset="score")
    if first is not None and first not in set(scores["label"]):
        raise ValueError(f"first must be one of {', '.join(scores['label'].unique())}, got {first!r}")
    twice = scores.duplicated(["task", "label", "seed"])
    if twice.any():
        doubled = scores[twice].iloc[0]
        raise ValueError(
            f"scores hold several runs of {doubled['label']} on {doubled['task']} with the seed {doubled['seed']}"
        )
    parts = []
    for task, runs in scores.groupby("task", sort=False):
        values = runs.pivot(index="seed", columns="label", values="score")
        rows = []
        for label in runs["label"].unique():
            mine = values[label].dropna().to_numpy(float)
            finite = bool(np.isfinite(mine).all())
            low, high = interval(mine, statistic, resampling) if finite else (np.nan, np.nan)
            row: dict[str, Any] = {"task": task, "label": label, "n": len(mine), "statistic": statistic}
            row |= {"value": float(function(mine)), "low": float(low), "high": float(high)}
            rows.append(row | {"std": float(mine.std(ddof=1)) if finite and len(mine) > 1 else np.nan})
        table = pd.DataFrame(rows)
        table["best"] = lowest(table["value"])
        parts.append(table if first is None else table.join(_tests(values, first), on="label"))
    columns = [*COLUMNS, *(TEST if first is not None else ())]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def ratios(
    scores: DataFrame, of: str, to: str, statistic: str = "median", resampling: Resampling = RESAMPLING
) -> DataFrame:
    """How many times what one method reached is of what another did, on each task on which both have runs.

    Parameters
    ----------
    scores : DataFrame
        As `scores.scores` returns them, of regrets or of other scores above 0. Below `REGRET_FLOOR` they are rounding,
        and taken for it.
    of, to : str
        The labels of both: a ratio below 1 says that `of` is better.
    statistic : {"mean", "median", "iqm"}
        Over the seeds of each.
    resampling : Resampling
        Seeds of both are resampled.

    Returns
    -------
    DataFrame
        One row a task, in the order of `scores`: task, of, to, statistic, ratio, low, high (nan where a method has one
        run), n, n_to.

    Raises
    ------
    ValueError
        If there is no such statistic or label, or a score is negative, nan or infinite.
    """
    function = statistic_of(statistic)
    for name, label in (("of", of), ("to", to)):
        if label not in set(scores["label"]):
            raise ValueError(f"{name} must be one of {', '.join(scores['label'].unique())}, got {label!r}")

    def ratio(mine: np.ndarray, other: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.divide(function(mine, axis=axis), function(other, axis=axis))

    rows = []
    for task, runs in scores.groupby("task", sort=False):
        mine, other = (runs.loc[runs["label"] == label, "score"].to_numpy(float) for label in (of, to))
        wrong = [score for score in (*mine, *other) if not 0 <= score < np.inf]
        if wrong:
            raise ValueError(f"scores must be finite and not negative, got {wrong[0]} on {task}")
        if not (len(mine) and len(other)):
            continue
        mine, other = np.maximum(mine, REGRET_FLOOR), np.maximum(other, REGRET_FLOOR)
        low, high = bootstrap([mine, other], ratio, resampling)
        row = {"task": task, "of": of, "to": to, "statistic": statistic, "ratio": float(ratio(mine, other))}
        rows.append(row | {"low": float(low), "high": float(high), "n": len(mine), "n_to": len(other)})
    return pd.DataFrame(rows, columns=["task", "of", "to", "statistic", "ratio", "low", "high", "n", "n_to"])


def _tests(values: DataFrame, first: str) -> DataFrame:
    """The tests of every label against `first`, by label; values are a row a seed and a column a label."""
    from statsmodels.stats.multitest import multipletests

    table = pd.DataFrame(index=values.columns, columns=[*TEST], dtype=float).assign(over=first)
    others = [label for label in values if label != first] if first in values else []
    for label in others:
        pairs = values[[label, first]].dropna().to_numpy(float).T
        if pairs.size:
            result = signed_rank(*pairs)
            table.loc[label, ["pairs", "wins", "ties", "losses", "rank_sum", "p"]] = [
                pairs.shape[1], *(result[name] for name in ("wins", "ties", "losses", "rank_sum", "p"))
            ]  # fmt: skip
    tested = table["p"].notna()
    if tested.any():
        table.loc[tested, "p_holm"] = multipletests(table.loc[tested, "p"], method="holm")[1]
    return table
