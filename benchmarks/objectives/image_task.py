"""What the tasks that train on images share: levels, bounds, and the images themselves."""

from __future__ import annotations

import functools
from typing import ClassVar

from benchmarks.data import datasets, images
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import bounds, check_order
from btao.training import Level


class ImageTask:
    """A task on one of the image data sets, whose `dataset` a subclass states.

    Parameters
    ----------
    n_train, n_validation : int
    light, heavy : Level
    delta_bounds, rho_bounds : pair of float
    data, data_dir : str

    Raises
    ------
    ValueError
        If the light level is not the shorter one.
    """

    dataset: ClassVar[str]
    levels: ClassVar[str] = "any"
    optimum: float | None = None

    def __init__(
        self,
        n_train: int,
        n_validation: int,
        light: Level,
        heavy: Level,
        delta_bounds: tuple[float, float],
        rho_bounds: tuple[float, float],
        data: str,
        data_dir: str | None,
    ) -> None:
        check_order(light, heavy)
        self.n_train, self.n_validation = n_train, n_validation
        self.light, self.heavy = light, heavy
        self.delta_bounds, self.rho_bounds = bounds(delta_bounds), bounds(rho_bounds)
        self._data, self._data_dir = data, data_dir

    @functools.cached_property
    def _split(self) -> images.Split:
        found = datasets.load(self.dataset, self._data_dir, self._data)
        return images.split(found, self.n_train, self.n_validation)

    @property
    def data(self) -> DataSource:
        """The images that are really used; reads them."""
        return self._split.source

    def truth(self, config: dict[str, object]) -> None:
        """Not known."""
        return None
