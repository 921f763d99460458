"""Time the SVM task's training and validation against plain scikit-learn's: ratios, one BLAS thread.

    BTAO_DATA=FOLDER python tests/measurements/svm_against_sklearn.py [--n-train 50000] [--limits 50 500]

One process trains both on the same images for the same iterations, asks that the machines are equal to
the bit, and validates both ways, asking for identical predictions. Counted is processor time, which
other work on the machine disturbs less. `SVC.predict` takes time in proportion to the images, so it
may be timed on the first of them (`--predict`), and counted for all.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

# Before numpy is imported.
os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from benchmarks.data import datasets as data
from benchmarks.data.images import split
from benchmarks.objectives.one_against_one import decision_values, vote
from benchmarks.objectives.svm import SVM


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """What a function returns, and its processor seconds."""
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


def main() -> None:
    """Print seconds, ratios and validation errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-train", type=int, default=50_000)
    parser.add_argument("--n-validation", type=int, default=10_000)
    parser.add_argument("--limits", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--predict", type=int, help="images that SVC.predict is timed on, all if not given")
    parser.add_argument("-C", type=float, default=4.0)
    parser.add_argument("--gamma", type=float, default=0.03)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)

    task = SVM(options.n_train, options.n_validation)
    images = split(data.load("mnist"), options.n_train, options.n_validation)
    print(f"{task.data.name}: {task.data.n_train} training, {task.data.n_validation} validation images")
    x = images.x_train.reshape(len(images.x_train), -1) / 255.0
    asked = images.x_validation.reshape(len(images.x_validation), -1) / 255.0
    task.prepare()
    for limit in options.limits:
        parameters = {"C": options.C, "gamma": options.gamma, "max_iter": limit, "random_state": 0}
        ours, our_fit = timed(SVC(**parameters).fit, *task._training)
        theirs, their_fit = timed(SVC(**parameters).fit, x, images.y_train)
        assert np.array_equal(ours.dual_coef_, theirs.dual_coef_)
        assert np.array_equal(ours.intercept_, theirs.intercept_)
        assert np.array_equal(ours.support_vectors_, theirs.support_vectors_)
        values, validation = timed(
            decision_values,
            asked,
            theirs.support_vectors_,
            theirs.n_support_,
            theirs.dual_coef_,
            theirs.intercept_,
            options.gamma,
        )
        votes, voting = timed(vote, values, len(theirs.classes_))
        some = asked[: options.predict]
        predicted, their_validation = timed(theirs.predict, some)
        predictions = theirs.classes_[votes]
        assert np.array_equal(predictions[: len(some)], predicted)
        their_validation *= len(asked) / len(some)
        validation += voting
        print(
            f"{limit} iterations, {len(theirs.support_)} support vectors, "
            f"validation error {(predictions != images.y_validation).mean():.4f}\n"
            f"  training: plain SVC {their_fit:.1f} s, by class {our_fit:.1f} s, ratio {their_fit / our_fit:.2f}\n"
            f"  validation: SVC.predict {their_validation:.2f} s, matrix products {validation:.2f} s, "
            f"ratio {their_validation / validation:.1f} (at least 10 is wanted); "
            f"smallest |decision value| {np.abs(values).min():.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
