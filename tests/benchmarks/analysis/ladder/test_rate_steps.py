"""The rate rule less parts of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import qmc

from baselines.btao import BTAOMethod, BTAORateMethod
from baselines.initial_design import initial_design
from baselines.protocol import Measurement, Problem
from benchmarks.analysis.ladder.rate_steps import RateSteps
from benchmarks.objectives.functions.branin import Branin
from btao.rate.new_points import RateOfNew

TASK = Branin()
PROBLEM = Problem(TASK.space, TASK.heavy.iterations, TASK.light.iterations)


def value(trial):
    return TASK.evaluate(trial.config, TASK.heavy if trial.heavy else TASK.light, seed=0).value


def asked(method, n):
    trials = []
    for _ in range(n):
        trials.append(method.ask())
        method.tell(trials[-1], Measurement(value(trials[-1]), cost=float(trials[-1].budget)))
    return trials


def levels(trials):
    return "".join("H" if trial.heavy else "l" for trial in trials)


def test_with_no_part_left_out_it_is_the_rate_rule():
    assert asked(RateSteps(PROBLEM, 3), 20) == asked(BTAORateMethod(PROBLEM, 3), 20)


def test_it_starts_as_the_joint_rule_does_and_levels_take_turns_as_there():
    ours = asked(RateSteps(PROBLEM, 1, joint_start=True, turns=True), 18)
    joint = asked(BTAOMethod(PROBLEM, 1), 18)
    assert levels(ours) == levels(joint) == "llllllllHHHH" + "llH" * 2
    assert [(each.config, each.heavy) for each in ours[:12]] == [(each.config, each.heavy) for each in joint[:12]]
    alone = asked(RateSteps(PROBLEM, 1, turns=True), 14)
    assert levels(alone) == "llllH" + "llH" * 3
    assert alone[:5] == asked(BTAORateMethod(PROBLEM, 1), 5)


def test_a_light_run_in_turn_is_where_the_improvement_of_the_heavy_response_is_largest():
    """By samples of both values; where its rate per cost is largest that is less."""
    method = RateSteps(PROBLEM, 0, turns=True, elsewhere=False, logarithm=False)
    trials = asked(method, 14)
    rule = method._optimizer._rule
    outputs, model = rule._model()
    best = outputs.to_z(np.array([min(value(trial) for trial in trials if trial.heavy)]))[0]
    by_rate, _ = rule._best_new(RateOfNew(model, best, 1.0, 20.0, False))
    new = method.ask()
    assert not new.heavy
    points = np.vstack([PROBLEM.space.to_unit(new.config), by_rate, qmc.Sobol(2, seed=0).random(256)])
    rng, n = np.random.default_rng(0), 20_000
    light, spread = (np.tile(each, n) for each in model.light_moments(points))
    light = rng.normal(light, np.sqrt(spread))
    mean, variance = model.heavy_moments(np.tile(points, (n, 1)), light)
    heavy = rng.normal(mean, np.sqrt(variance)).reshape(n, -1)
    improvements = np.maximum(best - heavy, 0.0).mean(axis=0)
    assert improvements[0] >= 0.98 * improvements.max()
    assert improvements[1] < 0.7 * improvements[0]


def test_a_shared_start_and_that_of_the_joint_rule_are_not_both_made():
    shared = dataclasses.replace(PROBLEM, initial=initial_design(PROBLEM.space, 0))
    with pytest.raises(ValueError, match="joint_start=True has no effect with shared_init=true"):
        RateSteps(shared, 0, joint_start=True)


@pytest.mark.parametrize("elsewhere", [True, False])
def test_it_looks_elsewhere_or_not_where_nothing_is_gained(elsewhere):
    rule = RateSteps(PROBLEM, 0, elsewhere=elsewhere)._optimizer._rule
    assert len(rule._inflations(np.array([1.0, 1.0, 1.0]), np.inf)) == (4 if elsewhere else 1)
