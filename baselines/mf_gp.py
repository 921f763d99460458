"""Multi-fidelity Bayesian optimization with BoTorch: a Gaussian process and max-value entropy search.

Model: Wu, Toscano-Palmerin, Frazier and Wilson (2019); acquisition: Takeno et al. (2020).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from baselines.initial_design import check_start
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import Capabilities, InitialDesign, Measurement, Problem, Trial
from btao import Categorical, Space
from btao.checks import check_integer
from btao.parameters import ONE_HOT_HEIGHT
from btao.spaces.conditions import INACTIVE

# torch, gpytorch and botorch are imported when used: they are an extra, and slow.
if TYPE_CHECKING:
    from botorch.acquisition import AcquisitionFunction
    from botorch.acquisition.max_value_entropy_search import qMultiFidelityMaxValueEntropy
    from botorch.models import SingleTaskMultiFidelityGP
    from torch import Tensor

Config = dict[str, Any]

N_CANDIDATES = 1000  # points on which the best value is sampled, as in BoTorch's tutorial
MAX_LISTED = 20  # values of an integer or an ordinal that BoTorch searches one by one; beyond, it relaxes and rounds


class MultiFidelityGP:
    """BoTorch's multi-fidelity Gaussian process, whose acquisition chooses configuration and level.

    The fidelity is a level's share of the heavy iterations; a trial costs its iterations. The model
    is `SingleTaskMultiFidelityGP` with the linear truncated kernel, refitted for each trial; the
    acquisition is `qMultiFidelityMaxValueEntropy` per cost. Knowledge gradient, the other one of
    BoTorch's tutorials, optimizes its fantasies along with each point, in ten times the time.
    Two kinds of heavy trial are of the recommendation instead, the configuration of the best
    predicted heavy value (where that was run heavily, of the most informative one): the one that
    follows `light_per_heavy_max` light trials in a row, so that a run ends; and the last of a run
    whose number is known, as a tutorial ends with the evaluation of its recommendation.

    Points are those of `btao.space`: log scales, integers at the centers of their bins, categories
    one-hot. A failed trial counts as the worst value seen; pending ones are fantasies of the
    acquisition. Configurations may repeat: the search is never exhausted.

    Parameters
    ----------
    problem : Problem
        A task with a light level.
    seed : int
        At least 0.
    n_init : int, optional
        Heavy trials of the start, at least 1; twice as many light ones, theirs among them, come
        first: a scrambled Sobol sequence. Default: number of parameters that vary + 2. None where the start
        is shared.
    light_per_heavy_max : int
        Light trials in a row before a heavy one is made, at least 1.
    num_restarts : int
        Starts from which the acquisition is maximized at each level, at least 1.
    raw_samples : int
        Random points that these starts are chosen from, at least `num_restarts`.

    Raises
    ------
    ValueError
        If an argument is not as above.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="two", conditions=True, model_based=True, requires=("botorch", "torch"), extra="botorch"
    )

    def __init__(
        self,
        problem: Problem,
        seed: int,
        n_init: int | None = None,
        light_per_heavy_max: int = 5,
        num_restarts: int = 5,
        raw_samples: int = 128,
    ) -> None:
        for name, value, least in (
            ("n_init", n_init, 1),
            ("light_per_heavy_max", light_per_heavy_max, 1),
            ("num_restarts", num_restarts, 1),
            ("raw_samples", raw_samples, num_restarts),
        ):
            if value is not None or name != "n_init":
                check_integer(name, value, least)
        if problem.light_iterations is None:
            raise ValueError("problem must have a light level, but its light_iterations is None")
        self._problem = problem
        self._space = problem.space
        self._light_iterations = problem.light_iterations
        self._light = problem.light_iterations / problem.heavy_iterations  # its fidelity
        self._light_per_heavy_max = light_per_heavy_max
        self._search_size = {"num_restarts": num_restarts, "raw_samples": raw_samples}
        self._isolated = IsolatedLibrary("BoTorch", check_seed(seed))
        self._pending = PendingTrials()
        initial = check_start(problem, n_init=n_init) or self._sobol_start(n_init or self._space.n_varying + 2)
        self._start = [(config, False) for config in initial.light] + [(config, True) for config in initial.heavy]
        self._trials: list[Trial] = []
        self._told: dict[int, Measurement] = {}

    @property
    def start_size(self) -> tuple[int, int]:
        """Light and heavy runs before the first proposal."""
        heavy = sum(heavy for _, heavy in self._start)
        return len(self._start) - heavy, heavy

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending.

        Raises
        ------
        NoProposal
            If BoTorch does not answer.
        """
        number = len(self._trials)
        config, heavy = self._start[number] if number < len(self._start) else self._propose(number)
        budget = self._problem.heavy_iterations if heavy else self._light_iterations
        self._trials.append(Trial(number, config, heavy, budget))
        return self._pending.open(self._trials[-1])

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        self._pending.close(trial)
        self._told[trial.number] = measurement

    def _propose(self, number: int) -> tuple[Config, bool]:
        heavy_is_due = not any(trial.heavy for trial in self._trials[-self._light_per_heavy_max :])
        values = {n: told.value for n, told in self._told.items() if not told.failed}
        if not values:  # nothing to model yet
            return self._sobol(number + 1)[-1], heavy_is_due
        n_heavy = sum(trial.heavy for trial in self._trials)
        with self._library(number):
            model = self._model(values)
            acquisition = self._acquisition(model)
            if not heavy_is_due:
                light, heavy = (self._maximize(acquisition, fidelity) for fidelity in (self._light, 1.0))
                if light[1] > heavy[1]:
                    return light[0], False
                if n_heavy + 1 != self._problem.n_heavy:
                    return heavy[0], True
            from botorch.acquisition import PosteriorMean

            config, _ = self._maximize(PosteriorMean(model), 1.0)
            if any(trial.heavy and trial.config == config for trial in self._trials):
                config, _ = self._maximize(acquisition, 1.0)
            return config, True

    def _model(self, values: dict[int, float]) -> SingleTaskMultiFidelityGP:
        """The model of the negated values, as BoTorch maximizes."""
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskMultiFidelityGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        told = sorted(self._told)
        worst = max(values.values())
        y = torch.tensor([[-values.get(number, worst)] for number in told], dtype=torch.double)
        model = SingleTaskMultiFidelityGP(self._inputs(told), y, data_fidelities=[-1])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _acquisition(self, model: SingleTaskMultiFidelityGP) -> qMultiFidelityMaxValueEntropy:
        """The information about the best heavy value per cost, in units of a light trial."""
        import torch
        from botorch.acquisition.cost_aware import InverseCostWeightedUtility
        from botorch.acquisition.max_value_entropy_search import qMultiFidelityMaxValueEntropy
        from botorch.acquisition.utils import project_to_target_fidelity
        from botorch.models.cost import AffineFidelityCostModel
        from botorch.utils.sampling import draw_sobol_samples

        cube = torch.tensor([[0.0], [1.0]], dtype=torch.double).repeat(1, self._space.dim)
        points = draw_sobol_samples(cube, n=N_CANDIDATES, q=1).squeeze(1)
        candidates = torch.from_numpy(self._space.features(points.numpy()))
        pending = [trial.number for trial in self._trials if trial.number not in self._told]
        cost = AffineFidelityCostModel({-1: 1 / self._light}, fixed_cost=0.0)
        return qMultiFidelityMaxValueEntropy(
            model,
            candidates,  # the projection appends their fidelity
            X_pending=self._inputs(pending) if pending else None,
            cost_aware_utility=InverseCostWeightedUtility(cost),
            project=partial(project_to_target_fidelity, target_fidelities={-1: 1.0}, d=len(self._space.groups) + 1),
        )

    def _maximize(self, acquisition: AcquisitionFunction, fidelity: float) -> tuple[Config, float]:
        """The best configuration at a fidelity, and its value of the acquisition."""
        import torch
        from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating

        space = self._space
        listed: dict[bool, dict[int, list[float]]] = {True: {}, False: {}}  # by whether categorical
        bounds = np.tile([[0.0], [1.0]], space.dim + 1)
        fixed = {space.dim: fidelity}
        for j, kind in enumerate(space.parameters.values()):
            if kind.size == 1:
                fixed[j] = 0.5
            elif isinstance(kind, Categorical) or kind.size <= MAX_LISTED:
                centers = kind.centers().tolist()
                listed[isinstance(kind, Categorical)][j] = centers
                bounds[:, j] = centers[0], centers[-1]

        def snap(X: Tensor) -> Tensor:
            points = X.detach().numpy().reshape(-1, space.dim + 1)
            snapped = np.column_stack([space.snap(points[:, :-1]), points[:, -1]])
            return torch.from_numpy(snapped).reshape(X.shape)

        X, value = optimize_acqf_mixed_alternating(
            encoded(acquisition, space),
            torch.from_numpy(bounds),
            discrete_dims=listed[False],
            cat_dims=listed[True],
            options={"initialization_strategy": "random", "num_spray_points": 0},
            post_processing_func=snap,
            fixed_features=fixed,
            **self._search_size,
        )
        return space.from_unit(X[0, :-1].numpy()), float(value)

    def _inputs(self, numbers: list[int]) -> Tensor:
        """What the model sees of trials: the features of `btao.space`, then the fidelity."""
        import torch

        trials = [self._trials[number] for number in numbers]
        features = self._space.features(np.array([self._space.to_unit(trial.config) for trial in trials]))
        fidelities = [1.0 if trial.heavy else self._light for trial in trials]
        return torch.from_numpy(np.column_stack([features, fidelities]))

    def _sobol_start(self, n_heavy: int) -> InitialDesign:
        configs = self._sobol(2 * n_heavy)
        # Those that round alike are tried once.
        light = tuple(config for n, config in enumerate(configs) if config not in configs[:n])
        return InitialDesign(light, light[:n_heavy])

    def _sobol(self, n: int) -> list[Config]:
        """The first configurations of the run's scrambled Sobol sequence."""
        with self._library():
            from torch.quasirandom import SobolEngine

            engine = SobolEngine(self._space.dim, scramble=True, seed=self._isolated.short_seed)
            points = engine.draw(n).double().numpy()
        return [self._space.from_unit(point) for point in points]

    @contextlib.contextmanager
    def _library(self, number: int = 0) -> Iterator[None]:
        """Room for BoTorch, and a state of torch's generator that depends on seed and trial only."""
        with self._isolated:
            import torch

            # Not torch.manual_seed, which would reach the generators of other devices too.
            with torch.random.fork_rng(devices=[]):
                seed = np.random.SeedSequence([self._isolated.seed, number]).generate_state(1, np.uint64)[0]
                torch.default_generator.manual_seed(int(seed))
                yield


def encoded(acquisition: AcquisitionFunction, space: Space) -> AcquisitionFunction:
    """An acquisition as a function of the unit cube's coordinates and the fidelity.

    The model itself cannot transform them: max-value entropy search would mix its transformed data
    with candidates that are not.
    """
    import torch
    from botorch.acquisition import AcquisitionFunction

    def active(X: Tensor) -> Tensor:
        points = X[..., :-1].detach().numpy()
        return torch.from_numpy(space.active(points.reshape(-1, space.dim)).reshape(points.shape))

    class Encoded(AcquisitionFunction):  # type: ignore[misc]
        def forward(self, X: Tensor) -> Tensor:
            columns = []
            here = active(X) if space.conditions else None
            for j, kind in enumerate(space.parameters.values()):
                column = X[..., j : j + 1]
                if isinstance(kind, Categorical):
                    number = (column * kind.size).long().clamp(max=kind.size - 1)
                    column = ONE_HOT_HEIGHT * (number == torch.arange(kind.size)).to(X)
                if here is not None:
                    fixed = torch.full_like(column, 0.0 if isinstance(kind, Categorical) else INACTIVE)
                    column = torch.where(here[..., j : j + 1], column, fixed)
                columns.append(column)
            return acquisition(torch.cat([*columns, X[..., -1:]], dim=-1))

    return Encoded(acquisition.model)
