"""Whether values are to be small or large: what the user tells and sees, and what the rules minimize."""

from __future__ import annotations

from dataclasses import dataclass, replace

from btao.arrays import FloatArray
from btao.trial import Outcome, Trial

DIRECTIONS = ("minimize", "maximize")


@dataclass(frozen=True)
class Direction:
    """The way from the user's values to those that are minimized, and back: the same, or the negated ones.

    Parameters
    ----------
    name : {"minimize", "maximize"}

    Raises
    ------
    ValueError
        If it is neither.
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in DIRECTIONS:
            raise ValueError(f"direction must be one of {DIRECTIONS}, got {self.name!r}")

    @property
    def maximize(self) -> bool:
        return self.name == "maximize"

    @property
    def default_delta_bounds(self) -> tuple[float, float]:
        """A heavy run is never worse than a light one, of values that differ by 1 at most."""
        return (0.0, 1.0) if self.maximize else (-1.0, 0.0)

    def turn(self, values: FloatArray) -> FloatArray:
        """Values in the other sense."""
        return -values if self.maximize else values

    def turn_bounds(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Bounds of a difference of values in the other sense."""
        return (-bounds[1], -bounds[0]) if self.maximize else bounds

    def turn_outcome(self, outcome: Outcome) -> Outcome:
        """An outcome in the other sense."""
        value = outcome["value"]
        return {**outcome, "value": -value if self.maximize and value is not None else value}

    def turn_trial(self, trial: Trial) -> Trial:
        """A trial in the other sense."""
        return replace(trial, value=-trial.value) if self.maximize and trial.value is not None else trial
