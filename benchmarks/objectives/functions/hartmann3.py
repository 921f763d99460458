"""Hartmann's function in three dimensions with the light level of Toal (2015, Struct. Multidisc. Optim. 51, 1223-1245).

Its wells lie 3/4 (a + 1) times as far from the origin; here a = 0.5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space

DEPTHS = np.array([1.0, 1.2, 3.0, 3.2])
NARROWNESS = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
CENTERS = np.array(
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.0381, 0.5743, 0.8828]]
)
SHIFT = 0.75 * (0.5 + 1)


def _wells(x: ArrayLike, centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of points (..., 3): minus the sum of four Gaussian wells."""
    x = np.asarray(x, dtype=float)[..., None, :]
    wells: NDArray[np.float64] = -np.exp(-(NARROWNESS * (x - centers) ** 2).sum(-1)) @ DEPTHS
    return wells


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 3)."""
    return _wells(x, CENTERS)


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l of points (..., 3): the same with shifted wells."""
    return _wells(x, SHIFT * CENTERS)


class Hartmann3(Synthetic):
    """Minimize y_h over [0, 1]^3; it ranges from -3.86 to 0. See `Synthetic`."""

    space = Space({name: Real(0.0, 1.0) for name in ("x1", "x2", "x3")})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = -3.86277978733267  # at (0.11458887, 0.55564890, 0.85254699)
