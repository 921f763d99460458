"""The figure of an ablation: what changing each option of BTAO does to its regret."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator
from pandas import DataFrame, Series

from benchmarks.analysis.ablation import MOMENTS, at_moments
from benchmarks.analysis.variants import variants
from benchmarks.figures.curves import FAINT
from benchmarks.figures.style import NOTE, below_panels, drawing, figure_path, height_below, save
from benchmarks.figures.words import entries_beside, wrapped

# How the two costs are drawn: color (none of a method's), marker, filling, and the shift from the middle of the row.
COST_STYLES: dict[str, tuple[str, str, Any, float]] = {
    "heavy_runs": ("#882255", "o", "full", 0.21),
    "heavy_equivalents": ("#117733", "s", "none", -0.21),
}
COST_NAMES = {"heavy_runs": "at equal heavy runs", "heavy_equivalents": "at equal iterations, light runs counted"}
# Of a measure: its name, the factor from what is analyzed to what is drawn, and the least of an axis to either side,
# for one of rounding would mislead where nothing differs.
UNITS = {
    "decades": ("decades of regret", 1.0, 0.5),
    "difference": ("percentage points of error", 100.0, 0.1),
}
INSIDE = 0.75  # the share of interval ends that an axis holds: a few wide ones would leave the others no room
CAPTION = (
    "Variant less default: mean and 95% interval over seeds, negative is better. Arrow: beyond the axis, with the mean "
    "beside it where that is. =: all seeds are equal. Faint: some seeds have no result. No mark: no result, or of one "
    "seed only."
)
# Inches. A page shows a column of about seven: of three panels beside each other all marks can be read there.
NAMES, PANEL = 1.6, 1.95  # width of the names of variants, and of a panel
ROW, AROUND = 0.31, 0.9  # height of a row, in which both costs have a number, and of what a panel has around them
TITLE = 8  # points
GAP = 0.15  # width between panels
BEYOND = 0.42  # width beside an arrow for its number
TIE: dict[str, Any] = {"marker": "$=$", "markersize": 7, "markeredgewidth": 0.2, "linestyle": "none"}


def effects_figure(trials: DataFrame, *, path: str | Path | None = None) -> Figure:
    """Each variant against the default, a column a task: mean paired difference, with its interval.

    In decades of the regret, or on measured errors in percentage points, see `benchmarks.analysis.ablation`: each
    measure has a part of its own, one below the other, and a task one linear axis; what lies beyond is an arrow at its
    edge. The first row of a part is where the default has made its first heavy run beyond the start, the second the
    end that all runs of the variant and the default have reached. A sign of equality stands where all pairs are equal.
    Drawn faint: variants of which some seeds have no result by then; nothing where one seed at most has.

    Parameters
    ----------
    trials : DataFrame
        As `records.load` returns them, of BTAO alone.
    path : path, optional
        Where to write the PNG and the PDF, with the drawn numbers beside it.

    Raises
    ------
    ValueError
        If the path ends in neither .png nor .pdf; and as `ablation.effects`.
    """

    path = figure_path(path)
    tables = [rows for _, rows in at_moments(trials).groupby("task")]
    measured = [[each for each in tables if each["measure"].iloc[0] == measure] for measure in UNITS]
    parts = [(part, _labels(part)) for part in measured if part]
    with drawing():
        width = NAMES + PANEL * max(len(part) for part, _ in parts)
        handles = [
            Line2D([], [], color=color, marker=marker, fillstyle=fill, linewidth=1.2, label=COST_NAMES[cost])
            for cost, (color, marker, fill, _) in COST_STYLES.items()
        ]
        note = wrapped(CAPTION, width, NOTE["fontsize"])
        beside = entries_beside(handles, width)
        heights = [len(MOMENTS) * (AROUND + ROW * len(labels)) for _, labels in parts]
        high = sum(heights) + height_below(len(handles), beside, note)
        figure = Figure(figsize=(width, high), layout="constrained")
        places = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
        for place, (part, labels) in zip(places, parts, strict=True):
            _part(place, part, labels, (width - NAMES) / len(part) - GAP)
        below_panels(figure, handles, beside, note)
    return save(figure, pd.concat(tables, ignore_index=True), path)


def _limit(effects: DataFrame) -> float:
    """Where the axis of a task ends to either side: most interval ends of both its panels are within."""
    _, factor, least = UNITS[effects["measure"].iloc[0]]
    shown = effects[effects["n"] > 1]
    far = factor * shown[["value", "low", "high"]].abs().max(axis=1).to_numpy(float)
    return max(least, 1.1 * float(np.quantile(far, INSIDE, method="lower"))) if len(far) else least


def _labels(tables: Sequence[DataFrame]) -> list[str]:
    """The variants that there are, in the order of `variants`, then others."""
    there = {label for each in tables for label in each["label"]}
    known = [label for label in variants() if label in there]
    return known + sorted(there - set(known))


def _part(figure: SubFigure, tables: Sequence[DataFrame], labels: list[str], wide: float) -> None:
    """The tasks of one measure beside each other, so many inches wide, the two moments one below the other."""
    grid = figure.subplots(len(MOMENTS), len(tables), squeeze=False, sharey=True, sharex="col")
    for column, each in enumerate(tables):
        limit = _limit(each)
        for axes, moment in zip(grid[:, column], MOMENTS, strict=True):
            _panel(axes, each[each["moment"] == moment], labels, limit)
        _axis(grid[-1][column], each, limit, wide)


def _axis(axes: Axes, effects: DataFrame, limit: float, wide: float) -> None:
    """The horizontal axis of a task: marked up to its limits, with room beyond them for the numbers that are there."""
    name, factor, _ = UNITS[effects["measure"].iloc[0]]
    means = factor * effects.loc[(effects["n"] > 1) & (effects["equal"] < effects["n"]), "value"]
    below, above = bool(means.min() < -limit), bool(means.max() > limit)
    room = BEYOND * 2 * limit / (wide - BEYOND * (below + above))
    axes.set_xlim(-limit - below * room, limit + above * room)
    marks = MaxNLocator(4).tick_values(-limit, limit)
    axes.xaxis.set_major_locator(FixedLocator([mark for mark in marks if abs(mark) <= limit]))
    axes.xaxis.set_major_formatter(lambda mark, _: f"{mark:g}".replace("-", "−"))
    axes.set_xlabel(name)


def _panel(axes: Axes, effects: DataFrame, labels: list[str], limit: float) -> None:
    task, moment, measure = effects[["task", "moment", "measure"]].iloc[0]
    _, factor, _ = UNITS[measure]
    for cost, (color, marker, fill, shift) in COST_STYLES.items():
        mine = effects[effects["cost"] == cost].set_index("label").reindex(labels)
        mine = mine.assign(height=[len(labels) - 1 - place + shift for place in range(len(labels))])
        for _, row in mine[mine["n"] > 1].iterrows():
            alpha = None if row["missing"] == 0 else FAINT
            if row["equal"] == row["n"]:
                axes.plot(row["value"], row["height"], color=color, alpha=alpha, **TIE)
                continue
            ends = [factor * row[name] for name in ("low", "value", "high")]
            clipped = [min(max(end, -limit), limit) for end in ends]
            look: dict[str, Any] = {"color": color, "alpha": alpha}
            axes.plot([clipped[0], clipped[2]], [row["height"]] * 2, linewidth=1.2, **look)
            for edge, arrow, beyond in ((-limit, "<", ends[0] < -limit), (limit, ">", ends[2] > limit)):
                if beyond:
                    axes.plot(edge, row["height"], marker=arrow, clip_on=False, zorder=3, **look)
            if abs(ends[1]) <= limit:
                axes.plot(ends[1], row["height"], marker=marker, fillstyle=fill, zorder=3, **look)
            else:
                edge, side, away = (-limit, "right", -5) if ends[1] < 0 else (limit, "left", 5)
                words: dict[str, Any] = {"ha": side, "va": "center", "fontsize": 7, **look}
                text = f"{ends[1]:+.2g}".replace("-", "−")
                axes.annotate(text, (edge, row["height"]), xytext=(away, 0), textcoords="offset points", **words)
    axes.axvline(0, color="black", linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(labels)), labels[::-1])
    axes.set_ylim(-0.6, len(labels) - 0.4)
    ends = [f"{_range(effects.loc[effects['cost'] == cost, 'at'])} {cost.replace('_', ' ')}" for cost in COST_STYLES]
    axes.set_title("\n".join([f"{task}, {moment}", *ends]), fontsize=TITLE)


def _range(costs: Series) -> str:
    least, most = costs.min(), costs.max()
    return f"{least:g}" if least == most else f"{least:g}–{most:g}"
