"""The data sets as they were published: what is in them, where they are, and how their files are read."""

from __future__ import annotations

import pickle
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from benchmarks.data.images import Array
from benchmarks.data.stand_in import CIFAR10_STAND_IN, MNIST_STAND_IN, StandIn


@dataclass(frozen=True)
class Dataset:
    """What is known of a published data set.

    Attributes
    ----------
    name : str
    image_shape : tuple of int
    train_counts, test_counts : tuple of int
        Images of each class.
    n_validation : int
        Images at the end of the training set that are set aside for validation.
    content : str
        SHA-256 of the original arrays (`content_sha256`).
    url, sha256 : str
        The published file and its checksum.
    convert : callable, optional
        From the path of the published file to the four arrays, if it is no npz archive.
    stand_in : StandIn, optional
    """

    name: str
    image_shape: tuple[int, ...]
    train_counts: tuple[int, ...]
    test_counts: tuple[int, ...]
    n_validation: int
    content: str
    url: str
    sha256: str
    convert: Callable[[Path], Mapping[str, Any]] | None = None
    stand_in: StandIn | None = None


def read_cifar_archive(path: Path) -> dict[str, Array]:
    """The four arrays of CIFAR-10's "python version", whose batches are pickles.

    Unpickling runs whatever a pickle says: call this on a file whose SHA-256 has been checked only.
    """
    batches = {"train": [f"data_batch_{i}" for i in range(1, 6)], "test": ["test_batch"]}
    arrays = {}
    with tarfile.open(path, "r:gz") as archive:
        for part, names in batches.items():
            members = [cast(IO[bytes], archive.extractfile(f"cifar-10-batches-py/{name}")) for name in names]
            contents = [pickle.load(member, encoding="bytes") for member in members]
            rows = np.concatenate([content[b"data"] for content in contents])
            # A row is the red, then the green, then the blue plane.
            arrays[f"x_{part}"] = np.ascontiguousarray(rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
            arrays[f"y_{part}"] = np.concatenate([content[b"labels"] for content in contents]).astype(np.uint8)
    return arrays


MNIST = Dataset(
    name="mnist",
    image_shape=(28, 28),
    train_counts=(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
    test_counts=(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
    n_validation=10_000,
    content="e5ea4841dd6fde90b155843179ce5756a4864227194eec7fb09d7cfc4cf702a5",
    url="https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
    sha256="731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    stand_in=MNIST_STAND_IN,
)

CIFAR10 = Dataset(
    name="cifar10",
    image_shape=(32, 32, 3),
    train_counts=(5000,) * 10,
    test_counts=(1000,) * 10,
    n_validation=10_000,
    content="1eb24bd58cf3ed1d84d7cbfb87e7c4564b62f3a6170140335ca678b272e89369",
    url="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    sha256="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    convert=read_cifar_archive,
    stand_in=CIFAR10_STAND_IN,
)

DATASETS = {dataset.name: dataset for dataset in (MNIST, CIFAR10)}
