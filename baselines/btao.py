"""BTAO as a benchmark method, by its rules: `btao` (rate), `btao_joint` and `btao_paper`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from baselines.initial_design import check_start
from baselines.pending_trials import check_seed
from baselines.protocol import Capabilities, Measurement, Problem, SearchExhausted, Trial
from btao import BTAO, Space, SpaceExhausted
from btao.checks import check_integer
from btao.interface.arguments import LIGHT_PER_HEAVY, has, rule_of, supplied
from btao.spaces.constraint import allowed_points
from btao.trial import Trial as Asked

STARTS = ("nested", "random")


class BTAOMethod:
    """Adaptor of `btao.BTAO` to the protocol.

    Parameters
    ----------
    problem : Problem
        A task with two levels.
    seed : int
    light_per_heavy, n_init, candidates, square_root_beta, rule, logarithm, ordered, noise
        Arguments of `btao.BTAO`; `n_init` must be None where the start is shared. Costs are iterations consumed.
    start : {"nested", "random"}
        The nested Latin hypercube, or as many uniform random configurations, the first `n_init` of
        them trained heavily: what the nested design is to be compared with. "nested" where the start is shared.
    delta_bounds, rho_bounds : (float, float), optional
        Bounds of its model; None: those of the task.

    Raises
    ------
    TypeError, ValueError
        As `btao.BTAO` does.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="two", conditions=True, constraint=True, model_based=True
    )
    own_rule: ClassVar[str] = "joint"  # where none is given

    def __init__(
        self,
        problem: Problem,
        seed: int,
        light_per_heavy: int | None = None,
        n_init: int | None = None,
        start: str = "nested",
        candidates: str | None = None,
        square_root_beta: bool | None = None,
        delta_bounds: tuple[float, float] | None = None,
        rho_bounds: tuple[float, float] | None = None,
        rule: str | None = None,
        logarithm: bool | None = None,
        ordered: bool | None = None,
        noise: bool | None = None,
    ) -> None:
        if problem.light_iterations is None:
            raise ValueError("problem must have a light level, but its light_iterations is None")
        if start not in STARTS:
            raise ValueError(f"start must be one of {', '.join(STARTS)}, got {start!r}")
        initial = check_start(problem, n_init=n_init, start=None if start == "nested" else start)
        check_integer("n_init", n_init, none="null")
        check_integer("light_per_heavy", light_per_heavy, none="null")
        rule = rule_of(self.own_rule if rule is None and candidates is None else rule, candidates)
        design: Sequence[dict[str, Any]] | None = None
        if initial:
            n_init, design = len(initial.heavy), initial.light
        elif start == "random":
            n_init = problem.space.n_varying + 2 if n_init is None else n_init
            size = n_init * (light_per_heavy or LIGHT_PER_HEAVY) if has(rule, "light_per_heavy") else n_init
            design = random_design(problem.space, size, check_seed(seed))
        heavy, light = problem.heavy_iterations, problem.light_iterations
        of_problem: dict[str, Any] = {
            "heavy_cost": (heavy - light if problem.continues else heavy) / light,
            "continues": problem.continues,
            "n_init_heavy": len(initial.heavy) if initial else None,
            "delta_bounds": problem.delta_bounds,
            "rho_bounds": problem.rho_bounds,
        }
        bounds = {"delta_bounds": delta_bounds, "rho_bounds": rho_bounds}
        self._optimizer = self._make(
            problem.space,
            seed=seed,
            light_per_heavy=light_per_heavy,
            n_init=n_init,
            design=design,
            square_root_beta=square_root_beta,
            rule=rule,
            logarithm=logarithm,
            ordered=ordered,
            noise=noise,
            **bounds | supplied(rule, bounds, of_problem),
        )
        self._recommended: int | None = None
        self._asked: dict[int, Asked] = {}
        self._budgets = {"light": problem.light_iterations, "heavy": problem.heavy_iterations}

    def _make(self, space: Space, **options: Any) -> BTAO:
        """The optimizer; a subclass may have another."""
        return BTAO(space, **options)

    @property
    def start_size(self) -> tuple[int, int]:
        """Light and heavy runs before the first proposal."""
        return self._optimizer.start_size

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
        self._asked[trial.number] = trial
        return Trial(trial.number, trial.config, trial.level == "heavy", self._budgets[trial.level])

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        asked = self._asked.get(trial.number)
        if asked is None or asked.config != trial.config:
            raise ValueError(f"trial {trial.number} is not pending: it was never asked for")
        self._optimizer.tell(asked, measurement.value, error=measurement.error, cost=measurement.cost)
        if trial.heavy and (recommended := self._optimizer.recommended):
            self._recommended = recommended.number

    def recommend(self) -> int | None:
        """The trial that `btao.BTAO.recommended` named after the last heavy run; light runs do not change it."""
        return self._recommended


class BTAORateMethod(BTAOMethod):
    """`btao`: a class of its own, so that a change of its rule leaves the runs of the others what they are.

    Version 2: what it recommends takes the noise off light values, too. Version 3: its least nugget is 1e-10, not 1e-8,
    and its search ends after 25 steps. Version 4: its prior of the nugget is wider and about 1e-5, not 1e-3, and
    searched from a small and a large one. Version 5: it looks elsewhere where its search has come to nothing.
    """

    version: ClassVar[int] = 5
    own_rule: ClassVar[str] = "rate"


def random_design(space: Space, n: int, seed: int) -> list[dict[str, Any]]:
    """n independent configurations, uniform in the unit cube, or where the constraint allows them."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    points = rng.random((n, space.dim)) if space.constraint is None else allowed_points(space, n, rng)
    return [space.from_unit(point) for point in points]
