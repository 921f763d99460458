"""What BTAO's proposals cost in processor time, as ratios to GP-BO's and to Optuna's Gaussian-process sampler.

usage: OMP_NUM_THREADS=1 python tests/measurements/proposal_overhead.py [--optuna INTERPRETER] [--parts rate ...]
           [--out CSV]

INTERPRETER is that of an environment that has optuna and torch, see optuna_gp.py; without it that peer is left out.
All that is shown is of one call, one thread each. The parts:

    rate    asks of the rate rule on a smooth function of 3, 6 and 12 parameters, when as much is charged as 60 heavy
            runs cost (a light one a fifth), against asks of the peers at 60 observations: medians of the last 11 of
            each of five seeds; and of all asks of a run after its start the longest over the median, the most of any
    paper   the paper's rule with bounds on delta, in six dimensions: the mean of 60 asks, and of as many as make 60
            heavy runs, against that of 60 asks of GP-BO; and the longest over the median
    light   one ask of each rule after 1,000 light results, against one after 200
"""

import argparse
import csv
import math
import os
import statistics
import subprocess
import time

import numpy as np

from baselines.gp_bo import GPBO
from baselines.protocol import Measurement, Problem
from btao import BTAO, Real, Space

LAST = 11
SEEDS = range(5)
N_HEAVY = 60
HEAVY_COST = 5.0


def response(x, heavy):
    """A bowl with ripples in the cube: an error from 0.1 to about 1; lightly a larger one, which misleads a little."""
    away = x - np.linspace(0.3, 0.7, len(x))
    value = 0.1 + (2 * away**2 + 0.1 * (1 - np.cos(9 * away))).mean()
    return value if heavy else 1.3 * value + 0.05 * x[0]


def cube(dim):
    return Space({f"x{k}": Real(0.0, 1.0) for k in range(dim)})


def at(config, heavy):
    return float(response(np.array(list(config.values())), heavy))


def timed(ask):
    """What `ask` returns, and its processor seconds."""
    started = time.process_time()
    asked = ask()
    return asked, time.process_time() - started


def gp_bo(dim, seed):
    """Seconds of each ask of GP-BO after its start."""
    method, spent = GPBO(Problem(cube(dim), 1, None, N_HEAVY), seed=seed), []
    for _ in range(N_HEAVY):
        trial, seconds = timed(method.ask)
        method.tell(trial, Measurement(at(trial.config, True)))
        spent.append(seconds)
    return spent[dim + 2 :]


def btao(optimizer, done):
    """Seconds of each ask after the start, by level, until `done` of the counts by level."""
    counts, spent = {"light": 0, "heavy": 0}, []
    while not done(counts):
        trial, seconds = timed(optimizer.ask)
        optimizer.tell(trial, at(trial.config, trial.level == "heavy"))
        counts[trial.level] += 1
        spent.append(seconds)
    return spent[sum(optimizer.start_size) :], counts


OPTUNA = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, optuna, torch, scipy.optimize, scipy.stats
torch.set_num_threads(1)
optuna.logging.set_verbosity(optuna.logging.ERROR)
DIM, SEED, N = map(int, sys.argv[1:])
study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=SEED))
for _ in range(N):
    started = time.process_time()
    trial = study.ask()
    x = np.array([trial.suggest_float(f"x{k}", 0.0, 1.0) for k in range(DIM)])
    print(time.process_time() - started)
    away = x - np.linspace(0.3, 0.7, DIM)
    study.tell(trial, 0.1 + float((2 * away**2 + 0.1 * (1 - np.cos(9 * away))).mean()))
"""


def optuna(interpreter, dim, seed):
    """Seconds of each ask of Optuna's sampler, in a process of its own."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [interpreter, "-c", OPTUNA, str(dim), str(seed), str(N_HEAVY)]
    output = subprocess.run(command, env=os.environ | threads, check=True, capture_output=True, text=True).stdout
    return [float(line) for line in output.split()]


def middle(runs):
    """The median of the last seconds of all runs."""
    return statistics.median(seconds for spent in runs for seconds in spent[-LAST:])


def measure_rate(interpreter):
    def done(counts):
        return counts["light"] + HEAVY_COST * counts["heavy"] >= HEAVY_COST * N_HEAVY

    for dim in (3, 6, 12):
        options = {"rule": "rate", "heavy_cost": HEAVY_COST, "continues": False}
        mine = [btao(BTAO(cube(dim), seed=seed, **options), done) for seed in SEEDS]
        longest = max(max(spent) / statistics.median(spent) for spent, _ in mine)
        light, heavy = (statistics.median(counts[level] for _, counts in mine) for level in ("light", "heavy"))
        what = f"after {light} light and {heavy} heavy runs"
        last = middle(spent for spent, _ in mine)
        yield dim, what, "GP-BO", last / middle(gp_bo(dim, seed) for seed in SEEDS)
        if interpreter:
            yield dim, what, "Optuna's GP sampler", last / middle(optuna(interpreter, dim, seed) for seed in SEEDS)
        yield dim, "longest ask", "median ask", longest


def measure_paper(interpreter):
    peer = gp_bo(6, seed=0)
    for what, done in (
        ("60 asks", lambda n: n["light"] + n["heavy"] >= 60),
        ("60 heavy runs", lambda n: n["heavy"] >= 60),
    ):
        mine, _ = btao(BTAO(cube(6), seed=0, rule="paper"), done)
        yield 6, f"{what}, mean ask", "GP-BO", statistics.mean(mine) / statistics.mean(peer)
        yield 6, f"{what}, longest ask", "median ask", max(mine) / statistics.median(mine)


def measure_light(interpreter):
    for rule in ("rate", "joint", "paper"):
        seconds = []
        for n in (200, 200, 1000):  # the first warms up
            bounds = {} if rule == "rate" else {"delta_bounds": (-math.inf, math.inf)}
            optimizer = BTAO(cube(6), seed=0, rule=rule, **bounds)
            points = np.random.default_rng(0).random((n, 6))
            results = [(dict(zip(optimizer.space.names, x, strict=True)), x) for x in points.tolist()]
            rows = [{"config": c, "level": "light", "value": at(c, False)} for c, _ in results]
            rows += [{"config": c, "level": "heavy", "value": at(c, True)} for c, _ in results[:10]]
            optimizer.add_trials(rows)
            seconds.append(timed(optimizer.ask)[1])
        yield 6, f"rule {rule} after 1,000 light runs", "after 200", seconds[2] / seconds[1]


MEASURES = {"rate": measure_rate, "paper": measure_paper, "light": measure_light}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optuna", help="the python of an environment that has optuna and torch")
    parser.add_argument("--parts", nargs="+", choices=[*MEASURES], default=[*MEASURES])
    parser.add_argument("--out", help="a file for the ratios, as CSV")
    given = parser.parse_args()
    if given.out:
        open(given.out, "a").close()  # a path that is no good shows before anything is measured
    rows = []
    for part in given.parts:
        for dim, what, over, ratio in MEASURES[part](given.optuna):
            rows.append((part, dim, what, over, f"{ratio:.2f}"))
            print(f"{part}: {dim} parameters, {what}: {ratio:.2f} times as long as {over}", flush=True)
    if given.out:
        with open(given.out, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([("part", "parameters", "what", "over", "ratio"), *rows])


if __name__ == "__main__":
    main()
