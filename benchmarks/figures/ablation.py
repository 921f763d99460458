"""The figure of an ablation: what changing each option of BTAO does to its regret."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from benchmarks.analysis import ablation
from benchmarks.analysis.variants import variants
from benchmarks.figures.curves import FAINT
from benchmarks.figures.style import RC, drawing, legend_below, png_path, save

# How the two costs are drawn: color (none of a method's), marker, filling, and the shift from the middle of the row.
COST_STYLES = {
    "heavy_runs": ("#882255", "o", "full", 0.17),
    "heavy_equivalents": ("#117733", "s", "none", -0.17),
}
MOMENTS: dict[str, Callable[[DataFrame, str], float | Series]] = {
    "first proposal": ablation.first_proposal,
    "end": ablation.common_end,
}
COST_NAMES = {"heavy_runs": "heavy runs", "heavy_equivalents": "heavy equivalents, light runs counted"}
# Of an axis, where nothing differs: one of rounding would mislead. Differences are drawn linearly up to there.
LEAST = {"decades": 0.5, "difference": 0.001}
MEASURE_NAMES = {
    "decades": "log10 regret, variant minus default",
    "difference": f"error, variant minus default\n(linear up to {LEAST['difference']:g}, then logarithmic)",
}
CAPTION = (
    "mean and 95% interval over seeds, negative is better; =: all seeds are equal; faint: some seeds have no result"
)
TIE: dict[str, Any] = {"marker": "$=$", "markersize": 7, "markeredgewidth": 0.2, "linestyle": "none"}


def effects_figure(trials: DataFrame, *, path: str | Path | None = None) -> Figure:
    """Each variant against the default, a column a task: mean paired difference, with its interval.

    In decades of the regret, or on measured errors in their unit, see `benchmarks.analysis.ablation`; the axis of the
    second is logarithmic but near zero. The first row is where the default has made its first heavy run beyond
    the start, the second the end that all runs of the variant and the default have reached. A sign of equality
    stands where all pairs are equal. Drawn faint: variants of which some seeds have no result by then; nothing where
    one seed at most has.

    Parameters
    ----------
    trials : DataFrame
        As `records.load` returns them, of BTAO alone.
    path : path, optional
        Where to write the PNG, with the drawn numbers beside it.

    Raises
    ------
    ValueError
        If the path does not end in .png; and as `ablation.effects`.
    """

    path = png_path(path)
    tables = [table(rows) for _, rows in trials.groupby("task")]
    there = {label for each in tables for label in each["label"]}
    labels = [label for label in variants() if label in there]
    labels += sorted(there - set(labels))
    with drawing():
        size = 2.2 + 3.0 * len(tables), 1.0 + len(MOMENTS) * (0.8 + 0.26 * len(labels))
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(len(MOMENTS), len(tables), squeeze=False, sharey=True)
        for row, moment in zip(grid, MOMENTS, strict=True):
            for axes, each in zip(row, tables, strict=True):
                _panel(axes, each[each["moment"] == moment], labels)
        for axes, each in zip(grid[-1], tables, strict=True):
            axes.set_xlabel(MEASURE_NAMES[each["measure"].iloc[0]])
        legend_below(figure, grid[0][0], 2, title=f"{CAPTION}\ncompared at the same number of")
    return save(figure, pd.concat(tables, ignore_index=True), path)


def table(trials: DataFrame) -> DataFrame:
    """`ablation.effects` of one task at both costs and at both moments, which its column `moment` names."""

    parts = [
        ablation.effects(trials, cost, at(trials, cost)).assign(moment=moment)
        for moment, at in MOMENTS.items()
        for cost in ablation.EQUAL_COSTS
    ]
    return pd.concat(parts, ignore_index=True)


def _panel(axes: Axes, effects: DataFrame, labels: list[str]) -> None:
    for cost, (color, marker, fill, shift) in COST_STYLES.items():
        mine = effects[effects["cost"] == cost].set_index("label").reindex(labels)
        mine = mine.assign(height=[len(labels) - 1 - place + shift for place in range(len(labels))])
        there, all_there = mine["n"] > 1, mine["missing"] == 0
        tie = there & (mine["equal"] == mine["n"])
        look: dict[str, Any] = {"color": color, "marker": marker, "fillstyle": fill}
        look |= {"linestyle": "none", "elinewidth": 1.2}
        for complete, more in ((all_there, {"label": COST_NAMES[cost]}), (~all_there, {"alpha": FAINT})):
            shown = there & complete & ~tie
            value, low, high, height = (mine.loc[shown, name] for name in ("value", "low", "high", "height"))
            error = [(value - low).clip(lower=0), (high - value).clip(lower=0)]
            axes.errorbar(value, height, xerr=error, **look, **more)
            equal = mine[tie & complete]
            axes.plot(equal["value"], equal["height"], color=color, alpha=more.get("alpha"), **TIE)
    axes.axvline(0, color="black", linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(labels)), labels[::-1])
    axes.set_ylim(-0.6, len(labels) - 0.4)
    task, moment, measure = effects[["task", "moment", "measure"]].iloc[0]
    ends = [f"{_range(effects.loc[effects['cost'] == cost, 'at'])} {cost.replace('_', ' ')}" for cost in COST_STYLES]
    axes.set_title(f"{task}, {moment}\n{', '.join(ends)}", fontsize=RC["font.size"])
    if measure == "difference":  # a few wide intervals would leave the others no room
        axes.set_xscale("symlog", linthresh=LEAST[measure], subs=range(2, 10))
    largest = max(LEAST[measure], *map(abs, axes.get_xlim()))
    axes.set_xlim(-1.08 * largest, 1.08 * largest)


def _range(costs: Series) -> str:
    least, most = costs.min(), costs.max()
    return f"{least:g}" if least == most else f"{least:g}–{most:g}"
