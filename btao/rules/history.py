"""The trials of an optimizer, as the rules look at them."""

from __future__ import annotations

from typing import Any

import numpy as np

from btao.arrays import BoolArray, FloatArray
from btao.gp import Kernel
from btao.rules.places import Places
from btao.space import Space
from btao.trial import LEVELS, LevelName, Status, Trial, measured


class History:
    """All trials in the order of asking.

    Attributes
    ----------
    space : Space
    kernel : Kernel
    trials : list of Trial
    n_told : int
        How many of them were told.
    given : dict of bytes to dict
        By their point, the configurations of the user which it gives back with rounding errors.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.kernel = Kernel(space.dim, space)
        self.trials: list[Trial] = []
        self.n_told = 0
        self.given: dict[bytes, dict[str, Any]] = {}
        self._forget_places()

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({"given": {}} | state)
        self._forget_places()  # pickles of earlier versions have none, nor `given`

    def add(self, trial: Trial) -> None:
        """Take on the next trial."""
        self.trials.append(trial)

    def reset(self, trials: list[Trial], n_told: int, given: dict[bytes, dict[str, Any]]) -> None:
        """Have these trials and no others."""
        self._forget_places()
        self.trials, self.n_told, self.given = list(trials), n_told, dict(given)

    def keep(self, config: dict[str, Any]) -> FloatArray:
        """The point (dim,) of a valid configuration, which `config` gives back as it is."""
        point = self.space.point(config)
        if self.space.from_unit(point) != config:
            self.given[point.tobytes()] = config
        return point

    def config(self, point: FloatArray) -> dict[str, Any]:
        """The configuration of a point (dim,): the user's own, if it was given."""
        given = self.given.get(point.tobytes())
        return self.space.from_unit(point) if given is None else dict(given)

    def select(self, level: LevelName | None = None, status: Status | None = None) -> list[Trial]:
        """The trials of a level and a status."""
        return [
            trial
            for trial in self.trials
            if (level is None or trial.level == level) and (status is None or trial.status == status)
        ]

    def at(self, level: LevelName, point: FloatArray) -> Trial | None:
        """The trial of a level at a point (dim,), or None."""
        self._find_places()
        number = self._places[level].at(point)
        return None if number is None else self.trials[number]

    def paired(self, status: Status | None = "ok") -> list[Trial]:
        """The heavy trials of a status whose configuration has a successful light one: those that a model can use.

        All that were asked for are among them, and of those made elsewhere some.
        """
        heavies = self.select("heavy", status)
        if not heavies:
            return []
        lights = self.points(self.select("light", "ok"))
        known: BoolArray = np.any(self.kernel.same(self.points(heavies), lights), axis=1)
        return [trial for trial, paired in zip(heavies, known, strict=True) if paired]

    def unpaired(self, n_best: int) -> list[Trial]:
        """Of the n best heavy trials made elsewhere those whose configuration has no light one yet, the best first."""
        given = [trial for trial in self.select("heavy", "ok") if trial.given]
        heavies, lights = sorted(given, key=measured)[:n_best], self.points(self.select("light"))
        has_light: BoolArray = np.any(self.kernel.same(self.points(heavies), lights), axis=1)
        return [trial for trial, paired in zip(heavies, has_light, strict=True) if not paired]

    def points(self, trials: list[Trial]) -> FloatArray:
        """Their points, (n, dim)."""
        return np.array([trial.point for trial in trials]).reshape(len(trials), self.space.dim)

    def best_points(self, level: LevelName, n: int) -> FloatArray:
        """The points of the n best successful trials of a level."""
        return self.points(sorted(self.select(level, "ok"), key=measured)[:n])

    def light_data(self) -> tuple[FloatArray, FloatArray]:
        """Light points and values; configurations that failed at either level stand at the worst value."""
        points, values, _ = self.light_outcomes()
        return points, values

    def light_outcomes(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """`light_data`, and which of the configurations failed at either level."""
        told = [trial for trial in self.select("light") if trial.status != "pending"]
        points, failed = self.points(told), np.array([trial.status == "failed" for trial in told], dtype=bool)
        worst = max(measured(trial) for trial in told if trial.status == "ok")
        if heavies := self.select("heavy", "failed"):
            failed |= self.kernel.same(points, self.points(heavies)).any(axis=1)
        values = np.array([worst if lost else trial.value for trial, lost in zip(told, failed, strict=True)])
        return points, values, failed

    def known_light(self, points: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Which of the points (m, dim) have a light value, (m,), and the values of these."""
        measured = self.select("light", "ok")
        same = self.kernel.same(points, self.points(measured))
        known: BoolArray = np.any(same, axis=1)
        return known, np.array([measured[index].value for index in same[known].argmax(axis=1)])

    def heavy_candidates(self, within: int | None = None) -> list[Trial]:
        """Successful light trials, of the first `within`, whose configuration had no heavy run yet."""
        lights = [trial for trial in self.select("light")[:within] if trial.status == "ok"]
        heavies = self.select("heavy")
        if not lights or not heavies:
            return lights
        tried = np.any(self.kernel.same(self.points(lights), self.points(heavies)), axis=1)
        return [trial for trial, done in zip(lights, tried, strict=True) if not done]

    def distinct(self, points: FloatArray) -> FloatArray:
        """The points, snapped, without those that round to an earlier one."""
        points = self.space.snap(points)
        distinct: FloatArray = points[self.kernel.first(points) == np.arange(len(points))]
        return distinct

    def _forget_places(self) -> None:
        self._n_placed, self._places = 0, {level: Places(self.kernel) for level in LEVELS}

    def _find_places(self) -> None:
        """Put the trials since the last time at their places: an interrupt here leaves none out and loses no trial."""
        while self._n_placed < len(self.trials):
            trial = self.trials[self._n_placed]
            self._places[trial.level].add(trial.point, self._n_placed)
            self._n_placed += 1
