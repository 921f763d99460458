"""How near each method comes to the optimum of a mixed space with a conditional parameter, after some heavy runs.

usage: OMP_NUM_THREADS=1 python tests/measurements/mixed_space.py [--seeds 20] [--heavy 25] [METHOD ...]

The function has two real parameters, one on a logarithmic scale, an integer, a category of four, and a momentum that
two of the categories have. Its heavy level is least, 0, in the third category; the light level prefers the second. A
line a method: mean of the regret over the seeds, its standard error, the ratio to random search, light runs a run.
"""

import argparse
import math
import pkgutil

import numpy as np

from baselines.protocol import Measurement, Problem, check_compatible
from benchmarks.config.registry import document
from btao import Categorical, Integer, Real, Space, When

METHODS = ["random_search", "btao_joint", "btao", "smac", "optuna_tpe"]
SPACE = Space(
    {
        "x": Real(0.0, 1.0),
        "y": Real(0.0, 1.0),
        "rate": Real(1e-4, 1.0, log=True),
        "units": Integer(1, 32),
        "kind": Categorical(("a", "b", "c", "d")),
        "momentum": Real(0.0, 0.99),
    },
    conditions={"momentum": When("kind", "b", "c")},
)
# By category what it adds, heavily and lightly, and where x, y, the scaled logarithm of the rate and units are best.
ADDED = {"a": (0.4, 0.3), "b": (0.15, 0.0), "c": (0.0, 0.1), "d": (0.6, 0.7)}
BEST = {
    "a": (0.2, 0.8, 0.5, 8),
    "b": (0.6, 0.3, 0.4, 20),
    "c": (0.7, 0.25, 0.6, 24),
    "d": (0.1, 0.1, 0.9, 4),
}
MOMENTUM = 0.8


def value(config, heavy):
    """The function at a level: a bowl with ripples of its own in each category."""
    x, y, rate, units = BEST[config["kind"]]
    log_rate = (math.log10(config["rate"]) + 4) / 4
    steps = config["x"] - x, config["y"] - y, log_rate - rate, (config["units"] - units) / 32
    bowl = 4 * steps[0] ** 2 + 3 * steps[1] ** 2 + 3 * steps[2] ** 2 + 2 * steps[3] ** 2
    ripples = 0.1 * sum(1 - math.cos(3 * math.pi * step) for step in steps[:2])
    drag = (config["momentum"] - MOMENTUM) ** 2 if "momentum" in config else 0.0
    if heavy:
        return ADDED[config["kind"]][0] + bowl + ripples + drag
    return 0.3 + ADDED[config["kind"]][1] + 1.2 * bowl + 0.5 * drag + 0.15 * (steps[0] - steps[2])


def run(name, seed, n_heavy):
    """The least heavy value of a run, and the number of its light runs."""
    problem = Problem(SPACE, heavy_iterations=10, light_iterations=2, n_heavy=n_heavy)
    parameters = document("method", name)
    method_class = pkgutil.resolve_name(parameters.pop("_target_"))
    check_compatible(name, method_class.capabilities, problem)
    method = method_class(problem=problem, seed=seed, **parameters)
    heavies, n_light = [], 0
    while len(heavies) < n_heavy:
        trial = method.ask()
        measured = value(trial.config, trial.heavy)
        method.tell(trial, Measurement(measured, cost=float(trial.budget)))
        if trial.heavy:
            heavies.append(measured)
        else:
            n_light += 1
    return min(heavies), n_light


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=METHODS, metavar="METHOD")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--heavy", type=int, default=25)
    given = parser.parse_args()
    random, _ = np.mean([run("random_search", seed, given.heavy) for seed in range(given.seeds)], axis=0)
    for name in given.methods:
        regrets, light = np.transpose([run(name, seed, given.heavy) for seed in range(given.seeds)])
        error = regrets.std(ddof=1) / math.sqrt(len(regrets))
        print(
            f"{name:14} regret {regrets.mean():.5f} ± {error:.5f}, {regrets.mean() / random:6.1%} of random search, "
            f"{light.mean():.0f} light runs",
            flush=True,
        )


if __name__ == "__main__":
    main()
