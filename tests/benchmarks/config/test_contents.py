"""What the files of a task and of a method hold: the key that is wrong is named, with what would be right."""

from __future__ import annotations

import re

import pytest

from benchmarks.common.errors import UsageError
from benchmarks.config.contents import check

TASK = {
    "name": "mine",
    "description": "a bowl",
    "_target_": "mine.Bowl",
    "parameters": {"shift": 0.0},
    "scales": {scale: {"budget": {"heavy": 3}} for scale in ("smoke", "laptop", "paper")},
}


def scaled(**smoke):
    return {"scales": TASK["scales"] | {"smoke": smoke}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"parameters": {}},
        {"needs_data": "mnist", "grid": {"x": [0.0, 1.0]}},
        scaled(budget={"iterations": 9, "train_seconds": 0.5}, parameters={"shift": 1.0}),
    ],
)
def test_a_sound_task_passes(changes):
    check("task", "mine", TASK | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameters": None}, "parameters=null: give a value for each parameter of the class, or leave the key out"),
        ({"parametres": {}}, "unknown key 'parametres': did you mean 'parameters'?"),
        ({"parameters": {1: 2}}, "the key 1 in parameters is no text"),
        ({7: 2}, "the key 7 is no text"),
        ({"parameters": {"day": object}}, "parameters.day=<class 'object'>: give a number, a text in quotes"),
        ({"name": "other"}, "name=other: give mine, as the file is called"),
        ({"description": "two\nlines"}, "description='two\\nlines': give a text of one line"),
        ({"_target_": "Bowl"}, "_target_=Bowl: give where the class is, as package.module.Class"),
        ({"_target_": None}, "_target_=null: give where the class is"),
        ({"needs_data": ""}, "needs_data=: give the name of a data set, or leave the key out"),
        ({"parameters": {"mode": "${nope}"}}, "parameters.mode=${nope}: nothing is put in its place here"),
        ({"parameters": {"mode": "???"}}, "parameters.mode=???: nothing is put in its place here"),
        ({"needs_data": True}, "needs_data=True: give the name of a data set, or leave the key out"),
        ({"grid": {"x": 1}}, "grid.x=1: give a list of values"),
        ({"scales": None}, "scales=null: give a budget for each of smoke, laptop, paper"),
        ({"scales": {"smoke": {"budget": {"heavy": 3}}}}, "'scales.laptop' is missing: give a budget for each of"),
        ({"scales": {"smok": {}}}, "unknown key 'scales.smok': did you mean 'scales.smoke'?"),
        (scaled(), "scales.smoke has no budget: give one or more limits of heavy, iterations"),
        (scaled(budget=None), "scales.smoke.budget=null: give one or more limits of heavy, iterations"),
        (scaled(budget={"hevy": 3}), "'scales.smoke.budget.hevy': did you mean 'scales.smoke.budget.heavy'?"),
        (scaled(budget={"heavy": "3"}), "scales.smoke.budget.heavy=3: give an integer of at least 1"),
        (scaled(budget={"seconds": 0}), "scales.smoke.budget.seconds=0: give a number of seconds above 0"),
        (scaled(budget={"heavy": 3}, parameters={"shft": 1}), "did you mean 'scales.smoke.parameters.shift'?"),
        (scaled(budget={"heavy": 3}, seeds=3), "unknown key 'scales.smoke.seeds'"),
    ],
)
def test_a_mistake_in_a_task_is_one_line_that_names_the_key_and_what_would_be_right(changes, message):
    with pytest.raises(UsageError, match=re.escape(message)) as reason:
        check("task", "mine", TASK | changes)
    assert "\n" not in str(reason.value)


@pytest.mark.parametrize("key", ["name", "description", "_target_", "scales"])
def test_what_a_task_lacks_is_named(key):
    with pytest.raises(UsageError, match=f"the key '{key}' is missing"):
        check("task", "mine", {name: value for name, value in TASK.items() if name != key})


def test_a_list_of_defaults_is_refused():
    with pytest.raises(UsageError, match="unknown key 'defaults'"):
        check("method", "mine", {"_target_": "mine.Method", "defaults": ["other"]})


def test_a_value_that_holds_itself_is_refused():
    itself = {}
    itself["mode"] = itself
    with pytest.raises(UsageError, match=r"parameters\.mode holds itself: give a value of its own"):
        check("task", "mine", TASK | {"parameters": itself})
    twice = {"low": 0.0}
    check("method", "mine", {"_target_": "mine.Method", "one": twice, "other": twice})


def test_a_method_has_a_class_and_any_parameters():
    check("method", "mine", {"_target_": "mine.Method", "n_init": None, "bounds": [0, 1]})
    with pytest.raises(UsageError, match="the key '_target_' is missing"):
        check("method", "mine", {"n_init": 3})
    with pytest.raises(UsageError, match="the key 1 is no text"):
        check("method", "mine", {"_target_": "mine.Method", 1: 2})
