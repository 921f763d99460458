"""The log of a part of a design, as rows of the table of training curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.records.curves import curve_of
from benchmarks.records.run_folder import RUN, RunFolder
from benchmarks.records.run_info import Start
from benchmarks.records.trials import TRIALS, CorruptRecord, Row, read_rows

# pandas is imported when used: workers that record do without.

PART = 8  # configurations that one worker trains before it may be replaced: TensorFlow keeps what it compiled
DEFAULT_N = 512  # configurations of a design where n is not given


def wanted(n: int | None, size: int | None) -> int:
    """How many configurations are recorded where n are asked for, of a grid of `size`, or where there is none of any.

    Whole parts, but no more than a grid has; where n is None, all of the grid, or `DEFAULT_N`.
    """
    asked = n if n is not None else size or DEFAULT_N
    rounded = -(-asked // PART) * PART
    return rounded if size is None else min(rounded, size)


@dataclass(frozen=True)
class PartLog:
    """What is logged of consecutive configurations, each trained at every budget in turn.

    Attributes
    ----------
    rows : list of Row
    starts : tuple of Start
        In their order: each begins with row `first_trial`.
    """

    rows: list[Row]
    starts: tuple[Start, ...]

    @classmethod
    def read(cls, folder: Path) -> PartLog:
        """What the folder of a run holds; CorruptRecord if it is damaged."""
        rows, run = read_rows(folder), RunFolder(folder).info()
        if run is None and rows:
            raise CorruptRecord(f"{folder} has trials, but no {RUN} to say of what")
        return cls(rows, () if run is None else run.starts)

    @property
    def made_by(self) -> list[dict[str, Any]]:
        """Versions, commit and machine of every start."""
        return [start.made_by for start in self.starts]

    @property
    def restarted_at(self) -> set[int]:
        """The rows that a start began with, so that the task remembered nothing of the rows before."""
        rows: set[int] = set()
        for start in self.starts:
            first = start.first_trial
            rows = {row for row in rows if row < first} | {first}  # it wrote all that follows anew
        return rows

    def failures(self, budgets: Sequence[int]) -> dict[int, Row]:
        """By place in the log, the configurations whose training broke off, with the first such row."""
        trials = _trials_each(budgets)
        broken: dict[int, Row] = {}
        for number, row in enumerate(self.rows):
            if _broke_off(row):
                broken.setdefault(number // trials, row)
        return broken

    def curves(self, budgets: Sequence[int]) -> dict[int, Any]:
        """By place in the log, the configurations that were trained to their end: a frame of rows of the table each.

        Parameters
        ----------
        budgets : sequence of int
            Iterations recorded; empty: every one.
        """
        trials, broken = _trials_each(budgets), self.failures(budgets)
        ends = range(trials, len(self.rows) + 1, trials)
        return {place: self._frame(end - trials, end, budgets) for place, end in enumerate(ends) if place not in broken}

    def _frame(self, first: int, end: int, budgets: Sequence[int]) -> Any:
        import pandas

        rows = self.rows[first:end]
        head = {f"config.{name}": value for name, value in rows[0].config.items()}
        if not budgets:
            return pandas.DataFrame(head | _every_iteration(rows[0]))
        restarted = [row in self.restarted_at for row in range(first, end)]
        return pandas.DataFrame(head | _at_budgets(rows, restarted, budgets))


def logged(folder: Path, budgets: Sequence[int]) -> int:
    """How many configurations of a part are logged to their end, by the length of its log alone."""
    try:
        rows = (folder / TRIALS).read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0
    return rows // _trials_each(budgets)


def _trials_each(budgets: Sequence[int]) -> int:
    """How many trials a configuration has in a log: one a budget, or one whole curve."""
    return max(len(budgets), 1)


def _every_iteration(row: Row) -> dict[str, Any]:
    import pandas

    curve = curve_of(row)
    n = len(curve.seconds)
    return {
        "iteration": range(1, n + 1),
        "consumed": range(1, n + 1),
        "validation_error": curve.validation_errors,
        "training_error": curve.training_errors,
        "test_error": curve.test_errors,
        "seconds": pandas.Series(curve.seconds).cumsum(),
        "processor_seconds": pandas.Series(curve.processor_seconds).cumsum(),
    }


def _at_budgets(rows: Sequence[Row], restarted: Sequence[bool], budgets: Sequence[int]) -> dict[str, Any]:
    """The columns of a configuration that was trained at certain budgets, a row each.

    To train to a later budget takes the machine of the first one, too (see `SVM`). A start remembers that machine, and
    its seconds are not in those of the later rows; they are in those of a row that a start began with.
    """

    def clock(name: str) -> Any:
        light = getattr(rows[0], name)
        seconds = [
            getattr(row, name) + (0.0 if own else light) for row, own in zip(rows[1:], restarted[1:], strict=True)
        ]
        return np.maximum.accumulate([light, *seconds])  # of equal machines the clock makes unequal ones

    return {
        "iteration": budgets,
        "consumed": [row.iterations for row in rows],
        "validation_error": [row.value for row in rows],
        "training_error": float("nan"),
        "test_error": [float("nan") if row.test_error is None else row.test_error for row in rows],
        "seconds": clock("train_seconds"),
        "processor_seconds": clock("processor_seconds"),
    }


def _broke_off(row: Row) -> bool:
    """Whether training failed; where it diverged, that is what was to be found out."""
    diverged = row.curve is not None and row.curve["validation_errors"][-1:] == [None]
    return row.status != "ok" and not diverged
