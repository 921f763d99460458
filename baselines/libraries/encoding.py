"""Categories as indices: libraries take True, 1 and 1.0 for one choice, or want an index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from btao import Categorical, Space


def encode_categories(space: Space, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration of `space` in which the index of its choice, from 0, stands for each category."""
    return {
        name: int(kind.to_unit(config[name]) * kind.size) if isinstance(kind, Categorical) else config[name]
        for name, kind in space.parameters.items()
    }
