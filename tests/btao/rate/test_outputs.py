"""Values as the models see them (METHOD item 20)."""

import numpy as np
import pytest

from btao.rate.outputs import Outputs


def test_shares_are_taken_in_their_logarithm_and_standardized():
    values = np.array([0.5, 0.1, 0.02, 0.9])
    z = Outputs.of(values, None).to_z(values)
    assert (z.mean(), z.std()) == (pytest.approx(0, abs=1e-12), pytest.approx(1))
    t = np.log(values)
    np.testing.assert_allclose(z, (t - t.mean()) / t.std())


@pytest.mark.parametrize("values", [[0.5, 1.1], [-0.1, 0.5], [3.0, 100.0]])
def test_what_is_no_share_is_taken_as_it_is_unless_asked(values):
    values = np.array(values)
    np.testing.assert_allclose(Outputs.of(values, None).to_z(values), (values - values.mean()) / values.std())
    assert Outputs.of(values, True).floor == (None if values.min() < 0 else values.min() / 2)
    assert Outputs.of(values, False).floor is None


def test_an_error_of_zero_is_half_the_smallest_other():
    outputs = Outputs.of(np.array([0.0, 0.01, 0.3]), None)
    assert outputs.to_z(np.array([0.0])) == outputs.to_z(np.array([0.005]))
    assert np.isfinite(outputs.to_z(np.array([0.0, 1.0]))).all()
    assert Outputs.of(np.zeros(3), None).floor is None


@pytest.mark.parametrize("logarithm", [True, False])
def test_moments_of_values_are_those_of_samples(logarithm):
    outputs = Outputs.of(np.array([0.5, 0.1, 0.02, 0.9]), logarithm)
    z = 0.3 + 0.4 * np.random.default_rng(0).standard_normal(400_000)
    t = outputs.mean + outputs.std * z
    samples = np.exp(t) if logarithm else t
    mean, std = outputs.moments(np.array([0.3]), np.array([0.16]))
    assert (mean[0], std[0]) == (pytest.approx(samples.mean(), rel=5e-3), pytest.approx(samples.std(), rel=1e-2))


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -0.7, 1e-200, -3e99])
@pytest.mark.parametrize("n", [1, 3, 10])
def test_equal_values_are_at_zero_whatever_their_mean_is_rounded_to(value, n):
    outputs = Outputs.of(np.full(n, value), None)
    assert (outputs.std, outputs.to_z(np.array([value])).tolist()) == (1.0, [0.0])


def test_values_that_differ_by_their_rounding_are_near_zero():
    for size in (0.1, 1e30, -3e99):
        values = np.nextafter(np.full(5, size), np.array([-np.inf, size, np.inf, size, size]))
        assert np.abs(Outputs.of(values, False).to_z(values)).max() <= 1.0


def test_wide_predictions_do_not_overflow():
    outputs = Outputs.of(np.full(3, 0.25), None)
    assert np.isfinite(outputs.moments(np.array([0.0]), np.array([1e6]))).all()
