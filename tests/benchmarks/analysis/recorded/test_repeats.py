"""The share of trials that repeat an earlier one of their run."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from benchmarks.analysis.recorded.repeats import repeats
from support import frame, run


def at(levels, xs, *, budgets=None, **named):
    trials = run(levels, [0.5] * len(xs), **named).assign(**{"config.x": xs})
    return trials if budgets is None else trials.assign(budget=budgets)


def test_a_trial_repeats_one_of_its_run_that_was_granted_as_many_iterations():
    trials = frame(
        at("LHHLL", [1, 1, 1, 1, 2]),  # the second is a promotion; the third and fourth repeat others
        at("LH", [1, 2], seed=1),
        at("LLLLL", [1, 1, 1, 1, 1], budgets=[1, 3, 2, 3, 2], method="bohb", hash="b"),
        at("HH", [1, 1], task="svm", hash="c"),
    )
    table = repeats(trials).set_index(["task", "label"])
    assert table.columns.tolist() == ["method", "hash", "seeds", "repeating", "trials", "repeated"]
    assert table.loc[("currin", "btao")].drop(["method", "hash"]).tolist() == [2, 0.5, 7, pytest.approx(2 / 7)]
    assert table.loc[("currin", "bohb"), ["repeating", "repeated"]].tolist() == [1.0, 0.4]
    assert table.loc[("svm", "btao"), ["seeds", "repeated"]].tolist() == [1, 0.5]


def test_configurations_compare_by_all_their_parameters_and_inactive_ones_by_being_so():
    trials = at("HHHH", [1.0, 1.0, math.nan, math.nan])
    trials["config.kind"] = ["a", "b", "b", "b"]
    assert repeats(trials)["repeated"].tolist() == [0.25]
    trials["config.n"] = pd.array([None, 1, 2, 3], "Int64")
    assert repeats(trials)["repeated"].tolist() == [0.0]


def test_choices_that_are_equal_numbers_are_told_apart():
    trials = at("HHHH", [1.0] * 4)
    trials["config.kind"] = pd.Series([True, 1, 1.0, (1, 2)], dtype=object)
    assert repeats(trials)["repeated"].tolist() == [0.0]


def test_trials_without_configurations_are_refused():
    with pytest.raises(ValueError, match=r"frame has no columns config\.<name>"):
        repeats(at("H", [1]).drop(columns="config.x"))
