"""The training of a model by scikit-learn's `partial_fit` on all examples: an iteration is an epoch."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.carried import Examples, ExampleSplit
from benchmarks.objectives.curve import State
from benchmarks.objectives.sklearn_models.model_training import Diverged, ModelTraining


class EpochTraining(ModelTraining):
    """The training of one configuration; the examples come in an order of each epoch's own.

    A subclass says which arrays of its model training changes.

    Parameters
    ----------
    split : ExampleSplit
    model : estimator
        A classifier with `partial_fit` that does not shuffle.
    seed : int
        Of the orders; see `benchmarks.objectives.protocol.configuration_seed`.
    """

    def __init__(self, split: ExampleSplit, model: Any, seed: int) -> None:
        super().__init__(split)
        self.model = model
        self._seed = seed
        self._epoch = 0
        self._classes = np.unique(split.train.y)

    def train(self) -> None:
        """Train an epoch."""
        order = np.random.default_rng([self._seed, self._epoch]).permutation(len(self.split.train.y))
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                self._fit(order)
        except ValueError as error:  # scikit-learn's way to say that weights are not finite
            raise Diverged from error
        self._epoch += 1

    def classes_of(self, examples: Examples) -> NDArray[Any]:
        """See `ModelTraining`."""
        return self.model.predict(examples.x)

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The model's own arrays that training changes, by name; there are some after a first `partial_fit`."""

    @abstractmethod
    def set_epochs(self, epochs: int) -> None:
        """Let the model count from so many epochs."""

    def state(self) -> State:
        """The arrays and the number of epochs."""
        return {name: array.copy() for name, array in self.arrays().items()} | {"epoch": np.array(self._epoch)}

    def restore(self, state: State) -> None:
        """Go to where `state` was taken: a first step makes the arrays, which are then overwritten."""
        self._fit(np.arange(getattr(self.model, "batch_size", 1)))
        for name, array in self.arrays().items():
            array[...] = state[name]
        self._epoch = int(state["epoch"])
        self.set_epochs(self._epoch)

    def _fit(self, chosen: NDArray[np.integer]) -> None:
        train = self.split.train
        self.model.partial_fit(train.x[chosen], train.y[chosen], classes=self._classes)
