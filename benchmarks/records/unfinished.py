"""What is finished of a result that takes longer than a machine is there: another machine goes on from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from btao.running.files import replacing

# pandas is imported when used: --help starts at once.
if TYPE_CHECKING:
    import pandas

Run = tuple[str, str, int]
RUN = ["task", "hash", "seed"]  # what a run is known by
ORDER = ["task", "method", "hash", "seed"]  # as `records.load` sorts


class Unfinished:
    """The trials of finished runs: a folder that can be committed, with a Parquet file for each task.

    Parameters
    ----------
    folder : Path
        It need not be there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def missing(self, runs: Sequence[Run]) -> list[int]:
        """The places of the runs that are not there."""
        there = {run for task in _tasks(runs) for run in _keys(self._read(task))}
        return [place for place, run in enumerate(runs) if run not in there]

    def add(self, trials: pandas.DataFrame) -> None:
        """Keep the trials of runs, in place of those that are there of the same runs."""
        import pandas

        for task, new in trials.groupby("task"):
            old = self._read(str(task))
            if old is not None:
                again = {*_keys(new)}
                new = pandas.concat([old[[run not in again for run in _keys(old)]], new], ignore_index=True)
            with replacing(self._file(str(task))) as temporary:
                new.to_parquet(temporary, index=False, compression="zstd")

    def of(self, runs: Sequence[Run]) -> pandas.DataFrame:
        """The trials of these runs, all of which are there, in the order of `records.load`."""
        import pandas

        wanted = {*runs}
        parts = [rows for task in _tasks(runs) if (rows := self._read(task)) is not None]
        found = pandas.concat(parts, ignore_index=True)
        found = found[[run in wanted for run in _keys(found)]].sort_values(ORDER, kind="stable", ignore_index=True)
        if "cached" in found:  # it is not of tasks of which nothing was
            found["cached"] = found["cached"].eq(True)
        return found

    def remove(self) -> None:
        """Forget all, as the result is finished."""
        for path in self.folder.glob("*.parquet"):
            path.unlink()
        if self.folder.is_dir():
            self.folder.rmdir()

    def _file(self, task: str) -> Path:
        return self.folder / f"{task}.parquet"

    def _read(self, task: str) -> pandas.DataFrame | None:
        import pandas

        path = self._file(task)
        return pandas.read_parquet(path) if path.exists() else None


def _keys(trials: pandas.DataFrame | None) -> Iterator[Run]:
    """Of each row the run that it is of."""
    return iter(()) if trials is None else trials[RUN].itertuples(index=False, name=None)


def _tasks(runs: Sequence[Run]) -> list[str]:
    return sorted({task for task, _, _ in runs})
