"""Hartmann's function in six dimensions, scaled, with the light level of Park, Haftka and Kim.

2017, Struct. Multidisc. Optim. 55, 1029-1050. The light level has other depths, and a polynomial in place of the
exponential.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space

HEAVY_DEPTHS, LIGHT_DEPTHS = np.array([1.0, 1.2, 3.0, 3.2]), np.array([0.5, 0.5, 2.0, 4.0])
NARROWNESS = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
CENTERS = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def _exponents(x: ArrayLike) -> NDArray[np.float64]:
    """Of points (..., 6), for each of the four wells."""
    x = np.asarray(x, dtype=float)[..., None, :]
    exponents: NDArray[np.float64] = -(NARROWNESS * (x - CENTERS) ** 2).sum(-1)
    return exponents


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 6)."""
    return -(2.58 + np.exp(_exponents(x)) @ HEAVY_DEPTHS) / 1.94


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l of points (..., 6): exp(e) is taken as (exp(-4/9) (1 + (e + 4)/9))^9."""
    polynomial = (math.exp(-4 / 9) * (1 + (_exponents(x) + 4) / 9)) ** 9
    return -(2.58 + polynomial @ LIGHT_DEPTHS) / 1.94


class Hartmann6(Synthetic):
    """Minimize y_h over [0.1, 1]^6; it ranges from -3.04 to -1.33. See `Synthetic`."""

    space = Space({f"x{k}": Real(0.1, 1.0) for k in range(1, 7)})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = -3.04245773784306  # at (0.20168951, 0.15001070, 0.47687398, 0.27533243, 0.31165162, 0.65730053)
