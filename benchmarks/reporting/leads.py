"""Who is ahead at some cost, and who is faster than whom, as clauses of a text in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pandas import DataFrame, Series

from benchmarks.analysis.scores import lowest
from benchmarks.common.formats import number, or_infinity, with_interval

DIGITS = 3
MOST_NAMED = 3  # of more methods it is said how many they are


def lead(rows: DataFrame) -> str:
    """The methods with the lowest mean, those whose intervals overlap it, that with the highest, those without one.

    Parameters
    ----------
    rows : DataFrame
        One a method: label, mean, low, high; as `analysis.aggregate.readings` returns them for one cost.
    """
    known = rows[rows["mean"].notna()].sort_values("mean", kind="stable")
    if known.empty:
        return "no method has a mean yet"
    ahead, last = lowest(known["mean"]), known.iloc[-1]
    first, others = known[ahead], known[~ahead]
    names = [f"`{label}`" for label in first["label"]]
    means = {with_interval(row, "mean") for _, row in first.iterrows()}  # as written: last bits may differ
    mean = means.pop() if len(means) == 1 else or_infinity(first["mean"].iloc[0], DIGITS)
    text = f"{_listed(names)} {'share' if len(names) > 1 else 'has'} the lowest mean, {mean}"
    near = [f"`{label}`" for label in others.loc[others["low"] <= first["high"].max(), "label"]]
    if near:
        whose = _listed(near) if len(near) <= MOST_NAMED else f"{len(near)} of {len(others)} others"
        text += f", overlapped by the interval{'s' if len(near) > 1 else ''} of {whose}"
    if len(others):
        text += f"; `{last['label']}` has the highest, {number(last['mean'], DIGITS)}"
    if late := [f"`{label}`" for label in rows.loc[rows["mean"].isna(), "label"]]:
        text += f"; {_listed(late)} {'have' if len(late) > 1 else 'has'} no mean yet"
    return text


def by_speed(rows: DataFrame) -> dict[str, Series]:
    """By words the rows of speed-ups whose interval, low to high, says so: faster, slower, or neither."""
    groups = {"faster than": rows["low"] > 1, "slower than": rows["high"] < 1}
    return groups | {"not told from": ~(groups["faster than"] | groups["slower than"])}


def grouped(names: Series, groups: Mapping[str, Series]) -> str:
    """Each name after the words of its group, as in "faster than a, b; slower than c"; empty without any.

    Parameters
    ----------
    names : Series of str
    groups : mapping
        Which rows each group has.
    """
    named = {words: ", ".join(names[mine]) for words, mine in groups.items()}
    return "; ".join(f"{words} {listed}" for words, listed in named.items() if listed)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
