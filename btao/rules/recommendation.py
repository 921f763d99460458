"""Which of the configurations tried so far a model recommends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# Means nearer than this share of the spread of the values count as equal. Interpolating models take up
# to a few 1e-5 of it off the values by their jitter; noise that is worth smoothing is larger.
EQUAL_MEANS = 1e-4


def least_expected(values: ArrayLike, means: ArrayLike) -> int:
    """The result that a model expects to be the smallest.

    Parameters
    ----------
    values : (n,) array, n >= 1
        What was observed, to be minimized.
    means : (n,) array
        The model's posterior means at the same configurations.

    Returns
    -------
    int
        The index of the smallest mean. Of means that are equal, to `EQUAL_MEANS` of the spread of the
        values, the smallest value decides, then the earlier one: without noise this is the smallest value.
    """
    values, means = np.asarray(values, dtype=float), np.asarray(means, dtype=float)
    equal = np.flatnonzero(means <= means.min() + EQUAL_MEANS * np.ptp(values))
    return int(equal[values[equal].argmin()])
