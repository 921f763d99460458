"""Who is ahead at some cost, as a clause of a text in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from pandas import DataFrame

from benchmarks.common.formats import number, with_interval

DIGITS = 3
MOST_NAMED = 3  # of more methods it is said how many they are


def lead(rows: DataFrame) -> str:
    """The method with the lowest mean, those whose intervals overlap its own, that with the highest, those without one.

    Parameters
    ----------
    rows : DataFrame
        One a method: label, mean, low, high; as `analysis.aggregate.readings` returns them for one cost.
    """
    known = rows[rows["mean"].notna()].sort_values("mean", kind="stable")
    if known.empty:
        return "no method has a mean yet"
    first, last, others = known.iloc[0], known.iloc[-1], known.iloc[1:]
    text = f"`{first['label']}` has the lowest mean, {with_interval(first, 'mean')}"
    near = [f"`{label}`" for label in others.loc[others["low"] <= first["high"], "label"]]
    if near:
        whose = _listed(near) if len(near) <= MOST_NAMED else f"{len(near)} of {len(others)} others"
        text += f", overlapped by the interval{'s' if len(near) > 1 else ''} of {whose}"
    if len(others):
        text += f"; `{last['label']}` has the highest, {number(last['mean'], DIGITS)}"
    if late := [f"`{label}`" for label in rows.loc[rows["mean"].isna(), "label"]]:
        text += f"; {_listed(late)} {'have' if len(late) > 1 else 'has'} no mean yet"
    return text


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
