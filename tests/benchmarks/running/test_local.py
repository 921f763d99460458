"""The engine: failures and deaths stay with their experiment, results do not depend on jobs."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from baselines.protocol import Trial
from benchmarks.common.environment import THREADS
from benchmarks.config.spec import Spec
from benchmarks.records.command import Command
from benchmarks.records.run_folder import CRASHES, ERROR, OUTPUT, RunFolder
from benchmarks.records.run_info import Status
from benchmarks.records.trials import Row, TrialLog
from benchmarks.running import local as engine
from benchmarks.running.budget import Budget, Spent
from benchmarks.running.experiment import Experiment, describe
from benchmarks.running.local import _death, longest, run_all
from benchmarks.running.progress import Progress, TrainingProgress
from benchmarks.running.worker_process import Reporter
from support import Log, rows

TASK = '''
import os, signal, sys
from baselines.random_search import RandomSearch
from benchmarks.objectives.currin import Currin
from benchmarks.objectives.protocol import Evaluation

class Fragile(Currin):
    """Currin, but seed 1 is dishonest, seed 4 crashes deep in a recursion, and half of seed 5's box kills."""

    def evaluate(self, config, level, seed):
        if seed == 1:
            return Evaluation(0.0, level.iterations + 1)
        if seed == 4:
            self.innermost(90)
        if seed == 5 and config["x1"] > 0.5:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().evaluate(config, level, seed)

    def innermost(self, depth):
        self.innermost(depth - 1) if depth else os.kill(os.getpid(), signal.SIGSEGV)

class KilledSearch(RandomSearch):
    """Seed 2 is killed when it is asked."""

    def __init__(self, problem, seed):
        super().__init__(problem, seed)
        self.killed = seed == 2

    def ask(self):
        if self.killed:
            print("last words", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().ask()

class Variables(Currin):
    """Fails with the variables that tell a worker of its data."""

    def evaluate(self, config, level, seed):
        raise ValueError(os.environ["BTAO_OFFLINE"] + os.environ["BTAO_NOTICE"])

class Threads(Currin):
    """The value is the number of threads that numpy was loaded with."""

    def evaluate(self, config, level, seed):
        return Evaluation(float(os.environ["OMP_NUM_THREADS"]), level.iterations)
'''


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    (tmp_path / "fragile_task.py").write_text(TASK)
    monkeypatch.syspath_prepend(tmp_path)


def experiment(seed, target="benchmarks.objectives.currin.Currin", heavy=3, threads=1, search=None):
    method = Spec("random_search", search or "baselines.random_search.RandomSearch")
    return Experiment(Spec("currin", target), method, seed, Budget(heavy=heavy), threads)


def test_tables_do_not_depend_on_jobs(tmp_path):
    experiments = [experiment(seed) for seed in range(3)]
    for jobs in (1, 2):
        log = Log()
        out = tmp_path / str(jobs)
        assert run_all(experiments, out, jobs=jobs, observer=log) == []
        assert log.over == {0: None, 1: None, 2: None}
        assert [progress.heavy for progress in log.progress[2]] == sorted(each.heavy for each in log.progress[2])
    for each in experiments:
        assert rows(each.folder(tmp_path / "1")) == rows(each.folder(tmp_path / "2"))
    with TrialLog(experiments[0].folder(out)) as trials:
        best = min(row.value for row in trials.rows)
    assert log.progress[0][-1] == Progress(heavy=3, light=0, best=best, share=1.0)


@pytest.mark.parametrize(("limit", "processes"), [(2**60, 1), (1, 3)])
def test_a_worker_that_has_grown_too_large_takes_no_further_experiment(tmp_path, monkeypatch, limit, processes):
    started = []

    class Counted(engine.Worker):
        def __init__(self, threads):
            started.append(threads)
            super().__init__(threads)

    monkeypatch.setattr(engine, "Worker", Counted)
    monkeypatch.setattr(engine, "MEMORY", limit)
    run_all([experiment(seed) for seed in range(3)], tmp_path, jobs=1, observer=Log())
    assert len(started) == processes


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_and_a_death_leave_the_others_alone(tmp_path, tasks, jobs):
    search = "fragile_task.KilledSearch"
    experiments = [experiment(seed, "fragile_task.Fragile", search=search) for seed in range(4)]
    log = Log()
    failures = run_all(experiments, tmp_path, jobs=jobs, observer=log)
    assert {failure.experiment.seed for failure in failures} == {1, 2}
    assert sorted(index for index, failure in log.over.items() if failure is None) == [0, 3]
    failed, dead = sorted(failures, key=lambda failure: failure.experiment.seed)
    assert failed.reason.startswith("ValueError: evaluate of Fragile: iterations must be at most 5")
    assert failed.error_file == experiments[1].folder(tmp_path) / ERROR
    assert "Traceback" in failed.error_file.read_text()
    assert "killed by signal 9" in dead.reason
    assert "last words" in dead.error_file.read_text()
    assert [described(each, tmp_path).status for each in experiments[1:3]] == [Status.FAILED, Status.KILLED]
    assert [len(rows(experiments[index].folder(tmp_path))) for index in (0, 3)] == [3, 3]
    assert not (experiments[0].folder(tmp_path) / OUTPUT).exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_trial_that_has_the_worker_killed_twice_fails_and_the_run_goes_on(tmp_path, tasks, jobs):
    """As where memory runs out."""
    experiments = [experiment(5, "fragile_task.Fragile", heavy=6), experiment(3, "fragile_task.Fragile")]
    log = Log()
    assert run_all(experiments, tmp_path, jobs=jobs, observer=log) == []
    table = rows(experiments[0].folder(tmp_path))
    deadly = [row["trial"] for row in table if row["config"]["x1"] > 0.5]
    assert 0 < len(deadly) < len(table) == 6
    assert log.begun.count(0) == 1 + 2 * len(deadly)
    assert log.over == {0: None, 1: None}
    failed = {row["trial"]: (row["error"], row["iterations"]) for row in table if row["status"] == "failed"}
    reason = "MemoryError: the process was killed 2 times in this trial: out of memory?"
    assert failed == dict.fromkeys(deadly, (reason, 5))
    with TrialLog(experiments[0].folder(tmp_path)) as trials:
        assert [row.trial for row in trials.rows] == list(range(6))
    assert described(experiments[0], tmp_path).status is Status.FINISHED
    assert not (experiments[0].folder(tmp_path) / CRASHES).exists()


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"trial": 4, "times": 7}'])
def test_another_trial_was_not_killed_before(tmp_path, content):
    if content is not None:
        (tmp_path / CRASHES).write_text(content)
    folder = RunFolder(tmp_path)
    assert folder.crashes(3) == 0
    assert [folder.note_crash(3), folder.note_crash(3), folder.crashes(3)] == [1, 2, 2]


def test_the_whole_report_of_a_crash_is_kept(tmp_path, tasks):
    (failure,) = run_all([experiment(4, "fragile_task.Fragile")], tmp_path, jobs=1, observer=Log())
    assert failure.reason == "its process was killed by signal 11"
    report = failure.error_file.read_text()
    assert len(report) > 4000
    assert "Fatal Python error: Segmentation fault" in report and report.count("in innermost") == 91


def test_a_refused_run_leaves_the_output_of_the_other_process_alone(tmp_path):
    each = experiment(0)
    with TrialLog(each.folder(tmp_path)), open(each.folder(tmp_path) / OUTPUT, "ab", buffering=0) as file:
        run_all([each], tmp_path, jobs=1, observer=Log())
        file.write(b"printed later")
        assert (each.folder(tmp_path) / OUTPUT).read_text() == "printed later"


class Dead:
    """What is left of a worker."""

    def cause_of_death(self):
        return "its process was killed by signal 9"


def test_a_run_that_another_process_took_over_is_not_marked_as_failed(tmp_path):
    each = experiment(0)
    folder = RunFolder(each.folder(tmp_path))
    with folder.log() as log:
        run = folder.begin(describe(each, Command(), log.n_rows))
        assert _death(Dead(), each, tmp_path, Command()).error_file is None
    assert folder.info() == run and run.status is Status.RUNNING


def test_a_run_whose_worker_died_before_it_described_it_is_described_as_it_would_have_been(tmp_path):
    """With the worker's arithmetic, not that of this process."""
    each = experiment(0)
    run_all([each], tmp_path / "whole", jobs=1, observer=Log())
    ended = _death(Dead(), each, tmp_path, Command())
    assert ended.error_file.read_text() == "its process was killed by signal 9\n"
    own, marked = described(each, tmp_path / "whole"), described(each, tmp_path)
    (start,), (marked_start,) = own.starts, marked.starts
    assert start.machine["arithmetic"] is not None and start.machine == marked_start.machine
    assert (marked.status, marked.why) == (Status.KILLED, "its process was killed by signal 9")
    assert (marked.identity, marked_start.versions, marked_start.code) == (own.identity, start.versions, start.code)


def described(each, out):
    return RunFolder(each.folder(out)).info()


def test_workers_are_told_that_the_data_is_found(tmp_path, tasks, monkeypatch):
    monkeypatch.delenv("BTAO_OFFLINE", raising=False)
    each = experiment(0, "fragile_task.Variables", 1)
    assert run_all([each], tmp_path, jobs=1, observer=Log()) == []
    assert rows(each.folder(tmp_path))[0]["error"] == "ValueError: 10"
    assert "BTAO_OFFLINE" not in os.environ


def test_a_locked_run_is_a_failure_that_touches_nothing(tmp_path):
    each = experiment(0)
    with TrialLog(each.folder(tmp_path)):
        (failure,) = run_all([each], tmp_path, jobs=1, observer=Log())
    assert "another process" in failure.reason and "\n" not in failure.reason
    assert failure.error_file is None
    assert not (each.folder(tmp_path) / ERROR).exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_locked_run_is_looked_at_again_when_the_others_are_over(tmp_path, jobs):
    """Released by then, it is run, or left as it is where the other process finished it."""
    experiments = [experiment(seed) for seed in range(4)]
    held, finished = experiments[0].folder(tmp_path), experiments[1]
    run_all([finished], tmp_path / "elsewhere", jobs=1, command=Command("other"), observer=Log())
    locks = [TrialLog(held), TrialLog(finished.folder(tmp_path))]

    class Releasing(Log):
        def ended(self, index, failure):
            super().ended(index, failure)
            if len(self.over) == 2:
                for name in ("trials.jsonl", "run.json"):
                    path = finished.folder(tmp_path) / name
                    path.write_bytes((finished.folder(tmp_path / "elsewhere") / name).read_bytes())
                for lock in locks:
                    lock.__exit__(None, None, None)

    log = Releasing()
    assert run_all(experiments, tmp_path, jobs=jobs, observer=log) == []
    assert {*list(log.over)[:2]} == {2, 3} and len(log.over) == 4
    assert [len(rows(each.folder(tmp_path))) for each in experiments] == [3, 3, 3, 3]
    assert described(finished, tmp_path).command == Command("other")
    assert log.progress[1][-1].heavy == 3


def test_threads_are_set_before_the_worker_starts_and_not_here(tmp_path, tasks, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before = {name: os.environ.get(name) for name in THREADS}
    experiments = [experiment(0, "fragile_task.Threads", 1, threads) for threads in (1, 2)]
    assert run_all(experiments, tmp_path, jobs=1, observer=Log()) == []
    assert [rows(each.folder(tmp_path))[0]["value"] for each in experiments] == [1.0, 2.0]
    assert {name: os.environ.get(name) for name in THREADS} == before


def test_skipped_experiments_are_not_started(tmp_path):
    log = Log()
    assert run_all([experiment(0), experiment(1)], tmp_path, jobs=2, observer=log, skip={0}) == []
    assert log.begun == [1]
    assert not experiment(0).folder(tmp_path).exists()


def test_the_longest_goes_first_and_the_unknown_before_it():
    methods = [Spec(name, "x") for name in ("short", "long", "new")]
    experiments = [Experiment(Spec("t", "x"), method, 0, Budget(heavy=1)) for method in methods]
    durations = {"short": [1.0, 2.0], "long": [1.0, 9.0]}
    assert longest([0, 1, 2], experiments, durations) == 2
    assert longest([0, 1], experiments, durations) == 1
    assert longest([0, 1, 2], experiments, {}) == 0


@pytest.mark.parametrize(
    ("budget", "share"),
    [
        (Budget(heavy=8), 0.5),
        (Budget(heavy=8, iterations=40), 0.75),
        (Budget(seconds=10.0), 0.2),
        (Budget(heavy=3), 1.0),
    ],
)
def test_the_share_is_that_of_the_limit_nearest_to_its_end(budget, share):
    assert budget.share(Spent(heavy=4, iterations=30, seconds=2.0)) == share


def test_progress_is_sent_at_once_then_seldom_and_at_the_end():
    ours, theirs = multiprocessing.Pipe()
    reporter = Reporter(theirs, Budget(heavy=200))
    row = Row(0, True, 5, {}, 0.5, "ok", None, 5, 0.0, 0.0, 0.0, None)
    for number in range(100):
        reporter(dataclasses.replace(row, trial=number, value=0.5 - number))
    reporter.send()
    received = []
    while ours.poll():
        received.append(ours.recv())
    assert received[0] == Progress(1, 0, 0.5, 1 / 200)
    assert received[-1] == Progress(100, 0, -98.5, 0.5)
    assert len(received) < 50


def test_the_progress_of_training_says_what_is_left_of_it(monkeypatch):
    ours, theirs = multiprocessing.Pipe()
    now = (seconds for seconds in (0.0, 10.0, 30.0, 31.0) for _ in range(3))  # read thrice a message
    monkeypatch.setattr("benchmarks.running.worker_process.time.monotonic", lambda: next(now))
    reporter = Reporter(theirs, Budget(heavy=200))
    trial = Trial(0, {}, True, 10)
    seen = []
    for number in (4, 5, 7):  # continued after three iterations
        reporter.iteration(trial, number, 0.5 / number)
        seen.append(ours.recv().training)
    assert seen == [
        TrainingProgress(4, 10, 0.125, None),
        TrainingProgress(5, 10, 0.1, 50.0),
        TrainingProgress(7, 10, 0.5 / 7, 30.0),
    ]
    reporter(Row(0, True, 10, {}, 0.5, "ok", None, 7, 0.0, 0.0, 0.0, None))
    assert ours.recv().training is None


def test_no_worker_outlives_its_parent(tmp_path, tasks):
    (tmp_path / "sleeper.py").write_text(
        "import time\nfrom benchmarks.objectives.currin import Currin\n"
        "class Sleeper(Currin):\n    def evaluate(self, config, level, seed):\n        time.sleep(60)\n"
    )
    each = experiment(0, "sleeper.Sleeper")
    script = tmp_path / "parent.py"
    script.write_text(
        "from pathlib import Path\nfrom benchmarks.running.local import run_all\n"
        "from benchmarks.running.experiment import *\n"
        "class Silent:\n    started = progressed = ended = lambda self, *arguments: None\n"
        "if __name__ == '__main__':\n"
        "    method = Spec('random_search', 'baselines.random_search.RandomSearch')\n"
        "    each = Experiment(Spec('currin', 'sleeper.Sleeper'), method, 0, Budget(heavy=3))\n"
        f"    run_all([each], Path({str(tmp_path)!r}), jobs=1, observer=Silent())\n"
    )
    root = Path(__file__).resolve().parents[3]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(tmp_path)])}
    parent = subprocess.Popen([sys.executable, script], env=environment)
    run = each.folder(tmp_path) / "run.json"
    deadline = time.monotonic() + 60
    while not run.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while time.monotonic() < deadline:
        try:
            with TrialLog(each.folder(tmp_path)):
                return
        except RuntimeError:
            time.sleep(0.05)
    pytest.fail("the worker still holds its run")
