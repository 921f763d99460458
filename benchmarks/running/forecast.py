"""What can be said of methods before a run: what they spend up to a first heavy run, whether a budget lasts for that.

A method is asked and told up to its first heavy trial; nothing is trained. How early a light run stops is not known
then, so there are two numbers: the least that any stop allows, and what is enough for sure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from baselines.protocol import Measurement, Method, SearchExhausted, Trial
from benchmarks.common.errors import UsageError, describe_error
from benchmarks.objectives.protocol import Objective, is_trained, resumes
from benchmarks.running.budget import MAX_TRIALS_WITHOUT_HEAVY, Budget
from benchmarks.running.contract import CheckedMethod
from benchmarks.tables.answers import Account
from benchmarks.tables.replay import Replay
from btao.checks import is_integer


@dataclass(frozen=True)
class Forecast:
    """Iterations up to the end of a first heavy run: at least so many, and as many at most."""

    least: int
    most: int


def check_budget(budget: Budget, objective: Objective, methods: Mapping[str, Method]) -> list[str]:
    """Cautions about a budget that may be too small for a method, a line each.

    Parameters
    ----------
    budget : Budget
    objective : Objective
    methods : mapping of str to Method
        Fresh ones by name, which are used up.

    Raises
    ------
    UsageError
        If `budget.iterations` covers no heavy run of some method, or `budget.train_seconds` none of a recorded table,
        naming the least that is needed; if seconds of training alone are to end runs of a formula.
    """
    _check_seconds(budget, objective)
    cautions = [line for name, method in methods.items() for line in _of_start(budget, objective, name, method)]
    if budget.iterations is None:
        return cautions
    forecasts = {name: forecast(name, method, objective) for name, method in methods.items()}
    known = {name: each for name, each in forecasts.items() if each is not None}
    lacking: dict[int, list[str]] = {}
    for name, each in known.items():
        if each.least > budget.iterations:
            lacking.setdefault(each.least, []).append(name)
    if lacking:
        needs = "; ".join(f"at least {least} for {', '.join(names)}" for least, names in sorted(lacking.items()))
        raise UsageError(f"budget.iterations={budget.iterations} covers no heavy run: give {needs}")
    return cautions + [
        f"{name} may end before its first heavy run: that is sure with budget.iterations={each.most} or more only"
        for name, each in known.items()
        if each.most > budget.iterations
    ]


def cautions_of(methods: Mapping[str, Method]) -> Iterator[str]:
    """What methods caution of, with their names; UsageError where it is no list of texts."""
    for name, method in methods.items():
        lines = getattr(method, "cautions", ())
        if not (isinstance(lines, list | tuple) and all(isinstance(line, str) for line in lines)):
            raise UsageError(f"method {name}: cautions must be a list of texts, got {lines!r}")
        yield from (f"{name}: {line}" for line in lines)


def forecast(name: str, method: Method, objective: Objective) -> Forecast | None:
    """What a fresh method spends up to a first heavy run, None where it asks for none.

    UsageError, naming the method, where it fails at what it is asked or told.
    """
    trials: list[Trial] = []
    checked = CheckedMethod(method, objective.space, objective.heavy.iterations)
    while not (trials and trials[-1].heavy):
        if len(trials) == MAX_TRIALS_WITHOUT_HEAVY:
            return None
        try:
            trials.append(checked.ask())
            if not trials[-1].heavy:
                checked.tell(trials[-1], Measurement(0.0))
        except SearchExhausted:
            return None
        except (Exception, SystemExit) as error:
            raise UsageError(f"method {name}: {describe_error(error)}") from error
    grants = [trial.budget for trial in trials]
    earliest = [*(_earliest_stop(objective, grant) for grant in grants[:-1]), grants[-1]]
    return Forecast(_charged(trials, earliest, objective), _charged(trials, grants, objective))


def _check_seconds(budget: Budget, objective: Objective) -> None:
    """Refuse seconds of training that end no run, or in which no heavy run ends.

    What live training takes is not known before.
    """
    limit = budget.train_seconds
    if limit is None:
        return
    if not isinstance(objective, Replay):
        if not is_trained(objective) and budget == Budget(train_seconds=limit):
            raise UsageError(
                f"budget.train_seconds={limit:g} alone ends no run of a task that trains nothing, as a formula: give "
                "budget.heavy, budget.iterations or budget.seconds; a task that trains without a data set says "
                "trains = True"
            )
        return
    quickest = objective.quickest
    if limit < quickest:
        least = f"{math.ceil(1000 * quickest) / 1000:.3f}".rstrip("0").rstrip(".")
        raise UsageError(
            f"budget.train_seconds={limit:g} covers no heavy run: the quickest one of the recorded table takes "
            f"{least} seconds; give that or more"
        )


def _charged(trials: Sequence[Trial], stops: Sequence[int], objective: Objective) -> int:
    """The iterations that trials are charged whose training stops after so many from its start."""
    total, account = 0, Account(resumes(objective))
    for trial, stop in zip(trials, stops, strict=True):
        key = json.dumps(trial.config, sort_keys=True)
        rest = stop - account.done(key, trial.budget)
        account.charge(key, trial.budget, max(rest, 0))
        total += max(rest, 1)
    return total


def _of_start(budget: Budget, objective: Objective, name: str, method: Method) -> Iterator[str]:
    """A caution where the budget covers no more than a start."""
    start = getattr(method, "start_size", (0, 0))
    if not (isinstance(start, tuple) and len(start) == 2 and all(map(is_integer, start)) and min(start) >= 0):
        raise UsageError(f"method {name}: start_size must be two integers, of light and heavy runs, got {start!r}")
    light, heavy = start
    if not light and not heavy:
        return
    first, whole = (_earliest_stop(objective, level.iterations) for level in (objective.light, objective.heavy))
    resumed = min(light, heavy) * first if resumes(objective) else 0
    needed = {"heavy": heavy, "iterations": light * first + heavy * whole - resumed}
    least = {"heavy": 1, "iterations": (objective.light if light else objective.heavy).iterations}  # of a next run
    given = {limit: getattr(budget, limit) for limit in needed if getattr(budget, limit) is not None}
    size = f"{light} light and {heavy} heavy runs" if light else f"{heavy} heavy run{'s' if heavy > 1 else ''}"
    for more in (True, False):  # the worse first
        for limit, most in given.items():
            if needed[limit] + (0 if more else least[limit]) > most:
                covers = "more than" if more else "all that"
                lost = "light runs are paid for nothing, " if light and more else ""
                yield (
                    f"{name} starts with {size}, {covers} budget.{limit}={most} covers: {lost}no proposal is made; "
                    "give a larger budget or a smaller start"
                )
                return


def _earliest_stop(objective: Objective, iterations: int) -> int:
    """The fewest iterations of a run that does not fail: one more than the patience, which no first value wears out."""
    level = objective.light if iterations <= objective.light.iterations else objective.heavy
    return iterations if level.patience is None else min(iterations, level.patience + 1)
