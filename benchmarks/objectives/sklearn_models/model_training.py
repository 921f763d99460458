"""What the trainings of scikit-learn's models share: errors after each iteration, divergence, and seeds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.carried import Examples, ExampleSplit
from benchmarks.objectives.curve import Iteration, State


class ModelTraining(ABC):
    """The training of one configuration (see `benchmarks.objectives.curve.Training`).

    A subclass says what an iteration trains and which classes the model as it stands answers with.

    Parameters
    ----------
    split : ExampleSplit
    """

    def __init__(self, split: ExampleSplit) -> None:
        self.split = split

    def advance(self) -> Iteration:
        """Train one iteration and validate; the training error is that of the model after it."""
        try:
            self.train()
        except Diverged:
            return Iteration(math.nan, math.nan)
        return Iteration(self._error(self.split.validation), self._error(self.split.train))

    def test_error(self) -> float:
        """See `benchmarks.objectives.curve.Training`."""
        return self._error(self.split.test)

    @abstractmethod
    def train(self) -> None:
        """Train one iteration; Diverged if the model is of no use after it."""

    @abstractmethod
    def classes_of(self, examples: Examples) -> NDArray[Any]:
        """The classes that the model answers with, (n,); `examples` is one of the three parts of the split."""

    @abstractmethod
    def state(self) -> State:
        """See `benchmarks.objectives.curve.Training`."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """See `benchmarks.objectives.curve.Training`."""

    def _error(self, examples: Examples) -> float:
        """The share of examples with a wrong answer."""
        return float((self.classes_of(examples) != examples.y).mean())


class Diverged(Exception):
    """Numbers of a model are not finite any more."""


def random_state(seed: int) -> int:
    """A seed of 32 bits, as scikit-learn takes them, from one of any size."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])
