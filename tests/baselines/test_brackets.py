"""Brackets: schedule, promotions and trajectories against hpbandster's own master, which runs here in full."""

import contextlib
import itertools
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.bohb import BOHB
from baselines.hyperband import Hyperband
from baselines.libraries.configspace import from_configuration, to_configspace
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.protocol import Measurement, Problem
from btao import Categorical, Integer, Real, Space

pytest.importorskip("hpbandster")

PLANE = Space({"x": Real(-2.0, 3.0), "y": Real(1e-3, 1.0, log=True)})
MIXED = Space({"units": Integer(8, 512, log=True), "rate": Real(0.0, 1.0), "kind": Categorical(("a", "b", "c"))})
METHODS = {"BOHB": BOHB, "HyperBand": Hyperband}
QUICK = {"BOHB": {"num_samples": 4}, "HyperBand": {}}
both = pytest.mark.parametrize("name", METHODS)


@contextlib.contextmanager
def reference(name, min_budget, max_budget, space=PLANE, seed=0, answer=None, **parameters):
    """hpbandster's own optimizer, constructed and run by its own code; only the network is taken out.

    Yields it and the list of (configuration, budget) that it submits.
    """
    with IsolatedLibrary("reference", seed), pytest.MonkeyPatch.context() as patch:
        import hpbandster.core.master
        import hpbandster.optimizers
        from hpbandster.core.dispatcher import Job

        submitted = []

        class Dispatcher:
            def __init__(self, callback, **_):
                self._callback = callback

            def run(self):
                pass

            def number_of_workers(self):
                return 1

            def submit_job(self, config_id, **kwargs):
                job = Job(config_id, **kwargs)
                config = from_configuration(space, kwargs["config"])
                submitted.append((config, float(kwargs["budget"])))
                measurement = answer(config, kwargs["budget"])
                if measurement.error is None:
                    job.result = {"loss": measurement.value, "info": None}
                else:
                    job.exception = measurement.error
                self._callback(job)

        patch.setattr(hpbandster.core.master, "Dispatcher", Dispatcher)
        optimizer = getattr(hpbandster.optimizers, name)(
            configspace=to_configspace(space, seed),
            min_budget=min_budget,
            max_budget=max_budget,
            run_id="reference",
            job_queue_sizes=(0, 1),
            **parameters,
        )
        yield optimizer, submitted


def schedule(name, min_budget, max_budget, n_brackets):
    """(number of configurations, budget) of every rung of every bracket, as hpbandster makes them."""
    with reference(name, min_budget, max_budget) as (optimizer, _):
        brackets = [optimizer.get_next_iteration(i) for i in range(n_brackets)]
    return [list(zip(x.num_configs, [float(b) for b in x.budgets], strict=True)) for x in brackets]


def bowl(config, budget):
    return Measurement(config["x"] ** 2 + abs(math.log(config["y"]) + 3) + 1 / budget)


def step(method, answer=bowl):
    trial = method.ask()
    method.tell(trial, answer(trial.config, trial.budget))
    return trial


@both
def test_the_schedule_is_the_librarys(name):
    brackets = schedule(name, 1, 27, 8)
    assert brackets[0] == [(27, 1.0), (9, 3.0), (3, 9.0), (1, 27.0)]
    method = METHODS[name](Problem(PLANE, 27, 1), seed=0, **QUICK[name])
    for n, budget in itertools.chain.from_iterable(brackets):
        trials = [step(method) for _ in range(n)]
        assert [(trial.budget, trial.heavy) for trial in trials] == [(budget, budget == 27)] * n


def shaky(config, budget):
    """Some runs raise, some diverge."""
    if "x" in config:
        if config["x"] > 2:
            return Measurement(math.nan, "RuntimeError: out of memory")
        return Measurement(math.nan) if config["x"] < -1.5 else bowl(config, budget)
    if config["units"] < 12:
        return Measurement(math.nan, "RuntimeError: too small")
    return Measurement(math.inf) if config["rate"] > 0.9 else Measurement(config["rate"] + (config["kind"] == "b"))


@both
@pytest.mark.parametrize("space", [PLANE, MIXED], ids=["plane", "mixed"])
def test_the_trajectory_is_the_librarys(name, space):
    seed = 2**63 - 25
    with reference(name, 3, 27, space, seed, shaky, **QUICK[name]) as (optimizer, expected):
        optimizer.run(n_iterations=6)
    method = METHODS[name](Problem(space, 27, 3), seed=seed, **QUICK[name])
    assert [(trial.config, trial.budget) for trial in (step(method, shaky) for _ in expected)] == expected


def test_the_best_of_a_rung_are_trained_on():
    method = Hyperband(Problem(PLANE, 27, 1), seed=1)
    rung = [step(method) for _ in range(27)]
    for n_promoted in (9, 3, 1):
        # In the order of asking, as hpbandster promotes them.
        best = sorted(rung, key=lambda trial: bowl(trial.config, trial.budget).value)[:n_promoted]
        expected = [trial.config for trial in rung if trial in best]
        rung = [step(method) for _ in range(n_promoted)]
        assert [trial.config for trial in rung] == expected


def test_a_failure_is_never_promoted_and_its_place_goes_to_a_new_configuration():
    method = Hyperband(Problem(PLANE, 9, 1), seed=0)
    failures = [Measurement(math.nan), Measurement(-math.inf), Measurement(-1.0, "killed")]
    rung = [method.ask() for _ in range(9)]
    for trial in rung:
        method.tell(trial, Measurement(5.0) if trial.number == 4 else failures[trial.number % 3])
    second = [step(method) for _ in range(3)]
    assert [trial.budget for trial in second] == [3, 3, 3]
    assert second[0].config == rung[4].config
    assert all(trial.config not in [old.config for old in rung] for trial in second[1:])


def test_a_bracket_that_waits_lets_the_next_one_start():
    method = Hyperband(Problem(PLANE, 9, 1), seed=0)
    first = [method.ask() for _ in range(9)]
    other = method.ask()
    assert ([trial.budget for trial in first], other.budget) == ([1] * 9, 3)
    for trial in reversed(first):
        method.tell(trial, bowl(trial.config, trial.budget))
    best = min(first, key=lambda trial: bowl(trial.config, 1).value)
    promoted = [method.ask() for _ in range(3)]
    assert [trial.budget for trial in promoted] == [3, 3, 3]
    assert best.config in [trial.config for trial in promoted]


@both
def test_two_levels_are_two_rungs(name):
    brackets = schedule(name, 1, 3, 4)
    expected = [{1.0: 2, 3.0: 7}[budget] for n, budget in itertools.chain.from_iterable(brackets) for _ in range(n)]
    method = METHODS[name](Problem(PLANE, 7, 2, levels="two"), seed=0, **QUICK[name])
    trials = [step(method) for _ in expected]
    assert [trial.budget for trial in trials] == expected
    assert [trial.heavy for trial in trials] == [budget == 7 for budget in expected]


@both
def test_one_level_is_one_rung(name):
    method = METHODS[name](Problem(PLANE, 9), seed=0)
    assert {(trial.budget, trial.heavy) for trial in (step(method) for _ in range(12))} == {(9, True)}


def first_rungs(method):
    """The budgets of the first rungs of the first brackets, up to the heavy one, and their sizes."""
    budgets = []
    while True:
        trial = method.ask()  # with everything pending, each bracket shows its first rung only
        budgets.append(trial.budget)
        if trial.heavy:
            return [(budget, len(list(group))) for budget, group in itertools.groupby(budgets)]


@pytest.mark.parametrize(
    ("light", "heavy", "n_rungs", "budgets"),
    [
        (1, 10, None, [1, 3, 10]),
        (1, 27, None, [1, 3, 9, 27]),
        (10, 50, None, [10, 50]),
        (50, 500, None, [50, 167, 500]),
        (20, 50, None, [20, 50]),
        (49, 50, None, [49, 50]),
        (10, 50, 2, [17, 50]),
        (1, 50, 3, [6, 17, 50]),
        (5, 27, 4, [1, 3, 9, 27]),
        (5, 27, 1, [27]),
    ],
)
def test_budgets_are_whole_iterations(light, heavy, n_rungs, budgets):
    method = Hyperband(Problem(PLANE, heavy, light), seed=0, n_rungs=n_rungs)
    assert [budget for budget, _ in first_rungs(method)] == budgets


@settings(max_examples=15, deadline=None)
@given(heavy=st.integers(2, 60), share=st.floats(0, 1), eta=st.sampled_from([2, 2.5, 3, 4]))
def test_budgets_increase_from_the_light_to_the_heavy_one(heavy, share, eta):
    light = max(1, int(share * (heavy - 1)))
    budgets = [budget for budget, _ in first_rungs(Hyperband(Problem(PLANE, heavy, light), seed=0, eta=eta))]
    assert budgets[0] == light
    assert budgets == sorted(set(budgets)) and budgets[-1] == heavy


def test_the_rung_that_the_library_loses_to_rounding_is_lost_unless_asked_for():
    """hpbandster truncates log(243) / log(3) = 4.999..., so that there are five budgets, not six."""
    assert schedule("HyperBand", 1, 243, 1) == [[(81, 3.0), (27, 9.0), (9, 27.0), (3, 81.0), (1, 243.0)]]
    problem = Problem(PLANE, 243, 1)
    assert [budget for budget, _ in first_rungs(Hyperband(problem, seed=0))] == [1, 9, 27, 81, 243]
    assert [budget for budget, _ in first_rungs(Hyperband(problem, seed=0, n_rungs=6))] == [1, 3, 9, 27, 81, 243]


@both
@pytest.mark.parametrize(
    ("problem", "parameters", "message"),
    [
        (Problem(PLANE, 27, 1), {"eta": 1.5}, "eta must be a number of at least 2, got 1.5"),
        (Problem(PLANE, 27, 1), {"eta": True}, "eta must be"),
        (Problem(PLANE, 27, 1), {"n_rungs": 0}, "n_rungs must be null or an integer of at least 1, got 0"),
        (Problem(PLANE, 27, 1), {"n_rungs": 2.0}, "n_rungs must be"),
        (Problem(PLANE, 10, 1), {"n_rungs": 4}, "n_rungs=4 with eta=3 makes the lowest budget 0.37 iterations of 10"),
        (Problem(PLANE, 27), {"n_rungs": 2}, "n_rungs=2, but the number of budgets of this task is 1"),
        (Problem(PLANE, 27, 1, levels="two"), {"n_rungs": 4}, "the number of budgets of this task is 2"),
    ],
)
def test_what_does_not_fit_is_refused(name, problem, parameters, message):
    with pytest.raises(ValueError, match=message):
        METHODS[name](problem, seed=0, **parameters)


ALONE = """
import json, logging, os, signal, sys, threading, warnings
from pathlib import Path
import numpy as np
from baselines.bohb import BOHB
from baselines.hyperband import Hyperband
from baselines.protocol import Measurement, Problem
from btao import Categorical, Real, Space

def state():
    root = logging.getLogger()
    return [
        root.level, list(root.handlers), logging.root.manager.disable, list(warnings.filters), dict(os.environ),
        os.getcwd(), sorted(os.listdir()), signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT),
        np.geterr(), threading.active_count(), sys.excepthook, sys.stdout, sys.stderr,
    ]

before = state()
space = Space({"b": Real(0.0, 1.0), "a": Categorical(("r", "s"))})
trials = []
problem = Problem(space, 9, 1, folder=Path("run"))
for method in (BOHB(problem, seed=2**63 - 1, num_samples=4), Hyperband(problem, seed=2**63 - 1)):
    for _ in range(24):
        trial = method.ask()
        method.tell(trial, Measurement(float("nan"), "killed") if trial.number == 3 else Measurement(trial.config["b"]))
        trials.append([trial.number, trial.config, trial.heavy, trial.budget])
assert state() == before
print(json.dumps(trials))
"""


def test_processes_agree_and_nothing_else_changes(tmp_path):
    """Whatever the salt of string hashes; no file, no output, no logging, warnings or environment."""
    runs = []
    for salt in "12":
        environment = os.environ | {"PYTHONHASHSEED": salt, "PYTHONPATH": str(Path(__file__).parents[2])}
        runs.append(
            subprocess.Popen(
                [sys.executable, "-c", ALONE],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    outputs = [run.communicate() for run in runs]
    assert [errors for _, errors in outputs] == ["", ""]
    assert len(json.loads(outputs[0][0])) == 48
    assert outputs[0] == outputs[1]
    assert list(tmp_path.iterdir()) == []
