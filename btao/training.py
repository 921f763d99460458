"""Levels of training: when a training curve stops and what it measures (METHOD items 16 and 17)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from btao.checks import check_integer, is_number
from btao.interface.direction import Direction


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
    direction : {"minimize", "maximize"}, optional
        Whether curves are of errors or, as accuracies, the better the larger. None: of errors.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    The measurement of a level is the best value up to its stop. A heavy level with no fewer
    iterations, no less patience (None being the most) and no larger tolerance than the light one
    never stops earlier on the same curve, so y_h <= y_l holds by construction; y_h >= y_l, where
    values are maximized.

    Examples
    --------
    >>> level = Level(50, patience=3)
    >>> curve = [0.5, 0.4, 0.42, 0.41, 0.43, 0.3]
    >>> level.stop(curve), level.measure(curve), level.best(curve)
    (5, 0.4, 2)
    """

    iterations: int
    patience: int | None = None
    tolerance: float = 0.0
    direction: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "iterations", check_integer("iterations", self.iterations))
        object.__setattr__(self, "patience", check_integer("patience", self.patience, none="None"))
        if not (is_number(self.tolerance) and 0 <= self.tolerance < math.inf):
            raise ValueError(f"tolerance must be a finite number and not negative, got {self.tolerance!r}")
        if self.direction is not None:
            Direction(self.direction)

    def stop(self, curve: Sequence[float]) -> int | None:
        """The number of iterations after which training stops, or None while it goes on.

        Parameters
        ----------
        curve : sequence of float
            The measurement after iteration 1, 2, ...; nan never counts as an improvement.
        """
        best = [math.inf]
        for done, value in enumerate(self._turned(curve[: self.iterations]), start=1):
            best.append(value if value < best[-1] else best[-1])
            if self.patience is None or done < self.patience:
                continue
            if self._gains_too_little(before=best[-1 - self.patience], after=best[-1]):
                return done
        return self.iterations if len(best) > self.iterations else None

    @property
    def definite(self) -> Level:
        """The level with its direction."""
        return replace(self, direction=self.direction or "minimize")

    def is_as_impatient_as(self, other: Level) -> bool:
        """Whether it stops at the latest where `other` stops for lack of improvement, whatever the curve."""
        if other.patience is None:
            return True
        return self.patience is not None and self.patience <= other.patience and self.tolerance >= other.tolerance

    def measure(self, curve: Sequence[float]) -> float:
        """The best value up to the stop; nan if there is none. `curve` as in `stop`."""
        best = self.best(curve)
        return math.nan if best is None else float(curve[best - 1])

    def best(self, curve: Sequence[float]) -> int | None:
        """The first iteration, from 1, with the best value up to the stop; None if there is none."""
        values = self._turned(curve[: self.stop(curve)])
        seen = [(value, done) for done, value in enumerate(values, start=1) if not math.isnan(value)]
        return min(seen)[1] if seen else None

    def _turned(self, values: Sequence[float]) -> Sequence[float]:
        """Values that are the better the smaller."""
        return [-value for value in values] if self.direction == "maximize" else values

    def _gains_too_little(self, before: float, after: float) -> bool:
        if before == after:
            return True
        gain = before - after
        # 0.29 - 0.28 is below 0.01 by rounding alone, and errors that are counts often tie.
        return gain < self.tolerance and not math.isclose(gain, self.tolerance, rel_tol=1e-9)
