r"""Gaussian process with the paper's kernel: likelihood with gradient, fit, posterior, extension.

The model (paper Eqs. 1-5, METHOD items 2 and 14) is y ~ GP(mu, sigma^2 R) with the correlation
R(x, x') = exp(-sum_k phi_k (x_k - x'_k)^2). With R = L L^T fixed by phi, the maximum-likelihood
mu and sigma^2 have a closed form,

    mu      = 1^T R^-1 y / 1^T R^-1 1,
    sigma^2 = (y - mu 1)^T R^-1 (y - mu 1) / n,

so only ln phi is searched, on -(n/2) ln sigma^2 - (1/2) ln|R| + ln p(ln phi). With
a = R^-1 (y - mu 1) its gradient is

    d/d ln phi_k = (1/2) phi_k sum_ij (R^-1 - a a^T / sigma^2)_ij (x_ik - x_jk)^2 R_ij,

because mu and sigma^2 are stationary. One evaluation costs n^3 for the inverse and d n^2 for the
gradient; the squared differences are computed once for a fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtrs
from scipy.optimize import minimize

from btao.arrays import BoolArray, FloatArray, IntArray
from btao.checks import LARGEST_VALUE
from btao.space import Space

# Added to the diagonal of every correlation matrix: far above the rounding of a Cholesky
# factorization (n * 1e-16), far below what an interpolating model can notice.
JITTER = 1e-10
# A search for hyperparameters ends when a step gains less than this of the likelihood.
TOLERANCE = 1e-10
# Two points nearer than this are one point (METHOD item 13).
SAME_POINT = 1e-9

LOG_PHI_BOUNDS = (np.log(1e-2), np.log(1e3))
# Weak normal prior on ln phi: carries the first iterations, where the likelihood is flat.
LOG_PHI_PRIOR_MEAN = 0.0
LOG_PHI_PRIOR_STD = 2.0
# The nugget, the variance of noise over sigma^2, where noise is estimated (METHOD item 29; the rate rule has a prior
# and bounds of its own, item 21).
LOG_NUGGET_MEAN, LOG_NUGGET_STD, LOG_NUGGET_BOUNDS = np.log(1e-3), 2.5, (np.log(1e-8), np.log(2.0))


@dataclass(frozen=True)
class Kernel:
    """The correlation over the unit cube; integers and categories are rounded inside (METHOD item 15)."""

    dim: int
    space: Space | None = None

    def features(self, X: FloatArray) -> FloatArray:
        """Points of the cube, (n, dim), as the coordinates that the kernel measures, (n, p)."""
        return X if self.space is None else self.space.features(X)

    def squared_differences(self, F: FloatArray, G: FloatArray) -> FloatArray:
        """Squared differences by parameter, (dim, n, m), between features (n, p) and (m, p)."""
        differences = F.T[:, :, None] - G.T[:, None, :]
        return self.by_parameter(np.square(differences, out=differences))

    def by_parameter(self, values: FloatArray) -> FloatArray:
        """Values by feature (p, ...) added up by parameter, (dim, ...)."""
        if self.space is None or len(values) == self.dim:
            return values
        return np.add.reduceat(values, np.flatnonzero(np.diff(self.space.groups, prepend=-1)), axis=0)

    def by_feature(self, values: FloatArray) -> FloatArray:
        """Values by parameter (dim,) as values by feature (p,)."""
        return values if self.space is None else values[self.space.groups]

    def along_coordinates(self, X: FloatArray, by_features: FloatArray) -> FloatArray:
        """Derivatives by points X (m, dim) from those by their features (m, p): 0 where a parameter is not real."""
        if self.space is None:
            return by_features
        if by_features.shape[1] != self.dim:  # of a parameter that has several the first
            by_features = by_features[:, np.searchsorted(self.space.groups, np.arange(self.dim))]
        along: FloatArray = by_features * self.space.continuous
        return along * self.space.active(X) if self.space.conditions else along

    def same(self, X: FloatArray, Y: FloatArray) -> BoolArray:
        """Which points (n, dim) and (m, dim) are the same one, as a boolean array (n, m)."""
        return self._squared_distances(X, Y) <= SAME_POINT**2

    def first(self, X: FloatArray) -> IntArray:
        """For each of n points the index of the first that is the same one, (n,)."""
        if not (np.diff(np.sort(self.along_line(X))) <= 2 * SAME_POINT).any():
            return np.arange(len(X))
        index: IntArray = self.same(X, X).argmax(axis=1)
        return index

    def along_line(self, X: FloatArray) -> FloatArray:
        """Points (n, dim) projected on one direction in the space of features, (n,): no two are farther apart there."""
        F = self.features(X)
        projected: FloatArray = F @ _direction(F.shape[1])
        return projected

    def distance(self, X: FloatArray, known: FloatArray) -> FloatArray:
        """Distance from each of n points to the nearest of the known ones, (n,)."""
        distance: FloatArray = np.sqrt(self._squared_distances(X, known).min(axis=1))
        return distance

    def _squared_distances(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        squared: FloatArray = self.squared_differences(self.features(X), self.features(Y)).sum(axis=0)
        return squared


@lru_cache
def _direction(size: int) -> FloatArray:
    """A unit vector of fixed random weights: no two configurations of a grid have equal projections, as on an axis."""
    weights = np.random.default_rng(0).standard_normal(size)
    direction: FloatArray = weights / np.linalg.norm(weights)
    return direction


@dataclass(frozen=True)
class Pairs:
    """The n (n - 1) / 2 pairs of n points: squared differences by parameter, kept for a whole fit.

    `rows` > `columns` index the points of each pair, and `below` its place in a matrix in Fortran's order; `squared` is
    (dim, pairs).
    """

    n: int
    rows: IntArray
    columns: IntArray
    below: IntArray
    squared: FloatArray

    @classmethod
    def of(cls, kernel: Kernel, X: FloatArray) -> Pairs:
        """The pairs of points X (n, dim)."""
        F = kernel.features(X)
        rows, columns = np.tril_indices(len(F), -1)
        squared = np.asfortranarray(kernel.by_parameter(((F[rows] - F[columns]) ** 2).T))
        return cls(len(F), rows, columns, rows + len(F) * columns, squared)

    def correlation(self, phi: FloatArray) -> FloatArray:
        """R of every pair, (pairs,)."""
        R: FloatArray = phi @ self.squared
        return np.exp(np.negative(R, out=R), out=R)

    def factorize(self, correlation: FloatArray, nugget: float = JITTER) -> FloatArray:
        """Lower Cholesky factor (n, n) of the correlation matrix with the nugget on its diagonal."""
        flat = np.zeros(self.n**2)
        flat[self.below] = correlation
        flat[:: self.n + 1] = 1.0 + nugget
        factor: FloatArray
        factor, info = dpotrf(flat.reshape(self.n, self.n).T, lower=1, clean=0, overwrite_a=1)
        if info != 0:  # not reachable with the jitter and finite input
            raise FloatingPointError("correlation matrix is not positive definite")
        return factor

    def inverse(self, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
        """R^-1 of every pair, (pairs,), and on the diagonal, (n,), from the Cholesky factor, whose memory it takes."""
        inverse: FloatArray
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        return inverse.T.ravel().take(self.below), inverse.diagonal()

    def products(self, values: FloatArray) -> FloatArray:
        """The product of the values (n,) of every pair, (pairs,)."""
        return values.take(self.rows) * values.take(self.columns)


@dataclass(frozen=True)
class Posterior:
    """A Gaussian process conditioned on data at fixed hyperparameters (paper Eq. 5).

    `weights` are R^-1 (y - mean); `factor` is the Cholesky factor of R, with the nugget on its diagonal; `points` lie
    in the cube.
    """

    kernel: Kernel
    phi: FloatArray
    mean: float
    variance: float
    points: FloatArray
    values: FloatArray
    factor: FloatArray
    weights: FloatArray
    nugget: float = JITTER

    @classmethod
    def condition(
        cls,
        kernel: Kernel,
        phi: FloatArray,
        mean: float,
        variance: float,
        points: FloatArray,
        values: FloatArray,
        nugget: float = JITTER,
        factor: FloatArray | None = None,
    ) -> Posterior:
        """Condition on values (n,) at points (n, dim), of whose R the factor may be known."""
        if factor is None:
            pairs = Pairs.of(kernel, points)
            factor = pairs.factorize(pairs.correlation(phi), nugget)
        weights, _ = dpotrs(factor, values - mean, lower=1)
        return cls(kernel, phi, mean, variance, points, values, factor, weights, nugget)

    def moments(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the response without its noise at X (m, dim), each (m,)."""
        cross = self._cross(X)
        half, _ = dtrtrs(self.factor, cross, lower=1)
        variance = self.variance * np.clip(1.0 - np.einsum("ij,ij->j", half, half), 0.0, 1.0)
        return self.mean + self.weights @ cross, variance

    def extend(self, x: FloatArray, y: float) -> Posterior:
        """Condition on one more value y at x (dim,) in n^2 operations, hyperparameters kept (METHOD item 14)."""
        n = len(self.values)
        half, _ = dtrtrs(self.factor, self._cross(x[None, :]), lower=1)
        factor = np.zeros((n + 1, n + 1))
        factor[:n, :n] = self.factor
        factor[n, :n] = half[:, 0]
        factor[n, n] = np.sqrt(max(1.0 + self.nugget - half[:, 0] @ half[:, 0], self.nugget))
        values = np.append(self.values, y)
        weights, _ = dpotrs(factor, values - self.mean, lower=1)
        points = np.vstack([self.points, x])
        return replace(self, points=points, values=values, factor=factor, weights=weights)

    @cached_property
    def features(self) -> FloatArray:
        """The points as the kernel sees them."""
        return self.kernel.features(self.points)

    def _cross(self, X: FloatArray) -> FloatArray:
        squared = self.kernel.squared_differences(self.features, self.kernel.features(X))
        dim, n, m = squared.shape
        exponents = self.phi @ squared.reshape(dim, n * m)
        np.exp(np.negative(exponents, out=exponents), out=exponents)
        return exponents.reshape(n, m)


@dataclass(frozen=True)
class Profile:
    """What data tell at given phi and nugget: R of every pair, its factor, R^-1 (y - mu), mu, sigma^2 and Q / n.

    Q is (y - mu)^T R^-1 (y - mu); sigma^2 is larger than Q / n at its floor alone.
    """

    correlation: FloatArray
    factor: FloatArray
    weights: FloatArray
    mean: float
    variance: float
    quadratic: float

    @classmethod
    def of(cls, theta: FloatArray, pairs: Pairs, y: FloatArray, variance_floor: float = 0.0) -> Profile:
        """The arguments are those of `profile_log_likelihood`."""
        phi, nugget = split_theta(theta, len(pairs.squared))
        R = pairs.correlation(phi)
        factor = pairs.factorize(R, nugget)
        solved, _ = dpotrs(factor, np.array([np.ones(pairs.n), y]).T, lower=1)
        mean = solved[:, 1].sum() / solved[:, 0].sum()
        weights = solved[:, 1] - mean * solved[:, 0]
        quadratic = weights @ (y - mean)
        return cls(R, factor, weights, float(mean), float(max(quadratic / pairs.n, variance_floor)), float(quadratic))


def profile_log_likelihood(
    theta: FloatArray, pairs: Pairs, y: FloatArray, variance_floor: float = 0.0
) -> tuple[float, FloatArray, float, float]:
    """Log-likelihood of ln phi with mu and sigma^2 profiled out, less the constant (METHOD item 2).

    Parameters
    ----------
    theta : (dim,) or (dim + 1,) array
        ln phi, and the logarithm of the nugget where there is noise.
    pairs : Pairs
        Of the n points.
    y : (n,) array
    variance_floor : float
        The smallest sigma^2, for data on which the likelihood would grow without bound.

    Returns
    -------
    value, gradient (as theta), mu, sigma^2
        The value is -(n/2) ln sigma^2 - (1/2) ln|R| up to a constant.
    """
    phi, nugget = split_theta(theta, len(pairs.squared))
    profile, n = Profile.of(theta, pairs, y, variance_floor), pairs.n
    weights, variance = profile.weights, profile.variance
    value = -0.5 * n * np.log(variance) - 0.5 * (profile.quadratic / variance - n)
    value -= np.log(profile.factor.diagonal()).sum()
    # Each pair stands twice in the sum over i, j; the diagonal has no squared difference.
    below, diagonal = pairs.inverse(profile.factor)
    below -= pairs.products(weights) / variance
    below *= profile.correlation
    gradient = phi * (pairs.squared @ below)
    if len(theta) > len(phi):
        gradient = np.append(gradient, 0.5 * nugget * (weights @ weights / variance - diagonal.sum()))
    return float(value), gradient, profile.mean, variance


def split_theta(theta: FloatArray, dim: int) -> tuple[FloatArray, float]:
    """phi (dim,) and the nugget of ln phi, which the logarithm of a nugget may follow: else it is the jitter."""
    phi: FloatArray = np.exp(theta[:dim])
    return phi, float(np.exp(theta[dim])) if len(theta) > dim else JITTER


class GaussianProcess:
    """Gaussian process on the unit cube, interpolating or of noisy values, fitted by (penalized) maximum likelihood.

    Parameters
    ----------
    space : Space, optional
        Rounds integers and one-hot encodes categories inside the kernel. None: all coordinates are real.
    noise : bool
        Whether values hold noise, whose variance is then estimated and bounded below (METHOD item 29).

    Attributes
    ----------
    phi_ : (dim,) array
        Inverse squared length scales per parameter, after `fit`.
    log_phi_ : (dim,) array
    theta_ : (dim,) or (dim + 1,) array
        ln phi, and with noise the logarithm of the nugget.
    mean_, variance_ : float
        mu and sigma^2, in the units of y and of y squared.
    """

    def __init__(self, space: Space | None = None, noise: bool = False) -> None:
        self.space, self.noise = space, noise
        self._posterior: Posterior | None = None

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, start: ArrayLike | None = None, fixed: bool = False
    ) -> GaussianProcess:
        """Fit mu, sigma^2 and phi to values y (n,) at points X (n, dim) of the unit cube.

        Points that coincide are merged and their values averaged. Values that are all equal are
        allowed: the process then has that mean and a variance near zero.

        Parameters
        ----------
        start : (dim,) or (dim + 1,) array, optional
            `theta_` from which the search starts, besides its own starts (a warm start).
        fixed : bool
            Take `start` as it is, without a search.

        Raises
        ------
        ValueError
            If X or y is empty, not finite, of the wrong shape or outside the unit cube, a value
            exceeds 1e100 in size, or `start` is not of its shape, finite, or missing with `fixed`.
        """
        X, y = check_data(X, y, "X", "y", self.space)
        kernel = Kernel(X.shape[1], self.space)
        warm, size = None, kernel.dim + self.noise
        if start is not None or fixed:
            warm = np.asarray(math.nan if start is None else start, dtype=float)
            if warm.shape != (size,) or not np.isfinite(warm).all():
                also = " and of the nugget's logarithm" if self.noise else ""
                raise ValueError(f"start must be {size} finite values of ln phi{also}, got {warm.tolist()}")
        X, y = merge_duplicates(kernel, X, y)
        pairs = Pairs.of(kernel, X)
        floor = variance_floor(y)
        theta = warm if warm is not None and fixed else _search(pairs, y, floor, warm, self.noise)
        profile = Profile.of(theta, pairs, y, floor)
        phi, nugget = split_theta(theta, kernel.dim)
        self.phi_, self.mean_, self.variance_ = phi, profile.mean, profile.variance
        self._posterior = Posterior.condition(kernel, phi, self.mean_, self.variance_, X, y, nugget, profile.factor)
        self.theta_, self.log_phi_ = theta, theta[: kernel.dim]
        return self

    @property
    def posterior_(self) -> Posterior:
        """The process conditioned on the data.

        Raises
        ------
        RuntimeError
            Before `fit`.
        """
        if self._posterior is None:
            raise RuntimeError("this GaussianProcess has no data yet: call fit(X, y) first")
        return self._posterior

    def predict(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Posterior mean and standard deviation at points X (m, dim) of the unit cube, each (m,).

        Raises
        ------
        RuntimeError
            Before `fit`.
        """
        mean, variance = self.posterior_.moments(check_points(X, "X", self.posterior_.kernel.dim))
        return mean, np.sqrt(variance)

    def extend(self, x: ArrayLike, y: float) -> GaussianProcess:
        """A copy conditioned on one more value y at x (dim,), hyperparameters kept, in n^2 operations.

        Raises
        ------
        RuntimeError
            Before `fit`.
        ValueError
            If x or y is not as in `fit`, or x is a point of the data already.
        """
        kernel = self.posterior_.kernel
        X, values = check_data(check_points(np.atleast_2d(x), "x", kernel.dim), np.atleast_1d(y), "x", "y", self.space)
        if kernel.same(X, self.posterior_.points).any():
            raise ValueError(f"x is a point of the data already, {X[0].tolist()}: fit again, which averages")
        extended = copy(self)
        extended._posterior = self.posterior_.extend(X[0], float(values[0]))
        return extended

    def fantasize(self, X: FloatArray) -> GaussianProcess:
        """A copy told its own mean at each of X (m, dim) in turn, as if those runs were done.

        Stands in for runs under way: it takes their uncertainty away and moves no mean.
        """
        model = self
        for x in X:
            mean, _ = model.posterior_.moments(x[None, :])
            model = model.extend(x, float(mean[0]))
        return model


def _search(pairs: Pairs, y: FloatArray, floor: float, warm: FloatArray | None, noise: bool) -> FloatArray:
    dim = len(pairs.squared)

    def negative(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient, _, _ = profile_log_likelihood(theta, pairs, y, floor)
        prior, prior_gradient = log_theta_prior(theta, dim)
        return -(value + prior), -(gradient + prior_gradient)

    bounds = [LOG_PHI_BOUNDS] * dim + [LOG_NUGGET_BOUNDS] * noise
    starts = [np.append(np.full(dim, LOG_PHI_PRIOR_MEAN), [LOG_NUGGET_MEAN] * noise)]
    if warm is not None:
        starts.insert(0, np.clip(warm, *np.transpose(bounds)))
    return best_minimum(negative, starts, bounds)


def best_minimum(
    function: Callable[[FloatArray], tuple[float, FloatArray]],
    starts: list[FloatArray],
    bounds: Sequence[tuple[float | None, float | None]],
    tolerance: float = TOLERANCE,
) -> FloatArray:
    """The best end of L-BFGS-B runs from `starts`; `function` returns value and gradient.

    A run ends when a step gains less than `tolerance` of the value.
    """
    results = [
        minimize(
            function, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 60, "ftol": tolerance}
        )
        for start in starts
    ]
    best: FloatArray = min(results, key=lambda result: result.fun).x
    return best


def log_phi_prior(log_phi: FloatArray) -> tuple[float, FloatArray]:
    """The weak normal log-prior on ln phi, less its constant, and its gradient (METHOD item 5)."""
    standardized = (log_phi - LOG_PHI_PRIOR_MEAN) / LOG_PHI_PRIOR_STD
    return -0.5 * float(standardized @ standardized), -standardized / LOG_PHI_PRIOR_STD


def log_theta_prior(theta: FloatArray, dim: int) -> tuple[float, FloatArray]:
    """The log-prior on ln phi (dim,) and, where it follows, on the logarithm of the nugget, and its gradient."""
    value, gradient = log_phi_prior(theta[:dim])
    if len(theta) == dim:
        return value, gradient
    standardized = (theta[dim] - LOG_NUGGET_MEAN) / LOG_NUGGET_STD
    return value - 0.5 * standardized**2, np.append(gradient, -standardized / LOG_NUGGET_STD)


def variance_floor(y: FloatArray) -> float:
    """The smallest sigma^2 for data y: keeps constant data from a zero variance (METHOD item 5)."""
    return max((1e-8 * (np.abs(y).max() or 1.0)) ** 2, np.finfo(float).tiny)


def merge_duplicates(kernel: Kernel, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points (n, dim) without repeats, in order of first occurrence, with the mean of the values of each."""
    first = kernel.first(X)
    if np.array_equal(first, np.arange(len(y))):
        return X, y
    kept = np.unique(first)
    return X[kept], np.array([y[first == index].mean() for index in kept])


def check_points(X: ArrayLike, name: str, dim: int | None) -> FloatArray:
    """X as a float array (n, dim) of points in the unit cube, or ValueError."""
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or (dim is not None and X.shape[1] != dim):
        expected = f"(n, {dim})" if dim is not None else "(n, dim)"
        raise ValueError(f"{name} must be an array of shape {expected}, got shape {X.shape}")
    if not np.isfinite(X).all() or (X < -SAME_POINT).any() or (X > 1.0 + SAME_POINT).any():
        bad = np.flatnonzero(~((X >= -SAME_POINT) & (X <= 1.0 + SAME_POINT)).all(axis=1))[0]
        raise ValueError(f"{name} must lie in the unit cube; row {bad} is {X[bad].tolist()}")
    return X


def check_data(
    X: ArrayLike, y: ArrayLike, X_name: str, y_name: str, space: Space | None = None
) -> tuple[FloatArray, FloatArray]:
    """Points (n, dim) and finite values (n,), at most 1e100 in size, with n >= 1, or ValueError."""
    X = check_points(X, X_name, None if space is None else space.dim)
    y = np.asarray(y, dtype=float)
    if y.shape != (len(X),):
        raise ValueError(f"{y_name} must have one value per row of {X_name}: {len(X)} rows, values of shape {y.shape}")
    if len(y) == 0:
        raise ValueError(f"{X_name} and {y_name} are empty: at least one point is needed")
    if not np.isfinite(y).all():
        bad = np.flatnonzero(~np.isfinite(y))[0]
        raise ValueError(f"{y_name} must be finite; entry {bad} is {y[bad]} (leave failed trials out)")
    if np.abs(y).max() > LARGEST_VALUE:
        bad = np.abs(y).argmax()
        raise ValueError(f"{y_name} must not exceed {LARGEST_VALUE:g} in size; entry {bad} is {y[bad]}")
    return X, y
