"""BTAO: Bayesian truncated additive optimization by ask and tell (paper Algorithm 2, METHOD items 10-28)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from btao.arrays import FloatArray
from btao.checks import check_integer, is_number
from btao.design import maximin_nested_latin_hypercube
from btao.rules.additive import AdditiveRule
from btao.rules.history import History
from btao.rules.rate import RateRule
from btao.rules.rule import Rule
from btao.space import Space
from btao.tam import check_bounds
from btao.trial import Trial, outcome

STATE_FORMAT = 3
RULES = ("joint", "paper", "rate")
FORMER_RULES = {"joint": "joint", "light": "paper"}  # as `candidates` named them
OPTIONS = (
    *("seed", "rule", "n_init", "light_per_heavy", "square_root_beta"),
    *("logarithm", "ordered", "heavy_cost", "continues", "n_init_heavy"),
)


class BTAO:
    """Minimize an expensive function with the help of a cheap approximation of it.

    Many light training runs and a few heavy ones, tied by a Gaussian-process model of both. A heavy run is made at a
    configuration that has a light one.

    Parameters
    ----------
    space : Space
        What to search.
    seed : int
        Equal seeds, told equal values, ask for equal trials.
    rule : {"joint", "paper", "rate"}
        How the next trial is chosen.

        "paper": `light_per_heavy` light runs where the light response is promising, then a heavy run at the most
        promising of all light points, by a truncated additive model (paper Algorithm 2).
        "joint": the same, but the last of these light runs is where the heavy response is promising, so that the heavy
        minimizer is reached where it differs from the light one (METHOD item 12).
        "rate": a new light run or the heavy run of a known light point, whichever promises the largest improvement per
        cost (METHOD items 19-28).
    n_init : int, optional
        Size of the start, at least 1; default: number of parameters + 2. Of "joint" and "paper" the heavy runs (METHOD
        item 18): the start is a nested Latin hypercube of `light_per_heavy` times as many light runs. Of "rate" the
        light runs: a Latin hypercube, of which the best is trained heavily (METHOD item 19).
    light_per_heavy : int
        s, light runs per heavy one, at least 1; of "joint" and "paper".
    delta_bounds, rho_bounds : (float, float)
        Bounds of y_h - rho y_l and of rho (paper Eq. 8); of "joint" and "paper". The defaults suit validation errors: a
        heavy run is never worse than a light one. Infinite bounds are allowed. Observations that contradict the bounds
        widen them, with a warning.
    square_root_beta : bool
        Weigh the standard deviation in the acquisition by the square root of 0.2 d ln(2n), as in Srinivas
        et al. (2010), instead of by 0.2 d ln(2n), as the paper prints it (METHOD item 11); of "joint" and "paper".
    logarithm : bool, optional
        Whether the model sees the logarithm of values, as suits errors; of "rate". None: where all are from 0 to 1.
    ordered : bool
        Whether a heavy value is known not to exceed the light one (METHOD item 23); of "rate".
    heavy_cost : float
        Cost of a heavy run in units of a light one, for trials that are told without a cost; of "rate".
    continues : bool
        Whether a heavy run continues the light one and costs the rest, or begins anew; of "rate".
    design : sequence of dict, optional
        Configurations to start from, instead of a Latin hypercube: all are trained lightly; of "joint" and "paper" the
        first `n_init` of them heavily, of "rate" the first `n_init_heavy`. Repeated ones count once.
    n_init_heavy : int, optional
        Heavy runs of the start of "rate", at least 1; None: one, at the best light run.
    candidates : {"joint", "light"}, optional
        The former name of `rule`, which called "paper" "light".

    Notes
    -----
    A failed trial is never best and never asked again. Its configuration counts as the worst
    light value seen, so that the search leaves its neighborhood. Several trials may be asked
    before one is told: those under way are taken to turn out as the model expects.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or is out of its range.

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

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        light_per_heavy: int = 2,
        n_init: int | None = None,
        delta_bounds: tuple[float, float] = (-1.0, 0.0),
        rho_bounds: tuple[float, float] = (0.0, 1.0),
        candidates: str | None = None,
        square_root_beta: bool = False,
        design: Sequence[Mapping[str, Any]] | None = None,
        *,
        rule: str | None = None,
        logarithm: bool | None = None,
        ordered: bool = False,
        heavy_cost: float = 5.0,
        continues: bool = True,
        n_init_heavy: int | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise TypeError(f"space must be a btao.Space, got {space!r}")
        self.space = space
        self.seed = check_integer("seed", seed, least=0)
        self.rule = _rule_of(rule, candidates)
        self.light_per_heavy = check_integer("light_per_heavy", light_per_heavy)
        self.n_init = space.dim + 2 if n_init is None else check_integer("n_init", n_init)
        self.square_root_beta = bool(square_root_beta)
        self.delta_bounds = check_bounds(delta_bounds, "delta_bounds")
        self.rho_bounds = check_bounds(rho_bounds, "rho_bounds")
        if not (logarithm is None or isinstance(logarithm, bool)):
            raise TypeError(f"logarithm must be True, False or None, got {logarithm!r}")
        self.logarithm, self.ordered, self.continues = logarithm, bool(ordered), bool(continues)
        if not (is_number(heavy_cost) and 0 < heavy_cost < math.inf):
            raise ValueError(f"heavy_cost must be a finite number above 0, got {heavy_cost!r}")
        self.heavy_cost = float(heavy_cost)
        self.n_init_heavy = check_integer("n_init_heavy", n_init_heavy, none="None")
        self._history = History(space)
        self._rule = self._make_rule(self._start() if design is None else self._given_design(design))

    # ---------------------------------------------------------------- ask and tell

    def ask(self) -> Trial:
        """The next trial to run.

        Raises
        ------
        SpaceExhausted
            When every configuration of a finite space has been tried.
        """
        level, point = self._rule.propose()
        trial = Trial(len(self._history.trials), self.space.from_unit(point), level, point)
        self._history.trials.append(trial)
        # A copy: who adds to the configuration before training must not change ours.
        return replace(trial, config=dict(trial.config))

    def tell(
        self, trial: Trial, value: float | None = None, *, error: str | None = None, cost: float | None = None
    ) -> Trial:
        """Report what a trial measured, or that it failed.

        Parameters
        ----------
        trial : Trial
            One that `ask` returned and that was not told yet; any order.
        value : float
            To be minimized. nan, an infinity or more than 1e100 in size marks the trial as failed.
        error : str, optional
            Marks the trial as failed, with the reason.
        cost : float, optional
            What the trial cost, in any unit that all trials share, such as iterations trained or seconds; "rate"
            weighs gains by it. None: a light run counts 1, a heavy one `heavy_cost`.

        Returns
        -------
        Trial
            The trial with its outcome.

        Raises
        ------
        ValueError
            If the trial is unknown here or was told before, or the cost is negative or not finite.
        TypeError
            If the value or the cost is not a number.
        """
        if not isinstance(trial, Trial):
            raise TypeError(f"trial must be one that ask() returned, got {trial!r}")
        trials = self._history.trials
        if not 0 <= trial.number < len(trials):
            raise ValueError(f"trial {trial.number} was never asked here: {len(trials)} trials are known")
        known = trials[trial.number]
        if known.level != trial.level or not np.array_equal(known.point, trial.point):
            raise ValueError(
                f"trial {trial.number} belongs to another optimizer: {trial.level} {trial.config} was told, but "
                f"{known.level} {known.config} was asked here"
            )
        if known.status != "pending":
            raise ValueError(f"trial {trial.number} was told before: it is {known.status}, value {known.value}")
        told = replace(known, **outcome(value, error), cost=_cost(cost))
        trials[trial.number] = told
        self._history.n_told += 1
        return told

    @property
    def initial_design(self) -> list[dict[str, Any]]:
        """The configurations of the start, those to be trained heavily first where that is known before."""
        return [self.space.from_unit(point) for point in self._rule.design]

    @property
    def start_size(self) -> tuple[int, int]:
        """Light and heavy runs of the start."""
        light = len(self._rule.design)
        heavy = self.n_init if self.rule != "rate" else self.n_init_heavy or 1
        return light, min(heavy, light)

    @property
    def trials(self) -> list[Trial]:
        """All trials in the order of asking."""
        return list(self._history.trials)

    @property
    def pending(self) -> list[Trial]:
        """Trials that were asked and not told."""
        return self._history.select(status="pending")

    @property
    def best(self) -> Trial | None:
        """The best successful heavy trial (the first of equals), or None before there is one."""
        return self._rule.best()

    @property
    def recommended(self) -> Trial | None:
        """The successful heavy trial whose response the model expects to be smallest, or None before there is one.

        The model is that of the last proposal, told all results since; before there is one, this is `best`. It
        differs from `best` where the model takes a difference of results for noise.
        """
        return self._rule.recommended()

    def predict(self, configs: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> tuple[FloatArray, FloatArray]:
        """The performance profile: mean and standard deviation of the heavy response.

        Parameters
        ----------
        configs : list of m dicts, or one dict

        Returns
        -------
        mean, std : (m,) arrays
            In the units of the values told. Where a light value is known it is used (METHOD items 7 and 8).

        Raises
        ------
        RuntimeError
            Before the first successful heavy trial.
        TypeError, ValueError
            If a configuration is not of the space.
        """
        if isinstance(configs, Mapping):
            configs = [configs]
        points = np.array([self.space.to_unit(config) for config in configs]).reshape(-1, self.space.dim)
        if not self._history.select("heavy", "ok"):
            raise RuntimeError("predict needs a successful light and heavy trial at one configuration at least")
        return self._rule.predict(points)

    # ---------------------------------------------------------------- state

    def to_json(self) -> str:
        """The whole state as JSON text, from which `from_json` continues exactly."""
        return json.dumps(
            {
                "format": STATE_FORMAT,
                "space": self.space.to_dict(),
                # JSON has no infinity; float() reads it back from text.
                "delta_bounds": [str(bound) if math.isinf(bound) else bound for bound in self.delta_bounds],
                "rho_bounds": [str(bound) if math.isinf(bound) else bound for bound in self.rho_bounds],
                **{name: getattr(self, name) for name in OPTIONS},
                "design": self._rule.design.tolist(),
                "trials": [trial.to_dict() for trial in self._history.trials],
                "state": self._rule.state(),
            },
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, text: str) -> BTAO:
        """The optimizer that `to_json` described: it asks what the original would have asked.

        States of before there were several rules are read, too.

        Raises
        ------
        ValueError
            If the text is not such a state.
        """
        try:
            state = json.loads(text)
            if state["format"] == 2:
                state = _of_format_2(state)
            if state["format"] != STATE_FORMAT:
                raise ValueError(f"format {state['format']!r}, but this version of btao reads 2 and {STATE_FORMAT}")
            optimizer = cls(
                Space.from_dict(state["space"]),
                delta_bounds=check_bounds(state["delta_bounds"], "delta_bounds"),
                rho_bounds=check_bounds(state["rho_bounds"], "rho_bounds"),
                **{name: state[name] for name in OPTIONS},
            )
            optimizer._rule = optimizer._make_rule(np.array(state["design"]))
            history = optimizer._history
            for row in state["trials"]:
                point = np.array(row.pop("point"))
                history.trials.append(Trial(config=optimizer.space.from_unit(point), point=point, **row))
            history.n_told = len(history.trials) - len(optimizer.pending)
            optimizer._rule.restore(state["state"])
        except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a state of BTAO as to_json writes it: {error}") from error
        return optimizer

    # ---------------------------------------------------------------- rule and start

    def _make_rule(self, design: FloatArray) -> Rule:
        if self.rule == "rate":
            return RateRule(
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
            delta_bounds=self.delta_bounds,
            rho_bounds=self.rho_bounds,
            square_root_beta=self.square_root_beta,
        )

    def _start(self) -> FloatArray:
        """A well spread Latin hypercube; where heavy runs are planned, a nested one, their points first."""
        ratio = 1 if self.rule == "rate" else self.light_per_heavy
        return maximin_nested_latin_hypercube(self.n_init, ratio, self.space.dim, np.random.default_rng([self.seed]))

    def _given_design(self, configs: Sequence[Mapping[str, Any]]) -> FloatArray:
        if not configs:
            raise ValueError("design must be None or hold a configuration at least, got none")
        return np.array([self.space.to_unit(config) for config in configs])


def _rule_of(rule: str | None, candidates: str | None) -> str:
    """The rule that the arguments name, by its own name or by the former one."""
    if candidates is not None:
        if candidates not in FORMER_RULES:
            raise ValueError(f"candidates must be one of {tuple(FORMER_RULES)}, got {candidates!r}")
        if rule is not None:
            raise ValueError(
                f"candidates={candidates!r} is the former name of rule={FORMER_RULES[candidates]!r}: give one"
            )
        return FORMER_RULES[candidates]
    rule = "joint" if rule is None else rule
    if rule not in RULES:
        raise ValueError(f"rule must be one of {RULES}, got {rule!r}")
    return rule


def _cost(cost: float | None) -> float | None:
    """A cost as a Python float, or None."""
    if cost is None:
        return None
    if not is_number(cost):
        raise TypeError(f"cost must be a number, got {cost!r}")
    if not 0 <= cost < math.inf:
        raise ValueError(f"cost must be finite and not negative, got {cost!r}")
    return float(cost)


def _of_format_2(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state of before there were several rules."""
    former = dict(state)
    warm = {name: former.pop(name) for name in ("warm_light", "warm_heavy")}
    defaults = {"logarithm": None, "ordered": False, "heavy_cost": 5.0, "continues": True, "n_init_heavy": None}
    return former | defaults | {"format": STATE_FORMAT, "rule": _rule_of(None, former["candidates"]), "state": warm}
