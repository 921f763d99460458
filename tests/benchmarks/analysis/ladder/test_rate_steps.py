"""The rate rule less parts of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, qmc

from baselines.btao import BTAOMethod, BTAORateMethod
from baselines.protocol import Measurement, Problem
from benchmarks.analysis.ladder.rate_steps import RateSteps
from btao import Real, Space

PROBLEM = Problem(Space({"x": Real(-5.0, 10.0), "y": Real(0.0, 15.0)}), 5, 1)


def value(trial):
    """Branin's function, of which the light level is another one a little aside."""
    x, y = trial.config["x"] + (0.0 if trial.heavy else 0.3), trial.config["y"]
    return (y - 0.129 * x**2 + 1.6 * x - 6) ** 2 + 9.6 * np.cos(x) + 10


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
    method = RateSteps(PROBLEM, 2, turns=True, elsewhere=False, logarithm=False)
    trials = asked(method, 11)
    known = min(value(trial) for trial in trials if trial.heavy)
    new = method.ask()
    assert not new.heavy
    configs = [{"x": 15 * u - 5, "y": 15 * v} for u, v in qmc.Sobol(2, seed=0).random(256)]
    means, deviations = (np.array(each) for each in method._optimizer.predict([new.config, *configs]))
    v = (known - means) / deviations  # normal, by which the mixture over light values that it maximizes is close to
    improvements = deviations * (v * norm.cdf(v) + norm.pdf(v))
    assert improvements[0] >= 0.7 * improvements[1:].max()


@pytest.mark.parametrize("elsewhere", [True, False])
def test_it_looks_elsewhere_or_not_where_nothing_is_gained(elsewhere):
    rule = RateSteps(PROBLEM, 0, elsewhere=elsewhere)._optimizer._rule
    assert len(rule._inflations(np.array([1.0, 1.0, 1.0]), np.inf)) == (4 if elsewhere else 1)
