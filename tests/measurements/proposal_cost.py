"""What a proposal costs each method on Park, after 20, 50 and 100 observations, against TPE in the same run.

usage: OMP_NUM_THREADS=1 python tests/measurements/proposal_cost.py [METHOD ...]

An observation is a trial that was told, light or heavy. Shown is the median over the proposals with
up to two observations less or more, ask and tell together, in seconds and as a ratio to TPE.
"""

import pkgutil
import statistics
import sys
import time

from baselines.protocol import Measurement, Problem
from benchmarks.config.registry import document
from benchmarks.objectives.park import Park

METHODS = ["tpe", "smac", "smac_gp", "bohb", "gp_bo", "btao"]
COUNTS = (20, 50, 100)
AROUND = 2


def seconds(name):
    """The median seconds of ask and tell around each count."""
    task = Park()
    problem = Problem(task.space, task.heavy.iterations, task.light.iterations, max(COUNTS), levels=task.levels)
    parameters = document("method", name)
    method = pkgutil.resolve_name(parameters.pop("_target_"))(problem=problem, seed=0, **parameters)
    spent = []
    for _ in range(max(COUNTS) + AROUND + 1):
        started = time.perf_counter()
        trial = method.ask()
        asked = time.perf_counter()
        value = task.evaluate(trial.config, task.heavy if trial.heavy else task.light, 0).value
        evaluated = time.perf_counter()
        method.tell(trial, Measurement(value))
        spent.append(time.perf_counter() - evaluated + asked - started)
    return [statistics.median(spent[count - AROUND : count + AROUND + 1]) for count in COUNTS]


def main(names):
    names = names or METHODS
    peer = seconds("tpe")
    print("method   " + "".join(f"{f'{count} observations':>26}" for count in COUNTS))
    for name in names:
        mine = peer if name == "tpe" else seconds(name)
        cells = (f"{one:10.3f} s, {one / other:8.1f} x" for one, other in zip(mine, peer, strict=True))
        print(f"{name:9}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
