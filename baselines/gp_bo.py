"""GP-BO: Bayesian optimization with one Gaussian process and UCB (paper Algorithm 1)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from baselines.initial_design import check_start
from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import Capabilities, Measurement, Problem, SearchExhausted, Trial
from btao.acquisition import N_BEST, Acquisition, beta, maximize, upper_confidence_bound
from btao.arrays import FloatArray
from btao.checks import check_integer
from btao.design import maximin_nested_latin_hypercube
from btao.gp import GaussianProcess, Kernel
from btao.rules.recommendation import least_expected
from btao.spaces.constraint import allowed_design


class GPBO:
    """The paper's Algorithm 1, with the Gaussian process and the acquisition search of BTAO.

    Heavy runs only. The start is a Latin hypercube; then each trial maximizes UCB. A failed
    configuration counts as the worst value seen; pending ones are taken at their predicted means.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.
    n_init : int, optional
        Configurations of the start, at least 1; default: number of parameters that vary + 2, as many as
        BTAO's heavy ones. None where the start is shared.
    square_root_beta : bool
        Weigh the standard deviation by the square root of 0.2 d ln(2n), as BTAO's option does.

    Raises
    ------
    ValueError
        If `seed` or `n_init` is no integer of at least 0 or 1.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="heavy", conditions=True, constraint=True, model_based=True
    )

    def __init__(self, problem: Problem, seed: int, n_init: int | None = None, square_root_beta: bool = False) -> None:
        check_integer("n_init", n_init, none="null")
        self._problem = problem
        self._space = problem.space
        self._kernel = Kernel(problem.space.dim, problem.space)
        self._seed = check_seed(seed)
        self._pending = PendingTrials()
        self._square_root_beta = square_root_beta
        initial = check_start(problem, n_init=n_init)
        if initial:
            self._design = np.array([self._space.to_unit(config) for config in initial.heavy])
        else:
            self._design = self._start(problem.space.n_varying + 2 if n_init is None else n_init)
        self._points: list[FloatArray] = []
        self._told: dict[int, Measurement] = {}
        self._warm: FloatArray | None = None

    @property
    def start_size(self) -> tuple[int, int]:
        """Light and heavy runs before the first proposal."""
        return 0, len(self._design)

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending.

        Raises
        ------
        SearchExhausted
            When every configuration of a finite space was tried.
        """
        number = len(self._points)
        point = self._design[number] if number < len(self._design) else self._propose()
        trial = Trial(number, self._space.from_unit(point), heavy=True, budget=self._problem.heavy_iterations)
        self._points.append(point)
        return self._pending.open(trial)

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        self._pending.close(trial)
        self._told[trial.number] = measurement

    def recommend(self) -> int | None:
        """The trial whose response the process of the last proposal, told all results since, expects to be smallest.

        Before the first proposal it is the one of the smallest value. `least_expected` says what counts as equal.
        """
        values = self._values()
        if not values:
            return None
        numbers = sorted(values)
        observed = [values[number] for number in numbers]
        means: ArrayLike = observed if self._warm is None else self._means(values, numbers)
        return numbers[least_expected(observed, means)]

    def _means(self, values: dict[int, float], numbers: list[int]) -> FloatArray:
        """What the process of the last proposal, told all results since, expects of some trials."""
        points = np.array(self._points)
        means, _ = self._model(points, values, fixed=True).posterior_.moments(points[numbers])
        return means

    def _propose(self) -> FloatArray:
        known = np.array(self._points)
        rng = np.random.default_rng([self._seed, len(known)])
        values = self._values()
        if values:
            best = known[sorted(values, key=lambda number: (values[number], number))[:N_BEST]]
            point = maximize(self._acquisition(known, values), self._space, known, best, rng)
        else:
            # Nothing to model yet: as far as possible from all that was tried.
            point = maximize(lambda X: self._kernel.distance(X, known), self._space, known, known[:0], rng)
        if point is None:
            raise SearchExhausted(f"{self._space.all_text} have been tried")
        return point

    def _acquisition(self, known: FloatArray, values: dict[int, float]) -> Acquisition:
        model = self._model(known, values)
        self._warm = model.log_phi_
        weight = beta(len(model.posterior_.values), self._space.n_varying, self._square_root_beta)
        posterior = model.fantasize(self._pending_points(known)).posterior_

        def acquisition(X: FloatArray) -> FloatArray:
            mean, variance = posterior.moments(X)
            return upper_confidence_bound(mean, np.sqrt(variance), weight)

        return acquisition

    def _pending_points(self, known: FloatArray) -> FloatArray:
        """Those of all points asked for whose trials were not told yet."""
        return known[[number for number in range(len(known)) if number not in self._told]]

    def _values(self) -> dict[int, float]:
        """The values of the successful trials, by number."""
        return {number: told.value for number, told in self._told.items() if not told.failed}

    def _model(self, points: FloatArray, values: dict[int, float], fixed: bool = False) -> GaussianProcess:
        """The process of all results, fitted from the last hyperparameters, or with these as they are."""
        told, results = self._results(values)
        return GaussianProcess(self._space).fit(points[told], results, start=self._warm, fixed=fixed)

    def _results(self, values: dict[int, float]) -> tuple[list[int], FloatArray]:
        """The numbers of the trials told, and their values: of failed ones the worst that was seen."""
        worst, told = max(values.values()), sorted(self._told)
        return told, np.array([values.get(number, worst) for number in told])

    def _start(self, n_init: int) -> FloatArray:
        """A well spread Latin hypercube, without points that round alike."""
        rng = np.random.default_rng([self._seed])
        design = allowed_design(self._space, maximin_nested_latin_hypercube(n_init, 1, self._space.dim, rng), rng)
        design = self._space.snap(design)
        distinct: FloatArray = design[self._kernel.first(design) == np.arange(len(design))]
        return distinct
