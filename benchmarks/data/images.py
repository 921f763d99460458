"""Images in memory: a data set, the SHA-256 that identifies it, and its split into training, validation and test."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.source import DataSource
from btao.checks import is_integer

Array = NDArray[np.uint8]


class CorruptData(ValueError):
    """A file is not the data set that its name says."""


@dataclass(frozen=True)
class Images:
    """A data set before it is split.

    Attributes
    ----------
    name : str
        What the data really is, as records and plots show it.
    sha256 : str
        Of the content (`content_sha256`), whatever the compression of the file was.
    x : (N, height, width[, 3]) array of uint8
    y : (N,) array of uint8
    x_test, y_test : arrays
        The test images, of the official test set where there is one.
    n_validation : int
        The last so many images of x are those that validation images are taken from.
    complete : bool
        False if this is a smaller stand-in.
    """

    name: str
    sha256: str
    x: Array
    y: Array
    x_test: Array
    y_test: Array
    n_validation: int
    complete: bool = True

    def __post_init__(self) -> None:
        for array in (self.x, self.y, self.x_test, self.y_test):  # as one process shares them
            array.flags.writeable = False


@dataclass(frozen=True)
class Split:
    """Training, validation and test images, uint8, and the source that a record names."""

    x_train: Array
    y_train: Array
    x_validation: Array
    y_validation: Array
    x_test: Array
    y_test: Array
    source: DataSource


def content_sha256(arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 of arrays in their order: for each a line "name dtype shape", then its bytes in C order."""
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def stratified_order(y: NDArray[np.integer]) -> NDArray[np.int64]:
    """An order of images, every prefix of which has nearly the class proportions of the whole.

    The k-th of the c images of a class stands at the fraction (k - 1/2)/c of the way. No randomness.
    """
    fraction = np.empty(len(y))
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        fraction[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(fraction, kind="stable")


def split(images: Images, n_train: int, n_validation: int) -> Split:
    """Training, validation and test images of a scale, the same for every seed.

    Validation images come from the last `images.n_validation` images, training images from those
    before; there are as many test images as validation images. Of each, the first in stratified order
    are taken, so smaller subsets are parts of larger ones; they stay in their original order. At full
    size this is the usual split: MNIST's first 50,000 and last 10,000, and the official test set.

    Parameters
    ----------
    images : Images
    n_train, n_validation : int
        Number of images, at least one a class. Of a stand-in that has fewer, all are taken:
        `source` says how many.

    Raises
    ------
    ValueError
        If a number is too small, or larger than the complete data set allows.
    """
    boundary = len(images.y) - images.n_validation
    n_classes = int(images.y.max()) + 1
    chosen = []
    for argument, n, start, stop in (
        ("n_train", n_train, 0, boundary),
        ("n_validation", n_validation, boundary, len(images.y)),
    ):
        available = stop - start
        if not is_integer(n) or n < n_classes or (images.complete and n > available):
            raise ValueError(
                f"{argument} must be an integer from {n_classes} to {available} on {images.name}, got {n!r}"
            )
        chosen.append(start + np.sort(stratified_order(images.y[start:stop])[:n]))
    train, validation = chosen
    test = np.sort(stratified_order(images.y_test)[: len(validation)])
    return Split(
        images.x[train],
        images.y[train],
        images.x[validation],
        images.y[validation],
        images.x_test[test],
        images.y_test[test],
        DataSource(images.name, images.sha256, len(train), len(validation)),
    )
