"""How near the optimum the true values of `recommended` and of `best` are where both levels are noisy.

    OMP_NUM_THREADS=1 .venv/bin/python tests/measurements/noise_recommendation.py [--rule rate] [--tasks TASK ...]
    OMP_NUM_THREADS=1 .venv/bin/python tests/measurements/noise_recommendation.py [--rule rate] --random

The functions are all synthetic tasks of the suite with at most four parameters, but for the toy and those whose light
level misleads. The noise of each level is normal, with 5% of that level's range as its standard deviation. Printed are
the mean true regrets of both configurations over the seeds, in percent of the heavy range, and how much less that of
`recommended` is, with a 95% interval of Student. The last line pools the functions: of each seed, the mean over them.

With --random each seed draws functions of its own of one, two and three parameters, as smooth as the model takes them
to be: what a recommendation gains where nothing but noise disturbs it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
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
from btao import BTAO, Real, Space

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

Function = Callable[[np.ndarray], np.ndarray]


class Task(NamedTuple):
    """A function of two levels, as a synthetic task of the suite has it."""

    space: Space
    optimum: float
    sign: int
    light_function: Function
    heavy_function: Function


# By the number of parameters of a random function, the length of its kernel as a share of the cube's side.
LENGTHS = {1: 0.15, 2: 0.3, 3: 0.4}
FEATURES = 200


def smooth(dim: int, length: float, std: float, rng: np.random.Generator) -> Function:
    """A draw of a Gaussian process with the squared exponential kernel, by random Fourier features."""
    frequencies, phases = rng.standard_normal((FEATURES, dim)) / length, rng.uniform(0, 2 * math.pi, FEATURES)
    amplitudes = rng.standard_normal(FEATURES) * std * math.sqrt(2 / FEATURES)
    return lambda x: np.cos(frequencies @ x + phases) @ amplitudes


def random_task(dim: int, seed: int) -> Task:
    """A heavy function, and a light one that is a multiple of it, a smoother difference and a constant."""
    rng = np.random.default_rng([seed, dim, 2])
    length = LENGTHS[dim]
    heavy, difference = smooth(dim, length, 1.0, rng), smooth(dim, 1.5 * length, 0.4, rng)
    rho, constant = rng.uniform(0.5, 1.5), rng.uniform(-1, 1)
    points = qmc.Sobol(dim, rng=np.random.default_rng(0)).random_base2(LOG2_POINTS)
    starts = sorted(points, key=heavy)[:10]
    optimum = min(float(minimize(heavy, start, bounds=[(0, 1)] * dim).fun) for start in starts)
    space = Space({f"x{k}": Real(0.0, 1.0) for k in range(1, dim + 1)})
    return Task(space, optimum, 1, lambda x: rho * heavy(x) + difference(x) + constant, heavy)


class Noisy:
    """A task with noise on both levels, in proportion to their ranges on a Sobol sequence."""

    def __init__(self, task: type[Synthetic] | Task) -> None:
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
        bounds = {} if rule == "rate" else {"delta_bounds": UNBOUNDED, "rho_bounds": UNBOUNDED}
        optimizer = BTAO(self.space, seed=seed, rule=rule, noise=noise, **bounds)
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
    parser.add_argument("--random", action="store_true", help="on random functions instead, others for each seed")
    parser.add_argument("--exact", action="store_true", help="take values as exact, as noise=False does")
    arguments = parser.parse_args()
    noise = not arguments.exact
    print(f"rule {arguments.rule}, noise={noise}, {arguments.seeds} seeds, {arguments.heavy} heavy runs")
    print(f"{'task':12} recommended    best   best - recommended, in % of the range")
    of_all = []
    for name in [f"random, {dim}-D" for dim in LENGTHS] if arguments.random else arguments.tasks:
        fixed = None if arguments.random else Noisy(TASKS[name])
        regrets = []
        for seed in range(arguments.seeds):
            task = fixed or Noisy(random_task(len(of_all) + 1, seed))
            regrets.append(task.regrets(arguments.rule, noise, seed, arguments.heavy))
        of_all.append(regrets)
        print(line(name, np.array(regrets)), flush=True)
    print(line("all", np.mean(of_all, axis=0)))


if __name__ == "__main__":
    main()
