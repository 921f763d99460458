"""What a light and a heavy run cost (METHOD item 24), and when light runs have cost enough (item 27)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from btao.arrays import BoolArray, FloatArray

# The ratio of the costs before anything is known, with the weight of one heavy run.
PRIOR_RATIO = 1.5


@dataclass(frozen=True)
class Costs:
    """Costs of the runs told so far.

    Attributes
    ----------
    light : (n,) array
        Of light runs.
    heavy : (n,) array
        Of the heavy runs of the same configurations, nan where there is none. Where training continues, the rest.
    """

    light: FloatArray
    heavy: FloatArray

    @property
    def promoted(self) -> BoolArray:
        """Which configurations had a heavy run."""
        return ~np.isnan(self.heavy)

    def of_runs(self) -> tuple[float, float]:
        """C_l and C_h: what the next light run will cost, and the next heavy one."""
        promoted = self.promoted
        n_heavy, own = int(promoted.sum()), float(self.light[promoted].sum())
        heavy, light = float(self.heavy[promoted].sum()), float(self.light.mean())
        if own == 0 and heavy > 0:  # light runs are free
            return light, heavy / n_heavy
        weighted = n_heavy * heavy / own if own > 0 else 0.0
        ratio = (weighted + PRIOR_RATIO) / ((n_heavy if own > 0 else 0) + 1)
        light = light or 1.0  # where nothing costs anything any number will do
        return light, ratio * light

    def too_light(self, balance: float, continues: bool) -> bool:
        """Whether light runs have cost more than `balance` times what heavy ones have.

        Of training that continues, the light runs of promoted configurations belong to their heavy ones.
        """
        promoted = self.promoted
        heavy = float(self.heavy[promoted].sum())
        if continues:
            return float(self.light[~promoted].sum()) > balance * (heavy + float(self.light[promoted].sum()))
        return float(self.light.sum()) > balance * heavy
