"""The Park example (paper, section "Synthetic functions"; Xiong et al. 2013), to be maximized."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space

# At (1, 1, 1, 0): y_h grows with x1, x2 and (as x4 <= 1) with x3, and falls with x4.
MAXIMUM = 2 / 3 * math.exp(2) + 1


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 4)."""
    x1, x2, x3, x4 = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    return 2 / 3 * np.exp(x1 + x2) - x4 * np.sin(x3) + x3


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l = 1.2 y_h - 1 of points (..., 4)."""
    return 1.2 * heavy(x) - 1


class Park(Synthetic):
    """Maximize y_h over [0, 1]^4, as the minimization of -y_h. See `Synthetic`."""

    space = Space({name: Real(0.0, 1.0) for name in ("x1", "x2", "x3", "x4")})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    sign = -1
    optimum = -MAXIMUM
