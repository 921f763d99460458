"""Configurations that are tried first, before what a rule proposes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from btao.arrays import FloatArray
from btao.rules.history import History
from btao.trial import LevelName, check_level

Entry = tuple[LevelName, FloatArray]


class Enqueued:
    """A queue of configurations, each to be tried up to a level.

    A heavy run needs a light one: what is enqueued for the heavy level is tried lightly first, and goes no further
    while that has failed. What has been tried already leaves the queue without another run.

    Parameters
    ----------
    history : History
    n_pairs : int
        So many of the best heavy results made elsewhere are tried lightly: no model can use them without. Their light
        runs are of the start. With as many as a start has pairs or, of the rate rule, light runs, old heavy results
        cost no light run that a search without them would not make; worse ones tell the model less than new runs do.
    """

    def __init__(self, history: History, n_pairs: int) -> None:
        self._history, self._n_pairs = history, n_pairs
        self._waiting: list[Entry] = []

    def add(self, level: LevelName, point: FloatArray) -> None:
        """Put a point (dim,) at the end, if it does not wait at this level already."""
        if not any(level == other and np.array_equal(point, there) for other, there in self._waiting):
            self._waiting.append((level, point))

    def propose(self) -> Entry | None:
        """Level and point of the next trial; None if nothing waits, or all wait for the result of a light run.

        First come the best configurations with a heavy result made elsewhere.
        """
        if unpaired := self._history.unpaired(self._n_pairs):
            return "light", unpaired[0].point
        for entry in list(self._waiting):
            level, point = entry
            step = self._step(level, point)
            if step in (None, level):
                self._waiting = [each for each in self._waiting if each is not entry]
            if step in ("light", "heavy"):
                return step, point
        return None

    def _step(self, level: LevelName, point: FloatArray) -> LevelName | Literal["wait"] | None:
        """What is to be done for an entry: a run, nothing yet, or nothing any more."""
        light, heavy = self._history.at("light", point), self._history.at("heavy", point)
        if light is None:
            return "light"
        if level == "light" or heavy is not None:
            return None
        return "heavy" if light.status == "ok" else "wait"  # a failed one may be reopened

    def to_list(self) -> list[list[Any]]:
        """What waits, as JSON can hold it."""
        return [[level, point.tolist()] for level, point in self._waiting]

    def restore(self, rows: list[list[Any]]) -> None:
        """Take on what `to_list` gave; TypeError or ValueError if it is none."""
        self._waiting = [(check_level(level), np.array(point, dtype=float)) for level, point in rows]
