"""A network of two convolutional layers on CIFAR-10 (paper, section "Convolutional Neural Network on CIFAR-10")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.objectives.network_task import CLASSES, NetworkTask
from benchmarks.objectives.networks import NetworkTraining, glorot_uniform
from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.tensorflow_session import tensorflow
from btao import Integer, Real, Space
from btao.checks import check_integer

if TYPE_CHECKING:
    import tensorflow as tf

STRIDE = 2  # of both poolings: each halves height and width


@dataclass(frozen=True)
class ConvolutionalNetwork:
    """Two times convolution and max-pooling, then one dense layer that gives the logits.

    Attributes
    ----------
    image_shape : tuple of int
        (height, width, channels).
    units : tuple of int
        Feature maps of the first and of the second layer.
    kernel_sizes : tuple of int
        Width in pixels of the square kernels of the two layers; images are padded with zeros.
    pool_size : int
        Width in pixels of the pooled windows.
    activation : str
    """

    image_shape: tuple[int, int, int]
    units: tuple[int, int]
    kernel_sizes: tuple[int, int]
    pool_size: int
    activation: str
    jit = False  # XLA's convolutions are several times slower than oneDNN's on a CPU

    def initial(self, generator: np.random.Generator) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Glorot's uniform weights, biases of zero; all are trained."""
        height, width, inputs = self.image_shape
        weights = []
        for size, outputs in zip(self.kernel_sizes, self.units, strict=True):
            weights += [glorot_uniform(generator, (size, size, inputs, outputs)), np.zeros(outputs, np.float32)]
            height, width, inputs = -(-height // STRIDE), -(-width // STRIDE), outputs
        features = height * width * inputs
        return [*weights, glorot_uniform(generator, (features, CLASSES)), np.zeros(CLASSES, np.float32)], []

    def logits(
        self, weights: Sequence[tf.Tensor], images: tf.Tensor, drop: Callable[[tf.Tensor], tf.Tensor]
    ) -> tf.Tensor:
        """See `benchmarks.objectives.networks.Architecture`."""
        tf = tensorflow()
        activate = getattr(tf.nn, self.activation)
        *layers, weights, bias = weights
        # Gray images come without an axis of channels. CIFAR-10's pixels have about mean 1/2 and deviation 1/4.
        maps = (tf.reshape(images, (images.shape[0], *self.image_shape)) - 0.5) * 4.0
        for kernel, layer_bias in zip(layers[::2], layers[1::2], strict=True):
            maps = tf.nn.conv2d(maps, kernel, strides=1, padding="SAME")
            # Bias and a rising activation commute with the maximum, and are cheaper on a quarter of the values.
            maps = tf.nn.max_pool2d(maps, self.pool_size, STRIDE, padding="SAME")
            maps = activate(tf.nn.bias_add(maps, layer_bias))
        return drop(tf.reshape(maps, (images.shape[0], -1))) @ weights + bias


class CNN(NetworkTask):
    """Minimize the validation error over the units of both layers, the learning rate and the dropout rate.

    Parameters
    ----------
    n_train, n_validation : int
        Numbers of images; see `benchmarks.data.images.split`.
    light_iterations, light_patience, light_tolerance, heavy_iterations, heavy_patience, heavy_tolerance
        The two levels, see `btao.training.Level`; an iteration is an epoch.
    kernel_sizes : pair of int
        Width in pixels of the kernels of the two layers.
    pool_size : int
        Width in pixels of the windows of the max-pooling after each layer; they are 2 pixels apart.
    activation : str
        Of both layers: "relu", "elu", "tanh" or "softplus".
    batch_size : int
        Images a step.
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

    Notes
    -----
    The paper names the two layers, the four hyperparameters and the split, and no more. What it
    leaves open is set in conf/task/cnn.yaml, each with its reason. The network takes images of any
    size, gray ones too.
    """

    dataset = "cifar10"
    space = Space(
        {
            "units1": Integer(2**3, 2**6, log=True),
            "units2": Integer(2**3, 2**7, log=True),
            "learning_rate": Real(1e-6, 1e-2, log=True),
            "dropout": Real(0.0, 0.5),
        }
    )

    def __init__(
        self,
        n_train: int = 40_000,
        n_validation: int = 10_000,
        light_iterations: int = 10,
        light_patience: int | None = 3,
        light_tolerance: float = 0.001,
        heavy_iterations: int = 50,
        heavy_patience: int | None = 3,
        heavy_tolerance: float = 0.0,
        kernel_sizes: tuple[int, int] = (5, 3),
        pool_size: int = 3,
        activation: str = "relu",
        batch_size: int = 128,
        resume_training: bool = True,
        delta_bounds: tuple[float, float] = (-1.0, 0.0),
        rho_bounds: tuple[float, float] = (0.0, 1.0),
        data: str = "auto",
        data_dir: str | None = None,
    ) -> None:
        super().__init__(
            n_train,
            n_validation,
            light_iterations,
            light_patience,
            light_tolerance,
            heavy_iterations,
            heavy_patience,
            heavy_tolerance,
            activation,
            resume_training,
            delta_bounds,
            rho_bounds,
            data,
            data_dir,
        )
        if len(kernel_sizes) != 2:
            raise ValueError(f"kernel_sizes must be two integers, one a layer, got {kernel_sizes!r}")
        sizes = {"kernel_sizes[0]": kernel_sizes[0], "kernel_sizes[1]": kernel_sizes[1]}
        for name, value in (sizes | {"pool_size": pool_size, "batch_size": batch_size}).items():
            check_integer(name, value)
        self.kernel_sizes, self.pool_size = (kernel_sizes[0], kernel_sizes[1]), pool_size
        self.batch_size = batch_size

    def start(self, config: dict[str, Any], seed: int) -> NetworkTraining:
        """See `CurveTask.start`."""
        height, width, *channels = self._split.x_train.shape[1:]
        architecture = ConvolutionalNetwork(
            (height, width, *(channels or [1])),
            (config["units1"], config["units2"]),
            self.kernel_sizes,
            self.pool_size,
            self.activation,
        )
        return NetworkTraining(
            architecture,
            self._images,
            batch_size=self.batch_size,
            learning_rate=config["learning_rate"],
            dropout=config["dropout"],
            seed=configuration_seed(seed, config),
        )
