"""Tasks and methods that no file of the suite's `conf/` names: of a folder, of installed packages, or of the caller.

An installed package names its classes as entry points of the groups `btao.tasks` and `btao.methods`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from benchmarks.common.errors import UsageError, describe_error
from benchmarks.config.classes import document_of
from benchmarks.config.code import Code

ENTRY_POINTS = {"task": "btao.tasks", "method": "btao.methods"}
Key = tuple[str, str]  # group and name


@dataclass(frozen=True)
class Addition:
    """A task or a method.

    Attributes
    ----------
    origin : str
        Where it is from, in words.
    read : callable
        Returns what its file would hold; UsageError where that is no task or method.
    code : Code, optional
        What rebuilds its class where that cannot be imported.
    registered : bool
        Whether its name is all that a record needs, as that of a file of the suite, and not where its class is.
    is_twice : bool
        Whether it stands for a name that is there twice, see `twice`.
    """

    origin: str
    read: Callable[[], dict[str, Any]]
    code: Code | None = None
    registered: bool = False
    is_twice: bool = False


def twice(key: Key, first: str, addition: Addition) -> Addition:
    """What stands for a name that is there twice: it is refused when it is chosen, and hides nothing until then."""

    def refuse() -> NoReturn:
        group, name = key
        raise UsageError(f"{group} {name} is there twice: in {first} and in {addition.origin}; rename one")

    return replace(addition, read=refuse, is_twice=True)


def installed() -> Mapping[Key, Addition]:
    """The additions of installed packages; none is imported before it is read."""
    return _installed(tuple(sys.path))


@functools.lru_cache(8)
def _installed(path: tuple[str, ...]) -> Mapping[Key, Addition]:
    """Those that are found on a path of modules."""
    found: dict[Key, Addition] = {}
    for group, entries in ENTRY_POINTS.items():
        for entry in importlib.metadata.entry_points(group=entries):
            package = "a package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
            addition = Addition(package, functools.partial(_document, group, entry), registered=True)
            key = group, entry.name
            found[key] = twice(key, found[key].origin, addition) if key in found else addition
    return found


def _document(group: str, entry: importlib.metadata.EntryPoint) -> dict[str, Any]:
    try:
        cls = entry.load()
    except Exception as error:  # whatever a package raises when it is imported
        raise UsageError(
            f"{group} {entry.name}: {entry.value!r} cannot be imported: {describe_error(error)}"
        ) from error
    return document_of(group, entry.name, cls, entry.value)
