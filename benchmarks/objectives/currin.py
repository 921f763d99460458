"""The Currin exponential example (paper, section "Synthetic functions"; Xiong et al. 2013), to be maximized."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space

# 13.7987220447284345... at (13/60, 0), and as good as that wherever exp(-1/(2 x2)) rounds to 0;
# rounded up, so that rounding errors cannot make a regret negative.
MAXIMUM = 13.7987220447285


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 2); the factor 1 - exp(-1/(2 x2)) is continued by 1 at x2 = 0."""
    x1, x2 = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    numerator = 2300 * x1**3 + 1900 * x1**2 + 2092 * x1 + 60
    denominator = 100 * x1**3 + 500 * x1**2 + 4 * x1 + 20
    with np.errstate(divide="ignore", over="ignore"):
        factor = -np.expm1(-0.5 / np.abs(x2))  # the sign of -0.0 must not count
    return factor * numerator / denominator


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l of points (..., 2): the mean of y_h at four points around each. x1 - 0.05 < 0 is intended."""
    x1, x2 = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    above, below = x2 + 0.05, np.maximum(0.0, x2 - 0.05)
    corners = [np.stack([x1 + step, height], axis=-1) for step in (0.05, -0.05) for height in (above, below)]
    return np.mean([heavy(corner) for corner in corners], axis=0)


class Currin(Synthetic):
    """Maximize y_h over [0, 1]^2, as the minimization of -y_h. See `Synthetic`."""

    space = Space({"x1": Real(0.0, 1.0), "x2": Real(0.0, 1.0)})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    sign = -1
    optimum = -MAXIMUM
