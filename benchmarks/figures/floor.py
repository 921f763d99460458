"""Where regrets that are rounding are drawn on a logarithmic axis: one step below the smallest that is a regret."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter
from pandas import Series

from benchmarks.analysis.scores import REGRET_FLOOR
from benchmarks.figures.style import power_of_ten

MARKS = 7  # of powers of ten on an axis, at most
BREAK: dict[str, Any] = {"color": "#595959", "linewidth": 0.8, "linestyle": (0, (1, 2))}


@dataclass(frozen=True)
class Floor:
    """A place for all regrets below `REGRET_FLOOR`, if there are some.

    Drawn where they are, as 10⁻¹⁶ or nothing at all, they would leave the others a fraction of the axis.

    Attributes
    ----------
    place : float or None
        A power of ten; None where no regret is that small.
    """

    place: float | None

    @classmethod
    def below(cls, heights: Series) -> Floor:
        """The one of a panel, from all that is drawn in it."""
        small = heights < REGRET_FLOOR
        if not small.any():
            return cls(None)
        others = heights[~small]
        return cls(REGRET_FLOOR if others.empty else 10.0 ** (math.floor(math.log10(others.min())) - 1))

    def height(self, regret: float) -> float:
        """Where a regret is drawn; nan stays."""
        return self.place if self.place is not None and regret < REGRET_FLOOR else regret

    def mark(self, axes: Axes) -> None:
        """Say on a logarithmic axis, whose limits are set, what is there, and that the axis is broken above it."""
        if self.place is None:
            return
        low, high = (round(math.log10(self.place)), math.floor(math.log10(axes.get_ylim()[1])))
        step = max(1, -(-(high - low) // MARKS))
        powers = [10.0**power for power in range(high, low, -step)]
        axes.yaxis.set_major_locator(FixedLocator([self.place, *powers]))
        below = f"< {power_of_ten(REGRET_FLOOR)}"
        axes.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: below if value == self.place else power_of_ten(value))
        )
        axes.axhline(self.place * 10**0.5, **BREAK)
