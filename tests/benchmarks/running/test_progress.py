"""Where experiments stand that an earlier start has finished."""

from __future__ import annotations

import pytest

from benchmarks.config.spec import Spec
from benchmarks.records.trials import TrialLog
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, run_experiment
from benchmarks.running.progress import Progress, finished


def experiment(seed, heavy=3):
    method = Spec("random_search", "baselines.random_search.RandomSearch")
    return Experiment(Spec("currin", "benchmarks.objectives.currin.Currin"), method, seed, Budget(heavy=heavy))


@pytest.fixture
def out(tmp_path):
    """Records of seeds 0 and 1 of a budget of 3, and of seed 0 of another budget."""
    for each in (experiment(0), experiment(1), experiment(0, heavy=2)):
        run_experiment(each, tmp_path)
    return tmp_path


def rows(experiment, out):
    with TrialLog(experiment.folder(out)) as log:
        return log.rows


def test_what_is_finished_and_where_it_stands(out):
    planned = [experiment(5), experiment(1)]
    best = min(row.value for row in rows(experiment(1), out))
    assert finished(planned, out) == {1: Progress(heavy=3, light=0, best=best, share=1.0)}
