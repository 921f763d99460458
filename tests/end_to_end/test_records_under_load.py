"""Records where it gets tight: two commands on one folder, full and read-only disks, a clock set back.

A command is a process of its own where it is killed or limited, else it is called in this one.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas
import pytest

from benchmarks import record, run
from benchmarks.config.registry import document
from benchmarks.config.spec import Spec
from benchmarks.records.frames import load
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, run_experiment
from support import reserve_less_for_trees, search_less, tables

ROOT = Path(__file__).resolve().parents[2]
CURRIN = ("task=currin", "method=random_search")
LIMIT = 100_000  # bytes


@pytest.fixture
def start(tmp_path):
    """Start the command in a process group of its own."""
    started = []

    def start(*arguments, module="benchmarks.run", **options):
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT), "BTAO_OFFLINE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def call(tmp_path, monkeypatch, capsys, forked_workers, empty_figures):
    """Call the command in this process: exit status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, main=run.main):
        capsys.readouterr()
        status = main(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        return status, out, err

    return call


@pytest.fixture
def disk(tmp_path):
    """Mounts a small file system; skips where the test may not."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        with contextlib.suppress(OSError):
            if subprocess.run(command, capture_output=True).returncode == 0:
                return folder
        pytest.skip("no file system can be mounted here")

    yield mount
    subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def finish(process):
    """Its exit status, stdout and stderr."""
    out, err = process.communicate(timeout=150)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def test_two_commands_on_one_folder_record_each_run_once_and_lose_none(start, call, tmp_path):
    common = (*CURRIN, "seeds=6", "budget.heavy=500")
    assert call(*common, "out=alone")[0] == 0
    ends = [finish(process) for process in [start(*common, "out=shared") for _ in range(2)]]
    shared = tables(tmp_path / "shared")
    assert len(shared) == 6 and shared == tables(tmp_path / "alone")
    for path in (tmp_path / "shared").rglob("run.json"):
        run = json.loads(path.read_text())
        assert (run["status"], len(run["starts"])) == ("finished", 1)
    # The one that ends first may leave to the other what that is at work on; then nothing is left.
    assert sorted(status for status, _, _ in ends) in ([0, 0], [0, 1])
    for status, _, err in ends:
        refused = [line for line in err.splitlines() if "FAILED" in line]
        assert bool(refused) == bool(status)
        assert all("another process is working on" in line for line in refused)


def test_a_full_disk_is_named_and_the_same_command_goes_on_when_there_is_room(call, disk, tmp_path):
    out = disk("size=256k")
    common = (*CURRIN, "seeds=1", "budget.heavy=1500")
    status, _, err = call(*common, f"out={out}")
    assert status == 1
    assert re.search(r"trial \d+ not recorded: No space left on device", err)
    (rows,) = tables(out).values()  # whole lines only
    assert 250 < len(rows) < 1500
    disk("remount,size=50m")
    assert call(*common, f"out={out}")[0] == 0
    assert call(*common, "out=whole")[0] == 0
    assert tables(out) == tables(tmp_path / "whole")


def test_a_limit_on_the_size_of_files_is_as_a_full_disk(start, call, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

    common = (*CURRIN, "seeds=1", "budget.heavy=700")
    status, _, err = finish(start(*common, "out=cut", preexec_fn=limit))
    assert status == 1
    assert re.search(r"trial \d+ not recorded: File too large", err)
    assert call(*common, "out=cut")[0] == 0
    assert call(*common, "out=whole")[0] == 0
    assert tables(tmp_path / "cut") == tables(tmp_path / "whole")


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_is_read_only_is_named(call, disk, there):
    out = disk("size=256k")
    disk("remount,ro")
    target = out if there else out / "new"
    status, _, err = call(*CURRIN, "seeds=1", "budget.heavy=2", f"out={target}")
    assert status == (1 if there else 2)
    assert "Read-only file system" in err and str(target) in err
    assert list(out.iterdir()) == []


RECORDER = ("task=svm", "scale=smoke", "task.parameters.n_train=200", "task.parameters.n_validation=100", "n=8")


@pytest.fixture
def recorder(call):
    """Record eight configurations of the SVM below a folder."""
    return lambda out, *more: call(*RECORDER, f"out={out}", "jobs=1", *more, main=record.main)


def errors(folder):
    """What the table in a folder holds, but for seconds."""
    (path,) = folder.glob("*.parquet")
    return pandas.read_parquet(path).drop(columns=["seconds", "processor_seconds"])


def test_a_recording_that_is_killed_goes_on_to_the_same_table(start, recorder, tmp_path):
    assert recorder("whole")[0] == 0
    for least in (1, 9):  # trials on record when it is killed; each configuration has three
        process = start(*RECORDER, "out=killed", "jobs=1", module="benchmarks.record")
        deadline = time.monotonic() + 120
        while sum(path.read_bytes().count(b"\n") for path in tmp_path.glob("killed/*.parts/**/trials.jsonl")) < least:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert recorder("killed")[0] == 0
    pandas.testing.assert_frame_equal(errors(tmp_path / "killed"), errors(tmp_path / "whole"))
    (log,) = tmp_path.glob("killed/*.parts/**/trials.jsonl")
    assert log.read_bytes().count(b"\n") == 24  # nothing was trained twice


def test_a_recording_on_a_full_disk_says_so_and_goes_on_when_there_is_room(recorder, disk, tmp_path):
    out = disk("size=16k")
    status, _, err = recorder(out)
    assert status == 1 and "No space left on device" in err
    disk("remount,size=50m")
    assert recorder(out)[0] == 0
    assert recorder("whole")[0] == 0
    pandas.testing.assert_frame_equal(errors(out), errors(tmp_path / "whole"))
    disk("remount,ro")
    status, said, _ = recorder(out)  # there is nothing to do
    assert status == 0 and "holds 8 of 8 configurations" in said
    status, _, err = recorder(out, "n=16")
    assert status == 1 and "Read-only file system" in err
    pandas.testing.assert_frame_equal(errors(out), errors(tmp_path / "whole"))


@pytest.fixture
def lighter_smac():
    with pytest.MonkeyPatch.context() as patch:
        reserve_less_for_trees(patch)
        search_less(patch)
        yield


@pytest.mark.parametrize("name", ["random_search", "tpe", "gp_bo", "smac", "bohb", "hyperband", "btao"])
def test_a_clock_set_back_does_not_change_a_table(tmp_path, monkeypatch, lighter_smac, name):
    settings = document("method", name)
    method = Spec(name, settings.pop("_target_"), settings)
    task = Spec("currin", "benchmarks.objectives.currin.Currin")
    experiment = Experiment(task, method, 0, Budget(heavy=8))
    run_experiment(experiment, tmp_path / "right")
    now, steps = time.time(), itertools.count()
    monkeypatch.setattr(time, "time", lambda: now - 3600 * next(steps))
    run_experiment(experiment, tmp_path / "back")
    monkeypatch.undo()
    assert tables(tmp_path / "back") == tables(tmp_path / "right")
    frame = load(tmp_path / "back")
    assert frame["time"].is_monotonic_increasing
    assert (frame[["train_seconds", "method_seconds"]] >= 0).all(axis=None)
