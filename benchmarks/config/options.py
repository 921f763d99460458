"""Values of options: checked one by one, with an error that says what would be right."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeGuard

from benchmarks.common.errors import UsageError

SCALES = ("smoke", "laptop", "paper")  # in ascending order
CHOICES = {
    "scale": SCALES,
    "source": ("live", "table"),
    "data": ("auto", "mnist", "cifar10"),
    "engine": ("local", "dask"),
    "display": ("auto", "live", "plain"),
    "rerun": ("none", "changed", "failed", "all"),
}


def given(arguments: Iterable[str], known: Mapping[str, str]) -> dict[str, str]:
    """The values of arguments of the form option=value.

    Parameters
    ----------
    known : mapping
        What each option that there is takes, as "a folder".

    Raises
    ------
    UsageError
        If an argument has another form, the option is unknown, or the value is empty.
    """
    values = {}
    for argument in arguments:
        name, is_option, value = argument.lstrip("+").partition("=")
        if not is_option:
            raise UsageError(f"{argument!r} is not of the form option=value; --help lists the options")
        if name not in known:
            raise UsageError(unknown("option", name, known))
        if not value:
            raise UsageError(f"{name}=: give {known[name]}")
        values[name] = value
    return values


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """A message for a name that does not exist, with the nearest one that does."""
    names = list(known)
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if nearest:
        return f"unknown {kind} {name!r}: did you mean {nearest[0]!r}?"
    return f"unknown {kind} {name!r}: " + ("see --help" if len(names) > 12 else f"choose one of {', '.join(names)}")


def seeds(value: object) -> tuple[int, ...]:
    """The seeds that `seeds=` names: a number n means 0 to n - 1, a list means itself.

    Raises
    ------
    UsageError
        Not an integer of at least 1, and not a list of distinct integers from 0 to 2**63 - 1.
    """
    if _is_integer(value) and value >= 1:
        return tuple(range(value))
    listed = value if isinstance(value, list) else []
    if listed and all(_is_integer(seed) and 0 <= seed < 2**63 for seed in listed) and len({*listed}) == len(listed):
        return tuple(listed)
    raise UsageError(
        f"seeds={text(value)}: give a number of seeds of at least 1 (seeds=10), "
        "or a list of different seeds from 0 to 2**63 - 1 (seeds=[3,7])"
    )


def choice(option: str, value: object) -> str:
    """One of the values in `CHOICES`; UsageError with the nearest one otherwise."""
    if value not in CHOICES[option]:
        raise UsageError(unknown(option, text(value), CHOICES[option]))
    return value


def count(option: str, value: object) -> int:
    """An integer of at least 1; UsageError otherwise."""
    if not _is_integer(value) or value < 1:
        raise UsageError(f"{option}={text(value)}: give an integer of at least 1")
    return value


def number(value: str) -> int | str:
    """An integer that is written in digits; any other text as it is, for `count` to refuse."""
    return int(value) if value.isdecimal() else value


def flag(option: str, value: object) -> bool:
    """True or False; UsageError otherwise."""
    if not isinstance(value, bool):
        raise UsageError(f"{option}={text(value)}: give true or false")
    return value


def duration(option: str, value: object) -> float:
    """A finite number of seconds above 0; UsageError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise UsageError(f"{option}={text(value)}: give a number of seconds above 0")
    return float(value)


BUDGET = {"heavy": count, "iterations": count, "seconds": duration, "train_seconds": duration}  # what checks each limit


def alike(option: str, value: object, default: object) -> None:
    """Refuse a parameter that is not of its default's kind; any will do where the default is null.

    The class that takes it checks the rest, and `Spec.check` whether it takes null.

    Raises
    ------
    UsageError
        Naming the option and the kind.
    """
    if value is None:
        return
    for kind, right in ((bool, "true or false"), (int | float, "a number"), (str, "a text"), (list, "a list")):
        if isinstance(default, kind):
            if not isinstance(value, kind) or isinstance(value, bool) != isinstance(default, bool):
                raise UsageError(f"{option}={text(value)}: give {right}, as in {option}={text(default)}")
            return


def value_of(words: Iterable[str], option: str) -> str | None:
    """What the words of a command line give an option, None if nothing; the last one counts."""
    values = [value for name, _, value in (word.lstrip("+").partition("=") for word in words) if name == option]
    return values[-1] if values else None


def with_values(words: Iterable[str], given: Mapping[str, str]) -> list[str]:
    """The words of a command line with these values of options, in place of what it says of them."""
    return [*without(words, *given), *(f"{name}={value}" for name, value in given.items())]


def without(words: Iterable[str], *names: str) -> list[str]:
    """The words of a command line less what it says of these options."""
    return [word for word in words if word.lstrip("+").partition("=")[0] not in names]


def make_folder(option: str, folder: Path) -> None:
    """Make the folder that an option names, unless it is there; UsageError where there can be none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option}={folder}: no folder can be made there ({error.strerror})") from error


def text(value: object) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, list):
        return f"[{','.join(map(text, value))}]"
    return "null" if value is None else str(value)


def _is_integer(value: object) -> TypeGuard[int]:
    # Not `btao.checks.is_integer`, which would load NumPy for every --help.
    return isinstance(value, int) and not isinstance(value, bool)
