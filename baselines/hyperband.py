"""Hyperband: successive halving of random configurations, in brackets (Li et al., 2018)."""

from __future__ import annotations

from typing import ClassVar

from baselines.brackets import LIBRARY, Brackets
from baselines.protocol import Capabilities, Problem


class Hyperband(Brackets):
    """hpbandster's Hyperband. It has no model, so it takes no part in a shared start.

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

    Raises
    ------
    ValueError
        If an argument is not as above.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(levels="any", conditions=True, constraint=True, **LIBRARY)

    def __init__(self, problem: Problem, seed: int, eta: float = 3, n_rungs: int | None = None) -> None:
        super().__init__(problem, seed, "HyperBand", eta, n_rungs)
