"""The configurations of a recorded table, and the search that trains them one after another."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import Capabilities, Measurement, Problem, SearchExhausted, Trial
from benchmarks.objectives.protocol import configuration_seed
from btao import Categorical, Ordinal, Space
from btao.checks import check_integer

# scipy.stats is imported when used: it is slow, and replays do without.

Grid = Mapping[str, Sequence[Any]]  # the values of each parameter of a space


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
    for point in itertools.chain(_center_and_corners(space.dim), _sobol(space.dim, n, seed)):
        config = space.from_unit(np.array(point))
        design.setdefault(tuple(config.items()), config)
        if len(design) == n:
            return list(design.values())
    raise ValueError(f"n={n}: only {len(design)} different configurations were found; choose fewer")


def least(space: Space) -> int:
    """The number of configurations with which a design has its center and all its corners.

    Where parameters are conditional, corners are alike in those that are inactive, and each counts once.
    """
    if not space.conditions:
        return 1 + 2**space.dim
    return len({tuple(space.from_unit(np.array(point)).items()) for point in _center_and_corners(space.dim)})


def grid_size(grid: Grid) -> int:
    """The number of configurations of a grid."""
    return math.prod(map(len, grid.values()))


def check_grid(space: Space, grid: Grid) -> None:
    """Refuse what is no grid of a space.

    Raises
    ------
    ValueError
        If a parameter is missing or unknown, has fewer than two values, one that is not of the space, or numbers
        that do not ascend; or if some are conditional, so that not every combination is a configuration.
    """
    if space.conditions:
        raise ValueError(f"grid: the space must have no conditions, but {', '.join(space.conditions)} have some")
    if set(grid) != set(space.names):
        raise ValueError(f"grid must give values of {', '.join(space.names)}, got those of {', '.join(grid)}")
    for name, parameter in space.parameters.items():
        values = grid[name]
        if isinstance(values, str | bytes) or not isinstance(values, Sequence) or len(values) < 2:
            raise ValueError(f"grid.{name} must be a list of at least two values, got {values!r}")
        for value in values:
            try:
                parameter.validate(value)
            except (TypeError, ValueError) as error:
                raise ValueError(f"grid.{name}: {error}") from None
        ordered = not isinstance(parameter, Categorical)
        if ordered and any(low >= high for low, high in itertools.pairwise(values)):
            raise ValueError(f"grid.{name} must ascend, got {list(values)}")
        if not ordered and len({json.dumps(value) for value in values}) < len(values):
            raise ValueError(f"grid.{name}: values must differ, got {list(values)}")


def grid_space(space: Space, grid: Grid) -> Space:
    """The space of which a grid of `space` holds every configuration: categories stay such, all else is ordinal."""
    return Space(
        {
            name: Categorical(grid[name]) if isinstance(parameter, Categorical) else Ordinal(grid[name])
            for name, parameter in space.parameters.items()
        }
    )


def of_grid(space: Space, grid: Grid) -> list[dict[str, Any]]:
    """All configurations of a grid, in an order that is as good as random, and the same everywhere.

    So the first n are a sample of the whole. Errors as in `check_grid`.
    """
    check_grid(space, grid)
    every = itertools.product(*(grid[name] for name in space.names))
    configs = [space.validate(dict(zip(space.names, values, strict=True))) for values in every]
    return sorted(configs, key=lambda config: configuration_seed(0, config))


def _center_and_corners(dim: int) -> Iterator[Sequence[float]]:
    yield [0.5] * dim
    yield from itertools.product((0.0, 1.0), repeat=dim)


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
        Of the design, if it is no grid.
    start, stop : int
        Which configurations: start, start + 1, ..., stop - 1.
    budgets : sequence of int
        Iterations, in ascending order, the heavy level's last.
    grid : mapping of str to sequence, optional
        The values of each parameter, if the design is their grid.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(levels="any", conditions=True)

    def __init__(
        self, problem: Problem, seed: int, start: int, stop: int, budgets: Sequence[int], grid: Grid | None = None
    ) -> None:
        check_integer("start", start, least=0)
        check_integer("stop", stop, least=start + 1)
        if not budgets or budgets[-1] != problem.heavy_iterations or list(budgets) != sorted(set(budgets)):
            raise ValueError(f"budgets must ascend to {problem.heavy_iterations}, got {list(budgets)}")
        whole = configurations(problem.space, stop, seed) if grid is None else of_grid(problem.space, grid)
        design = whole[start:stop]
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
        """Take a trial back.

        Raises
        ------
        ValueError
            If it was not asked for or told before, or its value is none that a table can hold.
        """
        self._pending.close(trial)
        if not (measurement.failed or 0.0 <= measurement.value <= 1.0):
            raise ValueError(
                f"a table holds errors from 0 to 1, but the task gives {measurement.value:g}: let it give the share of "
                "wrong answers, say, and record it in another out="
            )
