"""Answers that are kept below `out`: what they spare, what they are charged, and what they are not taken for."""

import dataclasses
import json
import math
from typing import ClassVar

import numpy as np
import pytest
from scripted_runs import EXPERIMENT, change, rows, timeless

from baselines.protocol import Capabilities, Trial
from benchmarks.common.errors import UsageError
from benchmarks.config.request import read
from benchmarks.config.spec import Spec
from benchmarks.objectives.curve import CurveTask, Iteration
from benchmarks.records.frames import load
from benchmarks.running import experiment as experiments
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, run_experiment
from benchmarks.running.plan import plan
from btao import Real, Space
from btao.training import Level


class Halving(CurveTask):
    """The error is x / 2^k after iteration k, and training with x above 0.9 diverges in iteration 2."""

    space = Space({"x": Real(0.0, 1.0)})
    light = Level(3, patience=2)
    heavy = Level(9)
    delta_bounds, rho_bounds, data = (-1.0, 0.0), (0.0, 1.0), None
    trained: ClassVar[list] = []  # x of each iteration that was really trained

    def __init__(self, resume_training=True):
        self.resume_training = resume_training

    def prepare(self):
        pass

    def start(self, config, seed):
        return Halved(config["x"])


class Halved:
    def __init__(self, x):
        self.x, self.done = x, 0

    def advance(self):
        self.done += 1
        Halving.trained.append(self.x)
        error = math.nan if self.x > 0.9 and self.done == 2 else self.x / 2**self.done
        return Iteration(error, error)

    def test_error(self):
        return self.x / 3**self.done

    def state(self):
        return {"done": np.array(self.done)}

    def restore(self, state):
        self.done = int(state["done"])


class Script:
    """Asks for the trials of a script: (x, budget), the heavy ones being those of 9 iterations."""

    capabilities: ClassVar = Capabilities(levels="any")

    def __init__(self, problem, seed, script=(), name="script"):
        self.trials = [Trial(k, {"x": x}, budget == 9, budget) for k, (x, budget) in enumerate(script)]
        self.asked = 0

    def ask(self):
        self.asked += 1
        return self.trials[self.asked - 1]

    def tell(self, trial, measurement):
        pass


@pytest.fixture(autouse=True)
def reset():
    Halving.trained.clear()


def scripted(*script, name="first", seed=2, cache=True, **parameters):
    task = Spec("halving", f"{__name__}:Halving", parameters)
    method = Spec(name, f"{__name__}:Script", {"script": [list(step) for step in script], "name": name})
    return Experiment(task, method, seed, Budget(heavy=sum(budget == 9 for _, budget in script)), cache=cache)


def run(each, out):
    """The rows of a run, and the number of iterations that were really trained for it."""
    before = len(Halving.trained)
    run_experiment(each, out)
    return rows(each, out), len(Halving.trained) - before


SCRIPT = [(0.2, 3), (0.4, 3), (0.2, 9), (0.6, 9)]
COST = 3 + 3 + 6 + 9


def test_what_one_method_has_trained_costs_another_nothing_but_what_it_cost_first(tmp_path):
    first, trained = run(scripted(*SCRIPT), tmp_path)
    assert trained == COST
    second, trained = run(scripted(*SCRIPT, name="second"), tmp_path)
    assert trained == 0
    assert [row.cached for row in first] == [None] * 4
    assert [row.cached for row in second] == [True] * 4
    own = {"method_seconds": 0.0, "time": 0.0, "cached": None}  # the rest is the same to the bit, seconds included
    assert [dataclasses.replace(row, **own) for row in second] == [dataclasses.replace(row, **own) for row in first]
    assert [row.time - row.method_seconds for row in second[:1]] == pytest.approx([first[0].train_seconds])


def test_a_run_with_the_cache_is_the_run_without_it(tmp_path):
    each = scripted(*SCRIPT)
    without = dataclasses.replace(each, cache=False)
    assert (each.hash, each.folder("out")) == (without.hash, without.folder("out"))
    run(without, tmp_path / "without")
    assert not (tmp_path / "without" / ".cache").exists()
    run(each, tmp_path / "with")
    again = scripted(*SCRIPT, name="second")
    run(again, tmp_path / "with")
    answered = [dataclasses.replace(row, cached=None, curve=None) for row in timeless(again, tmp_path / "with")]
    assert answered == [dataclasses.replace(row, curve=None) for row in timeless(without, tmp_path / "without")]


def test_only_a_table_with_an_answer_of_the_cache_says_so(tmp_path):
    run(scripted(*SCRIPT), tmp_path)
    assert "cached" not in load(tmp_path)
    run(scripted((0.2, 3), (0.3, 9), name="second"), tmp_path)
    frame = load(tmp_path)
    assert frame[frame["method"] == "second"]["cached"].tolist() == [True, False]
    assert not frame[frame["method"] == "first"]["cached"].any()


def test_a_heavy_run_goes_on_from_an_answer_and_pays_for_the_rest_alone(tmp_path):
    run(scripted((0.2, 3), (0.8, 9)), tmp_path)
    (light, heavy), trained = run(scripted((0.2, 3), (0.2, 9), name="second"), tmp_path)
    assert (light.cached, heavy.cached) == (True, None)
    assert trained == 9  # there is no state: the three iterations of the light run are trained once more
    assert (heavy.iterations, heavy.curve["start"], len(heavy.curve["seconds"])) == (6, 3, 6)
    assert heavy.train_seconds == sum(heavy.curve["seconds"])
    assert heavy.processor_seconds == sum(heavy.curve["processor_seconds"])
    assert heavy.value == 0.2 / 2**9


def test_a_training_in_one_go_answers_one_that_goes_on(tmp_path):
    (whole,), _ = run(scripted((0.2, 9)), tmp_path)
    (light, heavy), trained = run(scripted((0.2, 3), (0.2, 9), name="second"), tmp_path)
    assert (light.cached, heavy.cached, trained) == (None, True, 3)
    assert (heavy.value, heavy.test_error, heavy.iterations) == (whole.value, whole.test_error, 6)
    for name in ("validation_errors", "test_errors", "seconds", "processor_seconds"):
        assert heavy.curve[name] == whole.curve[name][3:]
    assert (heavy.curve["start"], heavy.train_seconds) == (3, sum(whole.curve["seconds"][3:]))
    assert heavy.processor_seconds == sum(whole.curve["processor_seconds"][3:])


def test_a_run_that_was_cut_off_between_an_answer_and_its_heavy_run_charges_the_same(tmp_path):
    run(scripted((0.2, 3), (0.8, 9)), tmp_path)
    each = scripted((0.2, 3), (0.2, 9), name="second")
    run(each, tmp_path)
    log, described = (each.folder(tmp_path) / name for name in ("trials.jsonl", "run.json"))
    log.write_text(log.read_text().splitlines(keepends=True)[0])
    described.write_text(json.dumps(json.loads(described.read_text()) | {"status": "running", "n_trials": None}))
    for path in (tmp_path / ".cache").rglob("*.json"):
        path.unlink()
    (_, heavy), trained = run(each, tmp_path)
    assert (trained, heavy.iterations) == (9, 6)
    assert heavy.train_seconds == sum(heavy.curve["seconds"])


def test_a_state_that_this_run_has_kept_is_gone_on_from_as_ever(tmp_path):
    _, trained = run(scripted((0.2, 3), (0.2, 9)), tmp_path)
    assert trained == 9
    _, trained = run(scripted((0.3, 3), (0.3, 5), (0.3, 9), name="second"), tmp_path)
    assert trained == 9


@pytest.mark.parametrize(
    "other",
    [
        scripted((0.2, 3), (0.2, 9), seed=3),
        scripted((0.21, 3), (0.21, 9)),
        scripted((0.2, 2), (0.2, 9)),
        scripted((0.2, 3), (0.2, 9), resume_training=False),
        dataclasses.replace(scripted((0.2, 3), (0.2, 9), name="second"), threads=2),
    ],
    ids=["seed", "configuration", "level", "parameters", "threads"],
)
def test_an_answer_to_another_question_is_not_taken(tmp_path, other):
    run(scripted((0.2, 3), (0.2, 9), name="known"), tmp_path)
    found, _ = run(other, tmp_path)
    assert [row.cached for row in found] == [None, None]


@pytest.mark.parametrize("name", ["code", "versions", "cpu"])
def test_an_answer_of_other_code_or_libraries_or_machines_is_not_taken(tmp_path, monkeypatch, name):
    run(scripted((0.2, 9)), tmp_path)
    describe = experiments.describe

    def changed(*arguments):
        described = describe(*arguments)
        (start,) = described.starts
        others = {
            "code": {"code": {"task": "0123456789"}},
            "versions": {"versions": {**start.versions, "numpy": "0.1"}},
            "cpu": {"machine": {**start.machine, "cpu": "another"}},
        }
        return dataclasses.replace(described, starts=(dataclasses.replace(start, **others[name]),))

    monkeypatch.setattr(experiments, "describe", changed)
    assert run(scripted((0.2, 9), name="second"), tmp_path)[1] == 9
    assert run(scripted((0.2, 9), name="third"), tmp_path)[1] == 0


def test_nothing_is_kept_of_code_that_is_not_at_hand(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "digests", lambda parts: dict.fromkeys(parts))
    run(scripted((0.2, 9)), tmp_path)
    assert run(scripted((0.2, 9), name="second"), tmp_path)[1] == 9
    assert not (tmp_path / ".cache").exists()


def test_what_failed_is_tried_again(tmp_path):
    run(scripted((0.95, 3), (0.2, 9)), tmp_path)
    (failed, heavy), trained = run(scripted((0.95, 3), (0.2, 9), name="second"), tmp_path)
    assert (failed.status, failed.cached, trained) == ("failed", None, 2)
    assert heavy.cached is True


@pytest.mark.parametrize("damage", [b"", b'{"key": {}}', b"[1]", b'{"key": {}, "row": {"value": 0}}'])
def test_a_damaged_answer_is_trained_again_and_replaced(tmp_path, damage):
    run(scripted((0.2, 9)), tmp_path)
    (path,) = (tmp_path / ".cache" / "halving").iterdir()
    path.write_bytes(damage)
    assert run(scripted((0.2, 9), name="second"), tmp_path)[1] == 9
    assert run(scripted((0.2, 9), name="third"), tmp_path)[1] == 0


def test_a_row_that_is_damaged_in_an_answer_is_trained_again(tmp_path):
    run(scripted((0.2, 9)), tmp_path)
    (path,) = (tmp_path / ".cache" / "halving").iterdir()
    held = json.loads(path.read_text())
    path.write_text(json.dumps(held | {"row": held["row"] | {"value": "low"}}))
    assert run(scripted((0.2, 9), name="second"), tmp_path)[1] == 9


def test_an_answer_that_cannot_be_kept_costs_no_result(tmp_path):
    (tmp_path / ".cache").write_text("in the way")
    with pytest.warns(UserWarning, match=r"answer not kept in the cache: .*\.json: Not a directory"):
        (row,), _ = run(scripted((0.2, 9)), tmp_path)
    assert row.value == 0.2 / 2**9


def test_a_task_whose_runs_cost_less_after_others_is_refused_before_any_is_made(tmp_path):
    """A support vector machine trains its light machine for a heavy run but where it has one."""
    (request,) = read(["task=svm", "scale=smoke", "method=random_search", "cache=true", f"out={tmp_path / 'runs'}"])
    with pytest.raises(UsageError, match="cache=true is not for the task 'svm': a heavy run costs less after its"):
        plan(request)
    assert not (tmp_path / "runs").exists()
    assert plan(dataclasses.replace(request, cache=False)).experiments


def test_a_cache_that_a_formula_has_no_use_for_is_cautioned_about(tmp_path):
    (request,) = read(["task=currin", "method=random_search", "cache=true", f"out={tmp_path / 'runs'}"])
    assert plan(request).cautions == ["cache=true keeps nothing: the task 'currin' trains nothing"]
    assert plan(dataclasses.replace(request, cache=False)).cautions == []


def test_of_a_formula_nothing_is_kept(tmp_path):
    run_experiment(change(EXPERIMENT, cache=True), tmp_path)
    assert [row.cached for row in rows(EXPERIMENT, tmp_path)] == [None] * len(rows(EXPERIMENT, tmp_path))
    assert not (tmp_path / ".cache").exists()
