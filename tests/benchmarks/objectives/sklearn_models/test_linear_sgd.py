"""The task of the linear classifier: an epoch is scikit-learn's, pixels are scaled, and divergence is charged."""

import math

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.sklearn_models.linear_sgd import LinearSGD

CONFIG = {"loss": "log_loss", "alpha": 1e-4, "l1_ratio": 0.3, "eta0": 0.1, "power_t": 0.2, "standardize": False}


def task():
    return LinearSGD(100, 60, light_iterations=2, heavy_iterations=5)


def test_an_epoch_is_that_of_scikit_learn_on_the_examples_in_its_order():
    training = task().start(CONFIG, seed=3)
    training.advance()
    train = task().split.train
    order = np.random.default_rng([configuration_seed(3, CONFIG), 0]).permutation(100)
    arguments = {name: value for name, value in CONFIG.items() if name != "standardize"}
    fixed = {"penalty": "elasticnet", "learning_rate": "invscaling", "shuffle": False, "max_iter": 1, "tol": None}
    model = SGDClassifier(**arguments, **fixed, random_state=0).fit(train.x[order] / 16, train.y[order])
    np.testing.assert_array_equal(training.model.coef_, model.coef_)
    np.testing.assert_array_equal(training.model.intercept_, model.intercept_)


def test_standardized_pixels_have_mean_0_and_variance_1_over_the_training_examples():
    split = task().start(CONFIG | {"standardize": True}, seed=0).split
    deviations = split.train.x.std(axis=0)
    varying = task().split.train.x.std(axis=0) > 0
    np.testing.assert_allclose(split.train.x.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(deviations[varying], 1)
    assert (deviations[~varying] == 0).all()
    assert not np.allclose(split.validation.x.mean(axis=0), 0, atol=1e-3)  # scaled as the training examples are


def test_what_scikit_learn_says_of_weights_that_are_not_finite_is_divergence_and_charged(monkeypatch):
    partial_fit, calls = SGDClassifier.partial_fit, []

    def overflowing(*arguments, **named):
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("Floating-point under-/overflow occurred at epoch #1.")
        return partial_fit(*arguments, **named)

    monkeypatch.setattr(SGDClassifier, "partial_fit", overflowing)
    evaluation = task().evaluate(CONFIG, task().heavy, seed=0)
    assert math.isnan(evaluation.value)
    assert (evaluation.error, evaluation.iterations) == ("training diverged in iteration 2", 2)
    assert (evaluation.code_error, len(evaluation.curve.seconds)) == (None, 2)


@pytest.mark.parametrize("name", ["loss", "alpha", "l1_ratio", "eta0", "power_t", "standardize"])
def test_every_parameter_has_an_effect(name):
    other = {"loss": "hinge", "alpha": 1e-2, "l1_ratio": 0.9, "eta0": 1.0, "power_t": 0.9, "standardize": True}[name]
    first, second = (task().start(config, seed=0) for config in (CONFIG, CONFIG | {name: other}))
    second._seed = first._seed
    for training in (first, second):
        training.train()
    assert not np.array_equal(first.model.coef_, second.model.coef_)
