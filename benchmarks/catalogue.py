"""What `conf/` holds: its tasks and methods by name, read without importing any of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from benchmarks.options import UsageError

CONF = Path(__file__).resolve().parent.parent / "conf"
GROUPS = ("task", "method")
REQUIRED = {"task": ("name", "description", "_target_", "scales"), "method": ("_target_",)}


def choices(group: str) -> list[str]:
    """The names of a group of `conf/`, in alphabetical order."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def document(group: str, name: str) -> dict[str, Any]:
    """The contents of conf/<group>/<name>.yaml as they stand there.

    Raises
    ------
    UsageError
        If the file cannot be read as YAML, or lacks what a task's or a method's must have.
    """
    path = CONF / group / f"{name}.yaml"
    text = path.read_text(encoding="utf-8")
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path} must hold names with their values, got {content!r}")
    if group in GROUPS:
        package = "task" if group == "task" else f"methods.{name}"
        if not text.startswith(f"# @package {package}\n"):
            raise UsageError(f"{path} must begin with the line '# @package {package}'")
        for key in REQUIRED[group]:
            if key not in content:
                raise UsageError(f"{path} lacks {key!r}")
    return content


def task_listing() -> str:
    """The tasks, one indented line each with its description."""
    names = choices("task")
    width = max(map(len, names), default=0)
    return "".join(f"  {name:{width}}  {document('task', name)['description']}\n" for name in names)
