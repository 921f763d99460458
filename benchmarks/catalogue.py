"""What `conf/` holds: its tasks and methods by name, read without importing any of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CONF = Path(__file__).resolve().parent.parent / "conf"
GROUPS = ("task", "method")


def choices(group: str) -> list[str]:
    """The names of a group of `conf/`, in alphabetical order."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def document(group: str, name: str) -> dict[str, Any]:
    """The contents of conf/<group>/<name>.yaml as they stand there."""
    return yaml.safe_load((CONF / group / f"{name}.yaml").read_text(encoding="utf-8"))


def task_listing() -> str:
    """The tasks, one indented line each with its description."""
    names = choices("task")
    width = max(map(len, names), default=0)
    return "".join(f"  {name:{width}}  {document('task', name)['description']}\n" for name in names)
