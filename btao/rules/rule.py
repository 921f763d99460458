"""What a rule is: it chooses the next trial, and says what it thinks of the heavy response."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from btao.acquisition import ENDING, Acquisition, Ending, Slopes, maximize
from btao.arrays import FloatArray
from btao.rules.history import History
from btao.trial import LevelName, Trial, measured


class SpaceExhausted(RuntimeError):
    """Every configuration of a finite space has been tried at both levels."""


class Rule(ABC):
    """Chooses the next trial from a history.

    Attributes
    ----------
    history : History
    seed : int
    design : (n, dim) array
        The points of the start, all to be trained lightly.
    """

    def __init__(self, history: History, seed: int, design: FloatArray) -> None:
        self.history, self.seed, self.design = history, seed, history.distinct(design)

    @abstractmethod
    def propose(self) -> tuple[LevelName, FloatArray]:
        """Level and point of the next trial; SpaceExhausted if there is none."""

    @abstractmethod
    def recommended(self) -> Trial | None:
        """The successful heavy trial whose response is expected to be the smallest; None before there is one."""

    @abstractmethod
    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the heavy response at points (m, dim), after a successful heavy trial."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What the next proposals depend on beside the history and the arguments, as JSON can hold it."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Take on a state that `state` gave; KeyError, TypeError or ValueError if it is none."""

    def _hyperparameters(self, name: str, values: Any, nugget: bool) -> FloatArray:
        """Of a process, as `restore` finds them: a length of each parameter and, with noise, the nugget."""
        array, size = np.array(values, dtype=float), self.history.kernel.dim + nugget
        if array.shape != (size,) or not np.isfinite(array).all():
            raise ValueError(f"{name} must have {size} finite hyperparameters, got {values!r}")
        return array

    def best(self) -> Trial | None:
        """The best successful heavy trial (the first of equals), or None before there is one."""
        return min(self.history.select("heavy", "ok"), key=measured, default=None)

    def _of_start(self) -> FloatArray | None:
        """The next light point of the start, or None once as many light results are known as the start has."""
        lights = self.history.select("light")
        if len(lights) >= len(self.design):
            return None
        known = self.history.kernel.same(self.design, self.history.points(lights)).any(axis=1)
        point: FloatArray = self.design[int(known.argmin())]
        return point

    def _maximize(
        self,
        acquisition: Acquisition,
        known: FloatArray,
        best: FloatArray,
        slopes: Slopes | None = None,
        ending: Ending = ENDING,
    ) -> FloatArray | None:
        """The best point that is not known, by a search that the seed and the number of trials decide."""
        rng = np.random.default_rng([self.seed, len(self.history.trials)])
        return maximize(acquisition, self.history.space, known, best, rng, slopes, ending)

    def _farthest(self, known: FloatArray) -> FloatArray | None:
        """The point as far as possible from all that was tried: where there is nothing to model yet."""
        return self._maximize(lambda X: self.history.kernel.distance(X, known), known, known[:0])

    def _exhausted(self) -> SpaceExhausted:
        pending = len(self.history.select(status="pending"))
        waiting = f"; {pending} trials wait to be told" if pending else ""
        return SpaceExhausted(f"{self.history.space.all_text} have been tried{waiting}")
