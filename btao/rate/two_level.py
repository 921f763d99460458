"""The two-level model: heavy response = b0 + rho (light response - mean) + process (METHOD item 22)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from btao.arrays import FloatArray
from btao.gp import Kernel
from btao.rate.process import CONSTANT, MeanPrior, Process, Response, Search, constant_basis

# Gauss-Hermite nodes and weights of a standard normal, at which a light value not known yet is taken (METHOD item 26).
N_NODES = 15
_nodes, _weights = np.polynomial.hermite_e.hermegauss(N_NODES)
NODES: FloatArray = _nodes
WEIGHTS: FloatArray = _weights / _weights.sum()

# One observation of the variance 0.2^2 (METHOD item 22).
A0, S0 = 1.0, 0.2


@dataclass(frozen=True)
class Data:
    """Results of both levels in z.

    Attributes
    ----------
    light_points, light : (n, dim) and (n,) arrays, n >= 1
    heavy_points, heavy, light_of_heavy : (n1, dim), (n1,) and (n1,) arrays
        The last are the light values at the heavy points.
    """

    light_points: FloatArray
    light: FloatArray
    heavy_points: FloatArray
    heavy: FloatArray
    light_of_heavy: FloatArray


class TwoLevelModel:
    """Both processes, conditioned on data.

    Attributes
    ----------
    light : Process
    heavy : Process or None
        None while there is no heavy result.
    """

    def __init__(self, light: Process, heavy: Process | None, center: float) -> None:
        self.light, self.heavy, self._center = light, heavy, center

    @classmethod
    def fit(
        cls,
        kernel: Kernel,
        data: Data,
        start: Sequence[FloatArray | None] = (None, None),
        search: tuple[Search, Search] = ("wide", "wide"),
    ) -> TwoLevelModel:
        """The model at the most probable hyperparameters.

        Parameters
        ----------
        kernel : Kernel
        data : Data
        start : pair of (dim + 1,) array or None
            Hyperparameters of the light and of the heavy process from which the search starts, too.
        search : pair of {"wide", "near", "none"}
            How far those of each are searched, see `Process.fitted`.
        """
        light_basis = constant_basis(data.light_points)
        light = Process.fitted(kernel, data.light_points, light_basis, data.light, CONSTANT, start[0], search[0])
        if len(data.heavy) == 0:
            return cls(light, None, 0.0)
        center = float(data.light_of_heavy.mean())
        basis = _basis(data.light_of_heavy, center)
        # One pseudo-observation: rho = 1, as informative as the spread of light values makes it.
        prior = MeanPrior(np.array([0.0, 1.0]), np.array([0.0, max(float(data.light.var()), 1e-6)]), A0, S0)
        heavy = Process.fitted(kernel, data.heavy_points, basis, data.heavy, prior, start[1], search[1])
        return cls(light, heavy, center)

    @property
    def hyperparameters(self) -> tuple[FloatArray, FloatArray | None]:
        """ln l and ln eta of both processes."""
        return self.light.theta, None if self.heavy is None else self.heavy.theta

    @property
    def heavy_variance(self) -> float:
        """sigma^2 of the heavy process."""
        return self._grown().variance

    def without_light_noise(self) -> TwoLevelModel:
        """The model that stands on light values at heavy points as the light process has them (METHOD item 29)."""
        heavy = self._grown()
        light, _ = self.light_moments(heavy.points)
        center = float(light.mean())
        basis = _basis(light, center)
        renewed = Process(heavy.kernel, heavy.points, basis, heavy.z, heavy.prior, heavy.theta)
        return TwoLevelModel(self.light, renewed, center)

    def fantasize(
        self, light_points: FloatArray, heavy_points: FloatArray, light_of_heavy: FloatArray
    ) -> TwoLevelModel:
        """The model told its own means where runs are under way, of which the heavy ones have known light values.

        It takes the uncertainty away that these runs will, and moves no mean.
        """
        light = self.light.fantasize(light_points, constant_basis(light_points))
        heavy = self.heavy and self.heavy.fantasize(heavy_points, _basis(light_of_heavy, self._center))
        return TwoLevelModel(light, heavy, self._center)

    def light_moments(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of z_l at X (m, dim), each (m,)."""
        return self.light.parts(X).moments(constant_basis(X))

    def heavy_moments(self, X: FloatArray, light: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of z_h at X (m, dim), where z_l is `light` (m,) there."""
        return self._grown().parts(X).moments(_basis(light, self._center))

    def at_nodes(self, X: FloatArray) -> AtNodes:
        """z_l at the nodes of its prediction at X (m, dim), and the moments of z_h there."""
        features = self.light.kernel.features(X)
        light = self.light.parts_at(features).response(constant_basis(X))
        std = np.sqrt(light.variance)
        at_nodes = light.mean + NODES[:, None] * std
        heavy = self._grown().parts_at(features).response(_basis(at_nodes, self._center))
        return AtNodes(at_nodes, self.light.kernel, X, light, std, heavy)

    def new_moments(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of z_h at X (m, dim) where z_l is not known, each (m,)."""
        nodes = self.at_nodes(X)
        mean = WEIGHTS @ nodes.mean
        return mean, WEIGHTS @ (nodes.variance + (nodes.mean - mean) ** 2)

    def _grown(self) -> Process:
        assert self.heavy is not None, "there is no heavy result yet"
        return self.heavy


@dataclass(frozen=True)
class AtNodes:
    """The response at m points, given that z_l is at a node of its prediction.

    Attributes
    ----------
    light : (N_NODES, m) array
    """

    light: FloatArray
    _kernel: Kernel
    _points: FloatArray
    _light: Response
    _light_std: FloatArray
    _heavy: Response

    @property
    def mean(self) -> FloatArray:
        """Of z_h, (N_NODES, m)."""
        return self._heavy.mean

    @property
    def variance(self) -> FloatArray:
        """Of z_h, (N_NODES, m)."""
        return self._heavy.variance

    def slopes(self, by_light: FloatArray, by_mean: FloatArray, by_variance: FloatArray) -> FloatArray:
        """Derivatives (m, dim) by the points of a sum over them, from those by the attributes, each (N_NODES, m)."""
        through_heavy, by_basis = self._heavy.slopes(by_mean, by_variance)
        by_light = by_light + by_basis[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            by_light_variance = np.where(self._light_std > 0, NODES @ by_light / (2.0 * self._light_std), 0.0)
        through_light, _ = self._light.slopes(by_light.sum(axis=0), by_light_variance)
        return self._kernel.along_coordinates(self._points, through_heavy + through_light)


def _basis(light: FloatArray, center: float) -> FloatArray:
    """[1, z_l - center], (..., 2)."""
    basis = np.ones((*light.shape, 2))
    basis[..., 1] = light - center
    return basis
