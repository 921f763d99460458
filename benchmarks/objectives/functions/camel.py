"""The six-hump camel function with the light level of Dong et al. (2015, Struct. Multidisc. Optim. 51, 1267-1280)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 2)."""
    x1, x2 = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    return (4 - 2.1 * x1**2 + x1**4 / 3) * x1**2 + x1 * x2 + (4 * x2**2 - 4) * x2**2


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l(x) = y_h(0.7 x) + x1 x2 - 15 of points (..., 2)."""
    x = np.asarray(x, dtype=float)
    return heavy(0.7 * x) + x[..., 0] * x[..., 1] - 15


class Camel(Synthetic):
    """Minimize y_h over [-2, 2]^2; it ranges from -1.03 to 56. See `Synthetic`."""

    space = Space({"x1": Real(-2.0, 2.0), "x2": Real(-2.0, 2.0)})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = -1.03162845348988  # at (0.08984201, -0.71265640) and its mirror image
