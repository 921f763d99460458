"""A linear classifier by stochastic gradient descent, on scikit-learn's digits; an iteration is an epoch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.carried import Examples, ExampleSplit
from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.sklearn_models.epoch_training import EpochTraining
from benchmarks.objectives.sklearn_models.model_task import ModelTask
from benchmarks.objectives.sklearn_models.model_training import random_state
from btao import Categorical, Real, Space

# scikit-learn is imported when used: a class is asked for its parameters without it.

GRAY_LEVELS = 16.0  # of a pixel of the digits, the highest


class DescentTraining(EpochTraining):
    """The training of scikit-learn's SGDClassifier: see `EpochTraining`."""

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Weights and biases."""
        return {"coef": self.model.coef_, "intercept": self.model.intercept_}

    def set_epochs(self, epochs: int) -> None:
        """The learning rate depends on the number of examples that were trained, from 1."""
        self.model.t_ = 1.0 + epochs * len(self.split.train.y)


class LinearSGD(ModelTask):
    """Minimize the validation error over the loss, the penalty, the learning rates, and how pixels are scaled.

    The parameters are those of `ModelTask`.

    Notes
    -----
    The learning rate of the t-th example is eta0 / t^power_t. The penalty is the elastic net's, of strength alpha and
    with a share l1_ratio of the sum of absolute weights. Pixels are scaled to [0, 1], or with `standardize` to mean 0
    and variance 1 over the training examples.
    """

    dataset = "digits"
    space = Space(
        {
            "loss": Categorical(["hinge", "log_loss", "modified_huber"]),
            "alpha": Real(1e-7, 1e-1, log=True),
            "l1_ratio": Real(0.0, 1.0),
            "eta0": Real(1e-4, 1e1, log=True),
            "power_t": Real(0.0, 1.0),
            "standardize": Categorical([False, True]),
        }
    )

    def prepare(self) -> None:
        """Import scikit-learn and read the examples."""
        import sklearn.linear_model  # noqa: F401

        self.split  # noqa: B018

    def start(self, config: dict[str, Any], seed: int) -> DescentTraining:
        """See `CurveTask.start`."""
        from sklearn.linear_model import SGDClassifier

        seed = configuration_seed(seed, config)
        arguments = {name: value for name, value in config.items() if name != "standardize"}
        fixed = {"penalty": "elasticnet", "learning_rate": "invscaling", "shuffle": False}
        model = SGDClassifier(**arguments, **fixed, random_state=random_state(seed))
        return DescentTraining(_scaled(self.split, config["standardize"]), model, seed)


def _scaled(split: ExampleSplit, standardize: bool) -> ExampleSplit:
    """The split with its pixels scaled; those that never vary in training keep their scale."""
    mean, scale = np.zeros(split.train.x.shape[1]), np.full(split.train.x.shape[1], GRAY_LEVELS)
    if standardize:
        mean, deviation = split.train.x.mean(axis=0), split.train.x.std(axis=0)
        scale = np.where(deviation > 0, deviation, GRAY_LEVELS)

    def scaled(examples: Examples) -> Examples:
        return Examples((examples.x - mean) / scale, examples.y)

    return ExampleSplit(scaled(split.train), scaled(split.validation), scaled(split.test), split.source)
