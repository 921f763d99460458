"""What the tasks that train a network on images share beside `image_task`: the curve, and how they are got ready."""

from __future__ import annotations

import functools

from benchmarks.objectives.curve import CurveTask
from benchmarks.objectives.image_task import ImageTask
from benchmarks.objectives.networks import DeviceImages
from btao.training import Level

ACTIVATIONS = ("relu", "tanh", "elu", "softplus")
CLASSES = 10


class NetworkTask(ImageTask, CurveTask):
    """A `CurveTask` on one of the image data sets; an iteration is an epoch.

    A subclass states `dataset` and `space`, takes the arguments below with its own, and starts the
    training of a configuration on `_images`.

    Parameters
    ----------
    n_train, n_validation : int
        Numbers of images; see `benchmarks.data.images.split`.
    light_iterations, light_patience, light_tolerance, heavy_iterations, heavy_patience, heavy_tolerance
        The two levels, see `btao.training.Level`; an iteration is an epoch.
    activation : str
        One of `ACTIVATIONS`.
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

    def __init__(
        self,
        n_train: int = 50_000,
        n_validation: int = 10_000,
        light_iterations: int = 10,
        light_patience: int | None = 3,
        light_tolerance: float = 0.001,
        heavy_iterations: int = 50,
        heavy_patience: int | None = 3,
        heavy_tolerance: float = 0.0,
        activation: str = "relu",
        resume_training: bool = True,
        delta_bounds: tuple[float, float] = (-1.0, 0.0),
        rho_bounds: tuple[float, float] = (0.0, 1.0),
        data: str = "auto",
        data_dir: str | None = None,
    ) -> None:
        light = Level(light_iterations, light_patience, light_tolerance)
        heavy = Level(heavy_iterations, heavy_patience, heavy_tolerance)
        super().__init__(n_train, n_validation, light, heavy, delta_bounds, rho_bounds, data, data_dir)
        if not light.is_as_impatient_as(heavy):
            raise ValueError(
                "the heavy level must not stop earlier than the light one: heavy_patience must be at least "
                f"light_patience (null is the most), got {heavy.patience} and {light.patience}, and heavy_tolerance "
                f"at most light_tolerance, got {heavy.tolerance} and {light.tolerance}"
            )
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {list(ACTIVATIONS)}, got {activation!r}")
        self.activation, self.resume_training = activation, resume_training

    @functools.cached_property
    def _images(self) -> DeviceImages:
        return DeviceImages(self._split)

    def prepare(self) -> None:
        """Import TensorFlow and hand it the images."""
        self._images  # noqa: B018
