"""BTAO: Bayesian truncated additive optimization by ask and tell (paper Algorithm 2, METHOD items 10-15)."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from btao.acquisition import N_BEST, Acquisition, beta, maximize, upper_confidence_bound
from btao.arrays import BoolArray, FloatArray
from btao.checks import check_integer
from btao.design import maximin_nested_latin_hypercube
from btao.gp import GaussianProcess, Kernel
from btao.recommendation import least_expected
from btao.space import Space
from btao.tam import HeavyHyperparameters, TruncatedAdditiveModel, TruncationWarning, check_bounds
from btao.trial import LevelName, Status, Trial, measured, outcome

STATE_FORMAT = 2
CANDIDATE_RULES = ("joint", "light")


class SpaceExhausted(RuntimeError):
    """Every configuration of a finite space has been tried at both levels."""


class BTAO:
    """Minimize an expensive function with the help of a cheap approximation of it.

    Many light training runs and a few heavy ones, tied by a truncated additive Gaussian-process
    model. The start is a well spread nested Latin hypercube: all its points are trained lightly, the
    nested ones heavily. Then each iteration makes `light_per_heavy` light runs and one heavy run.

    Parameters
    ----------
    space : Space
        What to search.
    seed : int
        Equal seeds, told equal values, ask for equal trials.
    light_per_heavy : int
        s, light runs per heavy one, at least 1.
    n_init : int, optional
        Heavy runs of the start, at least 1; default: number of parameters + 2 (METHOD item 18).
    delta_bounds, rho_bounds : (float, float)
        Bounds of y_h - rho y_l and of rho (paper Eq. 8). The defaults suit validation errors: a heavy
        run is never worse than a light one. Infinite bounds are allowed. Observations that
        contradict the bounds widen them, with a warning.
    candidates : {"joint", "light"}
        "light" is the paper's rule: light runs where the light response is promising, and the heavy
        run at the most promising of their configurations. "joint", the default, makes the last light run
        of an iteration where the heavy response is promising, so that the heavy minimizer is
        reached where it differs from the light one (METHOD item 12).
    square_root_beta : bool
        Weigh the standard deviation in the acquisition by the square root of 0.2 d ln(2n), as in Srinivas
        et al. (2010), instead of by 0.2 d ln(2n), as the paper prints it (METHOD item 11).
    design : sequence of dict, optional
        Configurations to start from, instead of a nested Latin hypercube: all are trained lightly, the
        first `n_init` of them heavily. Repeated ones count once.

    Notes
    -----
    Models are fitted anew before each proposal, from the last hyperparameters (METHOD item 11); the
    Cholesky factor is extended (METHOD item 14) by the trials that are under way at that moment.

    A failed trial is never best and never asked again. Its configuration counts as the worst
    light value seen, so that the search leaves its neighborhood. Several trials may be asked
    before one is told: those under way are taken to turn out as the model expects.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or is out of its range.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        light_per_heavy: int = 2,
        n_init: int | None = None,
        delta_bounds: tuple[float, float] = (-1.0, 0.0),
        rho_bounds: tuple[float, float] = (0.0, 1.0),
        candidates: str = "joint",
        square_root_beta: bool = False,
        design: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise TypeError(f"space must be a btao.Space, got {space!r}")
        self.space = space
        self.seed = check_integer("seed", seed, least=0)
        self.light_per_heavy = check_integer("light_per_heavy", light_per_heavy)
        self.n_init = space.dim + 2 if n_init is None else check_integer("n_init", n_init)
        if candidates not in CANDIDATE_RULES:
            raise ValueError(f"candidates must be one of {CANDIDATE_RULES}, got {candidates!r}")
        self.candidates = candidates
        self.square_root_beta = bool(square_root_beta)
        self.delta_bounds = check_bounds(delta_bounds, "delta_bounds")
        self.rho_bounds = check_bounds(rho_bounds, "rho_bounds")
        self._kernel = Kernel(space.dim, space)
        self._design = self._nested_design() if design is None else self._given_design(design)
        self._trials: list[Trial] = []
        self._n_told = 0
        # Hyperparameters of the last fit made for a proposal, with the number of results it had
        # seen: the warm start of the next, and all that a restored optimizer needs to go on alike.
        self._warm_light: tuple[int, list[float]] | None = None
        self._warm_heavy: tuple[int, HeavyHyperparameters] | None = None
        self._light_cache: tuple[int, GaussianProcess] | None = None
        self._heavy_cache: tuple[int, TruncatedAdditiveModel] | None = None
        TruncatedAdditiveModel(self.delta_bounds, self.rho_bounds)  # refuses bounds that it cannot use

    # ---------------------------------------------------------------- ask and tell

    def ask(self) -> Trial:
        """The next trial to run.

        Raises
        ------
        SpaceExhausted
            When every configuration of a finite space has been tried.
        """
        level, point = self._propose()
        trial = Trial(len(self._trials), self.space.from_unit(point), level, point)
        self._trials.append(trial)
        # A copy: who adds to the configuration before training must not change ours.
        return replace(trial, config=dict(trial.config))

    def tell(self, trial: Trial, value: float | None = None, *, error: str | None = None) -> Trial:
        """Report what a trial measured, or that it failed.

        Parameters
        ----------
        trial : Trial
            One that `ask` returned and that was not told yet; any order.
        value : float
            To be minimized. nan, an infinity or more than 1e100 in size marks the trial as failed.
        error : str, optional
            Marks the trial as failed, with the reason.

        Returns
        -------
        Trial
            The trial with its outcome.

        Raises
        ------
        ValueError
            If the trial is unknown here or was told before.
        TypeError
            If the value is not a number.
        """
        if not isinstance(trial, Trial):
            raise TypeError(f"trial must be one that ask() returned, got {trial!r}")
        if not 0 <= trial.number < len(self._trials):
            raise ValueError(f"trial {trial.number} was never asked here: {len(self._trials)} trials are known")
        known = self._trials[trial.number]
        if known.level != trial.level or not np.array_equal(known.point, trial.point):
            raise ValueError(
                f"trial {trial.number} belongs to another optimizer: {trial.level} {trial.config} was told, but "
                f"{known.level} {known.config} was asked here"
            )
        if known.status != "pending":
            raise ValueError(f"trial {trial.number} was told before: it is {known.status}, value {known.value}")
        told = replace(known, **outcome(value, error))
        self._trials[trial.number] = told
        self._n_told += 1
        return told

    @property
    def initial_design(self) -> list[dict[str, Any]]:
        """The configurations of the start, those to be trained heavily first."""
        return [self.space.from_unit(point) for point in self._design]

    @property
    def start_size(self) -> tuple[int, int]:
        """Light and heavy runs of the start."""
        return len(self._design), min(self.n_init, len(self._design))

    @property
    def trials(self) -> list[Trial]:
        """All trials in the order of asking."""
        return list(self._trials)

    @property
    def pending(self) -> list[Trial]:
        """Trials that were asked and not told."""
        return self._select(status="pending")

    @property
    def best(self) -> Trial | None:
        """The best successful heavy trial (the first of equals), or None before there is one."""
        return min(self._select("heavy", "ok"), key=measured, default=None)

    @property
    def recommended(self) -> Trial | None:
        """The successful heavy trial whose response the model expects to be smallest, or None before there is one.

        The model is that of the last proposal, told all results since; before there is one, this is `best`.
        As the model interpolates, it differs from `best` only where results lie so near to each other
        that the process takes a mean of them. `least_expected` says what counts as equal.
        """
        heavies = self._select("heavy", "ok")
        if self._warm_heavy is None or not heavies:
            return self.best
        points, values = self._points(heavies), np.array([trial.value for trial in heavies])
        _, y_light = self._known_light(points)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)  # the next fit says it
            model = TruncatedAdditiveModel(self.delta_bounds, self.rho_bounds, self.space).fit(
                *self._light_data(),
                points,
                values,
                light=self._light_cache and self._light_cache[1],  # has no part in means where light values are known
                start=self._warm_heavy[1],
                fixed=True,
            )
        return heavies[least_expected(values, model.moments(points, y_light)[0])]

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
        if not self._select("heavy", "ok"):
            raise RuntimeError("predict needs a successful light and heavy trial at one configuration at least")
        model = self._heavy_model()
        mean, std = model.predict(points)
        known, y_light = self._known_light(points)
        if known.any():
            mean[known], std[known] = model.predict(points[known], y_light)
        return mean, std

    # ---------------------------------------------------------------- state

    def to_json(self) -> str:
        """The whole state as JSON text, from which `from_json` continues exactly."""
        return json.dumps(
            {
                "format": STATE_FORMAT,
                "space": self.space.to_dict(),
                "seed": self.seed,
                "light_per_heavy": self.light_per_heavy,
                "n_init": self.n_init,
                # JSON has no infinity; float() reads it back from text.
                "delta_bounds": [str(bound) if math.isinf(bound) else bound for bound in self.delta_bounds],
                "rho_bounds": [str(bound) if math.isinf(bound) else bound for bound in self.rho_bounds],
                "candidates": self.candidates,
                "square_root_beta": self.square_root_beta,
                "design": self._design.tolist(),
                "trials": [trial.to_dict() for trial in self._trials],
                "warm_light": self._warm_light,
                "warm_heavy": self._warm_heavy and [self._warm_heavy[0], self._warm_heavy[1].to_dict()],
            },
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, text: str) -> BTAO:
        """The optimizer that `to_json` described: it asks what the original would have asked.

        Raises
        ------
        ValueError
            If the text is not such a state.
        """
        try:
            state = json.loads(text)
            if state["format"] != STATE_FORMAT:
                raise ValueError(f"format {state['format']!r}, but this version of btao reads {STATE_FORMAT}")
            options = ("seed", "light_per_heavy", "n_init", "candidates", "square_root_beta")
            optimizer = cls(
                Space.from_dict(state["space"]),
                delta_bounds=check_bounds(state["delta_bounds"], "delta_bounds"),
                rho_bounds=check_bounds(state["rho_bounds"], "rho_bounds"),
                **{name: state[name] for name in options},
            )
            optimizer._design = np.array(state["design"])
            for row in state["trials"]:
                point = np.array(row.pop("point"))
                optimizer._trials.append(Trial(config=optimizer.space.from_unit(point), point=point, **row))
            optimizer._n_told = len(optimizer._trials) - len(optimizer.pending)
            if state["warm_light"]:
                optimizer._warm_light = (state["warm_light"][0], state["warm_light"][1])
            if state["warm_heavy"]:
                seen, row = state["warm_heavy"]
                optimizer._warm_heavy = (seen, HeavyHyperparameters(**row | {"log_phi": tuple(row["log_phi"])}))
        except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a state of BTAO as to_json writes it: {error}") from error
        return optimizer

    # ---------------------------------------------------------------- which level, which point

    def _propose(self) -> tuple[LevelName, FloatArray]:
        lights, heavies = self._select("light"), self._select("heavy")
        if len(lights) < len(self._design):
            return "light", self._design[len(lights)]
        if len(heavies) < self.n_init and (ready := self._heavy_candidates(within=len(self._design))):
            return "heavy", ready[0].point
        light_done = len(lights) - len(self._design)
        iteration_end = self.light_per_heavy * (max(len(heavies) - self.n_init, 0) + 1)
        ready = self._heavy_candidates()
        if light_done < iteration_end or not ready:
            point = self._propose_light(last=light_done == iteration_end - 1)
            if point is not None:
                return "light", point
            if not ready:
                waiting = f"; {len(self.pending)} trials wait to be told" if self.pending else ""
                raise SpaceExhausted(f"all {self.space.size} configurations of the space have been tried{waiting}")
        return "heavy", self._choose_heavy(ready)

    def _propose_light(self, last: bool) -> FloatArray | None:
        """The next light point (METHOD items 11 and 12), or None if all are known."""
        lights = self._select("light")
        known = self._points(lights)
        rng = np.random.default_rng([self.seed, len(self._trials)])
        if not self._select("light", "ok"):
            # Nothing to model yet: as far as possible from all that was tried.
            return maximize(lambda X: self._kernel.distance(X, known), self.space, known, known[:0], rng)
        if last and self.candidates == "joint" and self._select("heavy", "ok"):
            acquisition, best = self._heavy_acquisition(), self._best_points("heavy")
        else:
            acquisition, best = self._light_acquisition(), self._best_points("light")
        return maximize(acquisition, self.space, known, best, rng)

    def _choose_heavy(self, ready: list[Trial]) -> FloatArray:
        """The candidate with the largest UCB_h (paper Algorithm 2, line 8)."""
        y_light = np.array([trial.value for trial in ready])
        if not self._select("heavy", "ok"):
            return ready[int(y_light.argmin())].point
        model = self._with_pending(self._heavy_model(commit=True))
        mean, variance = model.moments(self._points(ready), y_light)
        n_heavy = len(self._select("heavy", "ok"))
        return ready[int(upper_confidence_bound(mean, np.sqrt(variance), self._beta(n_heavy)).argmax())].point

    def _heavy_candidates(self, within: int | None = None) -> list[Trial]:
        """Successful light trials, of the first `within`, whose configuration had no heavy run yet."""
        lights = [trial for trial in self._select("light")[:within] if trial.status == "ok"]
        heavies = self._select("heavy")
        if not lights or not heavies:
            return lights
        tried = np.any(self._kernel.same(self._points(lights), self._points(heavies)), axis=1)
        return [trial for trial, done in zip(lights, tried, strict=True) if not done]

    def _nested_design(self) -> FloatArray:
        """The nested design, its heavy points first."""
        rng = np.random.default_rng([self.seed])
        return self._distinct(maximin_nested_latin_hypercube(self.n_init, self.light_per_heavy, self.space.dim, rng))

    def _given_design(self, configs: Sequence[Mapping[str, Any]]) -> FloatArray:
        if not configs:
            raise ValueError("design must be None or hold a configuration at least, got none")
        return self._distinct(np.array([self.space.to_unit(config) for config in configs]))

    def _distinct(self, points: FloatArray) -> FloatArray:
        """The points, snapped, without those that round to an earlier one."""
        points = self.space.snap(points)
        distinct: FloatArray = points[self._kernel.first(points) == np.arange(len(points))]
        return distinct

    # ---------------------------------------------------------------- acquisitions

    def _light_acquisition(self) -> Acquisition:
        model = self._light_model(commit=True)
        weight = self._beta(len(model.posterior_.values))
        posterior = model.fantasize(self._points(self._select("light", "pending"))).posterior_

        def acquisition(X: FloatArray) -> FloatArray:
            mean, variance = posterior.moments(X)
            return upper_confidence_bound(mean, np.sqrt(variance), weight)

        return acquisition

    def _heavy_acquisition(self) -> Acquisition:
        weight = self._beta(len(self._select("heavy", "ok")))
        model = self._with_pending(self._heavy_model(commit=True))

        def acquisition(X: FloatArray) -> FloatArray:
            mean, variance = model.moments(X)
            return upper_confidence_bound(mean, np.sqrt(variance), weight)

        return acquisition

    def _beta(self, n: int) -> float:
        return beta(n, self.space.dim, self.square_root_beta)

    def _best_points(self, level: LevelName) -> FloatArray:
        return self._points(sorted(self._select(level, "ok"), key=measured)[:N_BEST])

    # ---------------------------------------------------------------- models

    def _light_data(self) -> tuple[FloatArray, FloatArray]:
        """Light points and values; configurations that failed at either level stand at the worst value."""
        told = [trial for trial in self._select("light") if trial.status != "pending"]
        worst = max(measured(trial) for trial in told if trial.status == "ok")
        values = np.array([trial.value if trial.status == "ok" else worst for trial in told])
        failed = self._select("heavy", "failed")
        if failed:
            values[self._kernel.same(self._points(told), self._points(failed)).any(axis=1)] = worst
        return self._points(told), values

    def _known_light(self, points: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Which of the points (m, dim) have a light value, (m,), and the values of these."""
        measured = self._select("light", "ok")
        same = self._kernel.same(points, self._points(measured))
        known: BoolArray = np.any(same, axis=1)
        return known, np.array([measured[index].value for index in same[known].argmax(axis=1)])

    def _light_model(self, commit: bool = False) -> GaussianProcess:
        """The process fitted to all light results; `commit` makes it the next fit's warm start."""
        if self._light_cache is None or self._light_cache[0] != self._n_told:
            seen, start = self._warm_light or (None, None)
            model = GaussianProcess(self.space).fit(*self._light_data(), start=start, fixed=seen == self._n_told)
            self._light_cache = (self._n_told, model)
        model = self._light_cache[1]
        if commit:
            self._warm_light = (self._n_told, model.log_phi_.tolist())
        return model

    def _heavy_model(self, commit: bool = False) -> TruncatedAdditiveModel:
        """The truncated additive model of all results; `commit` as in `_light_model`."""
        if self._heavy_cache is None or self._heavy_cache[0] != self._n_told:
            seen, start = self._warm_heavy or (None, None)
            heavies = self._select("heavy", "ok")
            model = TruncatedAdditiveModel(self.delta_bounds, self.rho_bounds, self.space).fit(
                *self._light_data(),
                self._points(heavies),
                np.array([trial.value for trial in heavies]),
                light=self._light_model(commit),
                start=start,
                fixed=seen == self._n_told,
            )
            self._heavy_cache = (self._n_told, model)
        model = self._heavy_cache[1]
        if commit:
            self._light_model(commit)
            self._warm_heavy = (self._n_told, model.hyperparameters_)
        return model

    def _with_pending(self, model: TruncatedAdditiveModel) -> TruncatedAdditiveModel:
        """The model with all trials under way taken at their predicted means."""
        return model.fantasize(
            self._points(self._select("light", "pending")), self._points(self._select("heavy", "pending"))
        )

    # ---------------------------------------------------------------- trials

    def _select(self, level: LevelName | None = None, status: Status | None = None) -> list[Trial]:
        return [
            trial
            for trial in self._trials
            if (level is None or trial.level == level) and (status is None or trial.status == status)
        ]

    def _points(self, trials: list[Trial]) -> FloatArray:
        return np.array([trial.point for trial in trials]).reshape(len(trials), self.space.dim)
