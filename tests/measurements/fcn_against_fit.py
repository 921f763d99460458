"""Time an epoch of the FCN task against Keras's `Model.fit`, and what a new configuration costs: ratios, on the CPU.

    BTAO_DATA=FOLDER OMP_NUM_THREADS=1 python tests/measurements/fcn_against_fit.py [--threads 1] [--accuracy]

Both train the same model on the same images in one process, epoch by epoch in turn, validation
included. With --accuracy, three seeds of each are trained for some epochs and their best errors
compared. Last come configurations of different shapes: the first epoch, with tracing and
compilation, against the median of the later ones, and the time to take and to keep a state.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

UNITS, RATE = 256, 1e-3
BATCHES = {128: 5, 8: 3}  # batch size: epochs timed
ACCURACY_EPOCHS, SEEDS = 6, (0, 1, 2)
SHAPES = 9


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--accuracy", action="store_true", help="compare the accuracies at batch 128, too")
    parser.add_argument("--n-train", type=int, default=50_000)
    options = parser.parse_args()
    os.environ |= {"TF_NUM_INTRAOP_THREADS": str(options.threads), "TF_NUM_INTEROP_THREADS": "1"}
    os.environ |= {"CUDA_VISIBLE_DEVICES": ""}
    from benchmarks.objectives.fcn import FCN

    task = FCN(n_train=options.n_train)
    task.prepare()
    print(f"{task.data.name}: {task.data.n_train} training images, {options.threads} threads")
    for batch_size, epochs in BATCHES.items():
        compare(task, batch_size, epochs)
    if options.accuracy:
        accuracy(task)
    new_shapes(task)


def start(task, batch_size: int, seed: int = 0):
    return task.start({"batch_size": batch_size, "units": UNITS, "learning_rate": RATE}, seed)


def keras_model(task, batch_size: int, seed: int = 0) -> Callable[[], float]:
    """An epoch of `Model.fit` on the same model; returns the validation error."""
    import keras

    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.layers.Dense(UNITS, activation="relu"), keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(RATE), loss, metrics=["accuracy"])
    split = task._split
    x, x_validation = (x.reshape(len(x), -1) / np.float32(255) for x in (split.x_train, split.x_validation))
    held_out = x_validation, split.y_validation

    def epoch() -> float:
        history = model.fit(
            x, split.y_train, batch_size, verbose=0, validation_data=held_out, validation_batch_size=1000
        )
        return 1 - history.history["val_accuracy"][0]

    return epoch


def timed(epoch: Callable[[], object]) -> tuple[float, float]:
    """Seconds and processor seconds."""
    started, processor = time.perf_counter(), time.process_time()
    epoch()
    return time.perf_counter() - started, time.process_time() - processor


def compare(task, batch_size: int, epochs: int) -> None:
    ours, theirs = start(task, batch_size).advance, keras_model(task, batch_size)
    ours(), theirs()  # compile
    pairs = [(timed(ours), timed(theirs)) for _ in range(epochs)]
    ratios = [[fit[kind] / suite[kind] for suite, fit in pairs] for kind in (0, 1)]
    wall, processor = map(statistics.median, ratios)
    print(
        f"batch {batch_size:3d}: Model.fit takes {wall:.1f} times the seconds and {processor:.1f} times "
        f"the processor's seconds of the suite, {statistics.median(suite[0] for suite, _ in pairs):.2f} s an epoch"
    )


def accuracy(task) -> None:
    """Best errors of three seeds each: means and the standard error of their difference."""
    ours, theirs = [], []
    for seed in SEEDS:
        training, fit = start(task, 128, seed), keras_model(task, 128, seed)
        ours.append(min(training.advance().validation_error for _ in range(ACCURACY_EPOCHS)))
        theirs.append(min(fit() for _ in range(ACCURACY_EPOCHS)))
    error = np.sqrt((np.var(ours, ddof=1) + np.var(theirs, ddof=1)) / len(SEEDS))
    print(
        f"best error of {ACCURACY_EPOCHS} epochs at batch 128, {len(SEEDS)} seeds: suite {np.mean(ours):.5f}, "
        f"Model.fit {np.mean(theirs):.5f}; standard error of the difference {error:.5f}"
    )


def new_shapes(task) -> None:
    """What the first epoch of a new shape costs beyond a later one, and what keeping a state does."""
    from benchmarks.running.continuation import StateFolder

    generator = np.random.default_rng(0)
    extra, keeping = [], []
    with tempfile.TemporaryDirectory() as folder:
        states = StateFolder(Path(folder) / "states")
        for _ in range(SHAPES):
            config = task.space.from_unit(generator.random(task.space.dim))
            config["batch_size"] = max(config["batch_size"], 32)  # short epochs: this is about the first
            box = []
            begin = timed(lambda: box.append(task.start(config, 0)))  # noqa: B023
            training = box[0]
            first, *later = (timed(training.advance) for _ in range(4))
            extra.append(
                [begin[kind] + first[kind] - statistics.median(times[kind] for times in later) for kind in (0, 1)]
            )
            keeping.append(timed(lambda: states.save(config, 4, training.state))[0])  # noqa: B023
    wall, processor = (statistics.median(times) for times in zip(*extra, strict=True))
    print(f"first epoch of a new shape: {wall:.2f} s, {processor:.2f} s of processor above a later one (median)")
    print(f"keeping a state: {1000 * statistics.median(keeping):.0f} ms (median), {1000 * max(keeping):.0f} ms at most")


if __name__ == "__main__":
    main()
