"""Time an epoch of the CNN task against `Model.fit` and PyTorch's plain loop: ratios, on the CPU.

    BTAO_DATA=FOLDER python tests/measurements/cnn_against_fit.py [--torch INTERPRETER] [--threads 1]

All train the same function (the peers' as their users write it: activation, then pooling) on the same
images, validation included, one epoch each in turn, each in a process of its own. `Model.fit` has
oneDNN's kernels, too, and need not be deterministic. INTERPRETER is a Python that has numpy and
PyTorch, which runs both with and without channels last. Counted are processor seconds, which other
work on the machine disturbs less, and seconds; medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

UNITS = 32, 64
KERNELS = 5, 3
POOL = 3
BATCH = 128
LEARNING_RATE, DROPOUT = 1e-3, 0.4

Times = tuple[float, float, float]  # processor seconds, seconds, validation error


def main() -> None:
    """Print a line for each contestant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", help="interpreter that has numpy and PyTorch")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=4, help="the first of which is not counted")
    parser.add_argument("--n-train", type=int, default=40_000)
    parser.add_argument("--n-validation", type=int, default=10_000)
    options = parser.parse_args()
    os.environ |= {
        "OMP_NUM_THREADS": str(options.threads),
        "TF_NUM_INTRAOP_THREADS": str(options.threads),
        "TF_NUM_INTEROP_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    from benchmarks.data import datasets, images

    split = images.split(datasets.load("cifar10"), options.n_train, options.n_validation)
    print(f"{split.source.name}: {split.source.n_train} training, {split.source.n_validation} validation images")
    contestants = {"suite": suite(options)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "split.npz"
        parts = ("x_train", "y_train", "x_validation", "y_validation")
        np.savez(path, **{part: getattr(split, part) for part in parts})
        contestants["Model.fit"] = remote([sys.executable, __file__, "fit", str(path)])
        if options.torch:
            for layout in ("contiguous", "channels_last"):
                peer = [options.torch, __file__, "torch", str(path), layout, str(options.threads)]
                contestants[f"PyTorch {layout}"] = remote(peer)
        rounds = [{name: next(epochs) for name, epochs in contestants.items()} for _ in range(options.epochs)][1:]
    for name in contestants:
        processor, seconds, errors = zip(*(times[name] for times in rounds), strict=True)
        ratio = statistics.median(times[name][0] / times["suite"][0] for times in rounds)
        print(
            f"{name:22s} {statistics.median(processor):7.2f} s of processor, {statistics.median(seconds):7.2f} s, "
            f"{ratio:5.2f} times the suite's; validation error {errors[-1]:.4f}"
        )


def timed(epoch: Callable[[], float]) -> Times:
    """What an epoch takes, and the error it returns."""
    processor, start = time.process_time(), time.perf_counter()
    error = epoch()
    return time.process_time() - processor, time.perf_counter() - start, error


def suite(options: argparse.Namespace) -> Iterator[Times]:
    """The task itself."""
    from benchmarks.objectives.cnn import CNN

    task = CNN(options.n_train, options.n_validation, kernel_sizes=KERNELS, pool_size=POOL, batch_size=BATCH)
    config = {"units1": UNITS[0], "units2": UNITS[1], "learning_rate": LEARNING_RATE, "dropout": DROPOUT}
    training = task.start(config, seed=0)
    while True:
        yield timed(lambda: training.advance().validation_error)


def fit(path: str) -> Callable[[], float]:
    """An epoch of Keras, arrays of float32 in memory."""
    import keras

    layers = []
    for units, kernel in zip(UNITS, KERNELS, strict=True):
        layers += [
            keras.layers.Conv2D(units, kernel, padding="same", activation="relu"),
            keras.layers.MaxPooling2D(POOL, 2, padding="same"),
        ]
    layers += [keras.layers.Flatten(), keras.layers.Dropout(DROPOUT), keras.layers.Dense(10)]
    model = keras.Sequential(layers)
    model.compile(
        keras.optimizers.Adam(LEARNING_RATE),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    with np.load(path) as split:
        x, y = pixels(split["x_train"]), split["y_train"]
        held_out = pixels(split["x_validation"]), split["y_validation"]

    def epoch() -> float:
        history = model.fit(x, y, BATCH, verbose=0, validation_data=held_out, validation_batch_size=1000)
        return 1 - history.history["val_accuracy"][0]

    return epoch


def pixels(images):
    """Float32 images with an axis of channels, scaled as the task scales them."""
    images = images if images.ndim == 4 else images[..., None]
    return (images.astype(np.float32) / 255 - 0.5) * 4


def remote(command: list[str]) -> Iterator[Times]:
    """A peer in a process of its own, which trains an epoch for each line it is sent."""
    environment = os.environ | {"TF_ENABLE_ONEDNN_OPTS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, text=True) as process:
        while True:
            print("epoch", file=process.stdin, flush=True)
            processor, seconds, error = map(float, process.stdout.readline().split())
            yield processor, seconds, error


def pytorch(path: str, layout: str, threads: str) -> Callable[[], float]:
    """An epoch of PyTorch's plain loop over tensors in memory."""
    import torch
    from torch import nn

    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    memory_format = torch.channels_last if layout == "channels_last" else torch.contiguous_format

    def tensor(images):
        return torch.tensor(pixels(images).transpose(0, 3, 1, 2)).contiguous(memory_format=memory_format)

    with np.load(path) as split:
        x, x_validation = tensor(split["x_train"]), tensor(split["x_validation"])
        y, y_validation = (torch.tensor(split[part].astype(np.int64)) for part in ("y_train", "y_validation"))
    layers, inputs, side = [], x.shape[1], x.shape[2]
    for units, kernel in zip(UNITS, KERNELS, strict=True):
        # Windows that reach over the edge are what TensorFlow's "SAME" gives at an even width.
        layers += [nn.Conv2d(inputs, units, kernel, padding="same"), nn.ReLU(), nn.MaxPool2d(POOL, 2, ceil_mode=True)]
        inputs, side = units, -(-side // 2)
    layers += [nn.Flatten(), nn.Dropout(DROPOUT), nn.Linear(inputs * side * side, 10)]
    model = nn.Sequential(*layers).to(memory_format=memory_format)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    loss_of = nn.CrossEntropyLoss()

    def epoch() -> float:
        model.train()
        for chosen in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            loss = loss_of(model(x[chosen]), y[chosen])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            answers = torch.cat([model(batch).argmax(1) for batch in x_validation.split(1000)])
        return float((answers != y_validation).float().mean())

    return epoch


PEERS = {"fit": fit, "torch": pytorch}


def answer(peer: str, *arguments: str) -> None:
    """Train an epoch for each line of the input, and print its times and error."""
    epoch = PEERS[peer](*arguments)
    for _ in sys.stdin:
        print(*timed(epoch), flush=True)


if __name__ == "__main__":
    if set(sys.argv[1:2]) & set(PEERS):
        answer(*sys.argv[1:])
    else:
        main()
