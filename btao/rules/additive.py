"""The rules of the paper's model: s light runs where UCB is largest, then a heavy one (METHOD items 10-15)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from btao.acquisition import N_BEST, Acquisition, beta, upper_confidence_bound
from btao.arrays import FloatArray
from btao.gp import GaussianProcess
from btao.recommendation import least_expected
from btao.rules.history import History
from btao.rules.rule import Rule
from btao.tam import HeavyHyperparameters, TruncatedAdditiveModel, TruncationWarning
from btao.trial import LEVELS, LevelName, Trial


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
    square_root_beta : bool

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
        square_root_beta: bool,
    ) -> None:
        super().__init__(history, seed, design)
        self._n_init, self._light_per_heavy, self._joint = n_init, light_per_heavy, joint
        self._bounds = delta_bounds, rho_bounds
        self._square_root_beta = square_root_beta
        # Hyperparameters of the last fit made for a proposal, with the number of results it had
        # seen: the warm start of the next, and all that a restored rule needs to go on alike.
        self._warm_light: tuple[int, list[float]] | None = None
        self._warm_heavy: tuple[int, HeavyHyperparameters] | None = None
        self._light_cache: tuple[int, GaussianProcess] | None = None
        self._heavy_cache: tuple[int, TruncatedAdditiveModel] | None = None
        TruncatedAdditiveModel(*self._bounds)  # refuses bounds that it cannot use

    def propose(self) -> tuple[LevelName, FloatArray]:
        """See `Rule.propose`."""
        history = self.history
        lights, heavies = history.select("light"), history.select("heavy")
        if len(lights) < len(self.design):
            return "light", self.design[len(lights)]
        if len(heavies) < self._n_init and (ready := history.heavy_candidates(within=len(self.design))):
            return "heavy", ready[0].point
        light_done = len(lights) - len(self.design)
        iteration_end = self._light_per_heavy * (max(len(heavies) - self._n_init, 0) + 1)
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
        As the model interpolates, it differs from `best` only where results lie so near to each other
        that the process takes a mean of them. `least_expected` says what counts as equal.
        """
        heavies = self.history.select("heavy", "ok")
        if self._warm_heavy is None or not heavies:
            return self.best()
        points, values = self.history.points(heavies), np.array([trial.value for trial in heavies])
        _, y_light = self.history.known_light(points)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)  # the next fit says it
            model = TruncatedAdditiveModel(*self._bounds, self.history.space).fit(
                *self.history.light_data(),
                points,
                values,
                light=self._light_cache and self._light_cache[1],  # has no part in means where light values are known
                start=self._warm_heavy[1],
                fixed=True,
            )
        return heavies[least_expected(values, model.moments(points, y_light)[0])]

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Rule.predict`. Where a light value is known it is used (METHOD items 7 and 8)."""
        model = self._heavy_model()
        mean, std = model.predict(points)
        known, y_light = self.history.known_light(points)
        if known.any():
            mean[known], std[known] = model.predict(points[known], y_light)
        return mean, std

    def state(self) -> dict[str, Any]:
        """See `Rule.state`."""
        heavy = self._warm_heavy and [self._warm_heavy[0], self._warm_heavy[1].to_dict()]
        return {"warm_light": self._warm_light, "warm_heavy": heavy}

    def restore(self, state: Mapping[str, Any]) -> None:
        """See `Rule.restore`."""
        if state["warm_light"]:
            self._warm_light = (state["warm_light"][0], state["warm_light"][1])
        if state["warm_heavy"]:
            seen, row = state["warm_heavy"]
            self._warm_heavy = (seen, HeavyHyperparameters(**row | {"log_phi": tuple(row["log_phi"])}))

    def _propose_light(self, last: bool) -> FloatArray | None:
        """The next light point (METHOD items 11 and 12), or None if all are known."""
        history = self.history
        known = history.points(history.select("light"))
        if not history.select("light", "ok"):
            return self._farthest(known)
        if last and self._joint and history.select("heavy", "ok"):
            acquisition, best = self._heavy_acquisition(), history.best_points("heavy", N_BEST)
        else:
            acquisition, best = self._light_acquisition(), history.best_points("light", N_BEST)
        return self._maximize(acquisition, known, best)

    def _choose_heavy(self, ready: list[Trial]) -> FloatArray:
        """The candidate with the largest UCB_h (paper Algorithm 2, line 8)."""
        y_light = np.array([trial.value for trial in ready])
        n_heavy = len(self.history.select("heavy", "ok"))
        if not n_heavy:
            return ready[int(y_light.argmin())].point
        model = self._with_pending(self._heavy_model(commit=True))
        mean, variance = model.moments(self.history.points(ready), y_light)
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
        weight = self._beta(len(self.history.select("heavy", "ok")))
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
            process = GaussianProcess(self.history.space)
            model = process.fit(*self.history.light_data(), start=start, fixed=seen == told)
            self._light_cache = (told, model)
        model = self._light_cache[1]
        if commit:
            self._warm_light = (told, model.log_phi_.tolist())
        return model

    def _heavy_model(self, commit: bool = False) -> TruncatedAdditiveModel:
        """The truncated additive model of all results; `commit` as in `_light_model`."""
        told = self.history.n_told
        if self._heavy_cache is None or self._heavy_cache[0] != told:
            seen, start = self._warm_heavy or (None, None)
            heavies = self.history.select("heavy", "ok")
            model = TruncatedAdditiveModel(*self._bounds, self.history.space).fit(
                *self.history.light_data(),
                self.history.points(heavies),
                np.array([trial.value for trial in heavies]),
                light=self._light_model(commit),
                start=start,
                fixed=seen == told,
            )
            self._heavy_cache = (told, model)
        model = self._heavy_cache[1]
        if commit:
            self._light_model(commit)
            self._warm_heavy = (told, model.hyperparameters_)
        return model

    def _with_pending(self, model: TruncatedAdditiveModel) -> TruncatedAdditiveModel:
        """The model with all trials under way taken at their predicted means."""
        history = self.history
        light, heavy = (history.points(history.select(level, "pending")) for level in LEVELS)
        return model.fantasize(light, heavy)
