"""Categories and ordered values as indices: libraries take True, 1 and 1.0 for one choice, or know no such kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from btao import Categorical, Ordinal, Space
from btao.parameters import Parameter


def encode(space: Space, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration of `space` in which an index, from 0, stands for each category and each ordered value."""
    return {name: encode_value(space.parameters[name], value) for name, value in config.items()}


def encode_value(parameter: Parameter, value: Any) -> Any:
    """The index of a category or an ordered value; any other value as it is."""
    return parameter.index(value) if isinstance(parameter, Ordinal | Categorical) else value
