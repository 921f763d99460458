"""The figure of the toy example: what a model of two levels sees and predicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from pandas import DataFrame

from benchmarks.figures.style import drawing, figure_path, save


def toy_figure(
    x: np.ndarray,
    y_light: np.ndarray,
    y_heavy: np.ndarray,
    mean: np.ndarray,
    std: np.ndarray,
    light_runs: np.ndarray,
    heavy_runs: np.ndarray,
    *,
    path: str | Path | None = None,
) -> Figure:
    """The toy example (the paper's Figure 1): true curves, runs and the model's prediction.

    Parameters
    ----------
    x : ndarray, shape (m,)
        Where the curves are given, increasing.
    y_light, y_heavy : ndarray, shape (m,)
        The true light and heavy response.
    mean, std : ndarray, shape (m,)
        The model's prediction of the heavy response; the band is mean ± 1.96 std.
    light_runs, heavy_runs : ndarray, shape (k, 3)
        x, y and iteration of the runs; iteration 0 is the initial design and bears no number.
    path : path, optional
        Where to write the PNG and the PDF, with the drawn numbers as .csv beside it.

    Raises
    ------
    ValueError
        If the shapes do not fit or the path ends in neither .png nor .pdf.
    """

    path = figure_path(path)
    curves = {"x": x, "y_light": y_light, "y_heavy": y_heavy, "mean": mean, "std": std}
    curves = {name: np.asarray(y, dtype=float) for name, y in curves.items()}
    x, y_light, y_heavy, mean, std = curves.values()
    for name, y in curves.items():
        if y.ndim != 1 or y.shape != x.shape:
            raise ValueError(f"{name} must have one value for each of the {x.size} x, got the shape {y.shape}")
    light_runs, heavy_runs = np.asarray(light_runs, dtype=float), np.asarray(heavy_runs, dtype=float)
    for name, runs in (("light_runs", light_runs), ("heavy_runs", heavy_runs)):
        if runs.ndim != 2 or runs.shape[1] != 3:
            raise ValueError(f"{name} must have the shape (k, 3), got {runs.shape}")
    initial, later = heavy_runs[heavy_runs[:, 2] == 0], heavy_runs[heavy_runs[:, 2] > 0]
    low, high = mean - 1.96 * std, mean + 1.96 * std

    with drawing():
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(x, y_light, color="black", linewidth=1, label="$y_l$, true")
        axes.plot(x, y_heavy, color="#7F7F7F", linewidth=2, label="$y_h$, true")
        axes.fill_between(x, low, high, color="#E69F00", alpha=0.25, linewidth=0, label="95% band of TAM")
        axes.plot(x, mean, color="#E69F00", linestyle="--", label="$y_h$, predicted by TAM")
        axes.plot(*light_runs[:, :2].T, "o", color="#8C8C8C", markersize=5, label="light runs, by iteration")
        axes.plot(*initial[:, :2].T, "^", color="black", markersize=7, label="initial heavy runs")
        axes.plot(*later[:, :2].T, "s", color="#D7191C", markersize=6, label="later heavy runs, by iteration")
        _number(axes, light_runs[light_runs[:, 2] > 0], "#595959", below=True)
        _number(axes, later, "#D7191C")
        axes.set(xlabel="$x$", ylabel="response (minimized)")
        figure.legend(loc="outside lower center", ncols=3, frameon=False)

    if path:
        points = {"light run": light_runs, "initial heavy run": initial, "later heavy run": later}
        save(figure, _toy_table({**curves, "low": low, "high": high}, points), path)
    return figure


def _number(axes: Axes, runs: np.ndarray, color: str, below: bool = False) -> None:
    """Write the iterations of runs (x, y, iteration) above or below them; runs that nearly coincide share a place."""

    size = np.ptp(axes.dataLim.get_points(), axis=0)
    places: list[tuple[np.ndarray, list[str]]] = []
    for *run, iteration in runs:
        for place, iterations in places:
            if np.all(np.abs(run - place) < 0.04 * size):
                if f"{iteration:.0f}" not in iterations:
                    iterations.append(f"{iteration:.0f}")
                break
        else:
            places.append((np.array(run), [f"{iteration:.0f}"]))
    for place, iterations in places:
        axes.annotate(
            ", ".join(iterations),
            (place[0], place[1]),
            xytext=(0, -7 if below else 7),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
            color=color,
            fontweight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )


def _toy_table(curves: dict[str, np.ndarray], runs: dict[str, np.ndarray]) -> DataFrame:
    """One row a point: what it belongs to, x, y, the band of the prediction, the iteration of a run."""

    x, low, high = (curves[name] for name in ("x", "low", "high"))
    parts = [pd.DataFrame({"series": name, "x": x, "y": curves[name]}) for name in ("y_light", "y_heavy", "mean")]
    parts[-1] = parts[-1].assign(low=low, high=high)
    for name, points in runs.items():
        parts.append(pd.DataFrame(points, columns=["x", "y", "iteration"]).assign(series=name))
    return pd.concat(parts, ignore_index=True).astype({"iteration": "Int64"})
