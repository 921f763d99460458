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

import dataclasses
import fcntl
import json
import math
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from baselines.protocol import Measurement

if TYPE_CHECKING:
    import pandas

TRIALS = "trials.jsonl"
RUN = "run.json"
ERROR = "error.txt"

# The status of a run at its end: the budget is spent, or the method had nothing left to propose.
DONE = ("finished", "exhausted")


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
        "start", the iterations trained before it, and the lists "validation_errors" and
        "training_errors" (None where training diverged), "seconds" and "processor_seconds", an item
        an iteration.
    processor_seconds : float or None
        Seconds of the processor in the evaluation, summed over threads.
    answer : dict or None
        Of a replayed trial: the number of the recorded configuration that answered it
        ("configuration"), and how far it is from `config` in the unit cube ("distance").
    recommended : int or None
        The number of the heavy trial that the method would recommend after this one, where it says so.
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

    @property
    def measurement(self) -> Measurement:
        """What the method was told."""
        return Measurement(math.nan if self.value is None else self.value, self.error)


FIELDS = tuple(field.name for field in dataclasses.fields(Row))
OPTIONAL = tuple(field.name for field in dataclasses.fields(Row) if field.default is None)  # left out if None

# The columns of `load` but for those of the configuration, which go before `value`.
COLUMN_TYPES = {
    "task": "str",
    "method": "str",
    "seed": "int64",
    "hash": "str",
    "parameters": "str",
    "data": "str",
    "optimum": "float64",
    "trial": "int64",
    "heavy": "bool",
    "budget": "int64",
    "value": "float64",
    "status": "str",
    "error": "str",
    "iterations": "int64",
    "train_seconds": "float64",
    "method_seconds": "float64",
    "time": "float64",
    "truth": "float64",
    "recommended": "Int64",
}

CURVE_LISTS = ("validation_errors", "training_errors", "seconds", "processor_seconds")
CURVE_HEAD = ("task", "method", "seed", "hash", "data")
CURVE_COLUMN_TYPES = {
    **{name: COLUMN_TYPES[name] for name in (*CURVE_HEAD, "trial")},
    "iteration": "int64",
    "validation_error": "float64",
    "training_error": "float64",
    "seconds": "float64",
    "processor_seconds": "float64",
}


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
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 (closed by __exit__)
        try:
            self._lock(folder)
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
            raise OSError(
                error.errno,
                f"trial {row.trial} not recorded: {error.strerror}",
                str(self.path),
            ) from error
        self._end += len(line)
        self.n_rows += 1

    def sync(self) -> None:
        """Write all rows through to the disk itself."""
        os.fsync(self._file.fileno())

    def _lock(self, folder: Path) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunLocked(
                f"another process is working on {folder}: let it finish or end it, or choose another out="
            ) from None
        except OSError as error:  # a file system without locks
            raise OSError(error.errno, f"cannot lock: {error.strerror}", str(self.path)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


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


def rows_of(folder: Path) -> list[Row]:
    """The trials on record in the folder of a run, none if there is no such run; CorruptRecord if they are damaged."""
    path = folder / TRIALS
    return _read_rows(path)[0] if path.exists() else []


def _read_rows(path: Path) -> tuple[list[Row], int]:
    """The rows of a log and the number of bytes they take; what follows them is a torn line."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        warnings.warn(
            f"{path}: dropped the last line, which was not written to its end",
            stacklevel=3,
        )
    lines = content[:end].split(b"\n")[:-1]
    return [_parse(line, path, number) for number, line in enumerate(lines, start=1)], end


def _parse(line: bytes, path: Path, number: int) -> Row:
    try:
        values = json.loads(line)
    except ValueError as error:
        reason = f"is not JSON ({error})"
    else:
        if isinstance(values, dict) and set(values) | set(OPTIONAL) == set(FIELDS):
            return Row(**values)
        reason = f"is no object with the fields {', '.join(name for name in FIELDS if name not in OPTIONAL)}"
    raise CorruptRecord(f"{path}, line {number} {reason}: the file is damaged. Move its folder away to run it again")


def load(out: str | Path) -> pandas.DataFrame:
    """All trials recorded below a folder, finished or running.

    Parameters
    ----------
    out : path
        The folder that was given as `out=`, or one of a task, a method or a run in it.

    Returns
    -------
    DataFrame
        One row a trial, sorted by task, method, hash and seed, then in the order of the record.
        Columns: task, method, seed, hash, parameters (the method's, resolved, as JSON; missing if
        its run.json does not say), data (name of the data set used; missing if the task has
        none), optimum (minimized; nan if unknown), then those of `Row` that every row has,
        with `config` as one column config.<name> a parameter and None as nan, and `recommended`,
        missing where the method does not say. If any trial was answered by a recorded table, also
        `answer` (number of the recorded configuration) and `distance` (to it, in the unit cube).

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    CorruptRecord
        If a record is damaged. A torn last line is dropped with a warning.
    """
    import pandas

    runs = _load_runs(Path(out))
    rows = [head | vars(row) for head, rows in runs for row in rows]
    trials = pandas.DataFrame(rows, columns=list(COLUMN_TYPES)).astype(COLUMN_TYPES)
    answers = [row["answer"] or {} for row in rows]
    if any(answers):
        trials["answer"] = pandas.array([answer.get("configuration") for answer in answers], "Int64")
        trials["distance"] = pandas.array([answer.get("distance") for answer in answers], "float64")
    return _with_configs(trials, [row["config"] for row in rows], before="value")


def load_curves(out: str | Path) -> pandas.DataFrame:
    """The training curves recorded below a folder, iteration by iteration, whatever level stopped them.

    A configuration that was trained in several trials of a run has one curve, in the order of its
    iterations: with `Level.stop` and `Level.measure` any other stopping rule can be studied on it.
    Where `resume_training=False`, every trial has a curve of its own, from iteration 1: group by trial.

    Parameters
    ----------
    out : path
        As for `load`.

    Returns
    -------
    DataFrame
        Columns: task, method, seed, hash, data, trial, one column config.<name> a parameter,
        iteration (from 1), validation_error and training_error (shares of wrong answers; nan where
        training diverged), seconds and processor_seconds (real ones of this iteration; those of the
        processor are summed over threads). Empty if no task had curves.

    Raises
    ------
    FileNotFoundError, CorruptRecord
        As `load` does.
    """
    import pandas

    rows, configs = [], []
    for head, trials in _load_runs(Path(out)):
        for row in trials:
            if row.curve is None:
                continue
            columns = (row.curve[name] for name in CURVE_LISTS)
            for iteration, values in enumerate(zip(*columns, strict=True), start=row.curve["start"] + 1):
                rows.append([*(head[name] for name in CURVE_HEAD), row.trial, iteration, *values])
                configs.append(row.config)
    curves = pandas.DataFrame(rows, columns=list(CURVE_COLUMN_TYPES)).astype(CURVE_COLUMN_TYPES)
    return _with_configs(curves, configs, before="iteration")


def _with_configs(frame: pandas.DataFrame, configs: list[dict[str, Any]], before: str) -> pandas.DataFrame:
    """`frame` with a column config.<name> for every parameter, put before one of its own."""
    import pandas

    named = [{f"config.{name}": value for name, value in config.items()} for config in configs]
    at = frame.columns.get_loc(before)
    return pandas.concat([frame.iloc[:, :at], pandas.DataFrame(named, index=frame.index), frame.iloc[:, at:]], axis=1)


def _load_runs(out: Path) -> list[tuple[dict[str, Any], list[Row]]]:
    """What is common to all trials of a run, and its rows, for every run below a folder."""
    if not out.is_dir():
        raise FileNotFoundError(f"no folder of records at {out}: give the one that was given as out= to the run")
    runs: dict[tuple[Any, ...], tuple[Path, dict[str, Any], list[Row]]] = {}
    for path in sorted(out.rglob(TRIALS)):
        folder = path.parent
        rows, _ = _read_rows(path)
        run = read_run(folder)
        if run is None and not rows:
            continue  # just starting
        head = _head(run, folder)
        key = (head["task"], head["method"], head["hash"], head["seed"])
        if key in runs:
            raise ValueError(f"{folder} and {runs[key][0]} record the same run: move one of them away")
        runs[key] = (folder, head, rows)
    return [(head, rows) for _, (_, head, rows) in sorted(runs.items(), key=lambda item: item[0])]


def _head(run: dict[str, Any] | None, folder: Path) -> dict[str, Any]:
    if run is None:
        raise CorruptRecord(f"{folder} has trials, but no {RUN} to say of what")
    try:
        head = {name: run[name] for name in ("task", "method", "seed", "hash", "optimum")}
        return head | {"data": run["data"] and run["data"]["name"], "parameters": _parameters(run)}
    except KeyError as error:
        raise CorruptRecord(f"{folder / RUN} lacks {error}: it describes no run") from None


def _parameters(run: dict[str, Any]) -> str | None:
    """The parameters of a run's method as JSON, the same text for the same parameters."""
    method = run.get("configuration", {}).get("method")
    return method and json.dumps(method["parameters"], sort_keys=True, allow_nan=False)
