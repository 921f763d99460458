"""The worth of new points and its slopes (METHOD items 26, 28 and 30)."""

import numpy as np
import pytest

from btao.gp import Kernel
from btao.parameters import Categorical, Integer, Real
from btao.rate.improvement import log_improvement, log_rate_of_new
from btao.rate.new_points import RateOfNew
from btao.rate.two_level import WEIGHTS, Data, TwoLevelModel
from btao.space import Space
from btao.spaces.conditions import When

REAL = Space({"x": Real(0, 1), "y": Real(0, 1)})
MIXED = Space(
    {"c": Categorical(("a", "b", "c")), "x": Real(0, 1), "n": Integer(1, 9), "y": Real(0, 1)},
    conditions={"y": When("c", "b", "c")},
)
THETA = np.log([0.4, 0.9, 0.5, 0.7, 1e-3])


def model_of(space):
    """Fourteen light results, of which eight have a heavy one."""
    points = space.snap(np.random.default_rng(0).random((14, space.dim)))
    light = np.sin(4 * points).sum(axis=1) / space.dim
    heavy = 0.9 * light[:8] + 0.2 * points[:8].mean(axis=1)
    theta = np.append(THETA[: space.dim], THETA[-1])
    data = Data(points, light, points[:8], heavy, light[:8])
    return TwoLevelModel.fit(Kernel(space.dim, space), data, (theta, theta), ("none", "none")), float(heavy.min())


@pytest.mark.parametrize("inflation", [1.0, 10.0])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("space", [REAL, MIXED], ids=["real", "mixed"])
def test_the_slopes_are_those_of_differences_along_active_real_parameters_and_0_along_others(space, ordered, inflation):
    rate = RateOfNew(*model_of(space), light_cost=1.0, heavy_cost=4.0, ordered=ordered, inflation=inflation)
    X = space.snap(np.random.default_rng(1).random((12, space.dim)))
    values, slopes = rate.slopes(X)
    np.testing.assert_array_equal(values, rate.values(X))
    expected = np.zeros_like(X)
    for index in np.flatnonzero(space.continuous):
        step = 1e-5 * (np.arange(space.dim) == index)
        expected[:, index] = (rate.values(X + step) - rate.values(X - step)) / 2e-5
    np.testing.assert_allclose(slopes, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    assert np.abs(expected).max() > 1


def test_inflation_multiplies_the_standard_deviations_of_heavy_values_alone():
    model, best = model_of(REAL)
    X = np.random.default_rng(2).random((6, 2))
    nodes = model.at_nodes(X)
    gains = log_improvement(best, nodes.mean, (30.0 * np.sqrt(nodes.variance)) ** 2)
    expected, _ = log_rate_of_new(gains, WEIGHTS, 1.0, 4.0)
    inflated = RateOfNew(model, best, light_cost=1.0, heavy_cost=4.0, ordered=False, inflation=30.0)
    np.testing.assert_allclose(inflated.values(X), expected, rtol=1e-12)
