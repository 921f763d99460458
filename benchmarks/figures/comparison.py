"""Figures that compare methods as a whole: critical differences, speed-ups."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from pandas import DataFrame

from benchmarks.analysis import ranking
from benchmarks.analysis.scores import few_tasks
from benchmarks.figures.ratios import AXIS_NAMES, limits, mark_ratio, set_rows, set_scale
from benchmarks.figures.style import (
    LETTERS_PER_INCH,
    NOTE,
    drawing,
    figure_path,
    label_styles,
    note_height,
    save,
)

# scikit-posthocs is imported when used: it is slow, and one figure needs it.

PANEL_WIDTH = 5.2  # inches
RULER = 2.2  # height of the critical difference above the axis of ranks, in rows of the diagram


def critical_difference_figure(
    comparison: ranking.Blocks, *, alpha: float = 0.05, path: str | Path | None = None
) -> Figure:
    """The critical-difference diagram: mean ranks, joined where Nemenyi's test does not tell them apart.

    Parameters
    ----------
    comparison : Blocks
        As `ranking.blocks` gives them.
    alpha : float
        The level of the test.
    path : path, optional
        Where to write the PNG and the PDF, with, as .csv, the mean ranks beside it.

    Raises
    ------
    ValueError
        If the path ends in neither .png nor .pdf.
    """
    import scikit_posthocs

    path = figure_path(path)
    table = ranking.average_ranks(comparison)
    ranks = table.set_index("label")["rank"]
    n, k = comparison.ranks.shape
    difference = ranking.critical_difference(k, n, alpha)
    p_values = scikit_posthocs.posthoc_nemenyi_friedman(comparison.ranks.reset_index(drop=True))
    styles = label_styles(ranks.index)
    with drawing({"axes.grid": False, "axes.spines.top": True}):
        figure = Figure(figsize=(6.4, 2.0 + 0.16 * k), layout="constrained")
        axes = figure.add_subplot()
        drawn = scikit_posthocs.critical_difference_diagram(
            ranks,
            p_values,
            alpha=alpha,
            ax=axes,
            label_fmt_left="{label}  {rank:.2f} ",
            label_fmt_right=" {rank:.2f}  {label}",
            color_palette={label: style.color for label, style in styles.items()},
            text_h_margin=0.04 * k,
            elbow_props={"linewidth": 1.2},
            crossbar_props={"linewidth": 2.5, "color": "#404040"},
        )
        for text in drawn["labels"]:
            text.set_color("black")
        for (bar,) in drawn["crossbars"]:  # its points come in the order of a set, which differs between processes
            bar.set_xdata(sorted(bar.get_xdata()))
        left, right = axes.get_xlim()
        axes.set_xlim(min(left, 1), max(right, k, 1 + difference))  # all ranks, and all of the ruler
        axes.set_xticks(range(1, k + 1))
        axes.spines["top"].set_bounds(1, k)
        axes.plot([1, 1 + difference], [RULER, RULER], "|-", color="black", linewidth=1.2)
        axes.annotate(
            f"CD = {difference:.2f}", (1 + difference, RULER), xytext=(6, 0), textcoords="offset points", va="center"
        )
        figure.supxlabel(_rank_caption(comparison, alpha), **NOTE)
        warning = few_tasks(comparison.tasks)
        if warning:
            figure.suptitle(warning, fontsize=8.5, fontweight="bold")
    return save(figure, table.assign(critical_difference=difference, alpha=alpha), path)


def speed_up_figure(table: DataFrame, *, path: str | Path | None = None) -> Figure:
    """Speed-ups of one method over the others with their intervals: a panel a task, a row a method.

    Parameters
    ----------
    table : DataFrame
        As `targets.speed_ups` returns it.
    path : path, optional
        Where to write the PNG and the PDF, with the table as .csv beside it.

    Raises
    ------
    ValueError
        If the table is empty, has targets of several shares, or the path ends in neither .png nor .pdf.
    """

    path = figure_path(path)
    if table.empty:
        raise ValueError("table holds no speed-ups, so there is nothing to draw")
    caption = _speed_up_caption(table)
    styles = label_styles(table["over"])
    order = {over: -place for place, over in enumerate(styles)}
    tasks = table["task"].unique()
    columns = 3 if len(tasks) % 3 == 0 else min(2, len(tasks))
    rows = -(-len(tasks) // columns)
    layout = ConstrainedLayoutEngine(wspace=0.06)  # clear of the numbers beside a panel
    with drawing():
        width = PANEL_WIDTH * columns
        free = rows * columns - len(tasks)
        letters = int(LETTERS_PER_INCH * (0.8 * PANEL_WIDTH if free else width))
        caption = "\n".join(textwrap.fill(line, letters) for line in caption.splitlines())
        height = (1.1 + 0.27 * len(order)) * rows + (0 if free else note_height(caption))
        figure = Figure(figsize=(width, height), layout=layout)
        for number, task in enumerate(tasks, start=1):
            axes = figure.add_subplot(rows, columns, number)
            here = table[table["task"] == task]
            axes.set_title(task)
            name = f"speed-up of {here['of'].iloc[0]}, {AXIS_NAMES[here['against'].iloc[0]]}"
            set_scale(axes, *limits(here[["speed_up", "low", "high"]]), name, wide=math.inf)
            heights = [order[over] for over in here["over"]]
            set_rows(axes, [f"over {over}" for over in here["over"]], heights, len(order))
            for _, row in here.iterrows():
                mark_ratio(axes, row["speed_up"], row["low"], row["high"], order[row["over"]], styles[row["over"]])
        if free:
            place = figure.add_subplot(rows, columns, rows * columns)
            place.set_axis_off()
            place.text(0, 1, caption, va="top", **NOTE)
        else:
            figure.supxlabel(caption, **NOTE)
    return save(figure, table, path)


def _rank_caption(comparison: ranking.Blocks, alpha: float) -> str:
    n, tasks = len(comparison.values), comparison.tasks
    statistic, p = ranking.friedman(comparison)
    block = comparison.by if comparison.by == "seed" or n == tasks else "setting"
    of = "" if block == "task" else f" of {tasks} task{'s' if tasks > 1 else ''}"
    text = f"mean rank over {n} {block}s{of}, 1 is best" if n > 1 else f"rank in one {block}{of}"
    text += f"; joined: closer than CD (Nemenyi, level {alpha:g})"
    if not math.isnan(p):
        text += f"\nFriedman: χ² = {statistic:.3g}, p = {p:.2g}"
    if comparison.dropped:
        text += f"\nincomplete and left out: {comparison.dropped}"
    return text


def _speed_up_caption(table: DataFrame) -> str:
    """What the ratios, their intervals and the targets are."""
    text = (
        "ratio of median costs to the target with its 95% interval; an unreached target costs infinity (∞); hollow "
        "at an edge: 0 or ∞\n"
    )
    shares = table["share"].unique()
    if len(shares) > 1:
        raise ValueError(f"table must hold speed-ups at one share, got {', '.join(map(str, shares))}")
    if math.isnan(shares[0]):
        return text + "the target is given, and the interval takes it as known"
    return text + f"target: what the other has reached at {shares[0]:.0%} of its cost, taken again in each resample"
