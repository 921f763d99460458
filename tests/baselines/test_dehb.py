"""DEHB: the trajectory of the bare library, whole budgets, failures, and nothing changed outside."""

import itertools
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from baselines.dehb import DEHB
from baselines.libraries.configspace import from_configuration, to_configspace
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.protocol import Measurement, Problem
from btao import Categorical, Integer, Real, Space

pytest.importorskip("dehb")

PLANE = Space({"x": Real(-2.0, 3.0), "y": Real(1e-3, 1.0, log=True)})
MIXED = Space({"units": Integer(8, 512, log=True), "rate": Real(0.0, 1.0), "kind": Categorical(("a", "b", "c"))})


def value(space, config, budget):
    return float(np.sum((space.to_unit(config) - 0.3) ** 2)) + 0.1 / budget


def step(method, space):
    trial = method.ask()
    method.tell(trial, Measurement(value(space, trial.config, trial.budget)))
    return trial


@pytest.mark.parametrize("space", [PLANE, MIXED], ids=["plane", "mixed"])
def test_the_trajectory_is_the_librarys(space, tmp_path):
    seed = 2**63 - 25
    expected = []

    def objective(configuration, fidelity):
        config = from_configuration(space, configuration)
        expected.append((config, fidelity))
        return {"fitness": value(space, config, fidelity), "cost": 1.0}

    with IsolatedLibrary("reference", seed):
        import loguru
        from dehb import DEHB as Reference

        reference = Reference(
            f=objective,
            cs=to_configspace(space, seed),
            min_fidelity=1,
            max_fidelity=9,
            seed=int(np.random.SeedSequence(seed).generate_state(1)[0]),
            n_workers=1,
            output_path=tmp_path,
            log_level="ERROR",
        )
        reference.run(brackets=5)
        loguru.logger.remove()
    method = DEHB(Problem(space, 9, 1), seed=seed)
    assert [(trial.config, trial.budget) for trial in (step(method, space) for _ in expected)] == expected


def test_it_nears_the_optimum():
    method = DEHB(Problem(PLANE, 9, 1), seed=0)
    values = [value(PLANE, trial.config, math.inf) for trial in (step(method, PLANE) for _ in range(100))]
    assert np.mean(values[80:]) < 0.5 * np.mean(values[:9])


@pytest.mark.parametrize(
    ("problem", "parameters", "runs"),
    [
        (Problem(PLANE, 10, 1), {}, [(1, 9), (3, 3), (10, 1), (3, 3), (10, 1), (10, 3)]),
        (Problem(PLANE, 10, 5), {}, [(5, 3), (10, 1), (10, 2)]),
        (Problem(PLANE, 10, 5), {"n_rungs": 2}, [(3, 3), (10, 1), (10, 2)]),
        (Problem(PLANE, 500, 50), {}, [(50, 9), (167, 3), (500, 1), (167, 3), (500, 1), (500, 3)]),
        (Problem(PLANE, 7, 2, levels="two"), {}, [(2, 3), (7, 1), (7, 2)]),
    ],
)
def test_budgets_are_whole_iterations(problem, parameters, runs):
    method = DEHB(problem, seed=0, **parameters)
    trials = [step(method, PLANE) for _ in range(sum(n for _, n in runs))]
    assert [trial.budget for trial in trials] == [
        budget for budget in itertools.chain.from_iterable([b] * n for b, n in runs)
    ]
    assert all(trial.heavy == (trial.budget == problem.heavy_iterations) for trial in trials)


def test_a_failure_is_promoted_after_every_measurement():
    method = DEHB(Problem(PLANE, 9, 1), seed=0)
    failures = [Measurement(math.nan), Measurement(-math.inf), Measurement(-1.0, "killed")]
    rung = [method.ask() for _ in range(9)]
    for trial in rung:
        method.tell(trial, failures[trial.number % 3] if trial.number < 6 else Measurement(1e300))
    promoted = [step(method, PLANE) for _ in range(3)]
    assert [trial.budget for trial in promoted] == [3] * 3
    assert all(trial.config in [good.config for good in rung[6:]] for trial in promoted)


@pytest.mark.parametrize(
    ("problem", "parameters", "message"),
    [
        (Problem(PLANE, 9, 1), {"mutation_factor": 1.5}, "mutation_factor must be a number from 0 to 1, got 1.5"),
        (Problem(PLANE, 9, 1), {"crossover_prob": -0.1}, "crossover_prob must be"),
        (Problem(PLANE, 9, 1), {"strategy": "rand1"}, "strategy must be one of rand1_bin, .*, got 'rand1'"),
        (Problem(PLANE, 9, 1), {"eta": 1}, "eta must be"),
        (Problem(PLANE, 9, 1), {"n_rungs": 1}, "DEHB needs two budgets or more"),
    ],
)
def test_what_does_not_fit_is_refused(problem, parameters, message):
    with pytest.raises(ValueError, match=message):
        DEHB(problem, seed=0, **parameters)


ALONE = """
import json, logging, os, signal, sys, threading, warnings
from pathlib import Path
import numpy as np, loguru
from baselines.dehb import DEHB
from baselines.protocol import Measurement, Problem
from btao import Categorical, Real, Space

heard = []
loguru.logger.remove()
loguru.logger.add(heard.append, format="{message}")

def state():
    root = logging.getLogger()
    return [
        root.level, list(root.handlers), logging.root.manager.disable, list(warnings.filters), dict(os.environ),
        os.getcwd(), sorted(os.listdir()), signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT),
        np.geterr(), threading.active_count(), sys.excepthook, sys.stdout, sys.stderr,
    ]

before = state()
space = Space({"b": Real(0.0, 1.0), "a": Categorical(("r", "s"))})
method = DEHB(Problem(space, 9, 1, folder=Path("run")), seed=2**63 - 1)
trials = []
for _ in range(40):
    trial = method.ask()
    method.tell(trial, Measurement(float("nan"), "killed") if trial.number == 3 else Measurement(trial.config["b"]))
    trials.append([trial.number, trial.config, trial.heavy, trial.budget])
os.rmdir("run")  # empty
assert state() == before
loguru.logger.info("still here")
assert heard == ["still here\\n"], heard
print(json.dumps(trials))
"""


def test_processes_agree_and_nothing_else_changes(tmp_path):
    """Whatever the salt of string hashes; no output, nothing in the home, loguru as it was."""
    outputs = []
    for salt in "12":
        home = tmp_path / salt
        home.mkdir()
        environment = os.environ | {
            "PYTHONHASHSEED": salt,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "HOME": str(home),
        }
        done = subprocess.run(
            [sys.executable, "-c", ALONE], cwd=home, env=environment, capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert list(home.iterdir()) == []
        outputs.append(json.loads(done.stdout))
    assert len(outputs[0]) == 40
    assert outputs[0] == outputs[1]
