"""Categories and ordered values as indices: libraries take True, 1 and 1.0 for one choice, or know no such kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from btao import Categorical, Ordinal, Space


def encode(space: Space, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration of `space` in which an index, from 0, stands for each category and each ordered value."""
    return {
        name: kind.index(config[name]) if isinstance(kind, Ordinal | Categorical) else config[name]
        for name, kind in space.parameters.items()
    }
