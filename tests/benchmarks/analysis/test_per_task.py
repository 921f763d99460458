"""Methods on each task by itself, against hand-worked cases."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from benchmarks.analysis.per_task import per_task, ratios
from benchmarks.analysis.scores import REGRET_FLOOR

INF = math.inf


def scores(**values):
    """Scores of one task by label, a seed each."""
    rows = [("currin", label, seed, score) for label, mine in values.items() for seed, score in enumerate(mine)]
    return pd.DataFrame(rows, columns=["task", "label", "seed", "score"])


def test_equal_seeds_are_compared_and_tests_corrected_within_the_task():
    base = np.arange(1.0, 7.0)
    table = per_task(scores(a=base, b=base + 1, c=base - [0.1, 0.2, 0.3, 0.4, 0.5, -0.6]), first="a").set_index("label")
    assert table.loc["b", ["pairs", "wins", "ties", "losses"]].tolist() == [6, 0, 0, 6]
    assert table.loc["b", "p"] == 2 / 2**6  # all signs alike, exactly
    assert table.loc["c", ["wins", "losses"]].tolist() == [5, 1]
    assert table.loc["b", "p_holm"] == 2 * table.loc["b", "p"]
    assert table.loc["c", "p_holm"] == table.loc["c", "p"] > 2 * table.loc["b", "p"]
    assert math.isnan(table.loc["a", "p_holm"])
    assert table["best"].tolist() == [False, False, True]
    assert table.loc["a", "std"] == pytest.approx(np.std(base, ddof=1))


def test_methods_whose_means_differ_by_rounding_are_all_the_best():
    third = (0.1 + 0.2) / 3
    assert third > 0.3 / 3
    table = per_task(scores(a=[0.3 / 3], b=[third], c=[0.1 + 1e-9]))
    assert table["best"].tolist() == [True, True, False]


def test_a_run_that_found_nothing_is_the_worst_and_leaves_no_interval():
    table = per_task(scores(a=[1.0, 2.0], b=[INF, 3.0]), "a", "median").set_index("label")
    assert table.loc["b", "value"] == INF and math.isnan(table.loc["b", "low"]) and math.isnan(table.loc["b", "std"])
    assert table.loc["b", "losses"] == 2
    assert (table.loc["a", "value"], table.loc["a", "low"], table.loc["a", "high"]) == (1.5, 1.0, 2.0)


def test_a_task_without_the_first_method_has_no_tests():
    both = pd.concat([scores(a=[1.0], b=[2.0]), scores(b=[2.0], c=[3.0]).assign(task="park")])
    table = per_task(both, "a")
    assert table.loc[table["task"] == "park", ["pairs", "p", "p_holm"]].isna().all(axis=None)
    assert "p" not in per_task(both)
    with pytest.raises(ValueError, match="first must be one of a, b, c, got 'd'"):
        per_task(both, "d")
    with pytest.raises(ValueError, match="several runs of a on currin with the seed 0"):
        per_task(pd.concat([both, both.iloc[:1]]))


def test_the_side_of_a_test_is_that_of_its_ranks():
    """As many wins as losses, but the wins are the larger ones."""
    steps = np.arange(1.0, 31.0)
    other = np.where(steps > 15, -steps, steps)
    row = per_task(scores(a=np.zeros(30), b=other), first="a").set_index("label").loc["b"]
    assert row["wins"] == row["losses"] == 15 and row["p"] < 0.05
    assert row["rank_sum"] == steps[:15].sum() - steps[15:].sum() < 0


def test_a_ratio_is_of_statistics_over_the_seeds_of_both():
    table = pd.concat([scores(a=[1.0, 2.0, 6.0], b=[2.0, 4.0, 6.0]), scores(b=[1.0]).assign(task="park")])
    (row,) = ratios(table, "a", "b").to_dict("records")  # a has no run on park
    assert (row["task"], row["ratio"], row["n"], row["n_to"]) == ("currin", 0.5, 3, 3)
    assert (row["low"], row["high"]) == (1 / 6, 3.0)  # three seeds each: the range
    assert ratios(table, "a", "b", "mean")["ratio"].tolist() == [0.75]
    (copy,) = ratios(scores(a=[0.0, 0.0], b=[1e-13, 0.0]), "a", "b").to_dict("records")
    assert (copy["ratio"], copy["low"], copy["high"]) == (1.0, 1.0, 1.0)  # both are rounding
    (small,) = ratios(scores(a=[1e-6], b=[0.0]), "a", "b").to_dict("records")
    assert small["ratio"] == 1e-6 / REGRET_FLOOR and math.isnan(small["low"])


def test_ratios_are_of_labels_that_are_there_and_of_scores_that_have_one():
    with pytest.raises(ValueError, match="to must be one of a, b, got 'c'"):
        ratios(scores(a=[1.0], b=[2.0]), "a", "c")
    for wrong in (INF, -1.0, math.nan):
        with pytest.raises(ValueError, match=f"scores must be finite and not negative, got {wrong} on currin"):
            ratios(scores(a=[wrong], b=[2.0]), "a", "b")
