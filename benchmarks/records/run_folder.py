"""The record of a run: a log of trials that survives being killed, and a description of the run.

    out/<task>/<method>-<hash>/seed-<n>/
        run.json      what was run, by what, where, and how it ended
        states/       what training continues from; removed at the end of the run
        trials.jsonl  one JSON object a line for every trial, in the order they were told
        error.txt     the traceback, if the run failed
        output.txt    what libraries printed and warned of, if they did

Each row goes to the operating system in one write, so kill -9 loses no trial that was recorded; a
power cut may lose the last ones, which a rerun repeats. JSON here is strict: what is not finite is null.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from benchmarks.records.trials import TRIALS, CorruptRecord

RUN = "run.json"
ERROR = "error.txt"
OUTPUT = "output.txt"  # what libraries printed while it ran, if anything
# The status of a run at its end: the budget is spent, or the method had nothing left to propose.
DONE = ("finished", "exhausted")


def write_run(folder: Path, run: dict[str, Any]) -> None:
    """Replace run.json as a whole; a reader sees the old or the new one.

    Raises
    ------
    OSError
        If it cannot be written; it names the path.
    """
    temporary = folder / (RUN + ".tmp")
    try:
        temporary.write_text(json.dumps(run, allow_nan=False, indent=2) + "\n")
        os.replace(temporary, folder / RUN)
    except OSError as error:
        raise OSError(error.errno, f"run not recorded: {error.strerror}", str(folder / RUN)) from error


def read_run(folder: Path) -> dict[str, Any] | None:
    """The contents of run.json, or None if there is none.

    Raises
    ------
    CorruptRecord
        If it is no JSON object.
    """
    path = folder / RUN
    try:
        run = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise CorruptRecord(f"{path} is not JSON: {error}. Move {folder} away to run it again") from None
    if not isinstance(run, dict):
        raise CorruptRecord(f"{path} holds no JSON object. Move {folder} away to run it again")
    return run


def starts_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The starts of a run by the contents of its run.json, in their order; the last is described by the run itself."""
    return [*run.get("earlier", []), run]


def is_done(folder: Path) -> bool:
    """Whether the run in a folder is at its end, with all its trials still on file.

    Raises
    ------
    CorruptRecord
        If run.json is no JSON object.
    """
    run = read_run(folder) or {}
    if run.get("status") not in DONE:
        return False
    try:
        return (folder / TRIALS).read_bytes().count(b"\n") == run.get("n_trials")
    except FileNotFoundError:
        return False


def held(folder: Path) -> bool:
    """Whether a process works on the run in a folder.

    The log is locked for an instant to learn it, so a process that opens it in that instant is refused.

    Raises
    ------
    OSError
        If that cannot be known, as on a file system without locks.
    """
    try:
        with open(folder / TRIALS, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
