"""The convolutional network with oneDNN's AVX2 and AVX-512 code: whether processes agree bit for bit, and the ratio.

    BTAO_DATA=FOLDER OMP_NUM_THREADS=1 python tests/measurements/cnn_vector_width.py [--processes 8] [--units 32 64]

Each process trains the same network for two epochs, with memory laid out a little differently, and prints a digest of
its weights. Of each width the number of different digests is printed, which should be 1, and the processor seconds of
an epoch as a ratio to AVX2's. A processor without AVX-512 uses AVX2 under both names.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import subprocess
import sys
import time

import numpy as np

WIDTHS = "AVX2", "AVX512_CORE"
EPOCHS = 2


def main() -> None:
    """Print a line for each width."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--units", type=int, nargs=2, default=(32, 64))
    parser.add_argument("--n-train", type=int, default=2000)
    options = parser.parse_args()
    settings = [str(number) for number in (options.n_train, *options.units)]
    seen: dict[str, list[tuple[str, float]]] = {width: [] for width in WIDTHS}
    for number in range(options.processes):
        for width in WIDTHS:  # in turn, as the machine may be faster at one time than at another
            command = [sys.executable, __file__, "train", *settings, str(1 + 4099 * number)]
            environment = os.environ | {"ONEDNN_MAX_CPU_ISA": width, "TF_NUM_INTRAOP_THREADS": "1"}
            printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            digest, seconds = printed.split()
            seen[width].append((digest, float(seconds)))
    for width, runs in seen.items():
        ratio = statistics.median(run[1] / base[1] for run, base in zip(runs, seen[WIDTHS[0]], strict=True))
        digests = len({digest for digest, _ in runs})
        print(f"{width:12s} {digests} digest(s) of {len(runs)} processes, an epoch {ratio:.2f} times AVX2's")


def train(n_train: int, units1: int, units2: int, shift: int) -> None:
    """Print the digest after two epochs and the processor seconds of one."""
    _shifted = np.empty(shift)  # so that what follows lies elsewhere than in another process
    from benchmarks.data import datasets, images
    from benchmarks.objectives.cnn import ConvolutionalNetwork
    from benchmarks.objectives.networks import DeviceImages, NetworkTraining

    split = images.split(datasets.load("cifar10"), n_train, 500)
    network = ConvolutionalNetwork(split.x_train.shape[1:], (units1, units2), (5, 3), 3, "relu")
    training = NetworkTraining(network, DeviceImages(split), batch_size=128, learning_rate=1e-3, seed=7, dropout=0.4)
    started = time.process_time()
    for _ in range(EPOCHS):
        training.advance()
    seconds = (time.process_time() - started) / EPOCHS
    state = training.state()
    print(hashlib.sha256(b"".join(state[name].tobytes() for name in sorted(state))).hexdigest(), seconds)


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"]:
        train(*map(int, sys.argv[2:]))
    else:
        main()
