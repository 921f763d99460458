"""The Dask engine: tables are those of the local one, and what does not fit is refused before any work."""

from __future__ import annotations

import dataclasses
import importlib
import os
import shutil
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import distributed
import pytest

from benchmarks.common import environment as arithmetic
from benchmarks.common.errors import UsageError
from benchmarks.config.registry import TABLES, target_of
from benchmarks.config.spec import Spec
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import Status
from benchmarks.records.trials import TrialLog
from benchmarks.running import dask as dask_engine
from benchmarks.running import dask_task
from benchmarks.running.budget import Budget
from benchmarks.running.dask import connect
from benchmarks.running.dask_task import WorkerRequirements, check_worker
from benchmarks.running.experiment import Experiment
from benchmarks.running.local import run_all
from benchmarks.running.progress import Ended
from benchmarks.running.source import Recorded
from support import Log, rows

CURRIN = "benchmarks.objectives.currin.Currin"
TASK = '''
import os, signal, time
from benchmarks.objectives.currin import Currin

class Deadly(Currin):
    """Kills its process in a part of the box."""

    def evaluate(self, config, level, seed):
        if config["x1"] > 0.7:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().evaluate(config, level, seed)

class Broken(Currin):
    def evaluate(self, config, level, seed):
        os._exit(3)

class Slow(Currin):
    def evaluate(self, config, level, seed):
        time.sleep(1)
        return super().evaluate(config, level, seed)
'''


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    (tmp_path / "deadly_task.py").write_text(TASK)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler with a worker of two threads, in this process."""
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, protocol="tcp", host="127.0.0.1") as cluster:
        yield cluster.scheduler_address


def experiment(seed, target=CURRIN, heavy=3, search=None):
    method = Spec(*(search or ("random_search", "baselines.random_search.RandomSearch")))
    return Experiment(Spec("currin", target), method, seed, Budget(heavy=heavy))


def test_tables_are_those_of_the_local_engine(tmp_path, tasks, cluster):
    """Failures and killed trials, too; what was done before is left out, and nothing but records is left."""
    targets = {0: CURRIN, 1: CURRIN, 3: "deadly_task.Deadly", 4: "deadly_task.Broken"}
    experiments = [experiment(seed, target, heavy=5) for seed, target in targets.items()]
    local, dask = tmp_path / "local", tmp_path / "dask"
    dask.mkdir()
    expected, seen = Log(), Log()
    run_all(experiments, local, jobs=1, observer=expected, skip={0})
    with connect(cluster, 1, dask) as engine:
        assert engine.jobs == 2
        failures = engine.run_all(experiments, dask, observer=seen, skip={0})
    assert [failure.reason for failure in failures] == ["its process ended with exit status 3"]
    assert failures[0].error_file == experiments[3].folder(dask) / "error.txt"
    assert RunFolder(experiments[3].folder(dask)).info().status is Status.KILLED
    for each in experiments[1:3]:
        assert rows(each.folder(dask)) == rows(each.folder(local))
    assert any(row["status"] == "failed" for row in rows(experiments[2].folder(dask)))
    assert sorted(seen.begun) == [1, 2, 3] and {*seen.over} == {1, 2, 3}
    assert {index: failure is None for index, failure in seen.over.items()} == {1: True, 2: True, 3: False}
    for index in (1, 2):
        assert seen.progress[index][-1] == expected.progress[index][-1]
    assert [path.name for path in dask.iterdir()] == ["currin"]


def test_the_method_that_took_longest_goes_first(tmp_path, small, instead):
    instead(_attempt=attempted)
    slow = ("slow_search", "baselines.random_search.RandomSearch")
    experiments = [experiment(seed, search=search) for seed in (0, 1) for search in (None, slow)]
    log = Log()
    with connect(small.scheduler_address, 1, tmp_path) as engine:
        assert engine.run_all(experiments, tmp_path, observer=log) == []
    assert log.begun == [0, 1, 3, 2]  # methods that are not known yet, then the slow one


def test_a_run_that_another_process_works_on_is_waited_for(tmp_path, cluster, monkeypatch):
    each, log = experiment(0), Log()
    failures, asked = [], threading.Event()
    is_locked = RunFolder.is_locked
    monkeypatch.setattr(RunFolder, "is_locked", lambda folder: asked.set() or is_locked(folder))
    with connect(cluster, 1, tmp_path) as engine:
        with TrialLog(each.folder(tmp_path)):
            thread = threading.Thread(target=lambda: failures.extend(engine.run_all([each], tmp_path, observer=log)))
            thread.start()
            assert asked.wait(60)
            time.sleep(2 * dask_task.LOOKS)
            assert log.over == {}
        thread.join(60)
    assert (failures, log.over) == ([], {0: None})
    assert len(rows(each.folder(tmp_path))) == 3


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_engine, "CONNECTING", 1.0)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with (
            pytest.raises(UsageError, match=f"engine.address={address}: no Dask scheduler"),
            connect(address, 1, tmp_path),
        ):
            pass
    assert list(tmp_path.iterdir()) == []


def test_dask_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "benchmarks.running.dask")
    with pytest.raises(UsageError, match=r"engine=dask needs distributed: .* -m pip install"):
        importlib.import_module("benchmarks.running.dask")


def test_a_worker_that_does_not_fit_is_refused_before_any_work(tmp_path, monkeypatch, cluster):
    here = WorkerRequirements.of_this_process(tmp_path)
    newer = here.versions | {"numpy": "99.1"}
    for changes, message in (
        ({"versions": newer}, r"Dask worker tcp://\S+ has numpy \S+ instead of 99\.1: "),
        ({"token": tmp_path / "nowhere" / "token"}, r"Dask worker tcp://\S+ does not see \S+/nowhere: out= must be"),
    ):

        class Changed:
            @staticmethod
            def of_this_process(token, changes=changes):
                return dataclasses.replace(here, **{"token": token, **changes})

        monkeypatch.setattr(dask_engine, "WorkerRequirements", Changed)
        with pytest.raises(UsageError, match=message), connect(cluster, 1, tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_check_names_what_differs(tmp_path):
    here = WorkerRequirements.of_this_process(tmp_path)
    assert check_worker(here) is None
    versions = {name: version for name, version in here.versions.items() if name != "scipy"} | {
        "numpy": "1",
        "new": "2",
    }
    told = check_worker(dataclasses.replace(here, versions=versions))
    ours = here.versions
    expected = f"new (none) instead of 2, numpy {ours['numpy']} instead of 1, scipy {ours['scipy']} instead of none"
    assert told == f"has {expected}: tables would depend on the machine"
    if here.commit is not None:
        assert f"the suite at commit {here.commit} instead of 0" in check_worker(dataclasses.replace(here, commit="0"))
    assert check_worker(dataclasses.replace(here, commit=None)) is None


def test_a_check_names_another_arithmetic_of_the_processes_that_run_experiments(tmp_path, monkeypatch):
    here = WorkerRequirements.of_this_process(tmp_path)
    assert here.arithmetic["OPENBLAS_CORETYPE"] == arithmetic.portably(os.getenv, "OPENBLAS_CORETYPE")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    told = f"has OPENBLAS_CORETYPE Prescott instead of {here.arithmetic['OPENBLAS_CORETYPE'] or 'none'}: "
    assert check_worker(here).startswith(told)
    monkeypatch.undo()
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "DEFAULT")
    assert check_worker(here).startswith("has ONEDNN_MAX_CPU_ISA DEFAULT instead of AVX2: ")
    monkeypatch.undo()
    name = "SIMD extensions of numpy"
    told = check_worker(dataclasses.replace(here, arithmetic=here.arithmetic | {name: "X86_V2 X86_V9"}))
    assert told.startswith(f"has {name} {here.arithmetic[name]} instead of X86_V2 X86_V9: ")


class Joining(Log):
    """Has a worker of this cluster come when the first experiment is over."""

    def __init__(self, cluster):
        super().__init__()
        self.cluster = cluster

    def ended(self, index, failure):
        if not self.over:
            self.cluster.scale(2)
            self.cluster.wait_for_workers(2)
        super().ended(index, failure)


@pytest.fixture
def small(tmp_path, tasks):
    """A cluster of one worker with one thread, in this process."""
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, protocol="tcp", host="127.0.0.1") as cluster:
        yield cluster


RAN = []  # addresses of workers, one an experiment


def attempted(experiment, *_):
    """In place of `_attempt`: notes where it runs, and takes longer for one method."""
    RAN.append(distributed.get_worker().address)
    time.sleep(0.6 if experiment.method.name == "slow_search" else 0.2)
    return Ended()


ANSWERS = []  # of `check_worker`, one for the setup of each worker


def answered(_):
    """In place of `check_worker`; a task, which checks again, runs where it may."""
    answer = None if "Dask-Default-Threads" in threading.current_thread().name else ANSWERS.pop(0)
    if isinstance(answer, Exception):
        raise answer
    return answer


@pytest.fixture
def instead(monkeypatch):
    """Workers call these functions."""
    RAN.clear()

    def replaced(**functions):
        for name, function in functions.items():
            monkeypatch.setattr(dask_task, name, function)

    return replaced


@pytest.mark.parametrize("answer", ["has numpy 1 instead of 2: tables would depend on the machine", ImportError("no")])
def test_a_worker_that_comes_later_and_does_not_fit_is_named_once_and_given_nothing(
    tmp_path, small, instead, capsys, answer
):
    (first,) = [worker.address for worker in small.workers.values()]
    ANSWERS[:] = [None, answer]
    instead(check_worker=answered, _attempt=attempted)
    experiments, log = [experiment(seed) for seed in range(4)], Joining(small)
    with connect(small.scheduler_address, 1, tmp_path) as engine:
        assert engine.run_all(experiments, tmp_path, observer=log) == []
        assert len(engine.unfit) == 1 and engine.jobs == 1
    assert log.over == dict.fromkeys(range(4)) and [first] * 4 == RAN
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "It is given no experiment" in line]
    told = "cannot load the suite: ImportError: no" if isinstance(answer, Exception) else answer
    assert line == f"engine=dask: Dask worker {next(iter(engine.unfit))} {told}. It is given no experiment"


def test_a_worker_that_comes_later_and_fits_takes_its_part(tmp_path, small, instead):
    instead(_attempt=attempted)
    with connect(small.scheduler_address, 1, tmp_path) as engine:
        experiments = [experiment(seed) for seed in range(6)]
        assert engine.run_all(experiments, tmp_path, observer=Joining(small)) == []
        assert engine.jobs == 2
    assert len(RAN) == 6 and len(set(RAN)) == 2


def test_an_experiment_of_a_worker_that_turns_out_not_to_fit_is_started_again_by_another(
    tmp_path, small, instead, capsys
):
    asked = []

    def missing(_):
        asked.append(distributed.get_worker().address)
        return "does not see it" if asked[-1] == asked[0] else None

    small.scale(2)
    small.wait_for_workers(2)
    instead(missing=missing, _attempt=attempted)
    experiments, log = [experiment(seed) for seed in range(3)], Log()
    with connect(small.scheduler_address, 1, tmp_path) as engine:
        assert engine.run_all(experiments, tmp_path, observer=log) == []
        assert engine.unfit == {asked[0]: "does not see it"}
    assert log.over == dict.fromkeys(range(3)) and len(RAN) == 3 and asked[0] not in RAN
    assert capsys.readouterr().err.count("Dask worker") == 1


def test_experiments_fail_with_the_reason_where_no_fit_worker_is_left(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(dask_engine, "PATIENCE", 0.5)
    with connect(cluster, 1, tmp_path) as engine:
        engine.requirements.token.unlink()
        failures = engine.run_all([experiment(0), experiment(1)], tmp_path, observer=Log())
    assert len(failures) == 2
    for failure in failures:
        assert failure.reason.startswith("UnfitWorker: Dask worker tcp://") and "does not see" in failure.reason


def test_a_worker_that_does_not_see_the_table_or_the_data_is_given_nothing(tmp_path, cluster, monkeypatch):
    """Else it would fail one experiment after the other, and be free for the next one first."""
    monkeypatch.setattr(dask_engine, "PATIENCE", 0.5)
    table = shutil.copy(TABLES / "svm-mnist-5000-laptop.parquet", tmp_path)
    task, source = Spec("svm", target_of("task", "svm")), Recorded(Path(table))
    method = Spec("random_search", "baselines.random_search.RandomSearch")
    data = source.objective(task).data
    experiments = [Experiment(task, method, seed, Budget(heavy=2), 1, data, source) for seed in range(3)]
    assert dask_task.missing(experiments[0]) is None
    other = dataclasses.replace(data, sha256="0" * 64)
    told = dask_task.missing(dataclasses.replace(experiments[0], data=other))
    assert f"(ValueError: the data set is {data}, but the experiment was set up with {other})" in told

    os.unlink(table)
    out = tmp_path / "out"
    out.mkdir()
    with connect(cluster, 1, out) as engine:
        failures = engine.run_all(experiments, out, observer=Log())
    assert sorted(failure.experiment.seed for failure in failures) == [0, 1, 2]
    for failure in failures:
        assert "cannot set up task svm, as the driver can (FileNotFoundError: there is no table" in failure.reason
    assert not list(out.rglob("run.json"))  # nothing was begun


@pytest.mark.parametrize("allowed", [3, 0])
def test_an_experiment_whose_only_worker_is_lost_is_started_again_by_one_that_comes(tmp_path, small, allowed):
    """Where more workers were lost than Dask allows, it fails."""
    small.scheduler.allowed_failures = allowed
    (first,) = [worker.address for worker in small.workers.values()]

    class Leaving(Log):
        def started(self, index):
            if not self.begun:
                small.scale(0)
            super().started(index)

    log, each = Leaving(), experiment(0, "deadly_task.Slow", heavy=1)
    with connect(small.scheduler_address, 1, tmp_path) as engine:
        timer = threading.Timer(1, small.scale, [1])
        timer.start()
        failures = engine.run_all([each], tmp_path, observer=log)
        timer.join()
    if allowed:
        assert failures == [] and log.begun == [0, 0]
        assert len(rows(each.folder(tmp_path))) == 1
    else:
        assert [failure.reason for failure in failures] == [f"its Dask worker was lost 1 times, the last at {first}"]


def test_a_scheduler_of_another_version_is_refused():
    class Client:
        def get_versions(self):
            ours = {"packages": {"python": "3.11.2.final.0", "dask": "2026.1", "distributed": "2026.1"}}
            theirs = {"packages": {"python": "3.12.0.final.0", "dask": "2026.1", "distributed": "2026.3"}}
            return {"client": ours, "scheduler": ours, "workers": {"tcp://w": theirs}}

    message = "engine=dask: Dask worker tcp://w has Python 3.12 instead of 3.11, distributed 2026.3 instead of 2026.1"
    with pytest.raises(UsageError, match=message):
        dask_engine._check_versions(Client())


def test_an_experiment_whose_worker_is_lost_time_and_again_says_so():
    error = distributed.KilledWorker("key", SimpleNamespace(address="tcp://w:1"), 3)
    assert dask_engine._why(error) == "its Dask worker was lost 4 times, the last at tcp://w:1"
    assert dask_engine._why(ValueError("no")) == "ValueError: no"
