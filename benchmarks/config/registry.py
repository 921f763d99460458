"""What there is: the tasks and methods of `conf/` by name, read without importing any of them, and recorded tables.

Beside the files of `conf/` there may be additions: see `benchmarks.config.additions`.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from benchmarks.common.errors import UsageError
from benchmarks.config import contents, options
from benchmarks.config.additions import Addition, Key, installed, twice
from benchmarks.config.options import SCALES

_PACKAGE = Path(__file__).resolve().parents[1]
# Installed, the package carries conf/ itself, but nothing of results/: that is below the working folder then.
INSTALLED = (_PACKAGE / "conf").is_dir()
CONF = (_PACKAGE if INSTALLED else _PACKAGE.parent) / "conf"
ROOT = Path.cwd() if INSTALLED else _PACKAGE.parent
TABLES = ROOT / "results" / "tables"
GROUPS = ("task", "method")
# Methods of the suite itself, which no command names.
INTERNAL = {"design": "benchmarks.tables.design.DesignSearch"}
# The classes that runs and tables of before schema 2 name in their identity, where names now stand alone.
FORMER_TARGETS = {
    "task": {
        **{name: f"benchmarks.objectives.{name}.{name.capitalize()}" for name in ("currin", "park", "toy")},
        **{name: f"benchmarks.objectives.{name}.{name.upper()}" for name in ("cnn", "fcn", "svm")},
    },
    "method": {
        "bohb": "baselines.bohb.BOHB",
        "btao": "baselines.btao.BTAOMethod",
        "btao_paper": "baselines.btao.BTAOMethod",
        "dehb": "baselines.dehb.DEHB",
        "design": "benchmarks.design.DesignSearch",
        "gp_bo": "baselines.gp_bo.GPBO",
        "hyperband": "baselines.hyperband.Hyperband",
        "mf_gp": "baselines.mf_gp.MultiFidelityGP",
        "optuna_gp": "baselines.optuna_samplers.OptunaGP",
        "optuna_tpe": "baselines.optuna_samplers.OptunaTPE",
        "random_search": "baselines.random_search.RandomSearch",
        "smac": "baselines.smac.SMAC",
        "smac_gp": "baselines.smac.SMAC",
        "tpe": "baselines.tpe.TPE",
    },
}


class Loader(yaml.SafeLoader):
    """YAML as Hydra reads it: 1e-3 is a number, though YAML 1.1 has it as a text, and no key is there twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping of a node; ConstructorError where a key is there twice."""
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for place, key in enumerate(keys):
            if key.value in {earlier.value for earlier in keys[:place]}:
                raise ConstructorError(None, None, f"the key {key.value!r} is there twice", key.start_mark)
        return super().construct_mapping(node, deep)


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?([0-9][0-9_]*)(\.[0-9_]*)?[eE][-+]?[0-9]+"), list("-+0123456789")
)


_added: ContextVar[Mapping[Key, Addition]] = ContextVar("_added", default=MappingProxyType({}))


@contextlib.contextmanager
def adding(more: Mapping[Key, Addition]) -> Iterator[None]:
    """Have more tasks and methods in the block; of a name that is there already, choosing it is a mistake."""
    new = {}
    for (group, name), each in more.items():
        there = name in choices(group)
        new[group, name] = twice((group, name), origin(group, name), each) if there else each
    token = _added.set(MappingProxyType({**_added.get(), **new}))
    try:
        yield
    finally:
        _added.reset(token)


def addition(group: str, name: str) -> Addition | None:
    """The addition of this name, None if a file of the suite alone has it or there is none."""
    found = _added.get().get((group, name)) or installed().get((group, name))
    if found is not None and not found.is_twice and _file(group, name).is_file():
        return twice((group, name), _words(_file(group, name)), found)
    return found


def additions() -> set[Key]:
    """All additions that there are now, by group and name."""
    return {*installed(), *_added.get()}


def folder_additions(folder: Path) -> dict[Key, Addition]:
    """The tasks and methods of a folder with task/NAME.yaml and method/NAME.yaml.

    Raises
    ------
    UsageError
        If there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise UsageError(f"conf={folder}: there is no such folder")
    found = {
        (group, path.stem): Addition(str(path), functools.partial(_content, group, path), registered=True)
        for group in GROUPS
        for path in sorted((folder / group).glob("*.yaml"))
    }
    if not found:
        raise UsageError(f"conf={folder}: give a folder with task/NAME.yaml or method/NAME.yaml in it")
    return found


def origin(group: str, name: str) -> str:
    """Where a task or a method is from, in words."""
    added = addition(group, name)
    return _words(_file(group, name)) if added is None else added.origin


def _file(group: str, name: str) -> Path:
    return CONF / group / f"{name}.yaml"


def _words(path: Path) -> str:
    """A file of the suite's `conf/`."""
    return f"conf/{path.relative_to(CONF)}"


def choices(group: str) -> list[str]:
    """The names of a group, those of `conf/` and of additions, in alphabetical order."""
    added = {name for kind, name in additions() if kind == group}
    return sorted(added.union(path.stem for path in (CONF / group).glob("*.yaml")))


def document(group: str, name: str) -> dict[str, Any]:
    """The contents of conf/<group>/<name>.yaml as they stand there, or what an addition has in its place.

    Raises
    ------
    UsageError
        If the file cannot be read as YAML, or is none of a task or a method: naming file, key, what was found and
        what would be right; or if the name is there twice.
    """
    added = addition(group, name) if group else None
    return copy.deepcopy(_content(group, _file(group, name)) if added is None else added.read())


def _content(group: str, path: Path) -> dict[str, Any]:
    """What a file holds."""
    try:
        return _document(group, path, path.stat().st_mtime_ns)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


@functools.lru_cache(256)
def _document(group: str, path: Path, changed: int) -> dict[str, Any]:
    """What a file holds; read again when it has changed."""
    name = path.stem
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.load(text, Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path} must hold names with their values, got {content!r}")
    if group in GROUPS:
        if text.startswith("\N{BYTE ORDER MARK}"):
            raise UsageError(f"{path} begins with a byte-order mark: save it as UTF-8 without one")
        package = "task" if group == "task" else f"methods.{name}"
        if not text.startswith(f"# @package {package}\n"):
            raise UsageError(f"{path} must begin with the line '# @package {package}'")
        try:
            contents.check(group, name, content)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from error
    return content


def target_of(group: str, name: str) -> str | None:
    """Where the class of a task or a method is, by its name; None where there is none of this name.

    Those of a folder of `conf=` and of the caller, which another process does not know, are not looked at.
    """
    if group == "method" and name in INTERNAL:
        return INTERNAL[name]
    if _file(group, name).is_file():
        return _content(group, _file(group, name))["_target_"]
    package = installed().get((group, name))
    return None if package is None else package.read()["_target_"]


def task_listing() -> str:
    """The tasks, one indented line each with its description."""
    return listing("task", lambda task: task["description"])


def listing(group: str, described: Callable[[dict[str, Any]], str]) -> str:
    """The names of a group, one indented line each with what is said of it, and where from unless it is the suite's.

    Of a file that is no good it says why.
    """
    names = choices(group)
    width = max(map(len, names), default=0)
    lines = []
    for name in names:
        try:
            said = described(document(group, name))
        except UsageError as error:
            said = f"cannot be used: {error}"
        added = addition(group, name)
        source = "" if added is None else f"  ({added.origin})"
        lines.append(f"  {name:{width}}  {said}{source}".rstrip() + "\n")
    return "".join(lines)


def out_folder(arguments: Iterable[str]) -> Path:
    """The folder of recorded runs that `out=` names, or its default; UsageError for any other argument."""
    given = options.given(arguments, {"out": "a folder"})
    return Path(os.path.expanduser(given["out"])) if "out" in given else default_out()


def default_out() -> Path:
    """The folder of records where `out=` names none."""
    return found_from_here(document("", "config")["out"])


def found_from_here(folder: str) -> Path:
    """A folder that is named from the root: of the checkout, from any folder of it, as `notebooks/`; else from here."""
    inside = not INSTALLED and ROOT in Path.cwd().parents
    return ROOT / folder if inside else Path(folder)


def is_grid(table: Path) -> bool:
    """Whether a file is, by its name, the table of a grid."""
    return table.stem.rpartition("-")[0].endswith("-grid")


def find_table(task: str, scale: str | None, name: str | None, folder: Path = TABLES) -> Path:
    """The recorded table of a task; where there is a grid among several, that.

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
    stems = ", ".join(path.stem for path in known) or "none"
    if name is not None:
        path = Path(os.path.expanduser(name)) if name.endswith(".parquet") else folder / f"{name}.parquet"
        if not path.is_file():
            raise UsageError(f"table={name}: no file {path}; tables of task {task} there are: {stems}")
        return path
    of_scale = {each: [path for path in known if path.stem.endswith(f"-{each}")] for each in SCALES}
    wanted = [scale] if scale is not None else [each for each in SCALES if of_scale[each]][-1:]
    found = [path for each in wanted for path in of_scale[each]]
    grids = [path for path in found if is_grid(path)]
    for candidates in (grids, found):  # a grid answers exactly
        if len(candidates) == 1:
            return candidates[0]
    if found:
        raise UsageError(f"source=table: choose one with table=NAME: {', '.join(path.stem for path in found)}")
    condition = "" if document("task", task).get("needs_data") else "if it trains, "
    at_scale = f" at scale={scale}" if scale is not None else ""
    elsewhere = "; those that the suite was published with are in its repository" if INSTALLED else ""
    raise UsageError(
        f"source=table: no table of task {task}{at_scale} in {folder} (there are: {stems}); "
        f"{condition}record one with python -m benchmarks.record task={task}{elsewhere}"
    )
