"""The start that model-based methods share in a paired comparison."""

from __future__ import annotations

from baselines.protocol import InitialDesign, Problem
from btao import Space


def initial_design(space: Space, seed: int) -> InitialDesign:
    """The nested Latin hypercube that BTAO's joint rule starts from, for every method alike.

    Parameters
    ----------
    space : Space
    seed : int

    Returns
    -------
    InitialDesign
        Number of parameters that vary + 2 heavy configurations, and twice as many light ones that begin with
        them; fewer where some round alike.
    """
    from btao import BTAO  # slow, and most methods need none

    optimizer = BTAO(space, seed=seed, rule="joint")
    light = tuple(optimizer.initial_design)
    return InitialDesign(light, light[: optimizer.n_init])


def check_start(problem: Problem, **own: object) -> InitialDesign | None:
    """The start that `problem` prescribes, or None.

    Parameters
    ----------
    problem : Problem
    **own
        Parameters of a method that shape a start of its own, None where they are not set.

    Raises
    ------
    ValueError
        If both are given, naming the parameter.
    """
    for name, value in own.items():
        if problem.initial is not None and value is not None:
            raise ValueError(f"{name}={value} has no effect with shared_init=true: leave one of them out")
    return problem.initial
