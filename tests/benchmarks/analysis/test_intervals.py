"""Bootstrap intervals against listed resamples, simulated coverage and other computations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.analysis.intervals import (
    Resampling,
    bootstrap,
    interval,
    iqm,
    nested_interval,
    stratified_interval,
    wilson,
)


def test_interval_is_the_exact_bootstrap_distribution():
    # Five values have 5**5 equally likely resamples, which can be listed.
    sample = np.array([0.0, 1.0, 2.0, 4.0, 9.0])
    means = np.sort([np.mean(resample) for resample in itertools.product(sample, repeat=5)])
    tail = 0.0009541005518824907  # Phi(-sqrt(5/4) * t_{0.975, 4}), t = 2.7764451052
    low, high = interval(sample, resampling=Resampling(resamples=50_000))
    assert low == pytest.approx(np.quantile(means, tail), abs=0.1)
    assert high == pytest.approx(np.quantile(means, 1 - tail), abs=0.2)


def test_interval_of_few_or_equal_values():
    low, high = interval(np.array([[2.0]]))
    assert np.isnan(low).all() and np.isnan(high).all()
    assert [float(end) for end in interval(np.array([3.0, 1.0]))] == [1.0, 3.0]
    low, high = interval(np.full(7, 0.1))
    assert low == high == np.full(7, 0.1).mean()


@pytest.mark.parametrize(("statistic", "expected"), [("mean", 0.944), ("median", 0.963), ("iqm", 0.969)])
def test_interval_covers_the_truth_as_often_as_it_says(statistic, expected):
    samples = np.random.default_rng(11).normal(size=(2000, 10))
    low, high = interval(samples, statistic)
    covered = np.mean((low <= 0) & (high >= 0))
    assert covered == pytest.approx(expected, abs=0.015)  # three standard errors


def test_a_stratified_interval_covers_the_mean_of_strata_that_differ():
    rng = np.random.default_rng(12)
    covered = 0
    for _ in range(300):
        low, high = stratified_interval(
            [rng.normal(0, 1, 8), rng.normal(10, 2, 8)], resampling=Resampling(resamples=300)
        )
        covered += low <= 5 <= high
    assert covered / 300 == pytest.approx(0.95, abs=0.04)


def test_a_stratified_interval_does_not_mix_strata():
    # Between the strata lies all the variance: within each nothing varies.
    assert stratified_interval([np.zeros(5), np.ones(5)]) == (0.5, 0.5)
    low, high = interval(np.repeat([0.0, 1.0], 5))
    assert low < 0.3 and high > 0.7


def test_a_stratified_interval_of_one_stratum_is_the_plain_one():
    sample = np.random.default_rng(3).random(9)
    for statistic in ("mean", "median", "iqm"):
        assert stratified_interval([sample], statistic) == interval(sample, statistic)


def test_a_sample_of_one_seed_has_no_interval():
    one, two = np.array([1.0]), np.array([1.0, 2.0])
    for samples in ([one, two], [one, one]):
        assert np.isnan(stratified_interval(samples)).all()
        assert np.isnan(bootstrap(samples, lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis))).all()
    assert bootstrap([np.ones((3, 1)), np.ones((3, 4))], np.mean)[0].shape == (3,)


@pytest.mark.parametrize("hits", [0, 3, 8])
def test_wilsons_interval_is_that_of_its_formula(hits):
    z, n, p = stats.norm.ppf(0.95), 8, hits / 8
    center, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    ends = [(center - half) / (1 + z * z / n), (center + half) / (1 + z * z / n)]
    assert wilson(hits, n, 0.9) == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 30])
def test_the_interquartile_mean_is_the_trimmed_mean(n):
    sample = np.random.default_rng(n).random((2, n))
    np.testing.assert_allclose(iqm(sample), stats.trim_mean(sample, 0.25, axis=1), rtol=1e-12)
    assert iqm(np.array([9.0, 1.0, 2.0, -50.0, 3.0, 4.0, 1000.0, 5.0])) == 3.5  # of 2, 3, 4, 5


def test_an_unknown_statistic_is_named():
    with pytest.raises(ValueError, match="statistic must be one of mean, median, iqm, got 'mode'"):
        interval(np.arange(5), "mode")


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=8), st.integers(0, 10))
def test_interval_stays_within_the_values_and_repeats(values, seed):
    sample = np.array(values)
    low, high = interval(sample, resampling=Resampling(resamples=200, seed=seed))
    rounding = 1e-12 * sample.max()
    assert sample.min() - rounding <= low <= high <= sample.max() + rounding
    assert (low, high) == interval(sample, resampling=Resampling(resamples=200, seed=seed))


def test_a_nested_interval_covers_the_mean_of_strata_that_were_not_seen():
    """Of ten strata whose means vary, with eight values each."""
    rng = np.random.default_rng(13)
    covered = 0
    for _ in range(300):
        strata = list(rng.normal(rng.normal(5, 2, size=(10, 1)), 1, size=(10, 8)))
        low, high = nested_interval(strata, Resampling(resamples=300))
        covered += low <= 5 <= high
    assert covered / 300 == pytest.approx(0.95, abs=0.04)


def test_a_nested_interval_is_that_of_the_strata_where_values_do_not_vary():
    means = np.array([0.0, 1.0, 2.0, 4.0, 9.0])
    many = Resampling(resamples=50_000)
    ends = nested_interval([np.full(3, mean) for mean in means], many)
    assert ends == pytest.approx([float(end) for end in interval(means, resampling=many)], abs=0.2)


@pytest.mark.parametrize("strata", [[[1.0, 2.0]], [[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.0, np.inf]], []])
def test_there_is_no_nested_interval_of_one_stratum_or_value_or_of_infinite_ones(strata):
    assert np.isnan(nested_interval([np.array(values) for values in strata])).all()
