"""Curves and statistics against hand-worked cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import analysis

NAN = math.nan


def run(levels, values, *, method="btao", seed=0, task="currin", hash="aaaa1111", data=None, optimum=0.0, truth=None):
    """The record of one run; levels as "LLH", nan for a failed trial, 1 iteration light and 5 heavy, 2 s a trial."""
    count = len(levels)
    heavy = np.array([level == "H" for level in levels], dtype=bool)
    iterations = np.where(heavy, 5, 1)
    return pd.DataFrame(
        {
            "task": task,
            "method": method,
            "seed": seed,
            "hash": hash,
            "data": pd.Series([data] * count, dtype="str"),
            "optimum": NAN if optimum is None else optimum,
            "trial": np.arange(count),
            "heavy": heavy,
            "budget": iterations,
            "config.x": 0.5,
            "value": np.array(values, dtype=float),
            "status": ["failed" if math.isnan(value) else "ok" for value in values],
            "error": None,
            "iterations": iterations,
            "train_seconds": 1.5,
            "method_seconds": 0.5,
            "time": 2.0 * np.arange(1, count + 1),
            "truth": NAN if truth is None else np.array(truth, dtype=float),
        }
    )


def frame(*runs):
    return pd.concat(runs, ignore_index=True)


def test_incumbents_by_hand():
    states = analysis.incumbents(run("LHLHHH", [0.1, 5.0, 0.2, NAN, 3.0, 4.0], optimum=1.0))
    assert states["heavy_runs"].tolist() == [0, 1, 1, 2, 3, 4]
    assert states["iterations"].tolist() == [1, 6, 7, 12, 17, 22]
    assert states["time"].tolist() == [2, 4, 6, 8, 10, 12]
    # The light 0.1 never counts, the failed trial costs its iterations and holds the value.
    np.testing.assert_array_equal(states["value"], [NAN, 5, 5, 5, 3, 3])
    np.testing.assert_array_equal(states["regret"], [NAN, 4, 4, 4, 2, 2])


def test_noise_the_choice_is_by_value_and_the_regret_by_truth():
    states = analysis.incumbents(run("HHH", [2.0, 1.5, 1.9], truth=[1.8, 2.2, 1.0], optimum=1.0))
    assert states["value"].tolist() == [2.0, 1.5, 1.5]
    np.testing.assert_allclose(states["regret"], [0.8, 1.2, 1.2])


def test_noise_may_push_a_value_below_the_optimum_but_not_the_truth():
    noisy = run("H", [-3.0], truth=[0.5], optimum=0.0)
    assert analysis.incumbents(noisy)["regret"].tolist() == [0.5]


def test_of_equal_values_the_earlier_stays():
    states = analysis.incumbents(run("HHH", [1.0, 1.0, 1.0], truth=[0.3, 0.2, 0.1]))
    assert states["regret"].tolist() == [0.3, 0.3, 0.3]


def test_a_failed_trial_is_never_best_whatever_value_it_carries():
    trials = run("HH", [2.0, 1.0])
    trials.loc[1, "status"] = "failed"
    assert analysis.incumbents(trials)["value"].tolist() == [2.0, 2.0]


def test_unknown_optimum_gives_values_and_no_regret():
    states = analysis.incumbents(run("HH", [2.0, 1.0], optimum=None))
    assert states["value"].tolist() == [2.0, 1.0]
    assert states["regret"].isna().all()


@pytest.mark.parametrize("optimum", [0.5, -13.8, 2000.0])
def test_negative_regret_raises_and_rounding_is_clipped(optimum):
    rounding = 1e-9 * max(1.0, abs(optimum))
    states = analysis.incumbents(run("H", [optimum - 0.5 * rounding], optimum=optimum))
    assert states["regret"].tolist() == [0.0]
    with pytest.raises(ValueError, match=r"NEGATIVE REGRET: task 'currin' has a wrong optimum.*btao, seed 3, trial 1"):
        analysis.incumbents(run("HH", [optimum + 1, optimum - 2 * rounding], optimum=optimum, seed=3))


def test_negative_regret_raises_for_any_heavy_result_not_only_the_incumbent():
    with pytest.raises(ValueError, match="NEGATIVE REGRET"):
        analysis.incumbents(run("HH", [1.0, 2.0], truth=[0.5, -0.1]))


def test_light_and_failed_values_below_the_optimum_are_no_regret():
    assert analysis.incumbents(run("LHH", [-5.0, 1.0, NAN]))["regret"].tolist()[1:] == [1.0, 1.0]


def test_mixed_data_sets_and_optima_of_one_task_raise():
    for other in ("mnist", None):
        mixed = frame(run("H", [1.0], data="mnist-5000", task="svm"), run("H", [1.0], data=other, task="svm", seed=1))
        with pytest.raises(ValueError, match="task 'svm' mixes data sets: mnist-5000, "):
            analysis.incumbents(mixed)
    with pytest.raises(ValueError, match=r"task 'currin' mixes optima: 0\.0, 0\.5"):
        analysis.summary(frame(run("H", [1.0]), run("H", [1.0], seed=1, optimum=0.5)))
    two_tasks = frame(run("H", [1.0], task="svm", data="mnist"), run("H", [1.0], task="cnn", data="cifar10"))
    assert len(analysis.incumbents(two_tasks)) == 2


def test_missing_columns_and_doubled_trials_raise():
    with pytest.raises(ValueError, match="lacks the columns value, truth"):
        analysis.incumbents(run("H", [1.0]).drop(columns=["value", "truth"]))
    with pytest.raises(ValueError, match="trial 0 of currin/btao-aaaa1111/seed-0 is recorded twice"):
        analysis.incumbents(frame(run("H", [1.0]), run("H", [1.0])))


def test_runs_may_be_interleaved():
    one, two = run("LHH", [0, 3, 1]), run("LHH", [0, 2, 4], seed=1)
    apart = analysis.incumbents(frame(one, two))
    mixed = frame(two, one).sort_values("trial", kind="stable")
    pd.testing.assert_frame_equal(analysis.incumbents(mixed), apart)


def test_two_hashes_of_a_method_are_labelled_apart_and_not_pooled():
    trials = frame(
        run("H", [1.0], hash="abcdef01"),
        run("H", [3.0], hash="abcdee99"),
        run("H", [2.0], method="gp_bo", hash="77777777"),
        run("H", [2.0], task="park", hash="66666666"),
    )
    states = analysis.incumbents(trials)
    assert set(states["label"]) == {"btao [abcdef]", "btao [abcdee]", "gp_bo", "btao"}
    table = analysis.summary(trials).set_index(["task", "label"])
    assert table.loc[("currin", "btao [abcdef]"), "best_mean"] == 1.0
    assert table.loc[("currin", "btao [abcdee]"), "best_mean"] == 3.0
    curves = analysis.aggregate(states, measure="value")
    assert curves["n"].tolist() == [1, 1, 1, 1]


def test_hold_is_a_step_and_undefined_outside():
    x, y = np.array([1.0, 3.0]), np.array([5.0, 2.0])
    held = analysis.hold(x, y, np.array([0.9, 1.0, 2.999, 3.0, 3.1]))
    np.testing.assert_array_equal(held, [NAN, 5, 5, 2, NAN])
    assert analysis.hold(np.array([1.0, 1.0]), y, np.array([1.0])).tolist() == [2.0]


def test_aggregate_against_heavy_runs_with_a_seed_that_ends_early():
    states = analysis.incumbents(
        frame(
            run("HHH", [4.0, 2.0, 1.0]),
            run("HH", [8.0, 4.0], seed=1),
            run("LHH", [0.0, NAN, 6.0], seed=7),
        )
    )
    curve = analysis.aggregate(states).set_index("heavy_runs")
    assert curve.index.tolist() == [0, 1, 2, 3]
    assert curve["n"].tolist() == [0, 2, 3, 1]
    assert curve["seeds"].tolist() == [3] * 4
    np.testing.assert_array_equal(curve["mean"], [NAN, 6, 4, 1])
    np.testing.assert_array_equal(curve["median"], [NAN, 6, 4, 1])
    np.testing.assert_array_equal(curve["q25"], [NAN, 5, 3, 1])
    np.testing.assert_array_equal(curve["q75"], [NAN, 7, 5, 1])
    np.testing.assert_array_equal(curve["low"], [NAN, 4, 2, NAN])
    np.testing.assert_array_equal(curve["high"], [NAN, 8, 6, NAN])


def test_aggregate_against_iterations_and_time_counts_light_runs():
    states = analysis.incumbents(frame(run("LHH", [0.0, 4.0, 2.0]), run("HLL", [6.0, 0.0, 0.0], seed=1)))
    curve = analysis.aggregate(states, "iterations", "value").set_index("iterations")
    assert curve.index.tolist() == [1, 5, 6, 7, 11]
    assert curve["n"].tolist() == [0, 1, 2, 2, 1]
    np.testing.assert_array_equal(curve["mean"], [NAN, 6, 5, 5, 2])
    curve = analysis.aggregate(states, "time", "value").set_index("time")
    np.testing.assert_array_equal(curve.loc[[2.0, 4.0, 6.0], "mean"], [6, 5, 4])


def test_aggregate_keeps_methods_without_any_result():
    curve = analysis.aggregate(analysis.incumbents(run("HH", [NAN, NAN])))
    assert curve["n"].tolist() == [0, 0]
    assert curve[["mean", "low", "high", "median"]].isna().all(axis=None)


def test_aggregate_names_a_wrong_axis_or_measure():
    states = analysis.incumbents(run("H", [1.0]))
    with pytest.raises(ValueError, match="against must be one of heavy_runs, iterations, time, got 'epochs'"):
        analysis.aggregate(states, "epochs")
    with pytest.raises(ValueError, match="measure must be one of value, regret, got 'accuracy'"):
        analysis.aggregate(states, measure="accuracy")


def test_summary_by_hand():
    trials = frame(
        run("LHH", [0.0, 4.0, 3.0], optimum=1.0),
        run("LHHL", [0.0, NAN, 5.0, NAN], seed=1, optimum=1.0),
        run("LH", [0.0, NAN], seed=2, optimum=1.0),
        run("H", [9.0], method="random_search", hash="bbbb2222", optimum=1.0),
    )
    table = analysis.summary(trials).set_index("method")
    btao = table.loc["btao"]
    assert (btao["seeds"], btao["n"]) == (3, 2)
    assert (btao["best_mean"], btao["best_low"], btao["best_high"]) == (4.0, 3.0, 5.0)
    assert (btao["regret_mean"], btao["regret_low"], btao["regret_high"]) == (3.0, 2.0, 4.0)
    assert (btao["light_runs"], btao["heavy_runs"], btao["failed_runs"]) == (4, 5, 3)
    assert (btao["train_seconds"], btao["train_seconds_total"]) == (4.5, 13.5)
    assert (btao["method_seconds"], btao["method_seconds_total"]) == (1.5, 4.5)
    single = table.loc["random_search"]
    assert (single["n"], single["best_mean"]) == (1, 9.0)
    assert math.isnan(single["best_low"]) and math.isnan(single["regret_high"])


def test_summary_when_all_trials_failed_or_the_optimum_is_unknown():
    table = analysis.summary(frame(run("HH", [NAN, NAN]), run("H", [1.0], task="svm", optimum=None)))
    failed, svm = table.iloc[0], table.iloc[1]
    assert (failed["seeds"], failed["n"], failed["failed_runs"]) == (1, 0, 2)
    assert math.isnan(failed["best_mean"]) and math.isnan(failed["regret_mean"])
    assert svm["best_mean"] == 1.0
    assert math.isnan(svm["regret_mean"])


def test_an_empty_frame_gives_empty_tables():
    empty = run("H", [1.0]).iloc[:0]
    states = analysis.incumbents(empty)
    assert states.empty
    assert analysis.aggregate(states).empty
    assert analysis.summary(empty).empty


def test_interval_is_the_exact_bootstrap_distribution():
    # Five values have 5**5 equally likely resamples, which can be listed.
    sample = np.array([0.0, 1.0, 2.0, 4.0, 9.0])
    means = np.sort([np.mean(resample) for resample in itertools.product(sample, repeat=5)])
    tail = 0.0009541005518824907  # Phi(-sqrt(5/4) * t_{0.975, 4}), t = 2.7764451052
    low, high = analysis.mean_interval(sample, resamples=50_000)
    assert low == pytest.approx(np.quantile(means, tail), abs=0.1)
    assert high == pytest.approx(np.quantile(means, 1 - tail), abs=0.2)


def test_interval_of_few_or_equal_values():
    low, high = analysis.mean_interval(np.array([[2.0]]))
    assert np.isnan(low).all() and np.isnan(high).all()
    assert [float(end) for end in analysis.mean_interval(np.array([3.0, 1.0]))] == [1.0, 3.0]
    low, high = analysis.mean_interval(np.full(7, 0.1))
    assert low == high == np.full(7, 0.1).mean()


def test_interval_covers_the_mean_as_often_as_it_says():
    samples = np.random.default_rng(11).normal(size=(2000, 10))
    low, high = analysis.mean_interval(samples, resamples=1000)
    covered = np.mean((low <= 0) & (high >= 0))
    assert covered == pytest.approx(0.95, abs=0.015)  # three standard errors


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=8), st.integers(0, 10))
def test_interval_stays_within_the_values_and_repeats(values, seed):
    sample = np.array(values)
    low, high = analysis.mean_interval(sample, resamples=200, seed=seed)
    rounding = 1e-12 * sample.max()
    assert sample.min() - rounding <= low <= high <= sample.max() + rounding
    assert (low, high) == analysis.mean_interval(sample, resamples=200, seed=seed)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("LH"), st.floats(0, 9) | st.just(NAN)), min_size=1, max_size=12))
def test_incumbents_agree_with_a_loop(trials):
    levels, values = zip(*trials, strict=True)
    expected, best = [], NAN
    for level, value in trials:
        if level == "H" and not math.isnan(value) and not value >= best:
            best = value
        expected.append(best)
    np.testing.assert_array_equal(analysis.incumbents(run("".join(levels), values))["value"], expected)
