"""Hyperband: random configurations, uniform in the coordinates of the space, whatever is measured."""

import pytest
from scipy import stats

from baselines.hyperband import Hyperband
from baselines.protocol import InitialDesign, Problem
from btao import Categorical, Integer, Real, Space

pytest.importorskip("hpbandster")

SPACE = Space({"x": Real(1e-3, 1e3, log=True), "n": Integer(1, 4), "kind": Categorical(("a", "b", "c"))})


def test_configurations_are_uniform_over_the_space():
    method = Hyperband(Problem(SPACE, 9), seed=3)
    configs = [method.ask().config for _ in range(600)]
    coordinates = [SPACE.parameters["x"].to_unit(config["x"]) for config in configs]
    assert stats.kstest(coordinates, "uniform").pvalue > 0.01
    for name, values in (("n", (1, 2, 3, 4)), ("kind", ("a", "b", "c"))):
        counts = [sum(config[name] == value for config in configs) for value in values]
        assert sum(counts) == 600
        assert stats.chisquare(counts).pvalue > 0.01


def test_a_shared_start_is_left_to_the_methods_with_a_model():
    config = {"x": 1.0, "n": 2, "kind": "a"}
    shared = Hyperband(Problem(SPACE, 9, 1, initial=InitialDesign((config,), (config,))), seed=0)
    alone = Hyperband(Problem(SPACE, 9, 1), seed=0)
    assert [shared.ask() for _ in range(9)] == [alone.ask() for _ in range(9)]
