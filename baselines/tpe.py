"""TPE: the tree-structured Parzen estimator of hyperopt (Bergstra et al., 2011)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from baselines.libraries.encoding import conditions, decode_value, encode, is_plain, varying
from baselines.libraries.isolated_library import IsolatedLibrary
from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import MAX_REFUSED, Capabilities, Measurement, Problem, Trial, only_refused
from btao import Categorical, Integer, Real, Space, When
from btao.checks import check_integer, is_number
from btao.parameters import Parameter

# hyperopt is imported when used: it is slow, and other methods do without.


class TPE:
    """`hyperopt.tpe.suggest`, called and answered as `hyperopt.fmin` does it, one trial at a time.

    Heavy runs only. The trials are those of `hyperopt.fmin` with
    `rstate=numpy.random.default_rng(seed)`. A shared start is handed over as `fmin`'s
    `points_to_evaluate` is, and counts among the `n_startup_jobs`. Pending and failed trials (status
    "fail") have infinite loss to it, and so have configurations that a constraint refuses, for which it is asked anew.
    Configurations may repeat: the search of an unconstrained space is never exhausted.
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
        levels="heavy", conditions=True, constraint=True, model_based=True, requires=("hyperopt",), extra="suite"
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
        self._options: dict[str, Any] = {
            "n_startup_jobs": n_startup_jobs,
            "n_EI_candidates": n_EI_candidates,
            "gamma": gamma,
        }
        self._seen = 0  # proposals looked at, those included that the constraint refuses
        self._documents: list[dict[str, Any]] = []  # of the trials
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
                    for name in varying(problem.space):
                        document["misc"][part].setdefault(name, [])

    @property
    def start_size(self) -> tuple[int, int]:
        """Light and heavy runs before the first proposal: at least so many.

        hyperopt counts what a constraint refuses among the random ones, so that of a constrained space none are sure.
        """
        shared = len(self._problem.initial.heavy) if self._problem.initial else 0
        return 0, max(shared, 0 if self._problem.space.constraint else self._options["n_startup_jobs"])

    @property
    def cautions(self) -> list[str]:
        """A line where hyperopt draws conditional parameters that may be inactive then, see `expression`."""
        space = self._problem.space
        nested = _nested(space)
        drawn = [name for name, whens in conditions(space).items() if whens != [nested.get(name)]]
        for name in drawn:  # and what is nested in these
            drawn += [child for child, when in nested.items() if when.parameter == name and child not in drawn]
        if not drawn:
            return []
        return [
            f"hyperopt nests a parameter in one choice alone, and knows no other condition: {', '.join(drawn)} "
            "will be drawn and modeled where inactive, too, and left out of the trials there"
        ]

    def ask(self) -> Trial:
        """The next trial; any number of them may be pending.

        Raises
        ------
        NoProposal
            If hyperopt does not answer.
        SearchExhausted
            If it proposes nothing that the constraint allows.
        """
        for _ in range(MAX_REFUSED):
            with self._isolated:
                if self._seen == len(self._trials.trials):
                    self._suggest()
                document = self._trials.trials[self._seen]
            self._seen += 1
            config = self._config(document["misc"]["vals"])
            if self._problem.space.allows(config):
                trial = Trial(len(self._documents), config, heavy=True, budget=self._problem.heavy_iterations)
                self._documents.append(document)
                return self._pending.open(trial)
            self._close(document, None)
        raise only_refused("hyperopt")

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back.

        Raises
        ------
        ValueError
            If the trial was not asked for, or was told before.
        """
        self._pending.close(trial)
        self._close(self._documents[trial.number], None if measurement.failed else measurement.value)

    def _config(self, values: dict[str, list[Any]]) -> dict[str, Any]:
        """What hyperopt's values, by label, stand for."""
        kinds = self._problem.space.parameters
        return self._problem.space.assemble(
            lambda name: decode_value(kinds[name], values[name][0]) if name in values else kinds[name].at(0)
        )

    def _close(self, document: dict[str, Any], loss: float | None) -> None:
        """Tell hyperopt what came of a trial; None: it failed."""
        with self._isolated:
            import hyperopt

            document["state"] = hyperopt.JOB_STATE_DONE
            failed = {"status": hyperopt.STATUS_FAIL}
            document["result"] = failed if loss is None else {"status": hyperopt.STATUS_OK, "loss": loss}

    def _suggest(self) -> None:
        """What `fmin` does to queue one more trial."""
        from hyperopt import tpe

        ids = self._trials.new_trial_ids(1)
        self._trials.refresh()
        seed = self._seeds.integers(2**31 - 1)
        self._trials.insert_trial_docs(tpe.suggest(ids, self._domain, self._trials, seed, **self._options))
        self._trials.refresh()


def expression(space: Space) -> dict[str, Any]:
    """A space in hyperopt's terms, with the same distribution of every parameter; ordinals and what has steps by index.

    Constants are left out.

    hyperopt rounds q-types to the nearest multiple of q: an integer's range has to reach half a step
    beyond its ends for them to be as likely as the others.

    A conditional parameter is part of those options of a choice at which its first condition on a categorical parameter
    holds, so that hyperopt draws and models it there alone. hyperopt has no other conditions: what the rest of them
    leave out is drawn and not used.
    """
    searched, nodes, nested = varying(space), dict[str, Any](), _nested(space)

    def node(name: str) -> Any:
        """The node of a parameter; the same one wherever it is asked for, as hyperopt wants it."""
        if name not in nodes:
            parts = [child for child, when in nested.items() if when.parameter == name]
            nodes[name] = _node(name, searched[name], {child: (nested[child], node(child)) for child in parts})
        return nodes[name]

    return {name: node(name) for name in searched if name not in nested}


def _nested(space: Space) -> dict[str, When]:
    """By conditional parameter the condition on a categorical one, its first, in whose options it is nested."""
    searched = varying(space)
    of_choices = {
        name: [when for when in whens if isinstance(searched[when.parameter], Categorical)]
        for name, whens in conditions(space).items()
    }
    return {name: whens[0] for name, whens in of_choices.items() if whens}


def _node(name: str, kind: Parameter, parts: dict[str, tuple[When, Any]]) -> Any:
    """The node of a parameter, with the nodes that are part of some of its options."""
    from hyperopt import hp

    if isinstance(kind, Categorical):
        if not parts:
            return hp.choice(name, list(kind.choices))
        options = [
            {child: node for child, (when, node) in parts.items() if when.holds({name: choice})}
            for choice in kind.choices
        ]
        return hp.choice(name, options)
    if isinstance(kind, Real) and kind.continuous:
        if kind.log:
            return hp.loguniform(name, math.log(kind.low), math.log(kind.high))
        return hp.uniform(name, kind.low, kind.high)
    if isinstance(kind, Integer) and is_plain(kind):
        low, high = kind.low - 0.5, kind.high + 0.5
        return hp.qloguniform(name, math.log(low), math.log(high), 1) if kind.log else hp.uniformint(name, low, high)
    return hp.uniformint(name, -0.5, kind.count - 0.5)
