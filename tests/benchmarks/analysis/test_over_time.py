"""Ranks over time and targets reached, against hand-worked cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.over_time import SHARES, axes_of_tasks, ranks_over_time, targets_reached
from support import frame, run


def heavy(values, method, seed=0, **more):
    return run("H" * len(values), values, method=method, seed=seed, **more)


def test_seeds_of_one_task_are_blocks_and_a_run_without_a_result_is_last():
    trials = frame(
        *(heavy([4.0, 3.0, 2.0, 1.0], "a", seed) for seed in range(2)),
        *(heavy([math.nan, 1.0, 1.0, 1.0], "b", seed) for seed in range(2)),
        heavy([9.0] * 4, "a", seed=2),  # without a partner
    )
    table = ranks_over_time(incumbents(trials))
    ranks = table.pivot(index="share", columns="label", values="rank")
    assert set(table["by"]) == {"seed"} and set(table["blocks"]) == {2}
    assert ranks.columns.tolist() == ["a", "b"] and ranks.index.tolist() == SHARES.tolist()
    assert ranks.loc[ranks.index < 0.25].eq(1.5).all(axis=None)  # nobody has a result yet
    assert ranks.loc[(ranks.index >= 0.25) & (ranks.index < 0.5), "a"].eq(1).all()
    assert ranks.loc[(ranks.index >= 0.5) & (ranks.index < 1), "a"].eq(2).all()
    assert ranks.loc[1.0].tolist() == [1.5, 1.5]


def test_of_several_tasks_these_are_the_blocks_whatever_their_costs():
    trials = frame(
        *(heavy([2.0, value], "a", seed) for seed, value in enumerate((1.0, 1.0, 9.0))),
        *(heavy([2.0, 1.5], "b", seed) for seed in range(3)),
        heavy([1.0] * 10, "a", task="park"),
        heavy([2.0] * 10, "b", task="park"),
        heavy([2.0] * 10, "a", task="svm"),  # b has no run there
    )
    table = ranks_over_time(incumbents(trials)).set_index(["label", "share"])
    assert set(table["by"]) == {"task"} and set(table["blocks"]) == {2}
    assert table.loc[("a", 1.0), "rank"] == 1.0 and table.loc[("b", 1.0), "rank"] == 2.0
    with pytest.raises(ValueError, match="against must be one of heavy_runs"):
        ranks_over_time(incumbents(trials), "epochs")


def test_ranks_can_be_read_at_some_shares_alone():
    states = incumbents(frame(heavy([4.0, 3.0, 1.0, 1.0], "a"), heavy([5.0, 2.0, 2.0, 2.0], "b")))
    table = ranks_over_time(states, shares=(0.25, 0.5, 0.75)).pivot(index="share", columns="label", values="rank")
    assert table["a"].to_dict() == {0.25: 1, 0.5: 2, 0.75: 1}
    with pytest.raises(ValueError, match=r"shares must be above 0 and at most 1, got 1\.5$"):
        ranks_over_time(states, shares=np.array([0.5, 1.5]))


def test_targets_are_counted_by_the_cost_at_which_they_are_reached():
    trials = frame(heavy([100.0, 1.0], "a"), heavy([100.0, 10.0, 0.01], "b"))
    table = targets_reached(incumbents(trials), targets=5)  # 100, 10, 1, 0.1, 0.01
    steps = {label: list(zip(rows["cost"], rows["reached"], strict=True)) for label, rows in table.groupby("label")}
    assert steps["a"] == [(1, pytest.approx(0.2)), (2, pytest.approx(0.6))]
    assert steps["b"] == [(1, pytest.approx(0.2)), (2, pytest.approx(0.4)), (3, pytest.approx(1.0))]


def test_tasks_count_alike_and_values_have_targets_too():
    trials = frame(
        heavy([100.0, 0.01], "a"),
        heavy([0.5, 0.5], "a", task="svm", optimum=None),
        heavy([0.9, 0.1], "b", task="svm", optimum=None),
    )
    table = targets_reached(incumbents(trials), targets=3).set_index("label")
    # On svm the targets are 0.7, 0.4 and 0.1: a reaches one of them, and on currin all of its three.
    assert table.loc["a", "reached"].iloc[-1] == pytest.approx((1 + 1 / 3) / 2)
    assert table.loc[["b"], "reached"].tolist() == [pytest.approx(1.0)]
    with pytest.raises(ValueError, match="task 'currin' gives no targets"):
        targets_reached(incumbents(heavy([1.0, 1.0], "a")))
    with pytest.raises(ValueError, match="targets must be at least 2, got 1"):
        targets_reached(incumbents(trials), targets=1)
    assert np.all(np.diff(table.loc["a", "reached"]) > 0)


def test_tasks_are_compared_where_their_runs_end_together():
    slow = [heavy([0.5, 0.4, 0.3], "slow", seed, task="svm").assign(train_seconds=10.0) for seed in range(6)]
    fast = [heavy([0.9] * 15 + [0.1] * 15, "fast", seed, task="svm").assign(train_seconds=1.0) for seed in range(6)]
    equal = frame(*slow, *fast).assign(train_budget=30.0)
    trials = frame(equal, heavy([1.0], "slow"), heavy([2.0], "fast"))
    axes = axes_of_tasks(trials)
    assert axes == {"train_seconds": ["svm"], "heavy_equivalents": ["currin"]}
    assert axes_of_tasks(trials.drop(columns="train_budget")) == {"heavy_equivalents": ["svm", "currin"]}
    ends = ranks_over_time(incumbents(equal), "train_seconds", shares=[1.0]).set_index("label")["rank"]
    assert ends.to_dict() == {"slow": 2.0, "fast": 1.0}  # as their last errors are, 0.3 and 0.1
