"""btao.gp: likelihood, gradient, fit, posterior, extension and degenerate data (METHOD items 2, 13, 14 and 15)."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from btao import Space
from btao.gp import (
    JITTER,
    LOG_PHI_BOUNDS,
    GaussianProcess,
    Kernel,
    Pairs,
    Posterior,
    log_phi_prior,
    merge_duplicates,
    profile_log_likelihood,
)
from btao.parameters import Categorical, Integer, Real

MIXED = Space({"x": Real(0.0, 1.0), "n": Integer(1, 5), "kind": Categorical(["a", "b", "c"])})


def correlation(X, Y, phi):
    """R by its definition, one entry at a time."""
    return np.array(
        [[math.exp(-sum(p * (a - b) ** 2 for p, a, b in zip(phi, x, y, strict=True))) for y in Y] for x in X]
    )


def jittered(X, phi):
    return correlation(X, X, phi) + JITTER * np.eye(len(X))


def sample(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, dim))
    return X, np.sin(5 * X.sum(axis=1)) + X[:, 0] ** 2 + 0.3 * rng.standard_normal(n)


def numerical_gradient(function, x, step=1e-5):
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


# --- likelihood -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "dim"), [(2, 1), (5, 2), (8, 3)])
def test_likelihood_is_that_of_the_multivariate_normal_at_profiled_mean_and_variance(n, dim):
    X, y = sample(n, dim)
    log_phi = np.log(np.linspace(5.0, 40.0, dim))
    value, _, mean, variance = profile_log_likelihood(log_phi, Pairs.of(Kernel(dim), X), y)
    R = jittered(X, np.exp(log_phi))
    ones, inverse = np.ones(n), np.linalg.inv(R)
    assert mean == pytest.approx(ones @ inverse @ y / (ones @ inverse @ ones), rel=1e-8)
    assert variance == pytest.approx((y - mean) @ inverse @ (y - mean) / n, rel=1e-8)
    constant = -0.5 * n * (math.log(2 * math.pi) + 1)
    assert value + constant == pytest.approx(multivariate_normal(np.full(n, mean), variance * R).logpdf(y), abs=1e-8)


def test_profiled_mean_and_variance_maximize_the_likelihood():
    X, y = sample(7, 2)
    phi = np.array([8.0, 20.0])
    _, _, mean, variance = profile_log_likelihood(np.log(phi), Pairs.of(Kernel(2), X), y)

    def density(mean, variance):
        return multivariate_normal(np.full(7, mean), variance * jittered(X, phi)).logpdf(y)

    best = density(mean, variance)
    for factor in (0.99, 1.01):
        assert density(mean * factor, variance) < best
        assert density(mean, variance * factor) < best


@pytest.mark.parametrize(("dim", "phi"), [(1, 100.0), (1, 900.0), (2, 20.0), (2, 100.0), (4, 5.0), (4, 50.0)])
def test_likelihood_gradient_against_finite_differences(dim, phi):
    X, y = sample(8, dim, seed=dim)
    pairs = Pairs.of(Kernel(dim), X)
    log_phi = np.log(phi) + np.linspace(-0.4, 0.4, dim)
    _, gradient, _, _ = profile_log_likelihood(log_phi, pairs, y)
    expected = numerical_gradient(lambda v: profile_log_likelihood(v, pairs, y)[0], log_phi)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_likelihood_gradient_where_the_variance_is_floored():
    X, y = sample(7, 2)
    pairs, floor = Pairs.of(Kernel(2), X), 10 * y.var()
    log_phi = np.log([10.0, 20.0])
    _, gradient, _, variance = profile_log_likelihood(log_phi, pairs, y, floor)
    assert variance == floor
    expected = numerical_gradient(lambda v: profile_log_likelihood(v, pairs, y, floor)[0], log_phi)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_likelihood_gradient_on_integers_and_categories():
    X, y = sample(9, 3)
    X, y = merge_duplicates(Kernel(3, MIXED), X, y)
    pairs = Pairs.of(Kernel(3, MIXED), X)
    log_phi = np.log([10.0, 20.0, 2.0])
    _, gradient, _, _ = profile_log_likelihood(log_phi, pairs, y)
    expected = numerical_gradient(lambda v: profile_log_likelihood(v, pairs, y)[0], log_phi)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_prior_gradient_against_finite_differences():
    log_phi = np.array([-1.0, 0.5, 4.0])
    _, gradient = log_phi_prior(log_phi)
    np.testing.assert_allclose(gradient, numerical_gradient(lambda v: log_phi_prior(v)[0], log_phi), rtol=1e-6)


# --- fit ------------------------------------------------------------------------------------------------------------


def test_fit_finds_the_maximum_that_a_dense_grid_finds():
    X = np.linspace(0, 1, 8)[:, None]
    y = np.sin(9 * X[:, 0]) + X[:, 0]
    pairs = Pairs.of(Kernel(1), X)

    def penalized(log_phi):
        log_phi = np.atleast_1d(log_phi)
        return profile_log_likelihood(log_phi, pairs, y)[0] + log_phi_prior(log_phi)[0]

    grid = max(penalized(value) for value in np.linspace(*LOG_PHI_BOUNDS, 400))
    assert penalized(GaussianProcess().fit(X, y).log_phi_) >= grid - 1e-6


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_fit_ends_where_the_penalized_likelihood_is_stationary(dim):
    X, y = sample(12, dim)
    log_phi = GaussianProcess().fit(X, y).log_phi_
    gradient = profile_log_likelihood(log_phi, Pairs.of(Kernel(dim), X), y)[1] + log_phi_prior(log_phi)[1]
    low, high = log_phi <= LOG_PHI_BOUNDS[0] + 1e-6, log_phi >= LOG_PHI_BOUNDS[1] - 1e-6
    np.testing.assert_allclose(gradient[~low & ~high], 0, atol=5e-3)
    assert (gradient[low] <= 5e-3).all() and (gradient[high] >= -5e-3).all()


def test_fit_reports_the_profiled_hyperparameters():
    X, y = sample(9, 2)
    model = GaussianProcess().fit(X, y)
    _, _, mean, variance = profile_log_likelihood(model.log_phi_, Pairs.of(Kernel(2), X), y)
    np.testing.assert_array_equal(model.phi_, np.exp(model.log_phi_))
    assert (model.mean_, model.variance_) == (mean, variance)


def test_warm_start_is_never_worse_and_fixed_takes_it_as_it_is():
    X, y = sample(10, 2)
    pairs = Pairs.of(Kernel(2), X)

    def penalized(log_phi):
        return profile_log_likelihood(log_phi, pairs, y)[0] + log_phi_prior(log_phi)[0]

    cold = GaussianProcess().fit(X, y)
    start = np.log([30.0, 0.5])
    warm = GaussianProcess().fit(X, y, start=start)
    assert penalized(warm.log_phi_) >= penalized(cold.log_phi_) - 1e-6
    fixed = GaussianProcess().fit(X, y, start=start, fixed=True)
    np.testing.assert_array_equal(fixed.log_phi_, start)


def test_a_fit_at_the_hyperparameters_of_another_is_the_same_model_to_the_bit():
    X, y = sample(10, 2)
    model = GaussianProcess().fit(X, y)
    again = GaussianProcess().fit(X, y, start=model.log_phi_.tolist(), fixed=True)
    grid = np.random.default_rng(1).random((20, 2))
    np.testing.assert_array_equal(model.predict(grid), again.predict(grid))


@pytest.mark.parametrize("factor", [-1.0, 1e-6, 1e6])
def test_predictions_follow_the_units_of_the_values(factor):
    X, y = sample(9, 2)
    grid = np.random.default_rng(1).random((20, 2))
    mean, std = GaussianProcess().fit(X, y).predict(grid)
    scaled_mean, scaled_std = GaussianProcess().fit(X, factor * y).predict(grid)
    np.testing.assert_allclose(scaled_mean, factor * mean, rtol=1e-4, atol=1e-5 * abs(factor))
    np.testing.assert_allclose(scaled_std, abs(factor) * std, rtol=1e-3, atol=1e-5 * abs(factor))


def test_predictions_follow_a_shift_of_the_values():
    X, y = sample(9, 2)
    grid = np.random.default_rng(1).random((20, 2))
    mean, std = GaussianProcess().fit(X, y).predict(grid)
    shifted_mean, shifted_std = GaussianProcess().fit(X, y + 100.0).predict(grid)
    np.testing.assert_allclose(shifted_mean - 100.0, mean, atol=1e-4)
    np.testing.assert_allclose(shifted_std, std, atol=1e-4)


def test_fit_leaves_its_arguments_and_the_global_random_state_alone():
    X, y = sample(6, 2)
    X_before, y_before, state = X.copy(), y.copy(), np.random.get_state()[1].copy()  # noqa: NPY002
    GaussianProcess().fit(X, y).predict(X)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


# --- posterior ------------------------------------------------------------------------------------------------------


def test_posterior_is_the_formula_of_the_paper():
    X, y = sample(8, 2)
    phi = np.array([12.0, 30.0])
    model = GaussianProcess().fit(X, y, start=np.log(phi), fixed=True)
    new = np.random.default_rng(1).random((15, 2))
    inverse, r = np.linalg.inv(jittered(X, phi)), correlation(X, new, phi)
    mean, std = model.predict(new)
    np.testing.assert_allclose(mean, model.mean_ + r.T @ inverse @ (y - model.mean_), rtol=1e-8)
    variance = model.variance_ * (1 - np.einsum("im,ij,jm->m", r, inverse, r))
    np.testing.assert_allclose(std**2, variance, rtol=1e-7, atol=1e-10)


def test_the_data_are_interpolated_and_the_mean_is_resumed_far_from_them():
    X, y = sample(8, 2)
    model = GaussianProcess().fit(X * 0.1, y, start=np.log([1000.0, 1000.0]), fixed=True)
    mean, std = model.predict(X * 0.1)
    np.testing.assert_allclose(mean, y, atol=1e-6)
    assert std.max() < 1e-4 * math.sqrt(model.variance_)
    mean, std = model.predict([[1.0, 1.0]])
    assert mean[0] == pytest.approx(model.mean_, rel=1e-9)
    assert std[0] == pytest.approx(math.sqrt(model.variance_), rel=1e-9)


@pytest.mark.parametrize("space", [None, MIXED])
def test_extension_equals_conditioning_on_all_points_at_once(space):
    X, y = sample(9, 3)
    kernel = Kernel(3, space)
    X, y = merge_duplicates(kernel, X, y)
    model = GaussianProcess(space).fit(X[:5], y[:5], start=np.log([10.0, 20.0, 3.0]), fixed=True)
    extended = model
    for x, value in zip(X[5:], y[5:], strict=True):
        extended = extended.extend(x, value)
    whole = Posterior.condition(kernel, model.phi_, model.mean_, model.variance_, X, y)
    new = np.random.default_rng(1).random((10, 3))
    mean, std = extended.predict(new)
    expected_mean, expected_variance = whole.moments(new)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-8)
    np.testing.assert_allclose(std**2, expected_variance, rtol=1e-7, atol=1e-10)
    assert len(model.posterior_.values) == 5  # the original is another model still


def test_extension_with_the_mean_profiled_again_is_a_fixed_refit():
    # A value on the old mean surface with the same phi: fit(fixed=True) profiles mu and sigma anew.
    X, y = sample(8, 2)
    start = np.log([10.0, 20.0])
    refit = GaussianProcess().fit(X, y, start=start, fixed=True)
    extended = GaussianProcess().fit(X[:7], y[:7], start=start, fixed=True).extend(X[7], y[7]).posterior_
    same = Posterior.condition(extended.kernel, extended.phi, refit.mean_, refit.variance_, X, y)
    np.testing.assert_allclose(extended.factor, np.tril(same.factor), atol=1e-9)
    new = np.random.default_rng(1).random((10, 2))
    np.testing.assert_allclose(same.moments(new), refit.posterior_.moments(new), rtol=1e-9)


def test_belief_takes_uncertainty_away_and_moves_no_mean():
    X, y = sample(7, 2)
    model = GaussianProcess().fit(X, y, start=np.log([15.0, 15.0]), fixed=True)
    pending = np.array([[0.05, 0.9], [0.95, 0.1]])
    fantasized = model.fantasize(pending)
    grid = np.random.default_rng(1).random((30, 2))
    mean, std = model.predict(grid)
    fantasized_mean, fantasized_std = fantasized.predict(grid)
    np.testing.assert_allclose(fantasized_mean, mean, atol=1e-8)
    assert (fantasized_std <= std + 1e-9).all()
    assert fantasized.predict(pending)[1].max() < 1e-4 < model.predict(pending)[1].min()
    assert model.fantasize(pending[:0]) is model


# --- degenerate data ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.0, 3e-10])
def test_duplicates_are_merged_and_averaged(gap):
    X = np.array([[0.2], [0.8], [0.2 + gap], [0.5], [0.8]])
    y = np.array([1.0, 5.0, 2.0, 0.0, 6.0])
    model = GaussianProcess().fit(X, y)
    merged = GaussianProcess().fit([[0.2], [0.8], [0.5]], [1.5, 5.5, 0.0])
    grid = np.linspace(0, 1, 11)[:, None]
    np.testing.assert_array_equal(model.predict(grid), merged.predict(grid))
    np.testing.assert_allclose(model.predict([[0.2], [0.8]])[0], [1.5, 5.5], atol=1e-6)


def test_duplicates_of_three_points_are_averaged_once():
    X, y = merge_duplicates(Kernel(1), np.array([[0.1], [0.1], [0.7], [0.1]]), np.array([1.0, 2.0, 9.0, 6.0]))
    np.testing.assert_array_equal(X, [[0.1], [0.7]])
    np.testing.assert_array_equal(y, [3.0, 9.0])


@pytest.mark.parametrize("constant", [0.0, 5.0, -1e6, 1e-5, 1e-200])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_constant_data_give_that_constant_and_next_to_no_deviation(constant, n):
    X, _ = sample(n, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean, std = GaussianProcess().fit(X, np.full(n, constant)).predict(np.random.default_rng(1).random((9, 2)))
    np.testing.assert_allclose(mean, constant, rtol=1e-9)
    assert (std >= 0).all()
    assert std.max() <= max(1e-6 * (abs(constant) or 1.0), 1e-150)


def test_one_point_is_interpolated():
    mean, std = GaussianProcess().fit([[0.3, 0.4]], [2.5]).predict([[0.3, 0.4], [0.9, 0.9]])
    np.testing.assert_allclose(mean, 2.5)
    assert np.isfinite(std).all()


def test_points_almost_on_top_of_each_other_do_no_harm():
    X = 0.5 + 1e-7 * np.arange(12)[:, None]
    y = np.sin(np.arange(12.0))
    mean, std = GaussianProcess().fit(X, y).predict(np.linspace(0, 1, 9)[:, None])
    assert np.isfinite(mean).all() and np.isfinite(std).all()


@settings(max_examples=60, deadline=None)
@given(data=st.data(), dim=st.integers(1, 3), n=st.integers(1, 7))
def test_predictions_are_finite_whatever_the_data(data, dim, n):
    coordinate = st.sampled_from([0.0, 0.5, 0.5 + 1e-8, 1.0]) | st.floats(0, 1)
    value = st.sampled_from([0.0, 1.0]) | st.floats(-1e9, 1e9)
    X = data.draw(st.lists(st.lists(coordinate, min_size=dim, max_size=dim), min_size=n, max_size=n))
    y = data.draw(st.lists(value, min_size=n, max_size=n))
    model = GaussianProcess().fit(X, y)
    mean, std = model.predict(np.vstack([X, np.random.default_rng(0).random((5, dim))]))
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std >= 0).all()


# --- integers and categories ----------------------------------------------------------------------------------------


def test_points_that_round_alike_are_one_point():
    X = np.array([[0.3, 0.05, 0.1], [0.3, 0.15, 0.3], [0.3, 0.5, 0.9], [0.7, 0.9, 0.5]])  # the first two: n=1, "a"
    model = GaussianProcess(MIXED).fit(X, [1.0, 3.0, 0.0, 4.0])
    assert len(model.posterior_.values) == 3
    mean, std = model.predict([[0.3, 0.0, 0.0], [0.3, 0.19, 0.33]])
    np.testing.assert_allclose(mean, 2.0, atol=1e-6)
    assert mean[0] == mean[1] and std[0] == std[1]


def test_two_categories_are_at_squared_distance_one_and_integers_at_that_of_their_bins():
    phi = np.array([1.0, 7.0, 0.6])
    pairs = Pairs.of(Kernel(3, MIXED), np.array([[0.2, 0.1, 0.1], [0.2, 0.1, 0.9], [0.2, 0.5, 0.1]]))
    # Pairs (1, 0): "a" and "c"; (2, 0): n = 1 and 3, bin centers 0.1 and 0.5; (2, 1): both.
    expected = [math.exp(-0.6), math.exp(-7 * 0.4**2), math.exp(-0.6 - 7 * 0.4**2)]
    np.testing.assert_allclose(pairs.correlation(phi), expected, rtol=1e-12)


@pytest.mark.parametrize("repeats", [0, 5])
@pytest.mark.parametrize("space", [None, MIXED])
def test_the_first_of_points_that_are_the_same_is_found_whether_there_are_any_or_not(space, repeats):
    rng = np.random.default_rng(0)
    X = rng.random((30, 3))
    X = np.vstack([X, X[:repeats] + 5e-10 * np.array([1, 0, 0])])
    kernel = Kernel(3, space)
    expected = [next(i for i in range(len(X)) if kernel.same(X[i : i + 1], x[None])[0, 0]) for x in X]
    assert kernel.first(X).tolist() == expected
    assert expected == [*range(30), *range(repeats)]


@pytest.mark.parametrize("space", [None, MIXED])
def test_on_the_line_no_two_points_are_farther_apart_than_in_the_kernel(space):
    X = np.random.default_rng(0).random((40, 3))
    kernel = Kernel(3, space)
    along = kernel.along_line(X)
    apart = np.sqrt(kernel.squared_differences(kernel.features(X), kernel.features(X)).sum(axis=0))
    between = np.abs(along[:, None] - along)
    assert (between <= apart + 1e-12).all()
    assert (between[apart > 1e-3] > 1e-9).all()


def test_same_point_within_1e_9():
    kernel = Kernel(2)
    known = np.array([[0.5, 0.5]])
    near, far = np.array([[0.5 + 9e-10, 0.5]]), np.array([[0.5 + 9e-10, 0.5 + 9e-10]])
    assert kernel.same(near, known).all() and not kernel.same(far, known).any()
    np.testing.assert_allclose(kernel.distance(np.array([[0.5, 0.1], [0.9, 0.8]]), known), [0.4, 0.5])


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([], [], r"X must be an array of shape \(n, dim\)"),
        (np.empty((0, 2)), [], "empty"),
        ([[0.1], [0.2]], [1.0], "one value per row of X"),
        ([[0.1], [0.2]], [[1.0], [2.0]], "one value per row of X"),
        ([0.1, 0.2], [1.0, 2.0], r"X must be an array of shape \(n, dim\), got shape \(2,\)"),
        ([[0.1], [1.2]], [1.0, 2.0], r"unit cube; row 1 is \[1.2\]"),
        ([[-0.1], [0.2]], [1.0, 2.0], r"unit cube; row 0 is \[-0.1\]"),
        ([[0.1], [math.nan]], [1.0, 2.0], "unit cube; row 1"),
        ([[0.1], [0.2]], [1.0, math.nan], "y must be finite; entry 1 is nan"),
        ([[0.1], [0.2]], [-math.inf, 1.0], "y must be finite; entry 0 is -inf"),
    ],
)
def test_bad_data_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        GaussianProcess().fit(X, y)


def test_values_too_large_to_square_are_refused():
    with pytest.raises(ValueError, match="y must"):
        GaussianProcess().fit([[0.1], [0.2]], [1e200, 1.0])


@pytest.mark.parametrize("start", [None, [0.0], [0.0, 0.0, 0.0], [0.0, math.nan]])
def test_bad_hyperparameters_are_refused(start):
    X, y = sample(5, 2)
    with pytest.raises(ValueError, match="start must"):
        GaussianProcess().fit(X, y, start=start, fixed=True)


def test_data_of_another_dimension_than_the_space_are_refused():
    with pytest.raises(ValueError, match=r"X must be an array of shape \(n, 3\)"):
        GaussianProcess(MIXED).fit([[0.1, 0.2]], [1.0])


def test_predictions_before_data_or_at_bad_points_are_refused():
    with pytest.raises(RuntimeError, match=r"call fit\(X, y\) first"):
        GaussianProcess().predict([[0.1]])
    with pytest.raises(RuntimeError, match=r"call fit\(X, y\) first"):
        GaussianProcess().extend([0.1], 1.0)
    model = GaussianProcess().fit([[0.1, 0.2]], [1.0])
    with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
        model.predict([[0.1]])
    with pytest.raises(ValueError, match="unit cube"):
        model.predict([[0.1, 3.0]])


def test_extension_by_a_bad_or_a_known_point_is_refused():
    model = GaussianProcess().fit([[0.1], [0.6]], [1.0, 2.0])
    with pytest.raises(ValueError, match="x must"):
        model.extend([2.0], 1.0)
    with pytest.raises(ValueError, match="y must be finite"):
        model.extend([0.5], math.nan)
    with pytest.raises(ValueError, match="fit again"):
        model.extend([0.6], 1.0)
