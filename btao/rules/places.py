"""Which point came first at a place, found without a look at all others."""

from __future__ import annotations

import math

import numpy as np

from btao.arrays import FloatArray
from btao.gp import SAME_POINT, Kernel

# Cells are far wider than the tolerance within which two points are one, and far narrower than what lies between any
# two configurations that a search tells apart: of a point two cells are looked into, and few points lie there.
CELL = 1000 * SAME_POINT


class Places:
    """Points by where they lie, to be found to the tolerance of `Kernel.same`.

    All are projected on one line, see `Kernel.along_line`, whose cells are the keys of a dict.

    Parameters
    ----------
    kernel : Kernel
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._cells: dict[int, list[tuple[FloatArray, int]]] = {}

    def add(self, point: FloatArray, number: int) -> None:
        """Put a number at a point (dim,)."""
        self._cells.setdefault(math.floor(self._cell(point)), []).append((point, number))

    def at(self, point: FloatArray) -> int | None:
        """The number that was put first at a point (dim,), or None."""
        cell, reach = self._cell(point), SAME_POINT / CELL
        near = {math.floor(cell - reach), math.floor(cell + reach)}
        there = [each for key in near for each in self._cells.get(key, ())]
        if not there:
            return None
        same = self._kernel.same(np.array([each for each, _ in there]), point[None, :])[:, 0]
        return min((number for (_, number), is_same in zip(there, same, strict=True) if is_same), default=None)

    def _cell(self, point: FloatArray) -> float:
        return float(self._kernel.along_line(point[None, :])[0]) / CELL
