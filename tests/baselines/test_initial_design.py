"""The shared start: BTAO's own, for every method alike."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from baselines.btao import BTAOMethod
from baselines.gp_bo import GPBO
from baselines.initial_design import check_start, initial_design
from baselines.protocol import Measurement, Problem
from btao import BTAO, Categorical, Integer, Real, Space

PLANE = Space({"x": Real(-2.0, 3.0), "y": Real(0.0, 1.0)})
PROBLEM = Problem(PLANE, heavy_iterations=9, light_iterations=3, initial=initial_design(PLANE, 5))


def asks(method, n):
    trials = []
    for number in range(n):
        trials.append(method.ask())
        method.tell(trials[-1], Measurement(float(number)))
    return trials


def test_it_is_the_start_of_btao_by_its_joint_rule():
    start = initial_design(PLANE, 5)
    assert (len(start.heavy), len(start.light)) == (4, 8)
    assert start.light[:4] == start.heavy
    optimizer = BTAO(PLANE, seed=5, rule="joint")
    assert [optimizer.ask().config for _ in range(8)] == list(start.light)
    assert initial_design(PLANE, 6) != start


def test_configurations_that_round_alike_count_once():
    start = initial_design(Space({"n": Integer(0, 1), "k": Categorical(("a", "b"))}), 0)
    texts = [str(config) for config in start.light]
    assert len(set(texts)) == len(texts) <= 4


@pytest.mark.parametrize("options", [{}, {"light_per_heavy": 4}, {"candidates": "light"}, {"rule": "rate"}])
def test_btao_with_any_options_starts_from_it(options):
    start = PROBLEM.initial
    trials = asks(BTAOMethod(PROBLEM, seed=0, **options), 12)
    assert [trial.config for trial in trials[:8]] == list(start.light)
    assert [trial.heavy for trial in trials[:8]] == [False] * 8
    assert [trial.config for trial in trials[8:]] == list(start.heavy)
    assert all(trial.heavy for trial in trials[8:])


@pytest.mark.parametrize("method", [GPBO, BTAOMethod])
def test_a_start_of_its_own_is_refused_beside_it(method):
    with pytest.raises(ValueError, match="n_init=3 has no effect with shared_init=true"):
        method(PROBLEM, seed=0, n_init=3)
    method(dataclasses.replace(PROBLEM, initial=None), seed=0, n_init=3)


def test_a_random_start_has_the_sizes_of_the_nested_one_and_no_levels():
    alone = dataclasses.replace(PROBLEM, initial=None)
    trials = asks(BTAOMethod(alone, seed=7, n_init=20, light_per_heavy=3, start="random"), 80)
    assert [trial.heavy for trial in trials] == [False] * 60 + [True] * 20
    assert [trial.config for trial in trials[60:]] == [trial.config for trial in trials[:20]]
    points = np.array([PLANE.to_unit(trial.config) for trial in trials[:60]])
    levels = [len(set((60 * column).astype(int))) for column in points.T]
    assert max(levels) < 50  # of 60; a Latin hypercube has one point in each
    assert stats.kstest(points.ravel(), "uniform").pvalue > 0.01
    assert asks(BTAOMethod(alone, seed=7, start="random"), 3) == asks(BTAOMethod(alone, seed=7, start="random"), 3)


def test_a_random_start_is_refused_beside_a_shared_one_and_others_are_unknown():
    with pytest.raises(ValueError, match="start=random has no effect with shared_init=true"):
        BTAOMethod(PROBLEM, seed=0, start="random")
    with pytest.raises(ValueError, match="start must be one of nested, random, got 'sobol'"):
        BTAOMethod(PROBLEM, seed=0, start="sobol")


def test_no_shared_start_is_none():
    assert check_start(PROBLEM, n_init=None) is PROBLEM.initial
