"""What the suite itself costs a trial: random search on Currin, flushed rows and progress included.

Run by hand: `python tests/measurements/overhead_per_trial.py [trials]`. One process runs the experiment
and sends its progress to another, as a worker does to its parent. Counted is the time between the first
and the last row, less the time inside `evaluate`; apart from it, what starting the run takes once.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import tempfile
import time
from multiprocessing.connection import Connection

from benchmarks.config.spec import Spec
from benchmarks.records.trials import Row
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, run_experiment
from benchmarks.running.worker_process import Reporter


def main(n: int) -> None:
    """Print milliseconds a trial."""
    task = Spec("currin", "benchmarks.objectives.currin.Currin")
    method = Spec("random_search", "baselines.random_search.RandomSearch")
    experiment = Experiment(task, method, seed=0, budget=Budget(heavy=n))
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    reader = context.Process(target=empty, args=(ours,))
    reader.start()
    ours.close()
    reporter = Reporter(theirs, experiment.budget)
    rows: list[Row] = []
    moments: list[float] = []

    def on_trial(row: Row) -> None:
        reporter(row)
        rows.append(row)
        moments.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as out:
        started = time.perf_counter()
        run_experiment(experiment, out, on_trial=on_trial)
    theirs.close()
    reader.join()
    training = sum(row.train_seconds for row in rows[1:])
    suite = moments[-1] - moments[0] - training
    print(f"{1e3 * suite / (n - 1):.3f} ms a trial over {n} trials, evaluate ({1e3 * training / (n - 1):.3f} ms) apart")
    print(f"{1e3 * (moments[0] - started):.0f} ms once, before the first row")


def empty(connection: Connection) -> None:
    """Receive until the other end is closed."""
    with contextlib.suppress(EOFError):
        while True:
            connection.recv()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
