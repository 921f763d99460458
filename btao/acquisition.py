"""Upper confidence bound and its maximization over the cube (paper Eqs. 6-7, METHOD items 11 and 13)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats.qmc import Sobol

from btao.arrays import FloatArray
from btao.gp import Kernel
from btao.parameters import Categorical, Parameter
from btao.space import Space
from btao.spaces.constraint import ENUMERABLE, allowed_points

# An acquisition: values (n,) at points (n, dim) of the cube, larger is better.
Acquisition = Callable[[FloatArray], FloatArray]
# The values of an acquisition, and its derivatives (n, dim) along continuous parameters.
Slopes = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

N_CANDIDATES = 512
N_STARTS = 8
MAX_CORNER_DIM = 7
NEIGHBOR_SCALES = (0.1, 0.02, 0.004)
N_NEIGHBORS = 6
# How many of the best points a method should name for that.
N_BEST = 3
# Half-width of the central differences: balances their own error (h^2) with the rounding of a
# Gaussian process on nearly singular data (about 1e-9 / h).
DIFFERENCE_STEP = 1e-5
MAX_RANDOM_TRIES = 64
# With a constraint: how many allowed candidates there should be, and how many batches of random points are drawn to
# find them where Sobol points and neighbors are too few.
N_ALLOWED = 64
MAX_ALLOWED_BATCHES = 8
# Halvings of the way back from where an ascent has left what the constraint allows.
N_HALVINGS = 20


class Ending(NamedTuple):
    """When an ascent ends.

    Attributes
    ----------
    tolerance : float
        When a step gains less than this of the sum of the acquisition over the starts.
    max_steps : int
        After so many steps at the latest.
    """

    tolerance: float = 1e-12
    max_steps: int = 40


ENDING = Ending()


def beta(n: int, dim: int, square_root: bool = False) -> float:
    """The weight of the standard deviation, 0.2 d ln(2n), for n data in d dimensions, or its square root.

    The paper prints it as a multiplier of the standard deviation; Srinivas et al. (2010) use the
    square root (METHOD item 11).
    """
    value = 0.2 * dim * math.log(2 * n)
    return math.sqrt(value) if square_root else value


def upper_confidence_bound(mean: FloatArray, std: FloatArray, weight: float) -> FloatArray:
    """UCB(x) = -mean(x) + weight * std(x), for minimization (paper Eq. 6)."""
    return -mean + weight * std


def maximize(
    acquisition: Acquisition,
    space: Space,
    known: FloatArray,
    best: FloatArray,
    rng: np.random.Generator,
    slopes: Slopes | None = None,
    ending: Ending = ENDING,
) -> FloatArray | None:
    """The point of the cube with the largest acquisition that is none of the known ones.

    Parameters
    ----------
    acquisition : callable
        (n, dim) -> (n,), defined on the whole cube.
    space : Space
    known : (m, dim) array
        Points never to be proposed: those tried at this level (METHOD item 13).
    best : (k, dim) array
        Good points, whose neighborhoods are among the starts.
    rng : numpy Generator
    slopes : callable, optional
        The acquisition with its derivatives; None: central differences stand in for them.
    ending : Ending
        Of the ascents from the best candidates.

    Returns
    -------
    (dim,) array, or None
        A canonical point of the space that its constraint allows; None when every such configuration of a finite space
        is known.

    Raises
    ------
    ValueError
        If hardly any configuration satisfies the constraint.
    """
    kernel = Kernel(space.dim, space)
    candidates = _allowed(space, space.snap(_candidates(space, best, rng)), rng)
    values = acquisition(candidates)
    starts = candidates[np.argsort(-values, kind="stable")[:N_STARTS]]
    refined = _refine(acquisition, space, starts, slopes or _differences(acquisition, space), ending)
    points = np.vstack([space.snap(refined), candidates])
    values = np.concatenate([acquisition(points[: len(refined)]), values])
    new = _first_new(kernel, points[np.argsort(-values, kind="stable")], known)
    return new if new is not None else _any_new(kernel, space, known, rng)


def _first_new(kernel: Kernel, ranked: FloatArray, known: FloatArray) -> FloatArray | None:
    if len(ranked) == 0:
        return None
    if len(known) == 0:
        new: FloatArray = ranked[0]
        return new
    for block in np.array_split(ranked, math.ceil(len(ranked) / 32)):
        fresh = ~kernel.same(block, known).any(axis=1)
        if fresh.any():
            new = block[fresh.argmax()]
            return new
    return None


def _any_new(kernel: Kernel, space: Space, known: FloatArray, rng: np.random.Generator) -> FloatArray | None:
    """A random point that is not known, or None if there is none left.

    Reached only when everything around the candidates is known, that is in discrete spaces.
    """
    if space.size <= ENUMERABLE:
        return _first_new(kernel, rng.permutation(space.all_points), known)
    for _ in range(MAX_RANDOM_TRIES):
        points = space.snap(rng.random((N_CANDIDATES, space.dim)))
        point = _first_new(kernel, points[space.allowed(points)], known)
        if point is not None:
            return point
    return None


def _candidates(space: Space, best: FloatArray, rng: np.random.Generator) -> FloatArray:
    if space.size <= ENUMERABLE:
        return space.all_points
    parts = [Sobol(space.dim, rng=rng).random(N_CANDIDATES), best]
    if space.dim <= MAX_CORNER_DIM:
        parts.append(np.stack(np.meshgrid(*[[0.0, 1.0]] * space.dim), axis=-1).reshape(-1, space.dim))
    for scale in NEIGHBOR_SCALES:
        steps = scale * rng.standard_normal((len(best) * N_NEIGHBORS, space.dim))
        parts.append(np.repeat(best, N_NEIGHBORS, axis=0) + steps)
    return np.clip(np.vstack(parts), 0.0, 1.0)


def _allowed(space: Space, candidates: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The candidates that the constraint allows, and random ones where these are few."""
    if space.constraint is None or space.size <= ENUMERABLE:
        return candidates
    candidates = candidates[space.allowed(candidates)]
    if len(candidates) >= N_ALLOWED:
        return candidates
    batches = MAX_ALLOWED_BATCHES if len(candidates) else MAX_RANDOM_TRIES
    try:
        return np.vstack([candidates, allowed_points(space, N_ALLOWED, rng, batches)])
    except ValueError:
        if len(candidates):
            return candidates
        raise


def _refine(acquisition: Acquisition, space: Space, starts: FloatArray, slopes: Slopes, ending: Ending) -> FloatArray:
    """Improve all starts as one batch: gradients for reals, steps for integers, swaps for categories."""
    if space.size <= ENUMERABLE:
        return starts
    refined = _ascend(slopes, space, starts, ending)
    if not space.continuous.all():
        refined = _climb(acquisition, space, refined)
        refined = _ascend(slopes, space, refined, ending)
    return refined


def _differences(acquisition: Acquisition, space: Space) -> Slopes:
    """Central differences along continuous parameters, one call of the acquisition for all of them."""
    free = np.flatnonzero(space.continuous)

    def slopes(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        stencil = np.repeat(points[None], 2 * len(free) + 1, axis=0)
        for index, coordinate in enumerate(free):
            stencil[2 * index + 1, :, coordinate] = np.minimum(points[:, coordinate] + DIFFERENCE_STEP, 1.0)
            stencil[2 * index + 2, :, coordinate] = np.maximum(points[:, coordinate] - DIFFERENCE_STEP, 0.0)
        values = acquisition(stencil.reshape(-1, space.dim)).reshape(-1, len(points))
        gradient = np.zeros_like(points)
        rise = (values[1::2] - values[2::2]).T
        run = (stencil[1::2] - stencil[2::2])[np.arange(len(free)), :, free].T
        gradient[:, free] = rise / run
        return values[0], gradient

    return slopes


def _ascend(slopes: Slopes, space: Space, starts: FloatArray, ending: Ending) -> FloatArray:
    """L-BFGS-B over the real coordinates of all starts at once, as one separable problem."""
    free = np.flatnonzero(space.continuous)
    if len(free) == 0:
        return starts
    count = len(starts)

    def points_of(flat: FloatArray) -> FloatArray:
        points = starts.copy()
        points[:, free] = flat.reshape(count, len(free))
        return points

    def negative(flat: FloatArray) -> tuple[float, FloatArray]:
        values, gradient = slopes(points_of(flat))
        return -values.sum(), -gradient[:, free].ravel()

    result = minimize(
        negative,
        starts[:, free].ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * (count * len(free)),
        options={"maxiter": ending.max_steps, "ftol": ending.tolerance},
    )
    return _retreat(space, starts, points_of(result.x))


def _retreat(space: Space, starts: FloatArray, ends: FloatArray) -> FloatArray:
    """The ends, but for those that the constraint refuses a point on the way from their starts, which it allows."""
    if space.constraint is None:
        return ends
    ends, refused = ends.copy(), ~space.allowed(ends)
    low, high = np.zeros((refused.sum(), 1)), np.ones((refused.sum(), 1))
    way = ends[refused] - starts[refused]
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        fine = space.allowed(starts[refused] + middle * way)[:, None]
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    ends[refused] = starts[refused] + low * way
    return ends


def _climb(acquisition: Acquisition, space: Space, starts: FloatArray) -> FloatArray:
    """Best-improvement hill climbing over the discrete coordinates of all starts at once."""
    moves = _moves(space)
    if not moves:  # nothing but real parameters varies
        return starts
    points, values = starts, acquisition(starts)
    every = np.arange(len(points))
    while True:
        neighbors = np.repeat(points[None], len(moves), axis=0)
        for row, (index, parameter, steps) in enumerate(moves):
            neighbors[row, :, index] = parameter.shift(points[:, index], steps)
        reached = acquisition(neighbors.reshape(-1, space.dim)).reshape(len(moves), len(points))
        if space.constraint is not None:
            reached[~space.allowed(neighbors.reshape(-1, space.dim)).reshape(reached.shape)] = -np.inf
        chosen = reached.argmax(axis=0)
        improved = reached[chosen, every] > values + 1e-12 * np.abs(values)
        if not improved.any():
            return points
        points = np.where(improved[:, None], neighbors[chosen, every], points)
        values = np.where(improved, reached[chosen, every], values)


def _moves(space: Space) -> list[tuple[int, Parameter, int]]:
    """Moves of one coordinate, by a number of bins: each other category; powers of four where there is an order."""
    moves: list[tuple[int, Parameter, int]] = []
    for index, parameter in enumerate(space.parameters.values()):
        if isinstance(parameter, Categorical):
            moves += [(index, parameter, steps) for steps in range(1, parameter.size)]
        elif not parameter.continuous and parameter.count > 1:
            sizes = [4**k for k in range(int(math.log(parameter.count, 4)) + 1)]
            moves += [(index, parameter, sign * size) for size in sizes for sign in (1, -1)]
    return moves
