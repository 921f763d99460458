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
# A variance below it is taken as this.
LEAST_VARIANCE = 1e-24
LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def log_psi(v: FloatArray) -> FloatArray:
    """ln(v Phi(v) + phi(v)), element by element, to full precision in the lower tail.

    For v < 0 it is ln phi(v) + ln(1 - |v| M(|v|)) with Mills' ratio M(x) = sqrt(pi/2) erfcx(x / sqrt(2)), and for
    v > 0 psi(v) = v + psi(-v).
    """
    v = np.asarray(v, dtype=float)
    x = np.abs(v)
    with np.errstate(invalid="ignore", divide="ignore"):
        tail = np.log1p(-x * math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2)))
    if np.any(x > -FAR):
        w = 1.0 / np.maximum(x, -FAR) ** 2
        tail = np.where(x > -FAR, np.log(w * (1 - 3 * w * (1 - 5 * w * (1 - 7 * w)))), tail)
    tail = tail - 0.5 * x**2 - LOG_SQRT_2PI
    return np.where(v < 0, tail, np.log(x + np.exp(tail)))


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
    std = np.sqrt(np.maximum(variance, LEAST_VARIANCE))
    value = np.log(std) + log_psi((best - mean) / std)
    if upper is not None:
        inside = value - log_ndtr((upper - mean) / std)
        below, _ = truncated_moments(mean, std, -np.inf, upper)
        with np.errstate(divide="ignore", invalid="ignore"):
            certain = np.log(best - below)  # all of Y is an improvement
        value = np.where(best <= upper, inside, certain)
    return np.where(value > FLOOR, value, FLOOR)  # of nan, too


def improvement_slopes(
    value: FloatArray, best: float, mean: FloatArray, variance: FloatArray, upper: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Derivatives of a `value` of `log_improvement` by mean, variance and upper bound: 0 at its floors, or by no bound.

    With h = phi / Phi at w = (u - m) / s, E[Y | Y <= u] = m - s h and dh / dw = -h (w + h).
    """
    std = np.sqrt(np.maximum(variance, LEAST_VARIANCE))
    v = (best - mean) / std
    log_value = value if upper is None else value + log_ndtr((upper - mean) / std)  # of s psi(v)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        by_mean = -np.exp(log_ndtr(v) - log_value)
        by_std = np.exp(-0.5 * v**2 - LOG_SQRT_2PI - log_value)
        by_upper = None
        if upper is not None:
            w = (upper - mean) / std
            hazard = np.exp(-0.5 * w**2 - LOG_SQRT_2PI - log_ndtr(w))
            bend = hazard * (w + hazard)
            certain, gain = best > upper, mean - std * hazard - best
            by_mean = np.where(certain, (1.0 - bend) / gain, by_mean + hazard / std)
            by_std = np.where(certain, (-hazard - w * bend) / gain, by_std + w * hazard / std)
            by_upper = np.where(certain, bend / gain, -hazard / std)
    steep = (variance > LEAST_VARIANCE) & (value > FLOOR)
    by_mean, by_std, by_upper = (
        np.zeros_like(mean) if slope is None else np.where(steep & np.isfinite(slope), slope, 0.0)
        for slope in (by_mean, by_std, by_upper)
    )
    return by_mean, 0.5 * by_std / std, by_upper


def log_rate_of_new(
    log_gains: FloatArray, weights: FloatArray, light_cost: float, heavy_cost: float
) -> tuple[FloatArray, FloatArray]:
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
    rate : (m,) array
        max over k of ln(sum_{j <= k} w_j E_j / (C_l + C_h sum_{j <= k} w_j)), the nodes sorted from the largest gain.
    shares : (q, m) array
        Of each node in the gain, summing to 1: the derivatives of the rate by `log_gains`.
    """
    order, every = np.argsort(-log_gains, axis=0, kind="stable"), np.arange(log_gains.shape[1])
    sorted_gains = log_gains[order, every]
    chance = weights[order]
    largest = sorted_gains[0]
    parts = chance * np.exp(sorted_gains - largest)
    gained = np.cumsum(parts, axis=0)
    rates = np.log(gained / (light_cost + heavy_cost * np.cumsum(chance, axis=0)))
    last = rates.argmax(axis=0)
    shares = np.empty_like(parts)
    kept = np.where(np.arange(len(weights))[:, None] <= last, parts / gained[last, every], 0.0)
    shares[order, every] = kept
    return largest + rates[last, every], shares
