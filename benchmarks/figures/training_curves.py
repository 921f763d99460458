"""Figures of a recorded table: its curves, what they say of light training, and the noise of training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from benchmarks.analysis.recorded import training_curves as curves
from benchmarks.analysis.recorded.training_noise import by_configuration, pooled
from benchmarks.figures.style import DPI, drawing, label_styles, plain_numbers
from benchmarks.tables.table import Table
from btao.running.files import replacing
from btao.training import Level

LINE, FAINT, BOUND = "#0072B2", "#7F7F7F", "#D55E00"
QUANTILES = (0.25, 0.5, 0.75)


def figure_table(table: Table) -> Figure:
    """Four panels: errors so far, improvement against time, light against heavy errors, rank correlation.

    The second is left out where only some numbers of iterations are recorded.
    """

    light, heavy = curves.levels(table)
    panels = [_errors, _improvement, _levels, _ranks] if table.head.every_iteration else [_errors, _levels, _ranks]
    with drawing():
        figure = Figure(figsize=(3.4 * len(panels), 3.5), layout="constrained")
        for axes, draw in zip(figure.subplots(1, len(panels)), panels, strict=True):
            draw(axes, table, light, heavy)
        n = table.rows["configuration"].nunique()
        data = table.head.data
        on = "" if data is None else f" on {data.name}, {data.n_train:,} training images"
        figure.suptitle(f"{table.head.task}: {n} configurations{on}")
    return figure


def save(figure: Figure, path: Path) -> Path:
    """Write a PNG."""
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=DPI)
    return path


def figure_noise(errors: pandas.DataFrame, ends: pandas.DataFrame | None = None) -> Figure:
    """The noise of each configuration, and, in a second panel, how far apart methods end.

    Parameters
    ----------
    errors : DataFrame
        As `analysis.recorded.training_noise.heavy_errors` gives them.
    ends : DataFrame, optional
        Of one task, as `analysis.aggregate.summary` gives it: the differences of its means of the best value. Without
        it there is no second panel.
    """
    spread = by_configuration(errors)
    noise = pooled(spread[spread["best"]])
    with drawing():
        panels = 1 if ends is None else 2
        figure = Figure(figsize=(4.4 * panels, 3.5), layout="constrained")
        axes = figure.subplots(1, panels, squeeze=False)[0]
        _configurations(axes[0], spread, noise)
        if ends is not None:
            _methods(axes[1], ends, noise)
    return figure


def _errors(axes: Axes, table: Table, light: Level, heavy: Level) -> None:
    so_far = curves.errors_so_far(table)
    axes.plot(so_far.columns, so_far.T.to_numpy(), color=FAINT, linewidth=0.4, alpha=0.35)
    for quantile, dashes in zip(QUANTILES, ("--", "-", "--"), strict=True):
        label = {0.5: "median", 0.25: "quartiles"}.get(quantile)
        axes.plot(so_far.columns, so_far.quantile(quantile), color=LINE, linestyle=dashes, label=label)
    of = "training curves" if table.head.full_length else "training curves of heavy runs"
    axes.set(yscale="log", ylabel="validation error so far", title=of)
    _iterations(axes, table)
    plain_numbers(axes.yaxis)
    axes.axvline(light.iterations, color=BOUND, linestyle=":", label="light level")
    _legend(axes)


def _improvement(axes: Axes, table: Table, light: Level, heavy: Level) -> None:
    at = np.linspace(0, 1, 201)
    shares = curves.improvement_shares(table, heavy, at)
    low, middle, high = np.quantile(shares, QUANTILES, axis=0)
    axes.fill_between(at, low, high, step="post", color=LINE, alpha=0.2, linewidth=0, label="quartiles")
    axes.step(at, middle, where="post", color=LINE, label="median")
    axes.plot([0.2, 0.2, 0], [0, 0.9, 0.9], color=BOUND, linestyle=":", label="90% in 20% of the time")
    axes.set(xlabel="share of a heavy run's time", ylabel="share of its improvement", title="improvement on guessing")
    axes.set(xlim=(0, 1), ylim=(0, 1.02))
    _legend(axes)


def _levels(axes: Axes, table: Table, light: Level, heavy: Level) -> None:
    values = curves.of_levels(table, light, heavy)
    axes.scatter(values["light"], values["heavy"], s=9, facecolors="none", edgecolors=LINE, linewidths=0.7)
    ends = [values[["light", "heavy"]].to_numpy().min() * 0.9, 1.0]
    axes.plot(ends, ends, color=BOUND, linestyle=":", label=r"bound $y_h \leq y_l$")
    axes.set(xscale="log", yscale="log", xlabel="light error", ylabel="heavy error", title="the two levels")
    for axis in (axes.xaxis, axes.yaxis):
        plain_numbers(axis)
    _legend(axes)


def _ranks(axes: Axes, table: Table, light: Level, heavy: Level) -> None:
    correlations = curves.rank_correlations(table)
    axes.plot(correlations.index, correlations, color=LINE, marker="o" if len(correlations) < 10 else None)
    axes.axvline(light.iterations, color=BOUND, linestyle=":", label="light level")
    _iterations(axes, table)
    axes.set(ylabel="rank correlation", title="with the errors at the end")
    axes.set_ylim(min(0.5, correlations.min() - 0.02), 1.02)
    _legend(axes)


def _legend(axes: Axes) -> None:
    """Below the panel: curves may be anywhere in it."""
    axes.legend(
        frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, columnspacing=1.2, handlelength=1.6
    )


def _iterations(axes: Axes, table: Table) -> None:
    """The axis of iterations: marked at those that are recorded where they are few."""

    axes.set_xlabel("iteration")
    if not table.head.every_iteration:
        recorded = sorted(set(table.rows["iteration"]))
        axes.set_xscale("log")
        axes.set_xticks(recorded, [str(iteration) for iteration in recorded])
        axes.xaxis.set_minor_locator(NullLocator())


def _configurations(axes: Axes, spread: pandas.DataFrame, noise: float) -> None:
    for best, color, label in ((False, FAINT, "the others"), (True, LINE, "the best quarter")):
        mine = spread[spread["best"] == best]
        axes.scatter(mine["mean"], mine["sd"], s=12, facecolors="none", edgecolors=color, label=label)
    axes.axhline(noise, color=BOUND, linestyle=":", label="pooled, the best quarter")
    axes.set(xscale="log", xlabel="mean heavy error", ylabel="standard deviation between seeds", ylim=(0, None))
    axes.set_title("training again")
    plain_numbers(axes.xaxis)
    _legend_below(axes)


def _methods(axes: Axes, ends: pandas.DataFrame, noise: float) -> None:
    """Means of the best value less the lowest of them, with their intervals."""
    ranked = ends.sort_values("best_mean", ascending=False, kind="stable")
    lowest, styles = ranked["best_mean"].min(), label_styles(ranked["label"])
    for height, row in enumerate(ranked.to_dict("records")):
        color = styles[row["label"]].color
        axes.plot([row["best_low"] - lowest, row["best_high"] - lowest], [height] * 2, color=color)
        axes.plot(row["best_mean"] - lowest, height, "o", color=color)
    axes.axvline(noise, color=BOUND, linestyle=":", label="noise of training, the best quarter")
    axes.set_yticks(range(len(ranked)), ranked["label"].tolist())
    axes.set(xlabel="mean best error, less the lowest", title="methods")
    _legend_below(axes)


def _legend_below(axes: Axes) -> None:
    """Points may be anywhere in the panel."""
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, handlelength=1.6)
