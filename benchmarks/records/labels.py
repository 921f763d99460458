"""Names to show for methods: the method's own, and the parameters that tell it from others of that name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.config.options import text, unknown

Cell = tuple[str, int]  # a run of a grid: method (name and hash) and seed
SHORTEST = 4  # characters of a hash that is shown, at least
FIRST = "btao"  # what others are compared to where nothing else is asked for and it is there


def name_of(method: str) -> str:
    """The name of a method that is given by name and hash."""
    return method.rpartition("-")[0]


def labels(methods: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """A label for each method, no two alike.

    Parameters
    ----------
    methods : mapping
        By name and hash, as "btao-0123456789": the parameters, none where they are not on record.

    Returns
    -------
    dict
        By name and hash, as `variants` gives them. Where several have one label, as they differ in the budget or the
        task, their hashes are in it: the fewest characters, at least 4, that tell them apart.
    """
    shown = variants(methods)
    for label in set(shown.values()):
        alike = [method for method, each in shown.items() if each == label]
        length = SHORTEST
        while len({_hash(method)[:length] for method in alike}) < len(alike):
            length += 1
        if len(alike) > 1:
            shown |= {method: _bracketed(label, _hash(method)[:length]) for method in alike}
    return shown


def variants(methods: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The name of each method with the parameters that tell it from others of that name: "gp_bo [n_init=4]".

    Parameters as for `labels`. Those whose parameters are the same have one name, as on different tasks.
    """
    shown = {}
    for method, parameters in methods.items():
        others = [each for other, each in methods.items() if name_of(other) == name_of(method)]
        differing = {
            name: value
            for name, value in parameters.items()
            if len({json.dumps(other.get(name), sort_keys=True) for other in others}) > 1
        }
        words = ", ".join(f"{name}={text(value)}" for name, value in differing.items())
        shown[method] = _bracketed(name_of(method), words) if words else name_of(method)
    return shown


def first_of(methods: Mapping[str, str], asked: str | None = None) -> str:
    """The label of the method that others are compared to.

    Parameters
    ----------
    methods : mapping
        By label, in the order of tables and figures: the name of the method.
    asked : str, optional
        A label, or the name of a method, whose first label is meant. Without it `FIRST`, or the first where that is
        not there.

    Raises
    ------
    ValueError
        If there is no such method, or none at all.
    """
    if not methods:
        raise ValueError("first: there is no method to compare others to")
    wanted = FIRST if asked is None else asked
    found = [label for label, name in methods.items() if wanted in (label, name)]
    if asked is not None and not found:
        raise ValueError(f"first: {unknown('method', asked, dict.fromkeys([*methods, *methods.values()]))}")
    return next(iter(found), next(iter(methods)))


def _hash(method: str) -> str:
    return method.rpartition("-")[2]


def _bracketed(label: str, words: str) -> str:
    """A label with more words in its brackets."""
    return f"{label[:-1]}, {words}]" if label.endswith("]") else f"{label} [{words}]"
