"""What the tasks on scikit-learn's own data sets share: levels, bounds and examples."""

from __future__ import annotations

import functools
from abc import abstractmethod
from typing import Any, ClassVar

from benchmarks.data import carried
from benchmarks.data.source import DataSource
from benchmarks.objectives.curve import CurveTask
from benchmarks.objectives.protocol import bounds, check_order
from benchmarks.objectives.sklearn_models.model_training import ModelTraining
from btao.training import Level


class ModelTask(CurveTask):
    """A `CurveTask` on one of the data sets that scikit-learn carries, which nothing has to download.

    A subclass states `dataset`, `space` and what an iteration is, and starts the training of a configuration on
    `split`. A level limits the iterations and nothing else.

    Parameters
    ----------
    n_train, n_validation : int
        Numbers of examples; see `benchmarks.data.carried.split`.
    light_iterations, heavy_iterations : int
    resume_training : bool
        Whether a run that goes on with a configuration pays for the additional iterations only (METHOD item 17).
    delta_bounds, rho_bounds : pair of float
        Bounds of the truncated additive model (METHOD item 18).

    Raises
    ------
    ValueError
        If an argument is out of its range. The data is read when it is first needed, and raises then.
    """

    dataset: ClassVar[str]

    def __init__(
        self,
        n_train: int,
        n_validation: int,
        light_iterations: int,
        heavy_iterations: int,
        resume_training: bool = True,
        delta_bounds: tuple[float, float] = (-1.0, 0.0),
        rho_bounds: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.light, self.heavy = Level(light_iterations), Level(heavy_iterations)
        check_order(self.light, self.heavy)
        self.n_train, self.n_validation = n_train, n_validation
        self.resume_training = resume_training
        self.delta_bounds, self.rho_bounds = bounds(delta_bounds), bounds(rho_bounds)

    @functools.cached_property
    def split(self) -> carried.ExampleSplit:
        """The examples."""
        return carried.split(self.dataset, self.n_train, self.n_validation)

    @property
    def data(self) -> DataSource:
        """The examples that are used; reads them."""
        return self.split.source

    @abstractmethod
    def start(self, config: dict[str, Any], seed: int) -> ModelTraining:
        """See `CurveTask.start`."""
