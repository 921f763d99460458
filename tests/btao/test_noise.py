"""Noise of both levels in the paper's model (METHOD item 29)."""

import math
import warnings

import numpy as np
import pytest

from btao import BTAO, TruncationWarning
from btao.gp import GaussianProcess, Kernel, Pairs, log_theta_prior, profile_log_likelihood
from btao.tam import HeavyHyperparameters, TruncatedAdditiveModel, _HeavyPart
from optimizer_runs import FREE, LINE, SQUARE, free, loss, names, play

INF = math.inf


def noisy(seed, std=0.05):
    """A loss whose noise depends on the configuration, so that runs repeat."""

    def objective(config, level):
        key = [seed, level == "heavy", *(int(1e9 * abs(value)) for value in config.values())]
        return loss(config, level) + std * np.random.default_rng(key).standard_normal()

    return objective


def numerical_gradient(function, x, step=1e-5):
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


def sample(n, std, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, np.sin(6 * X[:, 0]) + std * rng.standard_normal(n)


def test_the_gradient_of_the_light_likelihood_has_a_part_for_the_nugget():
    X, y = sample(8, 0.1)
    theta = np.array([2.0, math.log(0.03)])
    pairs = Pairs.of(Kernel(1), X)
    for function in (lambda t: profile_log_likelihood(t, pairs, y)[:2], lambda t: log_theta_prior(t, 1)):
        expected = numerical_gradient(lambda t: function(t)[0], theta)  # noqa: B023
        np.testing.assert_allclose(function(theta)[1], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("bounds", [(-INF, INF), (-0.6, 0.1), (-INF, 0.1)])
def test_the_gradient_of_the_heavy_likelihood_has_a_part_for_the_nugget(bounds):
    X, y = sample(6, 0.02)
    part = _HeavyPart(Pairs.of(Kernel(1), X), y, 0.8 * y - 0.2, *bounds, (-INF, INF), noise=True)
    theta = np.array([-0.15, math.log(0.2), math.log(15.0), math.log(0.04)])
    for function in (part.log_likelihood, part.log_posterior):
        expected = numerical_gradient(lambda t: function(t)[0], theta)  # noqa: B023
        np.testing.assert_allclose(function(theta)[1], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("std", [0.05, 0.3])
def test_the_noise_of_a_process_is_estimated_and_its_mean_is_smooth(std):
    X, y = sample(60, std)
    model = GaussianProcess(noise=True).fit(X, y)
    found = math.sqrt(model.posterior_.nugget * model.variance_)
    assert found == pytest.approx(std, rel=0.35)
    mean, _ = model.predict(X)
    truth = np.sin(6 * X[:, 0])
    assert np.abs(mean - truth).mean() < 0.5 * np.abs(y - truth).mean()
    again = GaussianProcess(noise=True).fit(X, y, start=model.theta_, fixed=True)
    np.testing.assert_array_equal(again.theta_, model.theta_)


def test_values_without_noise_are_reproduced_as_the_nugget_is_small():
    X, y = sample(15, 0.0)
    model = GaussianProcess(noise=True).fit(X, y)
    assert 1e-8 <= model.posterior_.nugget * (1 + 1e-9) < 1e-3
    np.testing.assert_allclose(model.predict(X)[0], y, atol=1e-2)


def test_noise_alone_breaks_no_bound():
    rng = np.random.default_rng(1)
    X = rng.random((30, 1))
    light = 0.5 + 0.3 * np.sin(6 * X[:, 0])
    heavy = light - 0.01 + 0.03 * rng.standard_normal(30)  # a fourth of them above the light value
    with warnings.catch_warnings():
        warnings.simplefilter("error", TruncationWarning)
        model = TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0), noise=True).fit(X, light, X[:12], heavy[:12])
    assert model.n_breaking_ == 0
    with pytest.warns(TruncationWarning, match="breaks the upper bound 0"):
        TruncatedAdditiveModel((-1.0, 0.0), (0.0, 1.0)).fit(X, light, X[:12], heavy[:12])


def test_hyperparameters_of_a_model_with_noise_need_a_nugget():
    X, y = sample(6, 0.1)
    with pytest.raises(ValueError, match="with 1 values of ln phi and with a nugget, got"):
        TruncatedAdditiveModel(noise=True).fit(X, y, X, y, start=HeavyHyperparameters(0.0, 0.0, (1.0,)))
    with pytest.raises(ValueError, match="start must be 2 finite values of ln phi and of the nugget's logarithm"):
        GaussianProcess(noise=True).fit(X, y, start=[1.0])


@pytest.mark.parametrize("rule", ["joint", "paper", "rate"])
def test_recommended_is_what_the_model_trusts_and_best_what_was_seen(rule):
    optimizer = BTAO(LINE, n_init=4, noise=True, **free(rule))
    play(optimizer, 36, noisy(3, std=0.1))
    heavies = [trial for trial in optimizer.trials if trial.level == "heavy"]
    assert optimizer.best.value == min(trial.value for trial in heavies)
    mean, std = optimizer.predict([trial.config for trial in heavies])
    trusted, _ = optimizer.predict(optimizer.recommended.config)
    assert trusted[0] == pytest.approx(mean.min(), abs=5e-3)
    assert np.abs(mean - [trial.value for trial in heavies]).max() > 0.05  # it does not interpolate
    assert np.isfinite(std).all()


def test_what_the_rate_rule_recommends_does_not_profit_from_noise_in_its_light_value():
    optimizer, rng = BTAO(LINE, rule="rate", n_init=4, seed=0), np.random.default_rng(0)
    points = np.linspace(0, 1, 16)
    truth = (points - 0.3) ** 2
    lucky = 13
    light = truth + 0.1 * rng.standard_normal(16)
    light[lucky], heavy = -0.5, truth + 0.1 * rng.standard_normal(16)
    heavy[lucky] = -0.3  # of both values the least, far from the least of their neighbors
    for x, y_light, y_heavy in zip(points, light, heavy, strict=True):
        optimizer.tell({"x": float(x)}, "light", y_light)
        optimizer.tell({"x": float(x)}, "heavy", y_heavy)
    optimizer.ask()  # fits the model
    assert optimizer.best.config["x"] == points[lucky]
    assert abs(optimizer.recommended.config["x"] - 0.3) < 0.2


@pytest.mark.parametrize("rule", ["joint", "paper"])
def test_a_restored_optimizer_with_noise_goes_on_alike(rule):
    optimizer = BTAO(SQUARE, n_init=2, noise=True, seed=1, **free(rule))
    play(optimizer, 8, noisy(1))
    restored = BTAO.from_json(optimizer.to_json())
    assert restored.noise is True and restored.recommended == optimizer.recommended
    assert names(play(restored, 4, noisy(1))) == names(play(optimizer, 4, noisy(1)))
    assert restored.to_json() == optimizer.to_json()


def test_noise_is_off_by_default_but_for_the_rate_rule_which_always_estimates_it():
    assert [BTAO(LINE, rule=rule).noise for rule in ("joint", "paper", "rate")] == [False, False, True]
    runs = [names(play(BTAO(LINE, rule="rate", noise=noise), 7)) for noise in (None, True)]
    assert runs[0] == runs[1]
    runs = [names(play(BTAO(LINE, n_init=2, noise=noise, **FREE), 8)) for noise in (None, False, True)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"noise": 0.1}, TypeError, r"noise must be True, False or None, got 0\.1"),
        ({"noise": False, "rule": "rate"}, ValueError, "noise must be None or True with rule='rate'"),
    ],
)
def test_wrong_arguments_are_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        BTAO(LINE, **options)
