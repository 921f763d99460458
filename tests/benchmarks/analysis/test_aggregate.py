"""Curves and final tables against hand-worked cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.analysis import aggregate as analysis
from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.intervals import Resampling, interval
from support import frame, run

NAN = math.nan


def test_two_hashes_of_a_method_are_labeled_apart_and_not_pooled():
    trials = frame(
        run("H", [1.0], hash="abcdef01"),
        run("H", [3.0], hash="abcdee99"),
        run("H", [2.0], method="gp_bo", hash="77777777"),
        run("H", [2.0], task="park", hash="66666666"),
    )
    states = incumbents(trials)
    assert set(states["label"]) == {"btao [abcdef]", "btao [abcdee]", "gp_bo", "btao"}
    table = analysis.summary(trials).set_index(["task", "label"])
    assert table.loc[("currin", "btao [abcdef]"), "best_mean"] == 1.0
    assert table.loc[("currin", "btao [abcdee]"), "best_mean"] == 3.0
    curves = analysis.aggregate(states, measure="value")
    assert curves["n"].tolist() == [1, 1, 1, 1]


def test_labels_tell_methods_apart_by_their_parameters_where_these_are_on_record():
    trials = frame(
        run("H", [1.0], hash="abcdef01").assign(parameters='{"n_init": 2, "start": "nested"}'),
        run("H", [3.0], hash="abcdee99").assign(parameters='{"n_init": 3, "start": "nested"}'),
        run("H", [3.0], hash="55555555", task="park").assign(parameters='{"n_init": 3, "start": "nested"}'),
        run("H", [2.0], method="gp_bo", hash="77777777"),
    )
    table = analysis.summary(trials).set_index(["task", "label"])
    assert set(table.index) == {
        *(("currin", "btao [n_init=2]"), ("currin", "btao [n_init=3]"), ("currin", "gp_bo"), ("park", "btao")),
    }


def test_hold_is_a_step_and_undefined_outside():
    x, y = np.array([1.0, 3.0]), np.array([5.0, 2.0])
    held = analysis.hold(x, y, np.array([0.9, 1.0, 2.999, 3.0, 3.1]))
    np.testing.assert_array_equal(held, [NAN, 5, 5, 2, NAN])
    assert analysis.hold(np.array([1.0, 1.0]), y, np.array([1.0])).tolist() == [2.0]


def test_a_seed_that_ends_early_keeps_its_last_value():
    states = incumbents(
        frame(
            run("HHH", [4.0, 2.0, 1.0]),
            run("HH", [8.0, 4.0], seed=1),
            run("LHH", [0.0, NAN, 6.0], seed=7),
        )
    )
    curve = analysis.aggregate(states).set_index("heavy_runs")
    assert curve.index.tolist() == [0, 1, 2, 3]
    assert curve["n"].tolist() == [0, 0, 3, 3]
    assert curve["ended"].tolist() == [0, 0, 0, 2]
    assert curve["seeds"].tolist() == [3] * 4
    np.testing.assert_allclose(curve["mean"], [NAN, NAN, 4, 11 / 3])
    np.testing.assert_array_equal(curve["median"], [NAN, NAN, 4, 4])
    np.testing.assert_array_equal(curve["q25"], [NAN, NAN, 3, 2.5])
    np.testing.assert_array_equal(curve["q75"], [NAN, NAN, 5, 5])
    np.testing.assert_array_equal(curve["low"], [NAN, NAN, 2, 1])
    np.testing.assert_array_equal(curve["high"], [NAN, NAN, 6, 6])


def test_aggregate_on_each_axis_counts_light_runs():
    states = incumbents(frame(run("LHH", [0.0, 4.0, 2.0]), run("HLL", [6.0, 0.0, 0.0], seed=1)))
    # A heavy run is granted 5 iterations, a light one 1.
    curve = analysis.aggregate(states, "heavy_equivalents", "value").set_index("heavy_equivalents")
    assert curve.index.tolist() == [0.2, 1.0, 1.2, 1.4, np.nextafter(1.4, 2), 2.2]
    assert curve["n"].tolist() == [0, 0, 2, 2, 2, 2]
    assert curve["ended"].tolist() == [0, 0, 0, 0, 1, 1]
    np.testing.assert_array_equal(curve["mean"], [NAN, NAN, 5, 5, 5, 4])
    curve = analysis.aggregate(states, "time", "value").set_index("time")
    np.testing.assert_array_equal(curve.loc[[2.0, 4.0, 6.0], "mean"], [NAN, 5, 4])
    curve = analysis.aggregate(states, "train_seconds", "value").set_index("train_seconds")
    np.testing.assert_array_equal(curve.loc[[1.5, 3.0, 4.5], "mean"], [NAN, 5, 4])


def test_a_seed_without_a_heavy_result_is_in_no_step_and_delays_none():
    states = incumbents(frame(run("HH", [3.0, 1.0]), run("HLHH", [NAN, 0.0, NAN, NAN], seed=1)))
    curve = analysis.aggregate(states, measure="value")
    assert curve["n"].tolist() == [1, 1, 1]
    assert curve["seeds"].tolist() == [2, 2, 2]
    assert curve["mean"].tolist() == [3.0, 1.0, 1.0]


RAGGED = st.lists(
    st.lists(
        st.tuples(st.sampled_from("LH"), st.one_of(st.just(NAN), st.floats(0, 1e3)), st.floats(1e-3, 1e3)),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None, max_examples=20)
@given(RAGGED)
def test_means_medians_and_interquartile_means_of_best_values_never_rise(runs):
    """Of seeds that begin late, end early, fail, and take their own time."""
    trials = frame(
        *(
            run("".join(levels), values, seed=seed).assign(train_seconds=seconds, time=np.cumsum(seconds))
            for seed, (levels, values, seconds) in enumerate(zip(*each, strict=True) for each in runs)
        )
    )
    states = incumbents(trials)
    for against in ("heavy_runs", "heavy_equivalents", "train_seconds"):
        if states[against].isna().any():
            continue  # heavy equivalents of a task without any heavy trial
        curve = analysis.aggregate(states, against, "value", resampling=Resampling(resamples=5))
        drawn = curve[curve["n"] > 0]
        assert drawn.index.tolist() == curve.index.tolist()[len(curve) - len(drawn) :]
        assert drawn["n"].nunique() <= 1
        assert (np.diff(drawn[["mean", "median", "iqm"]], axis=0) <= 0).all(axis=None)


def test_aggregate_gives_the_interval_of_the_statistic_asked_for():
    rng = np.random.default_rng(4)
    values = rng.random((8, 3))
    states = incumbents(frame(*(run("HHH", row, seed=seed) for seed, row in enumerate(values))))
    best = np.minimum.accumulate(values, axis=1).T
    for statistic, expected in (
        ("mean", best.mean(axis=1)),
        ("median", np.median(best, axis=1)),
        ("iqm", stats.trim_mean(best, 0.25, axis=1)),
    ):
        curve = analysis.aggregate(states, statistic=statistic)
        np.testing.assert_allclose(curve[statistic], expected)
        assert (curve["statistic"] == statistic).all()
        low, high = interval(best, statistic)
        np.testing.assert_array_equal(curve[["low", "high"]].T, [low, high])


def test_steps_that_change_nothing_repeat_the_statistics():
    states = incumbents(frame(*(run("HLLLH", [3.0 + seed, 0, 0, 0, 1.0], seed=seed) for seed in range(6))))
    curve = analysis.aggregate(states, "time")
    assert curve["mean"].tolist() == [5.5] * 4 + [1.0]
    assert curve["low"].nunique() == 2
    assert curve["n"].tolist() == [6] * 5


def test_readings_are_what_a_curve_has_at_a_cost_while_all_its_seeds_run():
    btao = run("HHH", [4.0, 3.0, 2.0]), run("HH", [2.0, 1.0], seed=1)
    trials = frame(*btao, run("LH", [1.0, 5.0], method="tpe", hash="b"))
    curves = analysis.aggregate(incumbents(trials), "train_seconds", "value", statistic="median")
    read = analysis.readings(curves, "train_seconds", [1.4, 1.5, 3.0, 3.1])
    assert read.columns.tolist() == [*analysis.IDENTITY, "train_seconds", "median", "low", "high"]
    values = {label: rows["median"].tolist() for label, rows in read.groupby("label")}
    np.testing.assert_array_equal(values["btao"], [NAN, 3.0, 2.0, NAN])
    np.testing.assert_array_equal(values["tpe"], [NAN, NAN, 5.0, NAN])


def test_aggregate_keeps_methods_without_any_result():
    curve = analysis.aggregate(incumbents(run("HH", [NAN, NAN])))
    assert curve["n"].tolist() == [0, 0]
    assert curve[["mean", "low", "high", "median"]].isna().all(axis=None)


def test_aggregate_names_a_wrong_axis_or_measure():
    states = incumbents(run("H", [1.0]))
    with pytest.raises(
        ValueError, match="against must be one of heavy_runs, heavy_equivalents, train_seconds, time, got 'epochs'"
    ):
        analysis.aggregate(states, "epochs")
    with pytest.raises(ValueError, match="measure must be one of value, regret, test_error, got 'accuracy'"):
        analysis.aggregate(states, measure="accuracy")
    with pytest.raises(ValueError, match="statistic must be one of mean, median, iqm, got 'mode'"):
        analysis.aggregate(states, statistic="mode")


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
    assert (btao["best_median"], btao["best_iqm"], btao["regret_median"]) == (4.0, 4.0, 3.0)
    assert (btao["light_runs"], btao["heavy_runs"], btao["failed_runs"]) == (4, 5, 3)
    assert btao["heavy_equivalents"] == pytest.approx((2.2 + 2.4 + 1.2) / 3)
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
    states = incumbents(empty)
    assert states.empty
    assert analysis.aggregate(states).empty
    assert analysis.summary(empty).empty


def test_a_run_that_ends_by_seconds_of_training_is_charged_no_more_than_its_budget():
    trials = frame(run("LHH", [0.0, 4.0, 2.0]), run("HHHHH", [3.0] * 5, seed=1)).assign(train_budget=4.0)
    (row,) = analysis.summary(trials).to_dict("records")  # of whose seeds one spent 4.5 s, and one 7.5
    assert (row["train_seconds"], row["train_seconds_total"]) == (4.0, 8.0)


def test_runs_without_a_result_are_named_with_their_last_error():
    failed = run("LHH", [0.0, NAN, NAN]).assign(error=[None, "ValueError: first", "ValueError: no"])
    assert analysis.without_result(frame(run("LH", [0.0, 1.0], seed=1), run("HH", [NAN, 1.0], seed=2))) == []
    assert analysis.without_result(frame(failed, run("H", [1.0], seed=1), run("L", [0.0], seed=2))) == [
        "btao, seed 0: 2 heavy trials, none succeeded, the last with: ValueError: no",
        "btao, seed 2: 0 heavy trials, none succeeded",
    ]
