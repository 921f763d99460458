"""The Trid function in ten dimensions with the light level of Toal, a = 0.8.

2015, Struct. Multidisc. Optim. 51, 1223-1245; the factor i of its products as van Rijn and Schmitt's MF2 computes it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space

A = 0.8


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 10): sum (x_i - 1)^2 - sum x_i x_(i-1)."""
    x = np.asarray(x, dtype=float)
    value: NDArray[np.float64] = ((x - 1) ** 2).sum(-1) - (x[..., 1:] * x[..., :-1]).sum(-1)
    return value


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l of points (..., 10): sum (x_i - a)^2 - (a - 0.65) sum i x_i x_(i-1)."""
    x = np.asarray(x, dtype=float)
    products = x[..., 1:] * x[..., :-1] * np.arange(2, 11)
    value: NDArray[np.float64] = ((x - A) ** 2).sum(-1) - (A - 0.65) * products.sum(-1)
    return value


class Trid(Synthetic):
    """Minimize y_h over [-100, 100]^10; it ranges from -210 to about 192 000. See `Synthetic`."""

    space = Space({f"x{k}": Real(-100.0, 100.0) for k in range(1, 11)})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = -210.00000000001  # -210, at x_i = i (11 - i)
