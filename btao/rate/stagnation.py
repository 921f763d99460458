"""When the rule promises less than its model can tell from nothing, the model is taken as too sure (METHOD item 30).

Results beside one another add to what a process knows of their place, and take from the variance that it has
everywhere. A rule that goes on there promises nothing, and finds nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from btao.arrays import FloatArray
from btao.rate.improvement import LOG_SQRT_2PI
from btao.rate.process import LOG_NUGGET_BOUNDS

# Heavy runs without a gain after which every other one looks elsewhere.
PATIENCE = 2
# In z: a step of a search that ends, not one of a search that goes on.
LEAST_GAIN = 1e-6
# What standard deviations of heavy z are multiplied by, until a run promises more than the least.
INFLATIONS = (1.0, 10.0, 100.0, 1000.0)


def inflations(values: FloatArray) -> Iterable[float]:
    """The factors to be tried after heavy z (n,), n >= 1, in the order of their runs."""
    without = runs_without_gain(values)
    return INFLATIONS if without >= PATIENCE and (without - PATIENCE) % 2 == 0 else INFLATIONS[:1]


def runs_without_gain(values: FloatArray) -> int:
    """How many of z (n,), n >= 1, came after the last that was less than all before it by more than `LEAST_GAIN`."""
    least = np.minimum.accumulate(values)
    gained = np.flatnonzero(least[:-1] - least[1:] > LEAST_GAIN)
    return len(values) - 1 - (int(gained[-1]) + 1 if len(gained) else 0)


def log_least_improvement(variance: float) -> float:
    """ln of what a point promises of which the mean is the best z and the variance the least nugget of a process.

    Parameters
    ----------
    variance : float
        sigma^2 of the process.
    """
    return 0.5 * (math.log(variance) + float(LOG_NUGGET_BOUNDS[0])) - LOG_SQRT_2PI
