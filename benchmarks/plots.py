"""Figures in one style: a method has the same colour, dashes and marker in all of them.

Figures are made without pyplot and leave matplotlib's settings as they were, so they can be drawn in
any process. Colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart;
dashes and markers do the same work in print without colour.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import analysis

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True)
class Style:
    """How a method is drawn: colour, dashes as matplotlib's `linestyle` takes them, marker."""

    color: str
    dashes: Any
    marker: str


METHOD_STYLES = {
    "btao": Style("#D55E00", "-", "o"),
    "btao_paper": Style("#E69F00", (0, (6, 1.5)), "s"),
    "gp_bo": Style("#0072B2", (0, (3, 1.5)), "^"),
    "random_search": Style("#7F7F7F", (0, (1, 1.2)), "x"),
    "tpe": Style("#009E73", (0, (5, 1.5, 1, 1.5)), "D"),
    "smac": Style("#CC79A7", (0, (5, 1.5, 1, 1.5, 1, 1.5)), "v"),
    "smac_gp": Style("#661100", (0, (5, 1, 1, 1, 1, 1)), "h"),
    "bohb": Style("#56B4E9", (0, (8, 1.5, 2, 1.5)), "P"),
    "hyperband": Style("#000000", (0, (2, 3)), "*"),
}
# Other methods take one of these by name: Tol's (2021) muted colours, and markers not used above.
OTHER_STYLES = [
    Style(color, dashes, marker)
    for marker in ("<", ">", "p", "d", "X")
    for dashes in ((0, (4, 1)), (0, (2, 1)), (0, (7, 2, 2, 2)))
    for color in ("#332288", "#88CCEE", "#117733", "#999933", "#882255", "#AA4499")
]
FILLS = ("full", "none", "left", "right", "top", "bottom")  # tell hashes of one method apart

RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # matplotlib carries it, so figures look alike everywhere
    "font.size": 9,
    "axes.titlesize": 10,
    "legend.fontsize": 8,
    "legend.handlelength": 3.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E0E0E0",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
}
AXIS_LABELS = {
    "heavy_runs": "heavy evaluations",
    "iterations": "training iterations, light and heavy",
    "time": "seconds, training and method",
}
STATISTICS = {
    "mean": ("low", "high", "mean and 95% interval"),
    "median": ("q25", "q75", "median and quartiles"),
}
DPI = 150
FAINT = 0.35
REGRET_FLOOR, REGRET_FLOOR_TEXT = 1e-9, "10^{-9}"  # a logarithmic axis has no zero, and below this a regret is rounding


def method_styles(methods: Iterable[str]) -> dict[str, Style]:
    """A style for each method, no two alike, in the order in which figures list them.

    The methods of `METHOD_STYLES` have the style named there. Any other has one that depends on
    its name, the same in every figure but where two names in one figure meet on one style: then
    the later in the alphabet takes the next.

    Raises
    ------
    ValueError
        If there are more other methods than styles.
    """
    names = set(methods)
    styles = {name: style for name, style in METHOD_STYLES.items() if name in names}
    others = sorted(names - METHOD_STYLES.keys())
    if len(others) > len(OTHER_STYLES):
        raise ValueError(f"there are styles for {len(OTHER_STYLES)} unlisted methods, got {len(others)}")
    taken: set[int] = set()
    for name in others:
        slot = zlib.crc32(name.encode()) % len(OTHER_STYLES)
        while slot in taken:
            slot = (slot + 1) % len(OTHER_STYLES)
        taken.add(slot)
        styles[name] = OTHER_STYLES[slot]
    return styles


def figure_run(frame: DataFrame, path: str | Path, *, statistic: str = "mean") -> Path:
    """Draw what a command has run: a panel a task, every method against heavy evaluations.

    A panel shows simple regret on a logarithmic scale where the optimum is known, else the best
    value so far. Drawn faint: steps at which some seeds have ended or have no result yet.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them.
    path : path
        Where to write the PNG. The drawn numbers go beside it, with the ending .csv.
    statistic : {"mean", "median"}
        The mean with its 95% bootstrap interval, or the median with the quartiles.

    Returns
    -------
    Path
        The PNG.

    Raises
    ------
    ValueError
        If the frame is empty or the path does not end in .png; and as `analysis.incumbents`.
    """
    path = _png(path)
    figure, table = _curves_figure(frame, "heavy_runs", statistic)
    _save(figure, table, path)
    return path


def regret_figure(
    frame: DataFrame,
    task: str,
    *,
    against: str = "heavy_runs",
    statistic: str = "mean",
    path: str | Path | None = None,
) -> Figure:
    """Simple regret on one task, on a logarithmic scale (the paper's Figure 2).

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them; those of other tasks are left out.
    task : str
        A task with a known optimum.
    against : {"heavy_runs", "iterations", "time"}
        The horizontal axis.
    statistic, path
        As in `figure_run`; without a path nothing is written.

    Raises
    ------
    ValueError
        If the frame has no trial of the task, or its optimum is not known; and as
        `analysis.incumbents`.
    """
    path = path and _png(path)
    trials = frame[frame["task"] == task]
    if trials.empty:
        found = ", ".join(sorted(frame["task"].unique())) or "none at all"
        raise ValueError(f"task {task!r} has no trials in this frame; it has those of: {found}")
    if trials["optimum"].isna().any():
        raise ValueError(f"task {task!r} has no known optimum, so no regret: use figure_run")
    figure, table = _curves_figure(trials, against, statistic)
    if path:
        _save(figure, table, path)
    return figure


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
        Where to write the PNG, with the drawn numbers beside it as .csv.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    import matplotlib
    import numpy as np
    from matplotlib.figure import Figure

    path = path and _png(path)
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

    with matplotlib.rc_context(RC):
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
        axes.set(xlabel="$x$", ylabel="response (minimised)")
        figure.legend(loc="outside lower center", ncols=3, frameon=False)

    if path:
        runs = {"light run": light_runs, "initial heavy run": initial, "later heavy run": later}
        _save(figure, _toy_table({**curves, "low": low, "high": high}, runs), path)
    return figure


def _curves_figure(frame: DataFrame, against: str, statistic: str) -> tuple[Figure, DataFrame]:
    """A figure with a panel a task, and the table of the numbers in it."""
    import matplotlib
    import pandas as pd
    from matplotlib.figure import Figure

    if statistic not in STATISTICS:
        raise ValueError(f"statistic must be one of {', '.join(STATISTICS)}, got {statistic!r}")
    curves = analysis.incumbents(frame)
    if curves.empty:
        raise ValueError("frame holds no trials, so there is nothing to draw")
    known = frame.groupby("task")["optimum"].first().notna()
    tables = []
    for task, states in curves.groupby("task"):
        measure = "regret" if known[task] else "value"
        tables.append(analysis.aggregate(states, against, measure).assign(measure=measure))

    styles = method_styles(curves["method"])
    columns = min(3, len(tables))
    rows = -(-len(tables) // columns)
    with matplotlib.rc_context(RC):
        entries = max(table["label"].nunique() for table in tables)
        height = 4.0 + 0.09 * entries  # inches; a legend has two columns
        figure = Figure(figsize=(max(5.2, 4.2 * columns), height * rows), layout="constrained")
        for number, table in enumerate(tables, start=1):
            _panel(figure.add_subplot(rows, columns, number), table, against, statistic, styles)
        everything = pd.concat(tables, ignore_index=True)
        figure.supxlabel(_caption(everything, statistic), fontsize=7.5, color="#595959")
    return figure, everything


def _panel(axes: Axes, table: DataFrame, against: str, statistic: str, styles: dict[str, Style]) -> None:
    """One task: a step curve and a band for each label."""
    from matplotlib.ticker import MaxNLocator
    from matplotlib.transforms import ScaledTranslation

    regret = table["measure"].iloc[0] == "regret"
    for method in styles:
        labels = table.loc[table["method"] == method, "label"].unique()
        for fill, label in zip(itertools.cycle(FILLS), labels):
            curve = table[table["label"] == label]
            _curve(axes, curve, against, statistic, styles[method], fill, REGRET_FLOOR if regret else None)

    axes.set_title(table["task"].iloc[0] + ("" if table["data"].isna().any() else f", data: {table['data'].iloc[0]}"))
    axes.set_xlabel(AXIS_LABELS[against])
    if against != "time":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("simple regret" if regret else "best value so far (minimised)")
    if not table["n"].any():
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, "no heavy result", transform=axes.transAxes, ha="center", va="center")
    elif regret:
        axes.set_yscale("log")
        if (table[[statistic, STATISTICS[statistic][0]]] < REGRET_FLOOR).any(axis=None):
            axes.set_ylabel(f"simple regret (smaller than ${REGRET_FLOOR_TEXT}$: drawn there)")
            axes.set_ylim(bottom=REGRET_FLOOR / 2, top=max(axes.get_ylim()[1], 10 * REGRET_FLOOR))
    below = axes.transAxes + ScaledTranslation(0, -36 / 72, axes.figure.dpi_scale_trans)  # clear of the axis label
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, frameon=False, ncols=2)


def _curve(
    axes: Axes, curve: DataFrame, against: str, statistic: str, style: Style, fill: str, floor: float | None
) -> None:
    """One step curve with its band, no lower than `floor`."""
    look = {
        "color": style.color,
        "linestyle": style.dashes,
        "marker": style.marker,
        "fillstyle": fill,
        "drawstyle": "steps-post",
        "markevery": max(1, len(curve) // 25),
    }
    label, seeds = curve["label"].iloc[0], curve["seeds"].iloc[0]
    curve = curve[curve["n"] > 0]
    if curve.empty:
        axes.plot([], [], **look, label=f"{label} (no heavy result, seeds: {seeds})")
        return
    fewest, most = curve["n"].min(), curve["n"].max()
    n = (str(most) if fewest == most else f"{fewest}–{most}") + ("" if fewest == seeds else f" of {seeds}")
    low, high, _ = STATISTICS[statistic]
    x, y, y_low, y_high = curve[against], *(curve[name].clip(lower=floor) for name in (statistic, low, high))
    axes.fill_between(x, y_low, y_high, step="post", color=style.color, alpha=0.15, linewidth=0)
    if fewest < most:
        axes.plot(x, y, **look, alpha=FAINT)
    axes.plot(x, y.where(curve["n"] == most), **look, label=f"{label} (n = {n})")


def _caption(table: DataFrame, statistic: str) -> str:
    """What the lines and bands are, said below the panels."""
    text = f"{STATISTICS[statistic][2]} over n seeds"
    if statistic == "mean" and table["n"].isin(range(1, 5)).any():
        text += " (n below 5: the range of the seeds)"
    if table[table["n"] > 0].groupby(["task", "label"])["n"].nunique().gt(1).any():
        text += "; faint where seeds are missing"
    return text


def _number(axes: Axes, runs: np.ndarray, color: str, below: bool = False) -> None:
    """Write the iterations of runs (x, y, iteration) above or below them; runs that nearly coincide share a place."""
    import numpy as np
    from matplotlib.patheffects import withStroke

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
            place,
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
    import pandas as pd

    x, low, high = (curves[name] for name in ("x", "low", "high"))
    parts = [pd.DataFrame({"series": name, "x": x, "y": curves[name]}) for name in ("y_light", "y_heavy", "mean")]
    parts[-1] = parts[-1].assign(low=low, high=high)
    for name, points in runs.items():
        parts.append(pd.DataFrame(points, columns=["x", "y", "iteration"]).assign(series=name))
    return pd.concat(parts, ignore_index=True).astype({"iteration": "Int64"})


def _png(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix != ".png":
        raise ValueError(f"path must end in .png, got {str(path)!r}")
    return path


def _save(figure: Figure, table: DataFrame, path: Path) -> None:
    """Write the figure to `path` and the numbers in it beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    table.to_csv(path.with_suffix(".csv"), index=False)
