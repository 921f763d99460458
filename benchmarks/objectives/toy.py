"""The toy example of the paper's Fig. 1: a sine and an affine copy of it, to be minimized."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l(x) = sin x, element by element."""
    return np.sin(x)


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h(x) = 0.5 y_l(x) - 1, element by element; least value -1.5 at -pi/2 and 3 pi/2."""
    return 0.5 * light(x) - 1


class Toy(Synthetic):
    """Minimize y_h over [-pi, 3 pi]; delta_bounds are the paper's. See `Synthetic`."""

    space = Space({"x": Real(-math.pi, 3 * math.pi)})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = -1.5
    delta_bounds = (-1.5, 0.5)
