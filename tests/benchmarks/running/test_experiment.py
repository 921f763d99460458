"""Experiments as data: what identifies them, what they refuse."""

import copy
import dataclasses
import hashlib
import json
import math
import pickle
from pathlib import Path

import pytest
from scripted_runs import EXPERIMENT, SCRIPT, SQUARE, WithData, change, run

from benchmarks.records.frames import load
from benchmarks.records.run_folder import read_run
from benchmarks.running.experiment import Budget, Experiment, ExperimentFailed, Spec


def test_the_folder_is_named_by_task_method_hash_and_seed():
    assert len(EXPERIMENT.hash) == 10
    assert EXPERIMENT.folder("out") == Path(f"out/square/script-{EXPERIMENT.hash}/seed-4")


def test_the_hash_covers_all_that_decides_the_outcome_but_the_seed():
    others = [
        change(task=Spec("square", SQUARE.target, {"shift": 1.0})),
        change(task=Spec("cube", SQUARE.target)),
        change(method=Spec("script", SCRIPT.target, {"length": 9})),
        change(method=Spec("script", f"{__name__}:Other")),
        change(budget=Budget(heavy=5)),
        change(budget=Budget(heavy=4, iterations=100)),
        change(threads=2),
        change(data=WithData.data),
        change(data=dataclasses.replace(WithData.data, sha256="1" * 64)),
    ]
    assert len({experiment.hash for experiment in [EXPERIMENT, *others]}) == 10
    assert change(seed=9).hash == EXPERIMENT.hash
    assert change(data_arguments={"folder": "elsewhere"}).hash == EXPERIMENT.hash


def test_the_hash_is_the_same_however_the_parameters_are_written():
    first = change(task=Spec("t", "x.Y", {"a": (-math.inf, 1), "b": 2}), budget=Budget(seconds=60))
    second = change(task=Spec("t", "x.Y", {"b": 2, "a": [-math.inf, 1]}), budget=Budget(seconds=60.0))
    assert first.hash == second.hash
    assert json.loads(json.dumps(first.identity, allow_nan=False)) == first.identity
    assert first.identity["task"]["parameters"] == {"a": ["-inf", 1], "b": 2}


def test_the_hash_is_that_of_the_canonical_identity():
    experiment = Experiment(Spec("t", "x.Y", {"a": -math.inf}), Spec("m", "x.Z"), 0, Budget(heavy=1))
    text = (
        '{"budget": {"heavy": 1, "iterations": null, "seconds": null}, "data": null, '
        '"method": {"name": "m", "parameters": {}, "target": "x.Z"}, '
        '"task": {"name": "t", "parameters": {"a": "-inf"}, "target": "x.Y"}, "threads": 1}'
    )
    assert experiment.hash == hashlib.sha256(text.encode()).hexdigest()[:10]


@pytest.mark.parametrize(("field", "value"), [("seed", -1), ("seed", 1.5), ("threads", 0), ("seed", True)])
def test_seed_and_threads_are_checked(field, value):
    with pytest.raises(ValueError, match=f"{field} must be an integer of at least"):
        change(**{field: value})


def test_a_failure_survives_the_way_to_another_process():
    error = pickle.loads(pickle.dumps(ExperimentFailed("ValueError: no", Path("a/b"))))
    assert (str(error), error.folder) == ("ValueError: no", Path("a/b"))
    assert pickle.loads(pickle.dumps(EXPERIMENT)) == EXPERIMENT


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"method": Spec("script", SCRIPT.target, {"plam": 1})},
            "script has no parameter 'plam': did you mean 'plan'?",
        ),
        ({"method": Spec("script", SCRIPT.target, {"seed": 1})}, "script has no parameter 'seed'.* plan, length"),
        ({"task": Spec("square", SQUARE.target, {"shft": 1})}, "square has no parameter 'shft': did you mean 'shift'?"),
        ({"task": Spec("fcn", "benchmarks.objectives.fcn.FCN", {"n_train": None})}, "fcn: n_train cannot be null"),
        ({"task": Spec("square", "benchmarks.objectives.squares.Square")}, "nothing to be found at 'benchmarks.obj"),
        ({"task": Spec("square", f"{__name__}:Squares")}, "nothing to be found"),
        ({"method": Spec("odd", SQUARE.target)}, "odd: '.*Square' must declare `capabilities`"),
        ({"data_arguments": {"shift": 1}, "task": Spec("square", SQUARE.target, {"shift": 1})}, "no parameter 'shift'"),
    ],
)
def test_a_wrong_name_is_refused_before_anything_is_written(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        run(change(**changes), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_data_must_be_what_the_experiment_was_set_up_with(tmp_path):
    experiment = change(task=Spec("digits", "scripted_runs:WithData"), data_arguments={"folder": "x"})
    good = change(experiment, data=copy.copy(WithData.data))
    assert run(good, tmp_path) == "finished"
    described = read_run(good.folder(tmp_path))
    assert described["data"] == {"name": "digits", "sha256": "0" * 64, "n_train": 10, "n_validation": 5}
    assert described["data_arguments"] == {"folder": "x"}
    assert set(load(tmp_path)["data"]) == {"digits"}
    with pytest.raises(ExperimentFailed, match=r"the data set is .*digits.* but the experiment was set up with None"):
        run(experiment, tmp_path)
