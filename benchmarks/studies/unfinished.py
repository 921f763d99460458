"""What is finished of a result that takes longer than a machine is there: another machine goes on from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from btao.running.files import replacing

if TYPE_CHECKING:
    import pandas

    from benchmarks.running.experiment import Experiment

RUN = ["task", "hash", "seed"]
ORDER = ["task", "method", "hash", "seed"]  # as `records.load` sorts


class Unfinished:
    """The trials of finished runs, as a Parquet file that can be committed.

    Parameters
    ----------
    path : Path
        Of the file, which need not be there.
    """

    def __init__(self, path: Path) -> None:
        import pandas

        self.path = path
        self._trials = pandas.read_parquet(path) if path.exists() else None

    def has(self, experiments: Sequence[Experiment]) -> bool:
        """Whether all these runs are there."""
        return _runs(experiments) <= {*self._keys()}

    def add(self, trials: pandas.DataFrame) -> None:
        """Keep the trials of runs that were not there."""
        import pandas

        parts = [trials] if self._trials is None else [self._trials, trials]
        self._trials = pandas.concat(parts, ignore_index=True)
        with replacing(self.path) as temporary:
            self._trials.to_parquet(temporary, index=False, compression="zstd")

    def of(self, experiments: Sequence[Experiment]) -> pandas.DataFrame:
        """The trials of these runs, in the order of `records.load`."""
        assert self._trials is not None, "nothing was added"
        wanted = _runs(experiments)
        rows = [run in wanted for run in self._keys()]
        found = self._trials[rows].sort_values(ORDER, kind="stable", ignore_index=True)
        if "cached" in found:  # it is not of tasks of which nothing was
            found["cached"] = found["cached"].eq(True)
        return found

    def _keys(self) -> Iterator[tuple[str, str, int]]:
        """Of each row the run that it is of."""
        return iter(()) if self._trials is None else self._trials[RUN].itertuples(index=False, name=None)

    def remove(self) -> None:
        """Forget all, as the result is finished."""
        self.path.unlink(missing_ok=True)


def _runs(experiments: Sequence[Experiment]) -> set[tuple[str, str, int]]:
    return {(each.task.name, each.hash, each.seed) for each in experiments}
