"""Comparisons of many methods: ranks, tests, probabilities of improvement.

Definitions
-----------
block
    What methods are compared within. With `by="task"` a block is a task, and a method's number in it
    is the median of its scores over seeds; with `by="seed"` a block is one seed of one task, and the
    number is the score of that seed, so runs of equal seed are compared with each other.
complete block
    One in which every method has a number. Others are left out, counted and warned of. A run that
    found nothing is no gap: its score is infinity, the last rank.
rank
    1 is the best of a block; ties share the mean of their ranks.
probability of improvement
    That a run of A has a smaller score than one of B, a tie counting half: per task over all pairs of
    their seeds, then the mean over tasks (Agarwal et al., 2021). Its interval is Newcombe's, combined over
    tasks by squares; it is too wide where many pairs are ties.

Tests follow Demšar (2006, Statistical comparisons of classifiers over multiple data sets, Journal of
Machine Learning Research 7, 1-30). Those over seeds are about the tasks at hand, not about others.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame
from scipy import stats

from benchmarks.analysis.intervals import check_choice, mean_of_intervals, newcombe
from benchmarks.analysis.scores import distinct, on_one_scale, warn_of_few_tasks

# statsmodels is imported when used: it is slow, and one table needs it.

BLOCKS = ("task", "seed")
# What a difference may be off by: a share of the larger number and, as that may be a difference itself, of its size.
ROUNDING, OF_DIFFERENCE = 1e-14, 1e-10


@dataclass(frozen=True)
class Blocks:
    """The complete blocks of a comparison.

    Attributes
    ----------
    values : DataFrame
        A row a block, a column a method (by label); smaller is better.
    by : {"task", "seed"}
        What a block is.
    dropped : int
        How many blocks were left out as incomplete.
    tasks : int
        How many distinct tasks the complete blocks are of.
    one_scale : bool
        Whether numbers of different blocks compare: they are of one task, or normalized scores. Ranks
        always do; a difference between two methods does not.
    """

    values: DataFrame
    by: str
    dropped: int
    tasks: int
    one_scale: bool

    @property
    def ranks(self) -> DataFrame:
        """The rank of each method within each block."""
        return self.values.rank(axis=1)


def blocks(scores: DataFrame, by: str = "task", *, task_of: Mapping[str, str] | None = None) -> Blocks:
    """Arrange scores in complete blocks.

    Parameters
    ----------
    scores : DataFrame
        As `scores.scores` or, for `pairwise` over several tasks, `scores.normalized` returns them.
        Methods are matched across tasks and seeds by their label; a score of nan is a gap.
    by : {"task", "seed"}
        What a block is.
    task_of : mapping of str to str, optional
        As in `scores.distinct`.

    Raises
    ------
    ValueError
        If `by` is not one of those named, there are fewer than two methods or no complete block.

    Warns
    -----
    UserWarning
        If blocks are left out as incomplete, or those that remain are of fewer than 5 distinct tasks.
    """
    check_choice("by", by, BLOCKS)
    rows = ["task"] if by == "task" else ["task", "seed"]
    values = scores.groupby([*rows, "label"])["score"].median().unstack("label")
    if values.shape[1] < 2:
        raise ValueError(f"a comparison needs two methods, got {', '.join(values.columns) or 'none'}")
    complete = values.dropna()
    dropped = len(values) - len(complete)
    if complete.empty:
        raise ValueError(f"no {by} has scores of all of {', '.join(values.columns)}")
    if dropped:
        warnings.warn(f"left out {dropped} of {len(values)} blocks: a method has no score there", stacklevel=2)
    tasks = distinct(complete.index.get_level_values("task"), task_of)
    warn_of_few_tasks(tasks, stacklevel=3)
    return Blocks(complete, by, dropped, tasks, on_one_scale(scores))


def average_ranks(comparison: Blocks) -> DataFrame:
    """The mean rank of each method, the best first: label, rank, blocks, dropped, tasks."""
    ranks = comparison.ranks.mean().sort_values(kind="stable")
    table = ranks.rename("rank").rename_axis("label").reset_index()
    return table.assign(blocks=len(comparison.values), dropped=comparison.dropped, tasks=comparison.tasks)


def friedman(comparison: Blocks) -> tuple[float, float]:
    """Friedman's test that all methods rank alike: chi squared, corrected for ties, and its p-value.

    It needs three methods (nan for two, which `pairwise` compares), and is 0 and 1 where all tie.
    """
    ranks = comparison.ranks
    if ranks.shape[1] < 3:
        return np.nan, np.nan
    if (ranks.nunique(axis=1) == 1).all():
        return 0.0, 1.0
    result = stats.friedmanchisquare(*ranks.to_numpy().T)
    return float(result.statistic), float(result.pvalue)


def critical_difference(methods: int, n_blocks: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference: by how much two mean ranks must differ for the difference to count.

    q sqrt(k (k + 1) / (6 N)) for k methods and N blocks, where q is the upper `alpha` point of the
    studentized range of k and infinite degrees of freedom, divided by sqrt(2) (Demšar 2006, eq. 4).
    """
    q = stats.studentized_range.ppf(1 - alpha, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * n_blocks)))


class PairsApart(NamedTuple):
    """What Nemenyi's critical difference tells of pairs of methods.

    Attributes
    ----------
    apart : int
        Pairs whose mean ranks differ by more.
    pairs : int
        All of them.
    for_half : int or None
        About how many blocks would tell half of the pairs, if the mean ranks were the same; None where it could be no
        number of them, as too many ranks are equal.
    """

    apart: int
    pairs: int
    for_half: int | None


def pairs_apart(comparison: Blocks) -> PairsApart:
    """How many pairs of methods are told apart by their mean ranks, and how many blocks half of them would take.

    The critical difference falls with the root of the number of blocks, see `critical_difference`.
    """
    means, blocks_there = comparison.ranks.mean(), len(comparison.values)
    difference = critical_difference(len(means), blocks_there)
    gaps = sorted((abs(a - b) for a, b in itertools.combinations(means, 2)), reverse=True)
    least = gaps[(len(gaps) - 1) // 2]  # of the half with the largest
    for_half = math.ceil(blocks_there * (difference / least) ** 2) if least > 0 else None
    return PairsApart(sum(gap > difference for gap in gaps), len(gaps), for_half)


def pairwise(comparison: Blocks) -> DataFrame:
    """Every two methods compared by Wilcoxon's signed-rank test, with Holm's correction.

    The test ranks differences between two methods across blocks, so blocks of several tasks must be of
    normalized scores: in the units of the tasks, that of the largest numbers would decide alone.

    Returns
    -------
    DataFrame
        One row per pair: a, b; wins, ties, losses of a, in blocks; difference, the median of a's
        number less b's (nan halfway between two infinite ones); p of the two-sided test, where
        blocks without a difference share their ranks between both signs (1 where no block has one);
        p_holm, corrected for the number of pairs; dropped, the blocks left out.

    Raises
    ------
    ValueError
        If the blocks are not on one scale.
    """
    from statsmodels.stats.multitest import multipletests

    if not comparison.one_scale:
        raise ValueError(
            "comparison must be of one task or of normalized scores (scores.normalized), got several units"
        )
    rows = []
    for a, b in itertools.combinations(comparison.values.columns, 2):
        numbers = comparison.values[[a, b]].to_numpy(float).T
        rows.append({"a": a, "b": b, **signed_rank(*numbers)})
    table = pd.DataFrame(rows).drop(columns="rank_sum")  # of use for the side of one test alone
    return table.assign(p_holm=multipletests(table["p"], method="holm")[1], dropped=comparison.dropped)


def signed_rank(first: np.ndarray, second: np.ndarray) -> dict[str, float]:
    """Wilcoxon's signed-rank test of two methods in the same blocks: wins, ties, losses, difference, p, see `pairwise`.

    And rank_sum, which is negative where the first is better by this test.

    Parameters
    ----------
    first, second : ndarray, shape (n,)
        Their numbers, smaller is better; infinite where nothing was found.
    """
    difference = _differences(first, second)
    return {
        "wins": int((difference < 0).sum()),
        "ties": int((difference == 0).sum()),
        "losses": int((difference > 0).sum()),
        "difference": float(np.median(difference)),
        "rank_sum": _rank_sum(difference),
        "p": float(stats.wilcoxon(difference, zero_method="zsplit").pvalue) if difference.any() else 1.0,
    }


def _differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """First less second, those equal that rounding alone tells apart, as errors are shares of images."""
    with np.errstate(invalid="ignore"):
        difference = np.where(first == second, 0.0, first - second)  # two runs that found nothing tie
    sizes, larger = np.abs(difference), np.maximum(np.abs(first), np.abs(second))
    inexact = np.isfinite(sizes) & (sizes > 0)
    last, near = 0.0, 0.0
    for place in np.flatnonzero(inexact)[np.argsort(sizes[inexact])]:
        off = ROUNDING * larger[place] + OF_DIFFERENCE * sizes[place]
        if sizes[place] - last <= off + near:
            sizes[place] = last
        else:
            last, near = sizes[place], off
    return np.where(difference == 0, 0.0, np.sign(difference) * sizes)


def _rank_sum(difference: np.ndarray) -> float:
    """The sum of the ranks of losses less that of wins: below 0 where the first is better by Wilcoxon's test."""
    return float((stats.rankdata(np.abs(difference)) * np.sign(difference)).sum())


def improvement(scores: DataFrame, *, confidence: float = 0.95) -> DataFrame:
    """The probability that one method is better than another, for every two, both ways round.

    Parameters
    ----------
    scores : DataFrame
        As `scores.scores` returns them; those that are nan do not count.
    confidence : float

    Returns
    -------
    DataFrame
        One row per ordered pair: a, b, tasks (those where both have runs), dropped (the others),
        probability, low, high (Newcombe's interval per task, combined over tasks, see `intervals`; nan where a
        method has one seed on a task).
    """
    scores = scores.dropna(subset="score")
    samples = {key: runs["score"].to_numpy() for key, runs in scores.groupby(["label", "task"])}
    tasks = sorted(scores["task"].unique())
    rows = []
    for a, b in itertools.permutations(sorted(scores["label"].unique()), 2):
        shared = [(samples[a, task], samples[b, task]) for task in tasks if {(a, task), (b, task)} <= samples.keys()]
        each, low, high = [_better(*pair) for pair in shared], np.nan, np.nan
        if shared and min(len(runs) for pair in shared for runs in pair) > 1:
            ends = [
                newcombe(better, len(ours), len(theirs), confidence)
                for better, (ours, theirs) in zip(each, shared, strict=True)
            ]
            low, high = mean_of_intervals(each, ends)
        rows.append(
            {
                "a": a,
                "b": b,
                "tasks": len(shared),
                "dropped": len(tasks) - len(shared),
                "probability": float(np.mean(each)) if each else np.nan,
                "low": low,
                "high": high,
            }
        )
    return pd.DataFrame(rows)


def _better(a: np.ndarray, b: np.ndarray) -> float:
    """P(A < B) + P(A = B) / 2 over all pairs."""
    ours, theirs = a[:, None], b[None, :]
    return float(((ours < theirs) + 0.5 * (ours == theirs)).mean())
