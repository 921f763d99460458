"""The other function of Park (1991) in four dimensions, with the light level of Xiong et al.

2013, Technometrics 55, 37-46. The paper's `park` is what Surjanovic and Bingham's library calls Park's function 2; this
is their function 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 4); x1 / 2 (sqrt(1 + a) - 1) with a = (x2 + x3^2) x4 / x1^2 is continued to x1 = 0."""
    x1, x2, x3, x4 = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    root = 0.5 * (np.sqrt(x1**2 + (x2 + x3**2) * x4) - x1)
    return root + (x1 + 3 * x4) * np.exp(1 + np.sin(x3))


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l(x) = (1 + sin(x1) / 10) y_h(x) - 2 x1 + x2^2 + x3^2 + 0.5 of points (..., 4)."""
    x1, x2, x3, _ = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    return (1 + np.sin(x1) / 10) * heavy(x) - 2 * x1 + x2**2 + x3**2 + 0.5


class Park1(Synthetic):
    """Maximize y_h over [0, 1]^4, as the minimization of -y_h, which ranges from -25.6 to 0. See `Synthetic`."""

    space = Space({name: Real(0.0, 1.0) for name in ("x1", "x2", "x3", "x4")})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    sign = -1
    optimum = -25.5892541586066  # at (1, 1, 1, 1)
