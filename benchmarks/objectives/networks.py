"""Training of networks on images, an epoch at a time: one compiled function, and nothing random but from the seed."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.images import Split
from benchmarks.objectives.curve import Iteration, State
from benchmarks.objectives.tensorflow_session import tensorflow

if TYPE_CHECKING:
    import tensorflow as tf

PROGRAMS = 32  # compiled programs that are kept
VALIDATION_BATCH = 1000  # images; what fits a cache is faster than all at once, and a GPU's memory holds it

# Adam's constants but for the learning rate (Kingma and Ba, 2015, Algorithm 1): Keras's.
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7

# The second words of seeds: what a stream of random numbers is for.
_WEIGHTS, _ORDER, _DROPOUT = range(3)


class Architecture(Protocol):
    """What a network computes. Frozen and hashable: equal ones share compiled functions.

    Attributes
    ----------
    jit : bool
        Whether XLA compiles it: faster for dense layers, slower for convolutions on a CPU.
    """

    jit: bool

    def __hash__(self) -> int: ...

    def initial(self, generator: np.random.Generator) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """The weights that training starts from, and those that it never changes."""

    def logits(
        self, weights: Sequence[tf.Tensor], images: tf.Tensor, drop: Callable[[tf.Tensor], tf.Tensor]
    ) -> tf.Tensor:
        """Logits of the classes, (batch, classes).

        Parameters
        ----------
        weights : sequence of tensor
            In the order of `initial`. The constant ones are given in validation only.
        images : (batch, ...) tensor of float32
            Pixels scaled to [0, 1].
        drop : callable
            Dropout in training, the identity in validation.
        """


class DeviceImages:
    """Images as tensors where TensorFlow computes: small numbers, scaled a batch at a time, so that caches hold more.

    Bytes, or half floats, which are as exact, where there is a GPU: TensorFlow gathers no bytes on one.
    """

    def __init__(self, split: Split) -> None:
        tf = tensorflow()
        self.n_train = len(split.y_train)
        kind = np.float16 if tf.config.list_logical_devices("GPU") else np.uint8
        parts = (split.x_train, split.y_train), (split.x_validation, split.y_validation), (split.x_test, split.y_test)
        self.train, self.validation, self.test = (
            (tf.constant(images.astype(kind)), tf.constant(labels.astype(np.int32))) for images, labels in parts
        )


class NetworkTraining:
    """The training of one configuration (see `benchmarks.objectives.curve.Training`).

    Cross-entropy, Adam, batches in a new order each epoch. The last batch holds the images that are
    left and is trained on too, its loss averaged over those, as Keras's `Model.fit` does. Weights,
    orders and dropout come from `seed` and the number of the epoch alone.

    Parameters
    ----------
    architecture : Architecture
    images : DeviceImages
    batch_size : int
    learning_rate : float
    seed : int
        See `benchmarks.objectives.protocol.configuration_seed`.
    dropout : float
        The share of values that `drop` sets to zero, from 0 to below 1.
    """

    def __init__(
        self,
        architecture: Architecture,
        images: DeviceImages,
        *,
        batch_size: int,
        learning_rate: float,
        seed: int,
        dropout: float = 0.0,
    ) -> None:
        tf = tensorflow()
        self._images = images
        self._seed = seed
        self._rates = tf.constant([learning_rate, dropout], tf.float32)
        self._batch_size = min(batch_size, images.n_train)
        self._steps = -(-images.n_train // self._batch_size)
        self._epoch = 0
        self._program = _compile(architecture, self._batch_size, images.n_train)
        weights, constants = architecture.initial(np.random.default_rng([seed, _WEIGHTS]))
        self._variables = {
            "weights": [tf.Variable(weight) for weight in weights],
            "first_moments": [tf.Variable(np.zeros_like(weight)) for weight in weights],
            "second_moments": [tf.Variable(np.zeros_like(weight)) for weight in weights],
        }
        self._constants = [tf.constant(weight) for weight in constants]
        if not self._program.compiled:  # here, so that the seconds of the first epoch are those of an epoch
            self._train(steps=0)
            self._error(images.validation)
            self._error(images.test)
            self._program.compiled = True

    def advance(self) -> Iteration:
        """Train one epoch and validate; errors are nan if the loss was not finite."""
        loss, wrong_train = self._train(self._steps)
        validation_error = self._error(self._images.validation)
        self._epoch += 1
        if not math.isfinite(loss):
            return Iteration(math.nan, math.nan)
        return Iteration(validation_error, int(wrong_train) / self._images.n_train)

    def test_error(self) -> float:
        """See `benchmarks.objectives.curve.Training`."""
        return self._error(self._images.test)

    def _train(self, steps: int) -> tuple[tf.Tensor, tf.Tensor]:
        tf = tensorflow()
        n = self._images.n_train
        order = np.random.default_rng([self._seed, _ORDER, self._epoch]).permutation(n).astype(np.int32)
        order = np.pad(order, (0, -n % self._batch_size))  # to whole batches; the program leaves the rest out
        stream = np.random.SeedSequence([self._seed, _DROPOUT, self._epoch]).generate_state(2).astype(np.int32)
        return self._program.train(
            *self._images.train,
            *self._variables.values(),
            tf.constant(order),
            tf.constant(steps),
            tf.constant(self._epoch * self._steps),
            self._rates,
            tf.constant(stream),
        )

    def _error(self, images: tuple[tf.Tensor, tf.Tensor]) -> float:
        """The share of images with a wrong answer."""
        wrong = self._program.count_wrong(*images, self._variables["weights"], self._constants)
        return int(wrong) / len(images[1])

    def state(self) -> State:
        """Weights, Adam's moments and the number of epochs."""
        arrays: dict[str, NDArray[Any]] = {
            f"{kind}_{index}": variable.numpy()
            for kind, variables in self._variables.items()
            for index, variable in enumerate(variables)
        }
        return arrays | {"epoch": np.array(self._epoch)}

    def restore(self, state: State) -> None:
        """Go to where `state` was taken."""
        for kind, variables in self._variables.items():
            for index, variable in enumerate(variables):
                variable.assign(state[f"{kind}_{index}"])
        self._epoch = int(state["epoch"])


@dataclass
class _Program:
    train: Callable[..., tuple[tf.Tensor, tf.Tensor]]
    count_wrong: Callable[..., tf.Tensor]
    compiled: bool = False  # TensorFlow compiles a function when it is first called


@functools.lru_cache(PROGRAMS)
def _compile(architecture: Architecture, batch_size: int, n_train: int) -> _Program:
    """The functions of an epoch; what can be a number at run time is, so that it costs no compilation."""
    tf = tensorflow()

    def scaled(images):
        return tf.cast(images, tf.float32) * (1 / 255)

    # Not inlined: in the cycle of a loop TensorFlow's oneDNN pass meets nodes in an order that differs from process to
    # process, and gives a pooling's gradient to oneDNN only if it has met the pooling before.
    @tf.function(autograph=False, experimental_attributes={"_noinline": True})
    def differentiate(weights, batch, truth, there, dropout, stream, index):
        with tf.GradientTape() as tape:
            logits = architecture.logits(weights, batch, _dropout(dropout, stream, index))
            losses = tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(truth, logits.shape[1]), logits)
            loss = tf.reduce_sum(losses * there)
            mean_loss = loss / tf.reduce_sum(there)
        return loss, tf.reduce_sum(_wrong(logits, truth) * there), tape.gradient(mean_loss, weights)

    @tf.function(jit_compile=architecture.jit, autograph=False)
    def train(images, labels, weights, first_moments, second_moments, order, steps, first_step, rates, stream):
        learning_rate, dropout = rates[0], rates[1]

        def step(index, total_loss, total_wrong):
            start = index * batch_size
            chosen = tf.slice(order, [start], [batch_size])
            there = tf.cast(start + tf.range(batch_size) < n_train, tf.float32)
            batch, truth = scaled(tf.gather(images, chosen)), tf.gather(labels, chosen)
            loss, wrong, gradients = differentiate(weights, batch, truth, there, dropout, stream, index)
            number = tf.cast(first_step + index + 1, tf.float32)
            for weight, first, second, gradient in zip(weights, first_moments, second_moments, gradients, strict=True):
                tf.raw_ops.ResourceApplyAdam(
                    var=weight.handle,
                    m=first.handle,
                    v=second.handle,
                    beta1_power=BETA_1**number,
                    beta2_power=BETA_2**number,
                    lr=learning_rate,
                    beta1=BETA_1,
                    beta2=BETA_2,
                    epsilon=EPSILON,
                    grad=gradient,
                )
            return index + 1, total_loss + loss, total_wrong + wrong

        _, loss, wrong = tf.while_loop(lambda index, *_: index < steps, step, (0, 0.0, 0.0))
        return loss, wrong

    @tf.function(jit_compile=architecture.jit, autograph=False)
    def count_wrong(images, labels, weights, constants):
        n = labels.shape[0]
        size = min(VALIDATION_BATCH, n)

        def step(start, total):
            first = tf.minimum(start, n - size)  # the last batch is whole, too: what was counted is left out
            chosen = first + tf.range(size)
            batch, truth = tf.gather(images, chosen), tf.gather(labels, chosen)
            new = tf.cast(chosen >= start, tf.float32)
            logits = architecture.logits([*weights, *constants], scaled(batch), lambda values: values)
            return start + size, total + tf.reduce_sum(_wrong(logits, truth) * new)

        return tf.while_loop(lambda start, _: start < n, step, (0, 0.0))[1]

    return _Program(train, count_wrong)


def _wrong(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """1 for each wrong answer, else 0."""
    tf = tensorflow()
    return tf.cast(tf.argmax(logits, axis=1, output_type=tf.int32) != labels, tf.float32)


def _dropout(rate: tf.Tensor, stream: tf.Tensor, step: tf.Tensor) -> Callable[[tf.Tensor], tf.Tensor]:
    """Dropout for one step; each layer that asks has its own random numbers."""
    library = tensorflow()
    layers = itertools.count()

    def drop(values: tf.Tensor) -> tf.Tensor:
        key = library.random.fold_in(library.random.fold_in(stream, step), next(layers))
        kept = library.random.stateless_uniform(values.shape, key) >= rate
        return library.where(kept, values / (1 - rate), 0.0)

    return drop


def glorot_uniform(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Initial weights of Glorot and Bengio (2010), equation 16; Keras's default.

    Parameters
    ----------
    generator : numpy.random.Generator
    shape : tuple of int
        Receptive field (none for a dense layer), inputs, outputs.
    """
    field = math.prod(shape[:-2])
    limit = math.sqrt(6 / (field * (shape[-2] + shape[-1])))
    return generator.uniform(-limit, limit, shape).astype(np.float32)
