"""Constraints: a function says which configurations are allowed, and refused ones are never proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from btao.arrays import FloatArray

if TYPE_CHECKING:
    from btao.space import Space

# A finite space up to this size is searched exhaustively.
ENUMERABLE = 4096
# Random points are drawn in batches of this size, and at most so many batches of them.
BATCH = 512
MAX_BATCHES = 64
# Of so many allowed points the farthest takes the place of a refused one in a design.
SPARE = 32


class ConstraintMismatch(ValueError):
    """A space is read without the constraint that it had, or with one that it had not."""


class ConstraintFailure(RuntimeError):
    """The constraint of a space raised an error instead of an answer."""


def allowed_points(space: Space, n: int, rng: np.random.Generator, max_batches: int = MAX_BATCHES) -> FloatArray:
    """Random configurations that the constraint of a space allows, with replacement.

    Parameters
    ----------
    space : Space
    n : int
        At least 1.
    rng : numpy Generator
    max_batches : int
        Batches of `BATCH` points to draw at most.

    Returns
    -------
    (n, dim) array
        Canonical points, uniform among those allowed (of a small finite space its configurations); fewer where the
        batches hold fewer, at least one.

    Raises
    ------
    ValueError
        If none of all that were drawn is allowed.
    """
    if space.size <= ENUMERABLE:
        if len(space.all_points) == 0:
            raise ValueError(f"constraint: none of the {space.size} configurations of the space satisfies it; widen it")
        return space.all_points[rng.integers(len(space.all_points), size=n)]
    found = np.empty((0, space.dim))
    for _ in range(max_batches):
        points = space.snap(rng.random((BATCH, space.dim)))
        found = np.vstack([found, points[space.allowed(points)]])
        if len(found) >= n:
            break
    if len(found) == 0:
        raise ValueError(
            f"constraint: none of {BATCH * max_batches:,} random configurations satisfies it; widen it, or narrow the "
            "bounds of the parameters to where it holds"
        )
    return found[:n]


def allowed_design(space: Space, design: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A design with other points in place of those that the constraint refuses.

    Parameters
    ----------
    space : Space
    design : (n, dim) array
    rng : numpy Generator

    Returns
    -------
    (n, dim) array
        In each such place the one of some allowed random points that is farthest from the rest of the design.

    Raises
    ------
    ValueError
        As `allowed_points` does.
    """
    if space.constraint is None:
        return design
    design, kept = design.copy(), space.allowed(design)
    for place in np.flatnonzero(~kept):
        points = allowed_points(space, SPARE, rng)
        steps = space.features(points)[:, None, :] - space.features(design[kept])[None, :, :]
        design[place] = points[(steps**2).sum(axis=2).min(axis=1, initial=np.inf).argmax()]
        kept[place] = True
    return design
