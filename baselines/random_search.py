"""Random search: independent uniform configurations, each trained at the heavy level."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import Capabilities, Measurement, Problem, Trial
from btao.spaces.constraint import allowed_points


class RandomSearch:
    """Uniform sampling of the unit cube, or where a constraint allows, heavy runs only (Bergstra and Bengio, 2012).

    Trial k depends on the seed and on k alone, not on what was measured. Configurations are drawn
    with replacement, as in the literature: in a finite space they repeat, and the search is never
    exhausted.

    Parameters
    ----------
    problem : Problem
        The task. Log parameters are uniform in their logarithm.
    seed : int
        At least 0.

    Raises
    ------
    ValueError
        If `seed` is no integer of at least 0.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(levels="heavy", conditions=True, constraint=True)

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem = problem
        self._seed = check_seed(seed)
        self._asked = 0
        self._pending = PendingTrials()

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending."""
        generator = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(self._asked,)))
        space = self._problem.space
        points = generator.random((1, space.dim)) if space.constraint is None else allowed_points(space, 1, generator)
        config = space.from_unit(points[0])
        trial = Trial(self._asked, config, heavy=True, budget=self._problem.heavy_iterations)
        self._asked += 1
        return self._pending.open(trial)

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back. Its measurement changes nothing.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        self._pending.close(trial)
