"""Expected improvement, and what is gained per cost by a run (METHOD items 23, 25 and 26)."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx, log_ndtr

from btao.arrays import FloatArray
from btao.truncated import truncated_moments

# Below it the closed form of psi cancels, and three terms of its series are exact to rounding.
FAR = -200.0
# ln of an improvement too small to matter; a rate needs an order there all the same.
FLOOR = -1e6


def log_psi(v: FloatArray) -> FloatArray:
    """ln(v Phi(v) + phi(v)), element by element, to full precision in the lower tail.

    For v < 0 it is ln phi(v) + ln(1 - |v| M(|v|)) with Mills' ratio M(x) = sqrt(pi/2) erfcx(x / sqrt(2)).
    """
    v = np.asarray(v, dtype=float)
    x = np.maximum(-v, 0.0)
    log_phi = -0.5 * x**2 - 0.5 * math.log(2 * math.pi)
    w = 1.0 / np.maximum(x, -FAR) ** 2
    series = np.log(w * (1 - 3 * w * (1 - 5 * w * (1 - 7 * w))))
    with np.errstate(invalid="ignore", divide="ignore"):
        closed = np.log1p(-x * math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2)))
    tail = log_phi + np.where(v < FAR, series, closed)
    positive = np.maximum(v, 0.0)
    upper = np.log(positive * np.exp(log_ndtr(positive)) + np.exp(-0.5 * positive**2) / math.sqrt(2 * math.pi))
    return np.where(v < 0, tail, upper)


def log_improvement(best: float, mean: FloatArray, variance: FloatArray, upper: FloatArray | None = None) -> FloatArray:
    """ln E[max(best - Y, 0)] of Y ~ N(mean, variance), or of that below `upper` (METHOD item 23).

    Parameters
    ----------
    best : float
        f, the least value seen.
    mean, variance : arrays
    upper : array, optional
        u: Y is known not to exceed it.

    Returns
    -------
    array
        At least `FLOOR`.
    """
    std = np.sqrt(np.maximum(variance, 1e-24))
    value = np.log(std) + log_psi((best - mean) / std)
    if upper is not None:
        inside = value - log_ndtr((upper - mean) / std)
        below, _ = truncated_moments(mean, std, -np.inf, upper)
        with np.errstate(divide="ignore", invalid="ignore"):
            certain = np.log(best - below)  # all of Y is an improvement
        value = np.where(best <= upper, inside, certain)
    return np.maximum(np.nan_to_num(value, nan=FLOOR, neginf=FLOOR), FLOOR)


def log_rate_of_new(log_gains: FloatArray, weights: FloatArray, light_cost: float, heavy_cost: float) -> FloatArray:
    """ln of the gain per cost of "light first, on to heavy only if it turned out well" (METHOD item 26).

    Parameters
    ----------
    log_gains : (q, m) array
        ln E_j: of the improvement at each of m points, given the light value of node j.
    weights : (q,) array
        Of the nodes, summing to 1.
    light_cost, heavy_cost : float
        Of a light run, and of a heavy one after it.

    Returns
    -------
    (m,) array
        max over k of ln(sum_{j <= k} w_j E_j / (C_l + C_h sum_{j <= k} w_j)), the nodes sorted from the largest gain.
    """
    order = np.argsort(-log_gains, axis=0, kind="stable")
    sorted_gains = np.take_along_axis(log_gains, order, axis=0)
    chance = weights[order]
    largest = sorted_gains[0]
    gained = largest + np.log(np.cumsum(chance * np.exp(sorted_gains - largest), axis=0))
    rate: FloatArray = (gained - np.log(light_cost + heavy_cost * np.cumsum(chance, axis=0))).max(axis=0)
    return rate
