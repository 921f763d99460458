"""hpbandster's brackets of successive halving, asked and told in process, without its server."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from baselines.libraries.configspace import from_configuration, to_configspace, to_configuration
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import MAX_REFUSED, InitialDesign, Measurement, Problem, Trial, only_refused
from btao.checks import check_integer, is_number
from btao.trial import fault

# hpbandster is imported when used: it is slow, and other methods do without.
if TYPE_CHECKING:
    from hpbandster.core.master import Master

LIBRARY: dict[str, Any] = {
    "requires": ("hpbandster", "Pyro4", "serpent", "statsmodels", "ConfigSpace"),
    "extra": "suite",
    # Their own requirements name netifaces, for a server that is not used; it needs a C compiler.
    "without_dependencies": ("hpbandster==0.7.4", "Pyro4>=4.82", "serpent>=1.41"),
}

# A job of hpbandster: its number, its configuration and its budget.
Run = tuple[tuple[int, int, int], dict[str, Any], float]


class Brackets:
    """One of hpbandster's optimizers: its schedule, its promotions and its sampling.

    The budgets are hpbandster's: the heavy one and as many times an eta-th of it as stay at or
    above the light one, rounded to whole iterations; but the lowest one is the light level itself,
    and there are at least these two. hpbandster's own count of them is kept, although with eta = 3
    it misses one where heavy is 243 times light; `n_rungs` = 6 brings it back. On a task with two
    levels there are these two budgets; on one without a light level, the heavy one alone.

    A failed trial is a crashed job: it is never promoted, and a place that stays empty in the next
    rung goes to a new configuration. While a bracket waits for results, the next one starts. What is sampled
    and refused by a constraint is sampled anew.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.
    optimizer : str
        The name of a class of `hpbandster.optimizers`.
    eta : float
        At least 2: one of eta configurations is promoted, to eta times the budget.
    n_rungs : int, optional
        The number of budgets, the lowest then being heavy / eta^(n_rungs - 1); None: as above.
    initial : InitialDesign, optional
        Its light configurations are the first to sample; its heavy ones where there is one budget.
    **parameters
        Further arguments of the optimizer.

    Raises
    ------
    ValueError
        If an argument is not as above, or `n_rungs` asks for budgets that the task does not have.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int,
        optimizer: str,
        eta: float,
        n_rungs: int | None,
        initial: InitialDesign | None = None,
        **parameters: Any,
    ) -> None:
        self._space = problem.space
        self._heavy = problem.heavy_iterations
        lowest = lowest_budget(problem, eta, n_rungs)
        self._isolated = IsolatedLibrary("hpbandster", check_seed(seed))
        with self._isolated:
            self._configspace = to_configspace(problem.space, self._isolated.seed)
            self._optimizer = _without_server(optimizer)(
                configspace=self._configspace, eta=eta, min_budget=lowest, max_budget=self._heavy, **parameters
            )
        self._iterations = whole_iterations(problem, self._optimizer.budgets.tolist(), n_rungs)
        self._start: deque[dict[str, Any]] = deque()
        if initial is not None:
            self._start.extend(initial.heavy if len(self._iterations) == 1 else initial.light)
        self._pending = PendingTrials()
        self._jobs: dict[int, Any] = {}
        self._asked = 0

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending.

        Raises
        ------
        SearchExhausted
            If hpbandster samples nothing that the constraint allows.
        """
        with self._isolated:
            from hpbandster.core.dispatcher import Job

            config_id, values, budget = self._next_run()
            self._jobs[self._asked] = Job(config_id, config=values, budget=budget)
            info = self._optimizer.iterations[config_id[0]].data[config_id].config_info
        iterations = self._iterations[float(budget)]
        # A configuration of the start is handed out as it was given, not as ConfigSpace rounds it.
        config = info["start"] if "start" in info else from_configuration(self._space, values)
        trial = Trial(self._asked, dict(config), iterations == self._heavy, iterations)
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
        job = self._jobs.pop(trial.number)
        # As hpbandster's worker reports a computation that returned, and one that raised.
        if measurement.failed:
            job.exception = measurement.error or str(fault(measurement.value))
        else:
            job.result = {"loss": measurement.value, "info": {}}
        with self._isolated:
            self._optimizer.iterations[job.id[0]].register_result(job)
            self._optimizer.config_generator.new_result(job)

    def _next_run(self) -> Run:
        """The loop of hpbandster's `Master.run`, up to the next job."""
        master = self._optimizer
        while True:
            for bracket in master.active_iterations():
                run: Run | None = master.iterations[bracket].get_next_run()
                if run is not None:
                    return run
            bracket = master.get_next_iteration(len(master.iterations))
            bracket.config_sampler = self._sample
            master.iterations.append(bracket)

    def _sample(self, budget: float) -> tuple[dict[str, Any], dict[str, Any]]:
        if self._start:
            config = self._start.popleft()
            return dict(to_configuration(self._space, config, self._configspace)), {"start": config}
        sampled: tuple[dict[str, Any], dict[str, Any]]
        for _ in range(MAX_REFUSED):
            sampled = self._optimizer.config_generator.get_config(budget)
            if self._space.constraint is None or self._space.allows(from_configuration(self._space, sampled[0])):
                return sampled
        raise only_refused("hpbandster")


def lowest_budget(problem: Problem, eta: float, n_rungs: int | None) -> float:
    """The lowest budget to name to a library that divides the heavy one by eta again and again.

    Parameters, errors: as `Brackets`.

    Returns
    -------
    float
        From which hpbandster makes the budgets that `Brackets` describes.
    """
    if not (is_number(eta) and 2 <= eta < float("inf")):
        raise ValueError(f"eta must be a number of at least 2, got {eta!r}")
    check_integer("n_rungs", n_rungs, none="null")
    light, heavy = problem.light_iterations, problem.heavy_iterations
    if light is None or problem.levels == "two":
        levels = 1 if light is None else 2
        if n_rungs not in (None, levels):
            raise ValueError(
                f"n_rungs={n_rungs}, but the number of budgets of this task is {levels}: leave n_rungs null"
            )
        n_rungs = levels
    elif n_rungs is None:
        return min(light, _lowest(heavy, eta, 2))
    elif heavy < eta ** (n_rungs - 1):
        raise ValueError(
            f"n_rungs={n_rungs} with eta={eta:g} makes the lowest budget "
            f"{heavy / eta ** (n_rungs - 1):.3g} iterations of {heavy}: it must be at least 1"
        )
    return _lowest(heavy, eta, n_rungs)


def _lowest(heavy: int, eta: float, n_rungs: int) -> float:
    # Half a rung below the lowest one: hpbandster counts by rounding a logarithm down.
    lowest: float = heavy * eta ** (0.5 - n_rungs)
    return lowest


def whole_iterations(problem: Problem, budgets: Sequence[float], n_rungs: int | None) -> dict[float, int]:
    """The iterations that stand for each budget of a library, which rise from `lowest_budget` on."""
    whole = [round(budget) for budget in budgets]
    if problem.light_iterations is not None and (n_rungs is None or problem.levels == "two"):
        whole[0] = problem.light_iterations
    return dict(zip(budgets, whole, strict=True))


def _without_server(optimizer: str) -> type[Master]:
    """A class of `hpbandster.optimizers`, without the server and the threads that `Master` starts."""
    import hpbandster.optimizers
    from hpbandster.core.master import Master

    class Bookkeeping(Master):  # type: ignore[misc]
        def __init__(self, config_generator: Any) -> None:
            self.config_generator = config_generator
            self.iterations: list[Any] = []
            self.config: dict[str, Any] = {}

    # The optimizer's own __init__ runs, and finds this one in the place of Master's.
    return type(optimizer, (getattr(hpbandster.optimizers, optimizer), Bookkeeping), {})
