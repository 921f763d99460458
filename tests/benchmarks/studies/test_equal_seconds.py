"""The budget of a comparison at equal seconds: what random search takes on a small grid."""

import math
import statistics

import pytest
from small_grid import save_grid

from benchmarks.common.errors import UsageError
from benchmarks.config.request import read
from benchmarks.records.frames import load
from benchmarks.running.experiment import run_experiment
from benchmarks.running.plan import plan
from benchmarks.studies.equal_seconds import budget


def test_the_budget_is_the_median_of_what_random_search_takes(tmp_path):
    """As its own runs on record say, rounded up to whole seconds."""
    replay = ["task=fcn", "source=table", f"table={save_grid(tmp_path)}"]
    (request,) = read([*replay, "method=random_search", "budget.heavy=7", "seeds=5", f"out={tmp_path / 'out'}"])
    for experiment in plan(request).experiments:
        run_experiment(experiment, tmp_path / "out")
    taken = load(tmp_path / "out").groupby("seed")["train_seconds"].sum()
    assert taken.nunique() > 1
    assert budget(replay, 7, 5) == f"budget.train_seconds={math.ceil(statistics.median(taken))}"
    assert budget(replay, 7, 1) == f"budget.train_seconds={math.ceil(taken[0])}"
    with pytest.raises(UsageError, match=r"budget\.heavy=0"):
        budget(replay, 0, 5)


def test_a_table_of_another_design_has_no_such_budget():
    with pytest.raises(UsageError, match="equal seconds are those of a grid: give task=NAME and source=table"):
        budget(["task=svm", "source=table", "table=svm-mnist-5000-laptop"], 2, 1)
