"""Figures of ratios of two methods: dots with intervals on a logarithmic axis, what is 0 or infinite at its edge."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from benchmarks.common.formats import or_infinity
from benchmarks.figures.style import (
    LETTERS_PER_INCH,
    Style,
    below_panels,
    drawing,
    figure_path,
    height_below,
    label_styles,
    plain_numbers,
    powers_of_ten,
    save,
)

AXIS_NAMES = {
    "heavy_runs": "heavy evaluations",
    "heavy_equivalents": "training iterations",
    "train_seconds": "training time",
    "time": "time, training and method",
}
INSIDE = 0.03  # of the axis, from its edge to the marker of a ratio that is 0 or infinite
WIDTH, ROW = 6.4, 0.27  # inches
WIDE = 100  # from the left of an axis to its right, from where plain numbers run together
WIDE_OF_TWO = 10  # the same in one of two panels
WITHIN, ABOVE = Style("#0072B2", "-", "o"), Style("#D55E00", "-", "s")  # a goal


def speed_ups_over_tasks_figure(over_tasks: DataFrame, tasks: DataFrame, *, path: str | Path | None = None) -> Figure:
    """The speed-up of one method over each other: of each task a small dot, and their median with its interval.

    Parameters
    ----------
    over_tasks : DataFrame
        As `targets.speed_ups_over_tasks` returns it. The largest ratio is on top.
    tasks : DataFrame
        As `targets.speed_ups` returns it, at the same share.
    path : path, optional
        Where to write the PNG and the PDF, with the numbers of `over_tasks` as .csv beside them.

    Raises
    ------
    ValueError
        If there is no ratio, or the path ends in neither .png nor .pdf.
    """
    path = figure_path(path)
    if over_tasks.empty:
        raise ValueError("over_tasks holds no speed-ups, so there is nothing to draw")
    table = over_tasks.sort_values("speed_up", ascending=False, kind="stable", ignore_index=True)
    styles = label_styles(table["over"])
    of, against, share = table[["of", "against", "share"]].iloc[0]
    note = (
        f"ratio of median costs to what the other has reached at {share:.0%} of its cost; large: median over tasks "
        "with its 95% interval, seeds of both and the target taken again in each resample; small: a task; at an edge: "
        "0 or ∞"
    )
    with drawing():
        figure, axes = _begin([f"over {over}" for over in table["over"]], note)
        left, right = limits(pd.concat([table[["speed_up", "low", "high"]], tasks[["speed_up"]]]))
        set_scale(axes, left, right, f"speed-up of {of}, {AXIS_NAMES[against]}")
        for place, (_, row) in enumerate(table.iterrows()):
            style = styles[row["over"]]
            mine = tasks.loc[tasks["over"] == row["over"], "speed_up"].dropna().clip(left, right)
            axes.plot(mine, [-place] * len(mine), "o", color=style.color, markersize=4, alpha=0.35, clip_on=False)
            mark_ratio(axes, row["speed_up"], row["low"], row["high"], -place, style)
    return save(figure, table, path)


def regret_ratios_figure(table: DataFrame, goal: float, *, path: str | Path | None = None) -> Figure:
    """What one method reached as a ratio to another on each task, and a goal that it is not to exceed.

    Parameters
    ----------
    table : DataFrame
        As `per_task.ratios` returns it.
    goal : float
        Drawn as a line; ratios above it have another color.
    path : path, optional
        As in `speed_ups_over_tasks_figure`, with `table`.

    Raises
    ------
    ValueError
        If the table is empty, or the path ends in neither .png nor .pdf.
    """
    path = figure_path(path)
    if table.empty:
        raise ValueError("table holds no ratios, so there is nothing to draw")
    of, to, statistic = table[["of", "to", "statistic"]].iloc[0]
    note = (
        f"ratio of the {statistic}s over seeds at the end with its 95% interval, seeds of both resampled; 1: alike; "
        f"dashed: {goal:g}"
    )
    with drawing():
        figure, axes = _begin(list(table["task"]), note)
        set_scale(axes, *limits(table[["ratio", "low", "high"]]), f"final regret of {of} / that of {to}")
        axes.axvline(goal, color=ABOVE.color, linewidth=1.0, linestyle="--")
        for place, (ratio, low, high) in enumerate(table[["ratio", "low", "high"]].to_numpy(float)):
            mark_ratio(axes, ratio, low, high, -place, ABOVE if ratio > goal else WITHIN)
    return save(figure, table, path)


def ladder_figure(table: DataFrame, *, path: str | Path | None = None) -> Figure:
    """What each step of the ladder changes: the final regret, as a ratio to the step before, and the mean rank.

    Parameters
    ----------
    table : DataFrame
        As `ladder.worth.ladder` returns it. The first step, which has nothing before it, has no row.
    path : path, optional
        As in `speed_ups_over_tasks_figure`, with `table`.

    Raises
    ------
    ValueError
        If there are fewer than two steps, or the path ends in neither .png nor .pdf.
    """
    path = figure_path(path)
    steps = table.iloc[1:]
    if steps.empty:
        raise ValueError("table must hold two steps at least, there is nothing to draw")
    note = (
        "each step against the one before, over as many tasks as in brackets, those on which it is run, with its 95% "
        "interval, tasks and seeds resampled; left of the line: better"
    )
    with drawing():
        figure, axes = _begin([f"{row['step']} ({row['tasks']})" for _, row in steps.iterrows()], note, panels=2)
        set_scale(axes, *limits(steps[["ratio", "ratio_low", "ratio_high"]]), "regret, ratio", WIDE_OF_TWO)
        ranks = figure.add_subplot(1, 2, 2, sharey=axes)
        ranks.tick_params(axis="y", labelleft=False, length=0)
        ranks.grid(visible=False, axis="y")
        ranks.axvline(0, color="black", linewidth=0.8)
        ranks.set_xlabel("mean rank, change")
        for place, (_, row) in enumerate(steps.iterrows()):
            mark_ratio(axes, row["ratio"], row["ratio_low"], row["ratio_high"], -place, WITHIN)
            ends = [row["rank_low"], row["rank_high"]]
            ranks.plot(ends, [-place] * 2, color=WITHIN.color, linewidth=2, solid_capstyle="butt")
            ranks.plot(row["rank_change"], -place, marker=WITHIN.marker, color=WITHIN.color, markersize=7)
    return save(figure, table, path)


def limits(table: DataFrame) -> tuple[float, float]:
    """Ends of a logarithmic axis that holds 1 and what is finite of the ratios, and of their ends, in a table."""
    numbers = table.to_numpy(float)
    numbers = numbers[(numbers > 0) & (numbers < math.inf)]
    return 0.6 * min([0.8, *numbers]), 1.6 * max([1.25, *numbers])


def set_scale(axes: Axes, left: float, right: float, name: str, wide: float = WIDE) -> None:
    """A logarithmic axis of ratios with its name, and a line at 1."""
    axes.set(xscale="log", xlim=(left, right), xlabel=name)
    (plain_numbers if right < wide * left else powers_of_ten)(axes.xaxis)
    axes.axvline(1, color="black", linewidth=0.8)


def set_rows(axes: Axes, rows: Sequence[str], heights: Sequence[float], n: int) -> None:
    """Names at their heights, in an axis with room for n rows, at 0, -1, and so on."""
    axes.set_ylim(0.4 - n, 0.6)
    axes.set_yticks(heights, rows)
    axes.tick_params(axis="y", length=0, pad=8)  # clear of an arrow at the edge
    axes.grid(visible=False, axis="y")


def mark_ratio(axes: Axes, ratio: float, low: float, high: float, y: float, style: Style) -> None:
    """A point, its interval and both in figures, on an axis whose limits are set; what is 0 or infinite is an arrow."""
    left, right = axes.get_xlim()
    text = "neither reaches it" if math.isnan(ratio) else or_infinity(ratio)
    if not math.isnan(low):
        text += f" [{or_infinity(low)}, {or_infinity(high)}]"
        axes.plot([max(low, left), min(high, right)], [y, y], color=style.color, linewidth=2, solid_capstyle="butt")
    for edge, marker, outside in ((left, "<", min(ratio, low) < left), (right, ">", max(ratio, high) > right)):
        if outside:
            axes.plot(edge, y, marker=marker, color=style.color, markersize=7, clip_on=False)
    inside = (right / left) ** INSIDE
    if not math.isnan(ratio):
        filled = "full" if left <= ratio <= right else "none"
        place = min(max(ratio, left * inside), right / inside)
        axes.plot(place, y, marker=style.marker, color=style.color, fillstyle=filled, markersize=7, zorder=3)
    axes.annotate(text, (1.04, y), xycoords=("axes fraction", "data"), va="center", fontsize=8)


def _begin(rows: Sequence[str], note: str, panels: int = 1) -> tuple[Figure, Axes]:
    """A figure with its note and the first of its panels, with a row a ratio, from the top."""
    note = textwrap.fill(note, int(LETTERS_PER_INCH * WIDTH))
    figure = Figure(figsize=(WIDTH, 0.8 + ROW * len(rows) + height_below(0, 1, note)), layout="constrained")
    axes = figure.add_subplot(1, panels, 1)
    set_rows(axes, rows, [-place for place in range(len(rows))], len(rows))
    below_panels(figure, [], 1, note)
    return figure, axes
