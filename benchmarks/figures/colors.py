"""How far apart two colors are for the eye, that of color-blind readers included."""

from __future__ import annotations

import functools
import math

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

# What is left of linear RGB without the cones for long or for middle waves (Machado, Oliveira and Fernandes, 2009).
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
# Ottosson's (2020) Oklab: from linear RGB to cones, and from their cube roots to lightness and two hues.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(color: str) -> NDArray[np.float64]:
    """Red, green and blue of a color as amounts of light, from 0 to 1."""
    rgb = np.array(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(color: str, vision: str = "normal") -> NDArray[np.float64]:
    """Lightness from 0 to 1, and the two coordinates of the hue, of a color as it is seen.

    Parameters
    ----------
    color : str
        As matplotlib takes it.
    vision : str
        Of `VISION`.
    """
    return OKLAB @ np.cbrt(CONES @ np.clip(VISION[vision] @ linear(color), 0, 1))


@functools.cache
def distance(one: str, other: str) -> float:
    """The distance of two colors in Oklab, to the eye of `VISION` to which they are the closest; 0.02 can just be told.

    From 0 to 1, which is that of black and white.
    """
    return min(math.dist(oklab(one, vision), oklab(other, vision)) for vision in VISION)
