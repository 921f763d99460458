"""The log of a run: one JSON object a line for every trial, in the order they were told.

Each row goes to the operating system in one write, so kill -9 loses no trial that was recorded; a
power cut may lose the last ones, which a rerun repeats. JSON here is strict: what is not finite is null.
"""

from __future__ import annotations

import dataclasses
import fcntl
import functools
import io
import json
import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from baselines.protocol import Measurement
from benchmarks.records import fields
from btao.checks import check_integer, is_number
from btao.trial import is_result

TRIALS = "trials.jsonl"


class CorruptRecord(ValueError):
    """A record that cannot have been written by this module: edited, mixed or damaged."""


class RunLocked(RuntimeError):
    """Another process is working on this run."""


@dataclass(frozen=True)
class Row:
    """One trial.

    Attributes
    ----------
    trial : int
        The number its method gave it.
    heavy : bool
    budget : int
        Iterations granted.
    config : dict
    value : float or None
        What was measured, to be minimized; None if the trial failed.
    status : str
        "ok" or "failed".
    error : str or None
        Why it failed.
    iterations : int
        Iterations consumed.
    train_seconds, method_seconds : float
        Seconds in the evaluation (recorded ones where a table is replayed), and in the method's ask and
        tell of this trial, its recommendation included.
    time : float
        `train_seconds` + `method_seconds` of this row and all before it.
    truth : float or None
        Noiseless heavy value of `config`, where the trial succeeded and the task knows it.
    curve : dict or None
        What this trial added to its configuration's training curve, where the task has one:
        "start", the iterations trained before it, and the lists "validation_errors",
        "training_errors" and "test_errors" (None where training diverged, or where it is not known),
        "seconds" and "processor_seconds", an item an iteration. Records of before there were test errors
        have none.
    processor_seconds : float or None
        Seconds of the processor in the evaluation, summed over threads.
    answer : dict or None
        Of a replayed trial: the number of the recorded configuration that answered it
        ("configuration"), and how far it is from `config` in the unit cube ("distance").
    recommended : int or None
        The number of the heavy trial that the method would recommend after this one, where it says so.
    test_error : float or None
        Of what `value` was measured on, where the trial succeeded and the task has test images; for reports alone.
    cached : bool or None
        True where an earlier training answered, whose seconds these are: see `benchmarks.running.cache`.

    Raises
    ------
    ValueError
        If a value is of another kind, naming the field. Numbers, NumPy's too, become plain ones.
    """

    trial: int
    heavy: bool
    budget: int
    config: dict[str, Any]
    value: float | None
    status: str
    error: str | None
    iterations: int
    train_seconds: float
    method_seconds: float
    time: float
    truth: float | None
    curve: dict[str, Any] | None = None
    processor_seconds: float | None = None
    answer: dict[str, Any] | None = None
    recommended: int | None = None
    test_error: float | None = None
    cached: bool | None = None

    def __post_init__(self) -> None:
        for name, cast in CASTS.items():
            value = getattr(self, name)
            if value is not None or name not in NULLABLE:
                object.__setattr__(self, name, cast(name, value))
        if self.status not in ("ok", "failed"):
            raise ValueError(f"status must be 'ok' or 'failed', got {self.status!r}")

    @property
    def measurement(self) -> Measurement:
        """What the method was told."""
        return Measurement(math.nan if self.value is None else self.value, self.error, float(self.iterations))


def _curve(name: str, value: object) -> dict[str, Any]:
    """A curve: lists of numbers or None, an item an iteration, and the number of iterations trained before."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a mapping, got {value!r}")
    check_integer(f"{name}.start", value.get("start"), least=0)
    lists = {key: items for key, items in value.items() if key != "start"}
    for key, items in lists.items():
        if not isinstance(items, list) or not all(item is None or is_number(item) for item in items):
            raise ValueError(f"{name}.{key} must be a list of numbers, got {items!r}")
    lengths = {key: len(items) for key, items in lists.items()}
    if len({*lengths.values()}) != 1:
        raise ValueError(f"the lists of {name} must be equally long, got {lengths}")
    return value


CASTS: dict[str, Callable[[str, object], Any]] = {
    **dict.fromkeys(("trial", "iterations", "recommended"), functools.partial(check_integer, least=0)),
    **dict.fromkeys(("train_seconds", "method_seconds", "time", "value", "truth"), fields.number),
    **dict.fromkeys(("processor_seconds", "test_error"), fields.number),
    "config": fields.configuration,
    "answer": fields.answer,
    **dict.fromkeys(("status", "error"), fields.text),
    **dict.fromkeys(("heavy", "cached"), fields.flag),
    "budget": check_integer,
    "curve": _curve,
}
NULLABLE = ("value", "error", "truth", "curve", "processor_seconds", "answer", "recommended", "test_error", "cached")
FIELDS = tuple(field.name for field in dataclasses.fields(Row))
OPTIONAL = tuple(field.name for field in dataclasses.fields(Row) if field.default is None)  # left out if None


class TrialLog:
    """The log of one run, held by one process at a time.

    Opening creates the folder, locks the log and reads it; a torn last line, left by a process that
    was killed in the middle of a write, is cut off. The kernel gives the lock back however the
    process ends.

    Parameters
    ----------
    folder : Path
        The folder of the run.

    Attributes
    ----------
    path : Path
    rows : list of Row
        What was on file when the log was opened.
    n_rows : int
        How many are on file now.

    Raises
    ------
    RunLocked
        If another process holds the log.
    CorruptRecord
        If the log is damaged other than at its end.
    OSError
        If the folder cannot be made or the log not be opened; it names the path.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / TRIALS
        folder.mkdir(parents=True, exist_ok=True)
        self._file = lock_run(folder)
        try:
            self.rows, self._end = _read_rows(self.path)
            self._file.truncate(self._end)  # a torn last line goes
            self.n_rows = len(self.rows)
        except BaseException:
            self._file.close()
            raise

    def append(self, row: Row) -> None:
        """Write one row through to the operating system.

        Raises
        ------
        OSError
            If it could not be written in full (a full disk); it names the path and the trial. The
            log then still ends with a whole line.
        """
        values = {name: value for name, value in vars(row).items() if name not in OPTIONAL or value is not None}
        line = (json.dumps(values, allow_nan=False) + "\n").encode()
        try:
            written = self._file.write(line)
            while written < len(line):  # the disk is nearly full, and the next write says so
                written += self._file.write(line[written:])
        except OSError as error:
            self._file.truncate(self._end)
            raise OSError(error.errno, f"trial {row.trial} not recorded: {error.strerror}", str(self.path)) from error
        self._end += len(line)
        self.n_rows += 1

    def sync(self) -> None:
        """Write all rows through to the disk itself."""
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()


def lock_run(folder: Path) -> io.FileIO:
    """Open the log of a run and hold it until the file is closed; the folder must be there.

    Raises
    ------
    RunLocked
        If another process holds it, or moved it aside in this instant.
    OSError
        If it cannot be opened or locked; it names the path.
    """
    path = folder / TRIALS
    file = open(path, "ab", buffering=0)  # noqa: SIM115 (the caller closes it)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError as error:  # a file system without locks
        file.close()
        raise OSError(error.errno, f"cannot lock: {error.strerror}", str(path)) from error
    file.close()
    raise RunLocked(f"another process is working on {folder}: let it finish or end it, or choose another out=")


def read_rows(folder: Path) -> list[Row]:
    """The trials on record in the folder of a run, none if there is no such run; CorruptRecord if they are damaged."""
    path = folder / TRIALS
    return _read_rows(path)[0] if path.exists() else []


def has_result(folder: Path, train_budget: float) -> bool:
    """Whether a heavy trial of a run succeeded within so many seconds of training; it is read up to the first.

    Raises
    ------
    CorruptRecord
        If a row before is damaged.
    """
    path, trained = folder / TRIALS, 0.0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            row = _parse(line, path, number)
            trained += row.train_seconds
            if trained > train_budget:
                return False
            if row.heavy and row.status == "ok" and row.value is not None and is_result(row.value):
                return True
    return False


def _read_rows(path: Path) -> tuple[list[Row], int]:
    """The rows of a log and the number of bytes they take; what follows them is a torn line."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        warnings.warn(f"{path}: dropped the last line, which was not written to its end", stacklevel=3)
    lines = content[:end].split(b"\n")[:-1]
    return [_parse(line, path, number) for number, line in enumerate(lines, start=1)], end


def _parse(line: bytes, path: Path, number: int) -> Row:
    try:
        values = json.loads(line)
    except ValueError as error:
        reason = f"is not JSON ({error})"
    else:
        reason = f"is no object with the fields {', '.join(name for name in FIELDS if name not in OPTIONAL)}"
        if isinstance(values, dict) and set(values) | set(OPTIONAL) == set(FIELDS):
            try:
                return Row(**values)
            except ValueError as error:
                reason = f"is no trial ({error})"
    raise CorruptRecord(f"{path}, line {number} {reason}: the file is damaged. Move its folder away to run it again")
