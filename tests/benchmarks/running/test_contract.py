"""What methods and tasks hand over: cast where it can be, else refused by class and field, and not on record."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from scripted_runs import EXPERIMENT, Script, Square, change, info, rows, run, timeless

from baselines.protocol import Trial
from benchmarks.objectives.protocol import Curve, Evaluation, Time
from benchmarks.records.frames import load
from benchmarks.records.run_info import Status
from benchmarks.running.experiment import ExperimentFailed, Spec

X = {"x": 0.5}


class Scripted(Script):
    """Asks for trials that a test changes; a function of the trial and the number of trials so far."""

    change = staticmethod(lambda trial: trial)

    def ask(self):
        return type(self).change(super().ask())

    def tell(self, trial, measurement):
        self.state += 1


SCRIPTED = change(method=Spec("scripted", f"{__name__}:Scripted"))


@pytest.fixture
def asks(monkeypatch):
    return lambda function: monkeypatch.setattr(Scripted, "change", staticmethod(function))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda trial: None, "TypeError: ask of Scripted must return a Trial, got None"),
        (lambda trial: Trial("0", X, True, 7), "ask of Scripted: number must be an integer of at least 0, got '0'"),
        (lambda trial: Trial(0, X, True, 7.0), "ask of Scripted: budget must be an integer of at least 1, got 7.0"),
        (lambda trial: Trial(0, X, True, 6), "ask of Scripted: budget must be 7 for a heavy trial, got 6"),
        (lambda trial: Trial(0, X, 1, 7), "ask of Scripted: heavy must be True or False, got 1"),
        (lambda trial: Trial(0, {"x": 7.5}, True, 7), r"ask of Scripted: parameter 'x': .*7\.5"),
        (lambda trial: Trial(0, {"y": 0.5}, True, 7), "ask of Scripted: config has no parameter 'y'"),
        (lambda trial: Trial(0, {}, True, 7), r"ask of Scripted: config lacks a value for \['x'\]"),
        (lambda trial: Trial(0, None, True, 7), "ask of Scripted: config must map the names"),
        (lambda trial: Trial(0, X, False, 8), "ask of Scripted: budget must be at most 7, got 8"),
    ],
)
def test_a_trial_that_is_none_ends_the_run_before_anything_is_trained(tmp_path, asks, answer, message):
    asks(answer)
    with pytest.raises(ExperimentFailed, match=message) as failure:
        run(SCRIPTED, tmp_path)
    assert "\n" not in str(failure.value)
    assert Square.evaluated == []
    assert rows(SCRIPTED, tmp_path) == []


def test_a_number_is_asked_once(tmp_path, asks):
    asks(lambda trial: dataclasses.replace(trial, number=min(trial.number, 1)))
    with pytest.raises(ExperimentFailed, match="ask of Scripted: number must be one that no earlier trial has, got 1"):
        run(SCRIPTED, tmp_path)
    assert [row.trial for row in rows(SCRIPTED, tmp_path)] == [0, 1]


def test_numbers_of_numpy_are_recorded_as_plain_ones(tmp_path, asks, monkeypatch):
    run(SCRIPTED, tmp_path / "plain")
    asks(lambda trial: Trial(np.int64(trial.number), {"x": np.float64(trial.config["x"])}, trial.heavy, trial.budget))
    evaluate = Square.evaluate
    monkeypatch.setattr(Square, "evaluate", lambda *given: numpys(evaluate(*given)))
    monkeypatch.setattr(Square, "truth", lambda self, config: np.array(config["x"] ** 2))
    run(SCRIPTED, tmp_path / "numpy")
    assert timeless(SCRIPTED, tmp_path / "numpy") == timeless(SCRIPTED, tmp_path / "plain")


def numpys(evaluation):
    return Evaluation(np.array(evaluation.value), np.int64(evaluation.iterations))


def test_a_method_that_changes_its_trials_spoils_no_record(tmp_path, monkeypatch):
    run(SCRIPTED, tmp_path / "plain")

    def tell(self, trial, measurement):
        self.state += 1
        trial.config["x"] = "spoiled"

    monkeypatch.setattr(Scripted, "tell", tell)
    run(SCRIPTED, tmp_path / "spoiled")
    assert timeless(SCRIPTED, tmp_path / "spoiled") == timeless(SCRIPTED, tmp_path / "plain")


def test_a_task_that_changes_its_configurations_spoils_no_record(tmp_path, monkeypatch):
    run(EXPERIMENT, tmp_path / "plain")
    truth = Square.truth
    monkeypatch.setattr(Square, "truth", lambda self, config: truth(self, {"x": config.pop("x")}))
    run(EXPERIMENT, tmp_path / "spoiled")
    assert timeless(EXPERIMENT, tmp_path / "spoiled") == timeless(EXPERIMENT, tmp_path / "plain")


ONE = (0.5,)


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        (0.5, "TypeError: evaluate of Square must return an Evaluation, got 0.5"),
        (Evaluation(None, 1), "evaluate of Square: value must be a number, got None"),
        (Evaluation("0.5", 1), "evaluate of Square: value must be a number, got '0.5'"),
        (Evaluation(0.5, 1.0), "evaluate of Square: iterations must be an integer of at least 0, got 1.0"),
        (Evaluation(0.5, 4), "evaluate of Square: iterations must be at most 3, which were granted, got 4"),
        (
            Evaluation(math.nan, 1, ValueError("no")),
            r"evaluate of Square: error must be a text, got ValueError\('no'\)",
        ),
        (Evaluation(0.5, 1, seconds=-3), "evaluate of Square: seconds must not be below 0, got -3"),
        (Evaluation(0.5, 1, seconds=math.inf), "evaluate of Square: seconds must be a finite number, got inf"),
        (Evaluation(0.5, 1, processor_seconds=-3), "evaluate of Square: processor_seconds must not be below 0, got -3"),
        (Evaluation(0.5, 1, cached="yes"), "evaluate of Square: cached must be True or False, got 'yes'"),
        (Evaluation(0.5, 1, testing=Time(-1.0, 0.0)), "evaluate of Square: testing must not be below 0, got -1.0"),
        (Evaluation(0.5, 1, testing=Time(1e9, 0.0)), "reports 1000000000.0 seconds of testing in "),
        (Evaluation(0.5, 1, test_error="low"), "evaluate of Square: test_error must be a number, got 'low'"),
        (Evaluation(0.5, 1, answer={1: 2}), "evaluate of Square: answer must be a mapping of names"),
        (Evaluation(0.5, 1, answer={"a": 2}), "evaluate of Square: answer must hold configuration and distance"),
        (
            Evaluation(0.5, 1, answer={"configuration": "third", "distance": 0.1}),
            "evaluate of Square: answer.configuration must be an integer of at least 0, got 'third'",
        ),
        (
            Evaluation(0.5, 1, answer={"configuration": 3, "distance": "far"}),
            "evaluate of Square: answer.distance must be a number, got 'far'",
        ),
        (Evaluation(0.5, 1, answer={"configuration": 3, "distance": -1}), "answer.distance must not be below 0"),
        (Evaluation(0.5, 1, curve=[0.5]), "evaluate of Square: curve must be a Curve"),
        (Evaluation(0.5, 1, curve=Curve(ONE, ONE, ONE, ONE)), "evaluate of Square: the lists of curve must be equally"),
        (Evaluation(0.5, 1, curve=Curve(None, ONE, ONE, ONE, ONE)), "curve.validation_errors must be a list of num"),
        (Evaluation(0.5, 1, curve=Curve(ONE, ONE, (-0.1,), ONE, ONE)), r"curve\.seconds must not be below 0, got -0.1"),
        (Evaluation(0.5, 1, curve=Curve(("a",), ONE, ONE, ONE, ONE)), r"curve\.validation_errors must be a number"),
    ],
)
def test_an_evaluation_that_is_none_ends_the_run_and_the_corrected_task_goes_on(tmp_path, evaluation, message):
    run(EXPERIMENT, tmp_path / "undisturbed")
    Square.evaluated.clear()
    Square.accidents[1] = evaluation
    with pytest.raises(ExperimentFailed, match=message) as failure:
        run(EXPERIMENT, tmp_path)
    assert "\n" not in str(failure.value)
    assert len(rows(EXPERIMENT, tmp_path)) == 1
    assert load(tmp_path / "square")["time"].is_monotonic_increasing
    Square.accidents.clear()
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    assert timeless(EXPERIMENT, tmp_path) == timeless(EXPERIMENT, tmp_path / "undisturbed")


@pytest.mark.parametrize("method", ["prepare", "truth"])
def test_an_error_of_the_code_of_a_task_names_its_method_and_the_corrected_task_goes_on(tmp_path, monkeypatch, method):
    with monkeypatch.context() as patch:
        patch.setattr(Square, method, lambda *arguments: undefined)  # noqa: F821
        with pytest.raises(ExperimentFailed, match=f"{method} of Square failed with an error of its code: NameError: "):
            run(EXPERIMENT, tmp_path)
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED


def test_a_failure_without_a_reason_says_so(tmp_path):
    Square.evaluated.clear()
    Square.accidents[1] = Evaluation(math.nan, 1, "")
    try:
        run(EXPERIMENT, tmp_path)
    finally:
        Square.accidents.clear()
    assert rows(EXPERIMENT, tmp_path)[1].error == "no reason was given"


@pytest.mark.parametrize("value", [10**400, -(10**400), math.inf], ids=["large", "small", "inf"])
def test_a_value_beyond_a_float_is_a_failed_trial(tmp_path, value):
    Square.evaluated.clear()
    Square.accidents[1] = Evaluation(value, 1)
    try:
        assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    finally:
        Square.accidents.clear()
    assert rows(EXPERIMENT, tmp_path)[1].status == "failed"


@pytest.mark.parametrize("truth", ["bad", math.nan, [0.5, 0.5]])
def test_a_truth_that_is_no_number_ends_the_run_and_the_records_can_be_read(tmp_path, monkeypatch, truth):
    monkeypatch.setattr(Square, "truth", lambda self, config: truth)
    with pytest.raises(ExperimentFailed, match=r"truth of Square must be a (finite )?number, got "):
        run(EXPERIMENT, tmp_path)
    assert info(EXPERIMENT.folder(tmp_path)).status is Status.FAILED
    assert load(tmp_path).empty


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("0", "recommend of Script: number must be an integer of at least 0, got '0'"),
        (0, "recommend of Script: number must be that of a heavy trial that succeeded, or None, got 0"),
    ],
)
def test_a_recommendation_is_the_number_of_a_heavy_trial_that_succeeded(tmp_path, monkeypatch, number, message):
    monkeypatch.setattr(Script, "recommend", lambda self: number, raising=False)
    with pytest.raises(ExperimentFailed, match=message):
        run(EXPERIMENT, tmp_path)
    monkeypatch.setattr(Script, "recommend", lambda self: np.int64(2) if self.asked > 2 else None)
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    lines = (EXPERIMENT.folder(tmp_path) / "trials.jsonl").read_text().splitlines()
    assert [json.loads(line).get("recommended") for line in lines] == [None, None, *[2] * 10]


class Shifted(Square):
    def __init__(self):
        super().__init__(shift=np.float32(0.5))


def test_an_optimum_of_numpy_is_recorded(tmp_path):
    experiment = change(task=Spec("shifted", f"{__name__}:Shifted"))
    assert run(experiment, tmp_path) is Status.FINISHED
    assert info(experiment.folder(tmp_path)).optimum == 0.5
