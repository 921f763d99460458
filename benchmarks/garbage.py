"""Python's search for garbage, put off while there is none to be found."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_search() -> Iterator[None]:
    """Do not search for garbage here: a sixth of the time that large libraries take to be imported goes to it.

    What is imported stays, so all of that search is in vain. Afterwards it is on or off as before.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
