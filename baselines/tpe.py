"""TPE: the tree-structured Parzen estimator of hyperopt (Bergstra et al., 2011)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from baselines.libraries.encoding import encode
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import Capabilities, Measurement, Problem, Trial
from btao import Categorical, Ordinal, Real, Space, When
from btao.checks import check_integer, is_number
from btao.parameters import Parameter


class TPE:
    """`hyperopt.tpe.suggest`, called and answered as `hyperopt.fmin` does it, one trial at a time.

    Heavy runs only. The trials are those of `hyperopt.fmin` with
    `rstate=numpy.random.default_rng(seed)`. A shared start is handed over as `fmin`'s
    `points_to_evaluate` is, and counts among the `n_startup_jobs`. Pending and failed trials (status
    "fail") have infinite loss to it. Configurations may repeat: the search is never exhausted.
    A conditional parameter lies inside the options of a choice, where `expression` can put it there.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.
    n_startup_jobs : int
        Random trials before the model is used, at least 1.
    n_EI_candidates : int
        Candidates that each proposal is the best of, at least 1.
    gamma : float
        The best ceil(gamma * sqrt(n)) of n trials count as good ones; above 0.

    Raises
    ------
    ValueError
        If `seed`, `n_startup_jobs`, `n_EI_candidates` or `gamma` is not as above.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="heavy", conditions=True, model_based=True, requires=("hyperopt",), extra="suite"
    )

    def __init__(
        self,
        problem: Problem,
        seed: int,
        n_startup_jobs: int = 20,
        n_EI_candidates: int = 24,
        gamma: float = 0.25,
    ) -> None:
        for name, value in (("n_startup_jobs", n_startup_jobs), ("n_EI_candidates", n_EI_candidates)):
            check_integer(name, value)
        if not (is_number(gamma) and 0 < gamma < math.inf):
            raise ValueError(f"gamma must be a finite number above 0, got {gamma!r}")
        self._problem = problem
        self._options = {"n_startup_jobs": n_startup_jobs, "n_EI_candidates": n_EI_candidates, "gamma": gamma}
        self._asked = 0
        self._pending = PendingTrials()
        self._isolated = IsolatedLibrary("hyperopt", check_seed(seed))
        self._seeds = np.random.default_rng(self._isolated.seed)
        initial = problem.initial.heavy if problem.initial else ()
        with self._isolated:
            import hyperopt
            from hyperopt.fmin import generate_trials_to_calculate

            self._domain = hyperopt.Domain(None, expression(problem.space))
            self._trials = generate_trials_to_calculate([encode(problem.space, config) for config in initial])
            self._trials.refresh()
            for document in self._trials.trials:
                for part in ("idxs", "vals"):  # hyperopt wants every label, those of inactive parameters, too
                    for name in problem.space.names:
                        document["misc"][part].setdefault(name, [])

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending.

        Raises
        ------
        NoProposal
            If hyperopt does not answer.
        """
        with self._isolated:
            if self._asked == len(self._trials.trials):
                self._suggest()
            values = self._trials.trials[self._asked]["misc"]["vals"]
        config = self._problem.space.assemble(
            lambda name: _value(self._problem.space.parameters[name], values[name][0])
        )
        trial = Trial(self._asked, config, heavy=True, budget=self._problem.heavy_iterations)
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
        with self._isolated:
            import hyperopt

            document = self._trials.trials[trial.number]
            document["state"] = hyperopt.JOB_STATE_DONE
            if measurement.failed:
                document["result"] = {"status": hyperopt.STATUS_FAIL}
            else:
                document["result"] = {"status": hyperopt.STATUS_OK, "loss": measurement.value}

    def _suggest(self) -> None:
        """What `fmin` does to queue one more trial."""
        from hyperopt import tpe

        ids = self._trials.new_trial_ids(1)
        self._trials.refresh()
        seed = self._seeds.integers(2**31 - 1)
        self._trials.insert_trial_docs(tpe.suggest(ids, self._domain, self._trials, seed, **self._options))
        self._trials.refresh()


def expression(space: Space) -> dict[str, Any]:
    """A space in hyperopt's terms, with the same distribution of every parameter; an ordinal by its index.

    hyperopt rounds q-types to the nearest multiple of q: an integer's range has to reach half a step
    beyond its ends for them to be as likely as the others.

    A conditional parameter is part of those options of a choice at which its first condition on a categorical parameter
    holds, so that hyperopt draws and models it there alone. hyperopt has no other conditions: what the rest of them
    leave out is drawn and not used.
    """
    nodes: dict[str, Any] = {}
    nested: dict[str, When] = {}
    for name, whens in space.conditions.items():
        of_choices = [when for when in whens if isinstance(space.parameters[when.parameter], Categorical)]
        if of_choices:
            nested[name] = of_choices[0]

    def node(name: str) -> Any:
        """The node of a parameter; the same one wherever it is asked for, as hyperopt wants it."""
        if name not in nodes:
            parts = [child for child, when in nested.items() if when.parameter == name]
            nodes[name] = _node(name, space, {child: (nested[child], node(child)) for child in parts})
        return nodes[name]

    return {name: node(name) for name in space.names if name not in nested}


def _node(name: str, space: Space, parts: dict[str, tuple[When, Any]]) -> Any:
    """The node of a parameter, with the nodes that are part of some of its options."""
    from hyperopt import hp

    kind = space.parameters[name]
    if isinstance(kind, Ordinal):
        return hp.uniformint(name, -0.5, kind.size - 0.5)
    if isinstance(kind, Categorical):
        if not parts:
            return hp.choice(name, list(kind.choices))
        options = [
            {child: node for child, (when, node) in parts.items() if when.holds({name: choice})}
            for choice in kind.choices
        ]
        return hp.choice(name, options)
    if isinstance(kind, Real):
        if kind.log:
            return hp.loguniform(name, math.log(kind.low), math.log(kind.high))
        return hp.uniform(name, kind.low, kind.high)
    low, high = kind.low - 0.5, kind.high + 0.5
    return hp.qloguniform(name, math.log(low), math.log(high), 1) if kind.log else hp.uniformint(name, low, high)


def _value(kind: Parameter, value: Any) -> Any:
    """What hyperopt's number stands for; the last digit of exp(log(high)), or a tie, may lie out of bounds."""
    if isinstance(kind, Categorical):
        return kind.at(int(value))
    if isinstance(kind, Ordinal):
        return kind.at(min(max(round(value), 0), kind.size - 1))
    plain = float(value) if isinstance(kind, Real) else round(value)
    return min(max(plain, kind.low), kind.high)
