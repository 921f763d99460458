"""Data sets that scikit-learn carries, of examples with features and a class each, and their split."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.images import content_sha256, stratified_order
from benchmarks.data.source import DataSource
from btao.checks import is_integer

# scikit-learn is imported when used: it is slow, and other data do without.

NAMES = ("digits", "breast_cancer")


@dataclass(frozen=True)
class Examples:
    """Features x, (n, d) of float, and classes y, (n,) of int from 0."""

    x: NDArray[np.floating]
    y: NDArray[np.integer]

    def __post_init__(self) -> None:
        for array in (self.x, self.y):  # as one process shares them
            array.flags.writeable = False


@dataclass(frozen=True)
class ExampleSplit:
    """Training, validation and test examples, and the source that a record names."""

    train: Examples
    validation: Examples
    test: Examples
    source: DataSource


@functools.cache
def load(name: str) -> Examples:
    """A data set of `NAMES`, with the features as they were published; once per process.

    Raises
    ------
    ValueError
        If `name` is unknown.
    """
    if name not in NAMES:
        raise ValueError(f"name must be one of {list(NAMES)}, got {name!r}")
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return Examples(np.ascontiguousarray(x, float), y.astype(np.int64))


def split(name: str, n_train: int, n_validation: int) -> ExampleSplit:
    """Training, validation and test examples of a data set, the same for every seed.

    Of each class the first example is for training, the second for validation, the third for the test, the fourth for
    training, and so on: what lies close together in the published order, as digits by one hand do, is in all three. Of
    each third, the first examples in stratified order are taken, so smaller subsets are parts of larger ones; there are
    as many test examples as validation examples, or all that there are.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    n_train, n_validation : int
        Numbers of examples, at least one a class.

    Raises
    ------
    ValueError
        If the name is unknown, or a number too small, or larger than the data set allows.
    """
    examples = load(name)
    turn = np.empty(len(examples.y), dtype=np.int64)
    for label in np.unique(examples.y):
        members = np.flatnonzero(examples.y == label)
        turn[members] = np.arange(len(members)) % 3
    n_classes = int(examples.y.max()) + 1
    pools = [np.flatnonzero(turn == place) for place in range(3)]
    for argument, n, pool in (("n_train", n_train, pools[0]), ("n_validation", n_validation, pools[1])):
        if not is_integer(n) or not n_classes <= n <= len(pool):
            raise ValueError(f"{argument} must be an integer from {n_classes} to {len(pool)} on {name}, got {n!r}")
    sizes = n_train, n_validation, n_validation
    train, validation, test = (_first(examples, pool, n) for pool, n in zip(pools, sizes, strict=True))
    sha256 = content_sha256({"x": examples.x, "y": examples.y})
    return ExampleSplit(train, validation, test, DataSource(f"{name} (scikit-learn)", sha256, n_train, n_validation))


def _first(examples: Examples, pool: NDArray[np.integer], n: int) -> Examples:
    """The first n examples of a pool in stratified order, in their original order."""
    chosen = pool[np.sort(stratified_order(examples.y[pool])[:n])]
    return Examples(examples.x[chosen], examples.y[chosen])
