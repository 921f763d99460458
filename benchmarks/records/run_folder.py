"""The folder of a run, its one owner: what was run, by what, where, and how it ended.

    out/<task>/<method>-<hash>/seed-<n>/
        run.json      the description, see `benchmarks.records.run_info`
        trials.jsonl  one line for every trial, see `benchmarks.records.trials`
        states/       what training continues from; removed at the end of the run
        library/      where a wrapped library may write
        error.txt     the traceback, if the run failed
        output.txt    what libraries printed and warned of, if they did
        killed.json   how often a worker was killed in a trial, while the run goes on
        source-task.py, source-method.py  of classes that cannot be imported, as those of a notebook's cells

A run that is made anew is moved, whole, to out/aside/<n>/<task>/<method>-<hash>/seed-<n>.

A run is running, then finished, exhausted, failed or killed; started again, it is running again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import io
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.records.legacy import identity_of_schema_1, run_of_schema_1
from benchmarks.records.run_info import SCHEMA, RunInfo, Status, digest_of
from benchmarks.records.trials import TRIALS, CorruptRecord, Row, TrialLog, lock_run, read_rows
from btao.running.files import write_whole

RUN, ERROR, OUTPUT, LIBRARY, CRASHES = "run.json", "error.txt", "output.txt", "library", "killed.json"
ASIDE = "aside"  # below the folder of records: runs that were made anew
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

    def held(self) -> contextlib.closing[io.FileIO]:
        """Hold the run, which must be there, without reading it: a context manager; errors as of `lock_run`."""
        return contextlib.closing(lock_run(self.path))

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

    def keep_sources(self, sources: Mapping[str, str]) -> None:
        """Keep the source of the task or the method, by the name of the part; OSError if that cannot be."""
        for part, source in sources.items():
            write_whole(self.path / f"source-{part}.py", f"{source}\n")

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

    def is_done(self, run: RunInfo | None = None) -> bool:
        """Whether the run, read anew unless given, is at its end with all its trials on file; raises as `info`."""
        run = run or self.info()
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


def files_of_runs(out: Path, name: str) -> Iterator[Path]:
    """The files of a name of all runs below a folder, in the order of their paths; not of runs that were set aside.

    Those are found below their own folder, <out>/aside/<n>.
    """
    for path in sorted(out.rglob(name)):
        parts = path.relative_to(out).parts
        if not any(part == ASIDE and after.isdecimal() for part, after in itertools.pairwise(parts)):
            yield path


def run_folders(out: Path) -> Iterator[RunFolder]:
    """The folders of all runs that are described below a folder, see `files_of_runs`."""
    for path in files_of_runs(out, RUN):
        yield RunFolder(path.parent)


def place_aside(out: Path) -> Path:
    """The folder, not there yet, that the next runs that are set aside go into."""
    return next(path for n in itertools.count(1) if not (path := out / ASIDE / str(n)).exists())


def former_folder(out: Path, task: str, method: str, hashed: str, seed: int) -> Path | None:
    """The folder of before schema 2 that holds the run of this hash and seed, None if there is none.

    Its name is of the hash that the run had then. Where two spellings of one run had a folder each, the one
    whose run is done is taken.
    """
    try:
        folders = sorted(path for path in (out / task).iterdir() if is_former(path, method, hashed))
    except OSError:
        return None
    runs = [path / f"seed-{seed}" for path in folders if _hash(path) == hashed]
    runs = [run for run in runs if run.exists()]
    return next((run for run in runs if RunFolder(run).is_done()), runs[0] if runs else None)


def is_former(path: Path, method: str, hashed: str) -> bool:
    """Whether a folder is named as one of this method, but by another hash: not one that was moved away, say."""
    return re.fullmatch(re.escape(method) + "-[0-9a-f]{10}", path.name) is not None and not path.name.endswith(hashed)


_hashes: dict[Path, str] = {}  # a folder's runs keep theirs


def _hash(path: Path) -> str | None:
    """The hash that the runs in a folder have now; None where no description can be read, which `status` names."""
    if path not in _hashes:
        for described in sorted(path.glob(f"seed-*/{RUN}")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                data = json.loads(described.read_text(encoding="utf-8"))
                former = data.get("schema", 1) == 1
                _hashes[path] = digest_of(identity_of_schema_1(data["configuration"])) if former else data["hash"]
                break
    return _hashes.get(path)
