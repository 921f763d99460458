"""btao.rate.two_level: the heavy process stands on light values, as they are or without their noise."""

import numpy as np
import pytest

from btao.gp import Kernel
from btao.rate.two_level import Data, TwoLevelModel

RNG = np.random.default_rng(4)
LIGHT_POINTS = RNG.random((9, 2))
LIGHT = np.sin(5 * LIGHT_POINTS[:, 0]) + 0.3 * RNG.standard_normal(9)
HEAVY = 0.8 * np.sin(5 * LIGHT_POINTS[:5, 0]) - LIGHT_POINTS[:5, 1] + 0.1 * RNG.standard_normal(5)
DATA = Data(LIGHT_POINTS, LIGHT, LIGHT_POINTS[:5], HEAVY, LIGHT[:5])
LENGTHS, NUGGETS = np.array([[0.4, 0.9], [0.7, 0.5]]), np.array([0.2, 0.05])
HYPERPARAMETERS = [np.log(np.append(lengths, nugget)) for lengths, nugget in zip(LENGTHS, NUGGETS, strict=True)]


def posterior_mean(points, H, z, lengths, nugget, center, precision):
    """At the points themselves, of z = H beta + f + noise with a normal prior of beta: by explicit inverses."""
    squared = ((points[:, None, :] - points[None, :, :]) / lengths) ** 2
    K = np.exp(-0.5 * squared.sum(axis=-1))
    inverse = np.linalg.inv(K + nugget * np.eye(len(z)))
    beta = np.linalg.solve(H.T @ inverse @ H + np.diag(precision), H.T @ inverse @ z + precision * center)
    return H @ beta + K @ inverse @ (z - H @ beta)


@pytest.mark.parametrize("latent", [False, True])
def test_the_heavy_mean_stands_on_light_values_as_observed_or_without_their_noise(latent):
    model = TwoLevelModel.fit(Kernel(2), DATA, HYPERPARAMETERS, ("none", "none"))
    model = model.without_light_noise() if latent else model
    ones = np.ones((9, 1))
    smooth = posterior_mean(LIGHT_POINTS, ones, LIGHT, LENGTHS[0], NUGGETS[0], np.zeros(1), np.zeros(1))[:5]
    assert np.abs(smooth - LIGHT[:5]).max() > 0.05  # noise was taken off
    of_heavy = smooth if latent else LIGHT[:5]
    H = np.column_stack([np.ones(5), of_heavy - of_heavy.mean()])
    precision = np.array([0.0, LIGHT.var()])
    expected = posterior_mean(LIGHT_POINTS[:5], H, HEAVY, LENGTHS[1], NUGGETS[1], np.array([0.0, 1.0]), precision)
    mean, _ = model.heavy_moments(LIGHT_POINTS[:5], of_heavy)
    np.testing.assert_allclose(mean, expected, rtol=1e-9)
