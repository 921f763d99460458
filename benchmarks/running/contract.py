"""What a method and a task hand over, checked and cast where it comes in, before anything is trained or recorded.

What is of another kind is an error of their code: it ends the run in a line that names the class and the field, and
the trial is not on record. With the corrected code the same command goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from baselines.protocol import Measurement, Method, Trial
from benchmarks.objectives.protocol import Curve, Evaluation, Objective, Time
from benchmarks.records import fields
from btao import Space
from btao.checks import check_integer


class CheckedMethod:
    """A method whose trials are those of a task, with numbers and recommendations that a record can hold.

    It works with its own trials; what it hands over is copied, so that no change of it reaches a record.

    Parameters
    ----------
    method : Method
    space : Space
    most : int
        Iterations of a heavy trial; a light one has no more.
    """

    def __init__(self, method: Method, space: Space, most: int) -> None:
        self._method = method
        self._name = type(method).__name__
        self._space, self._most = space, most
        self._asked: dict[int, Trial] = {}
        self._succeeded: set[int] = set()

    def ask(self) -> Trial:
        """The method's next trial.

        Raises
        ------
        SearchExhausted
            As the method does.
        TypeError, ValueError
            If it asks for no trial, a number that an earlier one has, a configuration that is not of the space, or
            iterations that are not those of its level.
        """
        trial = self._method.ask()
        source = f"ask of {self._name}"
        if not isinstance(trial, Trial):
            raise TypeError(f"{source} must return a Trial, got {trial!r}")
        with _naming(source):
            number = check_integer("number", trial.number, least=0)
            if number in self._asked:
                raise ValueError(f"number must be one that no earlier trial has, got {number}")
            heavy, budget = fields.flag("heavy", trial.heavy), check_integer("budget", trial.budget)
            if budget > self._most or (heavy and budget < self._most):
                right = f"{self._most} for a heavy trial" if heavy else f"at most {self._most}"
                raise ValueError(f"budget must be {right}, got {budget}")
            config = self._space.validate(trial.config)
        self._asked[number] = trial
        return Trial(number, config, heavy, budget)

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Hand a measurement on, with the trial that the method made itself."""
        self._method.tell(self._asked[trial.number], measurement)
        if trial.heavy and not measurement.failed:
            self._succeeded.add(trial.number)

    def recommend(self) -> int | None:
        """The number of the heavy trial that the method recommends; None if it does not say.

        Raises
        ------
        ValueError
            If it is none of the successful heavy trials that were told.
        """
        recommend = getattr(self._method, "recommend", None)
        number = None if recommend is None else recommend()
        if number is None:
            return None
        with _naming(f"recommend of {self._name}"):
            number = check_integer("number", number, least=0)
            if number not in self._succeeded:
                raise ValueError(f"number must be that of a heavy trial that succeeded, or None, got {number}")
        return number


def measured(objective: Objective, evaluation: Evaluation, granted: int) -> Evaluation:
    """What a task has measured, in plain values.

    Parameters
    ----------
    objective : Objective
    evaluation : Evaluation
    granted : int
        Iterations.

    Raises
    ------
    TypeError, ValueError
        If it is no evaluation, or a field is none that can be.
    """
    name = type(objective).__name__
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"evaluate of {name} must return an Evaluation, got {evaluation!r}")
    with _naming(f"evaluate of {name}"):
        iterations = check_integer("iterations", evaluation.iterations, least=0)
        if iterations > granted:
            raise ValueError(f"iterations must be at most {granted}, which were granted, got {iterations}")
        if not isinstance(evaluation.testing, Time):
            raise ValueError(f"testing must be a Time, got {evaluation.testing!r}")
        failed = evaluation.error is not None
        return dataclasses.replace(
            evaluation,
            value=math.nan if failed else fields.real("value", evaluation.value),
            iterations=iterations,
            error=(fields.text("error", evaluation.error) or "no reason was given") if failed else None,
            curve=None if evaluation.curve is None else _curve(evaluation.curve),
            seconds=_seconds_if_any("seconds", evaluation.seconds),
            processor_seconds=_seconds_if_any("processor_seconds", evaluation.processor_seconds),
            cached=fields.flag("cached", evaluation.cached),
            answer=None if evaluation.answer is None else fields.answer("answer", evaluation.answer),
            test_error=None if evaluation.test_error is None else fields.number("test_error", evaluation.test_error),
            testing=Time(*(fields.seconds("testing", each) for each in evaluation.testing)),
        )


def true_value(objective: Objective, config: Mapping[str, Any]) -> float | None:
    """The noiseless heavy response at a configuration, where the task knows it; ValueError if it is no number."""
    truth = objective.truth(dict(config))
    return None if truth is None else fields.number(f"truth of {type(objective).__name__}", truth)


def _curve(curve: Curve) -> Curve:
    if not isinstance(curve, Curve):
        raise ValueError(f"curve must be a Curve, got {curve!r}")
    lists = {name: _numbers(f"curve.{name}", items) for name, items in vars(curve).items()}
    if len({*map(len, lists.values())}) != 1:
        lengths = {name: len(errors) for name, errors in lists.items()}
        raise ValueError(f"the lists of curve must be equally long, got {lengths}")
    return Curve(**lists)


def _numbers(name: str, items: object) -> tuple[float, ...]:
    """A list of a curve: of errors, or of seconds, where nan says that they were not measured."""
    if not isinstance(items, Sequence | np.ndarray) or isinstance(items, str):
        raise ValueError(f"{name} must be a list of numbers, got {items!r}")
    numbers = tuple(fields.real(name, item) for item in items)
    if name.endswith("seconds"):
        for item in numbers:
            if not math.isnan(item):
                fields.seconds(name, item)
    return numbers


def _seconds_if_any(name: str, value: object) -> float | None:
    return None if value is None else fields.seconds(name, value)


@contextlib.contextmanager
def _naming(source: str) -> Iterator[None]:
    """Say in errors of values where they come from."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{source}: {error}") from error
