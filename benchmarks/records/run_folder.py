"""The folder of a run, its one owner: what was run, by what, where, and how it ended.

    out/<task>/<method>-<hash>/seed-<n>/
        run.json      the description, see `benchmarks.records.run_info`
        trials.jsonl  one line for every trial, see `benchmarks.records.trials`
        states/       what training continues from; removed at the end of the run
        library/      where a wrapped library may write
        error.txt     the traceback, if the run failed
        output.txt    what libraries printed and warned of, if they did
        killed.json   how often a worker was killed in a trial, while the run goes on

A run is running, then finished, exhausted, failed or killed; started again, it is running again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common.files import write_whole
from benchmarks.records.legacy import run_of_schema_1
from benchmarks.records.run_info import SCHEMA, RunInfo, Status
from benchmarks.records.trials import TRIALS, CorruptRecord, Row, TrialLog, read_rows

RUN, ERROR, OUTPUT, LIBRARY, CRASHES = "run.json", "error.txt", "output.txt", "library", "killed.json"
TRIES = 2  # a trial in which a worker was killed so often has failed: see `RunFolder.note_crash`


class RunFolder:
    """A run on disk: alone reads and writes its description, its errors, the output of libraries and the crash count.

    Parameters
    ----------
    path : Path
        The folder, which need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.error, self.output, self.library = path / ERROR, path / OUTPUT, path / LIBRARY

    def log(self) -> TrialLog:
        """Open the log of trials, and hold the run: see `TrialLog`."""
        return TrialLog(self.path)

    def rows(self) -> list[Row]:
        """The trials on record, none if there is no such run; CorruptRecord if they are damaged."""
        return read_rows(self.path)

    def info(self) -> RunInfo | None:
        """The description, None if there is none.

        Raises
        ------
        CorruptRecord
            If run.json describes no run.
        """
        path = self.path / RUN
        away = f"Move {self.path} away to run it again"
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise CorruptRecord(f"{path} is not JSON: {error}. {away}") from None
        if not isinstance(data, dict):
            raise CorruptRecord(f"{path} holds no JSON object. {away}")
        try:
            if data.get("schema", 1) == 1:
                return run_of_schema_1(data)
            if data["schema"] != SCHEMA:
                raise CorruptRecord(
                    f"{path} is of schema {data['schema']}, which this version does not know: update it"
                )
            return RunInfo.from_json(data)
        except CorruptRecord:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorruptRecord(f"{path} describes no run ({type(error).__name__}: {error}). {away}") from None

    def begin(self, run: RunInfo) -> RunInfo:
        """Describe a run that starts; earlier starts of it are kept. Returns what was written."""
        earlier = self.info()
        if earlier is not None:
            run = dataclasses.replace(run, optimum=earlier.optimum, starts=(*earlier.starts, *run.starts))
        self._write(run)
        return run

    def note_optimum(self, run: RunInfo, optimum: float | None) -> RunInfo:
        """Note the optimum of the task that was built; returns what was written."""
        run = dataclasses.replace(run, optimum=optimum)
        self._write(run)
        return run

    def finish(self, run: RunInfo, status: Status, why: str | None, n_trials: int) -> None:
        """Describe the end of a run whose trials are all on the disk, and drop what only an unfinished one needs."""
        self._write(run.ended(status, why, n_trials))
        for name in (ERROR, CRASHES):
            (self.path / name).unlink(missing_ok=True)

    def fail(self, run: RunInfo, why: str, trace: str, status: Status = Status.FAILED) -> None:
        """Describe the end of a run that failed or was killed, with what is told of it.

        On a full or a missing disk nothing is written, and nothing raised: what failed is told elsewhere, too.
        """
        with contextlib.suppress(OSError):
            write_whole(self.error, trace)
            self._write(run.ended(status, why))

    def is_done(self) -> bool:
        """Whether the run is at its end, with all its trials still on file; CorruptRecord as in `info`."""
        run = self.info()
        if run is None or not run.status.is_done:
            return False
        try:
            return (self.path / TRIALS).read_bytes().count(b"\n") == run.n_trials
        except FileNotFoundError:
            return False

    def is_locked(self) -> bool:
        """Whether a process works on the run.

        The log is locked for an instant to learn it, so a process that opens it in that instant is refused.

        Raises
        ------
        OSError
            If that cannot be known, as on a file system without locks.
        """
        try:
            with open(self.path / TRIALS, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def note_crash(self, trial: int) -> int:
        """Count one more time that a worker was killed in a trial, as where memory runs out; how often that was in all.

        Such a trial is tried once more, as the memory may have been another program's; then it has
        failed, and the run goes on. What kills the worker again even so, the method itself say, ends the run.

        Raises
        ------
        OSError
            If the count cannot be kept.
        """
        times = self.crashes(trial) + 1
        write_whole(self.path / CRASHES, json.dumps({"trial": trial, "times": times}))
        return times

    def crashes(self, trial: int) -> int:
        """How often a worker was killed in a trial; known for the last such trial only."""
        try:
            noted = json.loads((self.path / CRASHES).read_text())
            return int(noted["times"]) if noted["trial"] == trial else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def _write(self, run: RunInfo) -> None:
        path = self.path / RUN
        try:
            write_whole(path, json.dumps(run.as_json(), allow_nan=False, indent=2) + "\n")
        except OSError as error:
            raise OSError(error.errno, f"run not recorded: {error.strerror}", str(path)) from error


def run_folders(out: Path) -> Iterator[RunFolder]:
    """The folders of all runs that are described below a folder, in the order of their paths."""
    for path in sorted(out.rglob(RUN)):
        yield RunFolder(path.parent)


def former_folder(out: Path, task: str, method: str, hashed: str) -> Path | None:
    """The folder of before schema 2 that holds the runs of this hash, None if there is none."""
    folder = out / task
    try:
        return _former_folders(folder, method, folder.stat().st_mtime_ns).get(hashed)
    except OSError:
        return None


@functools.lru_cache(64)
def _former_folders(folder: Path, method: str, changed: int) -> dict[str, Path]:
    """The folders of a method whose names are not of the hash that their runs have now, by that hash.

    Read again when a folder was added.
    """
    found = {}
    for path in sorted(folder.glob(f"{method}-*")):
        described = next(path.glob(f"seed-*/{RUN}"), None)
        with contextlib.suppress(CorruptRecord):  # which is named when it is to be continued
            run = None if described is None else RunFolder(described.parent).info()
            if run is not None and path.name != f"{method}-{run.hash}":
                found[run.hash] = path
    return found
