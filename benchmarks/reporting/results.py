"""The part of a report that shows, setting by setting, what each method reached and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pandas import DataFrame

from benchmarks.analysis import aggregate as analysis
from benchmarks.analysis.incumbents import keys
from benchmarks.analysis.intervals import SEEDS_FOR_INTERVAL
from benchmarks.common.formats import interval_name, mean_text, number
from benchmarks.figures.curves import AXIS_LABELS, curves_figure
from benchmarks.reporting.page import Block, Figure, Paragraph, Section, Table
from benchmarks.reporting.settings import Setting
from benchmarks.reporting.targets import targets

MEASURES = {"best": "best value, minimized", "regret": "simple regret", "test": "test error"}
PANELS = {  # a figure for each, and its axes
    "evaluations": ("heavy_runs", "heavy_equivalents"),
    "seconds": ("train_seconds", "time"),
}


def results(settings: Sequence[Setting], folder: Path) -> Section:
    """A section a setting; its figures are written into `folder`."""
    introduction = Paragraph(
        "Best is the smallest value that was observed at the heavy level; simple regret is the noiseless response "
        "there less the optimum, where both are known. The test error is that of the configuration with the best "
        "value, where it was measured; it chooses nothing. Means, medians and interquartile means (IQM) are over the "
        "seeds that are done and have a heavy result, given as n of all seeds. Runs are totals over "
        "the seeds that are done, seconds are means over them."
    )
    inner = (Section(setting.name, setting.anchor, _blocks(setting, folder)) for setting in settings)
    return Section("Results by setting", "results", (introduction, *inner))


def _blocks(setting: Setting, folder: Path) -> tuple[Block, ...]:
    if setting.results.empty:
        return (Paragraph("No run is done yet that has a trial, so there is nothing to show."),)
    if setting.contradiction is not None:
        return (Paragraph(f"Its records contradict themselves, so nothing is shown: {setting.contradiction}."),)
    summary = analysis.summary(setting.results)
    summary.index = keys(summary)
    measure = "regret" if summary["regret_mean"].notna().any() else "best"
    tables = _reached(setting, summary, measure), _costs(setting, summary)
    return (*tables, *_figures(setting, summary, measure, folder), *targets(setting, folder))


def _reached(setting: Setting, summary: DataFrame, measure: str) -> Table:
    """Final results; methods without a run that is done have a row of dashes."""
    interval = interval_name(summary["n"][summary["n"] > 1] >= SEEDS_FOR_INTERVAL)
    shown = ["best", "regret"] if measure == "regret" else ["best"]
    shown += ["test"] if summary["test_mean"].notna().any() else []
    head = ["method", "n of seeds", *(f"{MEASURES[name]}: mean [{interval}]" for name in shown)]
    head += [f"{MEASURES[measure].partition(',')[0]}: {statistic}" for statistic in ("median", "IQM")]
    rows = []
    for method, label in setting.labels.items():
        n = summary["n"].get(method, 0)
        cells = ["–"] * (len(shown) + 2)
        if method in summary.index:
            row: Any = summary.loc[method]
            cells = [mean_text(row, name) for name in shown]
            cells += [number(row[f"{measure}_{statistic}"]) for statistic in ("median", "iqm")]
        rows.append((label, f"{n} of {len(setting.grid.seeds)}", *cells))
    return Table(f"What each method reached: {setting.name}", tuple(head), tuple(rows), "l" + "r" * (len(head) - 1))


def _costs(setting: Setting, summary: DataFrame) -> Table:
    head = ("method", "heavy runs", "light runs", "failed runs", "training s a seed", "method s a seed")
    rows = []
    for method, label in setting.labels.items():
        cells = ["–"] * (len(head) - 1)
        if method in summary.index:
            row: Any = summary.loc[method]
            cells = [str(row[name]) for name in ("heavy_runs", "light_runs", "failed_runs")]
            cells += [number(row[name], 4) for name in ("train_seconds", "method_seconds")]
        rows.append((label, *cells))
    return Table(f"What it cost: {setting.name}", head, tuple(rows), "l" + "r" * (len(head) - 1))


def _figures(setting: Setting, summary: DataFrame, measure: str, folder: Path) -> list[Figure]:
    rows = summary.to_dict("index")
    ends = ", ".join(
        f"{label} {number(rows[method][f'{measure}_mean'], 3)} (n = {rows[method]['n']})"
        for method, label in setting.labels.items()
        if method in rows
    )
    what = MEASURES[measure].partition(",")[0]
    drawn = []
    for name, axes in PANELS.items():
        path = folder / f"{setting.anchor}-{name}.png"
        curves_figure(setting.results, axes, labels=setting.labels, first=setting.first, path=path)
        words = " and ".join(f"against {AXIS_LABELS[against]}" for against in axes)
        alt = f"Step curves on {setting.name}, one a method: mean {what} {words}. Means at the end: {ends}."
        drawn.append(Figure.read(path, alt, f"{setting.name}: mean {what} {words}."))
    if summary["test_mean"].notna().any():
        drawn.append(_test_errors(setting, rows, folder))
    return drawn


def _test_errors(setting: Setting, rows: Mapping[Any, Any], folder: Path) -> Figure:
    """The curves of the test errors that the incumbents have."""
    axes = PANELS["evaluations"]
    path = folder / f"{setting.anchor}-test-errors.png"
    curves_figure(setting.results, axes, measure="test_error", labels=setting.labels, first=setting.first, path=path)
    ends = ", ".join(f"{label} {number(rows[m]['test_mean'], 3)}" for m, label in setting.labels.items() if m in rows)
    words = f"mean test error of the incumbents {' and '.join(f'against {AXIS_LABELS[against]}' for against in axes)}"
    alt = f"Step curves on {setting.name}, one a method: {words}. Means at the end: {ends}."
    return Figure.read(path, alt, f"{setting.name}: {words}, which are chosen by their validation values.")
