"""The shared start: BTAO's own, for every method alike."""

import dataclasses

import pytest

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


def test_it_is_the_start_of_btao_with_its_defaults():
    start = initial_design(PLANE, 5)
    assert (len(start.heavy), len(start.light)) == (4, 8)
    assert start.light[:4] == start.heavy
    optimizer = BTAO(PLANE, seed=5)
    assert [optimizer.ask().config for _ in range(8)] == list(start.light)
    assert initial_design(PLANE, 6) != start


def test_configurations_that_round_alike_count_once():
    start = initial_design(Space({"n": Integer(0, 1), "k": Categorical(("a", "b"))}), 0)
    texts = [str(config) for config in start.light]
    assert len(set(texts)) == len(texts) <= 4


@pytest.mark.parametrize("options", [{}, {"light_per_heavy": 4}, {"candidates": "light"}])
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
    assert check_start(PROBLEM, n_init=None) is PROBLEM.initial
