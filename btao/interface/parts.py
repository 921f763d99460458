"""What an optimizer is made of, as the parts of its interface share it."""

from __future__ import annotations

from dataclasses import replace
from typing import overload

from btao.arrays import FloatArray
from btao.interface.direction import Direction
from btao.interface.enqueued import Enqueued
from btao.interface.lock import Lock
from btao.rules.history import History
from btao.rules.rule import Rule
from btao.space import Space
from btao.trial import Trial


class Parts:
    """The attributes of `BTAO` that say what is done, and those that do it.

    Values in `_history` and of `_rule` are to be minimized; `_direction` turns them into those of the user.
    """

    space: Space
    rule: str
    delta_bounds: tuple[float, float]
    rho_bounds: tuple[float, float]
    _direction: Direction
    _lock: Lock
    _history: History
    _enqueued: Enqueued
    _rule: Rule

    def _make_rule(self, design: FloatArray) -> Rule:
        """A rule with the arguments of the optimizer that has fitted nothing, and starts from points (n, dim)."""
        raise NotImplementedError

    @overload
    def _shown(self, trial: Trial) -> Trial: ...

    @overload
    def _shown(self, trial: None) -> None: ...

    def _shown(self, trial: Trial | None) -> Trial | None:
        """A trial as the user sees it, whose configuration may be changed: it is a copy."""
        return trial and replace(self._direction.turn_trial(trial), config=dict(trial.config))
