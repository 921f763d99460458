"""Values as libraries search them: constants left out, an index in place of what they do not know or tell apart.

They take True, 1 and 1.0 for one choice, and have no ordinals or steps, or not on all scales.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from btao import Integer, Real, Space, When
from btao.parameters import Parameter


def varying(space: Space) -> dict[str, Parameter]:
    """The parameters that a library searches: those that are no constants."""
    return {name: kind for name, kind in space.parameters.items() if kind.size > 1}


def conditions(space: Space) -> dict[str, list[When]]:
    """The conditions of these parameters on one another; whether others hold is fixed, and read when a value is."""
    searched = varying(space)
    kept = {name: [when for when in space.conditions.get(name, ()) if when.parameter in searched] for name in searched}
    return {name: whens for name, whens in kept.items() if whens}


def is_plain(kind: Parameter) -> bool:
    """Whether a library searches the value itself, and not its index."""
    return kind.continuous or (isinstance(kind, Integer) and kind.step == 1)


def encode_value(kind: Parameter, value: Any) -> Any:
    """A value as a library has it: a number as it is, else an index, from 0."""
    return value if is_plain(kind) else kind.index(value)


def encode(space: Space, config: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a configuration that a library searches, in its values."""
    return {name: encode_value(kind, config[name]) for name, kind in varying(space).items() if name in config}


def decode_value(kind: Parameter, told: Any) -> Any:
    """The value that a library's number stands for: the nearest one, in the parameter's own type.

    The last digit of exp(log(high)), or a tie, may lie out of bounds.
    """
    if isinstance(kind, Real) and kind.continuous:
        return min(max(float(told), kind.low), kind.high)
    index = kind.index(round(told)) if is_plain(kind) else round(told)
    return kind.at(min(max(index, 0), kind.count - 1))
