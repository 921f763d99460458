"""The runs that judge the rule: equal costs, seeds of their own, noise by the range, and what is kept of them."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import qmc

from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.ladder.steps import STEPS
from benchmarks.config.request import read
from benchmarks.config.spec import Spec
from benchmarks.studies import verification
from support import frame, run

NAN = math.nan


def requests(name):
    return [request for command in verification.COMMANDS[name] for request in read(command)]


@pytest.mark.parametrize(
    ("name", "tasks", "methods", "heavy", "share"),
    [
        ("functions", 15, 10, 40, 0.2),
        ("functions_tenth", 12, 10, 40, 0.1),
        ("noise_1", 5, 4, 40, 0.2),
        ("noise_5", 5, 4, 40, 0.2),
        ("live", 4, 10, 15, None),
    ],
)
def test_all_methods_spend_the_same_iterations_with_seeds_of_their_own(name, tasks, methods, heavy, share):
    made = requests(name)
    assert len({request.task["name"] for request in made}) == len(made) == tasks
    for request in made:
        parameters = request.task["parameters"]
        assert request.budget == {"iterations": heavy * parameters["heavy_iterations"]}
        assert share in (None, parameters["light_iterations"] / parameters["heavy_iterations"])
        assert request.seeds == tuple(range(1000, 1030))
        assert len(request.methods) == methods and verification.FIRST in request.methods
        assert request.cache == (name == "live")


def test_the_ladder_is_climbed_on_functions_and_tables_by_seeds_of_its_own():
    commands = verification.COMMANDS["ladder"]
    runs = Counter(word for words in commands for word in words if word.startswith("task="))
    tables = [f"task={task}" for task in verification.RECORDED]
    assert runs == {verification.FUNCTIONS: 7, **dict.fromkeys(tables, len(STEPS))}
    for words in (commands[0], commands[-1]):
        made = read(words)
        for request in made:
            assert request.seeds == tuple(range(1000, 1010)) and len(request.methods) == 1
            assert request.budget == ({"heavy": 20} if request.source == "table" else {"iterations": 200})
        assert len(made) == (12 if words is commands[0] else 1)


@pytest.mark.parametrize(("name", "share"), [("noise_1", 0.01), ("noise_5", 0.05)])
def test_noise_is_a_share_of_the_range_of_heavy_values(name, share):
    for request in requests(name):
        objective = Spec(*(request.task[part] for part in ("name", "_target_", "parameters"))).build()
        space = objective.space
        corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * space.dim), axis=-1).reshape(-1, space.dim)
        points = [*corners, *qmc.Sobol(space.dim, seed=0).random(1024)]
        values = [objective.truth(space.from_unit(point)) for point in points]
        width = max(values) - objective.optimum
        assert objective.noise == pytest.approx(share * width, rel=0.15)  # the sample misses the ends


def noisy_runs():
    """Two runs of a noisy task whose method takes 0.4 ms a trial and recommends another one than the incumbent."""
    parts = [run("LHLH", [1.0, 0.5, 0.7, 0.4], truth=[1.0, 0.5, 0.7, 0.55], seed=seed) for seed in (1000, 1001)]
    trials = frame(*parts).assign(recommended=[NAN, 1, 1, 1] * 2, test_error=[NAN, 0.6, NAN, 0.65] * 2)
    trials = trials.assign(train_seconds=[0.0012, 0.0004, 0.0, 2.5] * 2, method_seconds=0.0004)
    each = trials["train_seconds"] + trials["method_seconds"]
    return trials.assign(time=each.groupby(trials["seed"]).cumsum())


@pytest.mark.parametrize("by", ["value", "recommended"])
def test_what_is_kept_says_the_same_of_runs_but_for_less_than_a_millisecond(by):
    trials = noisy_runs()
    kept = verification.slim(trials)
    assert "config.x" in trials and "config.x" not in kept
    assert kept["truth"].isna().tolist() == [True, True, True, False] * 2 and kept["truth"].iloc[3] == 0.55
    before, after = incumbents(trials, by), incumbents(kept, by)
    assert before["regret"].iloc[3] == (0.55 if by == "value" else 0.5)
    seconds = ["train_seconds", "time"]
    pd.testing.assert_frame_equal(after.drop(columns=seconds), before.drop(columns=seconds))
    np.testing.assert_allclose(after[seconds], before[seconds], rtol=0, atol=0.0005 + 1e-9)


def test_seconds_are_kept_in_milliseconds_whose_sums_are_those_of_the_trials():
    trials = noisy_runs()
    kept = verification.slim(trials)
    assert kept["train_seconds"].tolist() == [0.001, 0.001, 0.0, 2.5] * 2  # 1.2, 1.6, 1.6 and 2501.6 ms so far
    assert kept["method_seconds"].tolist() == [0.0, 0.001, 0.0, 0.001] * 2  # 0.4, 0.8, 1.2 and 1.6 ms so far
    assert kept["time"].tolist() == [0.002, 0.002, 0.003, 2.503] * 2
    quick = frame(run("H" * 200, np.ones(200))).assign(method_seconds=0.0003)
    assert verification.slim(quick)["method_seconds"].sum() == pytest.approx(0.06, abs=1e-9)
