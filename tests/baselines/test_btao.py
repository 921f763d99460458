"""BTAO behind the protocol: its arguments reach the optimizer."""

from __future__ import annotations

import pytest

from baselines.btao import BTAOMethod, BTAORateMethod
from baselines.protocol import Measurement, Problem
from benchmarks.objectives.currin import Currin
from btao import BTAO

PROBLEM = Problem(Currin.space, heavy_iterations=5, light_iterations=1)


@pytest.mark.parametrize("candidates", ["joint", "light"])
def test_noise_is_estimated_as_the_optimizer_does(candidates):
    task = Currin()
    method = BTAOMethod(PROBLEM, 3, n_init=2, candidates=candidates, noise=True)
    bounds = {"delta_bounds": PROBLEM.delta_bounds, "rho_bounds": PROBLEM.rho_bounds}
    optimizers = [
        BTAO(Currin.space, 3, n_init=2, candidates=candidates, noise=noise, **bounds) for noise in (True, None)
    ]
    asked = []
    for _ in range(9):
        trial = method.ask()
        value = task.evaluate(trial.config, task.heavy if trial.heavy else task.light, 0).value
        method.tell(trial, Measurement(value))
        asked.append((trial.config, value))
    others = [[], []]
    for found, optimizer in zip(others, optimizers, strict=True):
        for _ in asked:
            trial = optimizer.ask()
            value = task.evaluate(trial.config, task.heavy if trial.level == "heavy" else task.light, 0).value
            optimizer.tell(trial, value)
            found.append((trial.config, value))
    assert others[0] == asked != others[1]


def test_the_rule_is_that_of_the_class_where_none_is_given():
    started = [
        (BTAOMethod, {}),
        (BTAOMethod, {"candidates": "light"}),
        (BTAORateMethod, {}),
        (BTAOMethod, {"rule": "rate"}),
    ]
    rules = [method(PROBLEM, 0, **options)._optimizer.rule for method, options in started]
    assert rules == ["joint", "paper", "rate", "rate"]


def test_the_rate_rule_cannot_do_without_it():
    with pytest.raises(
        ValueError, match="noise must be None or True with rule='rate', which always estimates it, got False"
    ):
        BTAOMethod(PROBLEM, 0, rule="rate", noise=False)
