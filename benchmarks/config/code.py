"""The code of a class that no other process can import, as that of a notebook's cell: its source, and what rebuilds it.

The source says which code a run was made by: it is kept with the run, and its digest is part of the identity. It is
that of the class and of what the class uses from where it was written: functions and classes, and plain values.
What else it uses, such as an array of another cell, goes to the workers too, but tells runs apart no more than the
files that a class imports do.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import inspect
import io
import linecache
import pickle
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from benchmarks.common.errors import UsageError, describe_error

CACHED = functools._lru_cache_wrapper
PLAIN = (bool, int, float, str, bytes, type(None))


@dataclass(frozen=True)
class Code:
    """The code of a class.

    Attributes
    ----------
    source : str
    pickled : bytes
        What `load` rebuilds the class from, in any process with the same libraries.
    cls : type, optional
        The class itself, in the process where it was captured. It is not rebuilt there: that would change it, too.
    """

    source: str
    pickled: bytes = field(repr=False, compare=False)
    cls: Any = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Code, (self.source, self.pickled)

    @property
    def digest(self) -> str:
        """Ten hexadecimal digits of the SHA-256 of the source."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:10]

    def load(self) -> Any:
        """The class, the same object whenever it is asked for."""
        return _loaded(self.pickled) if self.cls is None else self.cls


@functools.lru_cache(64)
def _loaded(pickled: bytes) -> Any:
    return pickle.loads(pickled)


def target(cls: type) -> str:
    """Where a class is, as `pkgutil.resolve_name` reads it."""
    return f"{cls.__module__}:{cls.__qualname__}"


def is_importable(thing: Any) -> bool:
    """Whether any process finds this very class or function by its name: it is of a file that is no script."""
    if getattr(thing, "__module__", "__main__") == "__main__":
        return False
    try:
        return pkgutil.resolve_name(target(thing)) is thing
    except (ValueError, ImportError, AttributeError):
        return False


def capture(cls: type) -> Code | None:
    """The code of a class; None where any process can import it.

    Raises
    ------
    UsageError
        If its source is not at hand, or it uses what cannot go to another process.
    """
    if is_importable(cls):
        return None
    source = "\n\n".join(_sources(cls))
    try:
        return Code(source, _pickled(cls), cls)
    except Exception as error:  # whatever the pickling of what it uses raises
        raise UsageError(f"{cls.__name__} cannot go to another process: {describe_error(error)}") from error


def _pickled(cls: type) -> bytes:
    """A class by value, with caches of functions, which start empty elsewhere."""
    import cloudpickle  # slow

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, CACHED) and not is_importable(value):
                return _cached, (value.__wrapped__, value.cache_parameters())
            return super().reducer_override(value)

    file = io.BytesIO()
    Pickler(file).dump(cls)
    return file.getvalue()


def _cached(function: Any, parameters: dict[str, Any]) -> Any:
    return functools.lru_cache(**parameters)(function)


def _sources(cls: type) -> Iterator[str]:
    """The source of a class, then of what it uses, and theirs; each once."""
    found: dict[int, Any] = {}
    pending: list[tuple[str, Any]] = [(cls.__name__, cls)]
    while pending:
        name, thing = pending.pop(0)
        if _is_plain(thing):
            yield f"{name} = {thing!r}"
        elif isinstance(thing, tuple):
            pending += [(f"{name}[{place}]", item) for place, item in enumerate(thing) if _is_own(item)]
        elif id(thing) not in found:
            found[id(thing)] = thing
            yield _source(thing)
            pending += _used(thing)


def _used(thing: Any) -> list[tuple[str, Any]]:
    """What the functions of a class, or a function, use of their surroundings, by name and in the order of names."""
    there: dict[str, Any] = {base.__name__: base for base in getattr(thing, "__bases__", ())}
    if isinstance(thing, type):  # a space is written with its values, and its constraint is a function
        held = {name: getattr(value, "constraint", None) for name, value in vars(thing).items()}
        there |= {f"{name}.constraint": value for name, value in held.items() if isinstance(value, FunctionType)}
    for function in _functions(thing):
        there |= {name: function.__globals__.get(name, NotImplemented) for name in _global_names(function.__code__)}
        there |= inspect.getclosurevars(function).nonlocals
    values = {name: getattr(value, "__wrapped__", value) for name, value in there.items()}
    return [(name, values[name]) for name in sorted(values) if _is_own(values[name])]


def _global_names(code: CodeType) -> Iterator[str]:
    """The global names that a code reads, those in functions and classes inside of it, too."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _is_own(value: Any) -> bool:
    """Whether a value is written beside the class: a plain one, or a class or function that cannot be imported.

    A tuple is, whatever it holds.
    """
    return isinstance(value, (*PLAIN, tuple)) or (isinstance(value, type | FunctionType) and not is_importable(value))


def _is_plain(value: Any) -> bool:
    """Whether a value is written as it is."""
    return all(map(_is_plain, value)) if isinstance(value, tuple) else isinstance(value, PLAIN)


def _functions(thing: Any) -> list[FunctionType]:
    """The functions of a class, or a function alone."""
    if isinstance(thing, FunctionType):
        return [thing]
    values = [getattr(value, "__func__", getattr(value, "fget", value)) for value in vars(thing).values()]
    return [value for value in values if isinstance(value, FunctionType)]


def _source(thing: Any) -> str:
    """The source of a class or a function; of a class also its values, which names of other cells may have given it.

    `inspect` does not find the source of a class in a cell, as its module has no file; that of a function it does.
    """
    return "\n".join([_text(thing), *(_values(thing) if isinstance(thing, type) else [])])


def _values(cls: type) -> list[str]:
    """The values of a class, a line each; without addresses, which differ each time."""
    written = {name: repr(value) for name, value in sorted(vars(cls).items()) if _is_value(name, value)}
    return [f"{name} = {re.sub(' at 0x[0-9a-f]+', '', text)}" for name, text in written.items()]


def _text(thing: Any) -> str:
    """What was written for a class or a function; for a class that is made of a function, that."""
    try:
        return textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        pass
    for function in _functions(thing) if isinstance(thing, type) else []:
        path = function.__code__.co_filename
        tree = _tree("".join(linecache.getlines(path)))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == thing.__name__ and _spans(node, function):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                return "".join(linecache.getlines(path)[first - 1 : node.end_lineno]).rstrip()
    made = vars(thing).get("function") if isinstance(thing, type) else None
    if made is None:
        raise UsageError(f"{thing.__name__} has no source that could be kept: write it in a file or a notebook's cell")
    return _text(made.__func__)


def _tree(text: str) -> ast.AST:
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def _spans(node: ast.ClassDef, function: FunctionType) -> bool:
    return node.lineno <= function.__code__.co_firstlineno <= (node.end_lineno or node.lineno)


def _is_value(name: str, value: Any) -> bool:
    return not name.startswith("_") and not callable(value) and not isinstance(value, staticmethod | classmethod)
