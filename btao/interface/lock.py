"""A lock that may be pickled and copied with what it guards."""

from __future__ import annotations

import threading
from typing import Any


class Lock:
    """A reentrant lock of one object: of a copy it is another one, which nobody holds."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[Any, ...]]:
        return Lock, ()
