"""How near each method comes to the optima of four published functions for the same charged cost.

usage: OMP_NUM_THREADS=1 python tests/measurements/final_regret.py [--seeds 10] [METHOD ...]

A run ends when it is charged what the stated number of heavy runs costs, light ones counted. A line a method and
function: mean and standard error over the seeds of log10 of the regret, and its median; heavy and light runs a run.
"""

import argparse
import math
import pkgutil

import numpy as np

from baselines.protocol import Measurement, Problem
from benchmarks.config.registry import document
from benchmarks.objectives.functions.branin import Branin
from benchmarks.objectives.functions.forrester import Forrester
from benchmarks.objectives.functions.hartmann3 import Hartmann3
from benchmarks.objectives.functions.hartmann6 import Hartmann6

METHODS = ["gp_bo", "btao"]
# By function the heavy runs that may be charged.
BUDGETS = {Forrester: 12, Branin: 25, Hartmann3: 30, Hartmann6: 40}
# Regrets below it are rounding.
LEAST = 1e-12


def run(name, task, n_heavy, seed):
    """The regret of the best heavy value, and the numbers of heavy and light runs."""
    problem = Problem(task.space, task.heavy.iterations, task.light.iterations, n_heavy, levels=task.levels)
    parameters = document("method", name)
    method = pkgutil.resolve_name(parameters.pop("_target_"))(problem=problem, seed=seed, **parameters)
    best, counts, left = math.inf, {True: 0, False: 0}, n_heavy * task.heavy.iterations
    while (trial := method.ask()).budget <= left:
        left -= trial.budget
        value = task.evaluate(trial.config, task.heavy if trial.heavy else task.light, 0).value
        method.tell(trial, Measurement(value, cost=float(trial.budget)))
        counts[trial.heavy] += 1
        best = min(best, value if trial.heavy else math.inf)
    return best - task.optimum, counts[True], counts[False]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=METHODS, metavar="METHOD")
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    for task_class, n_heavy in BUDGETS.items():
        for name in given.methods:
            runs = [run(name, task_class(), n_heavy, seed) for seed in range(given.seeds)]
            regrets, heavy, light = np.transpose(runs)
            logs = np.log10(np.maximum(regrets, LEAST))
            print(
                f"{task_class.__name__:10} {name:10} log10 regret {logs.mean():6.2f} ± "
                f"{logs.std(ddof=1) / math.sqrt(len(logs)):.2f}, median regret {np.median(regrets):.1e}, "
                f"{heavy.mean():.1f} heavy and {light.mean():.1f} light runs",
                flush=True,
            )


if __name__ == "__main__":
    main()
