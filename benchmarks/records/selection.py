"""A part of what was recorded: some methods, some seeds."""

from __future__ import annotations

from collections.abc import Sequence

from pandas import DataFrame


def selected(
    trials: DataFrame, methods: Sequence[str] | None = None, seeds: int | Sequence[int] | None = None
) -> DataFrame:
    """The rows of some methods and seeds, in their order.

    Parameters
    ----------
    trials : DataFrame
        With a column seed and, where methods are named, a column method.
    methods : sequence of str, optional
        Names; all by default.
    seeds : int or sequence of int, optional
        How many, the smallest first, or which; all by default.

    Raises
    ------
    ValueError
        If one that is asked for is not there, or nothing is asked for.
    """
    if methods is not None:
        trials = trials[trials["method"].isin(_there("methods", methods, trials["method"].unique().tolist()))]
    if seeds is not None:
        known = sorted(trials["seed"].unique().tolist())
        if isinstance(seeds, int):
            if not 1 <= seeds <= len(known):
                raise ValueError(f"seeds={seeds}: give a number from 1 to {len(known)}, which is how many there are")
            seeds = known[:seeds]
        trials = trials[trials["seed"].isin(_there("seeds", seeds, known))]
    return trials.reset_index(drop=True)


def _there(name: str, asked: Sequence, known: Sequence) -> Sequence:
    """What is asked for, all of which is known."""
    if isinstance(asked, str) or not asked:
        raise ValueError(f"{name}={asked!r}: give a list of at least one of {', '.join(map(str, known))}")
    for each in asked:
        if each not in known:
            raise ValueError(f"{name}: {each!r} is not there; there are {', '.join(map(str, known))}")
    return asked
