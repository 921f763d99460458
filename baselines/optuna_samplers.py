"""Optuna's TPE and Gaussian-process samplers (Akiba et al., 2019)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, ClassVar

from baselines.libraries.encoding import conditions, decode_value, encode, is_plain, varying
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import MAX_REFUSED, Capabilities, Measurement, Problem, Trial, only_refused
from btao import Categorical, Integer, Real, Space
from btao.checks import check_integer

# optuna is imported when used: it is an extra.


class _OptunaMethod(ABC):
    """A study of Optuna, asked and told one trial at a time; heavy runs only.

    Of conditional parameters the active ones alone are suggested, each after those that its conditions name.
    A shared start is enqueued as the study's first trials, and counts among the `n_startup_trials`
    as all completed trials do. Failed trials are told as such: the samplers leave them out. So are
    configurations that a constraint refuses, for which it is asked anew. Configurations may repeat:
    the search of an unconstrained space is never exhausted.
    """

    capabilities: ClassVar[Capabilities]

    def __init__(self, problem: Problem, seed: int, **options: Any) -> None:
        self._problem = problem
        self._pending = PendingTrials()
        self._numbers: list[int] = []  # Optuna's, of the trials
        self._isolated = IsolatedLibrary("optuna", check_seed(seed))
        with self._isolated:
            import optuna

            self._distributions = distributions(problem.space)
            # Optuna seeds numpy's RandomState, which takes 32 bits.
            sampler = self._sampler(self._isolated.short_seed, **options)
            self._study = optuna.create_study(direction="minimize", sampler=sampler)
            initial = problem.initial.heavy if problem.initial else ()
            for config in initial:
                self._study.enqueue_trial(encode(problem.space, config))
        self._start_size = 0, max(options["n_startup_trials"], len(initial))

    @property
    def start_size(self) -> tuple[int, int]:
        """Light and heavy runs before the first proposal."""
        return self._start_size

    @abstractmethod
    def _sampler(self, seed: int, **options: Any) -> Any:
        """The sampler, made inside the isolation."""

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending.

        Raises
        ------
        NoProposal
            If Optuna does not answer.
        SearchExhausted
            If it proposes nothing that the constraint allows.
        """
        for _ in range(MAX_REFUSED):
            with self._isolated:
                asked = self._study.ask()
                config = self._problem.space.assemble(partial(self._suggested, asked))
            if self._problem.space.allows(config):
                trial = Trial(len(self._numbers), config, heavy=True, budget=self._problem.heavy_iterations)
                self._numbers.append(asked.number)
                return self._pending.open(trial)
            self._close(asked.number, None)
        raise only_refused("Optuna")

    def _suggested(self, asked: Any, name: str) -> Any:
        """The value that Optuna suggests for an active parameter; that of a constant."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution

        kind, distribution = self._problem.space.parameters[name], self._distributions.get(name)
        if distribution is None:
            return kind.at(0)
        if isinstance(distribution, CategoricalDistribution):
            return kind.at(asked.suggest_categorical(name, distribution.choices))
        suggest = asked.suggest_float if isinstance(distribution, FloatDistribution) else asked.suggest_int
        return decode_value(kind, suggest(name, distribution.low, distribution.high, log=distribution.log))

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        self._pending.close(trial)
        self._close(self._numbers[trial.number], None if measurement.failed else measurement.value)

    def _close(self, number: int, value: float | None) -> None:
        """Tell Optuna what came of its trial of a number; None: it failed."""
        with self._isolated:
            from optuna.trial import TrialState

            if value is None:
                self._study.tell(number, state=TrialState.FAIL)
            else:
                self._study.tell(number, value)


class OptunaTPE(_OptunaMethod):
    """`optuna.samplers.TPESampler`.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.
    n_startup_trials : int
        Completed trials before the model is used, at least 1.
    n_ei_candidates : int
        Candidates that each proposal is the best of, at least 1.

    Raises
    ------
    ValueError
        If `seed`, `n_startup_trials` or `n_ei_candidates` is not as above.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="heavy", conditions=True, constraint=True, model_based=True, requires=("optuna",), extra="optuna"
    )

    def __init__(self, problem: Problem, seed: int, n_startup_trials: int = 10, n_ei_candidates: int = 24) -> None:
        check_integer("n_startup_trials", n_startup_trials)
        check_integer("n_ei_candidates", n_ei_candidates)
        super().__init__(problem, seed, n_startup_trials=n_startup_trials, n_ei_candidates=n_ei_candidates)

    def _sampler(self, seed: int, **options: Any) -> Any:
        from optuna.samplers import TPESampler

        return TPESampler(seed=seed, **options)


class OptunaGP(_OptunaMethod):
    """`optuna.samplers.GPSampler`: a Matérn-5/2 Gaussian process and log expected improvement.

    Asked anew it would propose much the same, so it takes no constraint. It models the parameters that all completed
    trials have; conditional ones it draws at random.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.
    n_startup_trials : int
        Completed trials before the model is used, at least 1.
    deterministic_objective : bool
        Whether measurements are known to be without noise.

    Raises
    ------
    ValueError
        If `seed` or `n_startup_trials` is not as above, or `deterministic_objective` no bool.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="heavy", conditions=True, model_based=True, requires=("optuna", "torch"), extra="optuna"
    )

    def __init__(
        self, problem: Problem, seed: int, n_startup_trials: int = 10, deterministic_objective: bool = False
    ) -> None:
        check_integer("n_startup_trials", n_startup_trials)
        if not isinstance(deterministic_objective, bool):
            raise ValueError(f"deterministic_objective must be true or false, got {deterministic_objective!r}")
        super().__init__(
            problem, seed, n_startup_trials=n_startup_trials, deterministic_objective=deterministic_objective
        )

    @property
    def cautions(self) -> list[str]:
        """A line where there are conditional parameters."""
        drawn = conditions(self._problem.space)
        return [f"Optuna's GPSampler draws conditional parameters at random: {', '.join(drawn)}"] if drawn else []

    def _sampler(self, seed: int, **options: Any) -> Any:
        from optuna.samplers import GPSampler

        return GPSampler(seed=seed, **options)


def distributions(space: Space) -> dict[str, Any]:
    """A space in Optuna's terms; ordinals and categories by number, as Optuna takes True, 1 and 1.0 for one choice.

    Constants are left out.
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    found: dict[str, Any] = {}
    for name, kind in varying(space).items():
        if isinstance(kind, Categorical):
            found[name] = CategoricalDistribution(range(kind.size))
        elif isinstance(kind, Real) and kind.continuous:
            found[name] = FloatDistribution(kind.low, kind.high, log=kind.log)
        elif isinstance(kind, Integer) and is_plain(kind):
            found[name] = IntDistribution(kind.low, kind.high, log=kind.log)
        else:
            found[name] = IntDistribution(0, kind.count - 1)
    return found
