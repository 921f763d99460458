"""BTAO as a benchmark method: `btao` with its defaults, `btao_paper` with the paper's candidate rule."""

from __future__ import annotations

from typing import Any, ClassVar

from baselines.protocol import Capabilities, Measurement, Problem, SearchExhausted, Trial
from btao import BTAO, SpaceExhausted


class BTAOMethod:
    """Adaptor of `btao.BTAO` to the protocol; the bounds of the model are the task's unless given.

    Parameters
    ----------
    problem : Problem
        A task with two levels.
    seed : int
    **options
        Arguments of `btao.BTAO`: light_per_heavy, n_init, candidates, square_root_beta, delta_bounds, rho_bounds.

    Raises
    ------
    TypeError, ValueError
        As `btao.BTAO` does.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(levels="two")

    def __init__(self, problem: Problem, seed: int, **options: Any) -> None:
        bounds = {"delta_bounds": problem.delta_bounds, "rho_bounds": problem.rho_bounds}
        self._optimizer = BTAO(problem.space, seed=seed, **bounds | options)
        self._budgets = {"light": problem.light_iterations, "heavy": problem.heavy_iterations}

    def ask(self) -> Trial:
        """The next trial.

        Raises
        ------
        SearchExhausted
            When every configuration of a finite space was tried.
        """
        try:
            trial = self._optimizer.ask()
        except SpaceExhausted as error:
            raise SearchExhausted(str(error)) from None
        return Trial(trial.number, trial.config, trial.level == "heavy", self._budgets[trial.level])

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        asked = self._optimizer.trials
        if not 0 <= trial.number < len(asked) or asked[trial.number].config != trial.config:
            raise ValueError(f"trial {trial.number} is not pending: it was never asked for")
        self._optimizer.tell(asked[trial.number], measurement.value, error=measurement.error)
