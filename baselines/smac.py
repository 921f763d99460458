"""SMAC: sequential model-based algorithm configuration (Lindauer et al., JMLR 2022), by its library smac."""

from __future__ import annotations

import contextlib
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from baselines.initial_design import check_start
from baselines.libraries.configspace import from_configuration, to_configspace, to_configuration
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.libraries.smac_stable_order import keep_order
from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import (
    MAX_REFUSED,
    Capabilities,
    Measurement,
    Problem,
    SearchExhausted,
    Trial,
    only_refused,
)
from btao.checks import check_integer

# smac and joblib are imported when used: they are slow, and other methods do without.
if TYPE_CHECKING:
    from ConfigSpace import Configuration
    from smac.facade.abstract_facade import AbstractFacade
    from smac.runhistory import TrialInfo

FACADES = {"random_forest": "HyperparameterOptimizationFacade", "gaussian_process": "BlackBoxFacade"}


class SMAC:
    """SMAC 2 through its ask/tell interface, with the components of one of its facades.

    Heavy runs only, one for each configuration. A failed trial counts as the worst value that was
    told, also where that becomes known later; until there is one, it is pending to SMAC. So does a configuration that a
    constraint refuses, for which SMAC is asked anew.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.
    surrogate : {"random_forest", "gaussian_process"}
        The model: that of SMAC's facade for hyperparameters, or of the one for black boxes, which
        its authors recommend for small continuous spaces.
    n_init : int, optional
        Configurations of the start, a Sobol sequence, at least 1. None: as many as the facade takes,
        10 (random forest) or 8 for each parameter, but a quarter of the trials of the run at most.
    n_trials : int
        Trials of a run whose number of heavy trials the budget does not tell; shapes the start only.
    retrain_after : int, optional
        Proposals from one fit of the model. None: as the facade has it, 8 (random forest) or 1.

    Raises
    ------
    ValueError
        If a parameter is not as above.
    """

    # 2: a budget of iterations tells the number of trials, too.
    version: ClassVar[int] = 2
    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="heavy",
        conditions=True,
        constraint=True,
        model_based=True,
        requires=("smac", "ConfigSpace"),
        extra="suite",
    )

    def __init__(
        self,
        problem: Problem,
        seed: int,
        surrogate: str = "random_forest",
        n_init: int | None = None,
        n_trials: int = 100,
        retrain_after: int | None = None,
    ) -> None:
        if surrogate not in FACADES:
            raise ValueError(f"surrogate must be one of {list(FACADES)}, got {surrogate!r}")
        for name, value in (("n_init", n_init), ("n_trials", n_trials), ("retrain_after", retrain_after)):
            check_integer(name, value, none="" if name == "n_trials" else "null")
        self._problem = problem
        self._surrogate = surrogate
        self._n_trials = problem.n_heavy or n_trials
        self._pending = PendingTrials()
        self._asked: list[TrialInfo] = []
        self._failed: list[TrialInfo] = []
        self._worst = -math.inf
        initial = check_start(problem, n_init=n_init)
        self._isolated = IsolatedLibrary("SMAC", check_seed(seed))
        with self._isolated:
            self._space = to_configspace(problem.space, self._isolated.seed)
            given = initial.heavy if initial else ()
            start = [to_configuration(problem.space, config, self._space) for config in given]
            # A real value is rounded on the way to SMAC; what was given is asked as it was.
            self._given = dict(zip(start, given, strict=True))
            with contextlib.ExitStack() as stack:
                folder = problem.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
                self._smac = self._make(folder, start, n_init, retrain_after)

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending.

        Raises
        ------
        SearchExhausted
            When SMAC finds no new configuration in a finite space. It looks for one at random a
            limited number of times, so a few may be left. If it proposes nothing that the constraint allows.
        """
        for _ in range(MAX_REFUSED):
            with self._isolated:
                info = self._next()
            if info is None:
                size, said = self._problem.space.size, self._isolated.last_message
                raise SearchExhausted(f"SMAC finds no new configuration among the {size} of the space: {said}")
            config = dict(self._given.get(info.config) or from_configuration(self._problem.space, info.config))
            if self._problem.space.allows(config):
                self._asked.append(info)
                return self._pending.open(Trial(len(self._asked) - 1, config, True, self._problem.heavy_iterations))
            self._close(info, None)
        raise only_refused("SMAC")

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        self._pending.close(trial)
        self._close(self._asked[trial.number], None if measurement.failed else measurement.value)

    def _close(self, info: TrialInfo, cost: float | None) -> None:
        """Tell SMAC what came of a trial; None: it failed, or is one that the constraint refuses."""
        with self._isolated:
            from smac.runhistory import StatusType, TrialValue

            if cost is None:
                self._failed.append(info)
            else:
                self._worst = max(self._worst, cost)
                self._smac.tell(info, TrialValue(cost=cost), save=False)
            if math.isfinite(self._worst):
                # SMAC's own cost of a crash, inf, cannot be modeled by SMAC 2.4.1. Later versions
                # take the largest cost seen at the time of the fit instead, as this does.
                for crashed in self._failed:
                    self._smac.tell(crashed, TrialValue(cost=self._worst, status=StatusType.CRASHED), save=False)

    def _next(self) -> TrialInfo | None:
        from joblib import parallel_config
        from smac.main.exceptions import ConfigurationSpaceExhaustedException

        # The forest would take all cores, whatever the threads of the run; its predictions are the same.
        with parallel_config(backend="sequential"):
            try:
                return self._smac.ask()
            except (StopIteration, ConfigurationSpaceExhaustedException):
                return None

    def _make(
        self, folder: Path, start: list[Configuration], n_init: int | None, retrain_after: int | None
    ) -> AbstractFacade:
        """SMAC with the components of its facade but for what was asked for.

        It writes its files on construction only, as trials are told without saving: what a run needs
        to go on is replayed, never read from there.
        """
        import smac

        facade = getattr(smac, FACADES[self._surrogate])
        scenario = smac.Scenario(
            self._space,
            name="smac",
            output_directory=folder,
            deterministic=True,
            n_trials=max(self._n_trials, len(start), n_init or 0),
            seed=self._isolated.short_seed,
            n_workers=1,
        )
        if start:
            design = facade.get_initial_design(scenario, n_configs=0, additional_configs=start)
        elif n_init:
            design = facade.get_initial_design(scenario, n_configs=n_init, max_ratio=1.0)
        else:
            design = facade.get_initial_design(scenario)
        selection = {} if retrain_after is None else {"retrain_after": retrain_after}
        made: AbstractFacade = facade(
            scenario,
            initial_design=design,
            acquisition_maximizer=keep_order(facade.get_acquisition_maximizer(scenario)),
            config_selector=facade.get_config_selector(scenario, **selection),
            logging_level=False,
            overwrite=True,
        )
        return made
