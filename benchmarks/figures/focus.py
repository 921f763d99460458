"""Which methods a figure shows in color; the others are gray, so that the eye can follow the first."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from pandas import DataFrame

from benchmarks.config.options import unknown
from benchmarks.records.labels import first_of

MOST = 5  # curves in color that a reader can follow


def in_focus(
    tables: Sequence[DataFrame],
    order: Sequence[str],
    focus: str | Sequence[str] | None = None,
    first: str | None = None,
) -> list[str]:
    """The labels that are shown in color.

    Parameters
    ----------
    tables : sequence of DataFrame
        A panel each, as `aggregate` returns them: with the columns method, label, statistic and that which it names.
    order : sequence of str
        All labels, in the order of the legend.
    focus : str or sequence of str, optional
        Labels, or names of methods, of which all labels are meant. Without it, all of at most `MOST` labels; of more,
        that of `first` and those that end best: by their ranks at the end of each panel, on average.
    first : str, optional
        A label or a method that is shown in any case, see `records.labels.first_of`.

    Returns
    -------
    list of str
        In the order of the legend.

    Raises
    ------
    ValueError
        If `focus` or `first` names what is not there, or `focus` more than `MOST`.
    """
    focus = [focus] if isinstance(focus, str) else focus
    methods = {label: name for each in tables for label, name in zip(each["label"], each["method"], strict=True)}
    labels = [label for label in order if label in methods]
    for name in focus or ():
        if name not in labels and name not in methods.values():
            raise ValueError(f"focus: {unknown('method', name, dict.fromkeys([*labels, *methods.values()]))}")
    if focus is not None:
        chosen = [label for label in labels if label in focus or methods[label] in focus]
        if len(chosen) > MOST:
            raise ValueError(f"focus must name at most {MOST} curves, got {len(chosen)}: {', '.join(chosen)}")
        return chosen
    named = first_of({label: methods[label] for label in labels}, first)
    if len(labels) <= MOST:
        return labels
    ends = pd.DataFrame([each.groupby("label")[each["statistic"].iloc[0]].last() for each in tables])
    ranks = ends.fillna(float("inf")).rank(axis=1).mean()
    best = sorted((label for label in labels if label != named), key=ranks.__getitem__)[: MOST - 1]
    return [label for label in labels if label in (named, *best)]
