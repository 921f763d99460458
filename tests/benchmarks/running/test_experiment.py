"""Experiments as data: what identifies them, what they refuse."""

import copy
import dataclasses
import hashlib
import json
import math
import pickle
from pathlib import Path

import pytest
from scripted_runs import EXPERIMENT, SCRIPT, SQUARE, Script, Square, WithData, change, info, rows, run

from baselines.protocol import Capabilities
from benchmarks.config.registry import target_of
from benchmarks.records.frames import load
from benchmarks.records.run_info import Status
from benchmarks.running.experiment import Budget, Experiment, ExperimentFailed, Spec
from benchmarks.running.source import Live


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
    assert change(source=Live({"folder": "elsewhere"})).hash == EXPERIMENT.hash


NAMED = (("task", "currin"), ("method", "random_search"))


class Other(Script):
    pass


class Typed:
    def __init__(self, a: tuple[float, float] = (0.0, 1.0), b: int | None = None, c=0.5, d="1", e: float = 1):
        pass


class OddSquare(Square):
    levels = "lite"

    def __init__(self):
        self.optimum = "none"


class Mute:
    capabilities = Capabilities()

    def __init__(self, problem, seed):
        pass


TYPED = f"{__name__}:Typed"


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ({"a": (-math.inf, 1), "b": 2}, {"b": 2, "a": [-math.inf, 1.0]}),
        ({"b": 3}, {"b": 3.0}),
        ({"c": 0.0, "a": [0, 1]}, {"c": -0.0, "a": [-0.0, 1]}),
        ({"c": 0}, {"c": 0.0}),  # of the default's type where nothing is annotated
        ({"e": 1}, {"e": 1.0}),  # of the annotation's where they differ
        ({"c": 1e-3}, {"c": 0.001}),
        ({"a": [0, 1]}, {"a": [0.0, 1]}),
    ],
)
def test_the_hash_is_the_same_however_the_parameters_are_written(one, same):
    first = change(task=Spec("t", TYPED, one), method=Spec("m", TYPED, one), budget=Budget(seconds=60))
    second = change(task=Spec("t", TYPED, same), method=Spec("m", TYPED, same), budget=Budget(seconds=60.0))
    assert first.hash == second.hash
    assert json.loads(json.dumps(first.identity, allow_nan=False)) == first.identity
    assert first.task.typed_parameters == second.task.typed_parameters


@pytest.mark.parametrize(
    ("one", "other"), [({"b": 2}, {"b": 2.5}), ({"d": "1"}, {"d": 1}), ({"c": True}, {"c": 1}), ({"b": None}, {})]
)
def test_the_hash_tells_other_parameters_apart(one, other):
    assert change(task=Spec("t", TYPED, one)).hash != change(task=Spec("t", TYPED, other)).hash


def test_the_hash_is_that_of_the_canonical_identity():
    experiment = Experiment(Spec("t", TYPED, {"a": [-math.inf, 0]}), Spec("m", TYPED), 0, Budget(heavy=1))
    text = (
        '{"budget": {"heavy": 1, "iterations": null, "seconds": null}, "data": null, '
        f'"method": {{"name": "m", "parameters": {{}}, "target": "{TYPED}", "version": 1}}, "source": "live", '
        f'"task": {{"name": "t", "parameters": {{"a": ["-inf", 0.0]}}, "target": "{TYPED}", "version": 1}}, '
        '"threads": 1}'
    )
    assert experiment.hash == hashlib.sha256(text.encode()).hexdigest()[:10]


def test_the_identity_holds_names_and_versions_and_no_path_of_a_class(monkeypatch):
    """So that classes can move, and a class says when its results come to mean something else."""
    currin, random_search = (Spec(name, target_of(group, name)) for group, name in NAMED)
    experiment = Experiment(currin, random_search, 0, Budget(heavy=1))
    assert experiment.identity["task"] == {"name": "currin", "version": 1, "parameters": {}}
    assert experiment.identity["method"] == {"name": "random_search", "version": 1, "parameters": {}}
    monkeypatch.setattr(currin.resolve(), "version", 2, raising=False)
    assert change(experiment, seed=1).identity["task"]["version"] == 2
    assert change(experiment, seed=1).hash != experiment.hash


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
        ({"method": Spec("odd", SQUARE.target)}, "odd: '.*Square' must declare `capabilities`, as .*got None"),
        ({"task": Spec("odd", "math.sin")}, "odd: 'math.sin' is <built-in function sin>: give where a class is"),
        ({"method": Spec("odd", f"{__name__}:TYPED")}, "odd: '.*TYPED' is '.*Typed': give where a class is"),
        ({"source": Live({"shift": 1}), "task": Spec("square", SQUARE.target, {"shift": 1})}, "no parameter 'shift'"),
    ],
)
def test_a_wrong_name_is_refused_before_anything_is_written(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        run(change(**changes), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_task_is_refused_in_one_line_that_names_all_that_it_lacks_and_all_that_is_wrong():
    with pytest.raises(ValueError, match=r"lacks space, light, .*truth") as reason:
        change(task=Spec("typed", TYPED)).objective()
    assert "\n" not in str(reason.value)
    with pytest.raises(ValueError, match=r"levels must be 'any' or 'two', got 'lite'; optimum must be .*, got 'none'"):
        change(task=Spec("odd", f"{__name__}:OddSquare")).objective()


def test_a_method_without_ask_is_refused():
    with pytest.raises(ValueError, match=r"mute: '.*Mute' has no ask and no tell"):
        change(method=Spec("mute", f"{__name__}:Mute")).build()


class HeavyOnly(Script):
    capabilities = Capabilities(levels="heavy")


@pytest.mark.parametrize(
    ("budget", "alone", "with_light"),  # heavy runs of 7 iterations
    [
        (Budget(heavy=4), 4, 4),
        (Budget(iterations=34), 4, None),
        (Budget(iterations=6), 1, None),
        (Budget(heavy=3, iterations=35), 3, 3),
        (Budget(heavy=9, iterations=35), 5, 9),
        (Budget(train_seconds=9.0), None, None),
    ],
)
def test_a_method_is_told_how_many_heavy_runs_the_budget_covers(budget, alone, with_light):
    for script, expected in (("HeavyOnly", alone), ("Script", with_light)):
        target = f"{__name__ if script == 'HeavyOnly' else 'scripted_runs'}:{script}"
        _, method = change(method=Spec("script", target), budget=budget).build()
        assert method.problem.n_heavy == expected


def test_an_error_inside_the_file_of_a_class_is_not_called_a_wrong_name(tmp_path, monkeypatch):
    (tmp_path / "broken_plugin.py").write_text("import math\nmath.no_such_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"'broken_plugin.Mine' cannot be imported: AttributeError: module 'math'"):
        Spec("mine", "broken_plugin.Mine").resolve()


def test_what_the_suite_gives_a_class_must_take():
    with pytest.raises(
        ValueError, match=r"square: '.*Square' must take the parameters data, data_dir, which the suite"
    ):
        Spec("square", SQUARE.target).build(data="auto", data_dir=None)


def test_a_task_that_says_that_it_trains_keeps_the_identity_of_its_runs(tmp_path, monkeypatch):
    before = change().identity
    monkeypatch.setattr(Square, "trains", True, raising=False)
    run(EXPERIMENT, tmp_path)
    assert change().identity == before and before["data"] is None
    assert all(row.processor_seconds >= 0 for row in rows(EXPERIMENT, tmp_path))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("name", None, "name of a DataSource must be a text"), ("n_train", "9", "n_train of a DataSource must be an int")],
)
def test_a_data_source_that_no_record_can_hold_is_refused(field, value, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(WithData.data, **{field: value})


def test_the_data_must_be_what_the_experiment_was_set_up_with(tmp_path):
    experiment = change(task=Spec("digits", "scripted_runs:WithData"), source=Live({"folder": "x"}))
    good = change(experiment, data=copy.copy(WithData.data))
    assert run(good, tmp_path) is Status.FINISHED
    described = info(good.folder(tmp_path))
    data = {"name": "digits", "sha256": "0" * 64, "n_train": 10, "n_validation": 5}
    assert described.identity["data"] == data
    assert set(load(tmp_path)["data"]) == {"digits"}
    with pytest.raises(ExperimentFailed, match=r"the data set is .*digits.* but the experiment was set up with None"):
        run(experiment, tmp_path)
