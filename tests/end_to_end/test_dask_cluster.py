"""A Dask cluster of separate processes: one worker is killed half-way, Ctrl-C, another folder, no suite."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.run import main
from support import tables

ROOT = Path(__file__).resolve().parents[2]
CURRIN = ("task=currin", "method=random_search", "seeds=2", "budget.heavy=2")
WAITING = """
import time
from pathlib import Path
from benchmarks.objectives.currin import Currin

class Waiting(Currin):
    '''Only the first evaluation returns before there is a file named go beside this one.'''

    first = True

    def evaluate(self, config, level, seed):
        while not (self.first or Path(__file__).with_name("go").exists()):
            time.sleep(0.02)
        self.first = False
        return super().evaluate(config, level, seed)
"""


class Cluster:
    """Processes on loopback, each in a group of its own; all are ended with the context."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen] = []
        (folder / "modules").mkdir()
        (folder / "modules" / "waiting_task.py").write_text(WAITING)
        self.python_path = os.pathsep.join([str(ROOT), str(folder / "modules")])

    @functools.cached_property
    def scheduler(self):
        return self.start("distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", "scheduler.json")

    @functools.cached_property
    def address(self):
        file = self.folder / "scheduler.json"
        wait_for(lambda: self.scheduler and file.exists() and file.read_text())
        return json.loads(file.read_text())["address"]

    def start(self, module, *arguments, **changes):
        host = () if module == "benchmarks.run" else ("--host", "127.0.0.1", "--no-dashboard")
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments, *host],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": self.python_path} | changes,
            stdout=subprocess.PIPE if not host else subprocess.DEVNULL,
            stderr=subprocess.PIPE if not host else subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            # Where the tests run in the background, Ctrl-C would be ignored by all that they start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.started.append(process)
        return process

    def worker(self, *arguments, **changes):
        return self.start("distributed.cli.dask_worker", self.address, "--nthreads", "1", *arguments, **changes)

    def run(self, *arguments):
        return self.start("benchmarks.run", *arguments, *self.engine)

    @property
    def engine(self):
        """What a command says to use it."""
        return "engine=dask", f"engine.address={self.address}"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture
def cluster(tmp_path, monkeypatch, forked_workers, empty_figures):
    """A cluster, and this process where a command of it would be: `main` saves it the imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    with Cluster(tmp_path) as cluster:
        yield cluster


def finish(process):
    """Its exit status, stdout and stderr."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.1)


def n_rows(out):
    return sum(map(len, tables(out).values()))


def holder(out):
    """The processes that have a log open, by path."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for file in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    path = Path(os.readlink(file))
                    if path.is_relative_to(out) and path.name == "trials.jsonl":
                        found[path] = int(process.name)
    return found


def lives(group):
    """Whether a process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def parent_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to find the process of a run")
def test_all_tables_are_those_of_the_local_engine_though_a_worker_is_killed_half_way(cluster, tmp_path):
    waiting = (*CURRIN, "task._target_=waiting_task.Waiting", "method=[random_search,btao]", "seeds=1")
    workers = [cluster.worker("--no-nanny"), cluster.worker("--no-nanny")]
    process = cluster.run(*waiting, "out=dask")
    wait_for(lambda: n_rows(tmp_path / "dask") == 2 and len(holder(tmp_path / "dask")) == 2)
    before = holder(tmp_path / "dask")
    path, held_by = next(iter(before.items()))
    (killed,) = [worker for worker in workers if worker.pid == parent_of(held_by)]
    killed.kill()  # in the middle of a run, which has a row on record
    wait_for(lambda: holder(tmp_path / "dask").get(path) != held_by, 10)
    (tmp_path / "modules" / "go").touch()
    status, out, err = finish(process)
    assert status == 0, err
    assert out.count(" 1/1 ") == 2
    assert err.count("FAILED") == 0
    starts = json.loads(path.with_name("run.json").read_text())["starts"]
    assert starts[-1]["first_trial"] == 1  # it went on from its log
    assert main([*waiting, "out=local"]) == 0
    local, dask = tables(tmp_path / "local"), tables(tmp_path / "dask")
    assert len(local) == 2 and local == dask
    assert not list((tmp_path / "dask").glob(".*"))


def test_ctrl_c_says_how_to_go_on_and_leaves_no_process_at_work(cluster, tmp_path):
    cluster.worker()  # with a nanny, as Dask has it by default
    waiting = (*CURRIN, "task._target_=waiting_task.Waiting", "out=out")
    process = cluster.run(*waiting)
    wait_for(lambda: n_rows(tmp_path / "out") == 1)
    os.killpg(process.pid, signal.SIGINT)
    status, _, err = finish(process)
    assert (status, "Traceback" in err) == (130, False)
    assert f"the same command continues: {sys.executable} -m benchmarks.run {' '.join(waiting[:1])}" in err
    wait_for(lambda: holder(tmp_path / "out") == {}, 10)
    (tmp_path / "modules" / "go").touch()
    assert main([*waiting, "seeds=1", *cluster.engine]) == 0


def test_ctrl_c_ends_the_cluster_of_this_machine(cluster, tmp_path):
    waiting = (*CURRIN, "task._target_=waiting_task.Waiting", "out=out", "engine=dask", "jobs=2")
    process = cluster.start("benchmarks.run", *waiting)
    wait_for(lambda: n_rows(tmp_path / "out") == 2)
    os.killpg(process.pid, signal.SIGINT)
    status, _, err = finish(process)
    assert (status, "Traceback" in err) == (130, False), err
    assert "the same command continues: " in err
    wait_for(lambda: holder(tmp_path / "out") == {} and not lives(process.pid), 10)


def test_a_scheduler_that_dies_ends_the_command_with_the_reason_and_frees_its_runs(cluster, tmp_path):
    cluster.worker("--no-nanny")
    process = cluster.run(*CURRIN, "task._target_=waiting_task.Waiting", "out=out")
    wait_for(lambda: n_rows(tmp_path / "out") == 1)
    cluster.scheduler.kill()
    status, _, err = finish(process)
    assert (status, "Traceback" in err) == (1, False), err
    assert err.count("FAILED, the Dask scheduler is gone or has dropped it; the same command continues") == 2
    wait_for(lambda: holder(tmp_path / "out") == {}, 30)


def test_a_worker_without_the_suite_is_refused_before_any_work(cluster, tmp_path, capsys):
    shadow = tmp_path / "shadow" / "benchmarks"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").write_text("")  # before any other that may be installed
    cluster.worker("--no-nanny", PYTHONPATH=str(shadow.parent))
    assert main([*CURRIN, "out=out", *cluster.engine]) == 2
    err = capsys.readouterr().err
    assert "error: engine=dask: Dask worker tcp://" in err
    assert "cannot load the suite: " in err and "No module named 'benchmarks.running" in err
    assert list((tmp_path / "out").iterdir()) == []
