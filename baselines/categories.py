"""Categories by number: libraries take True, 1 and 1.0 for one choice, or want an index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from btao import Categorical, Space


def numbered(space: Space, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration of `space` with its categories as numbers of their choices, from 0."""
    return {
        name: int(kind.to_unit(config[name]) * kind.size) if isinstance(kind, Categorical) else config[name]
        for name, kind in space.parameters.items()
    }
