"""Time a whole BTAO run against Optuna's GP sampler on Currin: ratio of medians, one BLAS thread each.

Optuna and torch are no dependencies of the suite; they live in an environment of their own:

    python -m venv .venv-optuna
    .venv-optuna/bin/python -m pip install optuna==5.0.0 torch==2.13.0 scipy
    .venv/bin/python tests/measurements/optuna_gp.py --optuna .venv-optuna/bin/python

BTAO runs to 20 heavy and 40 light evaluations, Optuna's GPSampler for as many trials in all. The
two alternate, each run in a fresh process; a process times its own loop, imports excluded.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}

BTAO_RUN = """
import math, time
from benchmarks.objectives.currin import heavy, light
from btao import BTAO, Real, Space
import numpy, scipy.stats, scipy.optimize

space = Space({"x1": Real(0.0, 1.0), "x2": Real(0.0, 1.0)})
start = time.perf_counter()
optimizer = BTAO(space, seed=SEED, rule="joint", delta_bounds=(-math.inf, math.inf), rho_bounds=(-math.inf, math.inf))
functions = {"light": light, "heavy": heavy}
while sum(trial.level == "heavy" for trial in optimizer.trials) < 20:
    trial = optimizer.ask()
    optimizer.tell(trial, -float(functions[trial.level](numpy.array(list(trial.config.values())))))
seconds = time.perf_counter() - start
lights = sum(trial.level == "light" for trial in optimizer.trials)
assert lights >= 40, lights
print(len(optimizer.trials), seconds)
"""

OPTUNA_RUN = """
import math, time, warnings
warnings.simplefilter("ignore")
import optuna, torch, scipy.optimize, scipy.stats

torch.set_num_threads(1)
optuna.logging.set_verbosity(optuna.logging.ERROR)

def currin(trial):
    x1, x2 = trial.suggest_float("x1", 0.0, 1.0), trial.suggest_float("x2", 0.0, 1.0)
    factor = 1.0 - math.exp(-1.0 / (2.0 * x2)) if x2 > 0 else 1.0
    top = 2300 * x1**3 + 1900 * x1**2 + 2092 * x1 + 60
    return factor * top / (100 * x1**3 + 500 * x1**2 + 4 * x1 + 20)

study = optuna.create_study(direction="maximize", sampler=optuna.samplers.GPSampler(seed=SEED))
start = time.perf_counter()
study.optimize(currin, n_trials=N_TRIALS)
print(N_TRIALS, time.perf_counter() - start)
"""


def seconds_of(python: str, program: str) -> tuple[int, float]:
    """Number of trials and seconds that a program in a fresh process reports of its own loop."""
    output = subprocess.run(
        [python, "-c", program], env=os.environ | ONE_THREAD, check=True, capture_output=True, text=True
    ).stdout.split()
    return int(output[0]), float(output[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optuna", required=True, help="the python of an environment that has optuna and torch")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    ours, theirs = [], []
    for seed in range(options.repeats):
        n_trials, seconds = seconds_of(sys.executable, BTAO_RUN.replace("SEED", str(seed)))
        ours.append(seconds)
        program = OPTUNA_RUN.replace("SEED", str(seed)).replace("N_TRIALS", str(n_trials))
        theirs.append(seconds_of(options.optuna, program)[1])
        print(f"seed {seed}: {n_trials} trials, BTAO {ours[-1]:.2f} s, Optuna GPSampler {theirs[-1]:.2f} s", flush=True)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"median BTAO / median Optuna GPSampler = {ratio:.2f} (at most 1 is wanted)")


if __name__ == "__main__":
    main()
