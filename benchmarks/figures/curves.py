"""Figures of curves: what methods have reached against what it has cost.

Figures are made without pyplot and leave matplotlib's settings as they were, so they can be drawn in
any process.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame, Series

from benchmarks.analysis import aggregate as analysis
from benchmarks.analysis.incumbents import heavy_results, incumbents, keys
from benchmarks.analysis.intervals import SEEDS_FOR_INTERVAL
from benchmarks.figures.columns import NARROWEST, settings, width_of
from benchmarks.figures.direct_labels import label_ends
from benchmarks.figures.floor import Floor
from benchmarks.figures.focus import in_focus
from benchmarks.figures.style import (
    FILLS,
    LEGEND_LINE,
    LETTERS_PER_INCH,
    Style,
    below_panels,
    drawing,
    figure_path,
    height_below,
    method_styles,
    plain_numbers,
    powers_of_ten,
    save,
)
from benchmarks.figures.words import entries_beside, panel_title, wrapped

AXIS_LABELS = {
    "heavy_runs": "heavy evaluations",
    "heavy_equivalents": "training iterations, in heavy runs",
    "train_seconds": "seconds of training",
    "time": "seconds, training and method",
}
VALUE_LABELS = {
    ("value", "regret"): "simple regret",
    ("value", "value"): "best value so far (minimized)",
    ("value", "test_error"): "test error of the incumbent",
    ("recommended", "test_error"): "test error of what is recommended",
    ("recommended", "regret"): "simple regret of what is recommended",
    ("recommended", "value"): "value of what is recommended (minimized)",
}
NO_RESULT = {"regret": "no heavy result", "value": "no heavy result", "test_error": "no test error on record"}
STATISTIC_NAMES = {"mean": "mean", "median": "median", "iqm": "interquartile mean"}
COSTS = ("train_seconds", "heavy_equivalents")
RUN_AXES = ("heavy_runs", "heavy_equivalents")  # of the figure of a run: what light runs cost must be seen, too
SECONDS_AXES = ("train_seconds", "heavy_runs")  # where seconds of training end the runs, so that they span one axis
FAINT = 0.35
SUPTITLE = 1.2  # its size in that of the font, as matplotlib has it
AXES_SHARE = 0.72  # of the height of a panel: about what its title and labels leave
MARGIN = 1.3  # of a logarithmic axis beyond what is drawn
MOST_COLUMNS = 3  # of panels
BESIDE = 0.7  # inches of the width of a panel that its axes leave to marks and their label
TALL = 0.9  # share of the height of a panel that the label of its vertical axis may have
PANEL = 4.4, 2.9  # width and height of a panel with its labels, in inches
GRAY = Style("#BDBDBD", "-", "")  # of what is not in focus
MARKERS = 10  # about as many on a curve
MANY_ROWS = 500  # of the steps of all seeds: hundreds of runs on an axis of seconds would make megabytes of numbers
WIDE = 3  # values that span more, all of them positive, have a logarithmic axis


@dataclass(frozen=True)
class Looks:
    """How the curves of a figure are drawn.

    Attributes
    ----------
    order : sequence of str
        All labels, in the order of the legend.
    styles : dict
        By label in focus: its style.
    fills : dict
        By label in focus: how its markers are filled, which tells those of one method apart.
    """

    order: Sequence[str]
    styles: dict[str, Style]
    fills: dict[str, str]

    @classmethod
    def of(cls, methods: Mapping[str, str], order: Sequence[str], focus: Sequence[str]) -> Looks:
        """Those of labels, with the names of their methods, of which some are in focus."""
        styles = method_styles(methods[label] for label in focus)
        fills = {method: itertools.cycle(FILLS) for method in styles}
        return cls(
            [label for label in order if label in methods],
            {label: styles[methods[label]] for label in focus},
            {label: next(fills[methods[label]]) for label in focus},
        )

    def look(self, label: str) -> dict[str, Any]:
        """What matplotlib is to be told of a curve."""
        if label not in self.styles:
            return {"color": GRAY.color, "linestyle": GRAY.dashes, "linewidth": 1.0, "zorder": 1.5}
        style = self.styles[label]
        return {
            "color": style.color,
            "linestyle": style.dashes,
            "marker": style.marker,
            "fillstyle": self.fills[label],
        }


def figure_run(
    frame: DataFrame, path: str | Path, *, statistic: str = "mean", labels: Mapping[str, str] | None = None
) -> Path:
    """Draw what a command has run: a row a task, every method against heavy evaluations and against all iterations.

    Of runs that end by seconds of training: against these and against heavy evaluations, and where test errors are on
    record, these against seconds.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them.
    path : path
        Where to write the figure, as in `curves_figure`.
    statistic, labels
        As in `curves_figure`.

    Returns
    -------
    Path
        As given.

    Raises
    ------
    ValueError
        As `curves_figure`.
    """
    panels: list[tuple[str, str | None]] = [(axis, None) for axis in RUN_AXES]
    if "train_budget" in frame and frame["train_budget"].notna().any():
        panels = [(axis, None) for axis in SECONDS_AXES]
        if "test_error" in frame and frame.loc[heavy_results(frame), "test_error"].notna().any():
            panels.append(("train_seconds", "test_error"))
    axes, measures = zip(*panels, strict=True)
    curves_figure(frame, axes, measure=measures, statistic=statistic, labels=labels, path=path)
    return Path(path)


def curves_figure(
    frame: DataFrame,
    against: str | Sequence[str] = "heavy_runs",
    *,
    measure: str | Sequence[str | None] | None = None,
    statistic: str = "mean",
    by: str = "value",
    labels: Mapping[str, str] | None = None,
    focus: str | Sequence[str] | None = None,
    first: str | None = None,
    tails: bool = True,
    column: str | float | None = None,
    font: str | None = None,
    legend: bool = True,
    title: str | None = None,
    path: str | Path | None = None,
) -> Figure:
    """What every method has reached against what it has cost: a panel a task, or a row a task and a column an axis.

    A panel shows simple regret on a logarithmic scale where the optimum is known, else the best value
    so far, on a logarithmic scale where it is positive and falls to a third. A curve is over the same seeds all along,
    as `analysis.aggregate` says. Drawn faint: where some of them have ended and keep their last value. At most five
    curves have a color and a band, the others are gray.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them.
    against : str, or sequence of str
        The horizontal axis, of `analysis.aggregate.AXES`, or several; `COSTS` shows seconds of training beside
        iterations in heavy equivalents.
    measure : {None, "regret", "value", "test_error"}, or a sequence with one for each axis
        None shows the regret where the optimum is known, else the value. The test error is that of the incumbent,
        which is chosen by its value: its curve may rise.
    statistic : {"mean", "median", "iqm"}
        What is drawn, with its 95% bootstrap interval over seeds.
    by : {"value", "recommended"}
        Whether the curves are those of the incumbent or of what the method itself would recommend; see `incumbents`.
    labels : mapping, optional
        By method (name and hash): the name to show, in the order of the legend. Without it those of `incumbents`, in
        the order of `METHOD_STYLES`.
    focus : str or sequence of str, optional
        The methods that have a color, at most five, by name or label. Without it that of `first` and the four that
        end best, see `in_focus`.
    first : str, optional
        A method that has a color in any case; see `records.labels.first_of`.
    tails : bool
        Whether a curve goes on where some of its seeds have ended. Without, it ends where the first of them does.
    column : str or float, optional
        The width: of a journal's column, see `columns.COLUMNS`, or in inches. By default as wide as the panels need.
    font : str, optional
        A family of fonts, see `columns.settings`.
    legend : bool
        Whether there is a legend.
    title : str, optional
        Above all panels.
    path : path, optional
        Where to write the figure: as PNG and as PDF, whichever it ends in, with the drawn numbers as .csv beside them.

    Raises
    ------
    ValueError
        If the frame is empty, an axis, the measure, the statistic, a method, the column or the font is not one of those
        named, measures are not as many as axes, or the path ends in neither .png nor .pdf; and as `incumbents`.
    """
    path = figure_path(path)
    axes = [against] if isinstance(against, str) else list(against)
    measures = [measure] * len(axes) if measure is None or isinstance(measure, str) else list(measure)
    if len(measures) != len(axes):
        raise ValueError(f"measure must be one, or one for each of {len(axes)} axes, got {measures}")
    changes = settings(column, font)
    given = None if column is None else width_of(column)
    curves = incumbents(frame, by)
    if curves.empty:
        raise ValueError("frame holds no trials, so there is nothing to draw")
    if "test_error" in measures and curves["test_error"].isna().all():
        raise ValueError("measure must be regret or value, got 'test_error': no heavy result has one on record")
    if labels is None:
        listed = method_styles(curves["method"])
        order = [label for method in listed for label in curves.loc[curves["method"] == method, "label"].unique()]
    else:
        curves["label"], order = keys(curves).map(labels), list(dict.fromkeys(labels.values()))
    known = frame.groupby("task")["optimum"].first().notna()
    tables = []
    panels = list(zip(axes, measures, strict=True))
    for (task, states), (against, measure) in itertools.product(curves.groupby("task"), panels):
        shown = measure or ("regret" if known[task] else "value")
        table = _turns(analysis.aggregate(states, against, shown, statistic=statistic), against)
        table.insert(list(table.columns).index(against), "against", against)
        table = table.rename(columns={against: "cost"}).assign(measure=shown, by=by)
        tables.append(table if tails else table[table["ended"] == 0])
    methods = dict(zip(curves["label"], curves["method"], strict=True))
    judged = [table for table in tables if table["measure"].iloc[0] != "test_error"]
    looks = Looks.of(methods, order, in_focus(judged or tables, order, focus, first))

    columns = min(MOST_COLUMNS, len(tables)) if len(axes) == 1 else len(axes)
    if given is not None:
        fit = min(columns, int(given / NARROWEST))
        # With several axes a row is of one task, so it has as many panels as divide them.
        columns = fit if len(axes) == 1 else max(n for n in range(1, fit + 1) if len(axes) % n == 0)
    rows = -(-len(tables) // columns)
    width = given or max(5.2, PANEL[0] * columns)
    panel_height = PANEL[1] if given is None else min(PANEL[1], PANEL[1] / PANEL[0] * width / columns)
    everything = pd.concat(tables, ignore_index=True)
    caption = textwrap.fill(_caption(everything, looks, tails), int(LETTERS_PER_INCH * width))
    with drawing(changes):
        handles = _handles(everything, looks) if legend else []
        entries = entries_beside(handles, width)
        height = panel_height * rows + height_below(len(handles), entries, caption)
        figure = Figure(figsize=(width, height), layout="constrained")
        for number, table in enumerate(tables, start=1):
            _panel(figure.add_subplot(rows, columns, number), table, looks, (width / columns, panel_height))
        lines = sum(max(_wrapped_lines(each) for each in row) for row in _rows(figure.axes, columns))
        if title is not None:
            above = figure.suptitle(wrapped(title, width, matplotlib.rcParams["font.size"] * SUPTITLE)).get_text()
            lines += 1 + above.count("\n")
        figure.set_figheight(height + lines * LEGEND_LINE)  # so that panels are as high as without them
        below_panels(figure, handles, entries, caption)
    return save(figure, everything, path)


def regret_figure(
    frame: DataFrame, task: str, *, against: str = "heavy_runs", statistic: str = "mean", path: str | Path | None = None
) -> Figure:
    """Simple regret on one task, on a logarithmic scale (the paper's Figure 2).

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them; those of other tasks are left out.
    task : str
        A task with a known optimum.
    against, statistic, path
        As in `curves_figure`.

    Raises
    ------
    ValueError
        If the frame has no trial of the task, or its optimum is not known; and as `curves_figure`.
    """
    trials = frame[frame["task"] == task]
    if trials.empty:
        found = ", ".join(sorted(frame["task"].unique())) or "none at all"
        raise ValueError(f"task {task!r} has no trials in this frame; it has those of: {found}")
    if trials["optimum"].isna().any():
        raise ValueError(f"task {task!r} has no known optimum, so no regret: use curves_figure")
    return curves_figure(trials, against, statistic=statistic, path=path)


def _turns(curves: DataFrame, against: str) -> DataFrame:
    """Curves of one task; of one with many rows those where it changes, the last, and the last before a seed ends."""
    numbers = curves.drop(columns=against)
    repeated = ((numbers == numbers.shift()) | (numbers.isna() & numbers.shift().isna())).all(axis=1)
    ends = (curves["ended"] != curves["ended"].shift(-1)) | ~curves.duplicated(analysis.IDENTITY, keep="last")
    many = curves.groupby(analysis.IDENTITY, dropna=False)["ended"].transform("size") > MANY_ROWS
    return curves[~repeated | ends | ~many]


def _panel(axes: Axes, table: DataFrame, looks: Looks, size: tuple[float, float]) -> None:
    """One task: a step curve for each label, in their order, with a band where it is in focus; size in inches."""

    against, measure, by = (table[name].iloc[0] for name in ("against", "measure", "by"))
    bands = table.loc[table["label"].isin(looks.styles), ["low", "high"]]
    heights = pd.concat([table[table["statistic"].iloc[0]], bands["low"], bands["high"]]).dropna()
    floor = Floor.below(heights) if measure == "regret" else None
    there = set(table["label"])
    ends = {}
    for place, label in enumerate(label for label in looks.order if label in there):
        end = _curve(axes, table[table["label"] == label], looks, floor, place)
        if end is not None and label in looks.styles:
            ends[label] = end

    (wide, high), setting = size, matplotlib.rcParams
    title = panel_title(table["task"].iloc[0], None if table["data"].isna().any() else table["data"].iloc[0])
    axes.set_title(wrapped(title, wide - BESIDE, setting["axes.titlesize"]))
    axes.set_xlabel(wrapped(AXIS_LABELS[against], wide - BESIDE, setting["font.size"]))
    if against == "heavy_runs":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        axes.ticklabel_format(axis="x", scilimits=(-2, 6))  # else digits of small fractions run together
    axes.set_ylabel(wrapped(VALUE_LABELS[by, measure], TALL * high, setting["font.size"]))
    if not table["n"].any():
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, NO_RESULT[measure], transform=axes.transAxes, ha="center", va="center")
        return
    if floor is not None:
        axes.set_yscale("log")
        _limit(axes, heights.map(floor.height))
        powers_of_ten(axes.yaxis)
        floor.mark(axes)
    else:
        if 0 < WIDE * heights.min() < heights.max():
            axes.set_yscale("log")
            plain_numbers(axes.yaxis)
        _limit(axes, heights)
    colors = {label: style.color for label, style in looks.styles.items()}
    label_ends(axes, ends, colors, AXES_SHARE * high)


def _rows(panels: Sequence[Axes], columns: int) -> list[Sequence[Axes]]:
    return [panels[start : start + columns] for start in range(0, len(panels), columns)]


def _wrapped_lines(axes: Axes) -> int:
    """How many lines the title and the label below a panel have beyond the first of each."""
    return axes.get_title().count("\n") + axes.get_xlabel().count("\n")


def _limit(axes: Axes, heights: Series) -> None:
    """Choose the vertical range by all that is drawn."""
    low, high = heights.min(), heights.max()
    if axes.get_yscale() == "log":
        low, high = low / MARGIN, max(high * MARGIN, 10 * low)
    else:
        rim = 0.05 * (high - low) or 0.05 * max(1.0, abs(high))
        low, high = low - rim, high + rim
    axes.set_ylim(low, high)


def _curve(axes: Axes, curve: DataFrame, looks: Looks, floor: Floor | None, place: int) -> tuple[float, float] | None:
    """One step curve, with its band where it is in focus; its end. Curves that coincide have their markers apart."""
    label = curve["label"].iloc[0]
    every = max(1, len(curve) // MARKERS)
    look = {**looks.look(label), "drawstyle": "steps-post", "markevery": (place % every, every)}
    name = f"{label} ({_counted([curve])})"
    curve = curve[curve["n"] > 0]
    if curve.empty:
        axes.plot([], [], **look, label=name)
        return None
    all_run = curve["ended"] == 0
    x, numbers = curve["cost"], curve[[curve["statistic"].iloc[0], "low", "high"]]
    y, y_low, y_high = (each if floor is None else each.map(floor.height) for _, each in numbers.items())
    if label in looks.styles:
        band = min(0.15, 0.8 / len(looks.styles))  # many bands one over the other must not hide the lines
        axes.fill_between(x, y_low, y_high, step="post", color=look["color"], alpha=band, linewidth=0)
    if not all_run.all():
        axes.plot(x, y, **look, alpha=FAINT)
    axes.plot(x, y.where(all_run), **look, label=name)
    return x.iloc[-1], y.iloc[-1]


def _handles(everything: DataFrame, looks: Looks) -> list[Line2D]:
    """The entries of the legend: each label in focus with its n, and all others as one."""
    handles = []
    for label in (label for label in looks.order if label in looks.styles):
        mine = everything[everything["label"] == label]
        panels = [panel for _, panel in mine.groupby(["task", "against", "measure"])]
        handles.append(Line2D([], [], **looks.look(label), label=f"{label} ({_counted(panels)})"))
    if len(looks.order) > len(looks.styles):
        handles.append(Line2D([], [], color=GRAY.color, linewidth=1.0, label="the others"))
    return handles


def _counted(panels: Sequence[DataFrame]) -> str:
    """How many seeds of a label have a heavy result, the least and the most of these panels."""
    seeds = sorted({int(panel["seeds"].iloc[0]) for panel in panels})
    counts = sorted({int(panel["n"].max()) for panel in panels})
    if counts == [0]:
        return f"{NO_RESULT[panels[0]['measure'].iloc[0]]}, seeds: {_range(seeds)}"
    return f"n = {_range(counts)}" + ("" if counts == seeds else f" of {_range(seeds)}")


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"


def _caption(table: DataFrame, looks: Looks, tails: bool) -> str:
    """What the lines and bands are, said below the panels."""
    text = f"{STATISTIC_NAMES[table['statistic'].iloc[0]]} and 95% interval over n seeds"
    if table["n"].isin(range(1, SEEDS_FOR_INTERVAL)).any():
        text += f" (n below {SEEDS_FOR_INTERVAL}: the range of the seeds)"
    if (table["n"].gt(0) & table["ended"].gt(0)).any():
        text += "; faint where some seeds have ended and keep their last value"
    if not tails:
        text += "; a curve ends where the first of its seeds does"
    gray = [label for label in looks.order if label not in looks.styles]
    if gray:
        text += f"; gray, without intervals: {', '.join(gray)}"
    return text
