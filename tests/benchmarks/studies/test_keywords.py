"""Keywords as the words of a command."""

from pathlib import Path

import numpy as np
import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from baselines.random_search import RandomSearch
from benchmarks.common.errors import UsageError
from benchmarks.config.request import read
from benchmarks.records.command import Command, Job
from benchmarks.studies.functions import task as task_of
from benchmarks.studies.keywords import keywords
from btao import Real, Space

NONE = {"budget": None, "parameters": None, "task_parameters": None}
JOB = Job("", "toy", "0", (0,), {})


def words(task="toy", methods=None, **given):
    return list(keywords(task, methods, **{**NONE, **given}).words)


def test_names_and_options_are_those_of_the_command():
    asked = words(
        methods=["btao_joint", "tpe"],
        seeds=range(2, 4),
        budget={"train_seconds": np.float64(2.5), "heavy": np.int64(3)},
        parameters={"btao_joint": {"light_per_heavy": 4, "start": "random"}},
        task_parameters={"noise": 0.5, "rho_bounds": (0, 1)},
        out=Path("my runs"),
        address="tcp://a:1",
        engine="dask",
        shared_init=True,
        scale=None,
    )
    assert asked == [
        *("task=toy", "method=[btao_joint,tpe]", "budget.train_seconds=2.5", "budget.heavy=3"),
        *("methods.btao_joint.light_per_heavy=4", "methods.btao_joint.start=random"),
        *("task.parameters.noise=0.5", "task.parameters.rho_bounds=[0,1]"),
        *("seeds=[2,3]", "out=my runs", "engine.address=tcp://a:1", "engine=dask", "shared_init=true"),
    ]
    (request,) = read(asked)
    assert (request.seeds, request.budget) == ((2, 3), {"heavy": 3, "train_seconds": 2.5})
    assert (request.out, request.address, request.shared_init) == (Path("my runs"), "tcp://a:1", True)
    assert request.methods["btao_joint"]["light_per_heavy"] == 4


@pytest.mark.parametrize(
    "text", ["plain", "it's", "a,b", "1", "null", "${x}", " ", "", "a\\", "a\\'b", "\\${x}\\", "é"]
)
def test_a_text_stays_a_text(text):
    (request,) = read([*words(parameters={"btao_joint": {"start": text}}, methods="btao_joint")])
    assert request.methods["btao_joint"]["start"] == text


SIGNS = st.text(st.sampled_from("'\"\\${}[]():=,.+-?~@/ \t\nae1é"), max_size=8)


@given(st.lists(st.one_of(SIGNS, st.text(max_size=8)).filter(lambda text: text != "???"), max_size=4))
def test_any_texts_come_back_as_hydra_and_omegaconf_read_them(texts):
    (word,) = (word for word in words(task_parameters={"x": texts}) if word.startswith("task.parameters.x="))
    (override,) = OverridesParser.create().parse_overrides([word])
    read_again = OmegaConf.create({"x": override.value()})
    assert OmegaConf.to_container(read_again, resolve=True, throw_on_missing=True) == {"x": texts}


def test_a_text_and_keys_that_a_command_line_cannot_hold_are_refused():
    with pytest.raises(UsageError, match=r"^task.parameters.x='\?\?\?': give another text"):
        words(task_parameters={"x": "???"})
    assert words(task_parameters={"x": {"a-1": "b c"}})[-1] == "task.parameters.x={a-1:'b c'}"
    for key in ("a b", "null", "", 1):
        with pytest.raises(UsageError, match=f"^task.parameters.x: the key {key!r} cannot be given"):
            words(task_parameters={"x": {key: 1}})


def test_a_call_of_names_is_a_command_and_one_with_a_class_is_a_call():
    by_name = keywords("toy", "btao", **NONE, seeds=3).command(JOB, ["task=toy", "seeds=3"])
    assert str(by_name) == "python -m benchmarks.run task=toy seeds=3"
    by_class = keywords("toy", ["btao", RandomSearch], **NONE, seeds=3).command(JOB, [])
    assert str(by_class) == "study.run(task='toy', methods=['btao', RandomSearch], seeds=3)"
    assert str(by_class.given(method="btao", seeds="[7]")) == "study.run(task='toy', methods='btao', seeds=[7])"
    assert str(by_class.given(method="RandomSearch", seeds="[7]")).endswith("methods=RandomSearch, seeds=[7])")
    assert Command.from_json({"module": by_class.module, "arguments": [*by_class.arguments], "jobs": []}) == by_class


def test_the_folders_of_a_call_are_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.parquet").touch()
    asked = keywords("toy", RandomSearch, **NONE, out=Path("runs"), conf="..", table="t.parquet", data_dir=None)
    call = str(asked.command(JOB, []))
    assert f"out={str(tmp_path / 'runs')!r}, conf={str(tmp_path.parent)!r}, " in call
    assert f"table={str(tmp_path / 't.parquet')!r}" in call
    named = keywords("svm", RandomSearch, **NONE, table="svm-mnist-paper")
    assert named.call[-1] == "table='svm-mnist-paper'"


@pytest.mark.parametrize(
    ("task", "methods", "message"),
    [
        (len, None, "task=<built-in function len>: give a name or a class"),
        (lambda config, iterations: 0, None, "say its space and levels with @study.task"),
        ("toy", [], r"methods=\[\]: give one or more"),
        ("toy", [3], "method=3: give a name, a class or a function"),
        (
            "toy",
            lambda space, trials, generator: {},
            "^method=<lambda>: runs are recorded by its name; let def or class",
        ),
        (
            task_of(Space({"x": Real(0.0, 1.0)}), light=1, heavy=2)(lambda config, iterations: 0.0),
            None,
            "^task=<lambda>: runs are recorded by its",
        ),
        ("toy", [RandomSearch, RandomSearch], "method RandomSearch is there twice"),
    ],
)
def test_what_is_no_task_or_method_is_refused(task, methods, message):
    with pytest.raises(UsageError, match=message):
        words(task, methods)


def test_a_value_that_no_command_line_has_is_refused():
    with pytest.raises(UsageError, match=r"^methods.btao.start=<object .*>: give a number, a text, True"):
        words(parameters={"btao": {"start": object()}})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": 20}, r"^budget=20: give a mapping as \{'heavy': 20\}$"),
        ({"task_parameters": [1]}, r"^task.parameters=\[1\]: give a mapping$"),
        ({"parameters": "btao"}, "^parameters='btao': give a mapping of methods to their parameters$"),
        ({"parameters": {"btao": 3}}, "^methods.btao=3: give a mapping$"),
    ],
)
def test_what_has_names_is_a_mapping(wrong, message):
    with pytest.raises(UsageError, match=message):
        words(**wrong)
