"""Figures across tasks: ranks over time, targets reached by a cost, and heat maps of tasks and methods."""

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
SATURATED = 0.35  # of a map of two colors, from its middle: likewise
LEVEL = 0.05  # of tests


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
    values, ranks = values[order], ranks[order]
    shades = 1 - (ranks - 1) / max(len(order) - 1, 1)
    note = f"{table['statistic'].iloc[0]} over seeds at the end; dark: best of the task"
    best = ranks.eq(ranks.min(axis=1), axis=0)
    figure = _map(values.map(or_infinity), shades / LIGHTER, best, shades > DARK * LIGHTER, "Blues", note)
    return save(figure, table, path)


def pairs_figure(table: DataFrame, *, path: str | Path | None = None) -> Figure:
    """Tasks and methods: a cell has the seeds on which one method, that of the tests, ends better and worse than this.

    Parameters
    ----------
    table : DataFrame
        As `per_task` returns it with `first`. Methods stand in the order of the share of seeds that they lose.
    path : path, optional
        As in `rank_figure`.

    Raises
    ------
    ValueError
        If the table has no test, or the path ends in neither .png nor .pdf.
    """
    path = figure_path(path)
    tested = table[table["p_holm"].notna()] if "p_holm" in table else table.iloc[:0]
    if tested.empty:
        raise ValueError("table holds no tests, so there is nothing to draw")
    lost = (tested["losses"] + tested["ties"] / 2) / tested["pairs"]
    words = tested["losses"].astype(int).astype(str) + " : " + tested["wins"].astype(int).astype(str)
    told = tested["p_holm"] < LEVEL
    cells = tested.assign(lost=lost, words=words, told=told)
    order = cells.groupby("label")["lost"].mean().sort_values(kind="stable").index
    shades, texts, bold = (
        cells.pivot(index="task", columns="label", values=name).reindex(tested["task"].unique(), columns=order)
        for name in ("lost", "words", "told")
    )
    first = tested["over"].iloc[0]
    note = (
        f"seeds on which {first} ends better : worse than the method, without ties; blue: {first} is better; bold: "
        f"told apart by Wilcoxon's signed-rank test, level {LEVEL:g} on each task after Holm's correction"
    )
    white = (shades - 0.5).abs() > SATURATED
    return save(_map(texts, shades, bold.eq(True), white, "RdBu", note), table, path)


def _map(texts: DataFrame, shades: DataFrame, bold: DataFrame, white: DataFrame, colors: str, note: str) -> Figure:
    """Cells of tasks, the rows, and methods: a text on a shade from 0 to 1 of a map of colors, nan for an empty one."""
    tasks, labels = texts.shape
    with drawing({"axes.grid": False}):
        width = 1.6 + 0.85 * labels
        note = textwrap.fill(note, int(LETTERS_PER_INCH * width))
        figure = Figure(figsize=(width, 1.4 + 0.32 * tasks + height_below(0, 1, note)), layout="constrained")
        axes = figure.add_subplot()
        axes.imshow(shades.to_numpy(float), cmap=colors, vmin=0, vmax=1, aspect="auto")
        for row, column in zip(*np.nonzero(shades.notna().to_numpy()), strict=True):
            color = "white" if white.iat[row, column] else "black"
            weight = "bold" if bold.iat[row, column] else "normal"
            text = str(texts.iat[row, column])
            axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color=color, fontweight=weight)
        axes.set_xticks(range(labels), texts.columns, rotation=30, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(tasks), texts.index)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        below_panels(figure, [], 1, note)
    return figure


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
