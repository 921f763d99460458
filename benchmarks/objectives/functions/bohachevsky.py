"""Bohachevsky's function with the light level of Dong et al. (2015, Struct. Multidisc. Optim. 51, 1267-1280)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 2)."""
    x1, x2 = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    return x1**2 + 2 * x2**2 - 0.3 * np.cos(3 * math.pi * x1) - 0.4 * np.cos(4 * math.pi * x2) + 0.7


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l(x) = y_h(0.7 x1, x2) + x1 x2 - 12 of points (..., 2)."""
    x = np.asarray(x, dtype=float)
    return heavy(x * [0.7, 1.0]) + x[..., 0] * x[..., 1] - 12


class Bohachevsky(Synthetic):
    """Minimize y_h over [-5, 5]^2; it ranges from 0 to 76. See `Synthetic`."""

    space = Space({"x1": Real(-5.0, 5.0), "x2": Real(-5.0, 5.0)})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = 0.0  # at (0, 0)
