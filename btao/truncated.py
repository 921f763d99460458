"""Normal distributions cut to an interval or a box: moments and log probability (METHOD items 6, 7 and 9)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs
from scipy.special import erfcx, ndtr, ndtri
from scipy.stats import qmc

from btao.arrays import BoolArray, FloatArray

# 50 variables, 30 equicorrelated, orthant and Markov boxes with known values, 8 seeds each: root mean square error of
# ln P 0.018 with 512 points, 0.012 with 1,024, 0.009 with 2,048; above 0.05 in 4%, 1% and 1% of them.
DEFAULT_POINTS = 1024

_EPSILON = np.finfo(float).eps
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_INFINITY = 1e150  # stands for an infinite standardized bound: its square is finite, so no product becomes nan
_REACH = math.sqrt(80.0)  # the density has fallen by exp(-40) this far from its peak
_FAR = 30.0  # beyond it the upper tail is drawn through erfcx; ndtr is exact to rounding below it
_NARROW = 1e-5  # below this width (times 1 + |bound|) differences of ndtr lose digits

_NODES, _WEIGHTS = (0.5 * (np.polynomial.legendre.leggauss(40)[0] + 1), 0.5 * np.polynomial.legendre.leggauss(40)[1])
_MOMENT_WEIGHTS = _WEIGHTS * np.stack([np.ones_like(_NODES), _NODES, _NODES**2])


# --- one dimension -------------------------------------------------------------------------------------------------


def truncated_moments(
    mean: ArrayLike, std: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of Normal(mean, std^2) conditioned on [lower, upper].

    Parameters
    ----------
    mean, std, lower, upper : array_like
        Broadcast against each other, all in the units of the variable. Bounds may be infinite.

    Returns
    -------
    mean, variance : ndarray
        Of the broadcast shape. The mean lies in [lower, upper], the variance in
        [0, min(std^2, (upper - lower)^2 / 4)]. Both bounds infinite: `mean` and `std`^2 exactly.
        `std` = 0: the clipped mean and 0. `lower` = `upper`: that value and 0.

    Raises
    ------
    ValueError
        If `mean` or `std` is not finite, `std` is negative, a bound is nan, or the interval holds no real number.

    Notes
    -----
    METHOD item 9. The textbook formulas subtract nearly equal numbers in the tails and on narrow
    intervals. Here the interval is mirrored so that its midpoint is on the right of the mean, cut where
    the density has fallen by exp(-40), and mass and moments come from 40-point Gauss-Legendre
    quadrature of exp(-y (a + y/2)), y the distance from the lower end a: sums of positive terms,
    with a relative error near 1e-13 in the center, in the tails and on narrow intervals alike. The mean of an
    interval that holds 0 may be far smaller than its width; it is (phi(a) - phi(b)) / mass, the difference by expm1.
    """
    mean, std, lower, upper = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (mean, std, lower, upper)))
    _require(np.isfinite(mean), mean, "mean", "finite")
    _require(np.isfinite(std) & (std >= 0), std, "std", "finite and not negative")
    _require_interval(lower, upper)
    shape = mean.shape
    mean, std, lower, upper = (x.ravel() for x in (mean, std, lower, upper))

    with np.errstate(all="ignore"):
        scale = np.where(std > 0, std, 1.0)
        a, b = _clip((lower - mean) / scale), _clip((upper - mean) / scale)
        width = upper - lower
        mirrored = a + b < 0
        lo, hi = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
        _, offset, center, variance = _standard_moments(lo, hi, _clip(width / scale))
        # From the nearer bound in a tail, from the mean otherwise: the smaller of the two distances is added.
        from_bound = np.where(mirrored, upper - scale * offset, lower + scale * offset)
        from_mean = mean + scale * np.where(mirrored, -center, center)
        location = np.where(std > 0, np.where(lo < 0, from_mean, from_bound), mean)
        location = np.where(width > 0, np.clip(location, lower, upper), lower)
        variance = np.minimum(variance * std**2, np.minimum(std**2, width**2 / 4))
        free = np.isinf(lower) & np.isinf(upper)
    return np.where(free, mean, location).reshape(shape), np.where(free, std**2, variance).reshape(shape)


def _standard_moments(
    lo: FloatArray, hi: FloatArray, width: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """ln mass, mean - lo, mean and variance of the standard normal on [lo, hi], where lo + hi >= 0.

    `width` is hi - lo, passed because the caller knows it without cancellation.
    """
    start = np.maximum(lo, -_REACH)
    positive = np.maximum(lo, 0.0)
    length = np.minimum(width, _REACH**2 / (positive + np.hypot(positive, _REACH)) - np.minimum(start, 0.0))
    y = length * _NODES[:, None]
    zeroth, first, second = _MOMENT_WEIGHTS @ np.exp(-y * (start + 0.5 * y))
    first, second = first / zeroth, second / zeroth
    integral = length * zeroth  # mass / phi(start)
    log_mass = np.log(integral) - 0.5 * start**2 - _LOG_SQRT_2PI
    offset = length * first
    center = -np.expm1(-width * (0.5 * (lo + hi))) * np.exp(0.5 * (start**2 - lo**2)) / integral
    return log_mass, offset, np.where(lo < 0, center, lo + offset), length**2 * (second - first**2)


def _draw(
    a: FloatArray, b: FloatArray, width: float, u: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[BoolArray, FloatArray] | None]:
    """The u-quantile of the standard normal on [a, b], and the mass of the interval.

    Parameters
    ----------
    a, b : ndarray, shape (n_points,)
        Bounds, clipped to +-1e150.
    width : float
        b - a, positive, known without cancellation.
    u : ndarray, shape (n_points,)
        Strictly inside (0, 1).

    Returns
    -------
    z, mass : ndarray, shape (n_points,)
        The quantile, and Phi(b) - Phi(a).
    rare : (ndarray, ndarray), optional
        Where the mass has no digits, as a mask (n_points,), and there phi / mass at the end nearer to 0.

    Notes
    -----
    In the mirrored interval [lo, hi], lo + hi >= 0, upper-tail probabilities Q keep their digits:
    z = Q^-1(Q(hi) + v mass). Where Q would underflow (lo > 30) or Q(lo) - Q(hi) cancel (narrow), the same
    quantities come from expansions that agree to about 1e-10 at the change-over.
    """
    negative_a = -a
    mirrored = b < negative_a
    lower_tails = np.empty((2, len(a)))  # -lo and -hi
    np.minimum(negative_a, b, out=lower_tails[0])
    np.minimum(-b, a, out=lower_tails[1])
    q_lo, q_hi = ndtr(lower_tails)
    mass = q_lo - q_hi
    above = np.where(mirrored, u, 1 - u)  # the share of the mass above z
    negative_z = ndtri(q_hi + above * mass)
    rare = None
    if width < _NARROW or lower_tails[0].min() < -_FAR:
        lo, hi = -lower_tails
        narrow = width * (1 + np.abs(lo)) < _NARROW
        far = (lo > _FAR) & ~narrow
        hazard_lo = np.empty_like(lo)
        for some, expansion in ((narrow, _draw_narrow), (far, _draw_far)):
            if some.any():
                z, hazard_lo[some] = expansion(lo[some], hi[some], width, above[some])
                negative_z[some] = -z
        some = narrow | far
        rare = some, hazard_lo[some]
    np.maximum(np.minimum(negative_z, lower_tails[0], out=negative_z), lower_tails[1], out=negative_z)
    return np.where(mirrored, negative_z, -negative_z), mass, rare


def _draw_narrow(lo: FloatArray, hi: FloatArray, width: float, above: FloatArray) -> tuple[FloatArray, FloatArray]:
    """z and phi(lo) / mass to second order in the width, about the midpoint."""
    middle, half, s = lo + 0.5 * width, 0.5 * width, 1 - 2 * above
    z = middle + half * s + 0.5 * middle * half**2 * (s**2 - 1)
    relative_mass = width * (1 + (middle**2 - 1) * half**2 / 6)  # mass / phi(middle)
    return z, np.exp(half * (0.5 * (lo + middle))) / relative_mass


def _draw_far(lo: FloatArray, hi: FloatArray, width: float, above: FloatArray) -> tuple[FloatArray, FloatArray]:
    """z and phi(lo) / mass in the far upper tail, with Q = phi R and R Mills' ratio.

    z = lo + y solves lo y + y^2/2 - ln(R(z) / R(lo)) = -ln(Q(z) / Q(lo)) =: target; the left side has the
    derivative 1 / R(z). R hardly changes over the interval, so two Newton steps from R(z) = R(lo) are enough.
    """
    mills_lo = _mills(lo)
    share = -np.expm1(np.log(_mills(hi) / mills_lo) - width * (0.5 * (lo + hi)))  # mass / Q(lo)
    target = -np.log1p(-(1 - above) * share)
    y = 2 * target / (lo + np.hypot(lo, np.sqrt(2 * target)))
    for _ in range(2):
        mills = _mills(lo + y)
        y -= mills * (y * (lo + 0.5 * y) - np.log(mills / mills_lo) - target)
    return lo + y, 1 / (mills_lo * share)


def _mills(x: FloatArray) -> FloatArray:
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


# --- many dimensions -----------------------------------------------------------------------------------------------


def log_box_probability(
    mean: ArrayLike,
    cov: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    n_points: int = DEFAULT_POINTS,
    seed: int = 0,
) -> float:
    """ln P(lower <= Y <= upper) for Y ~ Normal(mean, cov).

    Parameters
    ----------
    mean, lower, upper : array_like, scalar or shape (n,)
        Bounds may be infinite.
    cov : array_like, shape (n, n)
        Symmetric. If it is singular, the smallest 10^k (k >= -14) times its mean variance (times 1 where that is
        0) that lets its Cholesky factorization succeed is added to its diagonal.
    n_points : int, optional
        Number of Sobol points, a power of two. Many nearly dependent variables in a narrow box need more: for 50
        points of a noise-free surface in two dimensions, of three times the box's width in standard deviation, the
        error is 0.7 with 1,024 points, 0.2 with 4,096 and 0.1 with 16,384 (20 such points: 0.02 with 1,024).
    seed : int, optional
        Scrambles the points. The same arguments give the same value.

    Returns
    -------
    float
        Never nan. Exactly 0 when all bounds are infinite; -inf only when lower = upper somewhere (a box of
        measure zero). A smooth function of `mean`, `cov` and finite bounds.

    Raises
    ------
    ValueError
        If an argument has the wrong shape, is nan, or describes no covariance or no box.

    Notes
    -----
    METHOD item 6; separation of variables (Genz 1992) with minimax exponential tilting (Botev 2017, J. R. Stat.
    Soc. B 79), all in log space. With cov = L L', D = diag(L), M = D^-1 L, alpha = (lower - mean) / D and
    beta = (upper - mean) / D, the box reads alpha_k <= sum_j M_kj z_j <= beta_k for standard normal z. Draw in turn
    z_k from Normal(mu_k, 1) cut to what z_1..z_k-1 leave of the k-th interval; then P is the mean of

        exp sum_k [ ln(Phi(b_k) - Phi(a_k)) + mu_k^2 / 2 - mu_k z_k ],   a_k = alpha_k - sum_{j<k} M_kj z_j - mu_k,

    and b_k likewise, whatever mu is. Without the tilt (mu = 0) correlated boxes in a tail are out of reach: 50
    variables of correlation 1/2 on [5, 8] are wrong by 2.4 in ln P with 1,024 points and still by 1.3 with 4,096.
    The tilt depends smoothly on the arguments; the variables are never reordered, which would make the estimate jump.
    """
    problem = _Problem.standardize(mean, cov, lower, upper, n_points)
    if problem is None:
        return 0.0
    if not problem.width.min() > 0:
        return -math.inf
    with np.errstate(all="ignore"):
        return _Sample.draw(problem, _Tilt.solve(problem), n_points, seed).log_probability


def log_box_probability_and_gradient(
    mean: ArrayLike,
    cov: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    n_points: int = DEFAULT_POINTS,
    seed: int = 0,
) -> tuple[float, FloatArray, FloatArray]:
    """`log_box_probability` with the exact derivative of that estimate.

    Parameters
    ----------
    mean, cov, lower, upper, n_points, seed
        As in `log_box_probability`.

    Returns
    -------
    value : float
        What `log_box_probability` returns.
    mean_gradient : ndarray, shape (n,)
        d value / d mean.
    cov_gradient : ndarray, shape (n, n)
        The symmetric G for which d value = sum_ij G_ij d cov_ij.
        Both gradients are 0 where the value is -inf.

    Raises
    ------
    ValueError
        As `log_box_probability`.

    Notes
    -----
    Reverse mode, in three stages, a bar marking d value / d (.). (1) The recursion over k, backwards
    (`_Sample.adjoint`). (2) The tilt, by the implicit function theorem (`_Tilt.adjoint`). (3) alpha, beta and M
    in terms of mean and L, then L in terms of cov: with P the lower triangle of L' L_bar, its diagonal
    halved, G is the symmetric part of L^-T P L^-1.
    """
    problem = _Problem.standardize(mean, cov, lower, upper, n_points)
    n = np.shape(cov)[0]
    mean_gradient, cov_gradient = np.zeros(n), np.zeros((n, n))
    if problem is None or not problem.width.min() > 0:
        return (0.0 if problem is None else -math.inf), mean_gradient, cov_gradient
    with np.errstate(all="ignore"):
        tilt = _Tilt.solve(problem)
        sample = _Sample.draw(problem, tilt, n_points, seed)
        alpha_bar, beta_bar, unit_bar, mu_bar = sample.adjoint(problem, tilt)
        tilt.adjoint(problem, mu_bar, alpha_bar, beta_bar, unit_bar)
        kept = problem.kept
        mean_gradient[kept], cov_gradient[np.ix_(kept, kept)] = problem.adjoint(alpha_bar, beta_bar, unit_bar)
    return sample.log_probability, mean_gradient, cov_gradient


@dataclass(frozen=True)
class _Problem:
    """The box in the coordinates of the recursion: alpha <= M z <= beta, z standard normal."""

    kept: BoolArray  # the dimensions with a finite bound; the others integrate to 1
    factor: FloatArray  # L
    diagonal: FloatArray  # D
    unit: FloatArray  # M = D^-1 L, unit lower triangular
    alpha: FloatArray
    beta: FloatArray
    width: FloatArray  # beta - alpha, without cancellation
    jitter: float  # relative to the mean variance

    @classmethod
    def standardize(
        cls, mean: ArrayLike, cov: ArrayLike, lower: ArrayLike, upper: ArrayLike, n_points: int
    ) -> _Problem | None:
        """Check the arguments and factorize; None if no bound is finite."""
        cov = np.asarray(cov, dtype=float)
        if cov.ndim != 2 or cov.shape[0] != cov.shape[1] or cov.shape[0] == 0:
            raise ValueError(f"cov must have shape (n, n) with n >= 1, got {cov.shape}")
        n = cov.shape[0]
        mean, lower, upper = (_vector(x, n, name) for x, name in ((mean, "mean"), (lower, "lower"), (upper, "upper")))
        _require(np.isfinite(mean), mean, "mean", "finite")
        _require(np.isfinite(cov), cov, "cov", "finite")
        variance = cov.diagonal()
        _require(variance >= 0, variance, "the diagonal of cov", "not negative")
        asymmetry = np.abs(cov - cov.T)
        _require(asymmetry <= 1e-8 * variance.max(), asymmetry, "cov - cov'", "zero (cov must be symmetric)")
        _require_interval(lower, upper)
        if n_points < 1 or n_points & (n_points - 1):
            raise ValueError(f"n_points must be a power of two, got {n_points!r}")

        kept = np.isfinite(lower) | np.isfinite(upper)
        if not kept.any():
            return None
        factor, jitter = _factorize(cov if kept.all() else cov[np.ix_(kept, kept)])
        diagonal = factor.diagonal().copy()
        with np.errstate(over="ignore"):
            alpha, beta = (_clip((x - mean)[kept] / diagonal) for x in (lower, upper))
            width = _clip((upper - lower)[kept] / diagonal)
        return cls(kept, factor, diagonal, factor / diagonal[:, None], alpha, beta, width, jitter)

    def adjoint(
        self, alpha_bar: FloatArray, beta_bar: FloatArray, unit_bar: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Derivatives by mean and covariance from those by alpha, beta and M."""
        factor_bar = np.tril(unit_bar, -1) / self.diagonal[:, None]
        stride = len(factor_bar) + 1
        factor_bar.flat[::stride] = (
            -(alpha_bar * self.alpha + beta_bar * self.beta + (np.tril(unit_bar, -1) * self.unit).sum(axis=1))
            / self.diagonal
        )
        inner = np.tril(self.factor.T @ factor_bar)
        inner.flat[::stride] *= 0.5
        half, _ = dtrtrs(self.factor, inner, lower=1, trans=1)
        cov_bar, _ = dtrtrs(self.factor, half.T, lower=1, trans=1)
        cov_bar = 0.5 * (cov_bar + cov_bar.T)
        cov_bar.flat[::stride] += self.jitter * cov_bar.trace() / len(cov_bar)
        return -(alpha_bar + beta_bar) / self.diagonal, cov_bar


@dataclass(frozen=True)
class _Tilt:
    """The minimax tilt mu (Botev 2017), reduced to n equations.

    Botev's saddle point in (x, mu) is mu = (M - I)' psi with psi_k the mean of the standard normal cut to
    [alpha_k - t_k, beta_k - t_k], y = t + psi, and t the root of

        r(t) = y - C psi = 0,   C = M M'.

    With v_k the variance that belongs to psi_k, dy/dt = v and d psi/dt = v - 1. The root is the stationary point of
    a function of y whose Hessian is C^-1 + W, W = (1 - v) / v >= 0, so it is unique. Newton's step is
    dt = dy / v with dy = -(I + C W)^-1 r.
    """

    mu: FloatArray
    location: FloatArray  # t
    log_mass: FloatArray
    psi: FloatArray
    variance: FloatArray  # v
    covariance: FloatArray  # C
    residual: FloatArray  # r

    @classmethod
    def solve(cls, problem: _Problem) -> _Tilt:
        """Newton from the middle of the box, each step halved until |r| falls.

        Where rounding or 50 steps end the descent early, the last mu is as good as any: the estimate stays unbiased.
        """
        covariance = problem.unit @ problem.unit.T
        middle = 0.5 * (problem.alpha + problem.beta)
        start = np.where(problem.width < 2, middle, np.clip(0.0, problem.alpha + 1, problem.beta - 1))
        tilt = cls._at(problem, covariance, start)
        for _ in range(50):
            dy = covariance @ tilt._woodbury(tilt.residual) - tilt.residual
            dt = dy / tilt.variance
            if np.all(np.abs(dt) <= 1e-7 * (1 + np.abs(tilt.psi))):  # the error is squared by one more step
                return cls._at(problem, covariance, tilt.location + dt)
            size = tilt.residual @ tilt.residual
            for halvings in range(20):
                step = 0.5**halvings
                new = cls._at(problem, covariance, tilt.location + step * dt)
                if new.residual @ new.residual <= (1 - 1e-4 * step) * size:
                    break
            else:
                return tilt
            tilt = new
        return tilt

    @classmethod
    def _at(cls, problem: _Problem, covariance: FloatArray, location: FloatArray) -> _Tilt:
        a, b = _clip(problem.alpha - location), _clip(problem.beta - location)
        mirrored = a + b < 0
        lo, hi = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
        log_mass, _, center, variance = _standard_moments(lo, hi, problem.width)
        psi = np.where(mirrored, -center, center)
        mu = problem.unit.T @ psi - psi
        residual = location + psi - covariance @ psi
        return cls(mu, location, log_mass, psi, np.clip(variance, 1e-200, 1.0), covariance, residual)

    def _woodbury(self, vector: FloatArray) -> FloatArray:
        """(C + W^-1)^-1 vector = W^1/2 (I + W^1/2 C W^1/2)^-1 W^1/2 vector, safe for W -> 0."""
        root = np.sqrt((1 - self.variance) / self.variance)
        system = root[:, None] * self.covariance * root
        # The second term is the rounding of `system` itself; it keeps an ill-conditioned one positive definite.
        system.flat[:: len(root) + 1] += 1.0 + len(root) * _EPSILON * system.trace()
        factor, info = dpotrf(system, lower=0, clean=0)
        if info != 0:  # not reachable with finite input
            raise np.linalg.LinAlgError("the system of the tilt is not positive definite")
        solved: FloatArray = dpotrs(factor, root * vector, lower=0)[0]
        return root * solved

    def adjoint(
        self, problem: _Problem, mu_bar: FloatArray, alpha_bar: FloatArray, beta_bar: FloatArray, unit_bar: FloatArray
    ) -> None:
        """Add to alpha_bar, beta_bar and unit_bar (in place) what reaches them through mu.

        mu = M' psi - psi gives psi_bar = (M - I) mu_bar and M_bar = psi mu_bar'. Following the root t adds
        lambda' d(y - C psi) at fixed t, lambda = (C + W^-1)^-1 psi_bar. At fixed t
        d psi = dy = (y - alpha) phi(alpha - t) / mass d alpha + (beta - y) phi(beta - t) / mass d beta.
        """
        psi_bar = problem.unit @ mu_bar - mu_bar
        multiplier = self._woodbury(psi_bar)
        y_bar = psi_bar + multiplier - self.covariance @ multiplier
        for bound, bound_bar, sign in ((problem.alpha, alpha_bar, 1.0), (problem.beta, beta_bar, -1.0)):
            distance = bound - self.location
            hazard = np.exp(-0.5 * distance**2 - _LOG_SQRT_2PI - self.log_mass)
            bound_bar += sign * y_bar * hazard * (self.psi - distance)
        unit_bar += np.outer(self.psi, mu_bar - problem.unit.T @ multiplier)
        unit_bar -= np.outer(multiplier, problem.unit.T @ self.psi)


@dataclass(frozen=True)
class _Sample:
    """The recursion's draws on fixed Sobol points, one row a dimension, shape (n, n_points)."""

    log_probability: float
    weights: FloatArray  # (n_points,), sum 1: each point's share of the estimate
    uniforms: FloatArray
    z: FloatArray
    lower: FloatArray  # a
    upper: FloatArray  # b
    hazard_lower: FloatArray
    hazard_upper: FloatArray

    @classmethod
    def draw(cls, problem: _Problem, tilt: _Tilt, n_points: int, seed: int) -> _Sample:
        uniforms = _sobol(len(problem.alpha), n_points, seed)
        z, a, b, mass = (np.empty_like(uniforms) for _ in range(4))
        rare = {}
        for k in range(len(z)):
            shift = problem.unit[k, :k] @ z[:k]
            shift += tilt.mu[k]
            # Clipped bounds stay so: a shift is lost beside 1e150.
            np.subtract(problem.alpha[k], shift, out=a[k])
            np.subtract(problem.beta[k], shift, out=b[k])
            zeta, mass[k], rarely = _draw(a[k], b[k], problem.width[k], uniforms[k])
            np.add(zeta, tilt.mu[k], out=z[k])
            if rarely is not None:
                rare[k] = rarely
        # No row needs what follows of another: all at once.
        mirrored = a + b < 0
        lo = np.maximum(a, -b)
        log_mass = np.log(mass)
        hazard_lo = np.exp(-0.5 * lo**2 - _LOG_SQRT_2PI) / mass
        for k, (some, hazard) in rare.items():
            hazard_lo[k, some] = hazard
            log_mass[k, some] = -0.5 * lo[k, some] ** 2 - _LOG_SQRT_2PI - np.log(hazard)
        hazard_hi = hazard_lo * np.exp(-problem.width[:, None] * (0.5 * np.abs(a + b)))
        mu = tilt.mu[:, None]
        log_weight = (log_mass + mu * (0.5 * mu - z)).sum(axis=0)
        largest = log_weight.max()
        weights = np.exp(log_weight - largest)
        total = weights.sum()
        value = float(largest + math.log(total / n_points))
        hazard_a = np.where(mirrored, hazard_hi, hazard_lo)
        hazard_b = np.where(mirrored, hazard_lo, hazard_hi)
        return cls(value, weights / total, uniforms, z, a, b, hazard_a, hazard_b)

    def adjoint(self, problem: _Problem, tilt: _Tilt) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Derivatives by alpha, beta, M (strictly lower) and mu, the last with all else fixed.

        With zeta = z - mu the quantile u of [a, b]: d ln mass = h_b db - h_a da and
        d zeta = (1 - u) phi(a) / phi(zeta) da + u phi(b) / phi(zeta) db.
        """
        zeta = self.z - tilt.mu[:, None]
        slope_a = (1 - self.uniforms) * np.exp(0.5 * (zeta - self.lower) * (zeta + self.lower))
        slope_b = self.uniforms * np.exp(0.5 * (zeta - self.upper) * (zeta + self.upper))
        log_mass_a, log_mass_b = -self.weights * self.hazard_lower, self.weights * self.hazard_upper
        # A shift moves both bounds down.
        log_mass_shift, slope_shift = -log_mass_a - log_mass_b, -slope_a - slope_b
        z_bar, shift_bar = -np.outer(tilt.mu, self.weights), np.empty_like(zeta)
        for k in reversed(range(len(zeta))):
            z_bar[k] += problem.unit[k + 1 :, k] @ shift_bar[k + 1 :]
            np.multiply(slope_shift[k], z_bar[k], out=shift_bar[k])
            shift_bar[k] += log_mass_shift[k]
        alpha_bar = log_mass_a.sum(axis=1) + np.einsum("ij,ij->i", slope_a, z_bar)
        beta_bar = log_mass_b.sum(axis=1) + np.einsum("ij,ij->i", slope_b, z_bar)
        mu_bar = (shift_bar + z_bar).sum(axis=1) + tilt.mu - self.z @ self.weights
        return alpha_bar, beta_bar, np.tril(shift_bar @ self.z.T, -1), mu_bar


@lru_cache(maxsize=64)
def _sobol(dim: int, n_points: int, seed: int) -> FloatArray:
    """Scrambled Sobol points strictly inside (0, 1), shape (dim, n_points), read-only."""
    bits = 30
    points = qmc.Sobol(dim, scramble=True, bits=bits, rng=seed).random_base2(n_points.bit_length() - 1)
    points = np.ascontiguousarray(points.T) + 0.5 ** (bits + 1)  # the centers of the 2^-30 cells: never 0 or 1
    points.setflags(write=False)
    return points


def _factorize(cov: FloatArray) -> tuple[FloatArray, float]:
    """The Cholesky factor, and the jitter it took relative to the mean variance."""
    n = len(cov)
    mean_variance = cov.trace() / n
    for jitter in (0.0, *(10.0**k for k in range(-14, 1))):
        shifted = cov if jitter == 0 else cov + (jitter * (mean_variance if mean_variance > 0 else 1.0)) * np.eye(n)
        try:
            factor = cast(FloatArray, np.linalg.cholesky(shifted))
        except np.linalg.LinAlgError:
            continue
        # A pivot below the rounding of its variance is noise, not a factorization.
        if np.all(factor.diagonal() ** 2 > n * _EPSILON * shifted.diagonal()):
            return factor, jitter
    raise ValueError(f"cov must be positive semi-definite, its smallest eigenvalue is {np.linalg.eigvalsh(cov)[0]:.3g}")


def _clip(x: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(x, -_INFINITY), _INFINITY)


def _vector(x: ArrayLike, n: int, name: str) -> FloatArray:
    x = np.asarray(x, dtype=float)
    if x.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a scalar or have shape ({n},) like cov, got shape {x.shape}")
    return np.full(n, x)


def _require(fine: BoolArray, values: FloatArray, name: str, what: str) -> None:
    if not np.all(fine):
        raise ValueError(f"{name} must be {what}, got {values[~fine].flat[0]!r}")


def _require_interval(lower: FloatArray, upper: FloatArray) -> None:
    _require(~np.isnan(lower) & (lower < np.inf), lower, "lower", "a number below +inf")
    _require(~np.isnan(upper) & (upper > -np.inf), upper, "upper", "a number above -inf")
    wrong = lower > upper
    if np.any(wrong):
        raise ValueError(f"lower must not exceed upper, got [{lower[wrong].flat[0]!r}, {upper[wrong].flat[0]!r}]")
