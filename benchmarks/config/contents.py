"""What the file of a task or a method in `conf/` must hold, checked key by key, with what would be right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.common.errors import UsageError
from benchmarks.config.options import BUDGET, SCALES, text, unknown

REQUIRED = {"task": ("name", "description", "_target_", "scales"), "method": ("_target_",)}
TASK_KEYS = (*REQUIRED["task"], "needs_data", "parameters", "grid")
SCALE_KEYS = ("budget", "parameters")


def check(group: str, name: str, content: Mapping[Any, Any]) -> None:
    """Refuse what can be no task or method.

    Parameters
    ----------
    group : {"task", "method"}
    name : str
        That of the file.
    content : mapping
        What the file holds.

    Raises
    ------
    UsageError
        Naming the key, what was found there, and what would be right.
    """
    _check_values("", content, ())
    for key in REQUIRED[group]:
        if key not in content:
            raise UsageError(f"the key {key!r} is missing")
    target = content["_target_"]
    if not isinstance(target, str) or not {*target} & {".", ":"}:
        raise UsageError(f"_target_={text(target)}: give where the class is, as package.module.Class")
    if "defaults" in content:
        raise UsageError("unknown key 'defaults': a file here holds all of its own, so leave it out")
    if group == "task":
        _check_task(name, content)


def _check_task(name: str, task: Mapping[str, Any]) -> None:
    _check_known("", task, TASK_KEYS)
    if task["name"] != name:
        raise UsageError(f"name={text(task['name'])}: give {name}, as the file is called")
    description = task["description"]
    if not isinstance(description, str) or len(description.splitlines()) != 1:
        raise UsageError(f"description={description!r}: give a text of one line")
    if "needs_data" in task and not (isinstance(task["needs_data"], str) and task["needs_data"]):
        raise UsageError(f"needs_data={text(task['needs_data'])}: give the name of a data set, or leave the key out")
    parameters = _mapping("parameters", task, "a value for each parameter of the class, or leave the key out")
    grid = _mapping("grid", task, "a list of values for each parameter, or leave the key out")
    for parameter, values in grid.items():
        if not isinstance(values, list):
            raise UsageError(f"grid.{parameter}={text(values)}: give a list of values")
    scales = _mapping("scales", task, f"a budget for each of {', '.join(SCALES)}")
    _check_known("scales.", scales, SCALES)
    for scale in SCALES:
        if scale not in scales:
            raise UsageError(f"the key 'scales.{scale}' is missing: give a budget for each of {', '.join(SCALES)}")
        held = _mapping(scale, scales, "its budget, as budget: {heavy: 20}", "scales.")
        _check_scale(f"scales.{scale}", held, parameters)


def _check_scale(key: str, scale: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    _check_known(f"{key}.", scale, SCALE_KEYS)
    right = f"one or more limits of {', '.join(BUDGET)}, as {{heavy: 20}}"
    budget = _mapping("budget", scale, right, f"{key}.")
    if not budget:
        raise UsageError(f"{key} has no budget: give {right}")
    _check_known(f"{key}.budget.", budget, BUDGET)
    for name, limit in budget.items():
        BUDGET[name](f"{key}.budget.{name}", limit)
    own = _mapping("parameters", scale, "the parameters that have another value at this scale", f"{key}.")
    _check_known(f"{key}.parameters.", own, parameters)


def _mapping(key: str, content: Mapping[str, Any], right: str, prefix: str = "") -> Mapping[str, Any]:
    """What a key holds, nothing where it is not there; UsageError if that is no mapping."""
    found = content.get(key, {})
    if not isinstance(found, Mapping):
        raise UsageError(f"{prefix}{key}={text(found)}: give {right}")
    return found


def _check_known(prefix: str, found: Mapping[str, Any], known: Mapping[str, Any] | tuple[str, ...]) -> None:
    for key in found:
        if key not in known:
            raise UsageError(unknown("key", f"{prefix}{key}", [f"{prefix}{name}" for name in known]))


def _check_values(key: str, value: object, within: tuple[object, ...]) -> None:
    """Refuse keys that are no texts, and values that no record can hold, at any depth; `within` holds the value."""
    if any(value is outer for outer in within):
        raise UsageError(f"{key} holds itself: give a value of its own in place of the alias")
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                inside = f" in {key}" if key else ""
                raise UsageError(f"the key {name!r}{inside} is no text: give the name of a parameter")
            _check_values(f"{key}.{name}" if key else name, inner, (*within, value))
    elif isinstance(value, list):
        for inner in value:
            _check_values(key, inner, (*within, value))
    elif isinstance(value, str) and ("${" in value or value == "???"):
        raise UsageError(f"{key}={value}: nothing is put in its place here, so give the value itself")
    elif not (value is None or isinstance(value, bool | int | float | str)):
        raise UsageError(f"{key}={value}: give a number, a text in quotes, true, false, null, a list or a mapping")
