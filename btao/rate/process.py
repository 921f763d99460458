r"""A Gaussian process with a linear mean and noise, fitted by generalized least squares (METHOD items 21 and 22).

z = H beta + f(x) + noise. Of f and noise together sigma^2 R is the covariance, with R = K + eta I and
K_ij = exp(-(1/2) sum_k ((x_ik - x_jk) / l_k)^2). Given the lengths l and the nugget eta, with a prior precision P (in
units of 1 / sigma^2) about b, and a0 observations of the variance s0^2,

    beta    = A^-1 (H^T R^-1 z + P b),   A = H^T R^-1 H + P,
    Q       = (z - H beta)^T R^-1 (z - H beta) + (beta - b)^T P (beta - b),
    sigma^2 = (Q + a0 s0^2) / (n + a0),

so only ln l and ln eta are searched, on -((n + a0) / 2) ln sigma^2 - (1/2) ln|R| + ln p(ln l, ln eta). Q is
stationary in beta, so with a = R^-1 (z - H beta) the gradient is (1/2) sum_ij (a_i a_j / sigma^2 - R^-1_ij) dR_ij.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs
from scipy.spatial.distance import cdist

from btao.arrays import FloatArray, IntArray
from btao.gp import JITTER, Kernel, Pairs, best_minimum

LOG_LENGTH_MEAN, LOG_LENGTH_STD, LOG_LENGTH_BOUNDS = np.log(0.5), 0.8, (np.log(0.02), np.log(20.0))
# The least nugget costs 4 nats. With the prior of `gp` it costs 21: a process of few points takes curvature for noise,
# and the search stalls.
LOG_NUGGET_MEAN, LOG_NUGGET_STD = np.log(1e-5), 4.0
# The posterior of few points may have a maximum that takes part of them for noise, and one that does not. A start is on
# either side, and within the bounds.
LOG_NUGGET_STARTS = LOG_NUGGET_MEAN - 1.5 * LOG_NUGGET_STD, LOG_NUGGET_MEAN + 1.5 * LOG_NUGGET_STD
# The least is a hundred times what a factorization of 2,500 points bears. With 1e-8 the last digits of values without
# noise are lost, and the search stalls, too.
LOG_NUGGET_BOUNDS = np.log(JITTER), np.log(2.0)
# The least sigma^2: keeps data without spread from a zero variance.
VARIANCE_FLOOR = 1e-12
# A search ends when a step gains less than this of the log-posterior: some 1e-5, which no proposal feels. At the least
# nugget and great lengths rounding may be as large, and ends it.
TOLERANCE = 1e-7
# More data tell hardly more of the hyperparameters, at n^3 operations for each step of the search.
MAX_SEARCHED = 300

# How far the most probable hyperparameters are searched, see `Process.fitted`.
Search = Literal["wide", "near", "none"]


@dataclass(frozen=True)
class MeanPrior:
    """What is known of a process before its data: P = diag(precision) about b, and a0 observations of s0^2."""

    center: FloatArray
    precision: FloatArray
    a0: float = 0.0
    s0: float = 0.0


# Of a constant mean, of which nothing is known.
CONSTANT = MeanPrior(np.zeros(1), np.zeros(1))


def constant_basis(points: FloatArray) -> FloatArray:
    """H of a constant mean at n points, (n, 1)."""
    return np.ones((len(points), 1))


@dataclass(frozen=True)
class _Fit:
    """All that comes of hyperparameters in closed form: the Cholesky factors of R and of A among it."""

    factor: FloatArray
    solved_basis: FloatArray  # R^-1 H
    precision_factor: FloatArray
    beta: FloatArray
    weights: FloatArray  # a
    variance: float
    misfit: float  # Q + a0 s0^2 in units of sigma^2: n + a0, but at the floor of sigma^2


class Process:
    """A process conditioned on data at fixed hyperparameters.

    Parameters
    ----------
    kernel : Kernel
    points : (n, dim) array
        In the unit cube.
    basis : (n, p) array
        H.
    z : (n,) array
    prior : MeanPrior
    theta : (dim + 1,) array
        ln l and ln eta.

    Attributes
    ----------
    beta : (p,) array
    variance : float
        sigma^2.
    """

    def __init__(
        self, kernel: Kernel, points: FloatArray, basis: FloatArray, z: FloatArray, prior: MeanPrior, theta: FloatArray
    ) -> None:
        self.kernel, self.points, self.basis, self.z, self.prior, self.theta = kernel, points, basis, z, prior, theta
        self._phi = _phi(theta)
        self._scales = kernel.by_feature(np.sqrt(self._phi))
        self._scaled = kernel.features(points) * self._scales
        # By differences, as the rounding of `_correlation` could exceed the least nugget.
        matrix = np.exp(-cdist(self._scaled, self._scaled, "sqeuclidean"))
        matrix[np.diag_indices_from(matrix)] = 1.0 + np.exp(theta[-1])
        factor, info = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if info != 0:  # not reachable with a nugget within its bounds and finite input
            raise FloatingPointError("correlation matrix is not positive definite")
        self._fit = _closed_form(factor, basis, z, prior)
        self.beta, self.variance = self._fit.beta, self._fit.variance

    @classmethod
    def fitted(
        cls,
        kernel: Kernel,
        points: FloatArray,
        basis: FloatArray,
        z: FloatArray,
        prior: MeanPrior,
        start: FloatArray | None = None,
        search: Search = "wide",
    ) -> Process:
        """The process at the most probable hyperparameters, searched on `MAX_SEARCHED` of the data at most.

        Parameters
        ----------
        kernel, points, basis, z, prior
            As for `Process`.
        start : (dim + 1,) array, optional
            Hyperparameters near which the best ones may be. Without it any search is wide.
        search : {"wide", "near", "none"}
            From `start` and from the prior's most probable lengths with little and with much noise, from `start`
            alone, or not at all: `start` as it is.
        """
        if search == "none" and start is not None:
            return cls(kernel, points, basis, z, prior, start)
        some = _evenly(len(z))
        pairs, some_basis, some_z = Pairs.of(kernel, points[some]), basis[some], z[some]

        def negative(theta: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = log_posterior(theta, pairs, some_basis, some_z, prior)
            return -value, -gradient

        bounds = [LOG_LENGTH_BOUNDS] * kernel.dim + [LOG_NUGGET_BOUNDS]
        starts = [] if start is None else [np.clip(start, *np.transpose(bounds))]
        if start is None or search == "wide":
            starts += [np.append(np.full(kernel.dim, LOG_LENGTH_MEAN), nugget) for nugget in LOG_NUGGET_STARTS]
        return cls(kernel, points, basis, z, prior, best_minimum(negative, starts, bounds, TOLERANCE))

    def fantasize(self, points: FloatArray, basis: FloatArray) -> Process:
        """The process told its own means at points (m, dim): no uncertainty is left there; means and sigma^2 stay."""
        if not len(points):
            return self
        means, _ = self.parts(points).moments(basis)
        told = self.with_data(points, basis, means)
        told.variance = self.variance  # of which expected values tell nothing
        return told

    def with_data(self, points: FloatArray, basis: FloatArray, z: FloatArray) -> Process:
        """The process of more data, (m, dim), (m, p) and (m,), with the same hyperparameters."""
        return Process(
            self.kernel,
            np.vstack([self.points, points]),
            np.vstack([self.basis, basis]),
            np.append(self.z, z),
            self.prior,
            self.theta,
        )

    def parts(self, X: FloatArray) -> Parts:
        """What the moments at X (m, dim) are made of, whatever the basis there."""
        return self.parts_at(self.kernel.features(X))

    def parts_at(self, features: FloatArray) -> Parts:
        """`parts` at points of which the kernel's features (m, p) are known."""
        scaled = features * self._scales
        cross = _correlation(scaled, self._scaled).T
        half, _ = dtrtrs(self._fit.factor, cross, lower=1)
        reduction = np.einsum("ij,ij->j", half, half)
        explained = (self._fit.solved_basis.T @ cross).T
        return Parts(self, scaled, cross, half, self._fit.weights @ cross, 1.0 - reduction, explained)


@dataclass(frozen=True)
class Parts:
    """The process at m points: residual (m,), 1 - r^T R^-1 r (m,) and H^T R^-1 r (m, p), with r as `cross` (n, m).

    With R = L L^T, `half` is L^-1 r.
    """

    process: Process
    scaled: FloatArray
    cross: FloatArray
    half: FloatArray
    residual: FloatArray
    correlation: FloatArray
    explained: FloatArray

    def response(self, basis: FloatArray) -> Response:
        """The response without its noise, where the basis is (..., m, p)."""
        process = self.process
        u = basis - self.explained
        solved = dpotrs(process._fit.precision_factor, u.reshape(-1, u.shape[-1]).T, lower=1)[0].T.reshape(u.shape)
        reduced = self.correlation + np.einsum("...p,...p->...", u, solved)
        mean = basis @ process.beta + self.residual
        return Response(self, solved, reduced, mean, process.variance * np.maximum(reduced, 0.0))

    def moments(self, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of `response`, each (..., m)."""
        response = self.response(basis)
        return response.mean, response.variance


@dataclass(frozen=True)
class Response:
    """The response without its noise at the points of `parts`, given a basis there.

    Attributes
    ----------
    mean, variance : (..., m) arrays
        The variance holds the uncertainty of beta, and not the nugget.
    """

    _parts: Parts
    _solved: FloatArray  # A^-1 u, with u the basis less what the data explain of it
    _reduced: FloatArray  # the variance in units of sigma^2, of which rounding may be below zero
    mean: FloatArray
    variance: FloatArray

    def slopes(self, by_mean: FloatArray, by_variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives of something by features and by the basis, from those by its moments.

        Parameters
        ----------
        by_mean, by_variance : (..., m) arrays
            What they are of is a sum over the m points.

        Returns
        -------
        by_features : (m, features) array
            By the kernel's features of the points.
        by_basis : (..., m, p) array
        """
        parts, process, fit = self._parts, self._parts.process, self._parts.process._fit
        by_reduced = np.where(self._reduced > 0, process.variance * by_variance, 0.0)
        by_u = 2.0 * by_reduced[..., None] * self._solved
        nodes = tuple(range(by_u.ndim - 2))
        # r enters the mean as a^T r and H^T R^-1 r, the variance as r^T R^-1 r and H^T R^-1 r.
        inverse, _ = dtrtrs(fit.factor, parts.half, lower=1, trans=1)  # R^-1 r
        by_cross = fit.weights[:, None] * by_mean.sum(axis=nodes) - 2.0 * inverse * by_reduced.sum(axis=nodes)
        by_cross -= fit.solved_basis @ by_u.sum(axis=nodes).T
        along = by_cross * parts.cross
        by_scaled = 2.0 * (along.T @ process._scaled - parts.scaled * along.sum(axis=0)[:, None])
        return by_scaled * process._scales, by_u + by_mean[..., None] * process.beta


def log_posterior(
    theta: FloatArray, pairs: Pairs, basis: FloatArray, z: FloatArray, prior: MeanPrior
) -> tuple[float, FloatArray]:
    """The logarithm of the posterior density of theta (dim + 1,), up to a constant, and its gradient."""
    phi, nugget = _phi(theta), float(np.exp(theta[-1]))
    K = pairs.correlation(phi)
    fit = _closed_form(pairs.factorize(K, nugget), basis, z, prior)
    n = pairs.n
    value = -0.5 * (n + prior.a0) * np.log(fit.variance) - np.log(fit.factor.diagonal()).sum()
    value -= 0.5 * (fit.misfit - n - prior.a0)
    inverse, diagonal = pairs.inverse(fit.factor)
    below = pairs.products(fit.weights) / fit.variance - inverse
    gradient = np.empty(len(theta))
    gradient[:-1] = 2.0 * phi * (pairs.squared @ (below * K))
    gradient[-1] = 0.5 * nugget * (fit.weights @ fit.weights / fit.variance - diagonal.sum())
    means = np.append(np.full(len(phi), LOG_LENGTH_MEAN), LOG_NUGGET_MEAN)
    stds = np.append(np.full(len(phi), LOG_LENGTH_STD), LOG_NUGGET_STD)
    standardized = (theta - means) / stds
    return float(value - 0.5 * standardized @ standardized), gradient - standardized / stds


def _evenly(n: int) -> IntArray:
    """The places of at most `MAX_SEARCHED` of n data, evenly over the order in which they came."""
    count = min(n, MAX_SEARCHED)
    return np.arange(count) * n // count


def _phi(theta: FloatArray) -> FloatArray:
    """1 / (2 l^2) of ln l."""
    phi: FloatArray = 0.5 * np.exp(-2.0 * theta[:-1])
    return phi


def _correlation(F: FloatArray, G: FloatArray) -> FloatArray:
    """exp(-|f - g|^2) of scaled features (n, p) and (m, p), (n, m).

    The squares come from their expansion: at the least lengths their rounding is some 1e-12 for each dimension.
    Predictions bear that; the matrix of the data would not.
    """
    squared = np.einsum("ij,ij->i", F, F)[:, None] + np.einsum("ij,ij->i", G, G) - 2.0 * (F @ G.T)
    correlation: FloatArray = np.exp(np.minimum(-squared, 0.0))
    return correlation


def _closed_form(factor: FloatArray, basis: FloatArray, z: FloatArray, prior: MeanPrior) -> _Fit:
    n, p = basis.shape
    solved, _ = dpotrs(factor, np.column_stack([basis, z]), lower=1)
    A = basis.T @ solved[:, :p] + np.diag(prior.precision)
    precision_factor = np.linalg.cholesky(A)
    beta, _ = dpotrs(precision_factor, basis.T @ solved[:, p] + prior.precision * prior.center, lower=1)
    weights = solved[:, p] - solved[:, :p] @ beta
    Q = weights @ (z - basis @ beta) + prior.precision @ (beta - prior.center) ** 2
    squares = Q + prior.a0 * prior.s0**2
    variance = max(float(squares) / (n + prior.a0), VARIANCE_FLOOR)
    return _Fit(factor, solved[:, :p], precision_factor, beta, weights, variance, float(squares) / variance)
