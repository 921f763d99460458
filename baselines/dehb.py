"""DEHB: Hyperband whose configurations evolve (Awad, Mallik and Hutter, 2021)."""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from baselines.brackets import lowest_budget, whole_iterations
from baselines.libraries.configspace import from_configuration, to_configspace
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import Capabilities, Measurement, Problem, Trial
from btao.checks import is_number

# dehb is imported when used: it is an extra.
if TYPE_CHECKING:
    import dehb

STRATEGIES = tuple(
    f"{mutation}_{crossover}"
    for mutation in ("rand1", "rand2", "rand2dir", "best1", "best2", "currenttobest1", "randtobest1")
    for crossover in ("bin", "exp")
)


class DEHB:
    """The DEHB of its authors, asked and told.

    Its budgets are those of `baselines.brackets.Brackets`. It has no model and mutates its random
    population before the first trial, so it takes no part in a shared start. It has no word for a
    failed trial: told of an infinite value or of nan, it stops as soon as a rung holds nothing
    else. A failure is therefore told as the largest number, behind every measurement.

    Parameters
    ----------
    problem : Problem
        A task with a light level.
    seed : int
        At least 0.
    eta : float
        At least 2: one of eta configurations is promoted, to eta times the budget.
    n_rungs : int, optional
        The number of budgets, at least 2, the lowest then being heavy / eta^(n_rungs - 1); None:
        from the light level of the task on, as `Brackets` says.
    mutation_factor, crossover_prob : float
        Of the differential evolution, in [0, 1].
    strategy : str
        One of `STRATEGIES`: the mutation and the crossover.

    Raises
    ------
    ValueError
        If an argument is not as above.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="several",
        conditions=True,
        requires=("dehb", "loguru", "distributed", "pandas", "ConfigSpace"),
        extra="dehb",
        without_dependencies=("dehb==0.1.2",),
    )

    def __init__(
        self,
        problem: Problem,
        seed: int,
        eta: float = 3,
        n_rungs: int | None = None,
        mutation_factor: float = 0.5,
        crossover_prob: float = 0.5,
        strategy: str = "rand1_bin",
    ) -> None:
        for name, value in (("mutation_factor", mutation_factor), ("crossover_prob", crossover_prob)):
            if not (is_number(value) and 0 <= value <= 1):
                raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")
        if strategy not in STRATEGIES:
            raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}")
        lowest = lowest_budget(problem, eta, n_rungs)
        if n_rungs == 1:
            raise ValueError("n_rungs=1, but DEHB needs two budgets or more")
        self._space = problem.space
        self._heavy = problem.heavy_iterations
        self._isolated = IsolatedLibrary("DEHB", check_seed(seed))
        with self._isolated:
            self._optimizer = _without_log_file()(
                cs=to_configspace(problem.space, self._isolated.seed),
                min_fidelity=lowest,
                max_fidelity=self._heavy,
                eta=eta,
                mutation_factor=mutation_factor,
                crossover_prob=crossover_prob,
                strategy=strategy,
                seed=self._isolated.short_seed,
                n_workers=1,
                save_freq="end",  # of `run`, which is not called: no file is written
                output_path=problem.folder or tempfile.gettempdir(),
            )
        self._iterations = whole_iterations(problem, self._optimizer.fidelities.tolist(), n_rungs)
        self._pending = PendingTrials()
        self._jobs: dict[int, dict[str, Any]] = {}
        self._asked = 0

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending."""
        with self._isolated:
            job = self._optimizer.ask()
        self._jobs[self._asked] = job
        iterations = self._iterations[float(job["fidelity"])]
        config = from_configuration(self._space, job["config"])
        trial = Trial(self._asked, config, iterations == self._heavy, iterations)
        self._asked += 1
        return self._pending.open(trial)

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        self._pending.close(trial)
        fitness = sys.float_info.max if measurement.failed else measurement.value
        with self._isolated:
            self._optimizer.tell(self._jobs.pop(trial.number), {"fitness": fitness, "cost": trial.budget})


def _without_log_file() -> type[dehb.DEHB]:
    """DEHB that logs as every library does.

    Its own way takes the handlers of all of loguru's users in the process, and starts a thread.
    """
    from dehb import DEHB

    class Quiet(DEHB):  # type: ignore[misc]
        def _setup_logger(self, resume: bool, kwargs: dict[str, Any]) -> None:
            self.output_path = Path(kwargs["output_path"])
            self.logger = logging.getLogger("dehb")

    return Quiet
