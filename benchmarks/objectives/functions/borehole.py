"""The borehole function in eight dimensions, with the light level of Xiong et al. (2013, Technometrics 55, 37-46).

The flow of water through a borehole from one aquifer to another, in cubic meters a year.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.synthetic import Synthetic
from btao import Real, Space


def _flow(x: ArrayLike, factor: float, constant: float) -> NDArray[np.float64]:
    """Of points (..., 8): radii of the hole and of influence, then transmissivities and heads, length, conductivity."""
    radius, influence, upper, upper_head, lower, lower_head, length, conductivity = np.moveaxis(
        np.asarray(x, dtype=float), -1, 0
    )
    ratio = np.log(influence / radius)
    resistance = constant + 2 * length * upper / (ratio * radius**2 * conductivity) + upper / lower
    return factor * upper * (upper_head - lower_head) / (ratio * resistance)


def heavy(x: ArrayLike) -> NDArray[np.float64]:
    """y_h of points (..., 8)."""
    return _flow(x, 2 * math.pi, 1.0)


def light(x: ArrayLike) -> NDArray[np.float64]:
    """y_l of points (..., 8): 5 in place of 2 pi, and 1.5 in place of 1."""
    return _flow(x, 5.0, 1.5)


class Borehole(Synthetic):
    """Minimize y_h, which ranges from 7.8 to 310, over the usual ranges of its parameters. See `Synthetic`."""

    space = Space(
        {
            "radius": Real(0.05, 0.15),
            "influence": Real(100.0, 50_000.0),
            "upper_transmissivity": Real(63_070.0, 115_600.0),
            "upper_head": Real(990.0, 1110.0),
            "lower_transmissivity": Real(63.1, 116.0),
            "lower_head": Real(700.0, 820.0),
            "length": Real(1120.0, 1680.0),
            "conductivity": Real(9855.0, 12_045.0),
        }
    )
    light_function = staticmethod(light)
    heavy_function = staticmethod(heavy)
    optimum = 7.819676328755229  # at a corner: all at their lower ends, but for influence, lower head and length
