"""Checks of arguments: whether a value is an integer or a number, and an error that names the argument where not."""

from __future__ import annotations

from typing import TypeGuard, overload

import numpy as np

# Larger values are refused: their squares would leave the range of double precision.
LARGEST_VALUE = 1e100


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer, NumPy's included; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, NumPy's, nan and infinity included; True and False are none."""
    return is_integer(value) or isinstance(value, float | np.floating)


@overload
def check_integer(name: str, value: object, least: int = 1) -> int: ...


@overload
def check_integer(name: str, value: object, least: int = 1, *, none: str) -> int | None: ...


def check_integer(name: str, value: object, least: int = 1, *, none: str = "") -> int | None:
    """An integer of at least `least` as a Python int, or None where that is allowed.

    Parameters
    ----------
    name : str
        Of the argument, for the error.
    value : object
    least : int
    none : str
        What the error calls None: "None", or "null" for an argument that a YAML file gives. None is
        allowed only where it has a name.

    Raises
    ------
    ValueError
        If the value is something else.
    """
    if none and value is None:
        return None
    if not is_integer(value) or value < least:
        raise ValueError(f"{name} must be {f'{none} or ' if none else ''}an integer of at least {least}, got {value!r}")
    return int(value)
