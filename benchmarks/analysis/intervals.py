"""Intervals: seeded bootstrap intervals over seeds, stratified by task, or over tasks; Wilson's of a share; Newcombe's.

The percentile bootstrap, because it stays within the range of the values (a regret is never negative)
and is defined for any sample. It is too narrow for small n, so its level is widened by t quantiles as
Hesterberg (2015, The American Statistician 69, 371-386) derives for the mean. For normal samples 95%
then means at n = 5, 10, 30: 93%, 94%, 95% for the mean and 94%, 96%, 96% for the median and the
interquartile mean. A skewed sample needs more seeds for its mean (lognormal: 80%, 85%, 89%), not for
the other two. With fewer than five seeds an interval is the range of the values and cannot do
better than a coverage of 1 - 2**(1 - n).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

SEEDS_FOR_INTERVAL = 5  # with fewer, an interval is the range of the values


@dataclass(frozen=True)
class Resampling:
    """How intervals are made: the coverage aimed at, how many resamples, and their seed. Equal ones give equal ends."""

    confidence: float = 0.95
    resamples: int = 2000
    seed: int = 0


RESAMPLING = Resampling()


def iqm(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """The interquartile mean: that of what remains when a quarter of the values is cut from either end.

    As Agarwal et al. (2021, Deep reinforcement learning at the edge of the statistical precipice) take
    it, which is `scipy.stats.trim_mean` with 0.25, faster: of n values the floor(n / 4) smallest and as
    many of the largest are cut, so below four it is the mean.
    """
    ordered = np.moveaxis(np.sort(values, axis=axis), axis, -1)
    n = ordered.shape[-1]
    return ordered[..., n // 4 : n - n // 4].mean(axis=-1)


STATISTICS: dict[str, Callable[..., np.ndarray]] = {"mean": np.mean, "median": np.median, "iqm": iqm}


def statistic_of(name: str) -> Callable[..., np.ndarray]:
    """The statistic of this name; ValueError if there is none."""
    check_choice("statistic", name, STATISTICS)
    return STATISTICS[name]


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    """Refuse an argument that is none of those there are: ValueError."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def interval(
    values: np.ndarray, statistic: str = "mean", resampling: Resampling = RESAMPLING
) -> tuple[np.ndarray, np.ndarray]:
    """A bootstrap interval for a statistic over seeds.

    Parameters
    ----------
    values : ndarray, shape (..., n)
        A sample of n seeds in each row; rows share their resamples.
    statistic : {"mean", "median", "iqm"}
    resampling : Resampling

    Returns
    -------
    low, high : ndarray, shape (...)
        nan for n < 2, where no interval exists; the statistic itself where all n values are equal.

    Raises
    ------
    ValueError
        If there is no such statistic.
    """
    function = statistic_of(statistic)
    values = np.asarray(values, dtype=float)
    low, high = bootstrap([values], function, resampling)
    if values.shape[-1] < 2:
        return low, high
    equal = np.ptp(values, axis=-1) == 0  # rounding of a resample's mean must not open an interval
    point = function(values, axis=-1)
    return np.where(equal, point, low), np.where(equal, point, high)


def stratified_interval(
    strata: Sequence[np.ndarray], statistic: str = "mean", resampling: Resampling = RESAMPLING
) -> tuple[float, float]:
    """A bootstrap interval for a statistic of all values of several strata together.

    Seeds are resampled within each stratum (a task), so every resample has as many of each as there
    are: the interval is for these tasks, whatever others there may be.

    Parameters
    ----------
    strata : sequence of ndarray, shape (n_i,)
        The seeds of each task.
    statistic, resampling
        As in `interval`.

    Returns
    -------
    low, high : float
        nan where a stratum has fewer than two seeds.
    """
    function = statistic_of(statistic)

    def pooled(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        return function(np.concatenate(samples, axis=axis), axis=axis)

    low, high = bootstrap(strata, pooled, resampling)
    return float(low), float(high)


def nested_interval(strata: Sequence[np.ndarray], resampling: Resampling = RESAMPLING) -> tuple[float, float]:
    """A bootstrap interval for the mean over strata, such as tasks, of the means of their values.

    Strata are resampled, and values within each that is drawn: the interval is for other strata of this kind, too. It
    is as wide as the t quantile of the number of strata asks for, and a little wider where values vary much.

    Parameters
    ----------
    strata : sequence of ndarray, shape (n_i,)
        The seeds of each task.
    resampling : Resampling

    Returns
    -------
    low, high : float
        nan with fewer than two strata, or fewer than two values in one, or a value that is not finite.
    """
    if len(strata) < 2 or not all(len(values) > 1 and np.isfinite(values).all() for values in strata):
        return np.nan, np.nan
    rng = np.random.default_rng(resampling.seed)
    drawn = rng.integers(len(strata), size=(resampling.resamples, len(strata)))
    means = np.empty(drawn.shape)
    for place, values in enumerate(strata):
        here = drawn == place
        means[here] = values[rng.integers(len(values), size=(here.sum(), len(values)))].mean(axis=1)
    tail = widened_tail([len(strata)], resampling.confidence)
    low, high = np.quantile(means.mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)


def bootstrap(
    samples: Sequence[np.ndarray], statistic: Callable[..., np.ndarray], resampling: Resampling = RESAMPLING
) -> tuple[np.ndarray, np.ndarray]:
    """The widened percentile interval of a statistic of independent samples, each resampled for itself.

    Parameters
    ----------
    samples : sequence of ndarray, shape (..., n_i)
    statistic : callable
        Takes the samples, and `axis`, along which they lie.
    resampling : Resampling

    Returns
    -------
    low, high : ndarray, shape (...)
        nan where a sample has fewer than two values.
    """
    sizes = [np.shape(sample)[-1] for sample in samples]
    if min(sizes) < 2:
        missing = np.full(np.shape(samples[0])[:-1], np.nan)
        return missing, missing
    from scipy import stats  # slow to import

    ends = stats.bootstrap(
        tuple(samples),
        statistic,
        axis=-1,
        vectorized=True,
        method="percentile",
        confidence_level=1 - 2 * widened_tail(sizes, resampling.confidence),
        n_resamples=resampling.resamples,
        batch=200,
        rng=np.random.default_rng(resampling.seed),
    ).confidence_interval
    return np.asarray(ends.low), np.asarray(ends.high)


def wilson(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share of which `hits` of n were seen, n at least 1 (Wilson, 1927)."""
    from scipy import stats  # slow to import

    ends = stats.binomtest(int(hits), int(n)).proportion_ci(confidence, method="wilson")
    return float(ends.low), float(ends.high)


def newcombe(probability: float, m: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """An interval for P(A < B) + P(A = B) / 2, seen to be `probability` over all pairs of m values of A and n of B.

    Newcombe's fifth method (2006, Statistics in Medicine 25, 559-573), for m and n of at least 2. It stays
    open where all of A are below all of B; where many pairs are ties it is too wide.
    """
    from scipy import optimize, stats  # slow to import

    z, mean_size = stats.norm.isf((1 - confidence) / 2), (m + n) / 2 - 1

    def lower(estimate: float) -> float:
        def excess(truth: float) -> float:
            spread = 1 + mean_size * ((1 - truth) / (2 - truth) + truth / (1 + truth))
            return (estimate - truth) ** 2 - z**2 * truth * (1 - truth) * spread / (m * n)

        # 1 is a root of its own where that is the estimate.
        return optimize.brentq(excess, 0.0, min(estimate, 1 - 1e-9)) if estimate > 0 else 0.0

    return lower(probability), 1 - lower(1 - probability)


def mean_of_intervals(centers: Sequence[float], ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """An interval for the mean of independent estimates with intervals of their own.

    The distances to their ends are added in squares (Zou and Donner, 2008, Statistics in Medicine 27, 1693-1702).
    """
    (low, high), middle = np.transpose(ends), np.asarray(centers, float)
    below, above = (np.linalg.norm(middle - end) / len(middle) for end in (low, high))
    return float(middle.mean() - below), float(middle.mean() + above)


def widened_tail(sizes: Sequence[int], confidence: float) -> float:
    """What a percentile interval leaves out at either end, for samples of these sizes, each at least 2.

    Hesterberg's for one sample. For several: the variance of the smallest is the most understated, and
    all of them give degrees of freedom to its estimate.
    """
    from scipy import stats  # slow to import

    n = min(sizes)
    freedom = sum(size - 1 for size in sizes)
    return float(stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf((1 + confidence) / 2, freedom)))
