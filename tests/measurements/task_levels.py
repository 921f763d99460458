"""What a task's two levels cost, how much the light one tells of the heavy one, and whether methods can be told apart.

    OMP_NUM_THREADS=1 python tests/measurements/task_levels.py [TASK ...] [--n 60] [--scale laptop] [--seed 0]

Every configuration of a uniform sample is trained at the light level, and on from there at the heavy one. Seconds are
those of the processor, by the task's training curves; a heavy run's are those of both. Where the best tenth of the
configurations and the middle one are near, a task separates no methods: the last column has their distance in standard
errors of a share of wrong answers.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.stats import spearmanr

from benchmarks.config.registry import document
from benchmarks.config.spec import Spec
from benchmarks.objectives.curve import CurveTask, Past

TASKS = ("extra_trees", "gradient_boosting", "linear_sgd", "mlp")
HEADS = (
    "task",
    "light s",
    "heavy s",
    "most s",
    "correlation",
    "ranks",
    "best",
    "10%",
    "50%",
    "90%",
    "failed",
    "distance",
)


def main() -> None:
    """Print a row of figures a task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", default=TASKS, metavar="TASK")
    parser.add_argument("--n", type=int, default=60, help="configurations")
    parser.add_argument("--scale", default="laptop", choices=["smoke", "laptop", "paper"])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(" ".join(f"{head:>11}" for head in HEADS))
    for name in options.tasks:
        print(" ".join(f"{value:>11}" for value in figures(name, options.n, options.scale, options.seed)), flush=True)


def figures(name: str, n: int, scale: str, seed: int) -> list[str]:
    """The row of a task."""
    conf = document("task", name)
    parameters = conf["parameters"] | conf["scales"][scale].get("parameters", {})
    task: CurveTask = Spec(name, conf["_target_"], parameters).build()
    task.prepare()
    sample = np.random.default_rng(seed).random((n, task.space.dim))
    values, seconds = zip(*(trained(task, task.space.from_unit(point), seed) for point in sample), strict=True)
    errors = np.array(values)
    light, heavy = errors[~np.isnan(errors).any(axis=1)].T
    light_seconds, heavy_seconds = np.array(seconds).T
    best, low, middle, high = np.quantile(heavy, [0, 0.1, 0.5, 0.9])
    deviation = math.sqrt(middle * (1 - middle) / task.data.n_validation)
    return [
        name[:11],
        *(f"{value:.3f}" for value in (np.median(light_seconds), np.median(heavy_seconds), heavy_seconds.max())),
        f"{np.corrcoef(light, heavy)[0, 1]:.2f}",
        f"{spearmanr(light, heavy).statistic:.2f}",
        *(f"{value:.3f}" for value in (best, low, middle, high)),
        str(n - len(heavy)),
        f"{(middle - low) / deviation:.1f}",
    ]


def trained(task: CurveTask, config: dict[str, object], seed: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """The errors of the light and the heavy level, and the seconds of each from the start."""
    kept: dict[int, dict[str, object]] = {}

    class Memory:
        def load(self, config, iterations):
            return kept.get(iterations)

        def save(self, config, iterations, state):
            kept[iterations] = state()

    light = task.evaluate(config, task.light, seed, Past(checkpoints=Memory()))
    rest = task.evaluate(config, task.heavy, seed, Past(light.curve, Memory()))
    costs = [sum(curve.processor_seconds) for curve in (light.curve, light.curve + rest.curve)]
    return (light.value, rest.value), (costs[0], costs[1])


if __name__ == "__main__":
    main()
