"""Values as a record holds them: each checked and cast to a plain one, or a ValueError that names it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, SupportsFloat

import numpy as np

from btao.checks import check_integer, is_number
from btao.parameters import with_tuples


def number(name: str, value: object) -> float:
    """A finite number as a float."""
    cast = real(name, value)
    if not math.isfinite(cast):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return cast


def real(name: str, value: object) -> float:
    """A number, nan and infinity included, as a float; what holds one, as a tensor without axes does, too."""
    if isinstance(value, SupportsFloat) and not isinstance(value, bool | np.bool_):
        try:
            return float(value)
        except OverflowError:  # an integer beyond a float is a failure, as it is to btao
            return math.inf if value > 0 else -math.inf  # type: ignore[operator]
        except (TypeError, ValueError):  # of several numbers
            pass
    raise ValueError(f"{name} must be a number, got {value!r}")


def flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def text(name: str, value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, got {value!r}")
    return str(value)


def mapping(name: str, value: object) -> dict[str, Any]:
    """Names with values that strict JSON can hold, copied."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{name} must be a mapping of names, got {value!r}")
    return {str(key): _plain(f"{name}.{key}", item) for key, item in value.items()}


def configuration(name: str, value: object) -> dict[str, Any]:
    """A configuration as a space has it: as `mapping`, with tuples for the lists that JSON makes of them."""
    return {key: with_tuples(item) for key, item in mapping(name, value).items()}


def answer(name: str, value: object) -> dict[str, Any]:
    """Which configuration of a recorded table answered, and its distance in the unit cube."""
    held = mapping(name, value)
    if held.keys() != {"configuration", "distance"}:
        raise ValueError(f"{name} must hold configuration and distance, got {value!r}")
    distance = number(f"{name}.distance", held["distance"])
    if distance < 0:
        raise ValueError(f"{name}.distance must not be below 0, got {distance!r}")
    return {"configuration": check_integer(f"{name}.configuration", held["configuration"], 0), "distance": distance}


def seconds(name: str, value: object) -> float:
    """A finite time that is not negative."""
    cast = number(name, value)
    if cast < 0:
        raise ValueError(f"{name} must not be below 0, got {value!r}")
    return cast


def _plain(name: str, value: object) -> Any:
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return mapping(name, value)
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    if value is None or isinstance(value, bool | str) or (is_number(value) and math.isfinite(value)):
        return value
    raise ValueError(f"{name} must be a finite number, a text, True, False or None, got {value!r}")
