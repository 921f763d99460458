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

    A heavy run needs a light one: what is enqueued for the heavy level is tried lightly first, and goes no further if
    that fails. What has been tried already leaves the queue without another run.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._waiting: list[Entry] = []

    def add(self, level: LevelName, point: FloatArray) -> None:
        """Put a point (dim,) at the end."""
        self._waiting.append((level, point))

    def propose(self) -> Entry | None:
        """Level and point of the next trial; None if nothing waits, or all wait for the result of a light run.

        First come configurations with a heavy result made elsewhere: no model can use it without a light one.
        """
        if unpaired := self._history.unpaired():
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
        if level == "light" or heavy is not None or light.status == "failed":
            return None
        return "wait" if light.status == "pending" else "heavy"

    def to_list(self) -> list[list[Any]]:
        """What waits, as JSON can hold it."""
        return [[level, point.tolist()] for level, point in self._waiting]

    def restore(self, rows: list[list[Any]]) -> None:
        """Take on what `to_list` gave; TypeError or ValueError if it is none."""
        self._waiting = [(check_level(level), np.array(point, dtype=float)) for level, point in rows]
