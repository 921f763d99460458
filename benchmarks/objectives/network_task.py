"""What the tasks that train a network on images share: levels, images, and how they are got ready."""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

from benchmarks.data import datasets, images
from benchmarks.data.source import DataSource
from benchmarks.objectives.curve import CurveTask
from benchmarks.objectives.networks import DeviceImages
from benchmarks.objectives.protocol import bounds
from btao.training import Level

ACTIVATIONS = ("relu", "tanh", "elu", "softplus")
CLASSES = 10


class NetworkTask(CurveTask):
    """A `CurveTask` on one of the image data sets; an iteration is an epoch.

    A subclass states `dataset` and `space`, takes the arguments below with its own, and starts the
    training of a configuration on `_images`.

    Parameters
    ----------
    n_train, n_validation : int
    light, heavy : Level
    activation : str
        One of `ACTIVATIONS`.
    resume_training : bool
    delta_bounds, rho_bounds : pair of float
    data, data_dir : str

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """

    dataset: ClassVar[str]

    def __init__(
        self,
        *,
        n_train: int,
        n_validation: int,
        light: Level,
        heavy: Level,
        activation: str,
        resume_training: bool,
        delta_bounds: tuple[float, float],
        rho_bounds: tuple[float, float],
        data: str,
        data_dir: str | None,
    ) -> None:
        if light.iterations >= heavy.iterations:
            raise ValueError(
                f"light_iterations must be below heavy_iterations, got {light.iterations} and {heavy.iterations}"
            )
        if (heavy.patience or math.inf) < (light.patience or math.inf) or heavy.tolerance > light.tolerance:
            raise ValueError(
                "the heavy level must not stop earlier than the light one: heavy_patience must be at least "
                f"light_patience (null is the most), got {heavy.patience} and {light.patience}, and heavy_tolerance "
                f"at most light_tolerance, got {heavy.tolerance} and {light.tolerance}"
            )
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {list(ACTIVATIONS)}, got {activation!r}")
        self.n_train, self.n_validation = n_train, n_validation
        self.light, self.heavy = light, heavy
        self.activation = activation
        self.resume_training = resume_training
        self.delta_bounds = bounds(delta_bounds)
        self.rho_bounds = bounds(rho_bounds)
        self._where: dict[str, Any] = {"data": data, "data_dir": data_dir}

    @functools.cached_property
    def _split(self) -> images.Split:
        return images.split(datasets.load(self.dataset, **self._where), self.n_train, self.n_validation)

    @property
    def data(self) -> DataSource:
        """The images that are really used; reads them."""
        return self._split.source

    @functools.cached_property
    def _images(self) -> DeviceImages:
        return DeviceImages(self._split)

    def prepare(self) -> None:
        """Import TensorFlow and hand it the images."""
        self._images  # noqa: B018
