"""The rate rule less parts of it: methods for steps of the ladder that `btao` itself has no options for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from baselines.btao import BTAORateMethod
from baselines.initial_design import check_start, initial_design
from baselines.protocol import Problem
from btao import BTAO, Space
from btao.arrays import FloatArray
from btao.interface.arguments import LIGHT_PER_HEAVY
from btao.rate.costs import Costs
from btao.rate.new_points import RateOfNew
from btao.rate.stagnation import INFLATIONS
from btao.rules.rate import RateRule
from btao.trial import LevelName, measured


class RateSteps(BTAORateMethod):
    """`btao` with parts of its rule as in the steps before it.

    Parameters
    ----------
    problem : Problem
    seed : int
    joint_start : bool
        Whether it starts as the joint rule does, from a nested Latin hypercube of which the first are trained heavily.
    turns : bool
        Whether levels take turns as in the joint rule, each run where the improvement of the heavy response is largest.
    elsewhere : bool
        Whether it looks elsewhere where its search has come to nothing (METHOD item 30).
    logarithm, rule, n_init, ordered
        As of `btao`.

    Raises
    ------
    ValueError
        If it is to start as the joint rule does and the start is shared.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int,
        joint_start: bool = False,
        turns: bool = False,
        elsewhere: bool = True,
        logarithm: bool | None = None,
        rule: str | None = None,
        n_init: int | None = None,
        ordered: bool | None = None,
    ) -> None:
        self._rate_rule = partial(_SteppedRule, turns=turns, elsewhere=elsewhere)
        if joint_start:
            check_start(problem, joint_start=joint_start)
            problem = dataclasses.replace(problem, initial=initial_design(problem.space, seed))
        super().__init__(problem, seed, logarithm=logarithm, rule=rule, n_init=n_init, ordered=ordered)

    def _make(self, space: Space, **options: Any) -> BTAO:
        return _Stepped(space, self._rate_rule, **options)


class _Stepped(BTAO):
    """An optimizer with another rate rule."""

    def __init__(self, space: Space, rate_rule: Callable[..., RateRule], **options: Any) -> None:
        self._rate_rule = rate_rule
        super().__init__(space, **options)


class _SteppedRule(RateRule):
    """See `RateSteps`."""

    def __init__(self, *arguments: Any, turns: bool, elsewhere: bool, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._turns, self._elsewhere = turns, elsewhere

    def propose(self) -> tuple[LevelName, FloatArray]:
        started = len(self.history.select("heavy")) >= (self._n_init_heavy or 1) and self.history.paired()
        if self._turns and started and not self._is_heavy_due():
            outputs, model = self._model(commit=True)
            best = float(outputs.to_z(np.array([measured(trial) for trial in self.history.paired()])).min())
            # At no cost of a heavy run the rate is the improvement expected over all light values, over a constant.
            new, _ = self._best_new(RateOfNew(self._with_pending(outputs, model), best, 1.0, 0.0, self._ordered))
            if new is not None:
                return "light", new
        return super().propose()

    def _is_heavy_due(self) -> bool:
        latest = self.history.trials[-LIGHT_PER_HEAVY:]
        return all(trial.level == "light" for trial in latest)

    def _must_promote(self, costs: Costs) -> bool:
        return self._turns or super()._must_promote(costs)

    def _inflations(self, values: FloatArray, known: float) -> tuple[float, ...]:
        return super()._inflations(values, known) if self._elsewhere else INFLATIONS[:1]
