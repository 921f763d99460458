"""Branin's function with light levels that punish trust in them. The light levels are ours."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.functions.branin import Branin, heavy


def independent(x: ArrayLike) -> NDArray[np.float64]:
    """sin(x1) + cos(x2) of points (..., 2), which knows nothing of Branin's function."""
    x1, x2 = np.moveaxis(np.asarray(x, dtype=float), -1, 0)
    return np.sin(x1) + np.cos(x2)


def opposite(x: ArrayLike) -> NDArray[np.float64]:
    """Of points (..., 2): minus Branin's function."""
    return -heavy(x)


def shifted(x: ArrayLike) -> NDArray[np.float64]:
    """Of points (..., 2): Branin's function with its minimizers moved by (2, 3), a fifth of the domain or less."""
    return heavy(np.asarray(x, dtype=float) - [2.0, 3.0])


class BraninIndependent(Branin):
    """Light values say nothing of heavy ones. See `Branin`."""

    light_function = staticmethod(independent)


class BraninOpposite(Branin):
    """Light values are best where heavy ones are worst. See `Branin`."""

    light_function = staticmethod(opposite)


class BraninShifted(Branin):
    """Light minimizers lie beside the heavy ones. See `Branin`."""

    light_function = staticmethod(shifted)
