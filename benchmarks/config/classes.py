"""What a class says of itself, in the place of a file of `conf/`: its parameters with their defaults, and a budget."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from benchmarks.common.errors import UsageError
from benchmarks.config import contents
from benchmarks.config.options import SCALES

BUDGET = {"heavy": 20}  # of a task whose class has no `budget`
GIVEN = ("problem", "seed")  # what the suite gives the class of a method


def document_of(group: str, name: str, cls: Any, target: str) -> dict[str, Any]:
    """What the file of a task or a method would hold that is given by its class.

    Parameters
    ----------
    group : {"task", "method"}
    name : str
    cls : class
        Its parameters are those of the constructor that have a default which a configuration can hold. Of a task, the
        first line of the docstring describes it, and `budget`, as {"heavy": 20}, is its budget at every scale.
    target : str
        Where the class is.

    Raises
    ------
    UsageError
        If it is no class, or its budget none that can be.
    """
    if not callable(cls):
        raise UsageError(f"{group} {name}: {target!r} is {cls!r}: give a class")
    parameters = {
        each.name: _plain(each.default)
        for each in inspect.signature(cls).parameters.values()
        if each.name not in GIVEN and each.default is not each.empty and _is_plain(each.default)
    }
    document: dict[str, Any] = {"_target_": target, **parameters}
    if group == "task":
        description = next(iter((inspect.getdoc(cls) or name).splitlines()), name)
        scale = {"budget": getattr(cls, "budget", BUDGET)}
        document = {
            "name": name,
            "description": description,
            "_target_": target,
            "parameters": parameters,
            "scales": dict.fromkeys(SCALES, scale),
        }
    try:
        contents.check(group, name, document)
    except UsageError as error:
        raise UsageError(f"{group} {name}, {target}: {error}") from error
    return document


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    return value is None or isinstance(value, bool | int | float | str)


def _plain(value: Any) -> Any:
    """A value with its tuples as lists, as YAML has them."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return {key: _plain(each) for key, each in value.items()} if isinstance(value, Mapping) else value
