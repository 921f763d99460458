"""The log of a part of a design: what of it becomes rows of the table, and their clock."""

from __future__ import annotations

import math

import pytest

from benchmarks.objectives.protocol import Curve
from benchmarks.records.curves import record_of
from benchmarks.records.run_info import Start
from benchmarks.records.trials import CorruptRecord, Row, TrialLog
from benchmarks.tables.design_log import PartLog, wanted


def row(number, errors=(0.5, 0.4, 0.3), seconds=3.0, *, status="ok", error=None, curve=True):
    """A trial of as many iterations as there are errors, a second each on its curve."""
    n = len(errors)
    value = errors[-1] if status == "ok" else None
    training = record_of(Curve(errors, errors, (1.0,) * n, (0.5,) * n, errors), 0) if curve else None
    times = (seconds, 0.0, seconds)
    return Row(number, True, n, {"x": float(number)}, value, status, error, n, *times, None, training, seconds / 2)


def test_a_training_that_broke_off_is_left_out_and_one_that_diverged_is_kept():
    broken = row(1, status="failed", error="MemoryError: ")
    diverged = row(2, (0.5, math.nan), status="failed", error="training diverged in iteration 2")
    log = PartLog([row(0), broken, diverged], (Start(),))
    assert log.failures(()) == {1: broken}
    kept = log.curves(())
    assert list(kept) == [0, 2]
    assert kept[0]["validation_error"].tolist() == [0.5, 0.4, 0.3]
    assert (kept[0]["seconds"].tolist(), kept[0]["config.x"].tolist()) == ([1.0, 2.0, 3.0], [0.0] * 3)
    assert kept[2]["iteration"].tolist() == [1, 2] and math.isnan(kept[2]["validation_error"].iloc[-1])


def test_a_start_drops_the_starts_of_what_it_wrote_anew():
    starts = tuple(Start(first_trial=first) for first in (0, 1, 4, 2))
    assert PartLog([], starts).restarted_at == {0, 1, 2}


@pytest.mark.parametrize(("starts", "seconds"), [((0,), [5.0, 25.0]), ((0, 1), [5.0, 20.0])])
def test_a_later_budget_has_the_seconds_of_the_first_machine_once(starts, seconds):
    rows = [row(0, seconds=5.0, curve=False), row(1, seconds=20.0, curve=False)]
    (frame,) = PartLog(rows, tuple(Start(first_trial=first) for first in starts)).curves((1, 3)).values()
    assert frame["iteration"].tolist() == [1, 3]
    assert frame["seconds"].tolist() == seconds
    assert frame["processor_seconds"].tolist() == [value / 2 for value in seconds]


def test_a_log_without_its_description_is_refused(tmp_path):
    with TrialLog(tmp_path) as log:
        log.append(row(0))
    with pytest.raises(CorruptRecord, match=r"has trials, but no run\.json"):
        PartLog.read(tmp_path)


@pytest.mark.parametrize(
    ("n", "size", "expected"), [(3, None, 8), (9, None, 16), (3, 10, 8), (9, 10, 10), (None, 10, 10), (None, None, 512)]
)
def test_whole_parts_are_recorded_but_no_more_than_a_grid_has(n, size, expected):
    assert wanted(n, size) == expected
