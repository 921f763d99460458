"""How much of the variation of the heavy response each parameter makes, by the model (Sobol' indices)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats.qmc import Sobol

from btao.arrays import FloatArray
from btao.space import Space

LOG2_POINTS = 10


def total_effects(mean: Callable[[FloatArray], FloatArray], space: Space) -> dict[str, float]:
    """The total-effect index of each parameter: its part of the variance, alone and with others.

    Parameters
    ----------
    mean : callable
        The response (m,) at points (m, dim) of the unit cube.
    space : Space

    Returns
    -------
    dict of str to float
        By parameter, from the largest. Their sum exceeds 1 where parameters act together. All are 0 for a response that
        is constant.

    Notes
    -----
    The estimator is Jansen's (1999), on a scrambled Sobol sequence that is always the same. Coordinates are mixed
    before points are snapped: one that is inactive in a point may be active in the mixed one, and has a value there.
    """
    dim = space.dim
    points = Sobol(2 * dim, rng=np.random.default_rng(0)).random_base2(LOG2_POINTS)
    first, second = points[:, :dim], points[:, dim:]
    response = mean(space.snap(first))
    variance = float(np.concatenate([response, mean(space.snap(second))]).var())
    effects = {}
    for j, name in enumerate(space.names):
        mixed = first.copy()
        mixed[:, j] = second[:, j]
        changed = response - mean(space.snap(mixed))
        effects[name] = 0.5 * float((changed**2).mean()) / variance if variance > 0 else 0.0
    return dict(sorted(effects.items(), key=lambda item: -item[1]))
