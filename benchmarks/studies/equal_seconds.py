"""The budget of a comparison at equal seconds of training: what random search takes on the grid of a task."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Sequence

from baselines.protocol import Method
from benchmarks.common.errors import UsageError
from benchmarks.config.request import read
from benchmarks.objectives.protocol import Objective
from benchmarks.running.plan import plan
from benchmarks.tables.replay import Replay

HEAVY_RUNS = 40  # twice those of scale=paper: a method that finds quick configurations makes more of them
SEEDS = 30


def budget(replay: Sequence[str], heavy: int, seeds: int) -> str:
    """The argument of `benchmarks.run` that ends a run after the seconds of so many heavy runs of random search.

    Parameters
    ----------
    replay : sequence of str
        Arguments of `benchmarks.run` that name a task and the table of its grid, such as task=svm and source=table.
    heavy : int
        Heavy runs, at least 1.
    seeds : int
        At least 1: the median is over 0, ..., seeds - 1.

    Returns
    -------
    str
        Such as budget.train_seconds=585: whole seconds, rounded up. The same table gives the same.

    Raises
    ------
    UsageError
        If the table is not that of a grid; and as `plan`.
    """
    with tempfile.TemporaryDirectory() as out:  # nothing is run there
        limits = ["method=random_search", f"budget.heavy={heavy}", f"seeds={seeds}", f"out={out}"]
        (request,) = read([*replay, *limits])
        runs = [experiment.build() for experiment in plan(request).experiments]
    return f"budget.train_seconds={math.ceil(statistics.median(_seconds(*run, heavy) for run in runs))}"


def _seconds(task: Objective, search: Method, heavy: int) -> float:
    """What the heavy runs of a search take whose trials do not depend on those before."""
    if not (isinstance(task, Replay) and task.is_grid):
        raise UsageError("equal seconds are those of a grid: give task=NAME and source=table, and a table of one")
    found = (task.evaluate(search.ask().config, task.heavy, seed=0) for _ in range(heavy))
    return sum(evaluation.seconds or 0.0 for evaluation in found)
