"""What a one-against-one support vector machine with an RBF kernel answers, by matrix products.

libsvm, and so `sklearn.svm.SVC.predict`, takes one image and one support vector at a time. Here a block
of images meets all support vectors of a class in one product, and these kernel values serve all
classifiers that the class takes part in.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Of kernel values held at a time: a few megabytes stay in the processor's cache, yet fill a matrix product.
BLOCK_BYTES = 2**23


def decision_values(
    x: Floats,
    support_vectors: Floats,
    n_support: NDArray[np.integer],
    dual_coef: Floats,
    intercept: Floats,
    gamma: float,
    block_bytes: int = BLOCK_BYTES,
) -> Floats:
    """Decision values of all pairs of classes, in the order (0, 1), (0, 2), ..., (k-2, k-1).

    Parameters
    ----------
    x : (n, d) array
    support_vectors : (s, d) array
        In order of their classes.
    n_support : (k,) array of int
        Support vectors of each class, for k > 2 classes.
    dual_coef : (k-1, s) array
        Coefficients in libsvm's layout: those of a support vector of class i stand in row j - 1 for the
        classifier against a class j > i, and in row j against a class j < i.
    intercept : (k(k-1)/2,) array
    gamma : float
        Of the kernel exp(-gamma |x - y|^2).
    block_bytes : int
        Bound on the memory for kernel values (at least one row of them is made).

    Returns
    -------
    (n, k(k-1)/2) array
        A positive value is a vote for the first class of its pair.

    Raises
    ------
    ValueError
        If there are fewer than three classes (scikit-learn turns the signs of two), or shapes disagree.

    Notes
    -----
    The attributes of the same names of a fitted SVC are what is wanted here. Squared distances come from
    norms and products, |x|^2 + |y|^2 - 2 x.y, libsvm's from differences. With pixels in [0, 1] they agree to
    about 1e-12, so a vote can differ from libsvm's only where a decision value is as close to 0. In single
    precision that would be 1e-4, and real votes could turn.
    """
    k = len(n_support)
    pairs = list(combinations(range(k), 2))
    if k < 3:
        raise ValueError(f"n_support must name at least 3 classes, got {k}")
    if len(support_vectors) != n_support.sum():
        raise ValueError(
            f"support_vectors must have {n_support.sum()} rows, as n_support says, got {len(support_vectors)}"
        )
    if dual_coef.shape != (k - 1, len(support_vectors)):
        raise ValueError(f"dual_coef must have the shape {(k - 1, len(support_vectors))}, got {dual_coef.shape}")
    if len(intercept) != len(pairs):
        raise ValueError(f"intercept must have one value for each of {len(pairs)} pairs, got {len(intercept)}")

    values = np.tile(intercept, (len(x), 1))
    x_norms = -gamma * np.einsum("nd,nd->n", x, x)
    stops = np.cumsum(n_support)
    for i, (start, stop) in enumerate(zip(stops - n_support, stops, strict=True)):
        if start == stop:
            continue
        of_class = support_vectors[start:stop]
        norms = -gamma * np.einsum("sd,sd->s", of_class, of_class)
        scaled = (2 * gamma * of_class).T
        coefficients = dual_coef[:, start:stop].T
        # Against classes 0, ..., i-1, i+1, ..., k-1, as the rows of dual_coef.
        columns = [p for p, pair in enumerate(pairs) if i in pair]
        rows = max(1, block_bytes // (8 * len(of_class)))
        for first in range(0, len(x), rows):
            block = slice(first, first + rows)
            kernel = x[block] @ scaled
            kernel += x_norms[block, None]
            kernel += norms
            np.exp(kernel, out=kernel)
            values[block, columns] += kernel @ coefficients
    return values


def vote(values: Floats, n_classes: int) -> NDArray[np.intp]:
    """The class with the most votes of an (n, k(k-1)/2) array of decision values; of equals, the first.

    A value that is not positive is a vote for the second class of its pair. Both as in libsvm, and in
    `SVC.predict` with `break_ties=False`.
    """
    votes = np.zeros((len(values), n_classes), dtype=np.intp)
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        positive = values[:, p] > 0
        votes[:, i] += positive
        votes[:, j] += ~positive
    return votes.argmax(axis=1)
