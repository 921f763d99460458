"""The steps of the ladder: what each changes of the one before, how it is run, how it is found in records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.analysis.variants import BOUNDS
from benchmarks.config.options import text
from benchmarks.config.registry import document

FREE = BOUNDS["untruncated"]
TARGET = "benchmarks.analysis.ladder.rate_steps.RateSteps"
PARTS = {"logarithm": False, "elsewhere": False}


@dataclass(frozen=True)
class Step:
    """A method of `conf` with some of its parameters changed.

    Attributes
    ----------
    name : str
        What it changes of the step before; of the first, what it is.
    method : str
    changes : mapping
        Of parameters, as JSON holds them.
    of_errors : bool
        Whether it changes nothing where values are no errors: it is not run there.
    target : str, optional
        The class of the method; None: that of `conf`.
    """

    name: str
    method: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    of_errors: bool = False
    target: str | None = None


STEPS = (
    Step("the paper's rule", "btao_paper"),
    Step("no bounds on δ and ρ", "btao_paper", FREE, of_errors=True),
    Step("candidates by the heavy response", "btao_joint", FREE),
    Step("noise is estimated", "btao_joint", {**FREE, "noise": True}),
    Step(
        "another model, and the improvement of heavy values for all runs",
        "btao",
        PARTS | {"joint_start": True, "turns": True},
        target=TARGET,
    ),
    Step("d + 2 light runs and one heavy at the start", "btao", PARTS | {"turns": True}, target=TARGET),
    Step("levels by improvement per cost, with their caps", "btao", PARTS, target=TARGET),
    Step("it looks elsewhere", "btao", {"logarithm": False}),
    Step("logarithm of errors", "btao", of_errors=True),
)


def commands(words: Sequence[str], *, errors: bool) -> list[list[str]]:
    """The arguments of `python -m benchmarks.run` for each step, less out.

    Parameters
    ----------
    words : sequence of str
        Of the command line: the tasks, where their values come from, the budget, the seeds.
    errors : bool
        Whether the values of these tasks are errors, so that steps `of_errors` change something.
    """
    return [
        [
            *(*words, f"method={step.method}"),
            *([f"methods.{step.method}._target_={step.target}"] if step.target else []),
            *(_word(step.method, *change) for change in step.changes.items()),
        ]
        for step in STEPS
        if errors or not step.of_errors
    ]


def name_of(method: str, parameters: Mapping[str, Any]) -> str:
    """The name of the step that a run is of.

    Parameters
    ----------
    method : str
    parameters : mapping
        The resolved ones of the method, as its run.json and the column `parameters` of `records.load` hold them.

    Raises
    ------
    ValueError
        If it is of no step.
    """
    for step in STEPS:
        if step.method == method:
            default = document("method", method)
            if step.changes == {name: value for name, value in parameters.items() if value != default.get(name)}:
                return step.name
    raise ValueError(f"a ladder is of its steps alone: got trials of {method} with {json.dumps(parameters)}")


def _word(method: str, name: str, value: Any) -> str:
    """The argument that sets a parameter; with a plus where the file of the method does not list it."""
    return f"{'' if name in document('method', method) else '+'}methods.{method}.{name}={text(value)}"
