"""What there is: the tasks and methods of `conf/` by name, read without importing any of them, and recorded tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from benchmarks.common.errors import UsageError
from benchmarks.config.options import SCALES

_PACKAGE = Path(__file__).resolve().parents[1]
# Installed, the package carries conf/ itself, but nothing of results/: that is below the working folder then.
INSTALLED = (_PACKAGE / "conf").is_dir()
CONF = (_PACKAGE if INSTALLED else _PACKAGE.parent) / "conf"
ROOT = Path.cwd() if INSTALLED else _PACKAGE.parent
TABLES = ROOT / "results" / "tables"
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


def find_table(task: str, scale: str | None, name: str | None, folder: Path = TABLES) -> Path:
    """The recorded table of a task.

    Parameters
    ----------
    task : str
    scale : str, optional
        None: the largest for which there is one.
    name : str, optional
        A table's name, or the path of a file.
    folder : Path

    Raises
    ------
    UsageError
        If there is none, or more than one.
    """
    known = sorted(folder.glob(f"{task}-*.parquet"))
    listing = ", ".join(path.stem for path in known) or "none"
    if name is not None:
        path = Path(name).expanduser() if name.endswith(".parquet") else folder / f"{name}.parquet"
        if not path.is_file():
            raise UsageError(f"table={name}: no file {path}; tables of task {task} there are: {listing}")
        return path
    of_scale = {each: [path for path in known if path.stem.endswith(f"-{each}")] for each in SCALES}
    wanted = [scale] if scale is not None else [each for each in SCALES if of_scale[each]][-1:]
    found = [path for each in wanted for path in of_scale[each]]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"source=table: choose one with table=NAME: {', '.join(path.stem for path in found)}")
    if not document("task", task).get("needs_data"):
        raise UsageError(f"source=table: task {task} trains nothing, so there is no table of it: use source=live")
    at_scale = f" at scale={scale}" if scale is not None else ""
    elsewhere = "; those that the suite was published with are in its repository" if INSTALLED else ""
    raise UsageError(
        f"source=table: no table of task {task}{at_scale} in {folder} (there are: {listing}); "
        f"record one with python -m benchmarks.record task={task}{elsewhere}"
    )
