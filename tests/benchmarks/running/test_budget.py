"""Budgets: what a run is charged and when it ends; a method asked within one stays within it."""

import math

import pytest
from scripted_runs import EXPERIMENT, SQUARE, Square, change, rows, run

from benchmarks.analysis.incumbents import incumbents
from benchmarks.objectives.protocol import Evaluation
from benchmarks.records.frames import load
from benchmarks.records.run_info import Status
from benchmarks.running import experiment as module
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Spec


def test_heavy_trials_are_counted_and_the_last_one_ends_the_run(tmp_path):
    run(change(budget=Budget(heavy=2)), tmp_path)
    assert [row.heavy for row in rows(change(budget=Budget(heavy=2)), tmp_path)] == [False, False, True] * 2


def test_failed_heavy_trials_count(tmp_path):
    Square.accidents.update(dict.fromkeys(range(100), RuntimeError("no")))
    run(EXPERIMENT, tmp_path)
    assert sum(row.heavy for row in rows(EXPERIMENT, tmp_path)) == 4


@pytest.mark.parametrize(
    ("iterations", "budgets"), [(13, [3, 3, 7]), (12, [3, 3]), (5, [3]), (2, []), (16, [3, 3, 7, 3])]
)
def test_iterations_are_never_exceeded_and_a_trial_that_does_not_fit_is_not_started(tmp_path, iterations, budgets):
    experiment = change(budget=Budget(iterations=iterations))
    assert run(experiment, tmp_path) is Status.FINISHED
    assert [row.budget for row in rows(experiment, tmp_path)] == budgets


def test_iterations_are_charged_as_consumed(tmp_path):
    experiment = change(task=Spec("square", SQUARE.target, {"consumed": 2}), budget=Budget(iterations=13))
    run(experiment, tmp_path)
    # After 2, 4, 6 and 8 iterations there is room for the next grant of 3, 7, 3 and 3, after 10 not for one of 7.
    assert [row.budget for row in rows(experiment, tmp_path)] == [3, 3, 7, 3, 3]


def test_an_error_is_charged_all_that_was_granted_and_free_trials_one_iteration(tmp_path):
    Square.accidents.update({0: ValueError("no"), 1: Evaluation(1.0, 0), 2: Evaluation(1.0, 0)})
    experiment = change(budget=Budget(iterations=11))
    run(experiment, tmp_path)
    assert [row.iterations for row in rows(experiment, tmp_path)] == [3, 0, 0, 3, 3]


def test_seconds_are_those_of_training_and_method(tmp_path, monkeypatch):
    ticks = iter(range(1000))
    monkeypatch.setattr(module.time, "perf_counter", lambda: float(next(ticks)))  # ask, evaluate, tell: 1 s each
    experiment = change(budget=Budget(seconds=7))
    run(experiment, tmp_path)
    assert [(row.train_seconds, row.method_seconds, row.time) for row in rows(experiment, tmp_path)] == [
        *((1.0, 2.0, 3.0), (1.0, 2.0, 6.0), (1.0, 2.0, 9.0))
    ]


def test_seconds_of_training_leave_out_the_method_and_the_trial_that_exceeds_them_is_the_last(tmp_path, monkeypatch):
    ticks = iter(range(1000))
    monkeypatch.setattr(module.time, "perf_counter", lambda: float(next(ticks)))
    for limit, trials in ((2.0, 2), (2.5, 3)):
        experiment = change(budget=Budget(train_seconds=limit))
        assert run(experiment, tmp_path) is Status.FINISHED
        assert [row.train_seconds for row in rows(experiment, tmp_path)] == [1.0] * trials
    (frame,) = (each for _, each in load(tmp_path).groupby("hash") if len(each) == 3)
    assert frame["train_budget"].tolist() == [2.5] * 3
    assert incumbents(frame)["train_seconds"].tolist() == [1.0, 2.0, 2.5]
    assert incumbents(frame)["value"].isna().all()  # the third trial is the first heavy one, and it came too late


def test_a_budget_that_is_not_given_is_not_in_the_identity():
    assert change(budget=Budget(heavy=2)).identity["budget"] == {"heavy": 2, "iterations": None, "seconds": None}
    assert change(budget=Budget(train_seconds=2)).identity["budget"]["train_seconds"] == 2.0


def test_whichever_limit_comes_first_ends_the_run(tmp_path):
    for name, budget in {"a": Budget(heavy=1, iterations=10**6), "b": Budget(heavy=9, iterations=13)}.items():
        run(change(budget=budget), tmp_path / name)
        assert len(rows(change(budget=budget), tmp_path / name)) == 3


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "at least one of heavy, iterations, seconds, train_seconds"),
        ({"heavy": 0}, r"budget.heavy must be an integer of at least 1, got 0"),
        ({"heavy": 2.5}, r"budget.heavy must be an integer of at least 1, got 2.5"),
        ({"iterations": -1}, r"budget.iterations must be an integer of at least 1, got -1"),
        ({"iterations": True}, r"budget.iterations must be an integer"),
        ({"seconds": 0}, r"budget.seconds must be a finite number above 0, got 0"),
        ({"seconds": math.inf}, r"budget.seconds must be a finite number above 0, got inf"),
        ({"seconds": "60"}, r"budget.seconds must be a finite number above 0, got '60'"),
    ],
)
def test_a_budget_must_limit_something_sensibly(limits, message):
    with pytest.raises(ValueError, match=message):
        Budget(**limits)
