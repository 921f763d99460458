"""The loop: budgets, failures, records, and runs that go on where they were cut off."""

import copy
import dataclasses
import hashlib
import json
import math
import multiprocessing
import pickle
import random
import re
import shutil
import sys
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from baselines.protocol import Capabilities, IncompatibleMethod, SearchExhausted, Trial
from baselines.random_search import RandomSearch
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import Evaluation
from benchmarks.records.frames import load
from benchmarks.records.run_folder import read_run
from benchmarks.records.trials import RunLocked, TrialLog
from benchmarks.running import experiment as module
from benchmarks.running.budget import MAX_FAILURES_IN_A_ROW
from benchmarks.running.experiment import Budget, Experiment, ExperimentFailed, ReplayMismatch, Spec, run_experiment
from btao import Real, Space
from btao.training import Level

TIMES = ("train_seconds", "method_seconds", "time", "processor_seconds")


class Square:
    """Minimize x^2 + shift; `evaluate` can be made to misbehave at the k-th call of the process."""

    space = Space({"x": Real(-1.0, 1.0)})
    light = Level(3, patience=2)
    heavy = Level(7)
    levels = "any"
    delta_bounds = rho_bounds = (-math.inf, math.inf)
    data = None
    prepared: ClassVar[list] = []
    evaluated: ClassVar[list] = []
    accidents: ClassVar[dict] = {}

    def __init__(self, shift=0.0, consumed=None):
        self.optimum = shift
        self.consumed = consumed

    def prepare(self):
        self.prepared.append(len(self.evaluated))

    def evaluate(self, config, level, seed):
        self.evaluated.append((config, level, seed))
        outcome = self.accidents.get(len(self.evaluated) - 1)
        if isinstance(outcome, BaseException):
            raise outcome
        iterations = level.iterations if self.consumed is None else self.consumed
        return outcome or Evaluation(config["x"] ** 2 + self.optimum, iterations)

    def truth(self, config):
        return config["x"] ** 2 + self.optimum


class WithData(Square):
    data = DataSource("digits", "0" * 64, 10, 5)

    def __init__(self, folder=None):
        super().__init__()


class Script:
    """Grants the iterations of a plan, in turn; 7 are heavy. x depends on the seed and the values told."""

    capabilities = Capabilities(levels="two")
    accidents: ClassVar[dict] = {}

    def __init__(self, problem, seed, plan=(3, 3, 7), length=1000):
        self.problem, self.plan, self.length = problem, list(plan), length
        self.state = seed
        self.asked = 0

    def ask(self):
        if self.asked == self.length:
            raise SearchExhausted
        self.accident(("ask", self.asked))
        budget = self.plan[self.asked % len(self.plan)]
        trial = Trial(self.asked, {"x": math.sin(self.state)}, budget == 7, budget)
        self.asked += 1
        return trial

    def tell(self, trial, measurement):
        self.accident(("tell", trial.number))
        self.state += 1 if measurement.failed else 1 + measurement.value

    def accident(self, moment):
        if moment in self.accidents:
            raise self.accidents[moment]


SQUARE = Spec("square", f"{__name__}:Square")
SCRIPT = Spec("script", f"{__name__}:Script")
RANDOM = Spec("random_search", "baselines.random_search.RandomSearch")
EXPERIMENT = Experiment(SQUARE, SCRIPT, seed=4, budget=Budget(heavy=4))


@pytest.fixture(autouse=True)
def no_accidents(monkeypatch):
    monkeypatch.setattr(Square, "prepared", [])
    monkeypatch.setattr(Square, "evaluated", [])
    monkeypatch.setattr(Square, "accidents", {})
    monkeypatch.setattr(Script, "accidents", {})


def run(experiment, out, on_trial=None):
    return run_experiment(experiment, out, command="the command", on_trial=on_trial)


def change(experiment=EXPERIMENT, **changes):
    return dataclasses.replace(experiment, **changes)


def rows(experiment, out):
    with TrialLog(experiment.folder(out)) as log:
        return log.rows


def timeless(experiment, out):
    return [dataclasses.replace(row, **dict.fromkeys(TIMES, 0.0)) for row in rows(experiment, out)]


# --- the record of one run


def test_the_task_is_prepared_once_before_the_first_trial(tmp_path):
    run(EXPERIMENT, tmp_path)
    assert Square.prepared == [0]


def test_an_experiment_in_which_nothing_succeeds_ends_and_says_why(tmp_path):
    """Light trials that all fail would otherwise go on for ever: no heavy one is granted."""
    Square.accidents = {k: RuntimeError("no memory") for k in range(1000)}
    experiment = change(method=Spec("btao", "baselines.btao.BTAOMethod"))
    for _ in range(2):  # the same command again says the same, and trains no more
        with pytest.raises(ExperimentFailed, match="the last 50 trials failed, at last with: RuntimeError: no memory"):
            run(experiment, tmp_path)
        assert len(rows(experiment, tmp_path)) == len(Square.evaluated) == MAX_FAILURES_IN_A_ROW
    assert read_run(experiment.folder(tmp_path))["status"] == "failed"


def test_failures_between_successes_are_no_reason_to_end(tmp_path):
    Square.accidents = {k: RuntimeError("no memory") for k in range(200) if k % 40}
    experiment = change(budget=Budget(heavy=60))
    assert run(experiment, tmp_path) == "finished"


@pytest.mark.parametrize("lost", ["the last row", "all rows", "the log"])
def test_a_finished_run_that_lost_rows_is_finished_again(tmp_path, lost):
    run(EXPERIMENT, tmp_path)
    path = EXPERIMENT.folder(tmp_path) / "trials.jsonl"
    before = timeless(EXPERIMENT, tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    if lost == "the log":
        path.unlink()
    else:
        path.write_bytes(b"".join(lines[:-1] if lost == "the last row" else []))
    assert run(EXPERIMENT, tmp_path) == "finished"
    assert timeless(EXPERIMENT, tmp_path) == before
    assert read_run(EXPERIMENT.folder(tmp_path))["n_trials"] == len(before)
    assert run(EXPERIMENT, tmp_path) == "skipped"


def test_a_method_that_exits_leaves_its_traceback(tmp_path):
    Script.accidents = {("ask", 2): SystemExit(3)}
    with pytest.raises(ExperimentFailed, match="SystemExit: 3"):
        run(EXPERIMENT, tmp_path)
    assert "self.accident" in (EXPERIMENT.folder(tmp_path) / "error.txt").read_text()
    assert read_run(EXPERIMENT.folder(tmp_path))["status"] == "failed"


def test_the_rows_say_what_happened(tmp_path):
    experiment = Experiment(Spec("square", f"{__name__}:Square", {"shift": 2.0}), RANDOM, 4, Budget(heavy=3))
    assert run(experiment, tmp_path) == "finished"
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
    assert described["configuration"] == EXPERIMENT.identity
    expected = {"task": "square", "method": "script", "seed": 4, "hash": EXPERIMENT.hash, "optimum": 0.0}
    expected |= {"status": "finished", "command": "the command", "threads": 1, "data": None, "earlier": []}
    assert {name: described[name] for name in expected} == expected
    assert described["started"] <= described["finished"]
    assert described["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert described["versions"]["numpy"] == np.__version__
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:10]
    assert described["code"] == {"method": digest, "task": digest}
    assert described["machine"]["cpu"]
    assert described["machine"]["cores"] >= 1
    assert described["git"] is None or set(described["git"]) == {"commit", "clean"}


def test_a_finished_run_is_skipped_and_nothing_is_touched(tmp_path):
    run(EXPERIMENT, tmp_path)
    files = {path: path.read_bytes() for path in EXPERIMENT.folder(tmp_path).iterdir()}
    n = len(Square.evaluated)
    assert run(EXPERIMENT, tmp_path) == "skipped"
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


def test_the_suite_takes_less_than_a_millisecond_a_trial(tmp_path):
    experiment = Experiment(Spec("currin", "benchmarks.objectives.currin.Currin"), RANDOM, 0, Budget(heavy=200))
    overheads = []
    for attempt in range(5):
        started = time.perf_counter()
        run(experiment, tmp_path / str(attempt))
        elapsed = time.perf_counter() - started
        overheads.append((elapsed - sum(row.train_seconds for row in rows(experiment, tmp_path / str(attempt)))) / 200)
    assert min(overheads) < 1e-3


# --- budgets


def test_heavy_trials_are_counted_and_the_last_one_ends_the_run(tmp_path):
    run(change(budget=Budget(heavy=2)), tmp_path)
    assert [row.heavy for row in rows(change(budget=Budget(heavy=2)), tmp_path)] == [False, False, True] * 2


def test_failed_heavy_trials_count(tmp_path):
    Square.accidents.update(dict.fromkeys(range(100), RuntimeError("no")))
    run(EXPERIMENT, tmp_path)
    assert sum(row.heavy for row in rows(EXPERIMENT, tmp_path)) == 4


@pytest.mark.parametrize(
    ("iterations", "budgets"), [(13, [3, 3, 7]), (12, [3, 3]), (5, [3]), (2, []), (16, [3, 3, 7, 3])]
)
def test_iterations_are_never_exceeded_and_a_trial_that_does_not_fit_is_not_started(tmp_path, iterations, budgets):
    experiment = change(budget=Budget(iterations=iterations))
    assert run(experiment, tmp_path) == "finished"
    assert [row.budget for row in rows(experiment, tmp_path)] == budgets


def test_iterations_are_charged_as_consumed(tmp_path):
    experiment = change(task=Spec("square", SQUARE.target, {"consumed": 2}), budget=Budget(iterations=13))
    run(experiment, tmp_path)
    # After 2, 4, 6 and 8 iterations there is room for the next grant of 3, 7, 3 and 3, after 10 not for one of 7.
    assert [row.budget for row in rows(experiment, tmp_path)] == [3, 3, 7, 3, 3]


def test_an_error_is_charged_all_that_was_granted_and_free_trials_one_iteration(tmp_path):
    Square.accidents.update({0: ValueError("no"), 1: Evaluation(1.0, 0), 2: Evaluation(1.0, 0)})
    experiment = change(budget=Budget(iterations=11))
    run(experiment, tmp_path)
    assert [row.iterations for row in rows(experiment, tmp_path)] == [3, 0, 0, 3, 3]


def test_seconds_are_those_of_training_and_method(tmp_path, monkeypatch):
    ticks = iter(range(1000))
    monkeypatch.setattr(module.time, "perf_counter", lambda: float(next(ticks)))  # ask, evaluate, tell: 1 s each
    experiment = change(budget=Budget(seconds=7))
    run(experiment, tmp_path)
    assert [(row.train_seconds, row.method_seconds, row.time) for row in rows(experiment, tmp_path)] == [
        *((1.0, 2.0, 3.0), (1.0, 2.0, 6.0), (1.0, 2.0, 9.0))
    ]


def test_whichever_limit_comes_first_ends_the_run(tmp_path):
    for name, budget in {"a": Budget(heavy=1, iterations=10**6), "b": Budget(heavy=9, iterations=13)}.items():
        run(change(budget=budget), tmp_path / name)
        assert len(rows(change(budget=budget), tmp_path / name)) == 3


def test_an_exhausted_method_ends_the_run(tmp_path):
    experiment = change(method=Spec("script", SCRIPT.target, {"length": 5}))
    assert run(experiment, tmp_path) == "exhausted"
    assert len(rows(experiment, tmp_path)) == 5
    run_json = read_run(experiment.folder(tmp_path))
    assert (run_json["status"], run_json["exhausted"]) == ("exhausted", "the method had nothing left to propose")
    assert run(experiment, tmp_path) == "skipped"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "at least one of heavy, iterations and seconds"),
        ({"heavy": 0}, r"budget.heavy must be an integer of at least 1, got 0"),
        ({"heavy": 2.5}, r"budget.heavy must be an integer of at least 1, got 2.5"),
        ({"iterations": -1}, r"budget.iterations must be an integer of at least 1, got -1"),
        ({"iterations": True}, r"budget.iterations must be an integer"),
        ({"seconds": 0}, r"budget.seconds must be a finite number above 0, got 0"),
        ({"seconds": math.inf}, r"budget.seconds must be a finite number above 0, got inf"),
        ({"seconds": "60"}, r"budget.seconds must be a finite number above 0, got '60'"),
    ],
)
def test_a_budget_must_limit_something_sensibly(limits, message):
    with pytest.raises(ValueError, match=message):
        Budget(**limits)


# --- failures


@pytest.mark.parametrize(
    ("accident", "error", "iterations"),
    [
        (ValueError("no\nluck"), "ValueError: no luck", 3),
        (MemoryError(), "MemoryError: ", 3),
        (Evaluation(math.nan, 2), "the value is nan", 2),
        (Evaluation(math.inf, 1), "the value is inf", 1),
        (Evaluation(-math.inf, 1), "the value is -inf", 1),
        (Evaluation(0.5, 1, "diverged"), "diverged", 1),
        (Evaluation(None, 1), "TypeError: ", 3),
    ],
)
def test_a_failed_trial_is_recorded_and_the_run_goes_on(tmp_path, accident, error, iterations):
    Square.accidents[0] = accident
    assert run(EXPERIMENT, tmp_path) == "finished"
    first, *rest = rows(EXPERIMENT, tmp_path)
    assert (first.status, first.value, first.truth, first.iterations) == ("failed", None, None, iterations)
    assert first.error.startswith(error)
    assert len(rest) == 11
    assert all(row.status == "ok" for row in rest)


def test_an_interrupted_run_continues_to_the_same_table(tmp_path):
    run(EXPERIMENT, tmp_path / "undisturbed")
    Square.evaluated.clear()
    Square.accidents[5] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(EXPERIMENT, tmp_path)
    assert len(rows(EXPERIMENT, tmp_path)) == 5
    assert read_run(EXPERIMENT.folder(tmp_path))["status"] == "running"
    seen = []
    assert run(EXPERIMENT, tmp_path, seen.append) == "finished"
    assert timeless(EXPERIMENT, tmp_path) == timeless(EXPERIMENT, tmp_path / "undisturbed")
    assert seen == rows(EXPERIMENT, tmp_path)
    described = read_run(EXPERIMENT.folder(tmp_path))
    assert described["first_trial"] == 5
    assert [(start["first_trial"], start["status"]) for start in described["earlier"]] == [(0, "running")]


def test_what_a_method_recommends_is_recorded_and_records_without_it_go_on(tmp_path, monkeypatch):
    run(EXPERIMENT, tmp_path)
    assert "recommended" not in (EXPERIMENT.folder(tmp_path) / "trials.jsonl").read_text()
    monkeypatch.setattr(
        Script, "recommend", lambda script: script.asked - 1 if script.asked > 2 else None, raising=False
    )
    run(EXPERIMENT, tmp_path / "new")
    said = [row.recommended for row in rows(EXPERIMENT, tmp_path / "new")]
    assert said == [None, None, *range(2, 12)]
    assert load(tmp_path / "new")["recommended"].tolist()[2:] == said[2:]

    lines = (EXPERIMENT.folder(tmp_path) / "trials.jsonl").read_text().splitlines(keepends=True)
    old = EXPERIMENT.folder(tmp_path / "old")
    old.mkdir(parents=True)
    (old / "trials.jsonl").write_text("".join(lines[:5]))
    run(EXPERIMENT, tmp_path / "old")
    assert [row.recommended for row in rows(EXPERIMENT, tmp_path / "old")] == [None] * 5 + said[5:]


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
    assert read_run(folder)["status"] == "failed"
    assert len(rows(EXPERIMENT, tmp_path)) == kept

    Script.accidents.clear()
    assert run(EXPERIMENT, tmp_path) == "finished"
    assert not (folder / "error.txt").exists()
    assert timeless(EXPERIMENT, tmp_path) == timeless(EXPERIMENT, tmp_path / "undisturbed")


def test_a_failure_survives_the_way_to_another_process():
    error = pickle.loads(pickle.dumps(ExperimentFailed("ValueError: no", Path("a/b"))))
    assert (str(error), error.folder) == ("ValueError: no", Path("a/b"))
    assert pickle.loads(pickle.dumps(EXPERIMENT)) == EXPERIMENT


def test_a_task_may_not_report_more_iterations_than_were_granted(tmp_path):
    over = Spec("square", SQUARE.target, {"consumed": 7})
    with pytest.raises(ExperimentFailed, match="reports 7 iterations for a trial that was granted 6"):
        run(change(task=over, method=Spec("script", SCRIPT.target, {"plan": [6]})), tmp_path)


def test_a_heavy_trial_has_the_heavy_iterations(tmp_path, monkeypatch):
    monkeypatch.setattr(Square, "heavy", Level(9))
    with pytest.raises(ExperimentFailed, match="grants a heavy trial 7 iterations of 9"):
        run(EXPERIMENT, tmp_path)


def test_an_incompatible_method_is_refused_before_the_first_trial(tmp_path, monkeypatch):
    monkeypatch.setattr(Script, "capabilities", Capabilities(types=frozenset({"integer"})))
    with pytest.raises(ExperimentFailed, match="IncompatibleMethod: method 'script' searches integer") as caught:
        run(EXPERIMENT, tmp_path)
    assert isinstance(caught.value.__cause__, IncompatibleMethod)
    assert Square.evaluated == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"method": Spec("script", SCRIPT.target, {"plam": 1})},
            "script has no parameter 'plam': did you mean 'plan'?",
        ),
        ({"method": Spec("script", SCRIPT.target, {"seed": 1})}, "script has no parameter 'seed'.* plan, length"),
        ({"task": Spec("square", SQUARE.target, {"shft": 1})}, "square has no parameter 'shft': did you mean 'shift'?"),
        ({"task": Spec("fcn", "benchmarks.objectives.fcn.FCN", {"n_train": None})}, "fcn: n_train cannot be null"),
        ({"task": Spec("square", "benchmarks.objectives.squares.Square")}, "nothing to be found at 'benchmarks.obj"),
        ({"task": Spec("square", f"{__name__}:Squares")}, "nothing to be found"),
        ({"method": Spec("odd", SQUARE.target)}, "odd: '.*Square' must declare `capabilities`"),
        ({"data_arguments": {"shift": 1}, "task": Spec("square", SQUARE.target, {"shift": 1})}, "no parameter 'shift'"),
    ],
)
def test_a_wrong_name_is_refused_before_anything_is_written(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        run(change(**changes), tmp_path)
    assert list(tmp_path.iterdir()) == []


class AnyKeyword:
    def __init__(self, **options):
        self.options = options


def test_a_class_that_takes_any_keyword_checks_them_itself():
    assert Spec("any", f"{__name__}:AnyKeyword", {"a": 1}).build(b=2).options == {"a": 1, "b": 2}


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "-x"])
def test_a_name_must_be_able_to_name_a_folder(name):
    with pytest.raises(ValueError, match="name must be letters"):
        Spec(name, "x.Y")


@pytest.mark.parametrize(("field", "value"), [("seed", -1), ("seed", 1.5), ("threads", 0), ("seed", True)])
def test_seed_and_threads_are_checked(field, value):
    with pytest.raises(ValueError, match=f"{field} must be an integer of at least"):
        change(**{field: value})


def test_a_run_in_use_is_refused_and_left_alone(tmp_path):
    with TrialLog(EXPERIMENT.folder(tmp_path)), pytest.raises(RunLocked, match="another process"):
        run(EXPERIMENT, tmp_path)
    assert [path.name for path in EXPERIMENT.folder(tmp_path).iterdir()] == ["trials.jsonl"]


def test_a_run_is_described_before_it_is_built_and_keeps_the_optimum_that_is_known(tmp_path, monkeypatch):
    run(EXPERIMENT, tmp_path)
    folder, seen, build = EXPERIMENT.folder(tmp_path), [], Experiment.build
    (folder / "trials.jsonl").write_text("")

    def noted(self, *arguments):
        seen.append(read_run(folder))
        return build(self, *arguments)

    monkeypatch.setattr(Experiment, "build", noted)
    run(EXPERIMENT, tmp_path)
    shutil.rmtree(folder)
    run(EXPERIMENT, tmp_path)
    assert [(each["status"], each["optimum"]) for each in seen] == [("running", 0.0), ("running", None)]


def test_a_run_that_another_process_finishes_while_it_is_waited_for_is_not_described_anew(tmp_path, monkeypatch):
    def first_the_other(folder):
        monkeypatch.undo()
        run(EXPERIMENT, tmp_path)
        return TrialLog(folder)

    monkeypatch.setattr(module, "TrialLog", first_the_other)
    seen = []
    assert run_experiment(EXPERIMENT, tmp_path, command="second", on_trial=seen.append) == "skipped"
    assert read_run(EXPERIMENT.folder(tmp_path))["earlier"] == []
    assert len(seen) == len(rows(EXPERIMENT, tmp_path)) > 0


# --- continuing


@pytest.mark.filterwarnings("ignore:.*dropped the last line")
@pytest.mark.parametrize("kept", [0.0, 0.01, 0.3, 0.5, 0.77, 0.999, 1.0])
def test_a_run_cut_off_anywhere_continues_to_the_same_table(tmp_path, kept):
    Square.accidents[4] = ValueError("no")
    run(EXPERIMENT, tmp_path)
    expected = timeless(EXPERIMENT, tmp_path)
    folder = EXPERIMENT.folder(tmp_path)
    log = (folder / "trials.jsonl").read_bytes()
    (folder / "trials.jsonl").write_bytes(log[: int(kept * len(log))])
    described = read_run(folder)
    (folder / "run.json").write_text(json.dumps(described | {"status": "running"}))
    before = len(rows(EXPERIMENT, tmp_path))
    Square.evaluated[:] = [None] * before  # so that the accident is at trial 4 again
    assert run(EXPERIMENT, tmp_path) == "finished"
    assert timeless(EXPERIMENT, tmp_path) == expected


def test_a_record_that_the_method_no_longer_reproduces_is_not_continued(tmp_path):
    Square.accidents[5] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(EXPERIMENT, tmp_path)
    path = EXPERIMENT.folder(tmp_path) / "trials.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    edited = json.loads(lines[3]) | {"config": {"x": 0.125}}
    lines[3] = json.dumps(edited) + "\n"
    path.write_text("".join(lines))
    with pytest.raises(ExperimentFailed, match=r"ReplayMismatch: cannot continue .*asks for \[3, .*0\.125") as caught:
        run(EXPERIMENT, tmp_path)
    assert isinstance(caught.value.__cause__, ReplayMismatch)
    assert path.read_text() == "".join(lines)


class Slow(Square):
    def evaluate(self, config, level, seed):
        time.sleep(0.001)
        return super().evaluate(config, level, seed)


def test_a_process_killed_at_ten_moments_loses_no_trial_and_ends_with_the_same_table(tmp_path):
    experiment = Experiment(Spec("slow", f"{__name__}:Slow"), SCRIPT, 0, Budget(heavy=60))
    moments = random.Random(0)
    before = 0
    for _ in range(10):
        process = multiprocessing.get_context("fork").Process(target=run, args=(experiment, tmp_path))
        process.start()
        deadline = time.monotonic() + 30
        while (recorded := count_rows(tmp_path)) < before + 8 and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.003))
        process.kill()
        process.join()
        after = count_rows(tmp_path)
        assert before < recorded <= after < 180
        before = after
    assert run(experiment, tmp_path) == "finished"
    run(experiment, tmp_path / "undisturbed")
    assert len(rows(experiment, tmp_path)) == 180
    assert timeless(experiment, tmp_path) == timeless(experiment, tmp_path / "undisturbed")


def count_rows(out):
    return sum(path.read_bytes().count(b"\n") for path in out.rglob("trials.jsonl"))


# --- identity


def test_the_folder_is_named_by_task_method_hash_and_seed():
    assert len(EXPERIMENT.hash) == 10
    assert EXPERIMENT.folder("out") == Path(f"out/square/script-{EXPERIMENT.hash}/seed-4")


def test_the_hash_covers_all_that_decides_the_outcome_but_the_seed():
    others = [
        change(task=Spec("square", SQUARE.target, {"shift": 1.0})),
        change(task=Spec("cube", SQUARE.target)),
        change(method=Spec("script", SCRIPT.target, {"length": 9})),
        change(method=Spec("script", f"{__name__}:Other")),
        change(budget=Budget(heavy=5)),
        change(budget=Budget(heavy=4, iterations=100)),
        change(threads=2),
        change(data=WithData.data),
        change(data=dataclasses.replace(WithData.data, sha256="1" * 64)),
    ]
    assert len({experiment.hash for experiment in [EXPERIMENT, *others]}) == 10
    assert change(seed=9).hash == EXPERIMENT.hash
    assert change(data_arguments={"folder": "elsewhere"}).hash == EXPERIMENT.hash


def test_the_hash_is_the_same_however_the_parameters_are_written():
    first = change(task=Spec("t", "x.Y", {"a": (-math.inf, 1), "b": 2}), budget=Budget(seconds=60))
    second = change(task=Spec("t", "x.Y", {"b": 2, "a": [-math.inf, 1]}), budget=Budget(seconds=60.0))
    assert first.hash == second.hash
    assert json.loads(json.dumps(first.identity, allow_nan=False)) == first.identity
    assert first.identity["task"]["parameters"] == {"a": ["-inf", 1], "b": 2}


def test_the_hash_is_that_of_the_canonical_identity():
    experiment = Experiment(Spec("t", "x.Y", {"a": -math.inf}), Spec("m", "x.Z"), 0, Budget(heavy=1))
    text = (
        '{"budget": {"heavy": 1, "iterations": null, "seconds": null}, "data": null, '
        '"method": {"name": "m", "parameters": {}, "target": "x.Z"}, '
        '"task": {"name": "t", "parameters": {"a": "-inf"}, "target": "x.Y"}, "threads": 1}'
    )
    assert experiment.hash == hashlib.sha256(text.encode()).hexdigest()[:10]


def test_the_data_must_be_what_the_experiment_was_set_up_with(tmp_path):
    experiment = change(task=Spec("digits", f"{__name__}:WithData"), data_arguments={"folder": "x"})
    good = change(experiment, data=copy.copy(WithData.data))
    assert run(good, tmp_path) == "finished"
    described = read_run(good.folder(tmp_path))
    assert described["data"] == {"name": "digits", "sha256": "0" * 64, "n_train": 10, "n_validation": 5}
    assert described["data_arguments"] == {"folder": "x"}
    assert set(load(tmp_path)["data"]) == {"digits"}
    with pytest.raises(ExperimentFailed, match=r"the data set is .*digits.* but the experiment was set up with None"):
        run(experiment, tmp_path)


def test_a_run_that_fails_before_its_task_is_built_can_be_loaded(tmp_path):
    experiment = change(task=Spec("digits", f"{__name__}:WithData"))
    with pytest.raises(ExperimentFailed):
        run(experiment, tmp_path)
    assert load(tmp_path).empty


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_library", "cannot be imported: ModuleNotFoundError: No module named 'no_such_library'"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("def", "cannot be imported: SyntaxError"),
        ("", "nothing to be found at 'broken_method.Method'"),
    ],
)
def test_an_error_in_the_file_of_a_method_is_told_from_a_wrong_name(tmp_path, monkeypatch, code, message):
    (tmp_path / "broken_method.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_method", raising=False)
    with pytest.raises(ValueError, match=re.escape(message)):
        Spec("broken", "broken_method.Method").resolve()


class Forgetful(Script):
    """A method that forgets to return its trial."""

    def ask(self):
        super().ask()


def test_a_method_that_asks_for_no_trial_is_named(tmp_path):
    experiment = change(method=Spec("forgetful", f"{__name__}:Forgetful", SCRIPT.parameters))
    with pytest.raises(ExperimentFailed, match="TypeError: ask of Forgetful must return a Trial, got None"):
        run(experiment, tmp_path)
