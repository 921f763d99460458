"""The command in processes of its own: folders, kill -9, Ctrl-C, two processes on one run.

What goes on or goes before without an accident is called in this process, which saves a start and its imports.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import Status
from benchmarks.run import main
from support import tables

ROOT = Path(__file__).resolve().parents[2]
CURRIN = ("task=currin", "method=random_search")

WAITING = """
import time
from pathlib import Path
from benchmarks.objectives.currin import Currin

class Waiting(Currin):
    '''Only the first evaluation returns before there is a file named go.'''

    first = True

    def evaluate(self, config, level, seed):
        while not (self.first or Path("go").exists()):
            time.sleep(0.02)
        self.first = False
        return super().evaluate(config, level, seed)
"""

TRAINED = """
import time
import numpy as np
from benchmarks.objectives.curve import CurveTask, Iteration
from benchmarks.objectives.protocol import configuration_seed
from btao import Real, Space
from btao.training import Level

class Trained(CurveTask):
    # A walk of 5 ms an iteration, whose every step depends on the last.

    space = Space({"x": Real(0.0, 1.0)})
    data, delta_bounds, rho_bounds = None, (-1.0, 0.0), (0.0, 1.0)

    def __init__(self, noise=0.0, light_iterations=2, heavy_iterations=60, delta_bounds=None, rho_bounds=None):
        self.light, self.heavy, self.resume_training = Level(light_iterations), Level(heavy_iterations), True

    def prepare(self):
        pass

    def start(self, config, seed):
        return Walk(configuration_seed(seed, config))

class Walk:
    def __init__(self, seed):
        self.weights = np.random.default_rng(seed).random(8)

    def advance(self):
        time.sleep(0.005)
        self.weights = np.abs(np.sin(37 * self.weights))
        return Iteration(self.weights.mean(), self.weights.max())

    def state(self):
        return {"weights": self.weights}

    def restore(self, state):
        self.weights = state["weights"]
"""


@pytest.fixture
def command(tmp_path):
    """Start the command in an empty folder, in a process group of its own."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "waiting_task.py").write_text(WAITING)
    (tmp_path / "modules" / "trained_task.py").write_text(TRAINED)
    (tmp_path / "here").mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path / "modules")])}
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.run", *arguments],
            cwd=tmp_path / "here",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Where the tests run in the background, Ctrl-C would be ignored by all that they start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def here(command, tmp_path, monkeypatch, capsys, forked_workers, empty_figures):
    """Call the command in the same folder, in this process: exit status, stdout and stderr."""
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(tmp_path / "modules")
    for module in ("waiting_task", "trained_task"):
        monkeypatch.delitem(sys.modules, module, raising=False)  # it is from the folder of another test

    def call(*arguments):
        capsys.readouterr()
        return main(list(arguments)), *capsys.readouterr()

    return call


def finish(process):
    """Its exit status, stdout and stderr."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def wait_for_rows(folder, n):
    """Wait until some run has n rows on record."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for path in folder.rglob("trials.jsonl"):
            if path.read_bytes().count(b"\n") >= n:
                return path
        time.sleep(0.005)
    raise TimeoutError(f"no run has {n} rows")


def test_a_sweep_leaves_records_and_figures_and_nothing_else(command, tmp_path):
    status, out, err = finish(command("-m", "+task=currin,toy", "method=random_search", "seeds=1", "scale=smoke"))
    assert (status, out.count("figure: ")) == (0, 2), err
    files = {path.relative_to(tmp_path / "here") for path in (tmp_path / "here").rglob("*") if path.is_file()}
    assert {path.parts[:2] for path in files} == {("results", "runs")}
    assert {path.name for path in files if path.suffix not in (".png", ".pdf", ".csv")} == {"run.json", "trials.jsonl"}


def test_one_job_and_two_jobs_and_two_processes_give_the_same_tables(command, here, tmp_path):
    common = (*CURRIN, "seeds=3", "budget.heavy=5")
    process = command(*common, "jobs=2", "out=jobs2")
    assert here(*common, "jobs=1", "out=jobs1")[0] == 0
    assert finish(process)[0] == 0
    one, two = (tables(tmp_path / "here" / f"jobs{jobs}") for jobs in (1, 2))
    assert len(one) == 3 and one == two


def test_a_run_is_recorded_and_drawn_with_all_its_streams_closed(command, tmp_path):
    arguments = [*CURRIN, "seeds=1", "budget.heavy=2"]
    closed = ["sh", "-c", 'exec "$0" -m benchmarks.run "$@" <&- >&- 2>&-', sys.executable, *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run(closed, cwd=tmp_path / "here", env=environment).returncode == 0
    (table,) = tables(tmp_path / "here").values()
    assert len(table) == 2
    assert len(list((tmp_path / "here").rglob("figure-*.png"))) == 1


def test_kill_9_loses_no_row_and_the_same_command_continues(command, here, tmp_path):
    common = (*CURRIN, "seeds=2", "budget.heavy=1000")
    assert here(*common, "out=whole")[0] == 0
    whole = tables(tmp_path / "here" / "whole")
    killed = tmp_path / "here" / "killed"
    moments = random.Random(0)
    least = 0
    for _ in range(2):
        process = command(*common, "out=killed", "jobs=2")
        path = wait_for_rows(killed, least + moments.randrange(1, 200))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        least = path.read_bytes().count(b"\n")
        assert RunFolder(path.parent).info().status is Status.RUNNING and least < 1000
    status, _, err = here(*common, "out=killed")
    assert status == 0, err
    assert tables(killed) == whole


def test_kill_9_in_the_middle_of_a_heavy_training_run_costs_that_run_and_no_more(command, here, tmp_path):
    """Hyperband: three light runs, of which one is continued to the end; then heavy runs from the start."""
    common = ["+task=currin", "task._target_=trained_task.Trained", "method=hyperband", "seeds=1", "budget.heavy=2"]
    common += ["task.parameters.light_iterations=2", "task.parameters.heavy_iterations=60"]
    common += ["methods.hyperband.n_rungs=2"]
    assert here(*common, "out=whole")[0] == 0
    process = command(*common, "out=killed")
    path = wait_for_rows(tmp_path / "here" / "killed", 3)
    time.sleep(0.1)
    process.kill()
    process.wait()
    assert 3 <= path.read_bytes().count(b"\n") < 5  # there are five, the last two heavy
    assert list(path.parent.glob("states/*.npz"))
    status, _, err = here(*common, "out=killed")
    assert status == 0, err
    assert without_seconds(tables(tmp_path / "here" / "killed")) == without_seconds(tables(tmp_path / "here" / "whole"))
    assert not (path.parent / "states").exists()


def without_seconds(tables):
    for table in tables.values():
        for row in table:
            del row["curve"]["seconds"], row["curve"]["processor_seconds"]
    return tables


def test_ctrl_c_stops_at_once_says_how_to_go_on_and_leaves_no_worker(command, here, tmp_path):
    waiting = (*CURRIN, "task._target_=waiting_task.Waiting", "seeds=2", "budget.heavy=4", "jobs=2")
    process = command(*waiting)
    wait_for_rows(tmp_path / "here", 1)
    os.killpg(process.pid, signal.SIGINT)
    status, _, err = finish(process)
    assert status == 130
    said = "the same command continues: "
    interpreter, *rest = err[err.index(said) + len(said) :].split()
    assert (tmp_path / "here" / interpreter).samefile(sys.executable)
    assert rest[: len(waiting) + 2] == ["-m", "benchmarks.run", *waiting]
    assert "Traceback" not in err
    assert max(map(len, tables(tmp_path / "here").values())) == 1
    (tmp_path / "here" / "go").touch()
    status, _, err = here(*waiting)  # would be refused if a worker still held its run
    assert status == 0, err
    assert [len(table) for table in tables(tmp_path / "here").values()] == [4, 4]


def test_a_second_process_on_a_run_is_refused_and_the_first_goes_on(command, here, tmp_path):
    waiting = (*CURRIN, "task._target_=waiting_task.Waiting", "seeds=1", "budget.heavy=4")
    first = command(*waiting)
    wait_for_rows(tmp_path / "here", 1)
    status, _, err = here(*waiting)
    assert status == 1
    assert "another process is working on" in err
    (tmp_path / "here" / "go").touch()
    status, _, err = finish(first)
    assert status == 0, err
    assert [len(table) for table in tables(tmp_path / "here").values()] == [4]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("task=curin",), 2, "error: unknown task 'curin': did you mean 'currin'?"),
        ((), 2, "error: no task is chosen"),
        (("--help",), 0, ""),
    ],
)
def test_exit_status_without_work(command, tmp_path, arguments, status, message):
    code, _, err = finish(command(*arguments))
    assert code == status
    assert err.startswith(message) and "Traceback" not in err
    assert list((tmp_path / "here").iterdir()) == []
