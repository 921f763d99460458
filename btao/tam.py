r"""Truncated additive model: heavy values from light ones (paper Eqs. 8-11, METHOD items 1-8).

The model is y_h = rho y_l + delta with y_l a Gaussian process and delta another one, conditioned on
lower <= delta <= upper. The likelihood separates. The light part is `GaussianProcess.fit`. For the
heavy part put delta_i = y_h,i - rho y_l,i at the n1 heavy points, r = delta - mu 1, Sigma = sigma^2 R:

    -(n1/2) ln 2 pi - (1/2) ln|Sigma| - (1/2) r^T Sigma^-1 r - ln P(lower <= N(mu 1, Sigma) <= upper).

The box probability does not depend on rho, so rho has the closed form of generalized least squares,
clipped to the interval on which every delta_i is feasible; the likelihood is stationary in rho, or
rho is at a bound that no other parameter moves, so rho adds nothing to the gradient. With
a = Sigma^-1 r and G the derivative of ln P in Sigma,

    d/d mu          = 1^T a - d ln P / d mu,
    d/d (.)         = sum_ij [(1/2)(a a^T - Sigma^-1) - G]_ij dSigma_ij / d(.),

with dSigma/d ln sigma = 2 Sigma and dSigma/d ln phi_k = -phi_k (x_ik - x_jk)^2 Sigma_ij.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from copy import copy
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpotrs

from btao.arrays import FloatArray
from btao.checks import LARGEST_VALUE
from btao.gp import (
    LOG_NUGGET_BOUNDS,
    LOG_NUGGET_MEAN,
    LOG_PHI_BOUNDS,
    LOG_PHI_PRIOR_MEAN,
    TOLERANCE,
    GaussianProcess,
    Kernel,
    Pairs,
    Posterior,
    best_minimum,
    check_data,
    check_points,
    log_theta_prior,
    merge_duplicates,
    split_theta,
)
from btao.space import Space
from btao.truncated import log_box_probability_and_gradient, truncated_moments

# sigma_delta lives between these, in units of the outputs' common scale. The floor is reached
# where y_h is exactly linear in y_l (METHOD item 5).
LOG_STD_BOUNDS = (math.log(1e-6), math.log(1e3))
LOG_STD_PRIOR_STD = 2.0
# With finite bounds sigma_delta is expected near this share of their distance; without, near
# this share of the spread of the outputs.
EXPECTED_STD_SHARE = 0.3
BOX_POINTS = 256
# A search with box probabilities ends when a step gains less than this of the likelihood: far below the error of ln P
# with so many points, of some 0.02, and above the rounding of nearly singular boxes, in which line searches get lost.
BOX_TOLERANCE = 1e-6
# Searches from several starts end earlier, far enough to tell their maxima apart; the best of them then goes on.
ROUGH_TOLERANCE = 1e-4
# While there are fewer heavy results, a search with box probabilities starts from the center of the prior, too: the
# likelihood of few has several maxima, that of more hardly any that the other starts miss.
FEW = 24
# Bounds this many sigma away on both sides hold with probability 1 to rounding: ln P = 0.
CERTAIN = 9.0
# An observation breaks a bound by more than this share of the common scale or, with noise, as many of its deviations.
ROUNDING, NOISE_MARGIN = 1e-9, 3.0
# A light value below this share of the common scale is taken as 0: rho = y_h / y_l would run away.
NEGLIGIBLE = 1e-12


class TruncationWarning(UserWarning):
    """The bounds on delta contradict the observations and were widened just enough."""


@dataclass(frozen=True)
class HeavyHyperparameters:
    """mu, ln sigma, ln phi and, with noise, ln nugget of delta; mu and sigma in units of the outputs' common scale."""

    mean: float
    log_std: float
    log_phi: tuple[float, ...]
    log_nugget: float | None = None

    def to_array(self) -> FloatArray:
        nugget = [] if self.log_nugget is None else [self.log_nugget]
        return np.array([self.mean, self.log_std, *self.log_phi, *nugget])

    @classmethod
    def from_array(cls, theta: FloatArray, dim: int) -> HeavyHyperparameters:
        values = [float(value) for value in theta]
        nugget = values[2 + dim] if len(values) > 2 + dim else None
        return cls(values[0], values[1], tuple(values[2 : 2 + dim]), nugget)

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


class TruncatedAdditiveModel:
    """y_h = rho y_l + delta, with delta a Gaussian process conditioned on bounds (paper Eq. 8).

    Parameters
    ----------
    delta_bounds : (float, float)
        Lower and upper bound of delta, in the units of y; infinite ones are allowed. With both
        infinite the model is the autoregressive one of Kennedy and O'Hagan.
    rho_bounds : (float, float)
        Bounds of the scale rho; infinite ones are allowed.
    space : Space, optional
        Rounds integers and one-hot encodes categories inside the kernels. None: all real.
    negated : bool
        Whether the values are negated ones, which warnings give as they were.
    noise : bool
        Whether values of both levels hold noise (METHOD item 29): light values are then taken as the light process
        smooths them, and observations break a bound where they do so by more than `NOISE_MARGIN` of its deviations.

    Attributes
    ----------
    rho_ : float
    delta_bounds_ : (float, float)
        The bounds in force: those given, or wider ones where the observations break them.
    n_breaking_ : int
        How many heavy observations break the bounds that were given.
    light_ : GaussianProcess
        The model of y_l.
    scale_ : float
        The common factor by which both outputs are divided in the heavy part (METHOD item 5). The
        light part needs none: its mean and variance are profiled out.

    Raises
    ------
    ValueError
        If a pair of bounds is not (lower, upper) with lower <= upper, or has nan.
    """

    def __init__(
        self,
        delta_bounds: tuple[float, float] = (-math.inf, math.inf),
        rho_bounds: tuple[float, float] = (-math.inf, math.inf),
        space: Space | None = None,
        negated: bool = False,
        noise: bool = False,
    ) -> None:
        self.negated, self.noise = negated, noise
        self.delta_bounds = check_bounds(delta_bounds, "delta_bounds")
        self.rho_bounds = check_bounds(rho_bounds, "rho_bounds")
        if self.delta_bounds[0] == self.delta_bounds[1]:
            raise ValueError(f"delta_bounds must be a pair (lower, upper) with lower < upper, got {delta_bounds!r}")
        self.space = space
        self._delta: Posterior | None = None

    def fit(
        self,
        X_light: ArrayLike,
        y_light: ArrayLike,
        X_heavy: ArrayLike,
        y_heavy: ArrayLike,
        *,
        light: GaussianProcess | None = None,
        start: HeavyHyperparameters | None = None,
        fixed: bool = False,
    ) -> TruncatedAdditiveModel:
        """Fit to light values (n,) at X_light (n, dim) and heavy values (n1,) at X_heavy (n1, dim).

        Every heavy point must be a light point too (to 1e-9). Repeated points are merged and
        their values averaged. Where no rho within its bounds makes all delta_i feasible, the
        bounds on delta are widened just enough, with a `TruncationWarning` that names the
        observation (METHOD item 4).

        Parameters
        ----------
        light : GaussianProcess, optional
            A `GaussianProcess` fitted to the light data, to save fitting it again.
        start : HeavyHyperparameters, optional
            Where the search starts, besides its own start (a warm start).
        fixed : bool
            Take `start` as it is, without a search.

        Raises
        ------
        ValueError
            If data are empty, not finite, of the wrong shape or outside the unit cube, or a heavy
            point has no light value, or `start` is of another dimension, or missing with `fixed`.
        """
        X_light, y_light = check_data(X_light, y_light, "X_light", "y_light", self.space)
        X_heavy, y_heavy = check_data(X_heavy, y_heavy, "X_heavy", "y_heavy", self.space)
        if X_light.shape[1] != X_heavy.shape[1]:
            raise ValueError(f"X_light has {X_light.shape[1]} columns but X_heavy has {X_heavy.shape[1]}")
        kernel = Kernel(X_light.shape[1], self.space)
        if (fixed or start is not None) and not self._suits(start, kernel.dim):
            also = "" if self.noise else "out"
            raise ValueError(
                f"start must be HeavyHyperparameters with {kernel.dim} values of ln phi and with{also} a nugget, "
                f"got {start!r}"
            )
        self.scale_ = common_scale(y_light, y_heavy)
        X_light, y_light = merge_duplicates(kernel, X_light, y_light)
        X_heavy, y_heavy = merge_duplicates(kernel, X_heavy, y_heavy)
        self.light_ = light or GaussianProcess(self.space, self.noise).fit(X_light, y_light)
        paired = self._light_values(kernel, X_heavy, X_light, y_light)
        if self.noise:
            paired, _ = self.light_.posterior_.moments(X_heavy)
        paired = np.where(np.abs(paired) > NEGLIGIBLE * self.scale_, paired, 0.0)

        rho_interval, lower, upper = feasible_rho(paired, y_heavy, *self.delta_bounds, self.rho_bounds)
        self.delta_bounds_ = (lower, upper)
        observed = paired, y_heavy
        paired, y_heavy = paired / self.scale_, y_heavy / self.scale_
        lower, upper = self._bounds = tuple(bound / self.scale_ for bound in self.delta_bounds_)
        part = _HeavyPart(Pairs.of(kernel, X_heavy), paired, y_heavy, lower, upper, rho_interval, self.noise)
        if start is None or not fixed:
            start = part.search(start)
        self.hyperparameters_ = start
        theta = start.to_array()
        self.rho_ = part.rho(theta)
        phi, nugget = split_theta(theta[2:], kernel.dim)
        variance = float(np.exp(2 * theta[1]))
        self._delta = Posterior.condition(
            kernel, phi, theta[0], variance, X_heavy, y_heavy - self.rho_ * paired, nugget
        )
        margin = NOISE_MARGIN * math.sqrt(nugget * variance) if self.noise else ROUNDING
        self._warn_if_widened(rho_interval[0], *observed, margin * self.scale_)
        return self

    def _suits(self, start: HeavyHyperparameters | None, dim: int) -> bool:
        """Whether a search can start from `start`."""
        return (
            isinstance(start, HeavyHyperparameters)
            and len(start.log_phi) == dim
            and (start.log_nugget is not None) == self.noise
        )

    @property
    def delta_(self) -> Posterior:
        """The process delta, in units of `scale_`, conditioned on the data but not on its bounds.

        Raises
        ------
        RuntimeError
            Before `fit`.
        """
        if self._delta is None:
            raise RuntimeError("this TruncatedAdditiveModel has no data yet: call fit first")
        return self._delta

    def predict(self, X: ArrayLike, y_light: ArrayLike | None = None) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the heavy response at X (m, dim), each (m,).

        Parameters
        ----------
        X : (m, dim) array
            Points of the unit cube.
        y_light : (m,) array, optional
            Their light values where known: then the heavy response is truncated normal (paper
            Proposition 1, METHOD item 7). Otherwise the light process stands in, with its
            variance (METHOD item 8).

        Raises
        ------
        RuntimeError
            Before `fit`.
        ValueError
            If an argument has the wrong shape or is not finite.
        """
        X = check_points(X, "X", self.delta_.kernel.dim)
        if y_light is None:
            mean, variance = self.moments(X)
        else:
            X, y_light = check_data(X, y_light, "X", "y_light", self.space)
            mean, variance = self.moments(X, y_light)
        return mean, np.sqrt(variance)

    def moments(self, X: FloatArray, y_light: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Mean and variance as in `predict`, without checks: the inner loop of the acquisition."""
        delta_mean, delta_variance = self.delta_.moments(X)
        if any(math.isfinite(bound) for bound in self._bounds):
            delta_mean, delta_variance = truncated_moments(delta_mean, np.sqrt(delta_variance), *self._bounds)
        light_variance: FloatArray | float
        if y_light is None:
            light_mean, light_variance = self.light_.posterior_.moments(X)
        else:
            light_mean, light_variance = y_light, 0.0
        mean = self.rho_ * light_mean + delta_mean * self.scale_
        return mean, self.rho_**2 * light_variance + delta_variance * self.scale_**2

    def fantasize(self, X_light: FloatArray, X_heavy: FloatArray) -> TruncatedAdditiveModel:
        """A copy told its own means at runs under way, light (m, dim) and heavy (k, dim) ones.

        Hyperparameters are kept.
        """
        fantasized = copy(self)
        fantasized.light_ = self.light_.fantasize(X_light)
        for x in X_heavy:
            light_mean, _ = fantasized.light_.posterior_.moments(x[None, :])
            mean, _ = fantasized.moments(x[None, :], light_mean)
            delta = (mean[0] - self.rho_ * light_mean[0]) / self.scale_
            fantasized._delta = fantasized.delta_.extend(x, float(delta))
        return fantasized

    def _light_values(
        self, kernel: Kernel, X_heavy: FloatArray, X_light: FloatArray, y_light: FloatArray
    ) -> FloatArray:
        same = kernel.same(X_heavy, X_light)
        missing = np.flatnonzero(~same.any(axis=1))
        if len(missing):
            row = missing[0]
            raise ValueError(
                f"every heavy point needs its light value, but row {row} of X_heavy, {X_heavy[row].tolist()}, "
                "is not in X_light: run the light training there first"
            )
        values: FloatArray = y_light[same.argmax(axis=1)]
        return values

    def _warn_if_widened(self, rho: float, y_light: FloatArray, y_heavy: FloatArray, margin: float) -> None:
        self.n_breaking_ = 0
        if self.delta_bounds_ == self.delta_bounds:
            return
        delta = y_heavy - rho * y_light
        beyond = np.maximum(self.delta_bounds[0] - delta, delta - self.delta_bounds[1])
        self.n_breaking_ = int((beyond > margin).sum())
        sign, names = (-1, ("upper", "lower")) if self.negated else (1, ("lower", "upper"))
        rows = delta.argmin(), delta.argmax()
        sides = zip(names, self.delta_bounds, self.delta_bounds_, rows, strict=True)
        for name, given, widened, row in sides:
            # Rounding and noise widen a bound too, and break nothing.
            if abs(given - widened) > margin:
                low, high = self.rho_bounds
                warnings.warn(
                    f"heavy observation {row} (y_light={sign * y_light[row]:.6g}, y_heavy={sign * y_heavy[row]:.6g}) "
                    f"breaks the {name} bound {sign * given:g} on delta for every rho in [{low:g}, {high:g}]: the "
                    f"bound is widened to {sign * widened:.6g}",
                    TruncationWarning,
                    stacklevel=3,
                )


class _HeavyPart:
    """The heavy part of the likelihood with its priors, at n1 points, in scaled units."""

    def __init__(
        self,
        pairs: Pairs,
        y_light: FloatArray,
        y_heavy: FloatArray,
        lower: float,
        upper: float,
        rho_interval: tuple[float, float],
        noise: bool = False,
    ) -> None:
        self.noise, self.dim = noise, len(pairs.squared)
        self.pairs, self.y_light, self.y_heavy = pairs, y_light, y_heavy
        self.lower, self.upper, self.rho_interval = lower, upper, rho_interval
        self.prior_mean, self.prior_std, self.prior_log_std = _priors(lower, upper, y_light, y_heavy)

    def search(self, warm: HeavyHyperparameters | None) -> HeavyHyperparameters:
        """The most probable hyperparameters, searched from `warm` among others (METHOD items 6 and 14)."""
        nugget = [LOG_NUGGET_MEAN] * self.noise
        start = np.array([self.prior_mean, self.prior_log_std, *[LOG_PHI_PRIOR_MEAN] * self.dim, *nugget])
        # Center mu on the residuals that the prior's own rho leaves.
        start[0] = np.mean(self.y_heavy - self.rho(start) * self.y_light)
        starts = [] if warm is None else [warm.to_array()]
        # Outside the bounds on delta a small sigma makes the quadratic form and ln P huge and nearly
        # equal: their difference, the likelihood, would be rounding.
        within = tuple(bound if math.isfinite(bound) else None for bound in (self.lower, self.upper))
        bounds = [within, LOG_STD_BOUNDS, *[LOG_PHI_BOUNDS] * self.dim, *[LOG_NUGGET_BOUNDS] * self.noise]

        def negative(theta: FloatArray, boxed: bool = True) -> tuple[float, FloatArray]:
            value, gradient = self.log_posterior(theta, boxed)
            return -value, -gradient

        if not (math.isfinite(self.lower) or math.isfinite(self.upper)):  # all of it is cheap and exact
            best = best_minimum(negative, [*starts, start], bounds, TOLERANCE)
            return HeavyHyperparameters.from_array(best, self.dim)
        # Without box probabilities the way from the center costs hardly anything, and it mostly leads near the largest
        # maximum with them.
        starts.append(best_minimum(partial(negative, boxed=False), [start], bounds, TOLERANCE))
        if warm is None or self.pairs.n < FEW:
            starts.append(start)
        rough = best_minimum(negative, starts, bounds, ROUGH_TOLERANCE)
        return HeavyHyperparameters.from_array(best_minimum(negative, [rough], bounds, BOX_TOLERANCE), self.dim)

    def rho(self, theta: FloatArray) -> float:
        """Generalized least squares at (mu, phi), clipped to where all residuals are feasible (METHOD item 4)."""
        phi, nugget = split_theta(theta[2:], self.dim)
        factor = self.pairs.factorize(self.pairs.correlation(phi), nugget)
        solved, _ = dpotrs(factor, self.y_light, lower=1)
        return self._rho(solved, theta[0])

    def _rho(self, solved_light: FloatArray, mean: float) -> float:
        norm = solved_light @ self.y_light
        rho = solved_light @ (self.y_heavy - mean) / norm if norm > 0 else 1.0
        return float(min(max(rho, self.rho_interval[0]), self.rho_interval[1]))

    def log_likelihood(self, theta: FloatArray, boxed: bool = True) -> tuple[float, FloatArray]:
        """METHOD item 3 at theta = (mu, ln sigma, ln phi...[, ln nugget]), rho profiled out, with its gradient.

        `boxed`: with ln P; without it, delta is not conditioned on its bounds.
        """
        n, pairs = self.pairs.n, self.pairs
        mean, log_std, (phi, nugget) = theta[0], theta[1], split_theta(theta[2:], self.dim)
        R = pairs.correlation(phi)
        factor = pairs.factorize(R, nugget)
        solved_light, _ = dpotrs(factor, self.y_light, lower=1)
        residual = self.y_heavy - self._rho(solved_light, mean) * self.y_light - mean
        variance = np.exp(2 * log_std)
        weights = dpotrs(factor, residual, lower=1)[0] / variance
        quadratic = residual @ weights
        value = -0.5 * (n * math.log(2 * math.pi) + quadratic) - n * log_std - np.log(factor.diagonal()).sum()
        mean_gradient = weights.sum()
        log_std_gradient = quadratic - n
        # Each pair stands twice in the sum over i, j.
        inverse, diagonal = pairs.inverse(factor)
        below = pairs.products(weights) - inverse / variance
        on_diagonal = 0.5 * (weights @ weights - diagonal.sum() / variance)
        if boxed and min(mean - self.lower, self.upper - mean) < CERTAIN * math.sqrt(variance):
            cov = variance * (1.0 + nugget) * np.eye(n)
            cov[pairs.rows, pairs.columns] = cov[pairs.columns, pairs.rows] = variance * R
            log_p, log_p_mean, log_p_cov = log_box_probability_and_gradient(
                np.full(n, mean), cov, self.lower, self.upper, n_points=BOX_POINTS
            )
            value -= log_p
            mean_gradient -= log_p_mean.sum()
            log_std_gradient -= 2 * (log_p_cov * cov).sum()
            below = below - 2 * log_p_cov[pairs.rows, pairs.columns]
            on_diagonal -= log_p_cov.trace()
        log_phi_gradient = -phi * (pairs.squared @ (below * variance * R))
        nugget_gradient = [on_diagonal * variance * nugget] * self.noise
        return float(value), np.array([mean_gradient, log_std_gradient, *log_phi_gradient, *nugget_gradient])

    def log_posterior(self, theta: FloatArray, boxed: bool = True) -> tuple[float, FloatArray]:
        """The log-likelihood with the weak priors of METHOD item 5, and its gradient."""
        value, gradient = self.log_likelihood(theta, boxed)
        mean = (theta[0] - self.prior_mean) / self.prior_std
        log_std = (theta[1] - self.prior_log_std) / LOG_STD_PRIOR_STD
        phi_value, phi_gradient = log_theta_prior(theta[2:], self.dim)
        value += -0.5 * mean**2 - 0.5 * log_std**2 + phi_value
        return value, gradient + np.array([-mean / self.prior_std, -log_std / LOG_STD_PRIOR_STD, *phi_gradient])


def _priors(lower: float, upper: float, y_light: FloatArray, y_heavy: FloatArray) -> tuple[float, float, float]:
    """Mean and deviation of the prior on mu, and mean of that on ln sigma, in scaled units."""
    width = upper - lower
    if math.isfinite(width) and width > 0:
        return (lower + upper) / 2, width, math.log(EXPECTED_STD_SHARE * width)
    mean = lower if math.isfinite(lower) else upper if math.isfinite(upper) else 0.0
    spread = 1.0 + max(np.abs(y_light).max(), np.abs(y_heavy).max())
    return mean, spread, math.log(EXPECTED_STD_SHARE)


def feasible_rho(
    y_light: FloatArray, y_heavy: FloatArray, lower: float, upper: float, rho_bounds: tuple[float, float]
) -> tuple[tuple[float, float], float, float]:
    """The rho for which lower <= y_h,i - rho y_l,i <= upper for all i, and the bounds this needs.

    Returns ((rho_low, rho_high), lower, upper). Where no rho within its bounds is feasible, lower
    and upper come back widened by the smallest total amount that admits one (METHOD item 4).
    """
    low, high = _rho_interval(y_light, y_heavy, lower, upper, rho_bounds)
    if low <= high:
        return (low, high), lower, upper
    rho = _least_breaking_rho(y_light, y_heavy, lower, upper, rho_bounds)
    delta = y_heavy - rho * y_light
    return (rho, rho), min(lower, float(delta.min())), max(upper, float(delta.max()))


def _rho_interval(
    y_light: FloatArray, y_heavy: FloatArray, lower: float, upper: float, rho_bounds: tuple[float, float]
) -> tuple[float, float]:
    low, high = rho_bounds
    zero = y_light == 0
    if ((y_heavy[zero] < lower) | (y_heavy[zero] > upper)).any():
        return math.inf, -math.inf
    y_light, y_heavy = y_light[~zero], y_heavy[~zero]
    if len(y_light) == 0:
        return low, high
    with np.errstate(over="ignore"):
        at_lower, at_upper = (y_heavy - lower) / y_light, (y_heavy - upper) / y_light
    return (
        max(low, float(np.minimum(at_lower, at_upper).max())),
        min(high, float(np.maximum(at_lower, at_upper).min())),
    )


def _least_breaking_rho(
    y_light: FloatArray, y_heavy: FloatArray, lower: float, upper: float, rho_bounds: tuple[float, float]
) -> float:
    """The rho that breaks the bounds on delta by the smallest total amount.

    max(lower - min delta, 0) + max(max delta - upper, 0) is convex and piecewise linear in rho: it is
    least where two delta_i are equal or one is at its bound, or at a bound of rho.
    """
    first, second = np.tril_indices(len(y_light), -1)
    rise = np.concatenate([y_heavy[first] - y_heavy[second], y_heavy - lower, y_heavy - upper])
    run = np.concatenate([y_light[first] - y_light[second], y_light, y_light])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        rho = np.clip(np.concatenate([rise / run, [1.0], rho_bounds]), *rho_bounds)
    rho = rho[np.isfinite(rho)]
    delta = y_heavy - rho[:, None] * y_light
    broken = np.maximum(lower - delta.min(axis=1), 0.0) + np.maximum(delta.max(axis=1) - upper, 0.0)
    return float(rho[broken.argmin()])


def common_scale(y_light: FloatArray, y_heavy: FloatArray) -> float:
    """The one factor for both outputs: their joint spread, or their size where there is no spread."""
    both = np.concatenate([y_light, y_heavy])
    for scale in (both.std(), np.abs(both).max()):
        if scale > max(1e-12 * np.abs(both).max(), 1 / LARGEST_VALUE):
            return float(scale)
    return 1.0


def check_bounds(bounds: Iterable[float], name: str) -> tuple[float, float]:
    """(lower, upper) as floats with lower <= upper, or ValueError."""
    try:
        lower, upper = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (lower, upper) of numbers, got {bounds!r}") from None
    if not lower <= upper or lower == math.inf or upper == -math.inf:
        raise ValueError(f"{name} must be a pair (lower, upper) with lower <= upper, got {bounds!r}")
    return lower, upper
