"""How many trials a second are replayed from a recorded table: random search, rows on disk and progress included.

    python tests/measurements/replay_rate.py [TABLE] [--task fcn]

As many runs as it takes for some thousands of trials, one after another in this process. Besides, the
share of the time that each trial's proposal takes by itself.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.config.registry import find_table, target_of
from benchmarks.config.spec import Spec
from benchmarks.records.frames import load
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, run_experiment
from benchmarks.running.source import Recorded
from benchmarks.tables.replay import Replay

TRIALS = 5000


def main() -> None:
    """Print trials a second."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", type=Path, help="a file; the task's largest by default")
    parser.add_argument("--task", default="fcn")
    options = parser.parse_args()
    path = options.table or find_table(options.task, None, None)
    replay = Replay(path)
    replay.prepare()
    n = len(replay.points)
    task = Spec(replay.task, target_of("task", replay.task))
    method = Spec("random_search", "baselines.random_search.RandomSearch")
    with tempfile.TemporaryDirectory() as out:
        started = time.perf_counter()
        for seed in range(-(-TRIALS // n)):
            each = Experiment(task, method, seed, Budget(heavy=n), data=replay.data, source=Recorded(path))
            run_experiment(each, out)
        seconds = time.perf_counter() - started
        trials = load(out)
    share = trials["method_seconds"].sum() / seconds
    print(f"{path.stem}: {len(trials) / seconds:,.0f} trials a second, of which proposals take {share:.0%}")


if __name__ == "__main__":
    main()
