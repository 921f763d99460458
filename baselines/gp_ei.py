"""GP-EI: the single-level twin of BTAO's rate rule, so that what its second level is worth can be read."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from baselines.gp_bo import GPBO
from baselines.protocol import Problem
from btao.acquisition import Acquisition
from btao.arrays import FloatArray
from btao.rate.improvement import log_improvement
from btao.rate.outputs import Outputs
from btao.rate.process import CONSTANT, Process, constant_basis


class GPEI(GPBO):
    """Expected improvement on the noisy process of the rate rule (METHOD items 20, 21 and 23), heavy runs only.

    METHOD item 30 is not in it. All else is as in `GPBO`: a Latin hypercube as the start, the search, failed and
    pending trials.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.
    n_init : int, optional
        Configurations of the start, at least 1; default: number of parameters that vary + 2. None where the start is
        shared.
    logarithm : bool, optional
        Whether the process sees the logarithm of values; None: where all are from 0 to 1, as errors are.

    Raises
    ------
    ValueError
        If `seed` or `n_init` is no integer of at least 0 or 1, or `logarithm` no bool.

    Notes
    -----
    Version 2: the least nugget is 1e-10, not 1e-8. Version 3: its prior is wider and about 1e-5, not 1e-3,
    and searched from a small and a large one.
    """

    version: ClassVar[int] = 3

    def __init__(self, problem: Problem, seed: int, n_init: int | None = None, logarithm: bool | None = None) -> None:
        if not (logarithm is None or isinstance(logarithm, bool)):
            raise ValueError(f"logarithm must be true, false or null, got {logarithm!r}")
        super().__init__(problem, seed, n_init)
        self._logarithm = logarithm

    def _acquisition(self, known: FloatArray, values: dict[int, float]) -> Acquisition:
        outputs, process = self._process(known, values)
        self._warm = process.theta
        best = float(outputs.to_z(np.array(list(values.values()))).min())
        pending = self._pending_points(known)
        process = process.fantasize(pending, constant_basis(pending))

        def acquisition(X: FloatArray) -> FloatArray:
            return log_improvement(best, *process.parts(X).moments(constant_basis(X)))

        return acquisition

    def _means(self, values: dict[int, float], numbers: list[int]) -> FloatArray:
        points = np.array(self._points)
        outputs, process = self._process(points, values, fixed=True)
        z, variance = process.parts(points[numbers]).moments(constant_basis(points[numbers]))
        means, _ = outputs.moments(z, np.zeros_like(variance))  # in the order of z: of a lognormal the median
        return means

    def _process(self, points: FloatArray, values: dict[int, float], fixed: bool = False) -> tuple[Outputs, Process]:
        """Values as the process sees them, and the process of all results."""
        told, results = self._results(values)
        outputs = Outputs.of(results, self._logarithm)
        data = self._kernel, points[told], constant_basis(points[told]), outputs.to_z(results), CONSTANT
        return outputs, Process.fitted(*data, self._warm, "none" if fixed else "wide")
