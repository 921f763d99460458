"""BOHB: Hyperband that samples from kernel density estimates (Falkner, Klein and Hutter, 2018)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from baselines.brackets import LIBRARY, Brackets
from baselines.initial_design import check_start
from baselines.protocol import Capabilities, Problem
from btao.checks import is_integer, is_number


class BOHB(Brackets):
    """hpbandster's BOHB, its authors' own.

    A shared start takes the places of the first configurations that it would sample at random.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.
    eta : float
        At least 2: one of eta configurations is promoted, to eta times the budget.
    n_rungs : int, optional
        The number of budgets, the lowest then being heavy / eta^(n_rungs - 1); None: from the
        light level of the task on, as `Brackets` says.
    min_points_in_model : int, optional
        Results at a budget before it is modeled, at least the default: number of parameters that vary + 1.
    top_n_percent : int
        Percentage of the results that count as good, from 1 to 99.
    num_samples : int
        Samples among which a configuration is chosen, at least 1.
    random_fraction : float
        Fraction of configurations sampled at random, in [0, 1].
    bandwidth_factor : float
        Widens the density that is sampled; above 0.
    min_bandwidth : float
        Above 0.

    Raises
    ------
    ValueError
        If an argument is not as above.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        levels="any", conditions=True, constraint=True, model_based=True, **LIBRARY
    )

    def __init__(
        self,
        problem: Problem,
        seed: int,
        eta: float = 3,
        n_rungs: int | None = None,
        min_points_in_model: int | None = None,
        top_n_percent: int = 15,
        num_samples: int = 64,
        random_fraction: float = 1 / 3,
        bandwidth_factor: float = 3,
        min_bandwidth: float = 1e-3,
    ) -> None:
        if min_points_in_model is not None:
            # hpbandster would raise a smaller number by itself, and say so in its log only.
            _check("min_points_in_model", min_points_in_model, problem.space.n_varying + 1, math.inf, whole=True)
        _check("top_n_percent", top_n_percent, 1, 99, whole=True)
        _check("num_samples", num_samples, 1, math.inf, whole=True)
        _check("random_fraction", random_fraction, 0, 1)
        _check("bandwidth_factor", bandwidth_factor, math.ulp(0.0), math.inf)
        _check("min_bandwidth", min_bandwidth, math.ulp(0.0), math.inf)
        super().__init__(
            problem,
            seed,
            "BOHB",
            eta,
            n_rungs,
            check_start(problem),
            min_points_in_model=min_points_in_model,
            top_n_percent=top_n_percent,
            num_samples=num_samples,
            random_fraction=random_fraction,
            bandwidth_factor=bandwidth_factor,
            min_bandwidth=min_bandwidth,
        )


def _check(name: str, value: Any, low: float, high: float, whole: bool = False) -> None:
    right = is_integer(value) if whole else is_number(value)
    if not (right and low <= value <= high):
        what = "an integer" if whole else "a number"
        raise ValueError(f"{name} must be {what} from {low:g} to {high:g}, got {value!r}")
