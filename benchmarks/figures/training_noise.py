"""The figure of the noise of training, beside the differences between methods."""

from __future__ import annotations

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.analysis.training_noise import by_configuration, pooled
from benchmarks.figures.style import drawing, label_styles, plain_numbers

LINE, FAINT, NOISE = "#0072B2", "#7F7F7F", "#D55E00"


def figure_noise(errors: pandas.DataFrame, ends: pandas.DataFrame) -> Figure:
    """Two panels: the noise of each configuration, and how far apart methods end.

    Parameters
    ----------
    errors : DataFrame
        As `analysis.training_noise.heavy_errors` gives them.
    ends : DataFrame
        Of one task, as `analysis.aggregate.summary` gives it: the differences of its means of the best value.
    """
    spread = by_configuration(errors)
    noise = pooled(spread[spread["best"]])
    with drawing():
        figure = Figure(figsize=(8.8, 3.5), layout="constrained")
        left, right = figure.subplots(1, 2)
        _configurations(left, spread, noise)
        _methods(right, ends, noise)
    return figure


def _configurations(axes: Axes, spread: pandas.DataFrame, noise: float) -> None:
    for best, color, label in ((False, FAINT, "the others"), (True, LINE, "the best quarter")):
        mine = spread[spread["best"] == best]
        axes.scatter(mine["mean"], mine["sd"], s=12, facecolors="none", edgecolors=color, label=label)
    axes.axhline(noise, color=NOISE, linestyle=":", label="pooled, the best quarter")
    axes.set(xscale="log", xlabel="mean heavy error", ylabel="standard deviation between seeds", ylim=(0, None))
    axes.set_title("training again")
    plain_numbers(axes.xaxis)
    _legend(axes)


def _methods(axes: Axes, ends: pandas.DataFrame, noise: float) -> None:
    """Means of the best value less the lowest of them, with their intervals."""
    ranked = ends.sort_values("best_mean", ascending=False, kind="stable")
    lowest, styles = ranked["best_mean"].min(), label_styles(ranked["label"])
    for height, row in enumerate(ranked.to_dict("records")):
        color = styles[row["label"]].color
        axes.plot([row["best_low"] - lowest, row["best_high"] - lowest], [height] * 2, color=color)
        axes.plot(row["best_mean"] - lowest, height, "o", color=color)
    axes.axvline(noise, color=NOISE, linestyle=":", label="noise of training, the best quarter")
    axes.set_yticks(range(len(ranked)), ranked["label"].tolist())
    axes.set(xlabel="mean best error, less the lowest", title="methods")
    _legend(axes)


def _legend(axes: Axes) -> None:
    """Below the panel: points may be anywhere in it."""
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, handlelength=1.6)
