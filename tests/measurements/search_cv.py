"""BTAOSearchCV against scikit-learn's searches and Optuna's TPE: errors on test samples at equal seconds of training.

usage: OMP_NUM_THREADS=1 python tests/measurements/search_cv.py [--seeds 5] [--tasks TASK ...] [--out FILE] [--csv FILE]

Successive halving cannot be stopped on the way, so it goes first: the processor seconds of its fits are what each of
the others may spend, on runs that end within them. A seed draws the split and the search. The best configuration by
cross-validation is then fitted on all training samples and tested on the others; that fit is not counted, nor are the
seconds that a search takes to choose. Other processes make those of a fit vary, so let only steady ones run beside.

Each search is given the space in the way its users would give it: BTAO takes a list of numbers in its order, and TPE
takes it as categories.

FILE of --out holds a line of JSON for each method, task and seed that is done; the same command goes on from there.
At the end --csv gets them all: `results/reference/search_cv.csv`, which `notebooks/tuning.ipynb` shows,
is that of 20 seeds, and of 60 further ones of boosting_cancer, as the first ones spoke against BTAO by test errors.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import loguniform, randint, t, uniform
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, ParameterSampler, cross_val_score, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from btao import BTAOSearchCV, Integer, Real
from btao.search_cv.candidates import Candidates

try:
    import optuna
except ImportError:
    optuna = None

FOLDS = 3
LEAST, LIGHT, HEAVY = 5, 9, 45  # of the resource: halving's first round, and BTAO's levels
N_CANDIDATES = 45  # of halving: as many iterations as 15 heavy runs
N_HEAVY = 18  # of BTAO: more than its seconds suffice for, as a rule

SECONDS = []  # of the processor, of each fit in this process


class Timed:
    """Keeps the seconds of its fits: unlike those of `cv_results_`, they do not depend on what else runs."""

    def fit(self, X, y):
        started = time.process_time()
        try:
            return super().fit(X, y)
        finally:  # a fit that fails has been paid for, too
            SECONDS.append(time.process_time() - started)


class Boosting(Timed, HistGradientBoostingClassifier):
    pass


class Trees(Timed, ExtraTreesClassifier):
    pass


class Network(Timed, MLPClassifier):
    pass


BOOSTING = Boosting(early_stopping=False, random_state=0)
BOOSTING_SPACE = {
    "learning_rate": loguniform(0.01, 1),
    "max_leaf_nodes": randint(4, 33),
    "min_samples_leaf": randint(2, 51),
    "l2_regularization": loguniform(1e-6, 10),
    "max_features": uniform(0.1, 0.9),
}
TREES_SPACE = {
    "max_features": loguniform(0.02, 1),
    "max_depth": randint(3, 31),
    "min_samples_split": randint(2, 33),
    "bootstrap": [False, True],
}
NETWORK = Pipeline([("scale", StandardScaler()), ("mlp", Network(random_state=0))])
NETWORK_SPACE = {
    "mlp__hidden_layer_sizes": randint(8, 129),
    "mlp__alpha": loguniform(1e-6, 10),
    "mlp__learning_rate_init": loguniform(1e-4, 0.1),
    "mlp__batch_size": [16, 32, 64, 128],
}
# The estimator, its space, the resource, the data and how many samples of it are for training.
TASKS = {
    "boosting_digits": (BOOSTING, BOOSTING_SPACE, "max_iter", load_digits, 400),
    "boosting_cancer": (BOOSTING, BOOSTING_SPACE, "max_iter", load_breast_cancer, 285),
    "trees_digits": (Trees(random_state=0), TREES_SPACE, "n_estimators", load_digits, 600),
    "network_digits": (NETWORK, NETWORK_SPACE, "mlp__max_iter", load_digits, 600),
}


class Run:
    """A task with one seed: its samples, and what a search of it may spend."""

    def __init__(self, task, seed):
        self.estimator, self.space, self.resource, load, n_train = TASKS[task]
        X, y = load(return_X_y=True)
        self.X, self.X_test, self.y, self.y_test = train_test_split(
            X, y, train_size=n_train, stratify=y, random_state=seed
        )
        self.seed = seed

    def halving(self, seconds):
        """The best parameters, their score and the seconds of all fits; `seconds` is not asked."""
        search = HalvingRandomSearchCV(
            self.estimator,
            self.space,
            n_candidates=N_CANDIDATES,
            resource=self.resource,
            min_resources=LEAST,
            max_resources=HEAVY,
            cv=FOLDS,
            refit=False,
            random_state=self.seed,
        ).fit(self.X, self.y)
        return search.best_params_, search.best_score_, sum(SECONDS)

    def btao(self, seconds):
        """The best parameters, their score and the seconds of fits, of the heavy runs that end within `seconds`."""
        n_heavy, spent = N_HEAVY, np.zeros(1)
        while spent[-1] <= seconds:  # where runs were cheap, the same search with more of them
            SECONDS.clear()
            results = self._btao_search(n_heavy).cv_results_
            spent = np.reshape(SECONDS, (-1, FOLDS)).sum(axis=1).cumsum()
            n_heavy += N_HEAVY // 2
        within = (results["level"] == "heavy") & (spent <= seconds)
        best = int(np.flatnonzero(within)[results["mean_test_score"][within].argmax()])
        return results["params"][best], results["mean_test_score"][best], spent[spent <= seconds].max()

    def _btao_search(self, n_heavy):
        return BTAOSearchCV(
            self.estimator,
            self.space,
            resource=self.resource,
            light_resource=LIGHT,
            heavy_resource=HEAVY,
            n_heavy=n_heavy,
            cv=FOLDS,
            refit=False,
            random_state=self.seed,
        ).fit(self.X, self.y)

    def random(self, seconds):
        """As `btao`: configurations as RandomizedSearchCV draws them, one after another."""
        drawn = iter(ParameterSampler(self.space, 10_000, random_state=self.seed))
        return self._one_after_another(lambda: next(drawn), lambda params, score: None, seconds)

    def tpe(self, seconds):
        """As `btao`: Optuna's TPE with its defaults."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=self.seed))
        candidates = Candidates.of(self.space)
        trials = []

        def ask():
            trials.append(study.ask())
            return candidates.params(
                {name: suggest(trials[-1], name, parameter) for name, parameter in candidates.space.parameters.items()}
            )

        return self._one_after_another(ask, lambda params, score: study.tell(trials[-1], score), seconds)

    def _one_after_another(self, ask, tell, seconds):
        best = None, -np.inf
        while True:
            params = {**ask(), self.resource: HEAVY}
            before = sum(SECONDS)
            score = cross_val_score(clone(self.estimator).set_params(**params), self.X, self.y, cv=FOLDS).mean()
            if sum(SECONDS) > seconds:
                return *best, before
            tell(params, score)
            best = max(best, (params, score), key=lambda each: each[1])

    def test_error(self, params):
        """The error on the test samples after a fit on all training samples."""
        fitted = clone(self.estimator).set_params(**params).fit(self.X, self.y)
        return 1 - fitted.score(self.X_test, self.y_test)


def suggest(trial, name, parameter):
    if isinstance(parameter, Real):
        return trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Integer):
        return trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log)
    return trial.suggest_categorical(name, [parameter.at(index) for index in range(parameter.size)])


# Halving first: the others have its seconds.
METHODS = {
    "HalvingRandomSearchCV": Run.halving,
    "BTAOSearchCV": Run.btao,
    "RandomizedSearchCV": Run.random,
    **({"Optuna's TPE": Run.tpe} if optuna else {}),
}


def read(path):
    """What is done: rows by task, seed and method. A line that was cut off is not."""
    done = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        done[row["task"], row["seed"], row["method"]] = row
    return done


def interval(values):
    """The mean with half the width of its 95 % interval."""
    half = t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{statistics.mean(values):.4f} ± {half:.4f}"


def table(done, tasks, seeds):
    """A Markdown table of what is done for all methods."""
    print("| task | method | seeds | seconds | CV error | CV error less BTAO's | test error | test error less BTAO's |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for task in tasks:
        complete = [seed for seed in seeds if all((task, seed, method) in done for method in METHODS)]
        for method in METHODS if complete else ():
            rows = [done[task, seed, method] for seed in complete]
            ours = [done[task, seed, "BTAOSearchCV"] for seed in complete]
            cells = [task, method, len(rows), f"{statistics.mean(row['seconds'] for row in rows):.1f}"]
            for error in ("cv_error", "test_error"):
                cells.append(interval([row[error] for row in rows]))
                cells.append(interval([row[error] - our[error] for row, our in zip(rows, ours, strict=True)]))
            print("|", " | ".join(map(str, cells)), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=[*TASKS])
    parser.add_argument("--out", type=Path, default=Path("build/search_cv.jsonl"))
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    if optuna is None:
        print("Optuna is not installed: its TPE is left out")
    warnings.filterwarnings("ignore", message="Stochastic Optimizer")  # stopping before convergence is meant
    options.out.parent.mkdir(parents=True, exist_ok=True)
    done = read(options.out)
    with options.out.open("a") as file:
        if done and not options.out.read_text().endswith("\n"):
            file.write("\n")  # after a line that was cut off
        for seed in range(options.seeds):
            for task in options.tasks:
                for name, method in METHODS.items():
                    if (task, seed, name) in done:
                        continue
                    run = Run(task, seed)
                    first = done.get((task, seed, "HalvingRandomSearchCV"))
                    SECONDS.clear()
                    params, score, seconds = method(run, first and first["seconds"])
                    row = {"task": task, "seed": seed, "method": name, "seconds": float(seconds)}
                    row |= {"cv_error": float(1 - score), "test_error": float(run.test_error(params))}
                    done[task, seed, name] = row
                    print(json.dumps(row), file=file, flush=True)
                    print(f"{task} seed {seed}: {name} {row['test_error']:.4f} in {seconds:.1f} s", flush=True)
    table(done, options.tasks, range(options.seeds))
    if options.csv is not None:
        rows = pd.DataFrame(done.values())
        places = rows["task"].map([*TASKS].index), rows["seed"], rows["method"].map([*METHODS].index)
        rows.iloc[np.lexsort(places[::-1])].to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()
