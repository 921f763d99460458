"""Libraries that only some need."""

from __future__ import annotations

import importlib
from types import ModuleType


def load(name: str, purpose: str, extra: str = "plots") -> ModuleType:
    """A library by its name, or ImportError that says what it is for and how it is installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        library = name.partition(".")[0]
        raise ImportError(f"{purpose} needs {library}: pip install {library}, or btao[{extra}]") from error
