"""The configurations of a recorded table, and the search that trains them one after another."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import Capabilities, Measurement, Problem, SearchExhausted, Trial
from btao import Space
from btao.checks import check_integer


def configurations(space: Space, n: int, seed: int) -> list[dict[str, Any]]:
    """The first n configurations of a design: the center, the corners, then a scrambled Sobol sequence.

    A larger n continues a smaller one. Points that round to a configuration of the design are left out.

    Parameters
    ----------
    space : Space
    n : int
        At least 1.
    seed : int
        Of the scrambling (Owen, 1998), at least 0.

    Raises
    ------
    ValueError
        If `n` or `seed` is out of its range, or the space has fewer than n configurations to be found.
    """
    check_integer("n", n)
    check_seed(seed)
    design: dict[tuple[Any, ...], dict[str, Any]] = {}
    for point in itertools.chain(
        [[0.5] * space.dim], itertools.product((0.0, 1.0), repeat=space.dim), _sobol(space.dim, n, seed)
    ):
        config = space.from_unit(np.array(point))
        design.setdefault(tuple(config.values()), config)
        if len(design) == n:
            return list(design.values())
    raise ValueError(f"n={n}: only {len(design)} different configurations were found; choose fewer")


def least(space: Space) -> int:
    """The number of configurations with which a design has its center and all its corners."""
    return 1 + 2**space.dim


def _sobol(dim: int, n: int, seed: int) -> Iterator[np.ndarray]:
    from scipy.stats import qmc

    sequence = qmc.Sobol(dim, rng=np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a number which is no power of 2 is less balanced
        for _ in range(8):  # more than n only if points round to the same configurations
            yield from sequence.random(n)


class DesignSearch:
    """Asks for a part of a design, each configuration at every budget in turn. Not for comparisons.

    Parameters
    ----------
    problem : Problem
    seed : int
        Of the design.
    start, stop : int
        Which configurations: start, start + 1, ..., stop - 1.
    budgets : sequence of int
        Iterations, in ascending order, the heavy level's last.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(levels="any", model_based=False)

    def __init__(self, problem: Problem, seed: int, start: int, stop: int, budgets: Sequence[int]) -> None:
        check_integer("start", start, least=0)
        check_integer("stop", stop, least=start + 1)
        if not budgets or budgets[-1] != problem.heavy_iterations or list(budgets) != sorted(set(budgets)):
            raise ValueError(f"budgets must ascend to {problem.heavy_iterations}, got {list(budgets)}")
        design = configurations(problem.space, stop, seed)[start:]
        self._trials = iter(
            Trial(number, config, budget == problem.heavy_iterations, budget)
            for number, (config, budget) in enumerate(itertools.product(design, budgets))
        )
        self._pending = PendingTrials()

    def ask(self) -> Trial:
        """The next trial; SearchExhausted after the last."""
        for trial in self._trials:
            return self._pending.open(trial)
        raise SearchExhausted("the design is done")

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a trial back; ValueError if it was not asked for or told before."""
        self._pending.close(trial)
