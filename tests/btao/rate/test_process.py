"""The noisy process: likelihood, gradient and predictions against textbook computations (METHOD items 21 and 22)."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal

from btao.gp import Kernel, Pairs
from btao.parameters import Categorical, Real
from btao.rate import process as process_module
from btao.rate.process import MAX_SEARCHED, VARIANCE_FLOOR, MeanPrior, Process, log_posterior
from btao.space import Space

RNG = np.random.default_rng(3)
X = RNG.random((9, 2))
Z = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.standard_normal(9)
H = np.column_stack([np.ones(9), RNG.standard_normal(9)])
PRIOR = MeanPrior(np.array([0.0, 1.0]), np.array([0.0, 0.7]), a0=1.0, s0=0.2)
FLAT = MeanPrior(np.zeros(2), np.zeros(2))
CONSTANT = MeanPrior(np.zeros(1), np.zeros(1))
THETA = np.log([0.4, 0.9, 0.05])


def correlation(A, B, theta=THETA):
    lengths = np.exp(theta[:-1])
    return np.exp(-0.5 * (((A[:, None] - B[None]) / lengths) ** 2).sum(-1))


def R(theta=THETA):
    return correlation(X, X, theta) + np.exp(theta[-1]) * np.eye(len(X))


@pytest.mark.parametrize("prior", [FLAT, PRIOR], ids=["flat", "informative"])
def test_the_coefficients_are_those_of_generalized_least_squares_with_the_prior_as_more_rows(prior):
    """A pseudo-observation of each coefficient, independent of the data, with the variance 1 / precision."""
    rows = np.flatnonzero(prior.precision)
    basis = np.vstack([H, np.eye(2)[rows]])
    z = np.append(Z, prior.center[rows])
    covariance = np.zeros((len(z), len(z)))
    covariance[:9, :9] = R()
    covariance[range(9, len(z)), range(9, len(z))] = 1 / prior.precision[rows]
    inverse = np.linalg.inv(covariance)
    beta = np.linalg.solve(basis.T @ inverse @ basis, basis.T @ inverse @ z)
    residual = z - basis @ beta
    process = Process(Kernel(2), X, H, Z, prior, THETA)
    np.testing.assert_allclose(process.beta, beta, rtol=1e-10)
    expected = (residual @ inverse @ residual + prior.a0 * prior.s0**2) / (9 + prior.a0)
    assert process.variance == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("prior", [FLAT, PRIOR], ids=["flat", "informative"])
def test_predictions_are_those_of_universal_kriging_in_joint_form(prior):
    """beta integrated out under its prior: mean and variance as from one joint normal of z and the response."""
    wide = np.where(prior.precision > 0, prior.precision, 1e-7)
    at, basis = RNG.random((5, 2)), np.column_stack([np.ones(5), RNG.standard_normal(5)])
    process = Process(Kernel(2), X, H, Z, prior, THETA)
    all_points, all_basis = np.vstack([X, at]), np.vstack([H, basis])
    joint = correlation(all_points, all_points) + all_basis @ np.diag(1 / wide) @ all_basis.T
    joint[:9, :9] += np.exp(THETA[-1]) * np.eye(9)
    gain = np.linalg.solve(joint[:9, :9], joint[:9, 9:]).T
    center = all_basis @ prior.center
    mean, variance = process.parts(at).moments(basis)
    np.testing.assert_allclose(mean, center[9:] + gain @ (Z - center[:9]), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(variance / process.variance, np.diag(joint[9:, 9:] - gain @ joint[:9, 9:]), rtol=1e-4)


def test_without_prior_and_a0_the_likelihood_is_the_profiled_normal_one():
    value, _ = log_posterior(THETA, Pairs.of(Kernel(2), X), H, Z, FLAT)
    process = Process(Kernel(2), X, H, Z, FLAT, THETA)
    normal = multivariate_normal(H @ process.beta, process.variance * R())
    standardized = (THETA - np.log([0.5, 0.5, 1e-5])) / [0.8, 0.8, 4.0]
    constant = -4.5 * np.log(2 * np.pi) - 4.5
    assert value == pytest.approx(normal.logpdf(Z) - constant - 0.5 * standardized @ standardized, rel=1e-10)


@pytest.mark.parametrize("prior", [FLAT, PRIOR], ids=["flat", "informative"])
@pytest.mark.parametrize("theta", [THETA, np.log([0.03, 10.0, 1e-6]), np.log([2.0, 0.1, 1.0])], ids=str)
def test_the_gradient_is_that_of_differences(theta, prior):
    pairs = Pairs.of(Kernel(2), X)
    _, gradient = log_posterior(theta, pairs, H, Z, prior)
    differences = approx_fprime(theta, lambda t: log_posterior(t, pairs, H, Z, prior)[0], 1e-6)
    np.testing.assert_allclose(gradient, differences, rtol=2e-4, atol=2e-4)


def test_a_category_has_one_length_and_two_choices_are_as_far_as_opposite_ends():
    space = Space({"x": Real(0, 1), "c": Categorical(["a", "b", "c"])})
    points = space.snap(RNG.random((8, 2)))
    kernel = Kernel(2, space)
    ones, z = np.ones((8, 1)), points[:, 0] + (points[:, 1] > 0.5)
    assert Process.fitted(kernel, points, ones, z, CONSTANT).theta.shape == (3,)
    pairs = Pairs.of(kernel, points)
    _, gradient = log_posterior(THETA, pairs, ones, z, CONSTANT)
    differences = approx_fprime(THETA, lambda t: log_posterior(t, pairs, ones, z, CONSTANT)[0], 1e-6)
    np.testing.assert_allclose(gradient, differences, rtol=2e-4, atol=2e-4)


def test_the_fit_is_no_worse_than_its_starts_and_keeps_to_its_bounds():
    pairs = Pairs.of(Kernel(2), X)
    fitted = Process.fitted(Kernel(2), X, H, Z, PRIOR, start=np.log([30.0, 1e-3, 9.0]))  # out of its bounds
    best = log_posterior(fitted.theta, pairs, H, Z, PRIOR)[0]
    starts = np.log([[0.5, 0.5, 1e-5 * np.exp(-6)], [0.5, 0.5, 1e-5 * np.exp(6)], [20.0, 0.02, 2.0]])
    assert best >= max(log_posterior(start, pairs, H, Z, PRIOR)[0] for start in starts)
    assert (fitted.theta >= np.log([0.02, 0.02, 1e-10]) - 1e-12).all()
    assert (fitted.theta <= np.log([20, 20, 2]) + 1e-12).all()


def test_a_search_is_as_wide_as_it_is_asked_to_be():
    starts = []

    def spied(function, given, bounds, tolerance):
        starts.append([start.tolist() for start in given])
        return given[0]

    start = np.log([0.3, 0.3, 1e-2])
    wide = [[np.log(0.5), np.log(0.5), np.log(1e-5) + side] for side in (-6.0, 6.0)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process_module, "best_minimum", spied)
        for search, given in (("wide", start), ("near", start), ("near", None), ("none", start)):
            fitted = Process.fitted(Kernel(2), X, H, Z, PRIOR, given, search)
    assert starts == [[start.tolist(), *wide], [start.tolist()], wide]
    np.testing.assert_array_equal(fitted.theta, start)


def test_hyperparameters_of_many_data_are_those_of_some_of_them_and_the_process_knows_all():
    rng = np.random.default_rng(0)
    points = rng.random((2 * MAX_SEARCHED, 2))
    ones, z = np.ones((len(points), 1)), np.sin(5 * points).sum(axis=1)
    process = Process.fitted(Kernel(2), points, ones, z, CONSTANT, THETA, "near")
    some = Process.fitted(Kernel(2), points[::2], ones[::2], z[::2], CONSTANT, THETA, "near")
    np.testing.assert_array_equal(process.theta, some.theta)
    mean, _ = process.parts(points).moments(ones)
    np.testing.assert_allclose(mean, z, atol=1e-3)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_equal_values_and_few_points_give_finite_predictions(n):
    process = Process.fitted(Kernel(2), X[:n], np.ones((n, 1)), np.full(n, 0.3), CONSTANT)
    mean, variance = process.parts(RNG.random((4, 2))).moments(np.ones((4, 1)))
    np.testing.assert_allclose(mean, 0.3)
    assert process.variance == VARIANCE_FLOOR
    assert np.isfinite(variance).all() and (variance >= 0).all()


def test_noise_is_not_in_the_variance_at_a_point_that_was_often_measured():
    points = np.repeat([[0.5, 0.5], [0.1, 0.9]], 30, axis=0)
    z = np.repeat([0.0, 1.0], 30) + 0.3 * RNG.standard_normal(60)
    process = Process(Kernel(2), points, np.ones((60, 1)), z, CONSTANT, np.log([0.5, 0.5, 1.0]))
    _, variance = process.parts(points[:1]).moments(np.ones((1, 1)))
    assert variance[0] < process.variance / 20


def test_more_data_at_the_same_hyperparameters_is_as_conditioning_on_all_at_once():
    process = Process(Kernel(2), X[:6], H[:6], Z[:6], PRIOR, THETA).with_data(X[6:], H[6:], Z[6:])
    whole = Process(Kernel(2), X, H, Z, PRIOR, THETA)
    np.testing.assert_array_equal(process.beta, whole.beta)
    assert process.variance == whole.variance


def test_a_correlation_that_is_not_positive_definite_is_refused():
    with pytest.raises(FloatingPointError, match="correlation matrix is not positive definite"):
        Process(Kernel(2), np.zeros((3, 2)), np.ones((3, 1)), np.arange(3.0), CONSTANT, np.array([0.0, 0.0, -np.inf]))


def test_values_that_differ_by_a_millionth_of_their_spread_are_told_apart():
    x = np.concatenate([np.linspace(0, 1, 9), 0.5 + np.array([-3e-3, -1e-3, 1e-3, 2e-3])])[:, None]
    at = np.array([[0.4995], [0.5], [0.5015]])
    # At the least nugget are two maxima, of two lengths. A search without this start finds the other, which is 0.2 nats
    # less probable and 3e-6 wrong.
    start = np.log([0.5, 1e-3])
    process = Process.fitted(Kernel(1), x, np.ones((13, 1)), (x[:, 0] - 0.5003) ** 2, CONSTANT, start)
    mean, _ = process.parts(at).moments(np.ones((3, 1)))
    np.testing.assert_allclose(mean, (at[:, 0] - 0.5003) ** 2, atol=3e-7)


def test_points_almost_the_same_can_be_factorized_at_the_least_nugget():
    points = 1.0 - 1e-9 * np.random.default_rng(0).random((500, 10))  # far from the origin in the shortest lengths
    theta = np.append(np.full(10, np.log(0.02)), np.log(1e-10))
    process = Process(Kernel(10), points, np.ones((500, 1)), points[:, 0], CONSTANT, theta)
    assert np.isfinite(process.parts(points[:3]).moments(np.ones((3, 1)))).all()


def test_points_under_way_take_their_uncertainty_away_and_move_neither_means_nor_the_variance():
    """Against universal kriging of all points, told or under way, at the variance of those told."""
    pending, at = RNG.random((4, 2)), RNG.random((5, 2))
    rows, basis = (np.column_stack([np.ones(n), RNG.standard_normal(n)]) for n in (4, 5))
    process = Process(Kernel(2), X, H, Z, PRIOR, THETA)
    told = process.fantasize(pending, rows)
    assert told.variance == process.variance
    mean, variance = process.parts(at).moments(basis)
    told_mean, told_variance = told.parts(at).moments(basis)
    np.testing.assert_allclose(told_mean, mean, rtol=1e-8)
    points, design = np.vstack([X, pending]), np.vstack([H, rows])
    inverse = np.linalg.inv(correlation(points, points) + np.exp(THETA[-1]) * np.eye(13))
    r = correlation(points, at)
    u = basis.T - design.T @ inverse @ r
    A = design.T @ inverse @ design + np.diag(PRIOR.precision)
    expected = 1.0 - (r * (inverse @ r)).sum(axis=0) + (u * np.linalg.solve(A, u)).sum(axis=0)
    np.testing.assert_allclose(told_variance, process.variance * expected, rtol=1e-8)
    assert (told_variance < variance).all()
