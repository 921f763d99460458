"""Levels of training: when a training curve stops and what it measures (METHOD items 16 and 17)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """A stopping rule (E, s, e): after E iterations, or when s successive ones bring too little.

    Parameters
    ----------
    iterations : int
        E, the largest number of iterations (epochs, solver iterations), at least 1.
    patience : int, optional
        s: training also stops once `patience` successive iterations together improved the best
        value so far by less than `tolerance`. None: the number of iterations alone decides.
    tolerance : float
        e, in units of the measurement. 0 stops when `patience` iterations brought no
        improvement at all.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    The measurement of a level is the best value up to its stop, so a longer level never measures
    a larger value on the same curve: y_h <= y_l holds by construction.
    """

    iterations: int
    patience: int | None = None
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.iterations, int) or self.iterations < 1:
            raise ValueError(f"iterations must be an integer of at least 1, got {self.iterations!r}")
        if self.patience is not None and (not isinstance(self.patience, int) or self.patience < 1):
            raise ValueError(f"patience must be None or an integer of at least 1, got {self.patience!r}")
        if not (math.isfinite(self.tolerance) and self.tolerance >= 0):
            raise ValueError(f"tolerance must be finite and not negative, got {self.tolerance!r}")

    def stop(self, curve: Sequence[float]) -> int | None:
        """The number of iterations after which training stops, or None while it goes on.

        Parameters
        ----------
        curve : sequence of float
            The measurement after iteration 1, 2, ...; nan never counts as an improvement.
        """
        best: list[float] = []
        for value in curve[: self.iterations]:
            previous = best[-1] if best else math.inf
            best.append(value if value < previous else previous)
            if self.patience is not None and len(best) > self.patience:
                before = best[-1 - self.patience]
                gained = before - best[-1] if math.isfinite(best[-1]) else 0.0
                if gained < self.tolerance or gained <= 0.0:
                    return len(best)
        return self.iterations if len(best) == self.iterations else None

    def measure(self, curve: Sequence[float]) -> float:
        """The best value up to the stop; nan if there is none. `curve` as in `stop`."""
        seen = [value for value in curve[: self.stop(curve)] if not math.isnan(value)]
        return min(seen, default=math.nan)
