"""What a run is worth, alone and on the scale that tasks share."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from benchmarks.analysis import scores
from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.over_time import ranks_over_time
from support import frame, run

NAN = math.nan


def test_scores_at_the_end_are_regrets_where_known_else_values():
    states = incumbents(
        frame(
            run("HH", [3.0, 2.0], optimum=1.0),
            run("HL", [NAN, 0.0], optimum=1.0, seed=1),
            run("H", [0.4], task="svm", optimum=None),
        )
    )
    table = scores.scores(states)
    assert table["score"].tolist() == [1.0, math.inf, 0.4]  # a run that found nothing is worst, not missing
    assert scores.scores(states, "value")["score"].tolist() == [2.0, math.inf, 0.4]
    assert table["seed"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("measure", [None, "regret"])
def test_runs_whose_regrets_are_rounding_tie(measure):
    left = [-1e-12, 1e-12, 9e-10, 2e-9]
    states = incumbents(frame(*(run("H", [1 + more], optimum=1.0, seed=seed) for seed, more in enumerate(left))))
    expected = [0.0, 0.0, 0.0, pytest.approx(2e-9)]
    assert scores.scores(states, measure)["score"].tolist() == expected
    assert scores.scores(states, "value")["score"].tolist() == [1 + more for more in left]


def test_methods_that_have_found_an_optimum_share_a_rank():
    found = [run("HH", [2.0, end], optimum=1.0, method=method) for method, end in (("gp_bo", 1.0), ("btao", 1 + 1e-13))]
    found.append(run("HH", [2.0, 1.1], optimum=1.0, method="tpe"))
    ranks = ranks_over_time(incumbents(frame(*found)), shares=[1.0]).set_index("label")["rank"]
    assert ranks.to_dict() == {"gp_bo": 1.5, "btao": 1.5, "tpe": 3.0}


def test_scores_at_a_cost_are_held_and_never_extrapolated():
    states = incumbents(
        frame(run("HHH", [4.0, 2.0, 1.0]), run("HH", [8.0, 4.0], seed=1), run("LLH", [0, 0, 3.0], seed=2))
    )
    at = scores.scores(states, against="time", at=5.0)["score"]
    np.testing.assert_array_equal(at, [2.0, NAN, math.inf])  # the second ended at 4 s, the third had no result
    for wrong in ({"at": 1.0}, {"against": "time"}):
        with pytest.raises(ValueError, match="against and at go together"):
            scores.scores(states, **wrong)
    with pytest.raises(ValueError, match=r"against must be one of .*, got 'epochs'"):
        scores.scores(states, against="epochs", at=1.0)
    with pytest.raises(ValueError, match="measure must be one of value, regret, test_error, got 'truth'"):
        scores.scores(states, "truth")


def test_normalized_scores_by_hand():
    states = incumbents(
        frame(
            run("HH", [5.0, 3.0], optimum=1.0),  # regrets 4, 2
            run("HH", [9.0, 1.0], optimum=1.0, method="gp_bo"),  # 8, 0: the first ones have the mean 6
            run("LH", [0.0, 0.9], task="svm", optimum=None),
            run("HH", [0.5, 0.3], task="svm", optimum=None, method="gp_bo"),  # best 0.3, start 0.7
        )
    )
    table = scores.normalized(states)
    np.testing.assert_allclose(table["score"], [2 / 6, 0.0, 0.6 / 0.4, 0.0], atol=1e-15)
    with pytest.raises(ValueError, match="task 'currin' gives no scale"):
        scores.normalized(incumbents(run("H", [0.0])))


def many_tasks(n_tasks, n_seeds=3):
    rng = np.random.default_rng(2)
    return frame(
        *(
            run("HH", [4.0 + rng.random(), rng.random() + worse], method=method, task=f"task_{task}", seed=seed)
            for method, worse in (("btao", 0.0), ("tpe", 1.0))
            for task in range(n_tasks)
            for seed in range(n_seeds)
        )
    )


def test_across_tasks_pools_all_runs_and_resamples_within_tasks():
    table = scores.normalized(incumbents(many_tasks(5)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = scores.across_tasks(table, "mean").set_index("label")
    assert result.index.tolist() == ["btao", "tpe"]
    assert result["n"].tolist() == [15, 15]
    assert result.loc["tpe", "score"] == pytest.approx(table[table["label"] == "tpe"]["score"].mean())
    assert (result["low"] < result["score"]).all() and (result["score"] < result["high"]).all()


def test_across_tasks_warns_of_few_tasks_and_of_tasks_left_out():
    trials = many_tasks(3)
    trials = trials[(trials["task"] != "task_0") | (trials["method"] != "tpe")]
    with pytest.warns(UserWarning) as caught:
        result = scores.across_tasks(scores.normalized(incumbents(trials)))
    assert [str(one.message).split(":")[0] for one in caught] == [
        "left out 1 of 3 tasks",
        "2 tasks only, fewer than 5",
    ]
    assert all(one.filename == __file__ for one in caught)
    assert result["tasks"].tolist() == [2, 2] and result["dropped"].tolist() == [1, 1]
    alone = frame(run("HH", [2.0, 1.0]), run("HH", [2.0, 1.0], task="park", method="tpe"))
    with pytest.raises(ValueError, match="no task has runs of all of btao, tpe"):
        scores.across_tasks(scores.normalized(incumbents(alone)))


def test_scores_of_several_tasks_are_not_pooled_in_their_units():
    with pytest.raises(ValueError, match="on one scale, as `normalized` returns them"):
        scores.across_tasks(scores.scores(incumbents(many_tasks(2))))


def test_settings_of_one_task_count_as_one():
    names = {f"task_{number}": "currin" for number in range(4)}
    with pytest.warns(UserWarning, match="2 tasks only, fewer than 5"):
        scores.across_tasks(scores.normalized(incumbents(many_tasks(5))), task_of=names)
    assert scores.distinct(["a", "b"]) == 2


def test_a_run_that_found_nothing_makes_a_mean_infinite_and_not_a_median():
    table = scores.normalized(incumbents(frame(many_tasks(1), run("HH", [NAN, NAN], task="task_0", seed=9))))
    with pytest.warns(UserWarning, match="1 task only"):
        mean = scores.across_tasks(table, "mean").set_index("label").loc["btao"]
    with pytest.warns(UserWarning, match="1 task only"):
        median = scores.across_tasks(table, "median").set_index("label").loc["btao"]
    assert math.isinf(mean["score"]) and math.isnan(mean["low"])
    assert math.isfinite(median["score"]) and math.isnan(median["low"])
