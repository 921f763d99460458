"""Studies from Python: the same records as the command, classes and functions of the caller, and what goes wrong."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest

from baselines.protocol import Capabilities, Trial
from benchmarks import study
from benchmarks.common.errors import UsageError
from benchmarks.config.request import read
from benchmarks.records.run_folder import run_folders
from benchmarks.running.plan import plan
from benchmarks.status import main as status
from benchmarks.studies import reference as references
from benchmarks.studies.recorded_study import of_trials
from btao import Real, Space
from support import tables

pytestmark = pytest.mark.usefixtures("forked_workers", "empty_figures")

QUIET = {"display": "plain", "jobs": 1}
OPTIONS = {"scale": "smoke"} | QUIET
SPACE = Space({"x": Real(0.0, 1.0)})


@study.task(SPACE, light=1, heavy=4, budget={"heavy": 3})
def parabola(config, iterations):
    """Lower the longer it trains."""
    return (config["x"] - 0.25) ** 2 + 1 / iterations


class Midpoint:
    """The middle of the space, whatever comes."""

    capabilities = Capabilities(levels="heavy")

    def __init__(self, problem, seed, at=0.5):
        self.problem, self.at, self.asked = problem, at, 0

    def ask(self):
        self.asked += 1
        config = self.problem.space.from_unit([self.at] * self.problem.space.dim)
        return Trial(self.asked, config, True, self.problem.heavy_iterations)

    def tell(self, trial, measurement):
        pass


def walk(space, trials, generator):
    """One step from the best."""
    best = min(trials, key=lambda trial: trial[1])[0]["x"] if trials else 0.5
    return {"x": min(1.0, max(0.0, best + generator.normal(scale=0.1)))}


def infos(out: Path):
    return [json.loads(path.read_text()) for path in sorted(out.rglob("run.json"))]


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A task that is a function, with methods that are a name, a class and a function; and the folder."""
    out = tmp_path_factory.mktemp("own")
    methods = ["random_search", Midpoint, walk]
    done = study.run(parabola, methods, seeds=2, out=out, parameters={"Midpoint": {"at": 0.25}}, **OPTIONS)
    return done, out


def test_names_make_the_runs_of_the_command(tmp_path, capsys):
    call = {"task": "toy", "methods": "random_search", "seeds": 1, "budget": {"heavy": 2}, "out": tmp_path}
    done = study.run(**call, **OPTIONS)
    words = ["task=toy", "method=random_search", "seeds=1", "budget.heavy=2", "scale=smoke"]
    (experiment,) = plan(read([*words, f"out={tmp_path}"])[0]).experiments
    (info,) = infos(tmp_path)
    assert (info["hash"], info["status"]) == (experiment.hash, "finished")
    assert info["starts"][0]["command"]["module"] == "benchmarks.run"
    assert (len(done.trials), done.missing) == (2, ())

    before = tables(tmp_path)
    capsys.readouterr()
    again = study.run(**call, **OPTIONS)
    assert capsys.readouterr().err.endswith("1 of 1 were done before\n")
    assert tables(tmp_path) == before and again.trials.equals(done.trials)


def test_runs_are_made_anew_when_asked_and_the_old_ones_kept(tmp_path):
    asked = {"task": "toy", "methods": "random_search", "seeds": 2, "budget": {"heavy": 2}, "out": tmp_path}
    first = study.run(**asked)
    again = study.run(**asked, rerun="all", cache=True)
    pd.testing.assert_frame_equal(again.trials[["seed", "trial", "value"]], first.trials[["seed", "trial", "value"]])
    assert len(study.load(tmp_path).trials) == len(study.load(tmp_path / "aside" / "1").trials) == 4
    (command,) = {folder.info().command for folder in run_folders(tmp_path)}
    assert command.value("cache") == "true" and command.value("rerun") is None


def test_classes_and_functions_are_run(own):
    done, out = own
    assert done.missing == () and done.methods == ("random_search", "Midpoint", "walk")
    assert dict(done.trials.groupby("method").size()) == {"Midpoint": 6, "random_search": 6, "walk": 6}
    assert done.summary().set_index("method").loc["Midpoint", "best_mean"] == 0.25
    (path,) = (out / "parabola").glob("walk-*/seed-0/source-method.py")
    assert path.read_text().startswith("def walk(space, trials, generator):")


def test_what_can_be_imported_is_named_by_its_place_and_what_cannot_by_its_source(own):
    _, out = own
    identities = {info["method"]: info["identity"] for info in infos(out)}
    assert identities["Midpoint"]["method"]["target"].endswith("test_study:Midpoint")
    assert identities["Midpoint"]["method"]["parameters"] == {"at": 0.25}
    assert set(identities["walk"]["method"]) == {"name", "version", "parameters", "source"}
    assert identities["walk"]["task"]["parameters"] == {"light_iterations": 1, "heavy_iterations": 4}


def test_the_status_of_such_runs_names_the_call(own, capsys):
    _, out = own
    (path,) = out.rglob("walk-*/seed-1/run.json")
    told = path.read_text()
    path.write_text(told.replace('"finished"', '"running"', 1))
    try:
        assert status([f"out={out}"]) == 1
    finally:
        path.write_text(told)
    assert "study.run(task=parabola, methods=['random_search', Midpoint, walk], parameters=" in capsys.readouterr().out


def test_what_is_recorded_is_the_same_study(own):
    done, out = own
    loaded = study.load(out)
    assert loaded.missing == () and set(loaded.methods) == {*done.methods}
    assert loaded.summary()["best_mean"].sum() == done.summary()["best_mean"].sum()
    assert loaded.planned == done.planned


def test_a_run_that_fails_is_named_and_the_others_are_there(tmp_path, capsys):
    class Broken(Midpoint):
        def ask(self):
            raise RuntimeError("no idea")

    done = study.run("toy", [Midpoint, Broken], seeds=1, out=tmp_path, **OPTIONS)
    (line,) = done.missing
    assert line.startswith("toy, Broken, seed 0: RuntimeError: no idea (") and line.endswith("error.txt)")
    assert set(done.trials["method"]) == {"Midpoint"}
    assert "no result" in done._repr_html_() and "0 of 1" in done._repr_html_()
    (loaded,) = study.load(tmp_path).missing
    assert loaded == "toy, Broken, seed 0: failed: RuntimeError: no idea"


def test_a_run_that_was_not_done_is_not_missing_in_a_sum_with_the_study_that_has_it(tmp_path):
    call = {"task": "toy", "methods": "random_search", "seeds": 1, "out": tmp_path, **OPTIONS}
    done = study.run(**call)
    (path,) = tmp_path.rglob("run.json")
    path.write_text(path.read_text().replace('"finished"', '"running"', 1))
    cut = study.load(tmp_path)
    assert cut.missing == ("toy, random_search, seed 0: truncated",) and done.missing == ()
    assert (cut + done).missing == (done + cut).missing == ()


def test_a_run_without_a_result_is_missing_whoever_reads_it(tmp_path):
    call = {"task": "toy", "methods": "random_search", "seeds": 1, "out": tmp_path, **OPTIONS}
    done = study.run(**call, budget={"heavy": 2, "train_seconds": 1e-9})
    why = "1 heavy trials, none within budget.train_seconds=1e-09"
    assert done.missing == study.load(tmp_path).missing == (f"toy, random_search, seed 0: {why}",)
    assert (done + study.load(tmp_path)).missing == done.missing


def test_runs_of_several_settings_are_named_where_they_come_together(tmp_path):
    call = {"task": "currin", "methods": "random_search", "seeds": 1, "budget": {"heavy": 1}, **OPTIONS}
    quiet, noisy = (study.run(**call, task_parameters={"noise": noise}, out=tmp_path) for noise in (0.0, 0.5))
    told = "^currin: the runs are of 2 settings, whose figures do not compare: task.parameters.noise=0.0 "
    told += r"\(random_search\); task.parameters.noise=0.5 \(random_search\)$"
    with pytest.warns(UserWarning, match=told):
        both = quiet + noisy
    with pytest.warns(UserWarning, match=told):
        loaded = study.load(tmp_path)
    assert loaded.cautions == both.cautions and len(both.cautions) == 1 and quiet.cautions == []
    assert "task.parameters.noise=0.5" in both._repr_html_()


def test_an_interrupted_call_says_that_it_goes_on(tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.running.local.run_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study.run("toy", "random_search", seeds=1, out=tmp_path, **OPTIONS)
    assert capsys.readouterr().err.endswith("stopped; all recorded trials are kept, and the same call goes on\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "tony"}, "unknown task 'tony': did you mean 'toy'?"),
        ({"task": "toy", "methods": "btoa"}, "unknown method 'btoa': did you mean 'btao'?"),
        ({"task": "toy", "seeds": 0}, "seeds=0: give a number of seeds"),
        ({"task": "toy", "budget": {"hevy": 3}}, "unknown option 'budget.hevy': did you mean 'budget.heavy'?"),
        ({"task": "toy", "methods": Midpoint, "parameters": {"Midpoint": {"att": 1}}}, "'methods.Midpoint.att'"),
        ({"task": "toy", "methods": Midpoint, "parameters": {"Midpoint": {"at": "x"}}}, "give a number"),
        ({"task": "toy", "methods": Path}, "must declare `capabilities`"),
        ({"task": Midpoint}, "missing 2 required positional arguments: 'problem' and 'seed'"),
        ({"task": "toy", "source": "table"}, "source=table: no table of task toy"),
    ],
)
def test_a_mistake_is_an_exception_of_one_line(tmp_path, arguments, message):
    with pytest.raises(UsageError) as reason:
        study.run(**{"methods": "random_search", "out": tmp_path / "out"} | arguments)
    assert message in str(reason.value) and "\n" not in str(reason.value)
    assert tables(tmp_path / "out") == {}


def test_a_class_may_not_have_the_name_of_another(tmp_path):
    class btao(Midpoint):
        pass

    with pytest.raises(UsageError, match=r"method btao is there twice: in conf/method/btao.yaml and in the class"):
        study.run("toy", btao, out=tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="there is no such folder; give the one that the runs were recorded in"):
        study.load(tmp_path / "out")


def test_reference_results_are_a_study(monkeypatch):
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    fcn = study.reference("fcn")
    assert repr(fcn).startswith("Study(reference results: fcn: ")
    assert fcn.planned["fcn", "btao"] == 30 and fcn.methods[0] in fcn.labels.values()
    with pytest.raises(UsageError, match="no reference study 'profile': choose one of toy, synthetic"):
        study.reference("profile")


def test_a_sum_with_reference_results_names_a_difference_of_their_settings(monkeypatch, tmp_path):
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    whole = study.reference("synthetic")
    call = {"task": "currin", "methods": Midpoint, "seeds": 1, "budget": {"heavy": 20}, "out": tmp_path} | QUIET
    assert (whole + study.run(**call)).cautions == []
    with pytest.warns(UserWarning, match=r"^currin: .* 2 settings.*task.parameters.noise=0.5 \(Midpoint\)$"):
        noisy = whole + study.run(**call, task_parameters={"noise": 0.5})
    (line,) = noisy.cautions
    assert "task.parameters.noise=0.0 (bohb, btao, btao_joint, btao_paper" in line and noisy.latex().startswith(
        f"% {line}.\n"
    )


def test_what_reference_results_and_replays_have_in_common_is_known_where_their_data_are(monkeypatch):
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    shared = references.settings("svm")
    trials = references.load("svm", seeds=1)
    assert len(of_trials(trials, "svm", shared).settings) == 11
    assert shared["svm"]["data"]["name"] == trials["data"].iloc[0]
    assert of_trials(trials.assign(data="another"), "svm", shared).settings == {}


SCRIPT = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in {cells!r}:
    shell.run_cell(cell).raise_error()
"""
CELLS = (
    "from benchmarks import study\nfrom baselines.random_search import RandomSearch\nSTEP = 2",
    """
class Mine(RandomSearch):
    def ask(self):
        for _ in range(STEP):
            trial = super().ask()
        return trial
""",
    "done = study.run('toy', Mine, seeds=1, scale='smoke', jobs=1, out='out')",
    "print(len(done.trials), done.missing)",
)


def test_a_class_of_a_cell_runs_in_workers_and_its_source_is_kept(tmp_path):
    script = tmp_path / "session.py"
    script.write_text(SCRIPT.format(cells=CELLS))
    run = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.splitlines()[-1:] == ["6 ()"], run.stderr
    (path,) = (tmp_path / "out" / "toy").glob("Mine-*/seed-0/source-method.py")
    assert path.read_text().splitlines()[0] == "class Mine(RandomSearch):"
    assert path.read_text().splitlines()[-1] == "STEP = 2"


def test_a_script_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("\n".join(CELLS)))
    run = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout == "6 ()\n", run.stderr


def test_a_module_that_runs_a_study_when_it_is_imported_ends_in_a_line_and_not_in_more_workers(tmp_path, monkeypatch):
    (tmp_path / "unguarded.py").write_text(
        "from benchmarks import study\nfrom baselines.random_search import RandomSearch\n"
        "class Mine(RandomSearch):\n    pass\n"
        f"done = study.run('toy', Mine, seeds=1, budget={{'heavy': 1}}, out={str(tmp_path)!r}, jobs=1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (line,) = importlib.import_module("unguarded").done.missing
    assert "a module that a worker imports for a class runs a study itself: put that under `if __name__ ==" in line
