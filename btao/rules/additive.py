"""The rules of the paper's model: s light runs where UCB is largest, then a heavy one (METHOD items 10-15)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from btao.acquisition import N_BEST, Acquisition, beta, upper_confidence_bound
from btao.arrays import FloatArray
from btao.checks import check_integer, is_number
from btao.gp import GaussianProcess
from btao.rules.history import History
from btao.rules.recommendation import least_expected
from btao.rules.rule import Rule
from btao.tam import HeavyHyperparameters, TruncatedAdditiveModel, TruncationWarning
from btao.trial import LEVELS, LevelName, Trial

# As many heavy results that break the bounds are no chance: the bounds are wrong, or the direction.
MANY_BREAKING = 3


class AdditiveRule(Rule):
    """Algorithm 2 of the paper, on the truncated additive model.

    Parameters
    ----------
    history : History
    seed : int
    design : (n, dim) array
        The start, the points to be trained heavily first.
    n_init : int
        How many of them are.
    light_per_heavy : int
    joint : bool
        Whether the last light run of an iteration is where the heavy response is promising (METHOD item 12).
    delta_bounds, rho_bounds : (float, float)
    negated : bool
        Whether values are negated ones, which warnings give as they were.
    square_root_beta : bool
    noise : bool
        Whether values hold noise (METHOD item 29).

    Notes
    -----
    Models are fitted anew before each proposal, from the last hyperparameters (METHOD item 11); the
    Cholesky factor is extended (METHOD item 14) by the trials that are under way at that moment.
    """

    def __init__(
        self,
        history: History,
        seed: int,
        design: FloatArray,
        *,
        n_init: int,
        light_per_heavy: int,
        joint: bool,
        delta_bounds: tuple[float, float],
        rho_bounds: tuple[float, float],
        negated: bool,
        square_root_beta: bool,
        noise: bool,
    ) -> None:
        super().__init__(history, seed, design)
        self._n_init, self._light_per_heavy, self._joint = n_init, light_per_heavy, joint
        self._bounds, self._negated = (delta_bounds, rho_bounds), negated
        self._advised = False
        self._square_root_beta, self._noise = square_root_beta, noise
        # Hyperparameters of the last fit made for a proposal, with the number of results it had
        # seen: the warm start of the next, and all that a restored rule needs to go on alike.
        self._warm_light: tuple[int, list[float]] | None = None
        self._warm_heavy: tuple[int, HeavyHyperparameters] | None = None
        self._light_cache: tuple[int, GaussianProcess] | None = None
        self._heavy_cache: tuple[int, TruncatedAdditiveModel] | None = None
        self._unfitted()  # refuses bounds that it cannot use

    def propose(self) -> tuple[LevelName, FloatArray]:
        """See `Rule.propose`."""
        history = self.history
        if (point := self._of_start()) is not None:
            return "light", point
        lights, heavies = history.select("light"), history.select("heavy")
        if len(heavies) < self._n_init and (ready := history.heavy_candidates(within=len(self.design))):
            return "heavy", ready[0].point
        # Results made elsewhere stand in for the start, and beyond it shift no iteration.
        light_done = sum(not trial.given for trial in lights[len(self.design) :])
        heavy_done = sum(not trial.given for trial in heavies[self._n_init :])
        iteration_end = self._light_per_heavy * (heavy_done + 1)
        ready = history.heavy_candidates()
        if light_done < iteration_end or not ready:
            point = self._propose_light(last=light_done == iteration_end - 1)
            if point is not None:
                return "light", point
            if not ready:
                raise self._exhausted()
        return "heavy", self._choose_heavy(ready)

    def recommended(self) -> Trial | None:
        """See `Rule.recommended`.

        The model is that of the last proposal, told all results since; before there is one, this is `best`.
        Without noise the model interpolates, and differs from `best` only where results lie so near to each other
        that the process takes a mean of them. `least_expected` says what counts as equal.
        """
        heavies = self.history.paired()
        if self._warm_heavy is None or not heavies:
            return self.best()
        points, values = self.history.points(heavies), np.array([trial.value for trial in heavies])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)  # the next fit says it
            model = self._unfitted().fit(
                *self.history.light_data(),
                points,
                values,
                light=self._light_of_last_proposal(),
                start=self._warm_heavy[1],
                fixed=True,
            )
        return heavies[least_expected(values, self._moments(model, points)[0])]

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Rule.predict`. Where a light value is known it is used (METHOD items 7 and 8)."""
        model = self._heavy_model()
        mean, std = model.predict(points)
        known, y_light = self.history.known_light(points)
        if known.any() and not self._noise:
            mean[known], std[known] = model.predict(points[known], y_light)
        return mean, std

    def state(self) -> dict[str, Any]:
        """See `Rule.state`."""
        heavy = self._warm_heavy and [self._warm_heavy[0], self._warm_heavy[1].to_dict()]
        return {"warm_light": self._warm_light, "warm_heavy": heavy}

    def restore(self, state: Mapping[str, Any]) -> None:
        """See `Rule.restore`."""
        if state["warm_light"]:
            seen, theta = state["warm_light"]
            theta = self._hyperparameters("warm_light", theta, self._noise)
            self._warm_light = (check_integer("warm_light", seen, 0), theta.tolist())
        if state["warm_heavy"]:
            seen, row = state["warm_heavy"]
            log_phi = self._hyperparameters("log_phi", row["log_phi"], nugget=False)
            warm = HeavyHyperparameters(**row | {"log_phi": tuple(log_phi.tolist())})
            numbers = [warm.mean, warm.log_std, *(() if warm.log_nugget is None else (warm.log_nugget,))]
            if not (all(map(is_number, numbers)) and np.isfinite(numbers).all()):
                raise ValueError(f"warm_heavy must have finite hyperparameters, got {row!r}")
            if (warm.log_nugget is not None) != self._noise:
                raise ValueError(f"warm_heavy must have log_nugget with noise alone, got {row!r}")
            self._warm_heavy = (check_integer("warm_heavy", seen, 0), warm)

    def _propose_light(self, last: bool) -> FloatArray | None:
        """The next light point (METHOD items 11 and 12), or None if all are known."""
        history = self.history
        known = history.points(history.select("light"))
        if not history.select("light", "ok"):
            return self._farthest(known)
        if last and self._joint and history.paired():
            acquisition, best = self._heavy_acquisition(), history.best_points("heavy", N_BEST)
        else:
            acquisition, best = self._light_acquisition(), history.best_points("light", N_BEST)
        return self._maximize(acquisition, known, best)

    def _choose_heavy(self, ready: list[Trial]) -> FloatArray:
        """The candidate with the largest UCB_h (paper Algorithm 2, line 8)."""
        y_light = np.array([trial.value for trial in ready])
        n_heavy = len(self.history.paired())
        if not n_heavy:
            return ready[int(y_light.argmin())].point
        model = self._with_pending(self._heavy_model(commit=True))
        mean, variance = self._moments(model, self.history.points(ready))
        return ready[int(upper_confidence_bound(mean, np.sqrt(variance), self._beta(n_heavy)).argmax())].point

    def _light_acquisition(self) -> Acquisition:
        model = self._light_model(commit=True)
        weight = self._beta(len(model.posterior_.values))
        posterior = model.fantasize(self.history.points(self.history.select("light", "pending"))).posterior_

        def acquisition(X: FloatArray) -> FloatArray:
            mean, variance = posterior.moments(X)
            return upper_confidence_bound(mean, np.sqrt(variance), weight)

        return acquisition

    def _heavy_acquisition(self) -> Acquisition:
        weight = self._beta(len(self.history.paired()))
        model = self._with_pending(self._heavy_model(commit=True))

        def acquisition(X: FloatArray) -> FloatArray:
            mean, variance = model.moments(X)
            return upper_confidence_bound(mean, np.sqrt(variance), weight)

        return acquisition

    def _beta(self, n: int) -> float:
        return beta(n, self.history.space.n_varying, self._square_root_beta)

    def _light_model(self, commit: bool = False) -> GaussianProcess:
        """The process fitted to all light results; `commit` makes it the next fit's warm start."""
        told = self.history.n_told
        if self._light_cache is None or self._light_cache[0] != told:
            seen, start = self._warm_light or (None, None)
            process = GaussianProcess(self.history.space, self._noise)
            model = process.fit(*self.history.light_data(), start=start, fixed=seen == told)
            self._light_cache = (told, model)
        model = self._light_cache[1]
        if commit:
            self._warm_light = (told, model.theta_.tolist())
        return model

    def _heavy_model(self, commit: bool = False) -> TruncatedAdditiveModel:
        """The truncated additive model of all results; `commit` as in `_light_model`."""
        told = self.history.n_told
        if self._heavy_cache is None or self._heavy_cache[0] != told:
            seen, start = self._warm_heavy or (None, None)
            heavies = self.history.paired()
            model = self._unfitted().fit(
                *self.history.light_data(),
                self.history.points(heavies),
                np.array([trial.value for trial in heavies]),
                light=self._light_model(commit),
                start=start,
                fixed=seen == told,
            )
            self._heavy_cache = (told, model)
            self._advise(model, len(heavies))
        model = self._heavy_cache[1]
        if commit:
            self._light_model(commit)
            self._warm_heavy = (told, model.hyperparameters_)
        return model

    def _moments(self, model: TruncatedAdditiveModel, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance at points (m, dim) with light values, which are taken as exact unless there is noise."""
        return model.moments(points) if self._noise else model.moments(points, self.history.known_light(points)[1])

    def _light_of_last_proposal(self) -> GaussianProcess | None:
        """The light process with the hyperparameters of the last proposal, told all results since."""
        if not self._noise or self._warm_light is None:
            return self._light_cache and self._light_cache[1]  # has no part in means where light values are known
        light = GaussianProcess(self.history.space, noise=True)
        return light.fit(*self.history.light_data(), start=self._warm_light[1], fixed=True)

    def _unfitted(self) -> TruncatedAdditiveModel:
        return TruncatedAdditiveModel(*self._bounds, self.history.space, self._negated, self._noise)

    def _advise(self, model: TruncatedAdditiveModel, n_heavy: int) -> None:
        """Say once what to do where heavy results contradict the bounds again and again."""
        if self._advised or model.n_breaking_ < MANY_BREAKING:
            return
        self._advised = True
        other = "minimize" if self._negated else "maximize"
        better = "smaller" if self._negated else "larger"
        warnings.warn(
            f"{model.n_breaking_} of {n_heavy} heavy results contradict delta_bounds and rho_bounds, which help the "
            f"search only where they hold: if {better} values are better, give direction={other!r}, else "
            "delta_bounds=(-inf, inf) and rho_bounds=(-inf, inf)",
            TruncationWarning,
            stacklevel=2,
        )

    def _with_pending(self, model: TruncatedAdditiveModel) -> TruncatedAdditiveModel:
        """The model with all trials under way taken at their predicted means."""
        history = self.history
        light, heavy = (history.points(history.select(level, "pending")) for level in LEVELS)
        return model.fantasize(light, heavy)
