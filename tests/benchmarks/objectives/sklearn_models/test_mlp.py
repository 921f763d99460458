"""The task of the perceptron: an epoch is scikit-learn's, and momentum is that of one optimizer."""

import math

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from benchmarks.data.images import Split
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.sklearn_models.mlp import MLP
from benchmarks.objectives.sklearn_models.model_training import random_state
from btao.training import Level

CONFIG = {
    "units": 9,
    "activation": "relu",
    "optimizer": "sgd",
    "learning_rate": 0.05,
    "momentum": 0.7,
    "batch_size": 32,
    "alpha": 1e-3,
}


def images(n, seed):
    """Noisy images of ten classes, each bright in a row of its own."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(n).astype(np.uint8) % 10
    x = generator.integers(0, 60, (n, 10, 4))
    x[np.arange(n), labels] += 120
    return x.astype(np.uint8), labels


def task():
    each = MLP(100, 60, light_iterations=2, heavy_iterations=5)
    each.__dict__["_split"] = Split(
        *images(100, 0), *images(60, 1), *images(60, 2), DataSource("rows", "0" * 64, 100, 60)
    )
    return each


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_an_epoch_is_that_of_scikit_learn_on_the_images_in_its_order(optimizer):
    config = CONFIG | {"optimizer": optimizer}
    training = task().start(config, seed=3)
    training.advance()
    seed = training._seed
    order = np.random.default_rng([seed, 0]).permutation(100)
    x = task()._split.x_train.reshape(100, -1) / np.float32(255)
    model = MLPClassifier(
        (9,),
        solver=optimizer,
        learning_rate_init=0.05,
        momentum=0.7,
        batch_size=32,
        alpha=1e-3,
        max_iter=1,
        shuffle=False,
        random_state=random_state(seed),
    ).fit(x[order], task()._split.y_train[order])
    for found, expected in zip(
        training.model.coefs_ + training.model.intercepts_, model.coefs_ + model.intercepts_, strict=True
    ):
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, expected)


def test_momentum_is_a_parameter_of_descent_alone():
    def curve(**changes):
        each = task()
        return each.evaluate(CONFIG | changes, each.heavy, seed=0).curve.validation_errors

    assert curve(momentum=0.1) != curve(momentum=0.9)
    config = {name: value for name, value in CONFIG.items() if name != "momentum"} | {"optimizer": "adam"}
    assert task().space.validate(config) == config
    with pytest.raises(ValueError, match="momentum"):
        task().space.validate(config | {"momentum": 0.5})
    training = task().start(config, seed=0)
    assert 0 < training.advance().validation_error < 1
    assert training._seed == configuration_seed(0, config)


def test_weights_that_are_not_finite_are_divergence_and_charged(monkeypatch):
    each = task()
    start = each.start
    monkeypatch.setattr(each, "start", lambda config, seed: start(config | {"learning_rate": 1e30}, seed))
    evaluation = each.evaluate(CONFIG, each.heavy, seed=0)
    assert math.isnan(evaluation.value)
    assert evaluation.error == f"training diverged in iteration {evaluation.iterations}"
    assert evaluation.iterations == len(evaluation.curve.seconds) >= 1


def test_what_can_be_learned_is_learned():
    heavy = task().evaluate(CONFIG, Level(40), seed=0)
    assert heavy.value == min(heavy.curve.validation_errors) < 0.1
    assert heavy.curve.test_errors[-1] < 0.1
