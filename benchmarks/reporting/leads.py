"""Who is ahead at some cost, as a clause of a text in Markdown."""

from __future__ import annotations

from pandas import DataFrame

from benchmarks.common.formats import number, with_interval

DIGITS = 3
MOST_NAMED = 3  # of more methods it is said how many they are


def lead(rows: DataFrame) -> str:
    """The method with the lowest mean, those whose intervals overlap its own, and that with the highest mean.

    Parameters
    ----------
    rows : DataFrame
        One a method: label, mean, low, high; as `analysis.aggregate.readings` returns them for one cost. Those without
        a mean are left out.
    """
    known = rows[rows["mean"].notna()].sort_values("mean", kind="stable")
    if known.empty:
        return "no method has a mean yet"
    first, last, others = known.iloc[0], known.iloc[-1], known.iloc[1:]
    text = f"`{first['label']}` has the lowest mean, {with_interval(first, 'mean')}"
    near = [f"`{label}`" for label in others.loc[others["low"] <= first["high"], "label"]]
    if near:
        listed = " and ".join(filter(None, [", ".join(near[:-1]), near[-1]]))
        whose = listed if len(near) <= MOST_NAMED else f"{len(near)} of {len(others)} others"
        text += f", overlapped by the interval{'s' if len(near) > 1 else ''} of {whose}"
    if len(others):
        text += f"; `{last['label']}` has the highest, {number(last['mean'], DIGITS)}"
    return text
