"""What a new point is worth, and which way it is worth more (METHOD items 26, 28 and 30)."""

from __future__ import annotations

from dataclasses import dataclass

from btao.arrays import FloatArray
from btao.rate.improvement import improvement_slopes, log_improvement, log_rate_of_new
from btao.rate.two_level import WEIGHTS, AtNodes, TwoLevelModel


@dataclass(frozen=True)
class RateOfNew:
    """ln of the gain per cost of points without any run.

    Attributes
    ----------
    model : TwoLevelModel
    best : float
        The least heavy z.
    light_cost, heavy_cost : float
    ordered : bool
        Whether a heavy value is known not to exceed its light one.
    inflation : float
        What standard deviations of heavy z are multiplied by (METHOD item 30).
    """

    model: TwoLevelModel
    best: float
    light_cost: float
    heavy_cost: float
    ordered: bool
    inflation: float = 1.0

    def values(self, X: FloatArray) -> FloatArray:
        """At points (m, dim), each (m,)."""
        nodes = self.model.at_nodes(X)
        upper = nodes.light if self.ordered else None
        gains = log_improvement(self.best, nodes.mean, self._inflated(nodes), upper)
        return log_rate_of_new(gains, WEIGHTS, self.light_cost, self.heavy_cost)[0]

    def slopes(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`values` and their derivatives (m, dim) along continuous parameters."""
        nodes = self.model.at_nodes(X)
        upper = nodes.light if self.ordered else None
        variance = self._inflated(nodes)
        gains = log_improvement(self.best, nodes.mean, variance, upper)
        rates, shares = log_rate_of_new(gains, WEIGHTS, self.light_cost, self.heavy_cost)
        slopes = improvement_slopes(gains, self.best, nodes.mean, variance, upper)
        by_mean, by_variance, by_upper = (shares * slope for slope in slopes)
        return rates, nodes.slopes(by_upper, by_mean, self.inflation**2 * by_variance)

    def _inflated(self, nodes: AtNodes) -> FloatArray:
        """Variances of heavy z as they are taken to be, (N_NODES, m)."""
        return self.inflation**2 * nodes.variance
