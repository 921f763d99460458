"""Figures of the performance profile: how accurate predictions are, and what they look like."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from benchmarks.analysis.prediction import BAND
from benchmarks.figures.style import (
    LETTERS_PER_INCH,
    METHOD_STYLES,
    RC,
    Style,
    below_panels,
    drawing,
    figure_path,
    height_below,
    legend_below,
    save,
)

# A model has the style of the method that uses it; the one without bounds has one of its own.
MODEL_STYLES = {
    "tam": METHOD_STYLES["btao"],
    "koh": Style("#117733", (0, (1, 2)), "x"),
    "gp": METHOD_STYLES["gp_bo"],
}
MODEL_NAMES = {
    "tam": "truncated additive model",
    "koh": "Kennedy–O'Hagan (no bounds)",
    "gp": "Gaussian process, heavy runs only",
}
MEASURES = {
    "rmse": "RMSE",
    "coverage": "coverage of the 95% band",
    "width": "width of the band",
    "log_score": "log score",
    "lost": "seeds below −20 nats",
}
MEANS = ("coverage", "lost")
SHARES = "share"  # the unit of what is in MEANS
DODGE = {"tam": -0.16, "koh": 0.0, "gp": 0.16}  # heavy runs, so that no model hides another
# Heavy runs. Before these no model knows how far the response varies: log scores are of the order of -1e10.
FIRST = 3
LOG_SCORE_FLOOR = -20  # a band that misses costs from hundreds to millions of nats, and would hide all the rest


def accuracy_figure(
    table: DataFrame,
    runs: str = "common",
    measures: Sequence[str] = ("rmse", "coverage", "log_score", "lost"),
    *,
    path: str | Path | None = None,
) -> Figure:
    """Scores against heavy runs, from `FIRST` on, a row a task and a column a measure, as `over_seeds` has them.

    The models stand beside each other. Where the one without bounds gives what the truncated one gives, as on a task
    without bounds, it is not drawn, and the panel says so.

    Parameters
    ----------
    table : DataFrame
        As `benchmarks.studies.model_accuracy.study` returns it.
    runs : {"common", "own"}
        Whose runs the models are fitted to.
    measures : sequence of str
        Of `MEASURES`.
    path : path, optional
        Where to write the PNG and the PDF, with the drawn numbers beside it.

    Raises
    ------
    ValueError
        If the table has no such runs, or the path ends in neither .png nor .pdf.
    """

    path = figure_path(path)
    chosen = table[(table["runs"] == runs) & (table["heavy_runs"] >= FIRST)]
    if chosen.empty:
        raise ValueError(
            f"no scores of runs={runs!r} from {FIRST} heavy runs on: the table has {len(table)} rows, "
            f"of runs {', '.join(sorted(table['runs'].unique()))}"
        )
    drawn = over_seeds(chosen, measures)
    tasks = list(dict.fromkeys(chosen["task"]))
    models = _drawn_models(chosen)
    with drawing():
        width = 2.9 * len(measures)
        note = textwrap.fill(_note(measures, models), int(LETTERS_PER_INCH * width))
        height = 2.3 * len(tasks) + height_below(len(MODEL_STYLES), len(MODEL_STYLES), note)
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(len(tasks), len(measures), squeeze=False)
        for row, task in zip(grid, tasks, strict=True):
            here = drawn[drawn["task"] == task]
            unit = "error" if chosen.loc[chosen["task"] == task, "data"].notna().any() else "unit of the response"
            for axes, measure in zip(row, measures, strict=True):
                _scores(axes, here[here["measure"] == measure], measure, models[task])
                axes.set_ylabel({**dict.fromkeys(MEANS, SHARES), "log_score": "nats a point"}.get(measure, unit))
            row[0].annotate(
                task, (0, 1), xytext=(4, 4), xycoords="axes fraction", textcoords="offset points", fontweight="bold"
            )
        for axes, measure in zip(grid[0], measures, strict=True):
            axes.set_title(MEASURES[measure])
        for axes in grid[-1]:
            axes.set_xlabel("heavy runs")
        handles = [
            Line2D([], [], color=style.color, linestyle=style.dashes, marker=style.marker, label=MODEL_NAMES[model])
            for model, style in MODEL_STYLES.items()
        ]
        below_panels(figure, handles, len(handles), note)
    return save(figure, drawn, path)


def over_seeds(table: DataFrame, measures: Sequence[str]) -> DataFrame:
    """What scores come to over the seeds.

    Parameters
    ----------
    table : DataFrame
        As `benchmarks.studies.model_accuracy.study` returns it.
    measures : sequence of str
        Of `MEASURES`. "lost" is the share of seeds with a log score below `LOG_SCORE_FLOOR`.

    Returns
    -------
    DataFrame
        One row a task, runs, model, heavy_runs and measure, which it names; seeds; statistic ("mean" of
        those in `MEANS`, else "median") and its value; the quartiles q25 and q75. A coverage is a
        probability, over seeds as over points, so it is a mean, as shares are; of the other scores a few
        seeds would decide the mean.
    """

    table = table.assign(lost=(table["log_score"] < LOG_SCORE_FLOOR).astype(float))
    parts = []
    for measure in measures:
        groups = table.groupby(["task", "runs", "model", "heavy_runs"], sort=False)[measure]
        levels = groups.quantile(np.array([0.25, 0.75])).unstack().set_axis(["q25", "q75"], axis=1)
        statistic = "mean" if measure in MEANS else "median"
        levels = levels.assign(seeds=groups.count(), measure=measure, statistic=statistic, value=groups.agg(statistic))
        parts.append(levels.reset_index())
    return pd.concat(parts, ignore_index=True)


def slice_figure(
    slices: Sequence[DataFrame], runs: DataFrame | None = None, *, path: str | Path | None = None
) -> Figure:
    """Predictions along parameters through one point, a row a model and a column a parameter.

    Parameters
    ----------
    slices : sequence of DataFrame
        Each of one parameter, as `prediction.slices` returns it.
    runs : DataFrame, optional
        Columns of the parameters' names, and value: heavy runs to be drawn where they are. In more
        than one dimension most lie off the slice.
    path : path, optional
        As in `accuracy_figure`.
    """

    path = figure_path(path)
    models = list(dict.fromkeys(slices[0]["model"]))
    with drawing():
        figure = Figure(figsize=(max(4.6, 3.3 * len(slices) + 0.4), 2.1 * len(models) + 0.6), layout="constrained")
        grid = figure.subplots(len(models), len(slices), squeeze=False, sharey=True, sharex="col")
        for column, part in enumerate(slices):
            name = part.columns[1]
            for row, model in enumerate(models):
                axes, curve = grid[row][column], part[part["model"] == model]
                _slice(axes, curve, name, MODEL_STYLES[model])
                if runs is not None:
                    axes.plot(runs[name], runs["value"], "k.", markersize=5, label="heavy runs")
                if column == 0:
                    axes.set_ylabel("response (minimized)")
                    axes.set_title(MODEL_NAMES[model], loc="left", fontsize=RC["font.size"])
            grid[-1][column].set_xlabel(name)
        legend_below(figure, grid[0][0], 2 if len(slices) == 1 else 4)
    return save(figure, pd.concat(slices, ignore_index=True), path)


def map_figure(surface: DataFrame, runs: DataFrame | None = None, *, path: str | Path | None = None) -> Figure:
    """Predictions over two parameters, a row a model: mean, error (mean less truth) and standard deviation.

    Parameters
    ----------
    surface : DataFrame
        Of two parameters, as `prediction.slices` returns it.
    runs : DataFrame, optional
        Columns of the parameters' names: runs to be marked.
    path : path, optional
        As in `accuracy_figure`.
    """

    path = figure_path(path)
    surface = surface.assign(error=surface["mean"] - surface["truth"])
    first, second = surface.columns[1:3]
    models = list(dict.fromkeys(surface["model"]))
    maps = {"mean": "viridis", "error": "RdBu_r", "std": "viridis"}
    with drawing({"axes.grid": False}):
        figure = Figure(figsize=(9.2, 2.5 * len(models) + 0.3), layout="constrained")
        grid = figure.subplots(len(models), len(maps), squeeze=False, sharex=True, sharey=True)
        for column, (name, colors) in enumerate(maps.items()):
            largest = float(surface[name].abs().max())
            low, high = (-largest, largest) if name == "error" else (surface[name].min(), surface[name].max())
            for row, model in enumerate(models):
                axes = grid[row][column]
                wide = surface[surface["model"] == model].pivot(index=second, columns=first, values=name)
                image = axes.pcolormesh(
                    wide.columns, wide.index, wide, cmap=colors, vmin=low, vmax=high, rasterized=True
                )
                if runs is not None:
                    axes.plot(runs[first], runs[second], "o", color="white", markeredgecolor="black", markersize=4)
                if row == 0:
                    axes.set_title({"mean": "mean", "error": "mean less truth", "std": "standard deviation"}[name])
                if column == 0:
                    axes.set_ylabel(f"{MODEL_NAMES[model]}\n{second}")
                if row == len(models) - 1:
                    axes.set_xlabel(first)
            figure.colorbar(image, ax=list(grid[:, column]), shrink=0.9)
    return save(figure, surface, path)


def _drawn_models(table: DataFrame) -> dict[str, list[str]]:
    """By task the models to draw: not the one without bounds where its scores are those of the truncated one."""
    models = {}
    for task, rows in table.groupby("task"):
        scores = {
            model: mine.sort_values(["seed", "heavy_runs"])[["rmse", "coverage", "width", "log_score"]].to_numpy()
            for model, mine in rows.groupby("model")
        }
        same = "tam" in scores and "koh" in scores and np.array_equal(scores["tam"], scores["koh"], equal_nan=True)
        models[str(task)] = [model for model in MODEL_STYLES if model in scores and not (same and model == "koh")]
    return models


def _note(measures: Sequence[str], models: Mapping[str, Sequence[str]]) -> str:
    """What points and bars are, said below the panels."""
    text = "Median over seeds with quartiles"
    means = [MEASURES[measure] for measure in measures if measure in MEANS]
    if means:
        text += f"; of {' and '.join(means)} the mean"
    if "log_score" in measures:
        text += f"; log scores below {LOG_SCORE_FLOOR} are drawn there".replace("-", "−")
    alike = [task for task, drawn in models.items() if "koh" not in drawn]
    if alike:
        text += f"; on {', '.join(alike)} the model without bounds is the truncated one, and is not drawn"
    return f"{text}."


def _scores(axes: Axes, drawn: DataFrame, measure: str, models: Sequence[str]) -> None:

    for model in models:
        style = MODEL_STYLES[model]
        curve = drawn[drawn["model"] == model].sort_values("heavy_runs")
        look = {"color": style.color, "linestyle": style.dashes, "marker": style.marker, "markersize": 3.5}
        value, low, high = (curve[name] for name in ("value", "q25", "q75"))
        if measure == "log_score":
            value, low, high = (each.clip(lower=LOG_SCORE_FLOOR) for each in (value, low, high))
        x = curve["heavy_runs"] + DODGE[model]
        if measure != "lost":
            axes.vlines(x, low, high, color=style.color, linewidth=1.0, alpha=0.6)
        axes.plot(x, value, **look, linewidth=1.0)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    if measure in MEANS:
        axes.set_ylim(-0.03, 1.03)
    if measure == "coverage":
        axes.axhline(0.95, color="black", linewidth=0.8)
    elif measure in ("rmse", "width"):
        axes.set_ylim(bottom=0)


def _slice(axes: Axes, curve: DataFrame, name: str, style: Style) -> None:
    x, mean, std = (curve[column] for column in (name, "mean", "std"))
    axes.fill_between(
        x, mean - BAND * std, mean + BAND * std, color=style.color, alpha=0.25, linewidth=0, label="95% band"
    )
    axes.plot(x, mean, color=style.color, linestyle="--", label="mean")
    if curve["truth"].notna().any():
        axes.plot(x, curve["truth"], color="#7F7F7F", linewidth=1, label="true response")


def heavy_runs(trials: DataFrame, names: Sequence[str]) -> DataFrame:
    """The successful heavy runs, by the parameters' names, with their values."""
    good = trials[trials["heavy"].astype(bool) & (trials["status"] == "ok")]
    return good[[*(f"config.{name}" for name in names), "value"]].set_axis([*names, "value"], axis=1)
