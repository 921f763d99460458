"""Random search: uniform, reproducible trial by trial, blind to results."""

import math

import numpy as np
import pytest
from scipy import stats

from baselines.protocol import Measurement, Problem, Trial
from baselines.random_search import RandomSearch
from btao import Categorical, Integer, Real, Space

SPACE = Space({"x": Real(1e-3, 1e3, log=True), "n": Integer(1, 4), "kind": Categorical(("a", "b", "c"))})
PROBLEM = Problem(SPACE, heavy_iterations=9, light_iterations=3)


def test_every_trial_is_heavy_and_gets_the_heavy_iterations():
    method = RandomSearch(PROBLEM, seed=0)
    trials = [method.ask() for _ in range(5)]
    assert [trial.number for trial in trials] == [0, 1, 2, 3, 4]
    assert all(trial.heavy and trial.budget == 9 for trial in trials)


def test_configurations_are_uniform_in_the_unit_cube():
    method = RandomSearch(PROBLEM, seed=1)
    configs = [method.ask().config for _ in range(2000)]
    log_x = [math.log10(config["x"]) / 6 + 0.5 for config in configs]
    assert stats.kstest(log_x, "uniform").pvalue > 0.01
    for name, values in (("n", [1, 2, 3, 4]), ("kind", ["a", "b", "c"])):
        counts = [sum(config[name] == value for config in configs) for value in values]
        assert stats.chisquare(counts).pvalue > 0.01


def test_trial_k_depends_on_the_seed_and_k_only():
    told, untold = RandomSearch(PROBLEM, seed=3), RandomSearch(PROBLEM, seed=3)
    for k in range(10):
        trial = told.ask()
        told.tell(trial, Measurement(math.nan if k % 2 else -k, "diverged" if k % 2 else None))
        assert untold.ask() == trial


def test_draws_are_those_of_the_seed_spawned_with_the_number_of_the_trial():
    method = RandomSearch(Problem(Space({"u": Real(0.0, 1.0)}), 1), seed=5)
    expected = [np.random.default_rng(np.random.SeedSequence(5, spawn_key=(k,))).random() for k in range(3)]
    assert [method.ask().config["u"] for _ in range(3)] == pytest.approx(expected, abs=1e-15)


def test_large_seeds_do_not_repeat_the_trials_of_small_ones():
    first = {seed: RandomSearch(PROBLEM, seed).ask().config["x"] for seed in (0, 1, 2**32, 2**64 + 1)}
    assert len(set(first.values())) == 4


def test_a_finite_space_is_sampled_with_replacement_and_never_exhausted():
    method = RandomSearch(Problem(Space({"n": Integer(1, 2)}), 1), seed=0)
    assert {method.ask().config["n"] for _ in range(20)} == {1, 2}


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True])
def test_seed_must_be_an_integer_of_at_least_0(seed):
    with pytest.raises(ValueError, match=r"seed must be an integer of at least 0, got"):
        RandomSearch(PROBLEM, seed)


def test_tell_takes_each_asked_trial_once():
    method = RandomSearch(PROBLEM, seed=0)
    trial, other = method.ask(), method.ask()
    method.tell(other, Measurement(0.0))
    method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="trial 0 is not pending"):
        method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="trial 7 is not pending"):
        method.tell(Trial(7, trial.config, True, 9), Measurement(0.0))
