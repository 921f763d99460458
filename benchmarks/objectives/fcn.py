"""A fully connected network with one hidden layer on MNIST (paper, section "Fully Connected Network on MNIST")."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.images import Split
from benchmarks.objectives.network_task import CLASSES, NetworkTask
from benchmarks.objectives.networks import DeviceImages, NetworkTraining, glorot_uniform
from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.tensorflow_session import tensorflow
from btao import Integer, Real, Space

if TYPE_CHECKING:
    import tensorflow as tf


@dataclass(frozen=True)
class DenseNetwork:
    """One hidden layer.

    Some pixels are dark in every training image. Their weights have no gradient, so training keeps
    them as they are, and computes without them.

    Attributes
    ----------
    pixels : int
    lit : int
        How many of them, the first ones, are not dark in every training image.
    units : int
    activation : str
    """

    pixels: int
    lit: int
    units: int
    activation: str
    jit = True

    def initial(self, generator: np.random.Generator) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Glorot's uniform weights, biases of zero; constant are the weights of dark pixels."""
        hidden = glorot_uniform(generator, (self.pixels, self.units))
        hidden_bias = np.zeros(self.units, np.float32)
        last = glorot_uniform(generator, (self.units, CLASSES))
        return [hidden[: self.lit], hidden_bias, last, np.zeros(CLASSES, np.float32)], [hidden[self.lit :]]

    def logits(
        self, weights: Sequence[tf.Tensor], images: tf.Tensor, drop: Callable[[tf.Tensor], tf.Tensor]
    ) -> tf.Tensor:
        """See `Architecture`; images are rows, in training of the lit pixels, in validation of all."""
        tf = tensorflow()
        hidden_weights, hidden_bias, weights, bias, *constant = weights
        hidden = getattr(tf.nn, self.activation)(images @ tf.concat([hidden_weights, *constant], 0) + hidden_bias)
        return hidden @ weights + bias


def lit_first(split: Split) -> Split:
    """Images as rows of pixels, those that are not dark in every training image first; training has only these."""
    x_train, x_validation, x_test = (
        images.reshape(len(images), -1) for images in (split.x_train, split.x_validation, split.x_test)
    )
    lit = x_train.any(0)
    order = np.argsort(~lit, kind="stable")
    return dataclasses.replace(
        split, x_train=x_train[:, lit], x_validation=x_validation[:, order], x_test=x_test[:, order]
    )


class FCN(NetworkTask):
    """Minimize the validation error over the batch size, the number of hidden units and the learning rate.

    The parameters are those of `NetworkTask`.
    """

    dataset = "mnist"
    space = Space(
        {
            "batch_size": Integer(2**3, 2**9, log=True),
            "units": Integer(2**4, 2**9, log=True),
            "learning_rate": Real(1e-6, 1e-2, log=True),
        }
    )

    @functools.cached_property
    def _images(self) -> DeviceImages:
        return DeviceImages(lit_first(self._split))

    def start(self, config: dict[str, Any], seed: int) -> NetworkTraining:
        """See `CurveTask.start`."""
        return NetworkTraining(
            DenseNetwork(
                self._images.validation[0].shape[1], self._images.train[0].shape[1], config["units"], self.activation
            ),
            self._images,
            batch_size=config["batch_size"],
            learning_rate=config["learning_rate"],
            seed=configuration_seed(seed, config),
        )
