"""btao.tam: likelihood, rho, prediction, bounds that break, degenerate data (METHOD items 1-9)."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

from btao import Space, tam
from btao.gp import JITTER, GaussianProcess, Kernel, Pairs, best_minimum
from btao.parameters import Categorical, Integer, Real
from btao.tam import (
    BOX_POINTS,
    FEW,
    HeavyHyperparameters,
    TruncatedAdditiveModel,
    TruncationWarning,
    _HeavyPart,
    common_scale,
    feasible_rho,
)
from btao.truncated import log_box_probability

INF = math.inf
FREE = (-INF, INF)


def correlation(X, Y, phi):
    """R by its definition, one entry at a time."""
    return np.array(
        [[math.exp(-sum(p * (a - b) ** 2 for p, a, b in zip(phi, x, y, strict=True))) for y in Y] for x in X]
    )


def jittered(X, phi):
    return correlation(X, X, phi) + JITTER * np.eye(len(X))


def nested_data(n_heavy=5, n_light=10, dim=2, seed=0):
    """Light points, their values, heavy points (the first of the light ones) and their values."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_light, dim))
    y_light = 0.5 + 0.3 * np.sin(5 * X.sum(axis=1))
    delta = -0.1 - 0.08 * np.cos(7 * X[:, 0])
    y_heavy = 0.8 * y_light[:n_heavy] + delta[:n_heavy]
    return X, y_light, X[:n_heavy], y_heavy


def heavy_part(X, y_light, y_heavy, bounds=FREE, rho_interval=FREE):
    return _HeavyPart(Pairs.of(Kernel(X.shape[1]), X), y_light, y_heavy, *bounds, rho_interval)


def numerical_gradient(function, x, step=1e-5):
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


# --- likelihood of the heavy part -----------------------------------------------------------------------------------

THETA = np.array([-0.15, math.log(0.2), math.log(15.0), math.log(30.0)])
BOUNDS = [FREE, (-0.6, 0.1), (-INF, 0.1), (-0.6, INF)]


@pytest.mark.parametrize("bounds", BOUNDS)
def test_likelihood_is_that_of_the_normal_less_the_box_probability(bounds):
    _, y_light, X, y_heavy = nested_data()
    part = heavy_part(X, y_light[:5], y_heavy, bounds)
    mean, covariance = THETA[0], math.exp(2 * THETA[1]) * jittered(X, np.exp(THETA[2:]))
    delta = y_heavy - part.rho(THETA) * y_light[:5]
    expected = multivariate_normal(np.full(5, mean), covariance).logpdf(delta)
    expected -= log_box_probability(mean, covariance, *bounds, n_points=BOX_POINTS)
    assert part.log_likelihood(THETA)[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("bounds", BOUNDS)
def test_likelihood_of_one_point_is_that_of_the_truncated_normal(bounds):
    part = heavy_part(np.array([[0.3, 0.6]]), np.array([0.5]), np.array([0.3]), bounds, rho_interval=(0.7, 0.7))
    normal = norm(THETA[0], math.exp(THETA[1]))
    expected = normal.logpdf(0.3 - 0.7 * 0.5) - math.log(normal.cdf(bounds[1]) - normal.cdf(bounds[0]))
    assert part.log_likelihood(THETA)[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("rho_interval", [FREE, (0.0, 0.1)])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_likelihood_gradient_against_finite_differences(bounds, rho_interval, n):
    _, y_light, X, y_heavy = nested_data(n_heavy=n)
    part = heavy_part(X, y_light[:n], y_heavy, bounds, rho_interval)
    for function in (part.log_likelihood, part.log_posterior):
        expected = numerical_gradient(lambda theta: function(theta)[0], THETA)  # noqa: B023
        np.testing.assert_allclose(function(THETA)[1], expected, rtol=1e-5, atol=1e-5)


# --- rho ------------------------------------------------------------------------------------------------------------

LIGHT_SIGNS = [[0.5, 0.2, 0.9, 0.4], [-0.5, -0.2, -0.9, -0.4], [0.5, -0.2, 0.9, -0.4], [0.5, 0.0, -0.3, 0.0]]


@pytest.mark.parametrize("y_light", LIGHT_SIGNS)
@pytest.mark.parametrize("interval", [FREE, (0.6, 2.0), (-3.0, 0.2)])
def test_rho_maximizes_the_likelihood_within_its_interval(y_light, interval):
    X = np.random.default_rng(0).random((4, 2))
    y_light, y_heavy = np.array(y_light), np.array([0.1, -0.3, 0.4, 0.2])
    density = multivariate_normal(np.full(4, THETA[0]), math.exp(2 * THETA[1]) * jittered(X, np.exp(THETA[2:])))
    best = minimize_scalar(lambda rho: -density.logpdf(y_heavy - rho * y_light), bracket=(-1, 1), tol=1e-12).x
    rho = heavy_part(X, y_light, y_heavy, rho_interval=interval).rho(THETA)
    assert rho == pytest.approx(min(max(best, interval[0]), interval[1]), abs=1e-6)


def test_rho_without_any_light_signal_lies_in_its_interval():
    X = np.random.default_rng(0).random((3, 2))
    for interval in (FREE, (0.0, 0.5), (2.0, 3.0)):
        rho = heavy_part(X, np.zeros(3), np.array([0.1, 0.2, 0.3]), rho_interval=interval).rho(THETA)
        assert math.isfinite(rho) and interval[0] <= rho <= interval[1]


@settings(max_examples=100, deadline=None)
@given(data=st.data(), n=st.integers(1, 4))
def test_feasible_rho_are_exactly_those_without_a_broken_bound(data, n):
    value = st.sampled_from([0.0, 0.5, -0.5]) | st.floats(-2, 2).map(lambda v: round(v, 2))
    y_light, y_heavy = (np.array(data.draw(st.lists(value, min_size=n, max_size=n))) for _ in range(2))
    lower, upper = data.draw(st.sampled_from([(-1.0, 0.0), (-0.3, 0.7), (-INF, 0.0), (-0.2, INF), FREE]))
    rho_bounds = data.draw(st.sampled_from([(0.0, 1.0), (-2.0, 2.0), FREE]))
    (low, high), new_lower, new_upper = feasible_rho(y_light, y_heavy, lower, upper, rho_bounds)
    grid = np.unique(np.clip(np.linspace(-4, 4, 801), *rho_bounds))
    delta = y_heavy - grid[:, None] * y_light
    feasible = ((delta >= lower - 1e-12) & (delta <= upper + 1e-12)).all(axis=1)
    assert rho_bounds[0] <= low <= high <= rho_bounds[1]
    if (new_lower, new_upper) == (lower, upper):
        np.testing.assert_array_equal(feasible, (grid >= low - 1e-9) & (grid <= high + 1e-9))
    else:
        # No rho of the grid breaks the bounds by less in total.
        broken = np.maximum(lower - delta.min(axis=1), 0) + np.maximum(delta.max(axis=1) - upper, 0)
        widening = sum(abs(new - old) for new, old in ((new_lower, lower), (new_upper, upper)) if new != old)
        assert 0 < widening <= broken.min() + 1e-12
        assert widening < 1e-9 or not feasible.any()
        residual = y_heavy - low * y_light
        assert low == high and new_lower <= residual.min() and residual.max() <= new_upper


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1.0, 1e12])
def test_widening_is_as_exact_in_any_unit(unit):
    y_light, y_heavy = np.array([0.5, 0.3, 0.2]) * unit, np.array([0.6, 0.25, 0.1]) * unit
    rho, lower, upper = feasible_rho(y_light, y_heavy, -1.0 * unit, 0.0, (0.0, 1.0))
    assert rho == (1.0, 1.0)
    assert lower == -unit
    assert upper == pytest.approx(0.1 * unit, rel=1e-12)


# --- prediction without bounds: Kennedy and O'Hagan -----------------------------------------------------------------


def kennedy_ohagan(model, light_phi, X_light, y_light, X_heavy, y_heavy, new, light_index=None):
    """Condition the joint normal of (y_l at X_light, y_h at X_heavy) and predict y_h, nothing separated.

    `light_index` names the rows of X_light that the new points are; None: they are none of them.
    """
    theta, rho = model.hyperparameters_, model.rho_
    light, mean_delta = model.light_, theta.mean * model.scale_
    delta_phi, delta_variance = np.exp(theta.log_phi), (math.exp(theta.log_std) * model.scale_) ** 2

    def light_covariance(A, B):
        return light.variance_ * (correlation(A, B, light_phi) + JITTER * (A[:, None] == B[None]).all(axis=2))

    K_ll, K_lh, K_hh = (light_covariance(A, B) for A, B in ((X_light, X_light), (X_light, X_heavy), (X_heavy, X_heavy)))
    K_d = delta_variance * jittered(X_heavy, delta_phi)
    K = np.block([[K_ll, rho * K_lh], [rho * K_lh.T, rho**2 * K_hh + K_d]])
    at = new if light_index is None else X_light[light_index]
    cross = np.vstack(
        [
            rho * light_covariance(X_light, at),
            rho**2 * light_covariance(X_heavy, at) + delta_variance * correlation(X_heavy, at, delta_phi),
        ]
    )
    own = rho**2 * light.variance_ * (1 + (light_index is not None) * JITTER) + delta_variance
    data = np.concatenate([y_light - light.mean_, y_heavy - rho * light.mean_ - mean_delta])
    mean = rho * light.mean_ + mean_delta + cross.T @ np.linalg.solve(K, data)
    return mean, own - np.einsum("im,im->m", cross, np.linalg.solve(K, cross))


@pytest.mark.parametrize(("dim", "seed"), [(1, 0), (2, 1), (2, 2), (3, 3)])
def test_with_infinite_bounds_the_model_is_that_of_kennedy_and_ohagan(dim, seed):
    rng = np.random.default_rng(seed)
    # One point per cell of a grid of 10 (dim 1) or a Latin design: well-conditioned at these phi.
    X_light = np.stack([(rng.permutation(10) + rng.random(10) * 0.5) / 10 for _ in range(dim)], axis=1)
    X_heavy, y_light = X_light[:5], np.sin(6 * X_light.sum(axis=1))
    y_heavy = 0.7 * y_light[:5] + np.cos(4 * X_heavy[:, 0])
    light_phi, delta_phi = np.full(dim, 200.0 / dim), np.full(dim, 60.0)
    light = GaussianProcess().fit(X_light, y_light, start=np.log(light_phi), fixed=True)
    start = HeavyHyperparameters(0.2, math.log(0.5), tuple(np.log(delta_phi)))
    data = X_light, y_light, X_heavy, y_heavy
    model = TruncatedAdditiveModel().fit(*data, light=light, start=start, fixed=True)

    new = rng.random((20, dim))
    mean, std = model.predict(new)
    expected_mean, expected_variance = kennedy_ohagan(model, light_phi, *data, new)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-8)
    np.testing.assert_allclose(std, np.sqrt(expected_variance), atol=1e-8)

    rows = np.arange(5, 10)
    mean, std = model.predict(X_light[rows], y_light[rows])
    expected_mean, expected_variance = kennedy_ohagan(model, light_phi, *data, None, rows)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-8)
    np.testing.assert_allclose(std, np.sqrt(expected_variance), atol=1e-8)


def test_wide_bounds_come_to_the_same_as_none():
    data = nested_data()
    start = HeavyHyperparameters(0.0, math.log(0.4), (2.0, 2.0))
    new = np.random.default_rng(1).random((10, 2))
    free = TruncatedAdditiveModel().fit(*data, start=start, fixed=True).predict(new)
    wide = TruncatedAdditiveModel((-1e3, 1e3)).fit(*data, start=start, fixed=True).predict(new)
    np.testing.assert_allclose(wide, free, rtol=1e-8)


# --- prediction within bounds ---------------------------------------------------------------------------------------


def truncated_by_quadrature(mean, std, lower, upper):
    """Mean and variance of a normal cut to an interval, by numerical integration."""
    lower, upper = max(lower, mean - 12 * std), min(upper, mean + 12 * std)
    moments = [quad(lambda t: t**k * norm.pdf(t, mean, std), lower, upper, epsabs=1e-13)[0] for k in range(3)]  # noqa: B023
    first = moments[1] / moments[0]
    return first, moments[2] / moments[0] - first**2


@pytest.mark.parametrize("bounds", [(-0.25, 0.0), (-INF, 0.0), (-0.25, INF)])
def test_predictions_are_truncated_normal(bounds):
    X_light, y_light, X_heavy, y_heavy = nested_data()
    start = HeavyHyperparameters(-0.4, math.log(0.5), (math.log(20.0),) * 2)
    model = TruncatedAdditiveModel(bounds, (0.0, 1.0)).fit(X_light, y_light, X_heavy, y_heavy, start=start, fixed=True)
    rho, scale = model.rho_, model.scale_
    # delta conditioned on the heavy data, by the plain formula.
    phi = np.full(2, 20.0)
    inverse = np.linalg.inv(jittered(X_heavy, phi))
    residual = y_heavy - rho * y_light[:5] + 0.4 * scale

    def delta(X):
        r = correlation(X_heavy, X, phi)
        variance = 0.25 * scale**2 * (1 - np.einsum("im,ij,jm->m", r, inverse, r))
        moments = zip(-0.4 * scale + r.T @ inverse @ residual, np.sqrt(variance), strict=True)
        return np.array([truncated_by_quadrature(mean, std, *bounds) for mean, std in moments]).T

    mean, std = model.predict(X_light[5:], y_light[5:])
    delta_mean, delta_variance = delta(X_light[5:])
    np.testing.assert_allclose(mean, rho * y_light[5:] + delta_mean, atol=1e-7)
    np.testing.assert_allclose(std, np.sqrt(delta_variance), atol=1e-6)

    new = np.random.default_rng(1).random((6, 2))
    light_mean, light_std = model.light_.predict(new)
    mean, std = model.predict(new)
    delta_mean, delta_variance = delta(new)
    np.testing.assert_allclose(mean, rho * light_mean + delta_mean, atol=1e-7)
    np.testing.assert_allclose(std, np.sqrt(rho**2 * light_std**2 + delta_variance), atol=1e-6)


def test_predicted_delta_lies_within_its_bounds_and_rho_within_its_own():
    X_light, y_light, X_heavy, y_heavy = nested_data(n_heavy=4, n_light=12)
    model = TruncatedAdditiveModel((-0.25, 0.0), (0.0, 1.0)).fit(X_light, y_light, X_heavy, y_heavy)
    assert 0.0 <= model.rho_ <= 1.0
    assert model.delta_bounds_ == (-0.25, 0.0)
    mean, std = model.predict(X_light, y_light)
    delta = mean - model.rho_ * y_light
    assert (delta >= -0.25 - 1e-12).all() and (delta <= 1e-12).all()
    assert std.max() <= 0.125 + 1e-12  # half the width is the most


@pytest.mark.parametrize("bounds", [FREE, (-1.0, 0.0)])
def test_heavy_data_are_reproduced(bounds):
    X_light, y_light, X_heavy, y_heavy = nested_data()
    model = TruncatedAdditiveModel(bounds).fit(X_light, y_light, X_heavy, y_heavy)
    for mean, std in (model.predict(X_heavy, y_light[:5]), model.predict(X_heavy)):
        np.testing.assert_allclose(mean, y_heavy, atol=1e-4)
        assert std.max() < 1e-3


def test_prediction_is_not_moved_by_predicting():
    data = nested_data()
    model = TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0)).fit(*data)
    new = np.random.default_rng(1).random((6, 2))
    np.testing.assert_array_equal(model.predict(new), model.predict(new))
    again = TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0)).fit(*data, start=model.hyperparameters_, fixed=True)
    np.testing.assert_array_equal(model.predict(new), again.predict(new))


# --- fit ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_a_search_that_ends_early_ends_as_high_as_one_to_rounding(seed, monkeypatch):
    """In six dimensions, where the likelihood is flat: far less than the error of ln P, of some 0.02, is lost."""
    rng = np.random.default_rng(seed)
    X = rng.random((14, 6))
    y_light = 0.3 + ((X - 0.4) ** 2).mean(axis=1)
    y_heavy = 0.8 * y_light - 0.1 + 0.05 * np.sin(5 * X).mean(axis=1)
    scale = common_scale(y_light, y_heavy)
    part = _HeavyPart(Pairs.of(Kernel(6), X), y_light / scale, y_heavy / scale, -1.0 / scale, 0.0, (0.0, 1.0))
    early, _ = part.log_posterior(part.search(None).to_array())
    monkeypatch.setattr(tam, "BOX_TOLERANCE", 1e-10)
    late, _ = part.log_posterior(part.search(None).to_array())
    assert early == pytest.approx(late, abs=5e-3)


def wavy_part(n, bounds=(-0.5, 0.2)):
    """Few data in two dimensions, whose likelihood has several maxima."""
    X = np.random.default_rng(3).random((n, 2))
    y_light = 0.5 + 0.3 * np.sin(9 * X[:, 0]) * np.cos(7 * X[:, 1])
    return heavy_part(X, y_light, 0.9 * y_light - 0.2 * X[:, 0] * np.sin(11 * X[:, 1]), bounds)


@pytest.mark.parametrize("n", [4, 8, 12])
def test_a_search_ends_no_lower_than_from_the_last_hyperparameters_or_the_center_of_the_prior(n):
    part, warm = wavy_part(n), wavy_part(n - 1).search(None)
    ends = []
    for start in (warm.to_array(), np.array([part.prior_mean, part.prior_log_std, 0.0, 0.0])):
        bounds = [(-0.5, 0.2), tam.LOG_STD_BOUNDS, tam.LOG_PHI_BOUNDS, tam.LOG_PHI_BOUNDS]
        best = best_minimum(lambda theta: tuple(-x for x in part.log_posterior(theta)), [start], bounds, 1e-6)
        ends.append(part.log_posterior(best)[0])
    assert part.log_posterior(part.search(warm).to_array())[0] > max(ends) - 0.02


@pytest.mark.parametrize(
    ("n", "bounds", "starts"),
    [
        (FEW - 1, (-0.5, 0.2), [1, 3, 1]),  # without box probabilities, with them, and on from the best
        (FEW, (-0.5, 0.2), [1, 2, 1]),
        (FEW, (-INF, 0.2), [1, 2, 1]),
        (FEW - 1, FREE, [2]),
        (FEW, FREE, [2]),
    ],
)
def test_from_some_heavy_results_on_a_search_leaves_out_the_center_of_the_prior(n, bounds, starts, monkeypatch):
    searched = []

    def first(function, starts, bounds, tolerance):
        searched.append(starts)
        return starts[0]

    monkeypatch.setattr(tam, "best_minimum", first)
    warm = HeavyHyperparameters(-0.1, -1.0, (1.0, 2.0))
    wavy_part(n, bounds).search(warm)
    assert [len(each) for each in searched] == starts
    assert searched[len(starts) // 2][0].tolist() == warm.to_array().tolist()
    searched.clear()
    wavy_part(n, bounds).search(None)
    assert len(searched[len(starts) // 2]) == (1 if bounds == FREE else 2)  # the center is left


def test_the_likelihood_without_box_probabilities_is_that_without_bounds():
    part, free = wavy_part(6), wavy_part(6, FREE)
    value, gradient = part.log_likelihood(THETA, boxed=False)
    assert value == free.log_likelihood(THETA)[0] < part.log_likelihood(THETA)[0]
    np.testing.assert_array_equal(gradient, free.log_likelihood(THETA)[1])


@pytest.mark.parametrize("bounds", [FREE, (-0.5, 0.2)])
def test_fit_finds_a_maximum_of_the_posterior_density(bounds):
    _, y_light, X, y_heavy = nested_data(n_heavy=7)
    part = heavy_part(X, y_light[:7], y_heavy, bounds)
    theta = part.search(None).to_array()
    best = part.log_posterior(theta)[0]
    rng = np.random.default_rng(0)
    for scale in (0.003, 0.03, 0.3):
        for step in rng.standard_normal((20, len(theta))):
            trial = theta + scale * step
            trial[0] = np.clip(trial[0], *bounds)
            assert part.log_posterior(trial)[0] <= best + 2e-3


def test_hyperparameters_survive_the_way_to_an_array_and_back():
    start = HeavyHyperparameters(-0.1, 0.2, (0.3, 0.4))
    noisy = HeavyHyperparameters(-0.1, 0.2, (0.3, 0.4), -5.0)
    for each in (start, noisy):
        assert HeavyHyperparameters.from_array(each.to_array(), 2) == each
    assert start.to_dict() == {"mean": -0.1, "log_std": 0.2, "log_phi": (0.3, 0.4)}


@pytest.mark.parametrize("bounds", [FREE, (-0.5, 0.2), (-INF, 0.2)])
@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_predictions_follow_the_units_of_the_values(bounds, factor):
    X_light, y_light, X_heavy, y_heavy = nested_data()
    new = np.random.default_rng(1).random((10, 2))
    model = TruncatedAdditiveModel(bounds).fit(X_light, y_light, X_heavy, y_heavy)
    scaled = TruncatedAdditiveModel(tuple(factor * bound for bound in bounds)).fit(
        X_light, factor * y_light, X_heavy, factor * y_heavy
    )
    assert scaled.rho_ == pytest.approx(model.rho_, abs=1e-3)
    for result, expected in zip(scaled.predict(new), model.predict(new), strict=True):
        np.testing.assert_allclose(result, factor * expected, atol=2e-3 * factor)


@pytest.mark.parametrize("bounds", [FREE, (-0.5, 0.2), (-INF, 0.2)])
def test_a_maximization_is_the_negated_task_with_bounds_swapped_and_negated(bounds):
    X_light, y_light, X_heavy, y_heavy = nested_data()
    new = np.random.default_rng(1).random((10, 2))
    mean, std = TruncatedAdditiveModel(bounds).fit(X_light, y_light, X_heavy, y_heavy).predict(new)
    negated = TruncatedAdditiveModel((-bounds[1], -bounds[0])).fit(X_light, -y_light, X_heavy, -y_heavy)
    negated_mean, negated_std = negated.predict(new)
    # The box probability's points are not symmetric, so its estimates differ a little.
    np.testing.assert_allclose(-negated_mean, mean, atol=1e-2)
    np.testing.assert_allclose(negated_std, std, atol=1e-2)


# --- bounds that observations break ---------------------------------------------------------------------------------


def test_a_heavy_value_above_its_light_one_widens_the_bound_just_enough():
    X_light, y_light, X_heavy, y_heavy = nested_data()
    y_heavy[2] = y_light[2] + 0.07
    model = TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0))
    with pytest.warns(TruncationWarning, match=r"heavy observation 2 .*upper bound 0 .*\[0, 1\].* widened to 0.07"):
        model.fit(X_light, y_light, X_heavy, y_heavy)
    assert model.rho_ == 1.0
    assert model.delta_bounds_[0] == -1.0
    assert model.delta_bounds_[1] == pytest.approx(0.07, rel=1e-9)
    mean, std = model.predict(X_heavy, y_light[:5])
    np.testing.assert_allclose(mean, y_heavy, atol=1e-3)
    assert np.isfinite(std).all()


def test_both_bounds_widen_where_both_break():
    X = np.array([[0.1], [0.9]])
    y_light, y_heavy = np.array([0.0, 0.0]), np.array([0.5, -0.5])
    model = TruncatedAdditiveModel((-0.1, 0.1))
    with pytest.warns(TruncationWarning) as caught:
        model.fit(X, y_light, X, y_heavy)
    assert model.delta_bounds_ == (-0.5, 0.5)
    texts = sorted(str(warning.message)[:19] for warning in caught)
    assert texts == ["heavy observation 0", "heavy observation 1"]


def test_observations_within_the_bounds_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0)).fit(*nested_data())


def test_a_light_value_of_zero_decides_by_its_heavy_value_alone():
    X = np.array([[0.1], [0.5], [0.9]])
    y_light, y_heavy = np.array([0.0, 0.4, 0.8]), np.array([0.2, 0.1, 0.3])
    model = TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0))
    with pytest.warns(TruncationWarning, match="heavy observation 0"):
        model.fit(X, y_light, X, y_heavy)
    assert model.delta_bounds_ == (-1.0, 0.2)


# --- degenerate data ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("slope", "bounds"), [(0.5, FREE), (0.5, (-1.5, 0.5)), (2.0, FREE), (-1.0, FREE)])
def test_heavy_values_exactly_linear_in_light_ones(slope, bounds):
    # The toy: y_h = 0.5 sin x - 1 on [-pi, 3 pi]; Park's levels are linear in each other too.
    X = np.linspace(0.02, 0.98, 12)[:, None]
    y_light = np.sin(-math.pi + 4 * math.pi * X[:, 0])
    heavy = [0, 2, 5, 7, 10]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TruncatedAdditiveModel(bounds).fit(X, y_light, X[heavy], slope * y_light[heavy] - 1)
    mean, std = model.predict(X, y_light)
    np.testing.assert_allclose(mean, slope * y_light - 1, atol=1e-3)
    assert np.isfinite(std).all() and std.max() < 1e-2
    assert model.rho_ == pytest.approx(slope, abs=1e-3)


def test_park_whose_levels_are_linear_in_each_other():
    rng = np.random.default_rng(0)
    X = rng.random((12, 4))
    x1, x2, x3, x4 = np.maximum(X, 1e-3).T
    heavy = 2 / 3 * np.exp(x1 + x2) - x4 * np.sin(x3) + x3
    light = 1.2 * heavy - 1
    model = TruncatedAdditiveModel().fit(X, -light, X[:6], -heavy[:6])
    mean, std = model.predict(X, -light)
    np.testing.assert_allclose(mean, -heavy, atol=1e-3)
    assert np.isfinite(std).all()


def test_identical_values_everywhere():
    X = np.random.default_rng(0).random((6, 2))
    for value in (0.0, 0.3, -4.0):
        model = TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)  # 0 is not above -4 by any rho
            mean, std = model.fit(X, np.full(6, value), X[:3], np.full(3, value)).predict(X)
        np.testing.assert_allclose(mean[:3], value, atol=1e-3)
        assert np.isfinite(mean).all() and np.isfinite(std).all()


def test_one_light_and_heavy_point():
    model = TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0)).fit([[0.3]], [0.5], [[0.3]], [0.4])
    mean, std = model.predict([[0.3], [0.9]])
    assert mean[0] == pytest.approx(0.4, abs=1e-3)
    assert np.isfinite(mean).all() and (std >= 0).all()


def test_duplicates_are_averaged_at_both_levels():
    X_light, y_light, X_heavy, y_heavy = nested_data()
    doubled = TruncatedAdditiveModel().fit(
        np.vstack([X_light, X_light[:1]]),
        np.append(y_light, y_light[0]),
        np.vstack([X_heavy, X_heavy[1:2]]),
        np.append(y_heavy, y_heavy[1] + 0.2),
    )
    y_heavy[1] += 0.1
    mean, _ = doubled.predict(X_heavy, y_light[:5])
    np.testing.assert_allclose(mean, y_heavy, atol=1e-3)


def test_a_penalty_among_small_errors_does_no_harm():
    X_light, y_light, X_heavy, y_heavy = nested_data()
    for penalty in (1e3, 1e10, 1e90):
        light, heavy = y_light.copy(), y_heavy.copy()
        light[1], heavy[1] = penalty, penalty
        model = TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)
            mean, std = model.fit(X_light, light, X_heavy, heavy).predict(np.random.default_rng(1).random((9, 2)))
        assert np.isfinite(mean).all() and np.isfinite(std).all()


@settings(max_examples=60, deadline=None)
@given(data=st.data(), dim=st.integers(1, 2), n_light=st.integers(1, 6))
def test_predictions_are_finite_whatever_the_data(data, dim, n_light):
    coordinate = st.sampled_from([0.0, 0.5, 0.5 + 1e-8, 1.0]) | st.floats(0, 1)
    value = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(-10, 10) | st.floats(-1e9, 1e9)
    X = np.array(
        data.draw(st.lists(st.lists(coordinate, min_size=dim, max_size=dim), min_size=n_light, max_size=n_light))
    )
    rows = data.draw(st.lists(st.integers(0, n_light - 1), min_size=1, max_size=4))
    y_light = data.draw(st.lists(value, min_size=n_light, max_size=n_light))
    y_heavy = data.draw(st.lists(value, min_size=len(rows), max_size=len(rows)))
    bounds = data.draw(st.sampled_from([(-1.0, 0.0), (-1e-3, 1e-3), (-INF, 0.0), (0.5, INF), FREE]))
    rho_bounds = data.draw(st.sampled_from([(0.0, 1.0), (-0.5, 0.5), (1.0, 1.0), FREE]))
    new = np.vstack([X, np.random.default_rng(0).random((5, dim))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TruncationWarning)
        model = TruncatedAdditiveModel(bounds, rho_bounds).fit(X, y_light, X[rows], y_heavy)
        results = [model.predict(new), model.predict(X, y_light)]
    for mean, std in results:
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()
        assert (std >= 0).all()


# --- belief, spaces -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [FREE, (-0.3, 0.0)])
def test_belief_in_runs_under_way_takes_their_uncertainty_away(bounds):
    X_light, y_light, X_heavy, y_heavy = nested_data()
    model = TruncatedAdditiveModel(bounds).fit(X_light, y_light, X_heavy, y_heavy)
    new, pending = np.array([[0.05, 0.95]]), X_light[7:8]
    fantasized = model.fantasize(new, pending)
    mean, std = model.predict(pending, y_light[7:8])
    fantasized_mean, fantasized_std = fantasized.predict(pending, y_light[7:8])
    np.testing.assert_allclose(fantasized_mean, mean, atol=1e-3)
    assert fantasized_std[0] <= 1e-3 * std[0] + 1e-6
    assert fantasized.light_.predict(new)[1][0] < 1e-3 * model.light_.predict(new)[1][0]
    np.testing.assert_array_equal(model.predict(pending, y_light[7:8]), (mean, std))  # the original is untouched


def test_points_that_round_alike_are_one_point():
    space = Space({"x": Real(0.0, 1.0), "n": Integer(1, 5), "kind": Categorical(["a", "b"])})
    X_light = np.array([[0.1, 0.1, 0.2], [0.6, 0.5, 0.8], [0.9, 0.9, 0.3]])
    X_heavy = np.array([[0.1, 0.15, 0.4], [0.6, 0.5, 0.8]])  # the first rounds to the first light point
    model = TruncatedAdditiveModel(space=space).fit(X_light, [0.5, 0.2, 0.9], X_heavy, [0.4, 0.1])
    mean, _ = model.predict([[0.1, 0.0, 0.0]])
    assert mean[0] == pytest.approx(0.4, abs=1e-3)


# --- scale and errors -----------------------------------------------------------------------------------------------


def test_the_common_scale_is_the_joint_spread_or_else_the_size():
    y_light, y_heavy = np.array([0.2, 0.6]), np.array([0.1, 0.5])
    assert common_scale(y_light, y_heavy) == pytest.approx(np.std([0.2, 0.6, 0.1, 0.5]))
    assert common_scale(np.full(3, -0.3), np.full(2, -0.3)) == pytest.approx(0.3)
    assert common_scale(np.zeros(3), np.zeros(2)) == 1.0


@pytest.mark.parametrize(
    ("delta_bounds", "rho_bounds", "message"),
    [
        ((0.0, -1.0), FREE, "delta_bounds must be .* lower < upper|delta_bounds must be .* lower <= upper"),
        ((0.0, 0.0), FREE, "delta_bounds must be .* lower < upper"),
        ((math.nan, 0.0), FREE, "delta_bounds"),
        ((INF, INF), FREE, "delta_bounds"),
        ((0.0,), FREE, "delta_bounds must be a pair"),
        (None, FREE, "delta_bounds must be a pair"),
        (("a", "b"), FREE, "delta_bounds must be a pair"),
        (FREE, (1.0, 0.0), "rho_bounds"),
        (FREE, (0.0, math.nan), "rho_bounds"),
        (FREE, 1.0, "rho_bounds must be a pair"),
    ],
)
def test_bad_bounds_are_refused(delta_bounds, rho_bounds, message):
    with pytest.raises(ValueError, match=message):
        TruncatedAdditiveModel(delta_bounds, rho_bounds)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (([[0.1]], [1.0], [[0.2]], [1.0]), r"row 0 of X_heavy, \[0.2\], is not in X_light"),
        (([[0.1], [0.2]], [1.0, 2.0], [[0.1], [0.3]], [1.0, 2.0]), r"row 1 of X_heavy, \[0.3\]"),
        ((np.empty((0, 1)), [], [[0.1]], [1.0]), "X_light and y_light are empty"),
        (([[0.1]], [1.0], np.empty((0, 1)), []), "X_heavy and y_heavy are empty"),
        (([[0.1]], [math.nan], [[0.1]], [1.0]), "y_light must be finite"),
        (([[0.1]], [1.0], [[0.1]], [INF]), "y_heavy must be finite"),
        (([[0.1]], [1.0], [[0.1]], [1e200]), "y_heavy must not exceed"),
        (([[0.1]], [1.0], [[0.1, 0.2]], [1.0]), "X_light has 1 columns but X_heavy has 2"),
        (([[0.1]], [1.0, 2.0], [[0.1]], [1.0]), "y_light must have one value per row"),
        (([[1.1]], [1.0], [[0.1]], [1.0]), "X_light must lie in the unit cube"),
    ],
)
def test_bad_data_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        TruncatedAdditiveModel().fit(*data)


@pytest.mark.parametrize("start", [None, HeavyHyperparameters(0.0, 0.0, (1.0,))])
def test_bad_hyperparameters_are_refused(start):
    with pytest.raises(ValueError, match="start must be HeavyHyperparameters with 2 values"):
        TruncatedAdditiveModel().fit(*nested_data(), start=start, fixed=True)


def test_predictions_before_data_or_at_bad_points_are_refused():
    model = TruncatedAdditiveModel()
    with pytest.raises(RuntimeError, match="call fit first"):
        model.predict([[0.1, 0.2]])
    model.fit(*nested_data())
    with pytest.raises(ValueError, match=r"X must be an array of shape \(n, 2\)"):
        model.predict([[0.1]])
    with pytest.raises(ValueError, match="y_light must have one value per row of X"):
        model.predict([[0.1, 0.2]], [1.0, 2.0])
    with pytest.raises(ValueError, match="y_light must be finite"):
        model.predict([[0.1, 0.2]], [math.nan])
    with pytest.raises(ValueError, match=r"X must be an array of shape \(n, 2\)"):
        model.predict([[0.1]], [1.0])
