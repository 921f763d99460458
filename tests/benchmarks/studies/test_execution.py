"""Trials and figures of the experiments of one command. test_run.py exercises the rest."""

from __future__ import annotations

import pytest
from currin_runs import experiment, record

from benchmarks.studies.execution import figure_path, trials


@pytest.fixture
def out(tmp_path):
    return record(tmp_path)


def test_only_trials_of_the_experiments_asked_for_are_taken(out):
    assert len(trials([experiment(0), experiment(1)], out)) == 6
    assert len(trials([experiment(0, heavy=2)], out)) == 2
    assert trials([experiment(7)], out).empty


def test_the_figure_has_a_name_of_its_own_for_other_experiments(out):
    two = [experiment(0), experiment(1)]
    assert figure_path(two, out) == figure_path(list(two), out)
    assert len({figure_path(each, out) for each in (two, two[:1], [experiment(0, heavy=2)])}) == 3
