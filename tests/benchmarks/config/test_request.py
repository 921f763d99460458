"""The command line: both spellings, checked names and values, budgets and sweeps."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from benchmarks.common.errors import UsageError
from benchmarks.config.registry import TABLES, choices
from benchmarks.config.request import normalize, read
from benchmarks.records.command import Command

CURRIN = ["task=currin", "method=random_search"]


def request(*arguments):
    (only,) = read([*CURRIN, *arguments])
    return only


@pytest.mark.parametrize(
    ("argument", "advice"),
    [
        ("task=toy,currin", "add -m to run one after another"),
        ("budget.heavy=3,5", "add -m to run one after another"),
        ("methods.btao.light_per_heavy=2,4", "add -m to run one after another"),
        ("method=btao,tpe", "add -m to run one after another, or write a list as method=[...]"),
        ("seeds=3,5", "add -m to run one after another, or write a list as seeds=[...]"),
        (
            "task.parameters.rho_bounds=0,1",
            "add -m to run one after another, or write a list as task.parameters.rho_bounds=[...]",
        ),
    ],
)
def test_a_sweep_without_its_flag_is_told_what_is_accepted(argument, advice):
    with pytest.raises(UsageError, match=f"^{re.escape(repr(argument))} is a sweep: {re.escape(advice)}$"):
        read([argument])


@pytest.mark.parametrize(
    ("argument", "normal"),
    [
        ("+task=currin", "task=currin"),
        ("task=currin", "task=currin"),
        ("++task=currin", "task=currin"),
        ("+method=[btao,gp_bo]", "method=[btao,gp_bo]"),
        ("+budget.heavy=3", "budget.heavy=3"),
        ("+seeds=[3,7]", "seeds=[3,7]"),
        ("+methods.btao.new=1", "+methods.btao.new=1"),
        ("task=a+b", "task=a+b"),
        ("engine=dask", "engine.name=dask"),
        ("+engine=dask", "engine.name=dask"),
        ("+engine.address=tcp://a:1", "engine.address=tcp://a:1"),
    ],
)
def test_the_plus_of_a_known_option_is_dropped(argument, normal):
    assert normalize(argument) == normal


def test_both_spellings_make_the_same_request():
    assert read(["+task=currin", "+method=random_search", "+jobs=2"]) == read(["task=currin", *CURRIN[1:], "jobs=2"])


def test_defaults():
    plain = request()
    assert plain.seeds == tuple(range(10))
    assert (plain.scale, plain.data, plain.data_dir, plain.display) == ("laptop", "auto", None, "auto")
    assert (plain.jobs, plain.threads, str(plain.out)) == (2, 1, "results/runs")
    assert (plain.engine, plain.address) == ("local", None)
    assert list(plain.methods) == ["random_search"]


def test_the_engine_and_its_part():
    for arguments in (["engine=dask"], ["+engine=dask"], ["engine.name=dask"]):
        assert (request(*arguments).engine, request(*arguments).address) == ("dask", None)
    assert request("engine=dask", "engine.address=tcp://10.0.0.7:8786").address == "tcp://10.0.0.7:8786"
    assert [each.engine for each in read(["-m", *CURRIN, "engine=local,dask"])] == ["local", "dask"]


def test_methods_keep_the_order_they_were_asked_for():
    for order in (["gp_bo", "btao"], ["btao", "gp_bo"]):
        (asked,) = read(["task=currin", f"method=[{','.join(order)}]"])
        assert list(asked.methods) == order


def test_a_parameter_of_a_method_is_overridden():
    (asked,) = read(["task=currin", "method=btao_joint", "methods.btao_joint.light_per_heavy=4"])
    assert asked.methods["btao_joint"]["light_per_heavy"] == 4


def test_without_a_limit_the_budget_is_that_of_the_scale():
    assert request("scale=smoke").budget == {"heavy": 6}
    assert request("scale=paper").budget == {"heavy": 40}


def test_a_limit_that_is_given_replaces_the_budget_of_the_scale():
    assert request("budget.seconds=3").budget == {"seconds": 3.0}
    assert request("budget.iterations=70", "budget.heavy=4").budget == {"heavy": 4, "iterations": 70}


def test_the_numbers_of_the_scale_give_way_to_those_on_the_command_line():
    svm = ["task=svm", "method=random_search", "scale=smoke"]
    scaled = read(svm)[0].task["parameters"]
    given = read([*svm, "task.parameters.n_train=777"])[0].task["parameters"]
    nested = read([*svm, "task.parameters={n_train: 777}"])[0].task["parameters"]
    assert scaled["n_train"] != 777
    assert given == nested == scaled | {"n_train": 777}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["task=curin"], "unknown task 'curin': did you mean 'currin'?"),
        (["tsk=currin"], "unknown option 'tsk': did you mean 'task'?"),
        (["+tsk=currin"], "unknown option 'tsk': did you mean 'task'?"),
        (["task=currin", "method=rando_search"], "unknown method 'rando_search': did you mean 'random_search'?"),
        ([*CURRIN, "scale=labtop"], "unknown scale 'labtop': did you mean 'laptop'?"),
        ([*CURRIN, "data=imagenet"], "unknown data 'imagenet': choose one of auto, mnist, cifar10"),
        ([*CURRIN, "display=lively"], "unknown display 'lively': did you mean 'live'?"),
        ([*CURRIN, "budget.havy=3"], "unknown option 'budget.havy': did you mean 'budget.heavy'?"),
        ([*CURRIN, "seed=3"], "unknown option 'seed': did you mean 'seeds'?"),
        ([*CURRIN, "+sedes=3"], "unknown option 'sedes': did you mean 'seeds'?"),
        ([*CURRIN, "task.parameters.nois=1"], "did you mean 'task.parameters.noise'?"),
        (
            ["task=currin", "method=btao_joint", "methods.btao_joint.light_per_heav=4"],
            "'methods.btao_joint.light_per_heavy'?",
        ),
        ([*CURRIN, "methods.btao.n_init=4"], "method 'btao' is not chosen; add it to method=[random_search]"),
        ([*CURRIN, "engine=dusk"], "unknown engine 'dusk': did you mean 'dask'?"),
        ([*CURRIN, "engine=null"], "unknown engine 'null': choose one of local, dask"),
        ([*CURRIN, "engine.adress=tcp://a:1"], "unknown option 'engine.adress': did you mean 'engine.address'?"),
        ([*CURRIN, "engine.address=tcp://a:1"], "engine.address=tcp://a:1 has no effect without engine=dask"),
        ([*CURRIN, "cache=1"], "cache=1: give true or false"),
        ([*CURRIN, "jobs=0"], "jobs=0: give an integer of at least 1"),
        ([*CURRIN, "jobs=null"], "jobs=null: give an integer of at least 1"),
        ([*CURRIN, "jobs=true"], "jobs=True: give an integer of at least 1"),
        ([*CURRIN, "threads=1.5"], "threads=1.5: give an integer of at least 1"),
        ([*CURRIN, "budget.heavy=0"], "budget.heavy=0: give an integer of at least 1"),
        ([*CURRIN, "budget.iterations=2.5"], "budget.iterations=2.5: give an integer of at least 1"),
        ([*CURRIN, "budget.seconds=-1"], "budget.seconds=-1: give a number of seconds above 0"),
        ([*CURRIN, "budget.seconds=inf"], "budget.seconds=inf: give a number of seconds above 0"),
        ([*CURRIN, "budget=3"], "budget=3: give one of its parts, budget.heavy=..."),
        ([*CURRIN, "seeds=[1"], "'seeds=[1' cannot be read"),
        ([*CURRIN, "scale=${nowhere}"], "nowhere"),
        (
            ["task=\N{LATIN SMALL LETTER E WITH ACUTE}"],
            "a name is of letters without accents, digits, '_', '-' and '.'",
        ),
        ([*CURRIN, "currin"], "'currin' is not of the form option=value"),
        ([*CURRIN, "~data_dir="], "an option cannot be removed"),
        ([*CURRIN, "hydra.run.dir=x"], "its own settings have no effect"),
        ([*CURRIN, "--hlp"], "unknown flag '--hlp': did you mean '--help'?"),
        (["task=[currin,park]"], "-m task=currin,park runs one after another"),
        (["task=currin", "method=[random_search,random_search]"], "each one once"),
        (["task=currin,park"], "add -m"),
        ([*CURRIN, "out=null"], "out=null: give a folder"),
        ([*CURRIN, "out="], "out=: give a folder"),
        ([*CURRIN, "source=tables"], "unknown source 'tables': did you mean 'table'?"),
        ([*CURRIN, "source=table"], "source=table: no table of task currin in "),
        ([*CURRIN, "source=table", "table=nowhere"], "table=nowhere: no file "),
        ([*CURRIN, "table=fcn-mnist-paper"], "table=fcn-mnist-paper has no effect without source=table"),
        (["task=currin", "method=[]"], "no method is chosen: add method=NAME with one or more of "),
        (["task=currin", "method=null"], "no method is chosen"),
        ([*CURRIN, "task.name=3"], "task.name=3: give a text, as in task.name=currin"),
        ([*CURRIN, "task.parameters.noise=abc"], "task.parameters.noise=abc: give a number, as in "),
        ([*CURRIN, "task.parameters={noise: abc}"], "task.parameters.noise=abc: give a number"),
        ([*CURRIN, "task.parameters.noise=${scale}"], "task.parameters.noise=laptop: give a number"),
        (
            ["task=currin", "method=btao_joint", "methods.btao_joint.square_root_beta=1"],
            "square_root_beta=1: give true or false",
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_what_would_be_right(arguments, message):
    with pytest.raises(UsageError) as caught:
        read(arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("arguments", [[], ["-m"], ["method=random_search"], ["task=null"]])
def test_without_a_task_the_tasks_are_listed(arguments):
    with pytest.raises(UsageError, match="no task is chosen") as caught:
        read(arguments)
    for name in choices("task"):
        assert any(line.split()[0] == name and len(line.split()) > 1 for line in str(caught.value).splitlines()[1:])


@pytest.mark.parametrize("flag", ["-m", "--multirun"])
def test_a_sweep_makes_a_request_for_every_combination(flag):
    requests = read([flag, "task=currin,toy", "method=random_search", "scale=smoke,laptop"])
    assert [(each.task["name"], each.scale) for each in requests] == [
        ("currin", "smoke"),
        ("currin", "laptop"),
        ("toy", "smoke"),
        ("toy", "laptop"),
    ]


def test_a_sweep_over_all_tasks_and_over_lists():
    tasks = [each.task["name"] for each in read(["-m", "task=glob(*)", "method=random_search"])]
    assert tasks == choices("task")
    sweep = read(["-m", "task=currin", "method=[random_search],[gp_bo,random_search]", "seeds=[3,7],2"])
    assert [list(each.methods) for each in sweep[::2]] == [["random_search"], ["gp_bo", "random_search"]]
    assert [each.seeds for each in sweep[:2]] == [(3, 7), (0, 1)]


def test_a_table_sets_the_scale_and_takes_parameters(tmp_path):
    path = tmp_path / "fcn-mnist-paper.parquet"
    path.write_bytes(b"")
    common = ["task=fcn", "source=table", f"table={path}"]
    (found,) = read([*common, "task.parameters.light_iterations=5"])
    assert (found.table, found.scale, found.budget) == (path, "paper", {"heavy": 20})
    assert found.given == {"light_iterations": 5}
    with pytest.raises(UsageError, match=r"data=mnist has no effect with source=table"):
        read([*common, "data=mnist"])
    with pytest.raises(UsageError, match="cache=true has no effect with source=table"):
        read([*common, "cache=true"])


NASTY = ["runs (1)", "a=b", "josé", 'it\'s "quoted"', "a,b", "${x}", "[1,2]", "{a: b}", "a#b", "null.d", " x "]


@pytest.mark.parametrize("path", NASTY)
def test_paths_are_taken_literally_whatever_characters_they_hold(path, tmp_path):
    """Also by way of a shell, as printed commands are pasted."""
    (request,) = read([*CURRIN, f"out={path}"])
    assert str(request.out) == path
    (request,) = read(["task=fcn", f"data_dir={path}"])
    assert request.data_dir == path
    table = tmp_path / path / "svm-t-laptop.parquet"
    (request,) = read(["task=svm", "source=table", f"table={_copy(table)}"])
    assert request.table == table
    pasted = shlex.split(str(Command("benchmarks.run", (*CURRIN, f"out={path}"))))
    assert pasted[3:] == [*CURRIN, f"out={path}"]


def test_a_home_folder_and_no_folder_are_known():
    (request,) = read([*CURRIN, "out=~/runs", "data_dir=null"])
    assert (request.out, request.data_dir) == (Path.home() / "runs", None)


def test_a_sweep_over_tables_is_one_over_files(tmp_path):
    one, two = (_copy(tmp_path / f"svm-{name}-laptop.parquet") for name in ("t", "u,v"))
    requests = read(["-m", "task=svm", "source=table", f"table={two}", "threads=1,2"])
    assert [request.table for request in requests] == [two, two]
    assert [request.label for request in requests] == ["threads=1", "threads=2"]
    three = _copy(tmp_path / "svm-w-laptop.parquet")
    requests = read(["-m", "task=svm", "source=table", f"table={one},{three}"])
    assert [request.table for request in requests] == [one, three]
    assert requests[0].label == f"table={one}"


def _copy(table):
    table.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(TABLES / "svm-mnist-5000-laptop.parquet", table)
    return table
