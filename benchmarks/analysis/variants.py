"""The variants of BTAO's joint rule that an ablation compares: what is changed, how it is run, how it is named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.config.options import text
from benchmarks.config.registry import document

METHOD = "btao_joint"
DEFAULT = "default"
# Each option with the values it takes; the default is among those of the first.
OPTIONS: dict[str, tuple[Any, ...]] = {
    "light_per_heavy": (1, 2, 3, 4, 5, 6, 7, 8),
    "n_init": (2, 3, 8),
    "start": ("random",),
    "candidates": ("light",),
    "square_root_beta": (True,),
}
# The bounds of the model, which are changed together.
BOUNDS: dict[str, dict[str, list[Any]]] = {
    "truncated": {"delta_bounds": [-1.0, 0.0], "rho_bounds": [0.0, 1.0]},
    "untruncated": {"delta_bounds": ["-inf", "inf"], "rho_bounds": ["-inf", "inf"]},
}


def commands(words: Sequence[str], bounds: str, options: Mapping[str, Sequence[Any]] = OPTIONS) -> list[list[str]]:
    """The arguments of `python -m benchmarks.run`, less seeds and out: a sweep for every option and one for bounds.

    Parameters
    ----------
    words : sequence of str
        Of the command line: the tasks, where their values come from, the budget.
    bounds : str
        Those in `BOUNDS` that the tasks do not have by themselves.
    options : mapping
        With the values they take.
    """
    sweeps = [{option: ",".join(map(text, values))} for option, values in options.items()]
    sweeps.append({option: text(pair) for option, pair in BOUNDS[bounds].items()})
    return [
        [*words, f"method={METHOD}", "-m", *(f"methods.{METHOD}.{option}={values}" for option, values in sweep.items())]
        for sweep in sweeps
    ]


def label(parameters: Mapping[str, Any]) -> str:
    """The label of a variant.

    Parameters
    ----------
    parameters : mapping
        The resolved ones of the method, as its run.json and the column `parameters` of `records.load` hold them.
    """
    default = document("method", METHOD)
    changed = {name: parameters[name] for name in default if parameters.get(name, default[name]) != default[name]}
    for name, bounds in BOUNDS.items():
        if changed == bounds:
            return name
    return ", ".join(f"{name}={json.dumps(value).strip(chr(34))}" for name, value in changed.items()) or DEFAULT


def variants() -> list[str]:
    """The labels in the order in which tables and figures show them, the default first."""
    default = document("method", METHOD)
    singles = [{option: value} for option, values in OPTIONS.items() for value in values]
    return list(dict.fromkeys([DEFAULT, *(label(default | changed) for changed in [*singles, *BOUNDS.values()])]))
