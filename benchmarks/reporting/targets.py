"""The part of a report that shows, for a setting, what targets cost, who is faster, and what is recommended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pandas import DataFrame

from benchmarks.analysis.incumbents import incumbents, keys
from benchmarks.analysis.per_task import per_task
from benchmarks.analysis.scores import common_cost, scores
from benchmarks.analysis.targets import costs, reach, speed_ups, target_of
from benchmarks.common.formats import number, or_infinity, with_interval
from benchmarks.figures.comparison import speed_up_figure
from benchmarks.figures.curves import curves_figure
from benchmarks.figures.ratios import AXIS_NAMES
from benchmarks.reporting.page import Block, Figure, Paragraph, Table
from benchmarks.reporting.settings import Setting

UNITS = {"heavy_equivalents": "heavy runs’ worth of iterations", "train_seconds": "seconds of training"}
SHARES = {0.5: "half-way", 1.0: "end"}
WORDS = (
    "Costs to a target, in {unit}: what a run had spent when it first was at or below the target, infinite (∞) for "
    "a run that never was; a median is what more than half of the seeds are at or below. A speed-up is the "
    "ratio of median costs, and its target is what the other method has reached half-way or at the end of its own "
    "cost, taken again in each resample of the interval. At the end a method that is no worse than the other "
    "has about an even chance of 0, so read the interval."
)


def targets(setting: Setting, folder: Path) -> Iterator[Block]:
    """What follows the results of a setting with runs that are done; the figure is written into `folder`."""
    states = incumbents(setting.results)
    states["label"] = keys(states).map(setting.labels)
    if states["value"].isna().all():
        yield Paragraph("No run has a heavy result, so there is no target to reach.")
        return
    present = set(states["label"])
    labels = [label for label in setting.labels.values() if label in present]
    first = setting.first
    yield _equal_cost(setting, states, labels)
    if len(labels) > 1:
        yield _tests(setting, states, first)
    yield Paragraph(WORDS.format(unit=UNITS[setting.axis]))
    yield _costs(setting, states, first, labels)
    if len(labels) > 1:
        yield from _speed_ups(setting, states, first, labels, folder)
    yield from _recommended(setting, states, first, labels, folder)


def _equal_cost(setting: Setting, states: DataFrame, labels: Sequence[str]) -> Table:
    common = common_cost(states, setting.axis)
    reached = scores(states, against=setting.axis, at=common).groupby("label")["score"]
    seeds, medians = reached.count(), reached.median()
    rows = tuple((label, str(seeds[label]), or_infinity(medians[label], 6)) for label in labels)
    caption = (
        f"At equal cost, {number(common, 4)} {UNITS[setting.axis]}, the most that all runs have spent: {setting.name}"
    )
    return Table(caption, ("method", "seeds", f"median {_measure(states)}"), rows, "lrr")


def _tests(setting: Setting, states: DataFrame, first: str) -> Table:
    """Every other method against the first at the end of their runs, on this setting by itself."""
    table = per_task(scores(states), first).set_index("label")
    rows: list[tuple[str, ...]] = []
    for label in (label for label in setting.labels.values() if label in table.index and label != first):
        row: Any = table.loc[label]
        counts = [f"{row[name]:.0f}" if row["pairs"] > 0 else "–" for name in ("pairs", "wins", "ties", "losses")]
        rows.append((label, *counts, number(row["p"], 2), number(row["p_holm"], 2)))
    head = ("method", "equal seeds", "wins", "ties", "losses", "p", "p, corrected")
    caption = f"Against {first} at the end, by Wilcoxon’s signed-rank test with Holm’s correction: {setting.name}"
    return Table(caption, head, tuple(rows), "lrrrrrr")


def _costs(setting: Setting, states: DataFrame, first: str, labels: Sequence[str]) -> Table:
    """How many runs reach what the first method has reached half-way and at its end, and at what cost."""
    rows = []
    for share, where in SHARES.items():
        target = target_of(states, first, share, setting.axis)
        table = reach(costs(states, target), setting.axis).set_index("label")
        for label in labels:
            row: Any = table.loc[label]
            share_ends = f"[{number(row['share_low'], 2)}, {number(row['share_high'], 2)}]"
            rows.append(
                (
                    label,
                    f"{where}: {_target(target)}",
                    f"{row['reached']} of {row['seeds']} {share_ends}",
                    str(row["seeds"] - row["reached"]),
                    with_interval(row, "median"),
                    number(row["spent"], 4),
                )
            )
    head = (
        *("method", f"target, {_measure(states)}", "reached [share, 95% interval]", "not reached"),
        *("median cost [interval]", "spent without success, at least"),
    )
    caption = f"Costs to what {first} has reached half-way and at its end: {setting.name}"
    return Table(caption, head, tuple(rows), "llrrrr")


def _speed_ups(
    setting: Setting, states: DataFrame, first: str, labels: Sequence[str], folder: Path
) -> tuple[Table, Figure]:
    tables = {share: speed_ups(states, first, setting.axis, share=share) for share in SHARES}
    others = [label for label in labels if label != first]
    tables = {
        share: table.sort_values("over", key=lambda over: over.map(others.index), ignore_index=True)
        for share, table in tables.items()
    }
    by_label: dict[float, Any] = {share: table.set_index("over") for share, table in tables.items()}
    rows = []
    for over in others:
        found = [table.loc[over] for table in by_label.values()]
        cells = [text for row in found for text in (_target(row["target"]), with_interval(row, "speed_up"))]
        rows.append((over, *cells))
    head = ["over"]
    for where in SHARES.values():
        head += [f"{where}: target, {_measure(states)}", "speed-up [interval]"]
    path = folder / f"{setting.anchor}-speed-ups.png"
    speed_up_figure(tables[0.5], path=path)
    ratios = ", ".join(f"{or_infinity(by_label[0.5].loc[over, 'speed_up'])} over {over}" for over in others)
    caption = (
        f"{setting.name}: speed-ups of {first} half-way, {AXIS_NAMES[setting.axis]}; the targets are taken again in "
        "each resample of the intervals."
    )
    alt = f"Speed-ups of {first} on {setting.name}, a row a method: {ratios}."
    return (
        Table(f"Speed-ups of {first}: {setting.name}", tuple(head), tuple(rows), "l" + "r" * (len(head) - 1)),
        Figure.read(path, alt, caption),
    )


def _recommended(
    setting: Setting, states: DataFrame, first: str, labels: Sequence[str], folder: Path
) -> Iterator[Block]:
    """What the methods recommend, after every trial and at the end; one sentence where that is their incumbents."""
    named = incumbents(setting.results, by="recommended").assign(label=states["label"])
    judged_by = ["value", "regret"]
    both = [each[judged_by].fillna(float("inf")) for each in (states, named)]
    if both[0].equals(both[1]):
        yield Paragraph("What a method would recommend is its incumbent, after every trial of every run.")
        return
    path = folder / f"{setting.anchor}-recommended.png"
    axes = ("heavy_runs", setting.axis)
    curves_figure(setting.results, axes, by="recommended", labels=setting.labels, first=first, path=path)
    apart: Any = (both[0] != both[1]).any(axis=1).groupby([states["label"], states["seed"]])
    ends = [scores(each).query("score < inf").groupby("label")["score"] for each in (states, named)]
    statistics = [end.agg(name) for name in ("mean", "median") for end in ends]
    rows = []
    for label in labels:
        differ = [str(each[label].sum()) for each in (apart.any(), apart.last())]
        rows.append((label, *differ, *(number(statistic.get(label, float("nan"))) for statistic in statistics)))
    head = ["method", "runs where they differ", "at the end"]
    for name in ("mean", "median"):
        head += [f"{name} {_measure(states)} of {what}" for what in ("the incumbent", "what is recommended")]
    caption = f"What methods recommend at the end, beside their incumbents: {setting.name}"
    yield Table(caption, tuple(head), tuple(rows), "l" + "r" * (len(head) - 1))
    words = f"mean {_measure(states)} of what each method would recommend"
    means = ", ".join(f"{label} {number(statistics[1].get(label, float('nan')), 3)}" for label in labels)
    alt = f"Step curves on {setting.name}, one a method: {words}. Means at the end: {means}."
    yield Figure.read(path, alt, f"{setting.name}: {words} after each trial.")


def _measure(states: DataFrame) -> str:
    return "regret" if states["regret"].notna().any() else "value"


def _target(value: float) -> str:
    return number(value) if value < float("inf") else "any result"
