"""Libraries that only some need."""

from __future__ import annotations

import importlib
from typing import Any


def load(name: str, purpose: str, extra: str | None = None) -> Any:
    """The module of a library, imported when it is needed.

    Parameters
    ----------
    name : str
        As `import` takes it.
    purpose : str
        What needs it, for the error.
    extra : str, optional
        That of btao that brings it.

    Raises
    ------
    ImportError
        If it is not installed; says what needs it and how it is installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        library = name.partition(".")[0]
        alternative = "" if extra is None else f", or btao[{extra}]"
        raise ImportError(
            f"{purpose} needs {library}, which is not installed: pip install {library}{alternative}"
        ) from error
