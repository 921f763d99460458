"""The worth of new points and its slopes (METHOD items 26, 28 and 30)."""

import numpy as np
import pytest
from scipy.stats import norm

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


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("heavy_cost", [0.5, 4.0, 20.0])
def test_the_worth_is_what_a_light_run_and_a_heavy_one_if_it_pays_gain_per_cost(heavy_cost, ordered):
    """By simulation of both values, in which runs go on from the light values that promise most."""
    model, best = model_of(REAL)
    rng, n = np.random.default_rng(3), 100_000
    rate = RateOfNew(model, best, light_cost=1.0, heavy_cost=heavy_cost, ordered=ordered)
    points = rng.random((200, 2))
    for x in points[np.argsort(-rate.values(points))[[0, 5, 20]]]:  # not those of which a simulation sees no gain
        mean, variance = model.light_moments(x[None])
        light = mean + np.sqrt(variance) * norm.ppf((np.arange(n) + 0.5) / n)
        mean, variance = model.heavy_moments(np.tile(x, (n, 1)), light)
        std = np.sqrt(variance)
        # Where a heavy value does not exceed its light one, it is drawn from below it.
        below = norm.cdf((light - mean) / std) if ordered else 1.0
        heavy = mean + std * norm.ppf(np.maximum(rng.random(n) * below, 1e-300))
        gain = np.maximum(best - heavy, 0.0)
        promise = log_improvement(best, mean, variance, light if ordered else None)
        order = np.argsort(-promise)
        rates = np.cumsum(gain[order]) / n / (1.0 + heavy_cost * np.arange(1, n + 1) / n)
        at = int(rates.argmax())
        error = np.sqrt((gain[order[: at + 1]] ** 2).sum()) / n / (1.0 + heavy_cost * at / n)
        assert error < 0.2 * rates[at]
        exact, _ = log_rate_of_new(promise[:, None], np.full(n, 1 / n), 1.0, heavy_cost)
        assert np.exp(exact[0]) == pytest.approx(rates[at], rel=0.01, abs=3 * error)
        # With 15 light values in place of all it is coarse.
        assert np.exp(rate.values(x[None])[0]) == pytest.approx(np.exp(exact[0]), rel=0.2)


def test_moments_where_no_level_is_known_are_those_of_samples():
    model, _ = model_of(REAL)
    rng, n = np.random.default_rng(4), 100_000
    x = np.array([0.8, 0.1])
    mean, variance = model.light_moments(x[None])
    light = rng.normal(mean, np.sqrt(variance), n)
    mean, variance = model.heavy_moments(np.tile(x, (n, 1)), light)
    heavy = rng.normal(mean, np.sqrt(variance))
    mean, variance = model.new_moments(x[None])
    assert mean[0] == pytest.approx(heavy.mean(), abs=5 * heavy.std() / np.sqrt(n))
    assert variance[0] == pytest.approx(heavy.var(), rel=0.02)
