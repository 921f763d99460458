"""Branin's function with light levels that punish trust in them. The light levels are ours."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objectives.functions.branin import Branin, heavy
from benchmarks.objectives.functions.camel import heavy as camel


def independent(x: ArrayLike) -> NDArray[np.float64]:
    """Of points (..., 2): the camel function of the same place of its own domain, which knows nothing of Branin's."""
    x = np.asarray(x, dtype=float)
    return camel((x - [2.5, 7.5]) / [3.75, 3.75])


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
