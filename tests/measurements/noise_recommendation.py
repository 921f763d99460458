"""How near the optimum the true values of `recommended` and of `best` are where both levels are noisy.

    OMP_NUM_THREADS=1 .venv/bin/python tests/measurements/noise_recommendation.py [--rule rate] [--tasks TASK ...]

The functions are all synthetic tasks of the suite with at most four parameters, but for the toy and those whose light
level misleads. The noise of each level is normal, with 5% of that level's range as its standard deviation. Printed are
the mean true regrets of both configurations over the seeds, in percent of the heavy range, and how much less that of
`recommended` is, with a 95% interval of Student. The last line pools the functions: of each seed, the mean over them.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.stats import qmc
from scipy.stats import t as student

from benchmarks.objectives.currin import Currin
from benchmarks.objectives.functions.bohachevsky import Bohachevsky
from benchmarks.objectives.functions.branin import Branin
from benchmarks.objectives.functions.camel import Camel
from benchmarks.objectives.functions.forrester import Forrester
from benchmarks.objectives.functions.hartmann3 import Hartmann3
from benchmarks.objectives.functions.park1 import Park1
from benchmarks.objectives.park import Park
from benchmarks.objectives.synthetic import Synthetic
from btao import BTAO

UNBOUNDED = (-math.inf, math.inf)
SHARE = 0.05
LOG2_POINTS = 14
TASKS: dict[str, type[Synthetic]] = {
    "forrester": Forrester,
    "currin": Currin,
    "branin": Branin,
    "camel": Camel,
    "bohachevsky": Bohachevsky,
    "hartmann3": Hartmann3,
    "park": Park,
    "park1": Park1,
}


class Noisy:
    """A task with noise on both levels, in proportion to their ranges on a Sobol sequence."""

    def __init__(self, task: type[Synthetic]) -> None:
        self.space, self.optimum = task.space, task.optimum
        self._sign, self._functions = task.sign, {"light": task.light_function, "heavy": task.heavy_function}
        points = qmc.Sobol(self.space.dim, rng=np.random.default_rng(0)).random_base2(LOG2_POINTS)
        configs = [self.space.from_unit(point) for point in points]
        self.ranges = {level: float(np.ptp([self.true(level, c) for c in configs])) for level in self._functions}

    def true(self, level: str, config: dict[str, float]) -> float:
        """The value without noise, to be minimized."""
        return self._sign * self._functions[level](np.array(list(config.values()))).item()

    def regret(self, config: dict[str, float]) -> float:
        """How far the true heavy value is from the optimum, in percent of the range."""
        return 100 * (self.true("heavy", config) - self.optimum) / self.ranges["heavy"]

    def regrets(self, rule: str, noise: bool | None, seed: int, n_heavy: int) -> tuple[float, float]:
        """Those of `recommended` and of `best` at the end of a run."""
        rng = np.random.default_rng([seed, 1])
        optimizer = BTAO(self.space, seed=seed, rule=rule, noise=noise, delta_bounds=UNBOUNDED, rho_bounds=UNBOUNDED)
        while sum(trial.level == "heavy" for trial in optimizer.trials) < n_heavy:
            trial = optimizer.ask()
            noisy = SHARE * self.ranges[trial.level] * rng.standard_normal()
            optimizer.tell(trial, self.true(trial.level, trial.config) + noisy)
        return self.regret(optimizer.recommended.config), self.regret(optimizer.best.config)


def line(name: str, regrets: np.ndarray) -> str:
    """A row of the table: mean regrets (n, 2) of both, and of their difference its interval."""
    gain = regrets[:, 1] - regrets[:, 0]
    half = student.ppf(0.975, len(gain) - 1) * gain.std(ddof=1) / math.sqrt(len(gain))
    recommended, best = regrets.mean(axis=0)
    interval = f"{gain.mean():.3f} [{gain.mean() - half:.3f}, {gain.mean() + half:.3f}]"
    return f"{name:12} {recommended:11.3f} {best:7.3f}   {interval}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=[*TASKS])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--heavy", type=int, default=20)
    parser.add_argument("--rule", default="joint")
    parser.add_argument("--exact", action="store_true", help="take values as exact, as noise=False does")
    arguments = parser.parse_args()
    noise = not arguments.exact
    print(f"rule {arguments.rule}, noise={noise}, {arguments.seeds} seeds, {arguments.heavy} heavy runs")
    print(f"{'task':12} recommended    best   best - recommended, in % of the range")
    of_all = []
    for name in arguments.tasks:
        task = Noisy(TASKS[name])
        of_all.append([task.regrets(arguments.rule, noise, seed, arguments.heavy) for seed in range(arguments.seeds)])
        print(line(name, np.array(of_all[-1])), flush=True)
    print(line("all", np.mean(of_all, axis=0)))


if __name__ == "__main__":
    main()
