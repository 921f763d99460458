"""Initial designs: Latin hypercubes, and nested ones for two levels (METHOD item 10; Qian, 2009)."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import BitGenerator, Generator, SeedSequence

from btao.arrays import FloatArray
from btao.checks import is_integer

N_DESIGNS = 50

Seed = int | SeedSequence | BitGenerator | Generator


def nested_latin_hypercube(n_heavy: int, ratio: int, dim: int, seed: Seed) -> FloatArray:
    """A Latin hypercube whose first `n_heavy` rows are a Latin hypercube too.

    Parameters
    ----------
    n_heavy : int
        m, the number of heavy points, at least 1.
    ratio : int
        s, light points per heavy one, at least 1: the heavy points themselves are among them.
    dim : int
        Number of columns, at least 1.
    seed : int, SeedSequence, BitGenerator or Generator
        As for `numpy.random.default_rng`; a Generator is advanced.

    Returns
    -------
    (n_heavy * ratio, dim) array in [0, 1)
        The heavy points come first. In every column each of the n_heavy * ratio equal intervals
        holds one point, and each of the n_heavy equal intervals one heavy point.

    Raises
    ------
    TypeError, ValueError
        If a count is no integer or below 1, or `seed` is none of the above.

    References
    ----------
    P. Z. G. Qian, Nested Latin hypercube designs, Biometrika 96 (2009), 957-970.
    """
    counts = _count("n_heavy", n_heavy), _count("ratio", ratio), _count("dim", dim)
    return _nested(*counts, _generator(seed))


def maximin_nested_latin_hypercube(n_heavy: int, ratio: int, dim: int, seed: Seed) -> FloatArray:
    """The best spread of `N_DESIGNS` random nested Latin hypercubes.

    A random Latin hypercube may put two points side by side, or all on a diagonal. Of several, this takes
    the one whose smallest distance between points is largest (Johnson, Moore and Ylvisaker, 1990), the
    smaller of the two levels' distances, each in units of count^(-1/dim), deciding. Parameters,
    returns and errors are those of `nested_latin_hypercube`; with `ratio` 1 it is a Latin hypercube.
    """
    counts = _count("n_heavy", n_heavy), _count("ratio", ratio), _count("dim", dim)
    rng = _generator(seed)
    return max((_nested(*counts, rng) for _ in range(N_DESIGNS)), key=lambda design: _spread(design, counts[0]))


def _spread(design: FloatArray, n_heavy: int) -> float:
    """The smaller of the two levels' scaled minimum distances; of one point it is infinite."""
    squared = ((design[:, None, :] - design[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    n, dim = design.shape
    light: float = math.sqrt(squared.min()) * n ** (1 / dim)
    heavy: float = math.sqrt(squared[:n_heavy, :n_heavy].min()) * n_heavy ** (1 / dim)
    return min(light, heavy)


def _nested(n_heavy: int, ratio: int, dim: int, rng: Generator) -> FloatArray:
    n = n_heavy * ratio
    levels = np.empty((n, dim))
    for column in levels.T:
        heavy = np.arange(n_heavy) * ratio + rng.integers(ratio, size=n_heavy)
        column[:n_heavy] = rng.permutation(heavy)
        column[n_heavy:] = rng.permutation(np.setdiff1d(np.arange(n), heavy, assume_unique=True))
    # Points keep off the edges of their level by more than the sum and the quotient can round.
    edge = 4 * n * np.finfo(float).eps
    return (levels + rng.uniform(edge, 1 - edge, size=(n, dim))) / n


def _count(name: str, value: object) -> int:
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value!r}")
    return int(value)


def _generator(seed: Seed) -> Generator:
    # None would draw a seed from the machine, and True would pass for 1.
    if seed is None or isinstance(seed, bool):
        raise TypeError(f"seed must be an integer or a numpy Generator, got {seed!r}")
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise type(error)(f"seed must be a non-negative integer or a numpy Generator, got {seed!r}") from error
