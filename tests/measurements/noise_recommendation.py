"""How near the optimum the true values of `recommended` and of `best` are where both levels are noisy.

    OMP_NUM_THREADS=1 .venv/bin/python tests/measurements/noise_recommendation.py [--function bowl] [--rule joint]

The function is a bowl of two parameters whose cheap version has its minimum elsewhere, or Forrester's of one parameter
with its usual cheap version (Forrester, Sobester and Keane, 2007). The noise of each level is normal, with 5% of that
level's range as its standard deviation. Printed are the true regret of either configuration over the seeds, in percent
of the heavy range, and their mean difference with a 95% interval of Student.
"""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from btao import BTAO, Real, Space

UNBOUNDED = (-math.inf, math.inf)
SHARE = 0.05


class Function(NamedTuple):
    dim: int

    def values(self, X: np.ndarray) -> dict[str, np.ndarray]:
        """Both levels at points (n, dim) of the unit cube."""
        if self.dim == 1:
            x = X[:, 0]
            heavy = (6 * x - 2) ** 2 * np.sin(12 * x - 4)
            return {"light": 0.5 * heavy + 10 * (x - 0.5) - 5, "heavy": heavy}
        heavy = (X[:, 0] - 0.6) ** 2 + 2 * (X[:, 1] - 0.35) ** 2
        return {"light": heavy + 0.2 * X[:, 0] - 0.1 * X[:, 1], "heavy": heavy}


FUNCTIONS = {"bowl": Function(2), "forrester": Function(1)}


def regrets(function: Function, rule: str, noise: bool | None, seed: int, n_heavy: int) -> tuple[float, float]:
    """The true regret of `recommended` and of `best` at the end of a run, in shares of the heavy range."""
    axes = [np.linspace(0, 1, 100_001 if function.dim == 1 else 401)] * function.dim
    grid = function.values(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, function.dim))
    sizes = {level: float(np.ptp(values)) for level, values in grid.items()}
    rng = np.random.default_rng([seed, 1])
    space = Space({f"x{j}": Real(0.0, 1.0) for j in range(function.dim)})
    optimizer = BTAO(space, seed=seed, rule=rule, noise=noise, delta_bounds=UNBOUNDED, rho_bounds=UNBOUNDED)
    while sum(trial.level == "heavy" for trial in optimizer.trials) < n_heavy:
        trial = optimizer.ask()
        true = float(function.values(trial.point[None])[trial.level][0])
        optimizer.tell(trial, true + SHARE * sizes[trial.level] * rng.standard_normal())
    chosen = np.array([optimizer.recommended.point, optimizer.best.point])
    recommended, best = (function.values(chosen)["heavy"] - grid["heavy"].min()) / sizes["heavy"]
    return float(recommended), float(best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--function", choices=FUNCTIONS, default="bowl")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--heavy", type=int, default=20)
    parser.add_argument("--rule", default="joint")
    parser.add_argument("--exact", action="store_true", help="take values as exact, as noise=False does")
    arguments = parser.parse_args()
    noise, function = not arguments.exact, FUNCTIONS[arguments.function]
    seeds = range(arguments.seeds)
    results = 100 * np.array([regrets(function, arguments.rule, noise, seed, arguments.heavy) for seed in seeds])
    print(
        f"{arguments.function}, {arguments.rule}, noise={noise}: {arguments.seeds} seeds, {arguments.heavy} heavy runs"
    )
    for name, column in zip(("recommended", "best"), results.T, strict=True):
        print(f"{name:12} mean {column.mean():6.3f}  median {np.median(column):6.3f}  largest {column.max():6.3f}")
    gain = results[:, 1] - results[:, 0]
    half = student.ppf(0.975, len(gain) - 1) * gain.std(ddof=1) / math.sqrt(len(gain))
    print(f"best - recommended, % of the range: {gain.mean():.3f} [{gain.mean() - half:.3f}, {gain.mean() + half:.3f}]")


if __name__ == "__main__":
    main()
