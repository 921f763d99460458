"""Truncated-normal moments and box probabilities against closed forms, mpmath and quadrature."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import multivariate_normal

from btao.truncated import log_box_probability, log_box_probability_and_gradient, truncated_moments

INF = math.inf


# --- truncated_moments ---------------------------------------------------------------------------------------------


def exact(a: float, b: float) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """ln mass, mean and variance of the standard normal on [a, b] by the textbook formulas, in 60 digits."""
    if a + b < 0:
        log_mass, mean, variance = exact(-b, -a)
        return log_mass, -mean, variance
    with mpmath.workdps(60):
        a, b = mpmath.mpf(a), mpmath.mpf(b)
        mass = (mpmath.erfc(a / mpmath.sqrt(2)) - mpmath.erfc(b / mpmath.sqrt(2))) / 2
        density_a = mpmath.npdf(a)
        density_b, weighted_b = (mpmath.mpf(0),) * 2 if mpmath.isinf(b) else (mpmath.npdf(b), b * mpmath.npdf(b))
        mean = (density_a - density_b) / mass
        return mpmath.log(mass), mean, 1 + (a * density_a - weighted_b) / mass - mean**2


def intervals(n: int, seed: int) -> list[tuple[float, float]]:
    """Random standardized intervals: general, narrow, one-sided, straddling 0 almost symmetrically."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(n):
        a = rng.uniform(-40, 40)
        b = (
            rng.uniform(-40, 40),
            min(a + 10 ** rng.uniform(-9, 1), 40.0),
            INF,
            -INF,
            -a * (1 + rng.choice([1e-8, -1e-5, 1e-3, 0.5])),
        )[k % 5]
        found.append((min(a, b), max(a, b)))
    return found


@pytest.mark.parametrize(
    ("a", "b", "mean", "variance"),
    [
        (9, 10, 9.1085, 0.01145),
        (8.2, 8.3, 8.2432, 8.05e-4),
        (-0.5, INF, None, 0.48618),
        (5, 5 + 1e-6, None, 8.3e-14),
    ],
)
def test_moments_of_the_hard_intervals(a, b, mean, variance):
    found_mean, found_variance = truncated_moments(0.0, 1.0, a, b)
    _, exact_mean, exact_variance = exact(a, b)
    if mean is not None:
        assert found_mean == pytest.approx(mean, abs=1e-4)
    assert found_variance == pytest.approx(variance, rel=5e-3)
    assert found_mean == pytest.approx(float(exact_mean), rel=1e-6)
    assert found_variance == pytest.approx(float(exact_variance), rel=1e-6)


def test_moments_match_mpmath():
    a, b = np.array(intervals(400, seed=0)).T
    mean, variance = truncated_moments(0.0, 1.0, a, b)
    truth = np.array([[float(x) for x in exact(*ab)[1:]] for ab in zip(a, b, strict=True)])
    normal = np.abs(truth[:, 0]) > 1e-300  # below, doubles themselves lose digits
    assert normal.sum() > 380
    np.testing.assert_allclose(mean[normal], truth[normal, 0], rtol=1e-9)
    np.testing.assert_allclose(variance, truth[:, 1], rtol=1e-9)


def test_moments_scale_and_shift():
    a, b = np.array(intervals(100, seed=1)).T
    mean, variance = truncated_moments(0.0, 1.0, a, b)
    shifted_mean, shifted_variance = truncated_moments(2.0, 0.25, 2 + 0.25 * a, 2 + 0.25 * b)
    # The shift rounds the bounds: narrow intervals keep as many digits as their width does.
    wide = b - a > 1e-3
    np.testing.assert_allclose(shifted_mean, 2 + 0.25 * mean, rtol=1e-12)
    np.testing.assert_allclose(shifted_variance[wide], variance[wide] / 16, rtol=1e-9)


@settings(max_examples=200, deadline=None)
@given(
    mean=st.floats(-1e6, 1e6),
    std=st.one_of(st.just(0.0), st.floats(1e-300, 1e6)),
    lower=st.floats(-1e6, 1e6),
    width=st.one_of(st.floats(0, 1e6), st.floats(0, 1e-12)),
    open_below=st.booleans(),
    open_above=st.booleans(),
)
def test_moments_respect_the_interval(mean, std, lower, width, open_below, open_above):
    lower, upper = (-INF if open_below else lower), (INF if open_above else lower + width)
    found_mean, found_variance = truncated_moments(mean, std, lower, upper)
    assert lower <= found_mean <= upper
    assert 0 <= found_variance <= min(std**2, (upper - lower) ** 2 / 4)


def test_moments_at_the_limits():
    mean, variance = truncated_moments(0.3, 0.7, -INF, INF)
    assert (mean, variance) == (0.3, 0.7**2)
    mean, variance = truncated_moments([-2.0, 0.5, 2.0], 0.0, 0.0, 1.0)
    np.testing.assert_array_equal(mean, [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(variance, 0.0)
    mean, variance = truncated_moments([-1.0, 0.0, 7.0], 1.0, 0.25, 0.25)
    np.testing.assert_array_equal(mean, 0.25)
    np.testing.assert_array_equal(variance, 0.0)


def test_moments_broadcast():
    mean, variance = truncated_moments(np.zeros((3, 1)), np.ones(4), -1.0, [0.0, 1.0, 2.0, INF])
    assert mean.shape == variance.shape == (3, 4)
    np.testing.assert_allclose(mean[0], mean[2], rtol=1e-15)  # wide vectors may round their remainder otherwise


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((math.nan, 1, 0, 1), "mean"),
        ((0, math.nan, 0, 1), "std"),
        ((0, -1, 0, 1), "std"),
        ((0, INF, 0, 1), "std"),
        ((0, 1, math.nan, 1), "lower"),
        ((0, 1, 0, math.nan), "upper"),
        ((0, 1, INF, INF), "lower"),
        ((0, 1, -INF, -INF), "upper"),
        ((0, 1, [0, 2], 1), "lower must not exceed upper"),
    ],
)
def test_moments_refuse(arguments, named):
    with pytest.raises(ValueError, match=named):
        truncated_moments(*arguments)


# --- box probabilities with a known value --------------------------------------------------------------------------


def log_interval(a, b):
    """ln(Phi(b) - Phi(a)), elementwise."""
    flip = np.asarray(a) + np.asarray(b) < 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    return log_ndtr(-a) + np.log1p(-np.exp(np.minimum(log_ndtr(-b) - log_ndtr(-a), -1e-300)))


def gauss_legendre(n, low, high):
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return low + (nodes + 1) * (high - low) / 2, weights * (high - low) / 2


def equicorrelated(n, rho):
    return np.full((n, n), rho) + (1 - rho) * np.eye(n)


def equicorrelated_truth(n, rho, lower, upper, reach=60.0):
    """Given the common factor the variables are independent: one integral."""
    x = np.linspace(-reach, reach, 20_001)  # equal steps converge exponentially: the integrand dies at both ends
    slope, spread = math.sqrt(rho), math.sqrt(1 - rho)
    inside = log_interval((lower - slope * x) / spread, (upper - slope * x) / spread)
    return logsumexp(n * inside - x**2 / 2) + math.log((x[1] - x[0]) / math.sqrt(2 * math.pi))


def chain(n, rho):
    i = np.arange(n)
    return rho ** np.abs(i[:, None] - i)


def chain_truth(n, rho, lower, upper):
    """The forward recursion of a Markov chain over its states inside the interval, by quadrature."""
    x, weights = gauss_legendre(300, max(lower, -9.0), min(upper, 9.0))
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    variance = 1 - rho**2
    step = np.exp(-((x[:, None] - rho * x) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance) * weights
    log_scale = 0.0
    for _ in range(n - 1):
        density = step @ density
        log_scale += math.log(density.max())
        density /= density.max()
    return log_scale + math.log(density @ weights)


def squared_exponential(x, inverse_scale):
    x = np.reshape(x, (len(x), -1))
    return np.exp(-inverse_scale * ((x[:, None] - x) ** 2).sum(axis=-1))


def shuffled(cov, seed=0):
    order = np.random.default_rng(seed).permutation(len(cov))
    return cov[np.ix_(order, order)]


def test_independent_product():
    rng = np.random.default_rng(0)
    n = 50
    mean, std = rng.normal(size=n), rng.uniform(0.1, 3, n)
    lower = mean + std * rng.normal(size=n)
    upper = lower + std * rng.exponential(size=n)
    lower[:5], upper[5:10] = -INF, INF
    truth = log_interval((lower - mean) / std, (upper - mean) / std).sum()
    assert log_box_probability(mean, np.diag(std**2), lower, upper) == pytest.approx(truth, rel=1e-10)


@pytest.mark.parametrize("n", [2, 10, 50])
def test_orthant_with_correlation_a_half(n):
    assert log_box_probability(0.0, equicorrelated(n, 0.5), 0.0, INF) == pytest.approx(-math.log(n + 1), abs=0.02)


@pytest.mark.parametrize(
    ("rho", "lower", "upper"),
    [
        (0.3, -1, 1),
        (0.9, -1, 1),
        (0.9, -0.2, 0.2),
        (0.99, -1, 1),
        (0.2, 2, 3),
        (0.5, 2, INF),
        (0.5, 5, 8),
        (0.9, 2, INF),
        (0.9, 4, 6),
        (0.99, 2, 3),
        (0.5, 40, INF),
    ],
)
def test_equicorrelated(rho, lower, upper):
    truth = equicorrelated_truth(50, rho, lower, upper)
    assert log_box_probability(0.0, equicorrelated(50, rho), lower, upper) == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize(
    ("rho", "lower", "upper"), [(0.5, -1, 1), (0.9, -1, 1), (0.9, 0, INF), (0.9, 2, 3), (0.97, 0, INF)]
)
@pytest.mark.parametrize("order", ["in order", "shuffled"])
def test_markov_chain(rho, lower, upper, order):
    cov = chain(50, rho)
    cov = shuffled(cov) if order == "shuffled" else cov
    assert log_box_probability(0.0, cov, lower, upper) == pytest.approx(chain_truth(50, rho, lower, upper), abs=0.05)


@pytest.mark.parametrize(
    ("mean", "std", "lower", "upper"), [(-0.5, 1, -1, 0), (0.5, 1, -1, 0), (0.3, 0.3, -1, 0), (0, 1, 1, INF)]
)
def test_squared_exponential_as_three_factors(mean, std, lower, upper):
    """A slowly varying process plus noise is three factors plus noise: a three-dimensional integral."""
    x, noise = np.random.default_rng(1).random(50), 0.02
    correlation = squared_exponential(x, 0.3)
    values, vectors = np.linalg.eigh(correlation)
    assert values[:-3].sum() < 0.001 * noise * len(x)  # what three factors leave out
    grids = [np.linspace(-5, 5, n) for n in (15, 41, 101)]  # the weaker the factor, the coarser
    factors = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, 3)
    path, spread = factors @ (vectors[:, -3:] * np.sqrt(values[-3:])).T, math.sqrt(noise)
    inside = log_interval(((lower - mean) / std - path) / spread, ((upper - mean) / std - path) / spread).sum(axis=1)
    cell = math.prod((grid[1] - grid[0]) / math.sqrt(2 * math.pi) for grid in grids)
    truth = logsumexp(inside - (factors**2).sum(axis=1) / 2) + math.log(cell)
    cov = std**2 * (correlation + noise * np.eye(50))
    assert log_box_probability(mean, cov, lower, upper) == pytest.approx(truth, abs=0.02)


def test_squared_exponential_against_scipy():
    x = np.random.default_rng(2).random((5, 2))
    cov = squared_exponential(x, 4.0) + 1e-3 * np.eye(5)
    truth = multivariate_normal(np.full(5, 0.2), cov).cdf(
        np.full(5, 0.9), lower_limit=np.full(5, -1.0), rng=np.random.default_rng(0)
    )
    assert log_box_probability(0.2, cov, -1.0, 0.9) == pytest.approx(math.log(truth), abs=2e-3)


def test_one_dimension_is_exact():
    """No sampling is left at n = 1: center, tails and narrow intervals, ln P from -1e-10 to -800."""
    for a, b in intervals(150, seed=3):
        found, mean_gradient, cov_gradient = log_box_probability_and_gradient(0.0, [[1.0]], a, b, n_points=2)
        log_mass, mean, variance = (float(x) for x in exact(a, b))
        assert found == pytest.approx(log_mass, rel=1e-9)
        assert mean_gradient[0] == pytest.approx(mean, rel=1e-6, abs=1e-300)
        assert cov_gradient[0, 0] == pytest.approx((variance + mean**2 - 1) / 2, rel=1e-6, abs=1e-8)


def test_far_tail_is_finite():
    assert log_box_probability(0.0, [[1.0]], 1414.2, INF) == pytest.approx(log_ndtr(-1414.2), rel=1e-12)
    value = log_box_probability(0.0, equicorrelated(20, 0.5), 1e3, 2e3)
    # The nearest point of the box, by its distance in the metric of the covariance, carries the exponent.
    assert value == pytest.approx(-0.5 * 1e6 * 20 / (1 + 19 * 0.5), rel=1e-3)


# --- box probabilities at the limits -------------------------------------------------------------------------------


def test_unbounded_box_is_certain():
    value, mean_gradient, cov_gradient = log_box_probability_and_gradient(0.0, equicorrelated(4, 0.3), -INF, INF)
    assert value == 0.0
    assert log_box_probability(0.0, equicorrelated(4, 0.3), -INF, INF) == 0.0
    np.testing.assert_array_equal(mean_gradient, np.zeros(4))
    np.testing.assert_array_equal(cov_gradient, np.zeros((4, 4)))


def test_unbounded_dimensions_are_integrated_out():
    cov = squared_exponential(np.random.default_rng(4).random(5), 3.0) + 0.1 * np.eye(5)
    kept = [0, 2, 4]
    lower, upper = np.array([-1, -INF, -0.5, -INF, 0]), np.array([1, INF, INF, INF, 2])
    value, mean_gradient, cov_gradient = log_box_probability_and_gradient(0.1, cov, lower, upper)
    part = log_box_probability_and_gradient(0.1, cov[np.ix_(kept, kept)], lower[kept], upper[kept])
    assert value == part[0]
    np.testing.assert_array_equal(mean_gradient[kept], part[1])
    np.testing.assert_array_equal(cov_gradient[np.ix_(kept, kept)], part[2])
    assert not mean_gradient[[1, 3]].any()
    assert not cov_gradient[[1, 3]].any()


def test_box_of_measure_zero():
    value, mean_gradient, cov_gradient = log_box_probability_and_gradient(0.0, np.eye(2), [0.0, 1.0], [1.0, 1.0])
    assert value == log_box_probability(0.0, np.eye(2), [0.0, 1.0], [1.0, 1.0]) == -INF
    assert not mean_gradient.any()
    assert not cov_gradient.any()


def test_singular_covariance():
    repeated = np.ones((3, 3))
    assert log_box_probability(0.0, repeated, -1.0, 1.0) == pytest.approx(math.log(2 * ndtr(1) - 1), abs=1e-3)
    # Rank one, opposite signs: -1 <= z <= 1 and -2 <= -2 z <= 1.
    opposite = np.outer([1.0, -2.0], [1.0, -2.0])
    truth = math.log(ndtr(1) - ndtr(-0.5))
    assert log_box_probability(0.0, opposite, [-1, -2], [1, 1]) == pytest.approx(truth, abs=1e-2)
    assert log_box_probability(0.0, np.zeros((2, 2)), -1.0, 1.0) == 0.0
    assert -INF < log_box_probability(0.0, np.zeros((2, 2)), 1.0, 2.0) < -1e6


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), rank=st.integers(0, 8), log_scale=st.floats(-8, 8))
def test_never_nan(seed, n, rank, log_scale):
    rng = np.random.default_rng(seed)
    scale = 10**log_scale
    root = scale * rng.normal(size=(n, rank)) * 10 ** rng.uniform(-3, 3, (n, 1))
    lower = scale * rng.normal(size=n) * 10 ** rng.uniform(-2, 4)
    upper = lower + scale * 10 ** rng.uniform(-10, 4, n)
    lower[rng.random(n) < 0.2], upper[rng.random(n) < 0.2] = -INF, INF
    value, mean_gradient, cov_gradient = log_box_probability_and_gradient(
        scale * rng.normal(size=n), root @ root.T, lower, upper, n_points=16
    )
    assert math.isfinite(value)
    assert np.isfinite(mean_gradient).all()
    assert np.isfinite(cov_gradient).all()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"mean": [0.0, 0.0, 0.0]}, "mean"),
        ({"mean": [0.0, math.nan]}, "mean"),
        ({"cov": np.ones(2)}, "cov"),
        ({"cov": np.ones((2, 3))}, "cov"),
        ({"cov": [[1.0, math.nan], [math.nan, 1.0]]}, "cov"),
        ({"cov": [[1.0, 0.5], [0.4, 1.0]]}, "symmetric"),
        ({"cov": [[-1.0, 0.0], [0.0, 1.0]]}, "diagonal of cov"),
        ({"cov": [[1.0, 9.0], [9.0, 1.0]]}, "positive semi-definite"),
        ({"lower": [0.0, math.nan]}, "lower"),
        ({"lower": [0.0, 2.0]}, "lower must not exceed upper"),
        ({"upper": -INF}, "upper"),
        ({"n_points": 1000}, "n_points"),
        ({"n_points": 0}, "n_points"),
    ],
)
@pytest.mark.parametrize("function", [log_box_probability, log_box_probability_and_gradient])
def test_bad_arguments_are_named(function, change, named):
    arguments = {"mean": 0.0, "cov": np.eye(2), "lower": -1.0, "upper": 1.0} | change
    with pytest.raises(ValueError, match=named):
        function(**arguments)


# --- the gradient --------------------------------------------------------------------------------------------------


def central_differences(mean, cov, lower, upper, step, **options):
    n = len(mean)

    def slope(mean_step, cov_step):
        above, below = (
            log_box_probability(mean + s * mean_step, cov + s * cov_step, lower, upper, **options)
            for s in (step, -step)
        )
        return (above - below) / (2 * step)

    mean_gradient = np.array([slope(e, np.zeros((n, n))) for e in np.eye(n)])
    cov_gradient = np.array(
        [[slope(np.zeros(n), (np.outer(e, f) + np.outer(f, e)) / 2) for e in np.eye(n)] for f in np.eye(n)]
    )
    return mean_gradient, cov_gradient


def random_case(seed, n=5):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    lower = rng.normal(size=n) * rng.choice([0.5, 3, 50])  # 50: beyond where Phi underflows
    upper = lower + rng.exponential(size=n)
    lower[rng.random(n) < 0.2], upper[rng.random(n) < 0.2] = -INF, INF
    return rng.normal(size=n), root @ root.T / n + 0.3 * np.eye(n), lower, upper


def squared_exponential_case(seed, n=6):
    rng = np.random.default_rng(seed)
    cov = squared_exponential(rng.random((n, 2)), rng.choice([5.0, 30.0])) + 1e-2 * np.eye(n)
    return rng.normal(size=n) * 0.2 + rng.choice([-0.5, 0.3]), cov, np.full(n, -1.0), np.full(n, 0.0)


@pytest.mark.parametrize("case", [random_case, squared_exponential_case])
@pytest.mark.parametrize("seed", range(6))
def test_gradient_matches_central_differences(case, seed):
    mean, cov, lower, upper = case(seed)
    value, mean_gradient, cov_gradient = log_box_probability_and_gradient(mean, cov, lower, upper, n_points=32)
    assert value == log_box_probability(mean, cov, lower, upper, n_points=32)
    np.testing.assert_array_equal(cov_gradient, cov_gradient.T)
    differences = central_differences(mean, cov, lower, upper, 1e-5, n_points=32)
    for found, expected in zip((mean_gradient, cov_gradient), differences, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_gradient_at_fifty_points():
    rng = np.random.default_rng(5)
    x, direction = rng.random((50, 2)), rng.normal(size=50)
    cov = squared_exponential(x, 10.0) + 1e-3 * np.eye(50)
    change = -((x[:, None] - x) ** 2).sum(axis=-1) * squared_exponential(x, 10.0)  # d cov / d inverse scale
    _, mean_gradient, cov_gradient = log_box_probability_and_gradient(0.2, cov, -1.0, 0.5, n_points=64)
    above, below = (
        log_box_probability(0.2 + s * direction, cov + s * change, -1.0, 0.5, n_points=64) for s in (1e-6, -1e-6)
    )
    assert mean_gradient @ direction + (cov_gradient * change).sum() == pytest.approx((above - below) / 2e-6, rel=1e-5)


def test_estimate_is_smooth():
    """Along a line through parameter space fourth differences are rounding: no jump, no noise."""
    x = np.random.default_rng(6).random((12, 2))
    steps = 1e-3 * np.arange(40)
    values = [
        log_box_probability(0.1 + t, squared_exponential(x, 8.0 + t) + 1e-4 * np.eye(12), -1.0, 0.0, n_points=128)
        for t in steps
    ]
    assert np.abs(np.diff(values)).min() > 1e-4
    assert np.abs(np.diff(values, n=4)).max() < 1e-9


def test_seed_decides_the_points():
    arguments = (0.0, chain(6, 0.7), -0.5, 1.0)
    assert log_box_probability(*arguments, seed=3) == log_box_probability(*arguments, seed=3)
    assert log_box_probability(*arguments, seed=3) != log_box_probability(*arguments, seed=4)
