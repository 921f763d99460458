"""The state of an optimizer as JSON text, and older forms of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from btao.arrays import FloatArray
from btao.trial import Trial, check_cost, check_level, outcome

FORMAT = 5
FORMER_RULES = {"joint": "joint", "light": "paper"}  # as `candidates` named them


def write_state(state: Mapping[str, Any]) -> str:
    """A state as strict JSON."""
    return json.dumps({"format": FORMAT, **state}, allow_nan=False)


def read_state(text: str) -> dict[str, Any]:
    """The state that a text holds, in the form of today.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it is none.
    """
    state: dict[str, Any] = json.loads(text)
    if state["format"] not in (2, 3, 4, FORMAT):
        raise ValueError(f"format {state['format']!r}, but this version of btao reads 2, 3, 4 and {FORMAT}")
    if state["format"] == 2:
        state = _of_format_2(state)
    if state["format"] == 3:
        state = _of_format_3(state)
    if state["format"] == 4:
        state = _of_format_4(state)
    return state


def read_trial(row: Any, number: int, config_of: Callable[[FloatArray], dict[str, Any]]) -> Trial:
    """The trial of a row of a state.

    Parameters
    ----------
    row : dict
        As `Trial.to_dict` writes it.
    number : int
        Its place in the state.
    config_of : callable
        From a point (dim,) to its configuration.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it is none, or contradicts itself.
    """
    if not isinstance(row, Mapping):
        raise TypeError(f"trial {number} must be a mapping, got {row!r}")
    point = np.array(row["point"], dtype=float)
    trial = Trial(config=config_of(point), point=point, **{name: row[name] for name in row if name != "point"})
    if trial.number != number:
        raise ValueError(f"trial {number} has the number {trial.number!r}")
    check_level(trial.level)
    check_cost(trial.cost)
    told = trial.status, trial.value
    if told != ("pending", None):
        is_missing = trial.value is None and trial.error is None
        expected = outcome(math.nan if is_missing else trial.value, trial.error)
        if told != (expected["status"], expected["value"]):
            raise ValueError(
                f"trial {number}: status {trial.status!r} does not go with value {trial.value!r} and error "
                f"{trial.error!r}"
            )
    return trial


def bounds_to_json(bounds: tuple[float, float]) -> list[float | str]:
    """Bounds as JSON can hold them: it has no infinity, which float() reads from text."""
    return [str(bound) if math.isinf(bound) else bound for bound in bounds]


def _of_format_2(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state of before there were several rules."""
    former = dict(state)
    warm = {name: former.pop(name) for name in ("warm_light", "warm_heavy")}
    defaults = {"logarithm": None, "ordered": False, "heavy_cost": 5.0, "continues": True, "n_init_heavy": None}
    rule = FORMER_RULES[former["candidates"]]
    return former | defaults | {"format": 3, "rule": rule, "state": warm}


def _of_format_3(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state of before results could be made elsewhere, and values be maximized or hold noise."""
    defaults = {"enqueued": [], "direction": "minimize", "noise": state["rule"] == "rate"}
    trials = [{**row, "given": False} for row in state["trials"]]
    return {**state, **defaults, "format": 4, "trials": trials}


def _of_format_4(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state of before configurations that were given were kept beside their points."""
    return {**state, "configs": [], "format": FORMAT}
