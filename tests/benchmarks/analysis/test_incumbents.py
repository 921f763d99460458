"""The state of a run after each trial, against hand-worked cases."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.analysis import aggregate as analysis
from benchmarks.analysis.incumbents import incumbents
from support import frame, run

NAN = math.nan


def test_incumbents_by_hand():
    states = incumbents(run("LHLHHH", [0.1, 5.0, 0.2, NAN, 3.0, 4.0], optimum=1.0))
    assert states["heavy_runs"].tolist() == [0, 1, 1, 2, 3, 4]
    assert states["iterations"].tolist() == [1, 6, 7, 12, 17, 22]
    np.testing.assert_allclose(states["heavy_equivalents"], [0.2, 1.2, 1.4, 2.4, 3.4, 4.4])
    assert states["train_seconds"].tolist() == [1.5, 3, 4.5, 6, 7.5, 9]
    assert states["time"].tolist() == [2, 4, 6, 8, 10, 12]
    # The light 0.1 never counts, the failed trial costs its iterations and holds the value.
    np.testing.assert_array_equal(states["value"], [NAN, 5, 5, 5, 3, 3])
    np.testing.assert_array_equal(states["regret"], [NAN, 4, 4, 4, 2, 2])


def test_a_budget_of_training_ends_every_run_where_it_is_spent():
    trials = run("LHHH", [0.1, 5.0, 4.0, 3.0], optimum=1.0).assign(train_budget=5.0)
    states = incumbents(trials)
    assert states["train_seconds"].tolist() == [1.5, 3, 4.5, 5]
    np.testing.assert_array_equal(states["value"], [NAN, 5, 4, 4])  # the last result came after 6 seconds
    assert incumbents(trials.assign(train_budget=6.0))["value"].tolist()[-1] == 3
    assert incumbents(trials.assign(train_budget=NAN)).equals(incumbents(trials.drop(columns="train_budget")))


def test_a_late_trial_is_charged_on_every_axis_what_was_left_and_is_no_heavy_run():
    trials = run("LHHH", [0.1, 5.0, 4.0, 3.0]).assign(train_budget=5.0)  # of the last 1.5 seconds 0.5 were left
    states = incumbents(trials)
    assert states["heavy_runs"].tolist() == [0, 1, 2, 2]
    assert states["iterations"].tolist() == pytest.approx([1, 6, 11, 11 + 5 / 3])
    assert states["heavy_equivalents"].tolist() == pytest.approx([0.2, 1.2, 2.2, 2.2 + 1 / 3])
    assert states["time"].tolist() == [2, 4, 6, 7]
    whole = incumbents(trials.assign(train_budget=6.0))
    assert (whole["heavy_runs"].iloc[-1], whole["iterations"].iloc[-1], whole["time"].iloc[-1]) == (3, 16, 8)
    assert analysis.summary(trials).iloc[0]["heavy_equivalents"] == pytest.approx(2.2 + 1 / 3)


def test_curves_on_a_budget_of_training_end_together_with_all_seeds():
    seeds = [run("HHH", [5.0, 4.0, 3.0], seed=0), run("HH", [4.5, 2.0], seed=1)]
    seeds[1]["train_seconds"] *= 2
    curves = analysis.aggregate(
        incumbents(pd.concat(seeds, ignore_index=True).assign(train_budget=4.2)), "train_seconds", "value"
    )
    assert curves["train_seconds"].tolist() == [1.5, 3, 4.2]
    assert curves["n"].tolist() == [0, 2, 2]
    np.testing.assert_array_equal(curves["mean"], [NAN, 4.25, 4.25])


def test_noise_the_choice_is_by_value_and_the_regret_by_truth():
    states = incumbents(run("HHH", [2.0, 1.5, 1.9], truth=[1.8, 2.2, 1.0], optimum=1.0))
    assert states["value"].tolist() == [2.0, 1.5, 1.5]
    np.testing.assert_allclose(states["regret"], [0.8, 1.2, 1.2])


def test_noise_may_push_a_value_below_the_optimum_but_not_the_truth():
    noisy = run("H", [-3.0], truth=[0.5], optimum=0.0)
    assert incumbents(noisy)["regret"].tolist() == [0.5]


def test_of_equal_values_the_earlier_stays():
    states = incumbents(run("HHH", [1.0, 1.0, 1.0], truth=[0.3, 0.2, 0.1]))
    assert states["regret"].tolist() == [0.3, 0.3, 0.3]


def test_a_failed_trial_is_never_best_whatever_value_it_carries():
    trials = run("HH", [2.0, 1.0])
    trials.loc[1, "status"] = "failed"
    assert incumbents(trials)["value"].tolist() == [2.0, 2.0]


def test_a_value_that_is_no_result_is_never_best_though_an_old_record_says_it_succeeded():
    states = incumbents(run("HHHH", [2.0, -1e308, 1e308, 1.0]))
    assert states["value"].tolist() == [2.0, 2.0, 2.0, 1.0]
    assert incumbents(run("H", [2.0], truth=[math.inf]))["regret"].tolist() == [2.0]


def test_unknown_optimum_gives_values_and_no_regret():
    states = incumbents(run("HH", [2.0, 1.0], optimum=None))
    assert states["value"].tolist() == [2.0, 1.0]
    assert states["regret"].isna().all()


@pytest.mark.parametrize("optimum", [0.5, -13.8, 2000.0])
def test_negative_regret_raises_and_rounding_is_clipped(optimum):
    rounding = 1e-9 * max(1.0, abs(optimum))
    states = incumbents(run("H", [optimum - 0.5 * rounding], optimum=optimum))
    assert states["regret"].tolist() == [0.0]
    with pytest.raises(ValueError, match=r"NEGATIVE REGRET: task 'currin' has a wrong optimum.*btao, seed 3, trial 1"):
        incumbents(run("HH", [optimum + 1, optimum - 2 * rounding], optimum=optimum, seed=3))


def test_negative_regret_raises_for_any_heavy_result_not_only_the_incumbent():
    with pytest.raises(ValueError, match="NEGATIVE REGRET"):
        incumbents(run("HH", [1.0, 2.0], truth=[0.5, -0.1]))


def test_light_and_failed_values_below_the_optimum_are_no_regret():
    assert incumbents(run("LHH", [-5.0, 1.0, NAN]))["regret"].tolist()[1:] == [1.0, 1.0]


def test_mixed_data_sets_and_optima_of_one_task_raise():
    for other in ("mnist", None):
        mixed = frame(run("H", [1.0], data="mnist-5000", task="svm"), run("H", [1.0], data=other, task="svm", seed=1))
        with pytest.raises(ValueError, match="task 'svm' mixes data sets: mnist-5000, "):
            incumbents(mixed)
    with pytest.raises(ValueError, match=r"task 'currin' mixes optima: 0\.0, 0\.5"):
        analysis.summary(frame(run("H", [1.0]), run("H", [1.0], seed=1, optimum=0.5)))
    two_tasks = frame(run("H", [1.0], task="svm", data="mnist"), run("H", [1.0], task="cnn", data="cifar10"))
    assert len(incumbents(two_tasks)) == 2


def test_mixed_heavy_levels_of_one_task_raise():
    other = run("LH", [1.0, 1.0], seed=1)
    other.loc[1, "budget"] = 50
    with pytest.raises(ValueError, match="task 'currin' mixes iterations of a heavy run: 5, 50"):
        incumbents(frame(run("H", [1.0]), other))


def test_a_task_without_a_heavy_trial_has_no_heavy_equivalents():
    states = incumbents(run("LL", [1.0, 1.0]))
    assert states["heavy_equivalents"].isna().all()
    assert analysis.aggregate(states, "heavy_equivalents")["n"].tolist() == [0]


def recommending(trials, recommended):
    return trials.assign(recommended=pd.array(recommended, dtype="Int64"))


def test_the_trace_of_what_the_method_recommends():
    trials = run("HLHH", [1.0, NAN, 2.0, 0.5], truth=[3.0, NAN, 0.2, 4.0])
    trials = recommending(trials, [None, 0, 2, 2])
    assert incumbents(trials)["value"].tolist() == [1.0, 1.0, 1.0, 0.5]
    traced = incumbents(trials, by="recommended")
    assert traced["value"].tolist() == [1.0, 1.0, 2.0, 2.0]
    assert traced["regret"].tolist() == [3.0, 3.0, 0.2, 0.2]


@pytest.mark.parametrize("last", [3, 1])  # itself, or an earlier one for what it told
def test_after_the_budget_of_training_the_last_recommendation_within_it_is_traced(last):
    trials = recommending(run("LHHH", [0.1, 5.0, 4.0, 3.0]), [None, 1, 1, last]).assign(train_budget=5.0)
    np.testing.assert_array_equal(incumbents(trials, by="recommended")["value"], [NAN, 5, 5, 5])
    only = recommending(run("H", [5.0]), [0]).assign(train_budget=1.0)
    assert incumbents(only, by="recommended")["value"].isna().all()


def test_where_a_method_recommends_nothing_the_incumbent_is_traced():
    trials = frame(
        recommending(run("LHH", [0.0, 2.0, 1.0]), [None] * 3),
        recommending(run("HH", [2.0, 1.0], seed=1), [0, 0]),  # numbered within its own run
    )
    np.testing.assert_array_equal(incumbents(trials, by="recommended")["value"], [NAN, 2, 1, 2, 2])


@pytest.mark.parametrize("recommended", [0, 2, 3, 9])  # light, failed, later, none
def test_only_a_heavy_result_so_far_can_be_recommended(recommended):
    trials = recommending(run("LHHH", [0.0, 1.0, NAN, 2.0]), [None, None, recommended, None])
    with pytest.raises(ValueError, match=f"got {recommended} after trial 2 of currin/btao-aaaa1111/seed-0"):
        incumbents(trials, by="recommended")


def test_what_to_trace_is_named_right():
    with pytest.raises(ValueError, match="by must be one of value, recommended, got 'truth'"):
        incumbents(run("H", [1.0]), by="truth")
    with pytest.raises(ValueError, match="lacks the columns recommended"):
        incumbents(run("H", [1.0]), by="recommended")


def test_missing_columns_and_doubled_trials_raise():
    with pytest.raises(ValueError, match="lacks the columns value, truth"):
        incumbents(run("H", [1.0]).drop(columns=["value", "truth"]))
    with pytest.raises(ValueError, match="trial 0 of currin/btao-aaaa1111/seed-0 is recorded twice"):
        incumbents(frame(run("H", [1.0]), run("H", [1.0])))


def test_runs_may_be_interleaved():
    one, two = run("LHH", [0, 3, 1]), run("LHH", [0, 2, 4], seed=1)
    apart = incumbents(frame(one, two))
    mixed = frame(two, one).sort_values("trial", kind="stable")
    pd.testing.assert_frame_equal(incumbents(mixed), apart)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("LH"), st.floats(0, 9) | st.just(NAN)), min_size=1, max_size=12))
def test_incumbents_agree_with_a_loop(trials):
    levels, values = zip(*trials, strict=True)
    expected, best = [], NAN
    for level, value in trials:
        if level == "H" and not math.isnan(value) and not value >= best:
            best = value
        expected.append(best)
    np.testing.assert_array_equal(incumbents(run("".join(levels), values))["value"], expected)


def test_the_test_error_is_that_of_the_best_validation_value_and_chooses_nothing():
    trials = run("LHHHH", [0.1, 0.5, 0.3, 0.4, 0.2]).assign(test_error=[0.0, 0.6, 0.7, 0.1, NAN])
    np.testing.assert_array_equal(incumbents(trials)["test_error"], [NAN, 0.6, 0.7, 0.7, NAN])
    other = incumbents(trials.assign(test_error=0.9)).drop(columns="test_error")
    assert other.equals(incumbents(trials).drop(columns="test_error"))
    assert incumbents(trials.drop(columns="test_error"))["test_error"].isna().all()


def test_the_summary_has_the_test_errors_beside_the_values():
    trials = frame(run("HH", [0.5, 0.3]).assign(test_error=[0.1, 0.4]), run("H", [0.2], seed=1).assign(test_error=0.6))
    row = analysis.summary(trials).iloc[0]
    assert (row["best_mean"], row["test_mean"], row["test_low"], row["test_high"]) == (0.25, 0.5, 0.4, 0.6)
    assert math.isnan(analysis.summary(trials.drop(columns="test_error")).iloc[0]["test_mean"])
