"""Figures of curves: what methods have reached against what it has cost.

Figures are made without pyplot and leave matplotlib's settings as they were, so they can be drawn in
any process.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation
from pandas import DataFrame

from benchmarks.analysis import aggregate as analysis
from benchmarks.analysis.incumbents import incumbents, keys
from benchmarks.analysis.intervals import SEEDS_FOR_INTERVAL
from benchmarks.analysis.scores import REGRET_FLOOR
from benchmarks.figures.style import (
    FILLS,
    NOTE,
    Style,
    drawing,
    method_styles,
    plain_numbers,
    png_path,
    power_of_ten,
    powers_of_ten,
    save,
)

AXIS_LABELS = {
    "heavy_runs": "heavy evaluations",
    "heavy_equivalents": "training iterations, in heavy runs",
    "train_seconds": "seconds of training",
    "time": "seconds, training and method",
}
VALUE_LABELS = {
    ("value", "regret"): "simple regret",
    ("value", "value"): "best value so far (minimized)",
    ("recommended", "regret"): "simple regret of what is recommended",
    ("recommended", "value"): "value of what is recommended (minimized)",
}
STATISTIC_NAMES = {"mean": "mean", "median": "median", "iqm": "interquartile mean"}
COSTS = ("train_seconds", "heavy_equivalents")
FAINT = 0.35
MARGIN = 1.3  # of a logarithmic axis beyond what is drawn
LETTERS_PER_INCH = 15  # of a line below the panels, with some room
MARKERS = 10  # about as many on a curve
WIDE = 3  # values that span more, all of them positive, have a logarithmic axis


def figure_run(
    frame: DataFrame, path: str | Path, *, statistic: str = "mean", labels: Mapping[str, str] | None = None
) -> Path:
    """Draw what a command has run: a panel a task, every method against heavy evaluations.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them.
    path : path
        Where to write the PNG. A PDF and the drawn numbers go beside it, with the endings .pdf and .csv.
    statistic, labels
        As in `curves_figure`.

    Returns
    -------
    Path
        The PNG.

    Raises
    ------
    ValueError
        As `curves_figure`.
    """
    curves_figure(frame, statistic=statistic, labels=labels, path=path)
    return Path(path)


def curves_figure(
    frame: DataFrame,
    against: str | Sequence[str] = "heavy_runs",
    *,
    measure: str | None = None,
    statistic: str = "mean",
    by: str = "value",
    labels: Mapping[str, str] | None = None,
    path: str | Path | None = None,
) -> Figure:
    """What every method has reached against what it has cost: a panel a task, or a row a task and a column an axis.

    A panel shows simple regret on a logarithmic scale where the optimum is known, else the best value
    so far, on a logarithmic scale where it is positive and falls to a third. A curve is over the same seeds all along,
    as `analysis.aggregate` says. Drawn faint: where some of them have ended and keep their last value.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them.
    against : str, or sequence of str
        The horizontal axis, of `analysis.AXES`, or several; `COSTS` shows seconds of training beside
        iterations in heavy equivalents.
    measure : {None, "regret", "value"}
        None shows the regret where the optimum is known, else the value.
    statistic : {"mean", "median", "iqm"}
        What is drawn, with its 95% bootstrap interval over seeds.
    by : {"value", "recommended"}
        Whether the curves are those of the incumbent or of what the method itself would recommend; see `incumbents`.
    labels : mapping, optional
        By method (name and hash): the name to show, in the order of the legend. Without it those of `incumbents`, in
        the order of `METHOD_STYLES`.
    path : path, optional
        Where to write the PNG, with a PDF and the drawn numbers as .csv beside it.

    Raises
    ------
    ValueError
        If the frame is empty, an axis, the measure or the statistic is not one of those named or the path
        does not end in .png; and as `incumbents`.
    """
    path = png_path(path)
    axes = [against] if isinstance(against, str) else against
    curves = incumbents(frame, by)
    if curves.empty:
        raise ValueError("frame holds no trials, so there is nothing to draw")
    styles = method_styles(curves["method"])
    if labels is None:
        order = [label for method in styles for label in curves.loc[curves["method"] == method, "label"].unique()]
    else:
        curves["label"], order = keys(curves).map(labels), list(labels.values())
    known = frame.groupby("task")["optimum"].first().notna()
    tables = []
    for (task, states), against in itertools.product(curves.groupby("task"), axes):
        shown = measure or ("regret" if known[task] else "value")
        table = analysis.aggregate(states, against, shown, statistic=statistic)
        table.insert(list(table.columns).index(against), "against", against)
        tables.append(table.rename(columns={against: "cost"}).assign(measure=shown, by=by))

    columns = min(3, len(tables)) if len(axes) == 1 else len(axes)
    rows = -(-len(tables) // columns)
    with drawing():
        entries = max(table["label"].nunique() for table in tables)
        longest = max(table["label"].str.len().max() for table in tables)
        height = 4.0 + 0.09 * entries  # inches; a legend has two columns
        width = max(4.5, 2.8 + 0.135 * longest)
        figure = Figure(figsize=(max(5.2, width * columns), height * rows), layout="constrained")
        for number, table in enumerate(tables, start=1):
            _panel(figure.add_subplot(rows, columns, number), table, styles, order)
        everything = pd.concat(tables, ignore_index=True)
        letters = int(LETTERS_PER_INCH * figure.get_figwidth())
        figure.supxlabel(textwrap.fill(_caption(everything), letters), **NOTE)
    return save(figure, everything, path)


def regret_figure(
    frame: DataFrame, task: str, *, against: str = "heavy_runs", statistic: str = "mean", path: str | Path | None = None
) -> Figure:
    """Simple regret on one task, on a logarithmic scale (the paper's Figure 2).

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them; those of other tasks are left out.
    task : str
        A task with a known optimum.
    against, statistic, path
        As in `curves_figure`.

    Raises
    ------
    ValueError
        If the frame has no trial of the task, or its optimum is not known; and as `curves_figure`.
    """
    trials = frame[frame["task"] == task]
    if trials.empty:
        found = ", ".join(sorted(frame["task"].unique())) or "none at all"
        raise ValueError(f"task {task!r} has no trials in this frame; it has those of: {found}")
    if trials["optimum"].isna().any():
        raise ValueError(f"task {task!r} has no known optimum, so no regret: use curves_figure")
    return curves_figure(trials, against, statistic=statistic, path=path)


def _panel(axes: Axes, table: DataFrame, styles: dict[str, Style], order: Sequence[str]) -> None:
    """One task: a step curve and a band for each label, in their order."""

    against, statistic, measure, by = (table[name].iloc[0] for name in ("against", "statistic", "measure", "by"))
    regret = measure == "regret"
    what = VALUE_LABELS[by, measure]
    band = min(0.15, 0.8 / table["label"].nunique())  # many bands one over the other must not hide the lines
    there = set(table["label"])
    fills = {method: itertools.cycle(FILLS) for method in styles}
    for place, label in enumerate(label for label in dict.fromkeys(order) if label in there):
        curve = table[table["label"] == label]
        method = curve["method"].iloc[0]
        _curve(axes, curve, styles[method], next(fills[method]), REGRET_FLOOR if regret else None, band, place)

    axes.set_title(table["task"].iloc[0] + ("" if table["data"].isna().any() else f", data: {table['data'].iloc[0]}"))
    axes.set_xlabel(AXIS_LABELS[against])
    if against == "heavy_runs":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        axes.ticklabel_format(axis="x", scilimits=(-2, 6))  # else digits of small fractions run together
    axes.set_ylabel(what)
    if not table["n"].any():
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, "no heavy result", transform=axes.transAxes, ha="center", va="center")
    elif regret:
        axes.set_yscale("log")
        _limit(axes, table, REGRET_FLOOR)
        powers_of_ten(axes.yaxis)
        if axes.get_ylim()[0] < REGRET_FLOOR:
            axes.set_ylabel(f"{what} (smaller than {power_of_ten(REGRET_FLOOR)}: drawn there)")
    else:
        if 0 < WIDE * table[statistic].min() < table[statistic].max():
            axes.set_yscale("log")
            plain_numbers(axes.yaxis)
        _limit(axes, table)
    below = axes.transAxes + ScaledTranslation(0, -36 / 72, axes.figure.dpi_scale_trans)  # clear of the axis label
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, frameon=False, ncols=2)


def _limit(axes: Axes, table: DataFrame, floor: float | None = None) -> None:
    """Choose the vertical range by all that is drawn."""
    heights = table[[table["statistic"].iloc[0], "low", "high"]].clip(lower=floor)
    low, high = np.nanmin(heights), np.nanmax(heights)
    if axes.get_yscale() == "log":
        low, high = low / MARGIN, max(high * MARGIN, 10 * low)
    else:
        rim = 0.05 * (high - low) or 0.05 * max(1.0, abs(high))
        low, high = low - rim, high + rim
    axes.set_ylim(low, high)


def _curve(axes: Axes, curve: DataFrame, style: Style, fill: str, floor: float | None, band: float, place: int) -> None:
    """One step curve with its band, no lower than `floor`; curves that coincide have their markers apart."""
    every = max(1, len(curve) // MARKERS)
    look = {
        "color": style.color,
        "linestyle": style.dashes,
        "marker": style.marker,
        "fillstyle": fill,
        "drawstyle": "steps-post",
        "markevery": (place % every, every),
    }
    label, seeds = curve["label"].iloc[0], curve["seeds"].iloc[0]
    curve = curve[curve["n"] > 0]
    if curve.empty:
        axes.plot([], [], **look, label=f"{label} (no heavy result, seeds: {seeds})")
        return
    n, all_run = curve["n"].iloc[0], curve["ended"] == 0
    counted = f"n = {n}" + ("" if n == seeds else f" of {seeds}")
    statistic = curve["statistic"].iloc[0]
    x = curve["cost"]
    y, y_low, y_high = (curve[name].clip(lower=floor) for name in (statistic, "low", "high"))
    axes.fill_between(x, y_low, y_high, step="post", color=style.color, alpha=band, linewidth=0)
    if not all_run.all():
        axes.plot(x, y, **look, alpha=FAINT)
    axes.plot(x, y.where(all_run), **look, label=f"{label} ({counted})")


def _caption(table: DataFrame) -> str:
    """What the lines and bands are, said below the panels."""
    text = f"{STATISTIC_NAMES[table['statistic'].iloc[0]]} and 95% interval over n seeds"
    if table["n"].isin(range(1, SEEDS_FOR_INTERVAL)).any():
        text += f" (n below {SEEDS_FOR_INTERVAL}: the range of the seeds)"
    if (table["n"].gt(0) & table["ended"].gt(0)).any():
        text += "; faint where some seeds have ended and keep their last value"
    return text
