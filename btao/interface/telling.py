"""What an optimizer is told: outcomes of its trials, results made elsewhere, and configurations to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np

from btao.interface.parts import Parts
from btao.interface.warm_start import Result, read_results
from btao.trial import LevelName, Measurement, Outcome, Trial, check_cost, check_level, outcome


class Telling(Parts):
    """The methods of `BTAO` by which results come in."""

    @overload
    def tell(
        self, trial: Trial, value: float | Measurement | None, /, *, error: str | None = None, cost: float | None = None
    ) -> Trial: ...

    @overload
    def tell(
        self,
        trial: Trial,
        *,
        value: float | Measurement | None = None,
        error: str | None = None,
        cost: float | None = None,
    ) -> Trial: ...

    @overload
    def tell(
        self,
        trial: Mapping[str, Any],
        level: LevelName,
        value: float | Measurement | None = None,
        *,
        error: str | None = None,
        cost: float | None = None,
    ) -> Trial: ...

    def tell(
        self,
        trial: Trial | Mapping[str, Any],
        level: Any = None,
        value: float | Measurement | None = None,
        *,
        error: str | None = None,
        cost: float | None = None,
    ) -> Trial:
        """Report what a trial measured, or that it failed: `tell(trial, value)` or `tell(config, level, value)`.

        Parameters
        ----------
        trial : Trial or dict
            One that `ask` returned and that was not told yet; any order. Or a configuration of which a result was made
            elsewhere; if a trial waits there at this level, it is told.
        level : {"light", "heavy"}
            Of a result made elsewhere. A heavy one counts for `best` at once, for the model when there is a light one
            of the same configuration. Where that is missing, it is the next trial that `ask` returns, but only of the
            `n_init` best of all heavy results made elsewhere.
        value : float or Measurement
            What was measured. nan, an infinity or more than 1e100 in size marks the trial as failed. A `Measurement`
            has its own error and cost.
        error : str, optional
            Marks the trial as failed, with the reason.
        cost : float, optional
            What the trial cost, in any unit that all trials share, such as iterations trained or seconds; "rate"
            weighs gains by what a run of each level costs in the mean (METHOD item 24). None or nan, not known: the
            mean of the light runs that were told with a cost, for a heavy run `heavy_cost` times its light one; where
            no cost is told a light run counts 1.

        Returns
        -------
        Trial
            The trial with its outcome.

        Raises
        ------
        ValueError
            If the trial or the configuration is unknown here or was told before, there is no such level, or the cost
            is negative or infinite.
        TypeError
            If the value or the cost is not a number, or an error or a cost is given beside a `Measurement`.
        """
        measured = level if value is None and not isinstance(trial, Mapping) else value
        if isinstance(measured, Measurement):
            if error is not None or cost is not None:
                raise TypeError(
                    f"a Measurement has its own error and cost, got error={error!r}, cost={cost!r} beside it"
                )
            level = None if measured is level else level
            value, error, cost = measured.value, measured.error, measured.cost
        if isinstance(trial, Mapping):
            try:
                level = check_level(level)
            except ValueError as reason:
                raise ValueError(f"{reason}: of a configuration, tell(config, level, value)") from None
            with self._lock:
                return self._take_on(Result.of(self.space, trial, level, value, error, cost))
        with self._lock:
            known = self._known(trial)
            if level is not None and value is not None:
                raise TypeError(f"a trial knows its level: tell(trial, value), got {level!r} and {value!r} beside it")
            if known.status != "pending":
                raise ValueError(self._told_before(known))
            return self._record(known, outcome(level if value is None else value, error), check_cost(cost))

    def reopen(self, trial: Trial) -> Trial:
        """Forget that a trial failed: it is pending again, to be run and told anew.

        Parameters
        ----------
        trial : Trial
            A failed one of `trials`.

        Returns
        -------
        Trial
            The pending one.

        Raises
        ------
        ValueError
            If the trial is not of this optimizer, or has not failed.
        TypeError
            If it is no trial.

        Examples
        --------
        >>> from btao import BTAO, Real, Space
        >>> optimizer = BTAO(Space({"rate": Real(0, 1)}))
        >>> failed = optimizer.tell(optimizer.ask(), error="out of memory")
        >>> trial = optimizer.reopen(failed)
        >>> optimizer.tell(trial, 0.5).value, len(optimizer.trials)
        (0.5, 1)
        """
        with self._lock:
            known = self._known(trial)
            if known.status != "failed":
                raise ValueError(f"trial {trial.number} must have failed to be run anew, it is {known.status}")
            opened = replace(known, status="pending", error=None, cost=None)
            self._history.trials[trial.number] = opened
            self._history.n_told -= 1
            self._rule = self._make_rule(self._rule.design)  # what it has fitted was told of the failure
            return self._shown(opened)

    def add_trials(self, trials: Any) -> int:
        """Take on results that were made elsewhere, all of them or, where one is wrong, none: a warm start.

        They stand in for the start, as far as they reach. Beyond that they inform the model and change no ratio of
        light to heavy runs. Heavy results without light ones, as a search with one level leaves them, count for `best`;
        for the model the `n_init` best of them are run lightly first, which is part of the start.

        Parameters
        ----------
        trials : DataFrame, or list of dict or Trial
            A row a result, with a value for each parameter of the space, "level", "value" and, where known, "error" and
            "cost"; a dict may also hold the parameters as "config". Null values are failures. A row that says again
            what is known is passed over, and so is one whose status is "pending". Another status must be that of the
            value.

        Returns
        -------
        int
            How many results are new.

        Raises
        ------
        TypeError, ValueError
            If a row is wrong, or contradicts what is known.

        Examples
        --------
        >>> from btao import BTAO, Real, Space
        >>> optimizer = BTAO(Space({"rate": Real(0, 1)}))
        >>> optimizer.add_trials(
        ...     [
        ...         {"rate": 0.1, "level": "light", "value": 0.5},
        ...         {"rate": 0.1, "level": "heavy", "value": 0.4},
        ...         {"rate": 0.9, "level": "light", "value": None, "error": "out of memory"},
        ...     ]
        ... )
        3
        >>> optimizer.best.value, optimizer.trials[2].status
        (0.4, 'failed')
        """
        results = read_results(trials, self.space)
        history = self._history
        n_new = 0
        with self._lock:
            before = list(history.trials), history.n_told, dict(history.given)
            try:
                for result in results:
                    known = history.at(result.level, result.point)
                    if known is None or not result.repeats(self._direction.turn_trial(known)):
                        self._take_on(result)
                        n_new += 1
            except BaseException:  # Ctrl-C, too
                history.reset(*before)
                raise
        return n_new

    def enqueue(self, config: Mapping[str, Any], level: LevelName = "heavy") -> None:
        """Try a configuration next, before what the optimizer proposes; in the order of calls.

        Parameters
        ----------
        config : dict
        level : {"light", "heavy"}
            Up to where. A heavy run needs a light one: that comes first, if it is not known, and if it fails the heavy
            run waits until it has been reopened and succeeded. What is known already is not run again.

        Raises
        ------
        TypeError, ValueError
            If the configuration is not of the space, or there is no such level.

        Examples
        --------
        >>> from btao import BTAO, Real, Space
        >>> optimizer = BTAO(Space({"rate": Real(0, 1)}))
        >>> optimizer.enqueue({"rate": 0.1})
        >>> for value in (0.5, 0.4):
        ...     trial = optimizer.ask()
        ...     print(trial.level, trial.config, optimizer.tell(trial, value).value)
        light {'rate': 0.1} 0.5
        heavy {'rate': 0.1} 0.4
        """
        level, valid = check_level(level), self.space.validate(config)
        with self._lock:
            self._enqueued.add(level, self._history.keep(valid))

    def _take_on(self, result: Result) -> Trial:
        """Record a result made elsewhere; ValueError where another is known."""
        known = self._history.at(result.level, result.point)
        if known is None:
            point = self._history.keep(result.config)
            known = Trial(len(self._history.trials), result.config, result.level, point, given=True)
            self._history.add(known)
        elif known.status != "pending":
            raise ValueError(
                f"{self._told_before(known)}; now it is told {result.outcome}. A configuration has one result a level: "
                "of several measurements tell their mean"
            )
        return self._record(known, result.outcome, result.cost)

    def _known(self, trial: Trial) -> Trial:
        """This optimizer's own trial; an error where the one that is given is not of it."""
        if not isinstance(trial, Trial):
            raise TypeError(f"trial must be one that ask() returned, or a configuration, got {trial!r}")
        trials = self._history.trials
        if not 0 <= trial.number < len(trials):
            raise ValueError(f"trial {trial.number} was never asked here: {len(trials)} trials are known")
        known = trials[trial.number]
        if known.level != trial.level or not np.array_equal(known.point, trial.point):
            raise ValueError(
                f"trial {trial.number} belongs to another optimizer: {trial.level} {trial.config} was told, but "
                f"{known.level} {known.config} was asked here"
            )
        return known

    def _record(self, known: Trial, told: Outcome, cost: float | None) -> Trial:
        trial = replace(known, **self._direction.turn_outcome(told), cost=cost)
        self._history.trials[known.number] = trial
        self._history.n_told += 1
        return self._shown(trial)

    def _told_before(self, known: Trial) -> str:
        trial = self._direction.turn_trial(known)
        return f"trial {trial.number} was told before: it is {trial.status}, value {trial.value}"
