"""Improvements and rates against numerical integration, and against simulation (METHOD items 23, 25 and 26)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.stats import norm

from btao.rate.improvement import FLOOR, improvement_slopes, log_improvement, log_psi, log_rate_of_new
from btao.rate.two_level import NODES, WEIGHTS


@pytest.mark.parametrize("v", [-1e4, -300.0, -200.1, -199.9, -40.0, -5.0, -1.0, -1e-8, 0.0, 1e-8, 1.0, 5.0, 40.0, 1e6])
def test_psi_is_exact_in_both_tails(v):
    mp.dps = 60
    x = mp.mpf(v)
    exact = mp.log(x * mp.erfc(-x / mp.sqrt(2)) / 2 + mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi))
    assert log_psi(np.array(v)) == pytest.approx(float(exact), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("upper", [None, 0.0, 0.4, 1.5, 9.0])
@pytest.mark.parametrize(("best", "mean", "std"), [(0.0, 0.3, 0.5), (0.7, 0.1, 0.2), (-1.0, 1.0, 0.6), (1.0, 3.0, 1.0)])
def test_the_improvement_is_the_integral_of_what_lies_below_the_best(best, mean, std, upper):
    """Of the normal, or of the normal below `upper`, whether that is above or below the best value."""
    top = np.inf if upper is None else upper
    mass = norm.cdf(top, mean, std)
    low, high = mean - 12 * std, min(best, top)
    integral = quad(lambda y: (best - y) * norm.pdf(y, mean, std), low, high, epsabs=0, epsrel=1e-12)[0] / mass
    found = log_improvement(best, np.array(mean), np.array(std**2), None if upper is None else np.array(upper))
    assert np.exp(found) == pytest.approx(integral, rel=1e-7)


def test_an_improvement_of_a_certain_response_is_the_difference_or_the_floor():
    found = log_improvement(1.0, np.array([0.25, 1.0, 2.0]), np.zeros(3))
    assert np.exp(found[0]) == pytest.approx(0.75)
    assert found[2] == FLOOR
    assert np.isfinite(log_improvement(1.0, np.array([0.25, 1.0, 2.0]), np.zeros(3), np.array([0.1, 0.9, 2.0]))).all()


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(0, 10), st.floats(-50, 50))
def test_an_improvement_is_never_nan_and_knowing_the_order_only_helps(best, mean, std, upper):
    plain = log_improvement(best, np.array(mean), np.array(std**2))
    ordered = log_improvement(best, np.array(mean), np.array(std**2), np.array(upper))
    assert np.isfinite(plain) and np.isfinite(ordered)
    assert ordered >= plain - 1e-6 * abs(plain) - 1e-6 or plain == FLOOR


def brute_force(gains, weights, light, heavy):
    """The best of all policies "go on to heavy at exactly these nodes": gain over expected cost."""
    best = 0.0
    for chosen in range(1, 2 ** len(gains)):
        go = np.array([chosen >> j & 1 for j in range(len(gains))], dtype=bool)
        best = max(best, (weights[go] @ gains[go]) / (light + heavy * weights[go].sum()))
    return best


def test_the_rate_of_a_new_point_is_that_of_the_best_policy_of_going_on():
    rng = np.random.default_rng(0)
    for light, heavy in ((1.0, 1.5), (1.0, 9.0), (5.0, 0.5)):
        gains, weights = np.exp(rng.normal(0, 2, (9, 4))), rng.dirichlet(np.ones(9))
        found, shares = log_rate_of_new(np.log(gains), weights, light, heavy)
        expected = [brute_force(column, weights, light, heavy) for column in gains.T]
        np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)
        np.testing.assert_allclose(shares.sum(axis=0), 1.0)


def test_the_shares_of_the_nodes_are_the_derivatives_of_the_rate():
    gains, weights = np.random.default_rng(1).normal(0, 2, 9), np.full(9, 1 / 9)
    _, shares = log_rate_of_new(gains[:, None], weights, 1.0, 5.0)
    differences = approx_fprime(gains, lambda g: log_rate_of_new(g[:, None], weights, 1.0, 5.0)[0][0], 1e-7)
    np.testing.assert_allclose(shares[:, 0], differences, atol=1e-6)
    assert (shares == 0).any() and (shares > 0).any()


@pytest.mark.parametrize("upper", [None, 2.0, 0.1, -1.0], ids=str)
@pytest.mark.parametrize(("best", "mean", "variance"), [(0.3, 0.5, 0.09), (0.3, -2.0, 0.5), (0.3, 9.0, 0.04)])
def test_the_slopes_of_an_improvement_are_those_of_differences(upper, best, mean, variance):
    """Above the bound, near it and in the far tail; `upper` below the best makes the improvement certain."""
    at = np.array([mean, variance, 0.0 if upper is None else upper])

    def value(x):
        return log_improvement(best, x[:1], x[1:2], None if upper is None else x[2:])

    bound = None if upper is None else at[2:]
    slopes = np.concatenate(improvement_slopes(value(at), best, at[:1], at[1:2], bound))
    steps = 1e-6 * np.eye(3)
    differences = [(value(at + step) - value(at - step))[0] / 2e-6 for step in steps]
    np.testing.assert_allclose(slopes, differences, rtol=1e-4, atol=1e-6)


def test_the_slopes_of_an_improvement_are_0_at_its_floors():
    mean, variance = np.array([2.0, 1e4]), np.array([0.0, 1.0])
    value = log_improvement(1.0, mean, variance)
    np.testing.assert_array_equal(value, FLOOR)
    np.testing.assert_array_equal(improvement_slopes(value, 1.0, mean, variance), 0.0)


def test_the_nodes_integrate_a_normal():
    assert WEIGHTS.sum() == pytest.approx(1.0)
    for power, moment in ((1, 0.0), (2, 1.0), (4, 3.0), (6, 15.0)):
        assert WEIGHTS @ NODES**power == pytest.approx(moment, abs=1e-9)


def test_a_rate_does_not_lose_what_is_tiny():
    found, _ = log_rate_of_new(np.full((15, 1), -700.0), WEIGHTS, 1.0, 2.0)
    assert found[0] == pytest.approx(-700.0 - np.log(3.0), rel=1e-9)
