"""A multilayer perceptron of scikit-learn's, on MNIST; an iteration is an epoch."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.carried import Examples, ExampleSplit
from benchmarks.data.images import Array
from benchmarks.objectives.curve import CurveTask
from benchmarks.objectives.image_task import ImageTask
from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.sklearn_models.epoch_training import EpochTraining
from benchmarks.objectives.sklearn_models.model_training import random_state
from btao import Categorical, Integer, Real, Space, When
from btao.training import Level

# scikit-learn is imported when used: a class is asked for its parameters without it.

# What each optimizer keeps for every array of weights, as scikit-learn names it.
MOMENTS = {"sgd": ("velocities",), "adam": ("ms", "vs")}


class PerceptronTraining(EpochTraining):
    """The training of scikit-learn's MLPClassifier: see `EpochTraining`."""

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Weights, biases, and the optimizer's moments of them."""
        kinds = {"coef": self.model.coefs_, "intercept": self.model.intercepts_}
        kinds |= {kind: getattr(self.model._optimizer, kind) for kind in MOMENTS[self.model.solver]}
        return {f"{kind}_{index}": array for kind, arrays in kinds.items() for index, array in enumerate(arrays)}

    def set_epochs(self, epochs: int) -> None:
        """Adam corrects its moments by the number of steps."""
        if self.model.solver == "adam":
            self.model._optimizer.t = epochs * -(-len(self.split.train.y) // self.model.batch_size)


class MLP(ImageTask, CurveTask):
    """Minimize the validation error over the hidden layer, the optimizer and its settings, and weight decay.

    Momentum is a parameter of stochastic gradient descent alone; Adam has none. A level limits the iterations and
    nothing else.

    Parameters
    ----------
    n_train, n_validation : int
        Numbers of images; see `benchmarks.data.images.split`.
    light_iterations, heavy_iterations : int
    resume_training : bool
        Whether a run that goes on with a configuration pays for the additional epochs only (METHOD item 17).
    delta_bounds, rho_bounds : pair of float
        Bounds of the truncated additive model (METHOD item 18).
    data, data_dir : str
        See `benchmarks.data.datasets.load`.

    Raises
    ------
    ValueError
        If an argument is out of its range. The data is read when it is first needed, and raises then.
    """

    dataset = "mnist"
    space = Space(
        {
            "units": Integer(8, 64, log=True),
            "activation": Categorical(["relu", "tanh", "logistic"]),
            "optimizer": Categorical(["sgd", "adam"]),
            "learning_rate": Real(1e-4, 1.0, log=True),
            "momentum": Real(0.0, 0.99),
            "batch_size": Integer(32, 256, log=True),
            "alpha": Real(1e-6, 1e1, log=True),
        },
        conditions={"momentum": When("optimizer", "sgd")},
    )

    def __init__(
        self,
        n_train: int = 3000,
        n_validation: int = 1000,
        light_iterations: int = 3,
        heavy_iterations: int = 15,
        resume_training: bool = True,
        delta_bounds: tuple[float, float] = (-1.0, 0.0),
        rho_bounds: tuple[float, float] = (0.0, 1.0),
        data: str = "auto",
        data_dir: str | None = None,
    ) -> None:
        levels = Level(light_iterations), Level(heavy_iterations)
        super().__init__(n_train, n_validation, *levels, delta_bounds, rho_bounds, data, data_dir)
        self.resume_training = resume_training

    @functools.cached_property
    def _examples(self) -> ExampleSplit:
        split = self._split
        return ExampleSplit(
            Examples(_rows(split.x_train), split.y_train),
            Examples(_rows(split.x_validation), split.y_validation),
            Examples(_rows(split.x_test), split.y_test),
            split.source,
        )

    def prepare(self) -> None:
        """Import scikit-learn and read the images."""
        import sklearn.neural_network  # noqa: F401

        self._examples  # noqa: B018

    def start(self, config: dict[str, Any], seed: int) -> PerceptronTraining:
        """See `CurveTask.start`."""
        from sklearn.neural_network import MLPClassifier

        seed = configuration_seed(seed, config)
        named = {name: config[name] for name in ("activation", "alpha", "momentum") if name in config}
        model = MLPClassifier(
            (config["units"],),
            solver=config["optimizer"],
            learning_rate_init=config["learning_rate"],
            batch_size=min(config["batch_size"], len(self._examples.train.y)),
            shuffle=False,
            random_state=random_state(seed),
            **named,
        )
        return PerceptronTraining(self._examples, model, seed)


def _rows(images: Array) -> NDArray[np.float32]:
    """Pixels scaled to [0, 1], one row an image."""
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
