"""Branin's function with the light level of Toal (2015, Struct. Multidisc. Optim. 51, 1223-1245), a = 0."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space


def _parts(x: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The squared valley and the cosine of points (..., 2)."""
    x1, x2 = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    valley = (x2 - 5.1 * x1**2 / (4 * math.pi**2) + 5 * x1 / math.pi - 6) ** 2
    return valley, 10 * (1 - 1 / (8 * math.pi)) * np.cos(x1) + 10


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 2): valley + cosine."""
    valley, cosine = _parts(x)
    return valley + cosine


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l of points (..., 2): half of the valley + cosine."""
    valley, cosine = _parts(x)
    return 0.5 * valley + cosine


class Branin(Synthetic):
    """Minimize y_h over [-5, 10] x [0, 15]; it ranges from 0.4 to 308. See `Synthetic`."""

    space = Space({"x1": Real(-5.0, 10.0), "x2": Real(0.0, 15.0)})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = 0.397887357729738  # 10 / (8 pi), at (-pi, 12.275), (pi, 2.275) and (3 pi, 2.475)
