"""The keywords of `benchmarks.study.run` as the words of the command `benchmarks.run`, and the classes behind them."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.common.errors import UsageError
from benchmarks.config.additions import Addition, Key
from benchmarks.config.classes import document_of
from benchmarks.config.code import capture, target
from benchmarks.config.request import PATHS, whole_paths
from benchmarks.records.command import RUN_MODULE, STUDY_MODULE, Command, Job
from benchmarks.studies.functions import method as method_of

WORDS = {"address": "engine.address"}  # where a keyword has another name than the option
PLAIN = re.compile(r"[A-Za-z_][\w./:-]*", flags=re.ASCII)  # what needs no quotes
MISSING = "???"  # to OmegaConf
MAPPINGS = {"budget": " as {'heavy': 20}", "parameters": " of methods to their parameters"}  # what they are of
NO_TEXTS = ("null", "true", "false", "inf", "nan")  # to Hydra, unless in quotes


@dataclass(frozen=True)
class Keywords:
    """What a call asks for.

    Attributes
    ----------
    words : tuple of str
        The arguments of the command that asks for the same.
    additions : dict
        By group and name: the tasks and methods that are classes.
    call : tuple of str
        The keywords as they are written in Python.
    """

    words: tuple[str, ...]
    additions: dict[Key, Addition]
    call: tuple[str, ...]

    def command(self, job: Job, words: Sequence[str]) -> Command:
        """The command for the record: these words of a shell, or the call where a shell has no name for a class."""
        if self.additions:
            return Command(STUDY_MODULE, self.call, (job,))
        return Command(RUN_MODULE, tuple(words), (job,))


def keywords(
    task: Any,
    methods: Any,
    *,
    budget: Mapping[str, float] | None,
    parameters: Mapping[str, Mapping[str, Any]] | None,
    task_parameters: Mapping[str, Any] | None,
    **options: Any,
) -> Keywords:
    """What a call asks for; options that are None are left to their defaults.

    Raises
    ------
    UsageError
        If the task or a method is neither a name nor a class nor a function, two have one name, or a value cannot be
        written on a command line.
    """
    additions: dict[Key, Addition] = {}
    name, place = _named("task", task, additions)
    words, call = [f"task={name}"], [f"task={place}"]
    if methods is not None:
        listed = list(methods) if isinstance(methods, list | tuple) else [methods]
        if not listed:
            raise UsageError("methods=[]: give one or more")
        named = [_named("method", each, additions) for each in listed]
        words.append(f"method=[{','.join(name for name, _ in named)}]")
        call.append(f"methods=[{', '.join(place for _, place in named)}]")
    written = {option: _as_written(option, value) for option, value in options.items()}
    given: dict[str, Any] = {"budget": budget, "parameters": parameters, "task_parameters": task_parameters, **written}
    given |= whole_paths({option: value for option, value in written.items() if isinstance(value, str)})
    # What was made anew once goes on, and is not made anew again.
    call += [f"{keyword}={value!r}" for keyword, value in given.items() if value is not None and keyword != "rerun"]
    words += _overrides("budget", budget)
    for of, values in _items("parameters", parameters):
        words += _overrides(f"methods.{of}", values)
    words += _overrides("task.parameters", task_parameters)
    for option, value in options.items():
        if value is not None:
            value = _as_written(option, value)
            words.append(f"{WORDS.get(option, option)}={value if option in PATHS else _text(option, value)}")
    return Keywords(tuple(words), additions, tuple(call))


def _named(group: str, given: Any, additions: dict[Key, Addition]) -> tuple[str, str]:
    """The name of a task or a method, on a command line and in Python; a class is put among the additions."""
    if isinstance(given, str):
        return given, repr(given)
    if inspect.isfunction(given):
        if group == "task":
            raise UsageError(
                f"task={given.__name__}: say its space and levels with @study.task(space, light=5, heavy=50)"
            )
        given = method_of(given)
    if not isinstance(given, type):
        kinds = "a name, a class or a function"
        raise UsageError(f"{group}={given!r}: give {kinds if group == 'method' else 'a name or a class'}")
    name = given.__name__
    if not name.isidentifier():  # as that of a lambda
        raise UsageError(f"{group}={name}: runs are recorded by its name; let def or class give it one")
    if (group, name) in additions:
        raise UsageError(f"method {name} is there twice: give classes of different names")
    code, place = capture(given), target(given)
    document = document_of(group, name, given, place)
    additions[group, name] = Addition(f"the class {place}", lambda: document, code)
    return name, name


def _as_written(option: str, value: Any) -> Any:
    """A value as a keyword has it: ranges as lists, paths as texts."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return list(value) if isinstance(value, range | tuple) else value


def _items(name: str, values: Any) -> Iterable[tuple[str, Any]]:
    """The items of a mapping, or none where it is None; UsageError if it is something else."""
    if values is None:
        return ()
    if not isinstance(values, Mapping):
        raise UsageError(f"{name}={values!r}: give a mapping{MAPPINGS.get(name, '')}")
    return values.items()


def _overrides(prefix: str, values: Mapping[str, Any] | None) -> Iterator[str]:
    for name, value in _items(prefix, values):
        yield f"{prefix}.{name}={_text(f'{prefix}.{name}', value)}"


def _text(option: str, value: Any) -> str:
    """A value as Hydra reads it on a command line; UsageError for one that cannot be written there."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quoted(option, value)
    if isinstance(value, list | tuple):
        return f"[{','.join(_text(option, each) for each in value)}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{_key(option, key)}:{_text(option, each)}' for key, each in value.items())}}}"
    raise UsageError(f"{option}={value!r}: give a number, a text, True, False, None, a list or a mapping")


def _quoted(option: str, text: str) -> str:
    """A text as Hydra reads it; UsageError for the one that OmegaConf takes for a missing value."""
    if text == MISSING:
        raise UsageError(f"{option}={text!r}: give another text, as this one stands for a missing value")
    if re.fullmatch(PLAIN, text) and text.lower() not in NO_TEXTS:
        return text
    # OmegaConf takes a backslash before ${ from it, and halves those before that.
    text = re.sub(r"(\\*)\$\{", r"\1\1\\${", text)
    # Hydra halves backslashes before a quote, the closing one too, and no others.
    text = re.sub(r"(\\+)(?='|\Z)", r"\1\1", text).replace("'", r"\'")
    return f"'{text}'"


def _key(option: str, key: object) -> str:
    """A key of a mapping as Hydra reads it, where quotes are not known; UsageError for one that it would not."""
    if not isinstance(key, str) or not re.fullmatch(r"[A-Za-z_][\w-]*", key, flags=re.ASCII) or key.lower() in NO_TEXTS:
        raise UsageError(f"{option}: the key {key!r} cannot be given; let it be a word of letters, digits, '_' and '-'")
    return key
