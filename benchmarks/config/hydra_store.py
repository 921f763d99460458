"""Additions in Hydra's own store, beside the files of `conf/` that it finds itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.config.additions import Key


@contextlib.contextmanager
def named(additions: Iterable[Key]) -> Iterator[None]:
    """Have Hydra know the names of additions in the block, for patterns such as task=glob(*), and none afterwards."""
    from hydra.core.config_store import ConfigStore  # slow

    store = ConfigStore.instance()
    before = store.repo
    store.repo = before | {group: dict(before.get(group, {})) for group in ("task", "method")}
    try:
        for key in additions:
            put(key, {})
        yield
    finally:
        store.repo = before


def put(key: Key, document: dict[str, Any]) -> None:
    """Give Hydra what the file of an addition would hold."""
    from hydra.core.config_store import ConfigStore  # slow

    group, name = key
    ConfigStore.instance().store(name, document, group, "task" if group == "task" else f"methods.{name}")
