"""BOHB: its model is really used, its start can be given, its parameters reach hpbandster or are refused."""

import dataclasses
import math

import numpy as np
import pytest

from baselines.bohb import BOHB
from baselines.initial_design import initial_design
from baselines.libraries.isolated_library import NoProposal
from baselines.protocol import Measurement, Problem
from btao import Categorical, Integer, Real, Space

pytest.importorskip("hpbandster")

PLANE = Space({"x": Real(-2.0, 3.0), "y": Real(1e-3, 1.0, log=True)})
MIXED = Space({"units": Integer(8, 512, log=True), "rate": Real(0.0, 1.0), "kind": Categorical(("a", "b", "c"))})


def step(method, space):
    trial = method.ask()
    method.tell(trial, Measurement(float(np.sum((space.to_unit(trial.config) - 0.2) ** 2))))
    return trial


def sampled(trials):
    """The configurations in the order in which they first appear."""
    configs = []
    for trial in trials:
        if trial.config not in configs:
            configs.append(trial.config)
    return configs


@pytest.mark.parametrize("space", [PLANE, MIXED], ids=["plane", "mixed"])
def test_the_model_leads_to_the_optimum(space):
    """hpbandster falls back to random configurations when its model raises; that would go unseen."""
    method = BOHB(Problem(space, 9), seed=0, random_fraction=0.0, num_samples=16)
    distances = [np.abs(space.to_unit(step(method, space).config) - 0.2).mean() for _ in range(40)]
    assert np.mean(distances[20:]) < 0.6 * np.mean(distances[:8])


def test_the_random_fraction_reaches_the_library():
    problem = Problem(PLANE, 9)
    never, always = (BOHB(problem, seed=0, random_fraction=fraction) for fraction in (0.0, 1.0))
    pairs = [(step(never, PLANE).config, step(always, PLANE).config) for _ in range(14)]
    assert [a == b for a, b in pairs[:3]] == [True] * 3
    assert all(a != b for a, b in pairs[8:])


def test_a_model_that_hangs_is_no_reason_for_a_random_configuration():
    """hpbandster catches whatever its model raises, and samples at random then."""
    method = BOHB(Problem(PLANE, 9), seed=0, random_fraction=0.0)
    for _ in range(10):
        step(method, PLANE)

    def hang(_):
        while True:
            pass

    (model,) = method._optimizer.config_generator.kde_models.values()
    model["good"].pdf = hang
    method._isolated._patience = 0.2
    with pytest.raises(NoProposal, match=r"hpbandster did not answer within 0\.2 seconds, .* in hang"):
        method.ask()


@pytest.mark.parametrize("space", [PLANE, MIXED], ids=["plane", "mixed"])
def test_a_shared_start_comes_first_and_exactly(space):
    initial = initial_design(space, 7)
    method = BOHB(Problem(space, 9, 1, initial=initial), seed=0)
    trials = [step(method, space) for _ in range(20)]
    assert tuple(sampled(trials)[: len(initial.light)]) == initial.light
    assert {trial.budget for trial in trials[:9]} == {1}


def test_a_shared_start_is_taken_on_into_the_next_brackets():
    """Two rungs sample 3 light configurations, then 2 heavy ones; one of 3 is promoted between."""
    initial = initial_design(PLANE, 7)
    method = BOHB(Problem(PLANE, 5, 1, levels="two", initial=initial), seed=0)
    trials = [step(method, PLANE) for _ in range(12)]
    assert tuple(sampled(trials)[:8]) == initial.light
    assert [trial.budget for trial in trials[:6]] == [1, 1, 1, 5, 5, 5]


@pytest.mark.parametrize(
    ("problem", "parameters"), [(Problem(PLANE, 9), {}), (Problem(PLANE, 9, 1), {"n_rungs": 1})], ids=["task", "rungs"]
)
def test_with_one_budget_a_shared_start_is_that_of_heavy_runs(problem, parameters):
    initial = initial_design(PLANE, 7)
    method = BOHB(dataclasses.replace(problem, initial=initial), seed=0, **parameters)
    configs = [step(method, PLANE).config for _ in range(len(initial.light))]
    n = len(initial.heavy)
    assert configs[:n] == list(initial.heavy)
    assert not [config for config in configs[n:] if config in initial.light]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_points_in_model": 2}, "min_points_in_model must be an integer from 3 to inf, got 2"),
        ({"top_n_percent": 0}, "top_n_percent must be an integer from 1 to 99, got 0"),
        ({"top_n_percent": 15.0}, "top_n_percent must be an integer"),
        ({"num_samples": 0}, "num_samples must be"),
        ({"random_fraction": 1.5}, "random_fraction must be a number from 0 to 1, got 1.5"),
        ({"random_fraction": math.nan}, "random_fraction"),
        ({"bandwidth_factor": 0}, "bandwidth_factor must be"),
        ({"min_bandwidth": -1e-3}, "min_bandwidth must be"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        BOHB(Problem(PLANE, 9, 1), seed=0, **parameters)
