"""BTAO by ask and tell: the paper's Algorithm 2, and rules of our own (METHOD items 10-30).

The class, its arguments and `ask`; its other methods are those of its bases in `btao.interface`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from btao.arrays import FloatArray
from btao.checks import check_integer, is_number
from btao.design import maximin_nested_latin_hypercube
from btao.interface.arguments import LIGHT_PER_HEAVY, check_of_rule, rule_of
from btao.interface.direction import Direction
from btao.interface.enqueued import Enqueued
from btao.interface.lock import Lock
from btao.interface.saving import Saving
from btao.interface.showing import Showing
from btao.interface.telling import Telling
from btao.rules.additive import AdditiveRule
from btao.rules.history import History
from btao.rules.rate import RateRule
from btao.rules.rule import Rule
from btao.space import Space
from btao.spaces.constraint import allowed_design
from btao.tam import check_bounds
from btao.trial import Trial


class BTAO(Telling, Showing, Saving):
    """Minimize, or maximize, an expensive function with the help of a cheap approximation of it.

    Many light training runs and a few heavy ones, tied by a Gaussian-process model of both. A heavy run is made at a
    configuration that has a light one.

    Parameters
    ----------
    space : Space
        What to search.
    seed : int
        Equal seeds, told equal values, ask for equal trials.
    rule : {"rate", "joint", "paper"}, optional
        How the next trial is chosen; None: "rate".

        "rate": a new light run or the heavy run of a known light point, whichever promises the largest improvement per
        cost (METHOD items 19-28, 30).
        "paper": `light_per_heavy` light runs where the light response is promising, then a heavy run at the most
        promising of all light points, by a truncated additive model (paper Algorithm 2).
        "joint": the same, but the last of these light runs is where the heavy response is promising, so that the heavy
        minimizer is reached where it differs from the light one (METHOD item 12).
    n_init : int, optional
        Size of the start, at least 1; default: number of parameters that vary + 2. Of "joint" and "paper" the heavy
        runs (METHOD item 18): the start is a nested Latin hypercube of `light_per_heavy` times as many light runs. Of
        "rate" the light runs: a Latin hypercube, of which the best is trained heavily (METHOD item 19).
    light_per_heavy : int, optional
        s, light runs per heavy one, at least 1; of "joint" and "paper". None: 2.
    delta_bounds, rho_bounds : (float, float), optional
        Bounds of y_h - rho y_l and of rho (paper Eq. 8), of the values that are told; of "joint" and "paper". The
        defaults, (-1, 0) or with "maximize" (0, 1), and (0, 1), suit validation errors and accuracies: a heavy run is
        never worse than a light one. Infinite bounds are allowed. Observations that contradict the bounds widen them,
        with a warning.
    square_root_beta : bool, optional
        Weigh the standard deviation in the acquisition by the square root of 0.2 d ln(2n), as in Srinivas
        et al. (2010), instead of by 0.2 d ln(2n), as the paper prints it (METHOD item 11); of "joint" and "paper".
        None: False.
    noise : bool, optional
        Whether equal configurations can give different values; each is told one at a level, such as their mean. The
        model then estimates the noise of each level and `recommended` is what it trusts, `best` the best value seen; on
        smooth functions the former was nearer to the optimum (METHOD item 29). "joint" and "paper" take values as exact
        by default; "rate" always estimates their noise, and refuses False.
    logarithm : bool, optional
        Whether the model sees the logarithm of values, as suits errors; of "rate". None: where all are from 0 to 1 and
        minimized. A warning says where True is without effect.
    ordered : bool, optional
        Whether a heavy value is known not to be worse than the light one (METHOD item 23); of "rate". None: False. A
        warning says where results contradict True.
    heavy_cost : float, optional
        Cost of a heavy run in units of a light one, for trials that are told without a cost; of "rate". None: 5.
    continues : bool, optional
        Whether a heavy run continues the light one and costs the rest, or begins anew; of "rate". None: True.
    design : sequence of dict, optional
        Configurations to start from, instead of a Latin hypercube: all are trained lightly; of "joint" and "paper" the
        first `n_init` of them heavily, of "rate" the first `n_init_heavy`. Repeated ones count once.
    n_init_heavy : int, optional
        Heavy runs of the start of "rate", at least 1; None: one, at the best light run.
    direction : {"minimize", "maximize"}
        Whether small values are good, or large ones. All that is told or returned is in the user's sense.
    candidates : {"joint", "light"}, optional
        The former name of `rule`, which called "paper" "light".

    Notes
    -----
    A failed trial is never best and never asked again. Its configuration counts as the worst
    light value seen, and by "rate" a failed heavy run as the worst heavy one, so that the search
    leaves its neighborhood. Several trials may be asked
    before one is told: those under way are taken to turn out as the model expects. Several
    threads may share an optimizer.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, is out of its range or has no effect with the rule.

    Examples
    --------
    A light run here errs by a constant.

    >>> from btao import BTAO, Real, Space
    >>> optimizer = BTAO(Space({"x": Real(0, 1)}), seed=0)
    >>> while len(optimizer.trials) < 15:
    ...     trial = optimizer.ask()
    ...     error = (trial.config["x"] - 0.3) ** 2
    ...     told = optimizer.tell(trial, error if trial.level == "heavy" else error + 0.1)
    >>> abs(optimizer.best.config["x"] - 0.3) < 0.05
    True
    >>> mean, std = optimizer.predict([{"x": 0.3}, {"x": 0.9}])
    >>> bool(mean[0] < mean[1])
    True
    """

    _rate_rule: Callable[..., RateRule] = RateRule  # a subclass may have another

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        light_per_heavy: int | None = None,
        n_init: int | None = None,
        delta_bounds: tuple[float, float] | None = None,
        rho_bounds: tuple[float, float] | None = None,
        candidates: str | None = None,
        square_root_beta: bool | None = None,
        design: Sequence[Mapping[str, Any]] | None = None,
        *,
        rule: str | None = None,
        noise: bool | None = None,
        logarithm: bool | None = None,
        ordered: bool | None = None,
        heavy_cost: float | None = None,
        continues: bool | None = None,
        n_init_heavy: int | None = None,
        direction: str = "minimize",
    ) -> None:
        if not isinstance(space, Space):
            raise TypeError(f"space must be a btao.Space, got {space!r}")
        self.space = space
        self.seed = check_integer("seed", seed, least=0)
        self.rule = rule_of(rule, candidates)
        self._direction = Direction(direction)
        flags = {"square_root_beta": square_root_beta, "ordered": ordered, "continues": continues}
        numbers = {"light_per_heavy": light_per_heavy, "heavy_cost": heavy_cost, "n_init_heavy": n_init_heavy}
        bounds = {"delta_bounds": delta_bounds, "rho_bounds": rho_bounds}
        check_of_rule(self.rule, {**flags, **numbers, **bounds, "logarithm": logarithm})
        light_per_heavy = LIGHT_PER_HEAVY if light_per_heavy is None else light_per_heavy
        self.light_per_heavy = check_integer("light_per_heavy", light_per_heavy)
        self.n_init = space.n_varying + 2 if n_init is None else check_integer("n_init", n_init)
        delta_bounds = self._direction.default_delta_bounds if delta_bounds is None else delta_bounds
        self.delta_bounds = check_bounds(delta_bounds, "delta_bounds")
        self.rho_bounds = (0.0, 1.0) if rho_bounds is None else check_bounds(rho_bounds, "rho_bounds")
        for name, flag in flags.items():
            if not (flag is None or isinstance(flag, bool | np.bool_)):
                raise TypeError(f"{name} must be True, False or None, got {flag!r}")
        self.square_root_beta = bool(square_root_beta)
        if not (logarithm is None or isinstance(logarithm, bool)):
            raise TypeError(f"logarithm must be True, False or None, got {logarithm!r}")
        if not (noise is None or isinstance(noise, bool)):
            raise TypeError(f"noise must be True, False or None, got {noise!r}")
        if self.rule == "rate" and noise is False:
            raise ValueError("noise must be None or True with rule='rate', which always estimates it, got False")
        self.noise = self.rule == "rate" if noise is None else noise
        if logarithm and self._direction.maximize:
            raise ValueError("logarithm must be None or False with direction='maximize': it suits errors, got True")
        self.logarithm, self.ordered = logarithm, bool(ordered)
        self.continues = True if continues is None else bool(continues)
        heavy_cost = 5.0 if heavy_cost is None else heavy_cost
        if not (is_number(heavy_cost) and 0 < heavy_cost < math.inf):
            raise ValueError(f"heavy_cost must be a finite number above 0, got {heavy_cost!r}")
        self.heavy_cost = float(heavy_cost)
        self.n_init_heavy = check_integer("n_init_heavy", n_init_heavy, none="None")
        self._lock = Lock()
        self._history = History(space)
        self._enqueued = Enqueued(self._history, self.n_init)
        self._rule = self._make_rule(self._start() if design is None else self._given_design(design))

    def ask(self) -> Trial:
        """The next trial to run.

        Raises
        ------
        SpaceExhausted
            When every configuration of a finite space has been tried.
        """
        with self._lock:
            level, point = self._enqueued.propose() or self._rule.propose()
            trial = Trial(len(self._history.trials), self._history.config(point), level, point)
            self._history.add(trial)
            return self._shown(trial)

    @property
    def initial_design(self) -> list[dict[str, Any]]:
        """The configurations of the start, those to be trained heavily first where that is known before."""
        return [self._history.config(point) for point in self._rule.design]

    @property
    def start_size(self) -> tuple[int, int]:
        """Light and heavy runs of the start."""
        light = len(self._rule.design)
        heavy = self.n_init if self.rule != "rate" else self.n_init_heavy or 1
        return light, min(heavy, light)

    # ---------------------------------------------------------------- rule and start

    def _make_rule(self, design: FloatArray) -> Rule:
        if self.rule == "rate":
            return self._rate_rule(
                self._history,
                self.seed,
                design,
                logarithm=self.logarithm,
                ordered=self.ordered,
                heavy_cost=self.heavy_cost,
                continues=self.continues,
                n_init_heavy=self.n_init_heavy,
            )
        return AdditiveRule(
            self._history,
            self.seed,
            design,
            n_init=self.n_init,
            light_per_heavy=self.light_per_heavy,
            joint=self.rule == "joint",
            delta_bounds=self._direction.turn_bounds(self.delta_bounds),
            rho_bounds=self.rho_bounds,
            negated=self._direction.maximize,
            square_root_beta=self.square_root_beta,
            noise=self.noise,
        )

    def _start(self) -> FloatArray:
        """A well spread Latin hypercube; where heavy runs are planned, a nested one, their points first."""
        ratio = 1 if self.rule == "rate" else self.light_per_heavy
        rng = np.random.default_rng([self.seed])
        return allowed_design(self.space, maximin_nested_latin_hypercube(self.n_init, ratio, self.space.dim, rng), rng)

    def _given_design(self, configs: Sequence[Mapping[str, Any]]) -> FloatArray:
        if not configs:
            raise ValueError("design must be None or hold a configuration at least, got none")
        return np.array([self._history.keep(self.space.validate(config)) for config in configs])
