"""The figure of an ablation: what changing each option of BTAO does to its regret."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame, Series

from benchmarks.analysis import ablation
from benchmarks.analysis.variants import variants
from benchmarks.figures.curves import FAINT
from benchmarks.figures.style import LETTERS_PER_INCH, RC, below_panels, drawing, figure_path, height_below, save

# How the two costs are drawn: color (none of a method's), marker, filling, and the shift from the middle of the row.
COST_STYLES: dict[str, tuple[str, str, Any, float]] = {
    "heavy_runs": ("#882255", "o", "full", 0.17),
    "heavy_equivalents": ("#117733", "s", "none", -0.17),
}
MOMENTS: dict[str, Callable[[DataFrame, str], float | Series]] = {
    "first proposal": ablation.first_proposal,
    "end": ablation.common_end,
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
    "where that is. =: all seeds are equal. Faint: some seeds have no result."
)
LABEL_BOX = {"facecolor": "white", "linewidth": 0, "pad": 0.5}
TIE: dict[str, Any] = {"marker": "$=$", "markersize": 7, "markeredgewidth": 0.2, "linestyle": "none"}


def effects_figure(trials: DataFrame, *, path: str | Path | None = None) -> Figure:
    """Each variant against the default, a column a task: mean paired difference, with its interval.

    In decades of the regret, or on measured errors in percentage points, see `benchmarks.analysis.ablation`, on one
    linear axis a task; what lies beyond is an arrow at its edge. The first row is where the default has made its
    first heavy run beyond the start, the second the end that all runs of the variant and the default have reached. A
    sign of equality stands where all pairs are equal. Drawn faint: variants of which some seeds have no result by
    then; nothing where one seed at most has.

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
    tables = [table(rows) for _, rows in trials.groupby("task")]
    there = {label for each in tables for label in each["label"]}
    labels = [label for label in variants() if label in there]
    labels += sorted(there - set(labels))
    with drawing():
        width, height = 2.2 + 2.3 * len(tables), len(MOMENTS) * (0.9 + 0.26 * len(labels))
        note = textwrap.fill(CAPTION, int(LETTERS_PER_INCH * width))
        figure = Figure(figsize=(width, height + height_below(2, 2, note)), layout="constrained")
        grid = figure.subplots(len(MOMENTS), len(tables), squeeze=False, sharey=True, sharex="col")
        for column, each in enumerate(tables):
            name, _, _ = UNITS[each["measure"].iloc[0]]
            limit = _limit(each)
            for axes, moment in zip(grid[:, column], MOMENTS, strict=True):
                _panel(axes, each[each["moment"] == moment], labels, limit)
            grid[-1][column].set_xlabel(name)
        handles = [
            Line2D([], [], color=color, marker=marker, fillstyle=fill, linewidth=1.2, label=COST_NAMES[cost])
            for cost, (color, marker, fill, _) in COST_STYLES.items()
        ]
        below_panels(figure, handles, len(handles), note)
    return save(figure, pd.concat(tables, ignore_index=True), path)


def table(trials: DataFrame) -> DataFrame:
    """`ablation.effects` of one task at both costs and at both moments, which its column `moment` names."""

    parts = [
        ablation.effects(trials, cost, at(trials, cost)).assign(moment=moment)
        for moment, at in MOMENTS.items()
        for cost in ablation.EQUAL_COSTS
    ]
    return pd.concat(parts, ignore_index=True)


def _limit(effects: DataFrame) -> float:
    """Where the axis of a task ends to either side: most interval ends of both its panels are within."""
    _, factor, least = UNITS[effects["measure"].iloc[0]]
    shown = effects[effects["n"] > 1]
    far = factor * shown[["value", "low", "high"]].abs().max(axis=1).to_numpy(float)
    return max(least, 1.1 * float(np.quantile(far, INSIDE, method="lower"))) if len(far) else least


def _panel(axes: Axes, effects: DataFrame, labels: list[str], limit: float) -> None:
    task, moment, measure = effects[["task", "moment", "measure"]].iloc[0]
    _, factor, _ = UNITS[measure]
    axes.set_xlim(-limit, limit)
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
                side, share = ("left", 0.04) if ends[1] < 0 else ("right", 0.96)
                words: dict[str, Any] = {"ha": side, "va": "center", "fontsize": 7, "bbox": LABEL_BOX, **look}
                at = share, row["height"]
                axes.annotate(f"{ends[1]:+.2g}", at, xycoords=("axes fraction", "data"), **words)
    axes.axvline(0, color="black", linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(labels)), labels[::-1])
    axes.set_ylim(-0.6, len(labels) - 0.4)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    ends = [f"{_range(effects.loc[effects['cost'] == cost, 'at'])} {cost.replace('_', ' ')}" for cost in COST_STYLES]
    axes.set_title("\n".join([f"{task}, {moment}", *ends]), fontsize=RC["font.size"])


def _range(costs: Series) -> str:
    least, most = costs.min(), costs.max()
    return f"{least:g}" if least == most else f"{least:g}–{most:g}"
