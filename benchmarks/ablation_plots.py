"""The figure of an ablation: what changing each option of BTAO does to its regret."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import ablation
from benchmarks.style import METHOD_STYLES, RC, png_path, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

# How the two costs are drawn: colour, marker, filling, and the shift from the middle of the row.
COSTS = {
    "heavy_runs": (METHOD_STYLES["btao"].color, "o", "full", 0.17),
    "heavy_equivalents": (METHOD_STYLES["gp_bo"].color, "s", "none", -0.17),
}
MOMENTS = {"first proposal": ablation.first_proposal, "end": ablation.common_end}
NAMES = {"heavy_runs": "heavy runs", "heavy_equivalents": "heavy equivalents, light runs counted"}


def effects_figure(trials: DataFrame, *, path: str | Path | None = None) -> Figure:
    """Each variant against the default, a column a task: mean paired difference in decades, with its interval.

    The first row is where the default has made its first heavy run beyond the start, the second the
    end that all runs of the task have reached.

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
    import matplotlib
    import pandas as pd
    from matplotlib.figure import Figure

    path = path and png_path(path)
    tables = [table(rows) for _, rows in trials.groupby("task")]
    there = {label for each in tables for label in each["label"]}
    labels = [label for label in ablation.variants() if label in there]
    labels += sorted(there - set(labels))
    with matplotlib.rc_context(RC):
        size = 2.2 + 3.0 * len(tables), 1.0 + len(MOMENTS) * (0.8 + 0.26 * len(labels))
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(len(MOMENTS), len(tables), squeeze=False, sharey=True)
        for row, moment in zip(grid, MOMENTS, strict=True):
            for axes, each in zip(row, tables, strict=True):
                _panel(axes, each[each["moment"] == moment], labels)
        for axes in grid[-1]:
            axes.set_xlabel("lg regret less the default's")
        handles, names = grid[0][0].get_legend_handles_labels()
        title = "mean and 95% interval, paired by seed, negative is better; compared after equal"
        figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False, title=title)
    if path:
        save(figure, pd.concat(tables, ignore_index=True), path)
    return figure


def table(trials: DataFrame) -> DataFrame:
    """`ablation.effects` of one task at both costs and at both moments, which its column `moment` names."""
    import pandas as pd

    parts = [
        ablation.effects(trials, cost, at(trials, cost)).assign(moment=moment)
        for moment, at in MOMENTS.items()
        for cost in COSTS
    ]
    return pd.concat(parts, ignore_index=True)


def _panel(axes: Axes, effects: DataFrame, labels: Sequence[str]) -> None:
    for cost, (color, marker, fill, shift) in COSTS.items():
        mine = effects[effects["cost"] == cost].set_index("label").reindex(labels)
        heights = [len(labels) - 1 - place + shift for place in range(len(labels))]
        known = mine["decades"].notna().to_numpy()
        low, high = (mine["decades"] - mine["decades_low"]).clip(lower=0), (mine["decades_high"] - mine["decades"])
        axes.errorbar(
            mine["decades"][known],
            [height for height, there in zip(heights, known, strict=True) if there],
            xerr=[low[known].fillna(0), high[known].clip(lower=0).fillna(0)],
            color=color,
            marker=marker,
            fillstyle=fill,
            linestyle="none",
            elinewidth=1.2,
            label=NAMES[cost],
        )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(labels)), labels[::-1])
    axes.set_ylim(-0.6, len(labels) - 0.4)
    ends = [f"{effects.loc[effects['cost'] == cost, 'at'].iloc[0]:g} {cost.replace('_', ' ')}" for cost in COSTS]
    axes.set_title(
        f"{effects['task'].iloc[0]}, {effects['moment'].iloc[0]}\n{', '.join(ends)}", fontsize=RC["font.size"]
    )
    largest = max(0.5, *map(abs, axes.get_xlim()))  # where nothing differs, an axis of rounding would mislead
    axes.set_xlim(-1.08 * largest, 1.08 * largest)
