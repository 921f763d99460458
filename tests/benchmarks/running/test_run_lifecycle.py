"""The loop: what one run records, how it fails, when it ends."""

import dataclasses
import hashlib
import inspect
import json
import math
import random
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from scripted_runs import COMMAND, EXPERIMENT, RANDOM, SCRIPT, SQUARE, Script, Square, change, info, rows, run, timeless

from baselines.protocol import Capabilities, IncompatibleMethod
from baselines.random_search import RandomSearch
from benchmarks.objectives.protocol import Evaluation
from benchmarks.records import run_folder
from benchmarks.records.command import Command
from benchmarks.records.frames import load
from benchmarks.records.run_info import Status
from benchmarks.records.trials import RunLocked, TrialLog
from benchmarks.running import budget
from benchmarks.running.budget import MAX_FAILURES_IN_A_ROW
from benchmarks.running.experiment import Budget, Experiment, ExperimentFailed, Spec, run_experiment
from btao.training import Level


def test_the_task_is_prepared_once_before_the_first_trial(tmp_path):
    run(EXPERIMENT, tmp_path)
    assert Square.prepared == [0]


def test_an_experiment_in_which_nothing_succeeds_ends_and_says_why(tmp_path):
    """Light trials that all fail would otherwise go on for ever: no heavy one is granted."""
    Square.accidents = {k: RuntimeError("no memory") for k in range(1000)}
    experiment = change(method=Spec("btao_joint", "baselines.btao.BTAOMethod"))
    for _ in range(2):  # the same command again says the same, and trains no more
        with pytest.raises(ExperimentFailed, match="the last 50 trials failed, at last with: RuntimeError: no memory"):
            run(experiment, tmp_path)
        assert len(rows(experiment, tmp_path)) == len(Square.evaluated) == MAX_FAILURES_IN_A_ROW
    assert info(experiment.folder(tmp_path)).status is Status.FAILED


@pytest.mark.parametrize(("calls", "kept", "kind"), [((0, 1, 2), 0, "light"), ((2, 5, 8), 2, "heavy")])
def test_an_error_of_the_code_ends_the_run_at_once_and_the_corrected_code_goes_on(tmp_path, calls, kept, kind):
    run(EXPERIMENT, tmp_path / "undisturbed")
    Square.evaluated.clear()
    Square.accidents = {k: KeyError("rate") for k in calls}
    message = f"evaluate of Square failed with an error of its code before any {kind} trial succeeded: KeyError: 'rate'"
    with pytest.raises(ExperimentFailed, match=message) as failure:
        run(EXPERIMENT, tmp_path)
    assert len(Square.evaluated) == kept + 1
    assert len(rows(EXPERIMENT, tmp_path)) == kept
    assert "raise outcome" in (failure.value.folder / "error.txt").read_text()
    assert info(failure.value.folder).status is Status.FAILED
    Square.accidents = {}
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    assert timeless(EXPERIMENT, tmp_path) == timeless(EXPERIMENT, tmp_path / "undisturbed")


def test_an_error_of_the_code_after_a_success_is_a_failed_trial(tmp_path):
    Square.accidents = {3: KeyError("rate"), 5: TypeError("no")}
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    failed = {row.trial: (row.error, row.iterations) for row in rows(EXPERIMENT, tmp_path) if row.status == "failed"}
    assert failed == {3: ("KeyError: 'rate'", 3), 5: ("TypeError: no", 7)}


@pytest.mark.parametrize("method", ["btao.BTAOMethod", "gp_bo.GPBO", "random_search.RandomSearch"])
def test_a_value_beyond_what_btao_can_model_is_a_failed_trial_of_every_method(tmp_path, method):
    Square.accidents = {k: Evaluation(1e101, 3) for k in (1, 5)}
    experiment = change(method=Spec("method", f"baselines.{method}"), budget=Budget(heavy=8))
    assert run(experiment, tmp_path) is Status.FINISHED
    errors = {row.trial: (row.status, row.value, row.error) for row in rows(experiment, tmp_path) if row.error}
    assert errors == dict.fromkeys((1, 5), ("failed", None, "the value is 1e+101, more than 1e+100 in size"))


def test_a_task_whose_values_are_all_too_large_ends_a_run_of_heavy_ones(tmp_path):
    Square.accidents = {k: Evaluation(1e120, 3) for k in range(1000)}
    with pytest.raises(ExperimentFailed, match="the last 50 trials failed, at last with: the value is 1e\\+120"):
        run(change(method=Spec("btao_joint", "baselines.btao.BTAOMethod")), tmp_path)


def test_a_method_that_asks_for_no_heavy_run_ends_with_budget_left_and_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "MAX_TRIALS_WITHOUT_HEAVY", 5)
    late = change(method=Spec("script", SCRIPT.target, {"plan": [3, 3, 3, 3, 7]}))
    assert run(late, tmp_path) is Status.FINISHED
    never = change(method=Spec("script", SCRIPT.target, {"plan": [3]}))
    assert run(never, tmp_path) is Status.EXHAUSTED
    assert len(rows(never, tmp_path)) == 5
    assert info(never.folder(tmp_path)).why == "the last 5 trials brought no heavy run"


def test_failures_between_successes_are_no_reason_to_end(tmp_path):
    Square.accidents = {k: RuntimeError("no memory") for k in range(200) if k % 40}
    experiment = change(budget=Budget(heavy=60))
    assert run(experiment, tmp_path) is Status.FINISHED


def test_a_method_that_exits_leaves_its_traceback(tmp_path):
    Script.accidents = {("ask", 2): SystemExit(3)}
    with pytest.raises(ExperimentFailed, match="SystemExit: 3"):
        run(EXPERIMENT, tmp_path)
    assert "self.accident" in (EXPERIMENT.folder(tmp_path) / "error.txt").read_text()
    assert info(EXPERIMENT.folder(tmp_path)).status is Status.FAILED


def test_the_rows_say_what_happened(tmp_path):
    experiment = Experiment(Spec("square", SQUARE.target, {"shift": 2.0}), RANDOM, 4, Budget(heavy=3))
    assert run(experiment, tmp_path) is Status.FINISHED
    reference = RandomSearch(experiment.build()[1]._problem, seed=4)
    recorded = rows(experiment, tmp_path)
    assert len(recorded) == 3
    for row in recorded:
        trial = reference.ask()
        assert (row.trial, row.heavy, row.budget, row.config) == (trial.number, True, 7, trial.config)
        assert row.value == row.truth == trial.config["x"] ** 2 + 2.0
        assert (row.status, row.error, row.iterations) == ("ok", None, 7)
    spent = np.cumsum([row.train_seconds + row.method_seconds for row in recorded])
    assert [row.time for row in recorded] == pytest.approx(spent, rel=1e-12)
    assert recorded[0].time > 0


def test_the_task_gets_the_level_with_the_granted_iterations_and_the_seed_of_the_run(tmp_path, monkeypatch):
    """Above the light level's iterations the heavy level's patience and tolerance hold."""
    monkeypatch.setattr(Square, "heavy", Level(7, patience=4, tolerance=0.5))
    plan = Spec("script", SCRIPT.target, {"plan": [3, 2, 4, 6, 7]})
    run(change(method=plan, budget=Budget(heavy=1)), tmp_path)
    assert [seed for _, _, seed in Square.evaluated] == [4] * 5
    light = [Level(3, patience=2), Level(2, patience=2)]
    heavy = [Level(n, patience=4, tolerance=0.5) for n in (4, 6, 7)]
    assert [level for _, level, _ in Square.evaluated] == light + heavy


def test_run_json_describes_the_run(tmp_path):
    run(EXPERIMENT, tmp_path)
    text = (EXPERIMENT.folder(tmp_path) / "run.json").read_text()
    described = json.loads(text, parse_constant=pytest.fail)
    assert described["identity"] == EXPERIMENT.identity
    expected = {"task": "square", "method": "script", "seed": 4, "hash": EXPERIMENT.hash, "optimum": 0.0}
    expected |= {"schema": 2, "status": "finished", "why": None, "n_trials": 12, "table": None}
    assert {name: described[name] for name in expected} == expected
    (start,) = described["starts"]
    assert start["command"] == json.loads(json.dumps(dataclasses.asdict(COMMAND)))
    assert start["started"] <= start["finished"]
    assert start["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert start["versions"]["numpy"] == np.__version__
    digest = hashlib.sha256(Path(inspect.getfile(Square)).read_bytes()).hexdigest()[:10]
    assert {part: modules["scripted_runs"] for part, modules in start["code"].items()} == dict.fromkeys(
        ("method", "task"), digest
    )
    assert start["machine"]["cpu"]
    assert start["machine"]["cores"] >= 1
    assert start["git"] is None or set(start["git"]) == {"commit", "clean"}


def test_a_finished_run_is_skipped_and_nothing_is_touched(tmp_path):
    run(EXPERIMENT, tmp_path)
    files = {path: path.read_bytes() for path in EXPERIMENT.folder(tmp_path).iterdir()}
    n = len(Square.evaluated)
    assert run(EXPERIMENT, tmp_path) is None
    assert len(Square.evaluated) == n
    assert {path: path.read_bytes() for path in EXPERIMENT.folder(tmp_path).iterdir()} == files


def test_repetitions_are_equal_but_for_seconds_and_leave_global_randomness_alone(tmp_path):
    state, numpy_state = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    for name in ("a", "b"):
        run(EXPERIMENT, tmp_path / name)
    assert timeless(EXPERIMENT, tmp_path / "a") == timeless(EXPERIMENT, tmp_path / "b")
    assert (random.getstate(), np.random.get_state()[1].tolist()) == (state, numpy_state)  # noqa: NPY002


def test_records_are_loaded(tmp_path):
    for seed in (1, 0):
        run(change(seed=seed), tmp_path)
    frame = load(tmp_path)
    assert len(frame) == 24
    assert frame["seed"].tolist() == [0] * 12 + [1] * 12
    assert set(frame["optimum"]) == {0.0}


def test_an_exhausted_method_ends_the_run(tmp_path):
    experiment = change(method=Spec("script", SCRIPT.target, {"length": 5}))
    assert run(experiment, tmp_path) is Status.EXHAUSTED
    assert len(rows(experiment, tmp_path)) == 5
    ended = info(experiment.folder(tmp_path))
    assert (ended.status, ended.why) == (Status.EXHAUSTED, "the method had nothing left to propose")
    assert run(experiment, tmp_path) is None


@pytest.mark.parametrize(
    ("accident", "error", "iterations"),
    [
        (ValueError("no\nluck"), "ValueError: no luck", 3),
        (MemoryError(), "MemoryError: ", 3),
        (Evaluation(math.nan, 2), "the value is nan", 2),
        (Evaluation(math.inf, 1), "the value is inf", 1),
        (Evaluation(-math.inf, 1), "the value is -inf", 1),
        (Evaluation(0.5, 1, "diverged"), "diverged", 1),
        (Evaluation(None, 1, "out of memory"), "out of memory", 1),
    ],
)
def test_a_failed_trial_is_recorded_and_the_run_goes_on(tmp_path, accident, error, iterations):
    Square.accidents[0] = accident
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    first, *rest = rows(EXPERIMENT, tmp_path)
    assert (first.status, first.value, first.truth, first.iterations) == ("failed", None, None, iterations)
    assert first.error.startswith(error)
    assert len(rest) == 11
    assert all(row.status == "ok" for row in rest)


@pytest.mark.parametrize(("moment", "kept"), [(("ask", 4), 4), (("tell", 4), 5), (("ask", 0), 0)])
def test_an_error_of_the_method_ends_the_run_and_keeps_its_trials_and_its_traceback(tmp_path, moment, kept):
    run(EXPERIMENT, tmp_path / "undisturbed")
    Script.accidents[moment] = ArithmeticError("singular")
    with pytest.raises(ExperimentFailed, match="ArithmeticError: singular") as caught:
        run(EXPERIMENT, tmp_path)
    folder = EXPERIMENT.folder(tmp_path)
    assert caught.value.folder == folder
    assert isinstance(caught.value.__cause__, ArithmeticError)
    trace = (folder / "error.txt").read_text()
    assert trace.startswith("Traceback")
    assert "in accident" in trace
    assert info(folder).status is Status.FAILED
    assert len(rows(EXPERIMENT, tmp_path)) == kept

    Script.accidents.clear()
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    assert not (folder / "error.txt").exists()
    assert timeless(EXPERIMENT, tmp_path) == timeless(EXPERIMENT, tmp_path / "undisturbed")


def test_a_heavy_trial_has_the_heavy_iterations(tmp_path, monkeypatch):
    monkeypatch.setattr(Square, "heavy", Level(9))
    with pytest.raises(ExperimentFailed, match="budget must be 9 for a heavy trial, got 7"):
        run(EXPERIMENT, tmp_path)


def test_an_incompatible_method_is_refused_before_the_first_trial(tmp_path, monkeypatch):
    monkeypatch.setattr(Script, "capabilities", Capabilities(types=frozenset({"integer"})))
    with pytest.raises(ExperimentFailed, match="IncompatibleMethod: method 'script' searches integer") as caught:
        run(EXPERIMENT, tmp_path)
    assert isinstance(caught.value.__cause__, IncompatibleMethod)
    assert Square.evaluated == []


def test_a_run_in_use_is_refused_and_left_alone(tmp_path):
    with TrialLog(EXPERIMENT.folder(tmp_path)), pytest.raises(RunLocked, match="another process"):
        run(EXPERIMENT, tmp_path)
    assert [path.name for path in EXPERIMENT.folder(tmp_path).iterdir()] == ["trials.jsonl"]


def test_a_run_is_described_before_it_is_built_and_keeps_the_optimum_that_is_known(tmp_path, monkeypatch):
    run(EXPERIMENT, tmp_path)
    folder, seen, build = EXPERIMENT.folder(tmp_path), [], Experiment.build
    (folder / "trials.jsonl").write_text("")

    def noted(self, *arguments):
        seen.append(info(folder))
        return build(self, *arguments)

    monkeypatch.setattr(Experiment, "build", noted)
    run(EXPERIMENT, tmp_path)
    shutil.rmtree(folder)
    run(EXPERIMENT, tmp_path)
    assert [(each.status, each.optimum) for each in seen] == [(Status.RUNNING, 0.0), (Status.RUNNING, None)]


def test_a_run_that_another_process_finishes_while_it_is_waited_for_is_not_described_anew(tmp_path, monkeypatch):
    def first_the_other(folder):
        monkeypatch.undo()
        run(EXPERIMENT, tmp_path)
        return TrialLog(folder)

    monkeypatch.setattr(run_folder, "TrialLog", first_the_other)
    seen = []
    assert run_experiment(EXPERIMENT, tmp_path, command=Command("second"), on_trial=seen.append) is None
    assert [start.command for start in info(EXPERIMENT.folder(tmp_path)).starts] == [COMMAND]
    assert len(seen) == len(rows(EXPERIMENT, tmp_path)) > 0


def test_a_run_that_fails_before_its_task_is_built_can_be_loaded(tmp_path):
    experiment = change(task=Spec("digits", "scripted_runs:WithData"))
    with pytest.raises(ExperimentFailed):
        run(experiment, tmp_path)
    assert load(tmp_path).empty
