"""When no run promises a gain, the model is taken as too sure of what it has no results of (METHOD item 30)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from btao.rate.improvement import LOG_SQRT_2PI
from btao.rate.process import LOG_NUGGET_BOUNDS

# Heavy runs without a gain after which every other one looks elsewhere; between them the search goes on as it was,
# since it may have digits to gain.
PATIENCE = 2
# In z, by today's mean and standard deviation of all values: smaller steps are those of a search that has ended.
LEAST_GAIN = 1e-6
# What standard deviations of heavy z are multiplied by, one after another. Ten has been enough wherever something was
# left to be found.
INFLATIONS = (1.0, 10.0, 100.0, 1000.0)


def inflations(values: Iterable[float], known: float) -> tuple[float, ...]:
    """The factors to be tried, in their order; see `runs_without_gain`."""
    without = runs_without_gain(values, known)
    return INFLATIONS if without >= PATIENCE and (without - PATIENCE) % 2 == 0 else INFLATIONS[:1]


def runs_without_gain(values: Iterable[float], known: float) -> int:
    """How many heavy runs came after the last that gained.

    Parameters
    ----------
    values : iterable of float
        Heavy z in the order of their runs; inf of one that failed or is under way.
    known : float
        The least heavy z that was known before them.
    """
    without = 0
    for value in values:
        without = 0 if value < known - LEAST_GAIN else without + 1
        known = min(known, value)
    return without


def log_least_improvement(variance: float) -> float:
    """ln of what a point promises of which the mean is the best z and the variance the least nugget of a process.

    Parameters
    ----------
    variance : float
        sigma^2 of the process.
    """
    return 0.5 * (math.log(variance) + float(LOG_NUGGET_BOUNDS[0])) - LOG_SQRT_2PI
