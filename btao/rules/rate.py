"""The rate rule: the run, light or heavy, that promises the largest improvement per cost (METHOD items 19-28, 30)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from btao.acquisition import N_BEST, Ending
from btao.arrays import FloatArray
from btao.checks import check_integer
from btao.rate.costs import Costs
from btao.rate.improvement import log_improvement
from btao.rate.new_points import RateOfNew
from btao.rate.outputs import Outputs
from btao.rate.process import Search
from btao.rate.stagnation import inflations, log_least_improvement
from btao.rate.two_level import Data, TwoLevelModel
from btao.rules.history import History
from btao.rules.recommendation import least_expected
from btao.rules.rule import Rule
from btao.trial import LEVELS, LevelName, Trial, measured

# Light runs in a row, and the light cost of configurations that were not promoted over that of those that were, after
# which the best of them is promoted (METHOD item 27).
MAX_LIGHT_RUN = 4
MAX_LIGHT_SHARE = 2.0
# A value so many times 1 and the median is of a run that diverged: beside it a process tells no others apart. The 1 is
# for searches that have come close to an optimum of 0, where the start is as far away.
OUT_OF_SCALE = 1e6
# Hyperparameters are searched widely while a level has few results, and later each time it has as many more. The
# likelihood of few has several maxima: with searches from the last one alone, regrets grew.
FEW, WIDE_EVERY = 24, 8
# Of each ascent to new points, on ln of the worth. Near the optimum of values without noise it would take 40 steps,
# and regrets are the same.
ENDING = Ending(tolerance=1e-6, max_steps=25)


class RateRule(Rule):
    """A known light point is trained heavily, or a new one lightly: whichever gains most per cost.

    Parameters
    ----------
    history : History
    seed : int
    design : (n, dim) array
        The start: light runs, of which the best is trained heavily.
    logarithm : bool or None
        Whether models see the logarithm of values; None: where all are shares, as errors are (METHOD item 20).
    ordered : bool
        Whether a heavy value is known not to exceed its light one (METHOD item 23).
    heavy_cost : float
        Cost of a heavy run in units of a light one, for trials that are told without a cost.
    continues : bool
        Whether a heavy run continues the light one, and costs the rest.
    n_init_heavy : int, optional
        Heavy runs of the start, at the first points of the design; None: one, at the best of all.

    Notes
    -----
    Several trials may be asked before one is told: those under way are taken to turn out as the model expects.
    """

    def __init__(
        self,
        history: History,
        seed: int,
        design: FloatArray,
        *,
        logarithm: bool | None,
        ordered: bool,
        heavy_cost: float,
        continues: bool,
        n_init_heavy: int | None = None,
    ) -> None:
        super().__init__(history, seed, design)
        self._logarithm, self._ordered = logarithm, ordered
        self._heavy_cost, self._continues, self._n_init_heavy = heavy_cost, continues, n_init_heavy
        # Hyperparameters of the last fit made for a proposal, with the numbers of results of each level it had seen.
        self._warm: tuple[tuple[int, int], tuple[FloatArray, FloatArray | None]] | None = None
        self._cache: tuple[int, Outputs, TwoLevelModel] | None = None
        self._advised: set[str] = set()

    def propose(self) -> tuple[LevelName, FloatArray]:
        """See `Rule.propose`."""
        history = self.history
        if (point := self._of_start()) is not None:
            return "light", point
        n_heavy = len(history.select("heavy"))
        if n_heavy < (self._n_init_heavy or 0) and (first := history.heavy_candidates(within=len(self.design))):
            return "heavy", first[0].point
        ready = history.heavy_candidates()
        if not history.paired():
            return self._first_heavy(ready)
        outputs, model = self._model(commit=True)
        model = self._with_pending(outputs, model)
        costs = self._costs()
        light_cost, heavy_cost = costs.of_runs()
        heavies = history.select("heavy")
        z = outputs.to_z(np.array([measured(trial) if trial.status == "ok" else np.inf for trial in heavies]))
        best = float(z.min())

        promote = bool(ready) and self._must_promote(costs)
        mean, variance, upper = self._of_known(outputs, model, ready)
        least = log_least_improvement(model.heavy_variance) - np.log(heavy_cost)
        given = np.array([trial.given for trial in heavies])  # of these the order says nothing
        for inflation in self._inflations(z[~given], float(z[given].min(initial=np.inf))):
            rates = log_improvement(best, mean, inflation**2 * variance, upper) - np.log(heavy_cost)
            new_points = RateOfNew(model, best, light_cost, heavy_cost, self._ordered, inflation)
            new, new_rate = (None, -np.inf) if promote else self._best_new(new_points)
            if max(rates.max(initial=-np.inf), new_rate) >= least:
                break
        if new is not None and (not ready or rates.max() < new_rate):
            return "light", new
        if not ready:
            raise self._exhausted()
        return "heavy", ready[int(rates.argmax())].point

    def recommended(self) -> Trial | None:
        """See `Rule.recommended`.

        Hyperparameters are those of the last proposal; before there is one, this is `best`. As the model takes noise
        off the values of both levels, it may differ from `best`.
        """
        heavies = self.history.paired()
        if self._warm is None or self._warm[1][1] is None or not heavies:
            return self.best()
        _, data = self._data()
        model = TwoLevelModel.fit(self.history.kernel, data, self._warm[1], ("none", "none"))
        ok = slice(len(heavies))
        means, _ = model.without_light_noise().new_moments(data.heavy_points[ok])
        return heavies[least_expected(data.heavy[ok], means)]

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Rule.predict`. Light values enter by the light process, without their noise.

        Runs are chosen by the values as they were observed, since a heavy run that continues a light one shares its
        noise (METHOD item 29).
        """
        outputs, model = self._model()
        return outputs.moments(*model.without_light_noise().new_moments(points))

    def state(self) -> dict[str, Any]:
        """See `Rule.state`."""
        if self._warm is None:
            return {"warm": None}
        seen, thetas = self._warm
        return {"warm": [list(seen), *(None if theta is None else theta.tolist() for theta in thetas)]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """See `Rule.restore`."""
        if state["warm"] is not None:
            seen, light, heavy = state["warm"]
            n_light, n_heavy = (0, 0) if isinstance(seen, int) else seen  # earlier states had one number for both
            n_light, n_heavy = check_integer("warm", n_light, 0), check_integer("warm", n_heavy, 0)
            of_light = self._hyperparameters("warm", light, nugget=True)
            of_heavy = None if heavy is None else self._hyperparameters("warm", heavy, nugget=True)
            self._warm = (n_light, n_heavy), (of_light, of_heavy)

    # ---------------------------------------------------------------- which level

    def _inflations(self, values: FloatArray, known: float) -> tuple[float, ...]:
        """What standard deviations of heavy z are multiplied by, one after another (METHOD item 30)."""
        return inflations(values, known)

    def _first_heavy(self, ready: list[Trial]) -> tuple[LevelName, FloatArray]:
        """The best of the start; a new light point far from all others while none has succeeded, or all have failed."""
        if ready and (not self.history.select("heavy", "pending") or self._after_light_runs()):
            return "heavy", min(ready, key=measured).point
        new = self._farthest(self.history.points(self.history.select("light")))
        if new is not None:
            return "light", new
        if not ready:
            raise self._exhausted()
        return "heavy", min(ready, key=measured).point

    def _must_promote(self, costs: Costs) -> bool:
        """Whether light runs have had their share, with those under way at what `costs` expect (METHOD item 27)."""
        if self._after_light_runs():
            return True
        if any(self.history.select(level, "pending") for level in LEVELS):
            costs = self._costs(costs.of_runs())
        return costs.too_light(MAX_LIGHT_SHARE, self._continues)

    def _after_light_runs(self) -> bool:
        """Whether it asked for as many light runs in a row, after its start, as may follow one another."""
        asked = [trial for trial in self.history.trials[len(self.design) :] if not trial.given]
        latest = asked[-MAX_LIGHT_RUN:]
        return len(latest) == MAX_LIGHT_RUN and all(trial.level == "light" for trial in latest)

    def _of_known(
        self, outputs: Outputs, model: TwoLevelModel, ready: list[Trial]
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Mean and variance of heavy z at known light points, and its upper bound (METHOD items 22, 23 and 25)."""
        if not ready:
            return np.empty(0), np.empty(0), None
        light = outputs.to_z(np.array([measured(trial) for trial in ready]))
        mean, variance = model.heavy_moments(self.history.points(ready), light)
        return mean, variance, light if self._ordered else None

    def _best_new(self, new_points: RateOfNew) -> tuple[FloatArray | None, float]:
        """The point without a light run that is worth most, and ln of its rate; None and -inf if there is none."""
        history = self.history
        known = history.points(history.select("light"))
        around = np.vstack([history.best_points("heavy", N_BEST), history.best_points("light", N_BEST)])
        new = self._maximize(new_points.values, known, around, new_points.slopes, ENDING)
        return new, -np.inf if new is None else float(new_points.values(new[None, :])[0])

    def _costs(self, expected: tuple[float, float] | None = None) -> Costs:
        """Costs of the runs told so far, by light run; of those made elsewhere only what has a heavy run counts.

        Runs under way count where it is `expected` what a light and a heavy one cost. A cost that was not told is the
        mean of its level, or by `heavy_cost` what goes with those of the other.
        """
        history = self.history
        heavies = [trial for trial in history.paired(status=None) if expected or trial.status != "pending"]
        promoted = history.points(heavies)
        lights = [
            trial
            for trial in history.select("light")
            if (expected or trial.status != "pending")
            and not (trial.given and not history.kernel.same(trial.point[None, :], promoted).any())
        ]
        told, told_heavy = ([trial.cost for trial in runs if trial.cost is not None] for runs in (lights, heavies))
        mean = np.mean(told) if told else np.mean(told_heavy) / self._heavy_cost if told_heavy else 1.0

        def cost(trial: Trial, unknown: float) -> float:
            if expected and trial.status == "pending":
                return expected[LEVELS.index(trial.level)]
            return unknown if trial.cost is None else trial.cost

        light = np.array([cost(trial, float(mean)) for trial in lights])
        heavy = np.full(len(lights), np.nan)
        if heavies:
            of = history.kernel.same(promoted, history.points(lights)).argmax(axis=1)
            own = zip(heavies, light[of], strict=True)
            heavy[of] = [cost(trial, self._heavy_cost * of_light) for trial, of_light in own]
        return Costs(light, heavy)

    # ---------------------------------------------------------------- models

    def _data(self) -> tuple[Outputs, Data]:
        """All results in z; those of heavy runs that failed are the last ones.

        What failed at either level has the worst z of light runs, and at the heavy one of heavy runs, too, or its own
        light one where that is worse. Where no run is worse than the best, it is one standard deviation above it.
        """
        history = self.history
        points, light, failed = history.light_outcomes()
        heavies, lost = history.paired(), history.paired("failed")
        heavy_points, heavy = history.points(heavies + lost), np.array([measured(trial) for trial in heavies])
        outputs = Outputs.of(np.concatenate([light, heavy]), self._logarithm)
        light, heavy = outputs.to_z(light), outputs.to_z(heavy)
        of_heavy = outputs.to_z(history.known_light(heavy_points)[1])
        if failed.any() and np.ptp(light[~failed]) == 0:
            light[failed] += 1.0
        if lost:
            worst = heavy.max() + (1.0 if np.ptp(heavy) == 0 else 0.0)
            heavy = np.append(heavy, np.maximum(worst, of_heavy[len(heavies) :]))
        return outputs, Data(points, light, heavy_points, heavy, of_heavy)

    def _model(self, commit: bool = False) -> tuple[Outputs, TwoLevelModel]:
        """The model of all results; `commit` makes it the next fit's warm start."""
        told = self.history.n_told
        if self._cache is None or self._cache[0] != told:
            outputs, data = self._data()
            self._advise(outputs, data)
            seen, start = self._warm or ((0, 0), (None, None))
            search = _search(seen[0], len(data.light)), _search(seen[1], len(data.heavy))
            self._cache = told, outputs, TwoLevelModel.fit(self.history.kernel, data, start, search)
        _, outputs, model = self._cache
        if commit:
            self._warm = (len(model.light.z), 0 if model.heavy is None else len(model.heavy.z)), model.hyperparameters
        return outputs, model

    def _advise(self, outputs: Outputs, data: Data) -> None:
        """Say once of each option that results contradict it."""
        contradicted = {}
        if self._ordered:
            n = len(self.history.paired())  # those that failed come after
            if above := int((data.heavy[:n] > data.light_of_heavy[:n]).sum()):
                contradicted["ordered"] = (
                    f"{above} of {n} heavy results are worse than their light ones, which contradicts "
                    "ordered=True; give ordered=False"
                )
        if self._logarithm and outputs.floor is None:
            contradicted["logarithm"] = (
                "logarithm=True is without effect: a value is negative, or none is positive; give logarithm=False"
            )
        if outputs.floor is None and "scale" not in self._advised:
            results = *self.history.select("light", "ok"), *self.history.paired()
            values = np.array([measured(trial) for trial in results])
            largest = np.abs(values).max()
            if largest > OUT_OF_SCALE * (1 + np.median(np.abs(values))):
                contradicted["scale"] = (
                    f"a value of size {largest:.3g} is so far from the others that no model tells those apart: measure "
                    "nan where a run has diverged"
                    + (" or, of errors, give logarithm=True" if values.min() >= 0 else "")
                )
        for option, text in contradicted.items():
            if option not in self._advised:
                self._advised.add(option)
                warnings.warn(text, stacklevel=2)

    def _with_pending(self, outputs: Outputs, model: TwoLevelModel) -> TwoLevelModel:
        """The model with all trials under way taken at their predicted means."""
        history = self.history
        light, heavy = (history.points(history.select(level, "pending")) for level in LEVELS)
        _, y_light = history.known_light(heavy)
        return model.fantasize(light, heavy, outputs.to_z(y_light))


def _search(seen: int, n: int) -> Search:
    """How far the hyperparameters of n results are searched, from those of `seen` ones of the same level."""
    if n == seen:
        return "none"
    return "near" if n >= FEW and n // WIDE_EVERY == seen // WIDE_EVERY else "wide"
