"""The Forrester function (Forrester, Sobester and Keane, 2007, Proc. R. Soc. A 463, 3251-3269), in one dimension."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h(x) = (6x - 2)^2 sin(12x - 4), element by element."""
    x = np.asarray(x, dtype=float)
    return (6 * x - 2) ** 2 * np.sin(12 * x - 4)


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l(x) = 0.5 y_h(x) + 10 (x - 0.5) + 5, element by element."""
    x = np.asarray(x, dtype=float)
    return 0.5 * heavy(x) + 10 * (x - 0.5) + 5


class Forrester(Synthetic):
    """Minimize y_h over [0, 1]; it ranges from -6.0 to 15.8. See `Synthetic`."""

    space = Space({"x": Real(0.0, 1.0)})
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = -6.02074005576709  # at 0.7572487577; all optima are rounded down, so that no regret is negative
