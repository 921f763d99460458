"""Libraries that only a conversion needs."""

from __future__ import annotations

import importlib
from typing import Any


def needed(library: str) -> Any:
    """The module of a library; ImportError with what installs it where it is not there."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ImportError(f"this conversion needs {library}, which is not installed: pip install {library}") from error
