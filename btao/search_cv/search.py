"""`BTAOSearchCV`: BTAO as a search of scikit-learn, with cross-validation as what it minimizes."""

from __future__ import annotations

import difflib
import math
import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from btao.checks import check_integer, is_integer, is_number
from btao.interface.arguments import rule_of, supplied
from btao.optimizer import BTAO
from btao.rules.rule import SpaceExhausted
from btao.search_cv.candidates import Candidates
from btao.search_cv.folds import Folds, Subsampled
from btao.trial import LevelName, Trial

try:
    from sklearn import __version__
    from sklearn.base import is_classifier
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import _num_samples
except ImportError as error:
    raise ImportError("BTAOSearchCV needs scikit-learn: pip install scikit-learn") from error
if tuple(int(part) for part in __version__.split(".")[:2]) < (1, 9):
    raise ImportError(
        f"BTAOSearchCV needs scikit-learn 1.9 or later, got {__version__}: pip install --upgrade scikit-learn"
    )

COSTS = ("resource", "seconds")
RESOURCES = ("n_estimators", "max_iter")  # of most estimators, to be named where another was given
# Of the heavy resource, what a light run has by default: a heavy run then costs as much as `BTAO` takes it to.
LIGHT_SHARE = 5
# What scikit-learn says of candidates none of which could be fitted on any fold; it then records none of them.
NOTHING_FITTED = re.compile(r"\s*All the \d+ fits failed")
NOT_FINITE = "One or more of the (test|train) scores are non-finite"

Amount = int | float


@dataclass(frozen=True)
class _Level:
    """What the runs of a level have: the resource, the parameters that set it, and the folds."""

    amount: Amount
    params: dict[str, Amount]
    folds: Folds | Subsampled


class BTAOSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search for the best parameters of an estimator by many light and a few heavy cross-validations.

    A light run has less of a resource, such as samples or trees, and so costs less. Runs are chosen by `btao.BTAO`. The
    interface is that of scikit-learn's searches, such as `RandomizedSearchCV`; only heavy runs can be best.

    Parameters
    ----------
    estimator : estimator of scikit-learn
    space : Space, or mapping of str to Real, Integer, Ordinal, Categorical, frozen distribution of scipy.stats, or list
        What to search, by names of the estimator's parameters, "step__parameter" in a pipeline. Ints or floats of a
        list are taken in their order, other values in none.
    resource : str
        What a light run has less of: "n_samples", or a parameter of the estimator that takes a number, such as
        "n_estimators" or "mlp__max_iter".
    light_resource, heavy_resource : int or float, optional
        How much of it. Of "n_samples", as in `HalvingRandomSearchCV`, the number of samples of `X` of which a training
        fold has its share; test folds are whole. The heavy default is all samples, or the parameter as the estimator
        has it; the light default a fifth of the heavy one.
    n_heavy : int
        Heavy runs in all, at least 1.
    rule : {"rate", "joint", "paper"}
        How the next run is chosen, see `btao.BTAO`.
    n_init : int, optional
        Size of the start, see `btao.BTAO`.
    cost : {"resource", "seconds"}
        What a run costs, by which "rate" weighs what it promises: the resource, so that equal calls give equal results,
        or the seconds of its fits.
    options : dict, optional
        More arguments of `btao.BTAO`, such as `delta_bounds` of "joint" and "paper".
    scoring, refit, cv, n_jobs, pre_dispatch, verbose, error_score, return_train_score
        As in `RandomizedSearchCV`. Of several scores, `refit` names the one that is searched for. A callable `refit` is
        given the heavy rows of `cv_results_`. Folds are split once, and all runs see the same ones.
    random_state : int, RandomState or None
        Seed of the search and of light samples. None: drawn from NumPy's global generator.

    Attributes
    ----------
    cv_results_ : dict of arrays
        A row for each run in order, as in `RandomizedSearchCV`, with two columns more: "level" and "n_resources". Its
        ranks are among runs of both levels.
    best_estimator_, best_params_, best_score_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
        As in `RandomizedSearchCV`, of the best heavy run.
    optimizer_ : BTAO
        With what it was told: errors, which are 1 - score if the best score of the start is above 0 and at most 1, as
        of accuracies, else -score. Distributions that are searched by their quantiles are known to it by these, and
        values that are no scalars by their place in their list.

    Notes
    -----
    The score that is searched for is maximized. A run whose score is nan or infinite is a failed one, which is neither
    best nor tried again; `error_score` says what it is where a fit failed. A search ends before it has `n_heavy` heavy
    runs where a finite space is exhausted, or as many runs fail in a row as it would make at least.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from btao import BTAOSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = BTAOSearchCV(
    ...     ExtraTreesClassifier(random_state=0),
    ...     {"ccp_alpha": loguniform(1e-4, 1e-1), "max_depth": [2, 4, 8]},
    ...     resource="n_estimators",
    ...     light_resource=4,
    ...     heavy_resource=20,
    ...     n_heavy=3,
    ... ).fit(X, y)
    >>> search.best_params_["n_estimators"]
    20
    >>> bool(search.best_score_ > 0.9)
    True
    >>> [str(level) for level in search.cv_results_["level"][:5]]
    ['light', 'light', 'light', 'light', 'heavy']
    """

    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        resource: str = "n_samples",
        light_resource: Amount | None = None,
        heavy_resource: Amount | None = None,
        n_heavy: int = 10,
        rule: str = "rate",
        n_init: int | None = None,
        cost: str = "resource",
        options: Mapping[str, Any] | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.resource = resource
        self.light_resource = light_resource
        self.heavy_resource = heavy_resource
        self.n_heavy = n_heavy
        self.rule = rule
        self.n_init = n_init
        self.cost = cost
        self.options = options
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> BTAOSearchCV:
        """Search, and fit the estimator with the best parameters on all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) where features are precomputed
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
        **params
            For the estimator's `fit`, the scorer and the splitter, as in `RandomizedSearchCV.fit`.

        Returns
        -------
        BTAOSearchCV
            This search.

        Raises
        ------
        TypeError, ValueError
            If an argument of the search is wrong, before any fit. If all runs of the start fail, or all heavy ones.
        """
        self._n_samples = _num_samples(X)
        try:
            super().fit(X, y, **params)
        finally:
            for name in ("_n_samples", "_record", "_results"):
                self.__dict__.pop(name, None)
        return self

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        candidates = Candidates.of(self.space)
        n_heavy = check_integer("n_heavy", self.n_heavy)
        if self.cost not in COSTS:
            raise ValueError(f"cost must be one of {COSTS}, got {self.cost!r}")
        self._check_metric()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        levels = self._levels(candidates, seed)
        optimizer = self._optimizer(candidates, levels, seed)

        ceiling = None
        n_light, _ = optimizer.start_size
        patience = n_light + n_heavy
        # The start is known from the beginning, so that all of its fits can run at the same time.
        batch = [optimizer.ask() for _ in range(n_light)]
        while batch:
            level = levels[batch[0].level]
            rows = [{**candidates.params(trial.config), **level.params} for trial in batch]
            results = self._evaluate(evaluate_candidates, batch, rows, level)
            scores = results[f"mean_test_{self._metric(results)}"][-len(batch) :]
            seconds = results["mean_fit_time"][-len(batch) :]
            if ceiling is None:
                ceiling = _ceiling(scores)
            for trial, score, spent in zip(batch, scores, seconds, strict=True):
                cost = level.amount if self.cost == "resource" else spent
                told = optimizer.tell(trial, ceiling - float(score), cost=float(cost))
                if told.status == "failed":
                    warnings.warn(f"{told.level} run {told.number} failed, its score is {score}", stacklevel=2)
                if self.verbose:
                    print(f"{told.level} run {told.number}: score {score:.6g} of {candidates.params(told.config)}")
            trials = optimizer.trials
            latest = trials[-patience:]
            given_up = len(latest) == patience and all(trial.status == "failed" for trial in latest)
            n_done = sum(trial.level == "heavy" for trial in trials)
            batch = [] if given_up or n_done >= n_heavy else _next(optimizer)
        if optimizer.best is None:
            why = f"the last {patience} runs failed" if given_up else f"none of {n_done} has a finite score"
            raise ValueError(f"no heavy run succeeded: {why}; error_score='raise' shows why fits fail")
        self.optimizer_ = optimizer

    # ---------------------------------------------------------------- what is asked for

    def _optimizer(self, candidates: Candidates, levels: Mapping[LevelName, _Level], seed: int) -> BTAO:
        options = dict(self.options or {})
        own: dict[str, Any] = {"seed": seed, "rule": self.rule, "n_init": self.n_init}
        if twice := sorted({*options} & {*own, "space", "direction"}):
            raise ValueError(f"options must leave {twice} to the arguments of the search, got {options!r}")
        # A fit of scikit-learn begins anew.
        costs = {"continues": False, "heavy_cost": levels["heavy"].amount / levels["light"].amount}
        rule = rule_of(self.rule, options.get("candidates"))
        return BTAO(candidates.space, **own, **options | supplied(rule, options, costs))

    def _levels(self, candidates: Candidates, seed: int) -> dict[LevelName, _Level]:
        """Both levels, from the resource and its amounts."""
        folds = Folds(self._checked_cv_orig)
        if self.resource == "n_samples":
            heavy = self._n_samples if self.heavy_resource is None else self.heavy_resource
            if not is_integer(heavy) or not 1 <= heavy <= self._n_samples:
                raise ValueError(
                    f"heavy_resource must be a number of samples from 1 to {self._n_samples}, got {heavy!r}"
                )
        else:
            known = self.estimator.get_params()
            if self.resource not in known:
                near = [name for name in RESOURCES if name in known]
                near = [name for name in known if name.endswith(f"__{self.resource}")] or near
                near = difflib.get_close_matches(str(self.resource), known, n=1) or near
                raise ValueError(
                    f"resource must be 'n_samples' or a parameter of the estimator, got {self.resource!r}"
                    + (f": did you mean {near[0]!r}?" if near else "")
                )
            if self.resource in candidates.names:
                raise ValueError(f"resource={self.resource!r} is in space, too: leave it to one of them")
            heavy = known[self.resource] if self.heavy_resource is None else self.heavy_resource
            if not is_number(heavy) or not 0 < heavy < math.inf:
                raise ValueError(f"heavy_resource must be a number above 0 of {self.resource!r}, got {heavy!r}")
        light = self._light_amount(heavy)
        if self.resource != "n_samples":
            return {
                "light": _Level(light, {self.resource: light}, folds),
                "heavy": _Level(heavy, {self.resource: heavy}, folds),
            }
        stratified = is_classifier(self.estimator)
        shares = {"light": light / self._n_samples, "heavy": heavy / self._n_samples}
        of_light, of_heavy = (
            Subsampled(folds, share, seed, stratified) if share < 1 else folds for share in shares.values()
        )
        return {"light": _Level(light, {}, of_light), "heavy": _Level(heavy, {}, of_heavy)}

    def _light_amount(self, heavy: Amount) -> Amount:
        if self.light_resource is None:
            light: Amount = max(heavy // LIGHT_SHARE, 1) if is_integer(heavy) else heavy / LIGHT_SHARE
            if light == heavy:
                raise ValueError(f"{self.resource}={heavy} leaves no less for light runs: it must be 2 at least")
            return light
        light = self.light_resource
        whole = self.resource == "n_samples" or is_integer(heavy)
        if not (is_integer(light) if whole else is_number(light)) or not 0 < light < heavy:
            kind = "an integer" if whole else "a number"
            raise ValueError(f"light_resource must be {kind} above 0 and below heavy_resource={heavy}, got {light!r}")
        return light

    def _check_metric(self) -> None:
        several = not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring))
        if several and not isinstance(self.refit, str):
            raise ValueError(f"refit must name the score that is searched for, one of several, got {self.refit!r}")

    def _metric(self, results: Mapping[str, Any]) -> str:
        """The score that is searched for, as `cv_results_` calls it."""
        names = [name.removeprefix("mean_test_") for name in results if name.startswith("mean_test_")]
        if isinstance(self.refit, str) and self.refit in names:
            return self.refit
        if names != ["score"]:
            raise ValueError(f"refit must be one of the scores {names}, got {self.refit!r}")
        return "score"

    # ---------------------------------------------------------------- records

    def _evaluate(
        self,
        evaluate_candidates: Callable[..., dict[str, Any]],
        batch: list[Trial],
        rows: list[dict[str, Any]],
        level: _Level,
    ) -> dict[str, Any]:
        """`cv_results_` so far, with the rows of a batch last."""
        more: dict[str, list[Any]] = {
            "level": [trial.level for trial in batch],
            "n_resources": [level.amount] * len(batch),
        }
        with warnings.catch_warnings():
            # Said of all rows again after each run; those that failed are told one by one.
            warnings.filterwarnings("ignore", NOT_FINITE, UserWarning)
            started = time.perf_counter()
            try:
                self._results = evaluate_candidates(rows, level.folds, more_results=more)
            except ValueError as error:
                # That nothing at all can be fitted is a mistake of the user's, one candidate later on a result.
                if not NOTHING_FITTED.match(str(error)) or not hasattr(self, "_results"):
                    raise
                self._add_unfitted(rows, more, str(error), time.perf_counter() - started)
                message = str(error)
            else:
                return self._results
        warnings.warn(message, FitFailedWarning, stacklevel=2)
        return self._results

    def _add_unfitted(
        self, rows: list[dict[str, Any]], more: Mapping[str, list[Any]], why: str, seconds: float
    ) -> None:
        """Record candidates that no fold could fit, in the lists and the dict that `BaseSearchCV.fit` goes on with."""
        params, n_splits, out, all_more = self._record
        n_fits = n_splits * len(rows)
        row = {**out[0], "fit_error": why, "fit_time": seconds / n_fits, "score_time": 0.0}
        for scores in {"test_scores", "train_scores"} & {*row}:
            several = isinstance(row[scores], dict)
            row[scores] = dict.fromkeys(row[scores], self.error_score) if several else self.error_score
        params.extend(rows)
        out.extend([row] * n_fits)
        for name, values in more.items():
            all_more[name].extend(values)
        renewed = self._format_results(params, n_splits, out, all_more)
        self._results.clear()
        self._results.update(renewed)

    def _format_results(self, candidate_params: Any, n_splits: int, out: Any, more_results: Any = None) -> Any:
        self._record = candidate_params, n_splits, out, more_results
        return super()._format_results(candidate_params, n_splits, out, more_results)

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: Mapping[str, Any]) -> int:
        """The best of the heavy rows."""
        heavy = np.flatnonzero(np.asarray(results["level"]) == "heavy")
        rows = {
            name: [values[i] for i in heavy] if isinstance(values, list) else values[heavy]
            for name, values in results.items()
        }
        return int(heavy[BaseSearchCV._select_best_index(refit, refit_metric, rows)])


def _ceiling(scores: Any) -> float:
    """What scores are subtracted from to be errors: 1 where they look like shares, as accuracies do, else 0."""
    best = max((float(score) for score in scores if math.isfinite(score)), default=0.0)
    return 1.0 if 0 < best <= 1 else 0.0


def _next(optimizer: BTAO) -> list[Trial]:
    try:
        return [optimizer.ask()]
    except SpaceExhausted:
        return []
