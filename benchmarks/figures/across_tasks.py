"""Figures across tasks: ranks over time, targets reached by a cost, and a heat map of tasks and methods."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from pandas import DataFrame

from benchmarks.common.formats import or_infinity
from benchmarks.figures.curves import AXIS_LABELS, GRAY, Looks
from benchmarks.figures.focus import in_focus
from benchmarks.figures.style import LETTERS_PER_INCH, below_panels, drawing, figure_path, height_below, save

WIDTH, HEIGHT = 5.2, 3.2  # inches, without what is below
ENTRIES = 3  # of the legend, beside each other
LIGHTER = 1.25  # the shade at the dark end of the map, where that of the best is 1: black would hide its number
DARK = 0.6  # of the map, from where letters on it are white


def rank_figure(table: DataFrame, *, first: str | None = None, path: str | Path | None = None) -> Figure:
    """Mean ranks over time, with intervals where a method is in focus.

    Parameters
    ----------
    table : DataFrame
        As `over_time.ranks_over_time` returns it.
    first : str, optional
        A method that has a color in any case, see `in_focus`.
    path : path, optional
        Where to write the PNG and the PDF, with the numbers as .csv beside them.

    Raises
    ------
    ValueError
        If there is no such method, or the path ends in neither .png nor .pdf.
    """
    path = figure_path(path)
    looks = _looks(table.assign(statistic="rank"), first)
    by, blocks, against = table[["by", "blocks", "against"]].iloc[0]
    note = f"1 is best; mean and 95% interval over {blocks} {by}{'s' if blocks > 1 else ''}"
    with drawing():
        figure, axes = _begin(looks, note)
        for label in looks.order:
            mine = table[table["label"] == label]
            if label in looks.styles:
                color = looks.styles[label].color
                axes.fill_between(mine["share"], mine["low"], mine["high"], color=color, alpha=0.12, linewidth=0)
            axes.plot(mine["share"], mine["rank"], **looks.look(label), markevery=0.2)
        axes.set(xlabel=f"share of the {AXIS_LABELS[against]}", ylabel="mean rank", xlim=(0, 1))
        axes.invert_yaxis()
    return save(figure, table, path)


def targets_figure(table: DataFrame, *, first: str | None = None, path: str | Path | None = None) -> Figure:
    """The share of targets that each method has reached by a cost: an empirical cumulative distribution.

    Parameters
    ----------
    table : DataFrame
        As `over_time.targets_reached` returns it.
    first, path
        As in `rank_figure`.

    Raises
    ------
    ValueError
        As `rank_figure`.
    """
    path = figure_path(path)
    looks = _looks(table.assign(statistic="left", left=1 - table["reached"]), first)
    against, tasks = table["against"].iloc[0], table["tasks"].max()
    note = (
        f"targets on {tasks} task{'s' if tasks > 1 else ''}, from what first heavy results are worth on average to the "
        "best that any of these methods has reached"
    )
    with drawing():
        figure, axes = _begin(looks, note)
        for label in looks.order:
            mine = table[table["label"] == label]
            axes.step(mine["cost"], mine["reached"], where="post", **looks.look(label), markevery=0.2)
        axes.set(xscale="log", ylim=(0, 1.02), xlabel=AXIS_LABELS[against], ylabel="share of targets reached")
    return save(figure, table, path)


def heat_map_figure(table: DataFrame, *, path: str | Path | None = None) -> Figure:
    """Tasks and methods: a cell has what the method reached, its color the rank of that on the task.

    Parameters
    ----------
    table : DataFrame
        As `per_task` returns it. Methods stand in the order of their mean ranks.
    path : path, optional
        As in `rank_figure`.

    Raises
    ------
    ValueError
        If the table is empty, or the path ends in neither .png nor .pdf.
    """
    path = figure_path(path)
    if table.empty:
        raise ValueError("table holds no task, so there is nothing to draw")
    values = table.pivot(index="task", columns="label", values="value")
    ranks = values.rank(axis=1)
    order = ranks.mean().sort_values(kind="stable").index
    numbers, places = values[order].to_numpy(float), ranks[order].to_numpy(float)
    tasks, labels = numbers.shape
    note = f"{table['statistic'].iloc[0]} over seeds at the end; dark: best of the task"
    with drawing({"axes.grid": False}):
        width = 1.6 + 0.85 * labels
        note = textwrap.fill(note, int(LETTERS_PER_INCH * width))
        figure = Figure(figsize=(width, 1.4 + 0.32 * tasks + height_below(0, 1, note)), layout="constrained")
        axes = figure.add_subplot()
        shades = 1 - (places - 1) / max(labels - 1, 1)
        axes.imshow(shades, cmap="Blues", vmin=0, vmax=LIGHTER, aspect="auto")
        for row, column in zip(*np.nonzero(~np.isnan(numbers)), strict=True):
            color = "white" if shades[row, column] > DARK * LIGHTER else "black"
            weight = "bold" if places[row, column] == np.nanmin(places[row]) else "normal"
            text = or_infinity(numbers[row, column])
            axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color=color, fontweight=weight)
        axes.set_xticks(range(labels), order, rotation=30, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(tasks), values.index)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        below_panels(figure, [], 1, note)
    return save(figure, table, path)


def _looks(table: DataFrame, first: str | None) -> Looks:
    """How its labels are drawn, those in focus in color; `statistic` names the column by which the least is best."""
    methods = {label: label.partition(" [")[0] for label in table["label"].unique()}
    table = table.assign(method=table["label"].map(methods))
    return Looks.of(methods, list(methods), in_focus([table], list(methods), first=first))


def _begin(looks: Looks, note: str) -> tuple[Figure, Axes]:
    """A figure of one panel with its legend and note."""
    gray = [label for label in looks.order if label not in looks.styles]
    if gray:
        note += f"; gray: {', '.join(gray)}"
    handles: Sequence[Line2D] = [Line2D([], [], **looks.look(label), label=label) for label in looks.styles]
    if gray:
        handles = [*handles, Line2D([], [], color=GRAY.color, label="the others")]
    note = textwrap.fill(note, int(LETTERS_PER_INCH * WIDTH))
    below = height_below(len(handles), ENTRIES, note)
    figure = Figure(figsize=(WIDTH, HEIGHT + below), layout="constrained")
    below_panels(figure, handles, ENTRIES, note)
    return figure, figure.add_subplot()
