"""Trials in which a worker was killed, as the kernel does where memory runs out.

Such a trial is tried once more, as the memory may have been another program's; then it has failed,
and the run goes on. What kills the worker again even so, the method itself say, ends the run.
"""

from __future__ import annotations

import json
from pathlib import Path

FILE = "killed.json"  # in the folder of a run
TRIES = 2


def note(folder: Path, trial: int) -> int:
    """Count one more time that a worker was killed in a trial; how often that was in all.

    Raises
    ------
    OSError
        If the count cannot be kept.
    """
    times = count(folder, trial) + 1
    temporary = folder / f"{FILE}.tmp"
    temporary.write_text(json.dumps({"trial": trial, "times": times}))
    temporary.replace(folder / FILE)
    return times


def count(folder: Path, trial: int) -> int:
    """How often a worker was killed in a trial of a run; known for the last such trial only."""
    try:
        noted = json.loads((folder / FILE).read_text())
        return noted["times"] if noted["trial"] == trial else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0
