"""The status of recorded runs: the grid, the commands that finish it, the exit status."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas
import pytest

from baselines.libraries.interpreter import run_module
from benchmarks import run as run_command
from benchmarks.config import options
from benchmarks.config.registry import TABLES
from benchmarks.records.command import RECORD_MODULE, RUN_MODULE, Command, Job
from benchmarks.records.grid import grids
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import RunInfo, Start, Status, digest_of
from benchmarks.records.trials import Row, TrialLog
from benchmarks.status import main

pytestmark = pytest.mark.usefixtures("forked_workers", "empty_figures")

TO_FINISH = "to finish:"
PYTHON = f"  {shlex.quote(sys.executable)} -m"
ROW = Row(0, True, 5, {"x": 0.5}, 1.0, "ok", None, 5, 0.0, 0.0, 0.0, None)
HASH = "0123456789"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "out"


def shared(heavy):
    """What methods that are compared have in common."""
    budget = {"heavy": heavy, "seconds": None}
    task = {"name": "currin", "version": 1, "parameters": {"noise": 0.0}}
    return {"task": task, "source": "live", "budget": budget, "threads": 1, "data": None}


def record(out, method, seed, status, command, n_trials=1, heavy=3, hash=HASH, **parameters):
    """One row on file, and a run.json that speaks of `n_trials`; the folder."""
    folder = RunFolder(out / "currin" / f"{method}-{hash}" / f"seed-{seed}")
    identity = shared(heavy) | {"method": {"name": method, "version": 1, "parameters": parameters}}
    run = RunInfo("currin", method, seed, hash, identity, Status(status), n_trials=n_trials, starts=(Start(command),))
    with folder.log() as log:
        log.append(ROW)
        (folder.path / "run.json").unlink(missing_ok=True)
        folder.begin(run)
    return folder.path


def command(*arguments, label="", hash=HASH, heavy=3):
    """A `benchmarks.run` that asks for these methods and seeds."""
    words = {name: value for name, _, value in (argument.partition("=") for argument in arguments)}
    seeds = options.seeds(json.loads(words.get("seeds", "10")))
    methods = dict.fromkeys(words.get("method", "a").strip("[]").split(","), hash)
    return Command(
        RUN_MODULE,
        ("task=currin", *arguments, "out=out"),
        (Job(label, "currin", digest_of(shared(heavy)), seeds, methods),),
    )


def recording(*arguments):
    return Command(RECORD_MODULE, ("task=fcn", *arguments))


def test_every_state_is_told_apart_and_each_command_is_named_once(here, capsys):
    both = command("method=[a,b]", "seeds=5")
    record(here, "a", 0, "finished", both)
    record(here, "a", 1, "exhausted", both)
    record(here, "a", 2, "failed", both)
    running = record(here, "a", 3, "running", both)
    record(here, "b", 0, "running", both, n_trials=None)
    record(here, "b", 1, "finished", both, n_trials=2)  # a row is lost
    record(here, "b", 3, "finished", both)
    with TrialLog(running):
        assert main(["out=out"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "currin, noise=0.0, budget.heavy=3, threads=1",
        "   0 1 2 3 4",
        "a  . . F R -  2/5",
        "b  T T - . -  1/5",
        "",
        ". done   R running   T truncated: begun, and nobody works on it   F failed   - missing",
        "",
        TO_FINISH,
        f"  {both.here}",
    ]


def test_all_done_is_exit_status_0_and_no_command(here, capsys):
    record(here, "a", 7, "finished", command("method=a", "seeds=[7]"))
    assert main(["out=out"]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "currin, noise=0.0, budget.heavy=3, threads=1",
        "   7",
        "a  .  1/1",
    ]


def test_a_run_that_is_done_without_a_result_is_named_as_the_command_does(here, capsys):
    record(here, "a", 7, "finished", command("method=a", "seeds=[7,8,9]"))
    late = record(here, "a", 8, "finished", command("method=a", "seeds=[7,8,9]"))
    record(here, "a", 9, "finished", command("method=a", "seeds=[7,8,9]"))
    (late / "trials.jsonl").write_text(json.dumps(vars(ROW) | {"value": None, "status": "failed"}) + "\n")
    assert main(["out=out"]) == 1
    told = capsys.readouterr().out
    assert "a  . . .  3/3" in told and TO_FINISH not in told
    assert told.endswith("done without a result:\n  currin: a, seed 8: 1 heavy trials, none succeeded\n")

    text = (late / "run.json").read_text()
    (late / "run.json").write_text(text.replace('"seconds": null', '"train_seconds": 1.5'))
    (late / "trials.jsonl").write_text(json.dumps(vars(ROW) | {"train_seconds": 2.0}) + "\n")
    assert main(["out=out"]) == 1
    assert "a, seed 8: 1 heavy trials, none within budget.train_seconds=1.5\n" in capsys.readouterr().out

    (late / "run.json").write_text(text.replace('"n_trials": 1', '"n_trials": 0'))
    (late / "trials.jsonl").write_text("")
    assert main(["out=out"]) == 1
    assert "a, seed 8: no trial\n" in capsys.readouterr().out


def test_a_seed_that_no_command_of_the_method_names_gets_one_of_its_own(here, capsys):
    record(here, "a", 0, "finished", command("method=a", "seeds=1", "budget.heavy=3"))
    record(here, "b", 10, "finished", command("method=b", "seeds=[10]"))
    assert main(["out=out"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1:4] == ["   0 10", "a  .  -  1/2", "b  -  .  1/2"]
    assert out[out.index(TO_FINISH) + 1 :] == [
        f"{PYTHON} benchmarks.run task=currin budget.heavy=3 out=out method=a 'seeds=[10]'",
        f"{PYTHON} benchmarks.run task=currin out=out method=b 'seeds=[0]'",
    ]


def test_methods_that_a_command_names_are_missing_until_they_begin(here, capsys):
    asked = command("method=[a,b,c]", "seeds=2")
    record(here, "a", 0, "finished", asked)
    record(here, "a", 1, "finished", asked)
    record(here, "b", 1, "finished", command("method=b", "seeds=[1,4]"))
    assert main(["out=out"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1:5] == ["   0 1 4", "a  . . -  2/3", "b  - . -  1/3", "c  - - -  0/3"]
    assert out[out.index(TO_FINISH) + 1 :] == [
        f"{PYTHON} benchmarks.run task=currin out=out method=a 'seeds=[4]'",
        f"{PYTHON} benchmarks.run task=currin out=out method=b 'seeds=[0]'",
        f"{PYTHON} benchmarks.run task=currin method=b 'seeds=[1,4]' out=out",
        f"  {asked.here}",
        f"{PYTHON} benchmarks.run task=currin out=out method=c 'seeds=[4]'",
    ]


def test_jobs_of_a_sweep_that_have_not_begun_are_named(here, capsys):
    words = ("-m", "task=currin,park", "budget.heavy=3,9", "scale=smoke,laptop", "method=a", "seeds=1", "out=out")
    jobs = tuple(
        Job(f"budget.heavy={heavy}, scale={scale}, task={task}", task, "setting", (0,), {"a": f"{task}-{heavy}"})
        for task in ("currin", "park")
        for heavy in (3, 9)
        for scale in ("smoke", "laptop")
    )
    sweep = Command(RUN_MODULE, words, jobs)
    record(here, "a", 0, "finished", sweep, hash="currin-3")
    assert main(["out=out"]) == 1
    out = capsys.readouterr().out
    for job in ("budget.heavy=9, scale=smoke, task=currin", "budget.heavy=3, scale=laptop, task=park"):
        assert f"\n{job}: not begun\n" in out
    assert out.count("not begun") == 6  # of 8, as two differ in the scale alone
    assert out.endswith(f"{TO_FINISH}\n  {sweep.here}\n")
    record(here, "a", 0, "finished", sweep, heavy=9, hash="currin-9")
    assert main(["out=out"]) == 1
    assert capsys.readouterr().out.count("not begun") == 4


def test_a_method_of_a_sweep_over_methods_is_missing_until_it_begins(here, capsys):
    sweep = ["-m", "task=toy", "method=random_search,tpe", "budget.heavy=1", "seeds=1", "jobs=1", "out=out"]
    assert run_command.main(sweep) == 0
    (tpe,) = here.glob("toy/tpe-*")
    shutil.rmtree(tpe)
    capsys.readouterr()
    assert main(["out=out"]) == 1
    assert "\ntpe            -  0/1\n" in capsys.readouterr().out


def test_a_sweep_is_done_when_all_its_jobs_are(here):
    common = ["-m", "method=random_search", "budget.heavy=1,2", "task=currin,park", "seeds=1", "jobs=1", "out=out"]
    assert run_command.main(common) == 0
    assert main(["out=out"]) == 0
    shutil.rmtree(here / "park")
    assert main(["out=out"]) == 1


DYING = """
import os, signal, time
from baselines.random_search import RandomSearch
from benchmarks.objectives.currin import Currin

class Dying(Currin):  # before any trial
    def prepare(self):
        os._exit(3)

class Unborn(RandomSearch):  # its driver is killed while a worker builds it
    def __init__(self, problem, seed):
        if os.getppid() == int(os.environ.get("DRIVER", 0)):
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)  # which a worker whose driver is gone does not live to see
        super().__init__(problem, seed)
"""


@pytest.fixture
def dying(here, monkeypatch):
    (here.parent / "dying.py").write_text(DYING)
    monkeypatch.syspath_prepend(here.parent)


def test_a_run_whose_worker_dies_before_any_trial_has_failed(here, dying, capsys):
    arguments = ["task=currin", "task._target_=dying.Dying", "method=random_search", "seeds=1", "jobs=1", "out=out"]
    assert run_command.main(arguments) == 1
    (run,) = (json.loads(path.read_text()) for path in here.rglob("run.json"))
    assert (run["status"], run["starts"][0]["first_trial"]) == ("killed", 0)
    capsys.readouterr()
    assert main(["out=out"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1:3] == ["               0", "random_search  F  0/1"]
    assert out[-1] == f"{PYTHON} benchmarks.run {shlex.join([*arguments[:-1], f'out={here}'])}"


def test_all_that_was_asked_for_is_shown_after_the_driver_was_killed_before_any_trial(here, dying, capsys):
    script = (
        "import os, sys; os.environ['DRIVER'] = str(os.getpid()); from benchmarks.run import main; sys.exit(main())"
    )
    arguments = ["task=currin", "method=[random_search,tpe]", "methods.random_search._target_=dying.Unborn", "seeds=2"]
    path = os.pathsep.join([str(Path(__file__).resolve().parents[2]), str(here.parent)])
    driver = subprocess.run(
        [sys.executable, "-c", script, *arguments, "jobs=1", "out=out"], env=os.environ | {"PYTHONPATH": path}
    )
    assert driver.returncode == -signal.SIGKILL
    (folder,) = (path.parent for path in here.rglob("run.json"))
    deadline = time.monotonic() + 60
    while RunFolder(folder).is_locked() and time.monotonic() < deadline:  # the worker ends by itself
        time.sleep(0.05)
    assert main(["out=out"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1:4] == ["               0 1", "random_search  T -  0/2", "tpe            - -  0/2"]


def test_configurations_have_grids_of_their_own_and_a_method_that_is_twice_in_one_shows_its_parameters(here, capsys):
    record(here, "a", 0, "finished", command("method=a", "seeds=1"), x=2)
    record(
        *(here, "a", 0, "finished", command("method=a", "seeds=1", "methods.a.x=1", hash="abcdef0123")),
        hash="abcdef0123",
        x=1,
    )
    record(
        here,
        "a",
        4,
        "finished",
        command("method=a", "seeds=[4]", "budget.heavy=9", hash="9999999999"),
        heavy=9,
        hash="9999999999",
    )
    assert main(["out=out"]) == 0
    out = capsys.readouterr().out
    assert "\n         0\na [x=2]  .  1/1\na [x=1]  .  1/1\n" in out
    assert "budget.heavy=9, threads=1\n   4\na  .  1/1\n" in out


def test_records_that_were_moved_are_finished_where_they_are(here, capsys):
    record(here, "a", 0, "running", command("method=a", "seeds=1"))
    here.rename(here.parent / "moved")
    assert main(["out=moved/currin"]) == 1
    expected = f"{PYTHON} benchmarks.run task=currin method=a seeds=1 out={here.parent / 'moved'}"
    assert capsys.readouterr().out.splitlines()[-1] == expected


@pytest.mark.parametrize("given", ["", " out=results/tables", " out=tables"])
def test_a_recording_is_finished_in_the_folder_of_its_table(here, monkeypatch, capsys, given):
    tables = here.parent / (given.partition("=")[2] or "results/tables")
    record(tables / "fcn-mnist-paper.parts", "design", 0, "running", recording("n=16", *given.split()))
    assert main([f"out={tables}"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"{PYTHON} benchmarks.record task=fcn n=16{given}"
    monkeypatch.chdir("/")
    assert main([f"out={tables}"]) == 1
    expected = f"  {run_module('benchmarks.record', 'task=fcn', 'n=16', f'out={tables}')}"
    assert capsys.readouterr().out.splitlines()[-1] == expected


def test_configurations_of_a_recording_are_counted_in_its_table_and_its_logs(here, capsys):
    logs, texts = here / "fcn.parts", [recording(f"n={n}") for n in (8, 24)]
    record(logs, "design", 0, "finished", texts[0], hash="aaaa")
    part = {"start": 8, "stop": 16, "budgets": [50, 500]}
    folder = record(logs, "design", 0, "running", texts[1], hash="bbbb", **part)
    (folder / "trials.jsonl").write_text("{}\n" * 5)  # two configurations at both numbers of iterations, and a half
    assert main([f"out={here}"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1] == "0 of 24 configurations in the table, 3 more logged; parts begun here: 1 done, 1 truncated"
    assert out[-2:] == [TO_FINISH, f"  {texts[1].here} out={here}"]
    pandas.DataFrame({"configuration": [0, 0, *range(5, 24)], "seconds": 1.0}).to_parquet(here / "fcn.parquet")
    assert main([f"out={here}"]) == 1
    assert capsys.readouterr().out.splitlines()[1].startswith("20 of 24 configurations in the table; parts")
    pandas.DataFrame({"configuration": range(1, 24)}).to_parquet(here / "fcn.parquet")
    assert main([f"out={here}"]) == 1  # the first is logged: it was not gathered, or it failed
    out = capsys.readouterr().out.splitlines()
    assert out[1].startswith("23 of 24 configurations in the table, 1 more logged; parts")
    assert out[-1] == f"  {texts[1].here} out={here}"
    pandas.DataFrame({"configuration": range(24)}).to_parquet(here / "fcn.parquet")
    assert main([f"out={here}"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("24 of 24 configurations in the table; parts")


def test_a_recording_wants_whole_parts(here, capsys):
    record(here / "fcn.parts", "design", 0, "running", recording("n=12"))
    pandas.DataFrame({"configuration": range(12)}).to_parquet(here / "fcn.parquet")
    assert main([f"out={here}"]) == 1
    assert capsys.readouterr().out.splitlines()[1].startswith("12 of 16 configurations in the table")


@pytest.mark.parametrize(
    ("axis", "first", "second"),
    [
        ("task.parameters.heavy_iterations", "167", "500"),
        ("table", "one/svm-t-laptop.parquet", "one/svm-u-laptop.parquet"),
    ],
)
def test_jobs_of_a_sweep_over_recorded_training_that_have_not_begun_are_named(here, capsys, axis, first, second):
    for path in ("one/svm-t-laptop.parquet", "one/svm-u-laptop.parquet"):
        (here.parent / path).parent.mkdir(exist_ok=True)
        shutil.copy(TABLES / "svm-mnist-5000-laptop.parquet", here.parent / path)
    words = ["task=svm", "source=table", "method=random_search", "budget.heavy=1", "seeds=1", "jobs=1", "out=out"]
    words += [] if axis == "table" else ["table=one/svm-t-laptop.parquet"]
    assert run_command.main(["-m", *words, f"{axis}={first},{second}"]) == 0
    assert main(["out=out"]) == 0
    (last,) = [path for path, info in described(here) if is_of(info, 1)]
    shutil.rmtree(last.parent)
    capsys.readouterr()
    assert main(["out=out"]) == 1
    out = capsys.readouterr().out
    assert f"\n{axis}={second}: not begun\n" in out
    assert out.count("not begun") == 1


def described(out):
    return [(path.parent, RunFolder(path.parent).info()) for path in sorted(out.rglob("run.json"))]


def is_of(info, job):
    return info.hash in info.command.jobs[job].methods.values()


def test_titles_that_repeat_name_their_folders(here, capsys):
    record(here / "one", "a", 0, "finished", command("method=a", "seeds=1"))
    record(here / "two", "a", 0, "finished", command("method=a", "seeds=1"))
    record(
        here / "two",
        "a",
        0,
        "finished",
        command("method=a", "seeds=1", "budget.heavy=9", hash="9999999999", heavy=9),
        heavy=9,
        hash="9999999999",
    )
    assert main(["out=out"]) == 0
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("currin")]
    assert titles == [
        f"currin, noise=0.0, budget.heavy=3, threads=1, in {here / 'one'}",
        f"currin, noise=0.0, budget.heavy=3, threads=1, in {here / 'two'}",
        "currin, noise=0.0, budget.heavy=9, threads=1",
    ]


def test_the_commands_finish_it(here, capsys):
    common = ["task=currin", "method=[random_search,tpe]", "budget.heavy=2", "jobs=1", "out=out"]
    assert run_command.main([*common, "seeds=2"]) == 0
    (path,) = here.glob("currin/tpe-*/seed-1/trials.jsonl")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    assert run_command.main(["task=currin", "method=tpe", "budget.heavy=2", "jobs=1", "out=out", "seeds=[3]"]) == 0
    capsys.readouterr()
    assert main(["out=out"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1:4] == ["               0 1 3", "random_search  . . -  2/3", "tpe            . T .  2/3"]
    for line in out[out.index(TO_FINISH) + 1 :]:
        assert run_command.main(shlex.split(line)[3:]) == 0
    assert main(["out=out"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out=nowhere"], "no records below nowhere: give the folder that was given as out= to the run"),
        (["out="], "out=: give a folder"),
        (["ot=x"], "unknown option 'ot': did you mean 'out'?"),
    ],
)
def test_mistakes(here, capsys, arguments, message):
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


@pytest.mark.parametrize("text", ["{", "{}", '{"configuration": 1}'])
def test_a_damaged_record_is_named(here, capsys, text):
    folder = record(here, "a", 0, "finished", command())
    (folder / "run.json").write_text(text)
    assert main(["out=out"]) == 2
    assert f"{folder.relative_to(here.parent) / 'run.json'}" in capsys.readouterr().err


def test_looking_leaves_no_lock_and_no_file(here):
    folder = record(here, "a", 0, "running", command())
    before = sorted(here.rglob("*"))
    assert not RunFolder(folder).is_locked() and not RunFolder(here).is_locked()
    assert [grid.states for grid in grids(here)] == [{("a-0123456789", 0): "truncated"}]
    with TrialLog(folder):
        assert RunFolder(folder).is_locked()
    assert sorted(here.rglob("*")) == before
