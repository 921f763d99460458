"""Training curves and their continuation: what is trained, charged, kept and trained again."""

import dataclasses
import math
from typing import ClassVar

import numpy as np
import pytest

from baselines.pending_trials import PendingTrials
from baselines.protocol import Capabilities, Trial
from benchmarks.config.spec import Spec
from benchmarks.objectives.curve import CurveTask, Iteration, Past
from benchmarks.objectives.protocol import Curve
from benchmarks.records.curves import record_of
from benchmarks.records.frames import load, load_curves
from benchmarks.records.trials import TRIALS, Row, TrialLog
from benchmarks.running.budget import Budget
from benchmarks.running.continuation import Continuation, StateFolder
from benchmarks.running.experiment import Experiment, run_experiment
from btao import Real, Space
from btao.training import Level


class Decay(CurveTask):
    """The error after k iterations is (1 - x)^k plus a state-dependent ripple; x > 0.9 diverges in iteration 4."""

    space = Space({"x": Real(0.0, 1.0)})
    light = Level(3, patience=2, tolerance=0.05)
    heavy = Level(9)
    delta_bounds, rho_bounds, data = (-1.0, 0.0), (0.0, 1.0), None
    trained: ClassVar[list] = []  # (x, iteration) for each that was really trained
    accident: ClassVar[BaseException | None] = None

    def __init__(self, resume_training=True):
        self.resume_training = resume_training

    def prepare(self):
        pass

    def start(self, config, seed):
        return Decaying(config["x"], seed)


class Decaying:
    def __init__(self, x, seed):
        self.x, self.done, self.level = x, 0, 1.0 + seed / 8

    def advance(self):
        self.done += 1
        Decay.trained.append((self.x, self.done))
        if self.done == 5 and Decay.accident is not None:
            raise Decay.accident
        self.level *= 1 - self.x * (0.5 + (self.done % 2) / 2)
        return Iteration(math.nan if self.x > 0.9 and self.done == 4 else self.level, self.level / 2)

    def state(self):
        return {"level": np.array(self.level), "done": np.array(self.done)}

    def restore(self, state):
        self.level, self.done = float(state["level"]), int(state["done"])


class Script:
    """Asks for the trials of a script: (x, budget), the heavy ones being those of 9 iterations."""

    capabilities: ClassVar = Capabilities(levels="any")

    def __init__(self, problem, seed, script=()):
        self.trials = [Trial(k, {"x": x}, budget == 9, budget) for k, (x, budget) in enumerate(script)]
        self.pending, self.asked = PendingTrials(), 0

    def ask(self):
        self.asked += 1
        return self.pending.open(self.trials[self.asked - 1])

    def tell(self, trial, measurement):
        self.pending.close(trial)


@pytest.fixture(autouse=True)
def reset():
    Decay.trained, Decay.accident = [], None


def experiment(script, budget=None, **parameters):
    heavy = sum(budget == 9 for _, budget in script)
    task = Spec("decay", f"{__name__}:Decay", parameters)
    method = Spec("script", f"{__name__}:Script", {"script": [list(step) for step in script]})
    return Experiment(task, method, 2, budget or Budget(heavy=heavy))


def run(script, tmp_path, budget=None, **parameters):
    each = experiment(script, budget, **parameters)
    run_experiment(each, tmp_path)
    return each, load(tmp_path)


def whole_curve(x, n, seed=2):
    training = Decaying(x, seed)
    return [training.advance().validation_error for _ in range(n)]


# ------------------------------------------------------------------ one evaluation


def test_a_level_stops_the_curve_and_reads_its_best_value():
    evaluation = Decay().evaluate({"x": 0.3}, Level(9), seed=2)
    curve = whole_curve(0.3, 9)
    assert evaluation.value == min(curve)
    assert (evaluation.iterations, list(evaluation.curve.validation_errors)) == (9, curve)
    assert list(evaluation.curve.training_errors) == [value / 2 for value in curve]
    assert len(evaluation.curve.seconds) == 9
    assert Decay().evaluate({"x": 0.01}, Level(9, patience=2, tolerance=0.05), seed=0).iterations == 3


def test_what_is_continued_equals_what_is_trained_in_one_go():
    task = Decay()
    first = task.evaluate({"x": 0.2}, Level(4), seed=1)
    rest = task.evaluate({"x": 0.2}, Level(9), seed=1, past=Past(first.curve))
    whole = task.evaluate({"x": 0.2}, Level(9), seed=1)
    assert (first.iterations, rest.iterations, whole.iterations) == (4, 5, 9)
    assert (first.curve + rest.curve).validation_errors == whole.curve.validation_errors
    assert rest.value == whole.value


def test_a_level_that_the_curve_has_passed_costs_nothing():
    past = Past(Decay().evaluate({"x": 0.2}, Level(9), seed=1).curve)
    Decay.trained.clear()
    evaluation = Decay().evaluate({"x": 0.2}, Level(3), seed=1, past=past)
    assert (evaluation.value, evaluation.iterations) == (min(whole_curve(0.2, 3, seed=1)), 0)
    assert evaluation.curve == Curve()


def test_divergence_fails_with_its_cost_and_stays_failed():
    first = Decay().evaluate({"x": 0.95}, Level(9), seed=0)
    assert math.isnan(first.value)
    assert (first.iterations, first.error) == (4, "training diverged in iteration 4")
    again = Decay().evaluate({"x": 0.95}, Level(9), seed=0, past=Past(first.curve))
    assert math.isnan(again.value)
    assert (again.iterations, again.error) == (0, "training diverged before, in iteration 4")


def test_an_error_in_training_is_a_failure_that_is_charged_what_was_trained():
    Decay.accident = MemoryError("no memory for 3 GB")
    evaluation = Decay().evaluate({"x": 0.2}, Level(9), seed=0)
    assert math.isnan(evaluation.value)
    assert (evaluation.iterations, evaluation.error) == (4, "MemoryError: no memory for 3 GB")


@pytest.mark.parametrize("error", [MemoryError("no"), ValueError("no"), TypeError("no")])
def test_an_error_of_the_code_of_a_training_is_told_as_such(error):
    Decay.accident = error
    evaluation = Decay().evaluate({"x": 0.2}, Level(9), seed=0)
    assert evaluation.error == f"{type(error).__name__}: no"
    assert evaluation.code_error is (error if isinstance(error, TypeError) else None)


def test_the_test_error_is_that_of_the_iteration_that_validation_chooses(monkeypatch):
    """And the time of testing is not that of training."""
    monkeypatch.setattr(Decaying, "test_error", lambda self: self.done / 100, raising=False)
    level = Level(9, patience=2)
    whole = Decay().evaluate({"x": 0.2}, level, seed=2)
    curve = whole_curve(0.2, whole.iterations)
    assert whole.curve.test_errors == tuple(k / 100 for k in range(1, whole.iterations + 1))
    assert whole.test_error == (curve.index(min(curve)) + 1) / 100
    first = Decay().evaluate({"x": 0.2}, Level(2), seed=2)
    rest = Decay().evaluate({"x": 0.2}, level, seed=2, past=Past(first.curve))
    assert (rest.value, rest.test_error) == (whole.value, whole.test_error)
    assert Decay().evaluate({"x": 0.95}, Level(9), seed=0).test_error is None
    assert 0 < whole.testing.seconds < 1 and Decay().evaluate({"x": 0.2}, Level(2), seed=2).testing.seconds >= 0


def test_a_task_without_test_images_has_no_test_error(tmp_path):
    assert Decay().evaluate({"x": 0.2}, Level(3), seed=2).test_error is None
    _, frame = run([(0.2, 9)], tmp_path)
    assert frame["test_error"].isna().all()


def test_iterations_are_reported_as_they_come():
    seen = []
    Decay().evaluate({"x": 0.2}, Level(3), seed=2, on_iteration=lambda number, error: seen.append((number, error)))
    assert seen == list(enumerate(whole_curve(0.2, 3), start=1))


# ------------------------------------------------------------------ a run

SCRIPT = [(0.2, 3), (0.4, 3), (0.2, 9), (0.95, 3), (0.95, 9), (0.95, 3), (0.4, 5), (0.4, 9), (0.2, 3)]


def test_a_trial_pays_for_what_it_adds_and_one_that_adds_nothing_pays_again(tmp_path):
    _, frame = run([*SCRIPT, (0.7, 9)], tmp_path)
    assert frame["iterations"].tolist() == [3, 3, 6, 3, 1, 3, 2, 4, 3, 9]
    assert len(Decay.trained) == 3 + 3 + 6 + 3 + 1 + 3 + 2 + 4 + 3 + 9
    assert frame["status"].tolist()[4:6] == ["failed", "ok"]  # where the light level stops, nothing had diverged
    assert frame["value"][5] == frame["value"][3]
    assert frame["value"][2] == min(whole_curve(0.2, 9))
    assert frame["value"][7] == min(whole_curve(0.4, 9))


def test_a_repeated_trial_is_trained_again_to_the_same_bits_and_remembered_once(tmp_path):
    _, frame = run([(0.2, 3), (0.2, 3), (0.2, 9), (0.2, 9)], tmp_path)
    assert frame["iterations"].tolist() == [3, 3, 6, 9]
    assert frame["value"].tolist()[::2] == frame["value"].tolist()[1::2]


def test_without_continuation_everything_is_paid_in_full(tmp_path):
    _, frame = run([*SCRIPT, (0.7, 9)], tmp_path, resume_training=False)
    assert frame["iterations"].tolist() == [3, 3, 9, 3, 4, 3, 5, 9, 3, 9]
    assert frame["value"][2] == min(whole_curve(0.2, 9))


def test_continuation_counts_what_is_left_against_the_budget_of_iterations(tmp_path):
    """3 + 6 + 9 = 18: in full the second trial alone would not fit."""
    _, frame = run([(0.2, 3), (0.2, 9), (0.3, 9), (0.4, 9)], tmp_path, budget=Budget(iterations=18))
    assert frame["iterations"].tolist() == [3, 6, 9]


def test_curves_are_kept_with_the_run(tmp_path):
    run(SCRIPT, tmp_path, budget=Budget(heavy=3))
    curves = load_curves(tmp_path)
    for x, n in ((0.2, 9), (0.4, 9)):
        mine = curves[curves["config.x"] == x]
        assert mine["iteration"].tolist() == list(range(1, n + 1))
        assert mine["validation_error"].tolist() == whole_curve(x, n)
    diverged = curves[curves["config.x"] == 0.95]
    assert diverged["validation_error"].isna().tolist() == [False, False, False, True] + [False] * 3
    assert (curves["seconds"] > 0).all()
    assert load_curves(tmp_path).dtypes["iteration"] == "int64"


@pytest.mark.parametrize("states", ["kept", "lost", "damaged", "older"])
@pytest.mark.parametrize("cut", range(1, 9))
def test_a_run_that_was_cut_off_continues_to_the_same_table(tmp_path, cut, states):
    """After any trial, whatever became of the states."""
    script = [*SCRIPT, (0.7, 9)]
    whole, expected = run(script, tmp_path / "whole")
    each = experiment(script)
    folder = each.folder(tmp_path / "cut")
    with TrialLog(whole.folder(tmp_path / "whole")) as log:
        rows = log.rows
    folder.mkdir(parents=True)
    with TrialLog(folder) as log:
        training = Continuation(Decay(), 2, folder)
        for row in rows[:cut]:
            trial = Trial(row.trial, row.config, row.heavy, row.budget)
            level = Decay.heavy if row.heavy else dataclasses.replace(Decay.light, iterations=row.budget)
            training.evaluate(trial, level)
            log.append(row)
            training.remember(row)
            training.settle(row)
    for path in (folder / "states").glob("*"):
        if states == "lost":
            path.unlink()
        elif states == "damaged":
            path.write_bytes(path.read_bytes()[:100])
        elif states == "older":  # killed between saving the next state and recording its trial
            StateFolder(folder / "states").save({"x": 0.4}, 7, lambda: {"level": np.array(99.0), "done": np.array(7)})
    Decay.trained.clear()
    run_experiment(each, tmp_path / "cut")
    if states == "kept":
        assert len(Decay.trained) == expected["iterations"][cut:].sum()  # nothing that can be continued
    seconds = ["train_seconds", "method_seconds", "time"]
    assert load(tmp_path / "cut").drop(columns=seconds).equals(expected.drop(columns=seconds))
    columns = ["config.x", "iteration", "validation_error"]
    assert load_curves(tmp_path / "cut")[columns].equals(load_curves(tmp_path / "whole")[columns])


def test_a_state_with_any_byte_damaged_is_the_same_or_none(tmp_path):
    """None, or what `restore` refuses: names that are not those of the arrays."""
    states = StateFolder(tmp_path)
    states.save({"x": 0.2}, 3, lambda: {"level": np.array(0.25), "done": np.array(3)})
    (path,) = tmp_path.iterdir()
    sound = path.read_bytes()
    refused = 0
    for place in range(len(sound)):
        for mask in (0x01, 0x20, 0xFF):
            path.write_bytes(sound[:place] + bytes([sound[place] ^ mask]) + sound[place + 1 :])
            state = states.load({"x": 0.2}, 3)
            if state is None or set(state) != {"level", "done"}:
                refused += 1
            else:
                assert (state["level"], state["done"]) == (0.25, 3)
    assert refused > len(sound)


def test_a_state_of_other_arrays_is_trained_again(tmp_path):
    states = StateFolder(tmp_path / "states")
    task = Decay()
    past = Past(task.evaluate({"x": 0.2}, Level(3), seed=1).curve, states)
    states.save({"x": 0.2}, 3, lambda: {"level": np.array(99.0)})
    assert task.evaluate({"x": 0.2}, Level(9), seed=1, past=past).value == min(whole_curve(0.2, 9, seed=1))


def test_a_state_that_cannot_even_be_taken_costs_no_result(tmp_path, monkeypatch):
    def no_memory(self):
        raise MemoryError("no memory for a state")

    monkeypatch.setattr(type(Decay().start({"x": 0.2}, 0)), "state", no_memory)
    with pytest.warns(UserWarning, match="no state kept.*MemoryError: no memory for a state"):
        evaluation = Decay().evaluate({"x": 0.2}, Level(3), seed=2, past=Past(Curve(), StateFolder(tmp_path / "s")))
    assert (evaluation.error, evaluation.value) == (None, min(whole_curve(0.2, 3)))


def test_states_are_needed_only_while_the_run_goes_on(tmp_path):
    each, _ = run([*SCRIPT, (0.7, 9)], tmp_path)
    assert sorted(path.name for path in each.folder(tmp_path).iterdir()) == ["run.json", TRIALS]


def test_one_state_a_configuration_is_kept_and_none_after_its_heavy_run(tmp_path):
    training = Continuation(Decay(), 0, tmp_path)
    names = []
    for number, budget in enumerate((3, 5, 9)):
        trial = Trial(number, {"x": 0.2}, budget == 9, budget)
        evaluation = training.evaluate(trial, Level(budget))
        row = _row(trial, evaluation, training.done(trial))
        training.remember(row)
        training.settle(row)
        names.append([path.name.rpartition("-")[2] for path in (tmp_path / "states").iterdir()])
    assert names == [["3.npz"], ["5.npz"], []]


def test_a_state_that_cannot_be_kept_is_warned_of_and_trained_again(tmp_path):
    (tmp_path / "states").write_text("in the way")
    training = Continuation(Decay(), 0, tmp_path)
    light = Trial(0, {"x": 0.2}, False, 3)
    with pytest.warns(UserWarning, match="no state kept"):
        evaluation = training.evaluate(light, Level(3))
    training.remember(_row(light, evaluation, 0))
    training.settle(_row(light, evaluation, 0))
    heavy = training.evaluate(Trial(1, {"x": 0.2}, True, 9), Level(9))
    assert (heavy.iterations, heavy.value) == (6, min(whole_curve(0.2, 9, seed=0)))


def _row(trial, evaluation, start):
    return Row(
        trial.number,
        trial.heavy,
        trial.budget,
        trial.config,
        evaluation.value,
        "ok",
        None,
        evaluation.iterations,
        0.0,
        0.0,
        0.0,
        None,
        record_of(evaluation.curve, start),
    )
