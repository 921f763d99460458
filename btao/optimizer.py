"""BTAO: Bayesian truncated additive optimization by ask and tell (paper Algorithm 2, METHOD items 10-29)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from btao.arrays import FloatArray
from btao.checks import check_integer, is_number
from btao.design import maximin_nested_latin_hypercube
from btao.interface.direction import Direction
from btao.interface.enqueued import Enqueued
from btao.interface.lock import Lock
from btao.interface.state import FORMER_RULES, bounds_to_json, read_state, write_state
from btao.interface.warm_start import Result, read_results
from btao.rules.additive import AdditiveRule
from btao.rules.history import History
from btao.rules.rate import RateRule
from btao.rules.rule import Rule
from btao.space import Space
from btao.spaces.constraint import ConstraintMismatch, allowed_design
from btao.tam import check_bounds
from btao.trial import LevelName, Outcome, Trial, check_cost, check_level, outcome
from btao.viewing.frames import trials_frame
from btao.viewing.html import summary
from btao.viewing.importance import total_effects
from btao.viewing.plots import plot_history, plot_profile
from btao.viewing.profile_explorer import ProfileExplorer

RULES = ("joint", "paper", "rate")
OPTIONS = (
    *("seed", "direction", "rule", "n_init", "light_per_heavy", "square_root_beta"),
    *("noise", "logarithm", "ordered", "heavy_cost", "continues", "n_init_heavy"),
)


class BTAO:
    """Minimize, or maximize, an expensive function with the help of a cheap approximation of it.

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
        Size of the start, at least 1; default: number of parameters that vary + 2. Of "joint" and "paper" the heavy
        runs (METHOD item 18): the start is a nested Latin hypercube of `light_per_heavy` times as many light runs. Of
        "rate" the light runs: a Latin hypercube, of which the best is trained heavily (METHOD item 19).
    light_per_heavy : int
        s, light runs per heavy one, at least 1; of "joint" and "paper".
    delta_bounds, rho_bounds : (float, float), optional
        Bounds of y_h - rho y_l and of rho (paper Eq. 8), of the values that are told; of "joint" and "paper". The
        defaults, (-1, 0) or with "maximize" (0, 1), and (0, 1), suit validation errors and accuracies: a heavy run is
        never worse than a light one. Infinite bounds are allowed. Observations that contradict the bounds widen them,
        with a warning.
    square_root_beta : bool
        Weigh the standard deviation in the acquisition by the square root of 0.2 d ln(2n), as in Srinivas
        et al. (2010), instead of by 0.2 d ln(2n), as the paper prints it (METHOD item 11); of "joint" and "paper".
    noise : bool, optional
        Whether equal configurations can give different values. The model then estimates the noise of each level (METHOD
        item 29) and `recommended` is what it trusts, `best` the best value seen. "joint" and "paper" take values as
        exact by default; "rate" always estimates their noise, and refuses False.
    logarithm : bool, optional
        Whether the model sees the logarithm of values, as suits errors; of "rate". None: where all are from 0 to 1 and
        minimized.
    ordered : bool
        Whether a heavy value is known not to be worse than the light one (METHOD item 23); of "rate".
    heavy_cost : float
        Cost of a heavy run in units of a light one, for trials that are told without a cost; of "rate".
    continues : bool
        Whether a heavy run continues the light one and costs the rest, or begins anew; of "rate".
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
    light value seen, so that the search leaves its neighborhood. Several trials may be asked
    before one is told: those under way are taken to turn out as the model expects. Several
    threads may share an optimizer.

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
        delta_bounds: tuple[float, float] | None = None,
        rho_bounds: tuple[float, float] = (0.0, 1.0),
        candidates: str | None = None,
        square_root_beta: bool = False,
        design: Sequence[Mapping[str, Any]] | None = None,
        *,
        rule: str | None = None,
        noise: bool | None = None,
        logarithm: bool | None = None,
        ordered: bool = False,
        heavy_cost: float = 5.0,
        continues: bool = True,
        n_init_heavy: int | None = None,
        direction: str = "minimize",
    ) -> None:
        if not isinstance(space, Space):
            raise TypeError(f"space must be a btao.Space, got {space!r}")
        self.space = space
        self.seed = check_integer("seed", seed, least=0)
        self.rule = _rule_of(rule, candidates)
        self._direction = Direction(direction)
        self.light_per_heavy = check_integer("light_per_heavy", light_per_heavy)
        self.n_init = space.n_varying + 2 if n_init is None else check_integer("n_init", n_init)
        self.square_root_beta = bool(square_root_beta)
        delta_bounds = self._direction.default_delta_bounds if delta_bounds is None else delta_bounds
        self.delta_bounds = check_bounds(delta_bounds, "delta_bounds")
        self.rho_bounds = check_bounds(rho_bounds, "rho_bounds")
        if not (logarithm is None or isinstance(logarithm, bool)):
            raise TypeError(f"logarithm must be True, False or None, got {logarithm!r}")
        if not (noise is None or isinstance(noise, bool)):
            raise TypeError(f"noise must be True, False or None, got {noise!r}")
        if self.rule == "rate" and noise is False:
            raise ValueError("noise must be None or True with rule='rate', which always estimates it, got False")
        self.noise = self.rule == "rate" if noise is None else noise
        if logarithm and self._direction.maximize:
            raise ValueError("logarithm must be None or False with direction='maximize': it suits errors, got True")
        self.logarithm, self.ordered, self.continues = logarithm, bool(ordered), bool(continues)
        if not (is_number(heavy_cost) and 0 < heavy_cost < math.inf):
            raise ValueError(f"heavy_cost must be a finite number above 0, got {heavy_cost!r}")
        self.heavy_cost = float(heavy_cost)
        self.n_init_heavy = check_integer("n_init_heavy", n_init_heavy, none="None")
        self._lock = Lock()
        self._history = History(space)
        self._enqueued = Enqueued(self._history)
        self._rule = self._make_rule(self._start() if design is None else self._given_design(design))

    # ---------------------------------------------------------------- ask and tell

    def ask(self) -> Trial:
        """The next trial to run.

        Raises
        ------
        SpaceExhausted
            When every configuration of a finite space has been tried.
        """
        with self._lock:
            level, point = self._enqueued.propose() or self._rule.propose()
            trial = Trial(len(self._history.trials), self.space.from_unit(point), level, point)
            self._history.trials.append(trial)
        # A copy: who adds to the configuration before training must not change ours.
        return replace(trial, config=dict(trial.config))

    @overload
    def tell(
        self, trial: Trial, value: float | None, /, *, error: str | None = None, cost: float | None = None
    ) -> Trial: ...

    @overload
    def tell(
        self, trial: Trial, *, value: float | None = None, error: str | None = None, cost: float | None = None
    ) -> Trial: ...

    @overload
    def tell(
        self,
        trial: Mapping[str, Any],
        level: LevelName,
        value: float | None = None,
        *,
        error: str | None = None,
        cost: float | None = None,
    ) -> Trial: ...

    def tell(
        self,
        trial: Trial | Mapping[str, Any],
        level: Any = None,
        value: float | None = None,
        *,
        error: str | None = None,
        cost: float | None = None,
    ) -> Trial:
        """Report what a trial measured, or that it failed: `tell(trial, value)` or `tell(config, level, value)`.

        Parameters
        ----------
        trial : Trial or dict
            One that `ask` returned and that was not told yet; any order. Or a configuration of which a result was made
            elsewhere; if a trial waits there at this level, it is told.
        level : {"light", "heavy"}
            Of a result made elsewhere. A heavy one counts for `best` at once, for the model when there is a light one
            of the same configuration, which is the next trial that `ask` returns.
        value : float
            What was measured. nan, an infinity or more than 1e100 in size marks the trial as failed.
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
            If the trial or the configuration is unknown here or was told before, there is no such level, or the cost
            is negative or not finite.
        TypeError
            If the value or the cost is not a number.
        """
        if isinstance(trial, Mapping):
            try:
                level = check_level(level)
            except ValueError as reason:
                raise ValueError(f"{reason}: of a configuration, tell(config, level, value)") from None
            with self._lock:
                return self._take_on(Result.of(self.space, trial, level, value, error, cost))
        with self._lock:
            known = self._known(trial)
            if level is not None and value is not None:
                raise TypeError(f"a trial knows its level: tell(trial, value), got {level!r} and {value!r} beside it")
            if known.status != "pending":
                raise ValueError(self._told_before(known))
            return self._record(known, outcome(level if value is None else value, error), check_cost(cost))

    def reopen(self, trial: Trial) -> Trial:
        """Forget that a trial failed: it is pending again, to be run and told anew.

        Parameters
        ----------
        trial : Trial
            A failed one of `trials`.

        Returns
        -------
        Trial
            The pending one.

        Raises
        ------
        ValueError
            If the trial is not of this optimizer, or has not failed.
        TypeError
            If it is no trial.
        """
        with self._lock:
            known = self._known(trial)
            if known.status != "failed":
                raise ValueError(f"trial {trial.number} must have failed to be run anew, it is {known.status}")
            opened = replace(known, status="pending", error=None, cost=None)
            self._history.trials[trial.number] = opened
            self._history.n_told -= 1
            self._rule = self._make_rule(self._rule.design)  # what it has fitted was told of the failure
        return replace(opened, config=dict(opened.config))

    def add_trials(self, trials: Any) -> int:
        """Take on results that were made elsewhere, all of them or, where one is wrong, none: a warm start.

        They stand in for the start, as far as they reach. Beyond that they inform the model and change no ratio of
        light to heavy runs.

        Parameters
        ----------
        trials : DataFrame, or list of dict or Trial
            A row a result, with a value for each parameter of the space, "level", "value" and, where known, "error" and
            "cost"; a dict may also hold the parameters as "config". Null values are failures. A row that says again
            what is known is passed over, and so is one whose status is "pending".

        Returns
        -------
        int
            How many results are new.

        Raises
        ------
        TypeError, ValueError
            If a row is wrong, or contradicts what is known.
        """
        results = read_results(trials, self.space)
        history = self._history
        n_new = 0
        with self._lock:
            before = list(history.trials), history.n_told
            try:
                for result in results:
                    known = history.at(result.level, result.point)
                    if known is None or not result.repeats(self._direction.turn_trial(known)):
                        self._take_on(result)
                        n_new += 1
            except ValueError:
                history.trials, history.n_told = before
                raise
        return n_new

    def enqueue(self, config: Mapping[str, Any], level: LevelName = "heavy") -> None:
        """Try a configuration next, before what the optimizer proposes; in the order of calls.

        Parameters
        ----------
        config : dict
        level : {"light", "heavy"}
            Up to where. A heavy run needs a light one: that comes first, if it is not known, and if it fails the heavy
            run is not made. What is known already is not run again.

        Raises
        ------
        TypeError, ValueError
            If the configuration is not of the space, or there is no such level.
        """
        entry = check_level(level), self.space.to_unit(config)
        with self._lock:
            self._enqueued.add(*entry)

    def _take_on(self, result: Result) -> Trial:
        """Record a result made elsewhere; ValueError where another is known."""
        known = self._history.at(result.level, result.point)
        if known is None:
            config = self.space.from_unit(result.point)
            known = Trial(len(self._history.trials), config, result.level, result.point, given=True)
            self._history.trials.append(known)
        elif known.status != "pending":
            raise ValueError(f"{self._told_before(known)}; now it is told {result.outcome}")
        return self._record(known, result.outcome, result.cost)

    def _known(self, trial: Trial) -> Trial:
        """This optimizer's own trial; an error where the one that is given is not of it."""
        if not isinstance(trial, Trial):
            raise TypeError(f"trial must be one that ask() returned, or a configuration, got {trial!r}")
        trials = self._history.trials
        if not 0 <= trial.number < len(trials):
            raise ValueError(f"trial {trial.number} was never asked here: {len(trials)} trials are known")
        known = trials[trial.number]
        if known.level != trial.level or not np.array_equal(known.point, trial.point):
            raise ValueError(
                f"trial {trial.number} belongs to another optimizer: {trial.level} {trial.config} was told, but "
                f"{known.level} {known.config} was asked here"
            )
        return known

    def _record(self, known: Trial, told: Outcome, cost: float | None) -> Trial:
        trial = replace(known, **self._direction.turn_outcome(told), cost=cost)
        self._history.trials[known.number] = trial
        self._history.n_told += 1
        return self._direction.turn_trial(trial)

    def _told_before(self, known: Trial) -> str:
        trial = self._direction.turn_trial(known)
        return f"trial {trial.number} was told before: it is {trial.status}, value {trial.value}"

    @property
    def direction(self) -> str:
        """Whether values are to be small ("minimize") or large ("maximize")."""
        return self._direction.name

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
        return [self._direction.turn_trial(trial) for trial in self._history.trials]

    @property
    def pending(self) -> list[Trial]:
        """Trials that were asked and not told."""
        return self._history.select(status="pending")

    @property
    def best(self) -> Trial | None:
        """The best successful heavy trial (the first of equals), or None before there is one."""
        return self._turned(self._rule.best())

    @property
    def recommended(self) -> Trial | None:
        """The successful heavy trial whose response the model expects to be best, or None before there is one.

        The model is that of the last proposal, told all results since; before there is one, this is `best`. It
        differs from `best` where the model takes a difference of results for noise.
        """
        with self._lock:
            return self._turned(self._rule.recommended())

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
        with self._lock:
            if not self._history.paired():
                raise RuntimeError("predict needs a successful light and heavy trial at one configuration at least")
            mean, std = self._rule.predict(points)
        return self._direction.turn(mean), std

    def importance(self) -> dict[str, float]:
        """How much of the variation of the heavy response each parameter makes, by the model: its total Sobol' index.

        Returns
        -------
        dict of str to float
            By parameter, from the largest, each from 0 to about 1. Their sum exceeds 1 where parameters act together.

        Raises
        ------
        RuntimeError
            Before the first successful heavy trial.
        """
        self.predict([])  # raises it
        with self._lock:
            return total_effects(lambda points: self._rule.predict(points)[0], self.space)

    def plot_profile(self, *names: str, at: Mapping[str, Any] | None = None, ax: Any = None) -> Any:
        """Draw the heavy response along one parameter or two, as `btao.viewing.plots.plot_profile` has it."""
        return plot_profile(self, *names, at=at, ax=ax)

    def explore_profile(self, *names: str) -> ProfileExplorer:
        """The same in a notebook, with sliders that move it: see `btao.viewing.profile_explorer.ProfileExplorer`."""
        return ProfileExplorer(self, *names)

    def _repr_html_(self) -> str:
        return summary(self)

    def plot_history(self, ax: Any = None) -> Any:
        """Draw the values of all trials, and the best so far, as `btao.viewing.plots.plot_history` has it."""
        return plot_history(self, ax=ax)

    def trials_frame(self) -> Any:
        """All trials as a DataFrame of pandas: a column for each attribute of `Trial` and each parameter.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return trials_frame(self.trials, self.space)

    def _turned(self, trial: Trial | None) -> Trial | None:
        return None if trial is None else self._direction.turn_trial(trial)

    # ---------------------------------------------------------------- state

    def to_json(self) -> str:
        """The whole state as JSON text, from which `from_json` continues exactly."""
        with self._lock:
            return write_state(
                {
                    "space": self.space.to_dict(),
                    "delta_bounds": bounds_to_json(self.delta_bounds),
                    "rho_bounds": bounds_to_json(self.rho_bounds),
                    **{name: getattr(self, name) for name in OPTIONS},
                    "design": self._rule.design.tolist(),
                    "trials": [trial.to_dict() for trial in self.trials],
                    "enqueued": self._enqueued.to_list(),
                    "state": self._rule.state(),
                }
            )

    @classmethod
    def from_json(cls, text: str, *, constraint: Callable[[dict[str, Any]], bool] | None = None) -> BTAO:
        """The optimizer that `to_json` described: it asks what the original would have asked.

        States of earlier versions are read, too.

        Parameters
        ----------
        text : str
        constraint : callable, optional
            That of the space, if it had one: the same function.

        Raises
        ------
        ValueError
            If the text is not such a state, or (`ConstraintMismatch`) the constraint is missing or too many.
        """
        try:
            state = read_state(text)
            optimizer = cls(
                Space.from_dict(state["space"], constraint=constraint),
                delta_bounds=check_bounds(state["delta_bounds"], "delta_bounds"),
                rho_bounds=check_bounds(state["rho_bounds"], "rho_bounds"),
                **{name: state[name] for name in OPTIONS},
            )
            optimizer._rule = optimizer._make_rule(np.array(state["design"]))
            history = optimizer._history
            for row in state["trials"]:
                point = np.array(row.pop("point"))
                trial = Trial(config=optimizer.space.from_unit(point), point=point, **row)
                history.trials.append(optimizer._direction.turn_trial(trial))
            history.n_told = len(history.trials) - len(optimizer.pending)
            optimizer._enqueued.restore(state["enqueued"])
            optimizer._rule.restore(state["state"])
        except ConstraintMismatch:
            raise
        except (KeyError, TypeError, ValueError) as error:
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
