"""The Python that runs, for commands to copy."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def interpreter() -> str:
    """This Python, from here where that is below this folder."""
    path = Path(sys.executable)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def run_module(module: str, *arguments: str) -> str:
    """A command line that runs a module with this Python."""
    return shlex.join([interpreter(), "-m", module, *arguments])
