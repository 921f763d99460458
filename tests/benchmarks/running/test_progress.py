"""Where experiments stand that an earlier start has finished."""

from __future__ import annotations

import pytest
from currin_runs import experiment, record

from benchmarks.records.trials import TrialLog
from benchmarks.running.progress import Progress, finished


@pytest.fixture
def out(tmp_path):
    return record(tmp_path)


def rows(experiment, out):
    with TrialLog(experiment.folder(out)) as log:
        return log.rows


def test_what_is_finished_and_where_it_stands(out):
    planned = [experiment(5), experiment(1)]
    best = min(row.value for row in rows(experiment(1), out))
    assert finished(planned, out) == {1: Progress(heavy=3, light=0, best=best, share=1.0)}
