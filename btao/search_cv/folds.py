"""The folds of a search: every trial sees the same ones, and a light one a share of their training samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from btao.arrays import IntArray

Fold = tuple[IntArray, IntArray]  # indices of training and of test samples


class Folds:
    """A splitter that splits once.

    A splitter that shuffles gives other folds at every call, by which a light and a heavy run could not be compared.

    Parameters
    ----------
    splitter : splitter of scikit-learn
    """

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self._folds: list[Fold] | None = None

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[Fold]:
        """The folds of the first call, as scikit-learn's splitters give them."""
        if self._folds is None:
            self._folds = list(self._splitter.split(X, y, **params))
        return iter(self._folds)


class Subsampled:
    """Folds with a share of their training samples; the test samples are all there.

    Parameters
    ----------
    folds : Folds
    share : float
        Of the training samples of each fold, above 0 and at most 1, rounded up.
    seed : int
        Equal seeds draw equal samples.
    stratified : bool
        Whether the share is taken of each class, so that no class is lost. It is taken of the whole where `y` has
        more than one dimension.
    """

    def __init__(self, folds: Folds, share: float, seed: int, stratified: bool) -> None:
        self._folds, self._share, self._seed, self._stratified = folds, share, seed, stratified

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[Fold]:
        """The folds, as scikit-learn's splitters give them; the same at every call."""
        classes = np.asarray(y) if self._stratified else np.empty(0)
        for number, (train, test) in enumerate(self._folds.split(X, y, **params)):
            rng = np.random.default_rng([self._seed, number])
            train = np.asarray(train)
            of = classes[train] if classes.ndim == 1 and self._stratified else np.zeros(len(train))
            parts = [self._part(train[of == each], rng) for each in np.unique(of)]
            yield np.sort(np.concatenate(parts)), test

    def _part(self, samples: IntArray, rng: np.random.Generator) -> IntArray:
        # What is above a whole number by rounding alone is that number.
        return rng.permutation(samples)[: math.ceil(self._share * len(samples) - 1e-9)]
