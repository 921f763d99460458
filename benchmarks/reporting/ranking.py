"""The part of a report that compares methods across settings: ranks, critical difference, pairs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas
from pandas import DataFrame

from benchmarks.analysis import ranking as ranks
from benchmarks.analysis.incumbents import incumbents, keys
from benchmarks.analysis.over_time import ranks_over_time, targets_reached
from benchmarks.analysis.per_task import per_task
from benchmarks.analysis.ranking import Blocks, average_ranks, critical_difference
from benchmarks.analysis.scores import across_tasks, normalized, scores
from benchmarks.common.formats import number, with_interval
from benchmarks.figures.across_tasks import heat_map_figure, rank_figure, targets_figure
from benchmarks.figures.comparison import critical_difference_figure
from benchmarks.records.labels import first_of, variants
from benchmarks.reporting.page import Block, Figure, Notice, Paragraph, Section, Table
from benchmarks.reporting.settings import Setting
from benchmarks.reporting.targets import UNITS


def ranking(settings: Sequence[Setting], folder: Path) -> Section:
    """Methods that have runs in every setting, compared; the figure is written into `folder`.

    Settings without a run that is done, and those whose records contradict themselves, are left out.
    """
    settings = [setting for setting in settings if not setting.results.empty and setting.contradiction is None]
    # Unlike the labels of one setting, these are the same in all of them: a hash is of the task too.
    names = variants({key: run.parameters for setting in settings for (key, _), (run, _) in setting.grid.runs.items()})
    per_setting = [set(keys(setting.results).map(names)) for setting in settings]
    common = set.intersection(*per_setting) if per_setting else set()
    others = sorted(set().union(*per_setting) - common)
    blocks: list[Block] = []
    if others:
        blocks.append(Paragraph(f"Left out, as they have no run that is done in some setting: {', '.join(others)}."))
    if len(common) < 2:
        blocks.append(Paragraph("Fewer than two methods have runs that are done in every setting: no comparison."))
    else:
        task_of = {setting.name: setting.shared["task"]["name"] for setting in settings}
        axes = {setting.name: setting.axis for setting in settings}
        states = _states(settings, names, common)
        methods = dict(zip(states["label"], states["method"], strict=True))
        asked = next((setting.asked for setting in settings if setting.asked in {*methods, *methods.values()}), None)
        compared = list(_compared(states, first_of(methods, asked), task_of, axes, folder))
        blocks += dict.fromkeys(block for block in compared if isinstance(block, Notice))  # each once, and first
        blocks += [block for block in compared if not isinstance(block, Notice)]
    return Section("Methods against each other", "ranking", tuple(blocks))


def _states(settings: Sequence[Setting], names: dict[str, str], common: set[str]) -> DataFrame:
    """The states of the runs of the methods in common, with settings as tasks and variants as labels."""
    frame = pandas.concat([setting.results.assign(task=setting.name) for setting in settings], ignore_index=True)
    states = incumbents(frame)
    states["label"] = keys(states).map(names)
    return states[states["label"].isin(common)].reset_index(drop=True)


def _compared(
    states: DataFrame, first: str, task_of: Mapping[str, str], axes: Mapping[str, str], folder: Path
) -> Iterator[Block]:
    """Of several settings these are the blocks of all tests; seeds are those of one setting alone."""
    table = comparable = scores(states)
    by = "task" if table["task"].nunique() > 1 else "seed"
    try:
        if by == "task":
            by_task, notices = _with_notices(ranks.blocks, table, "task", task_of=task_of)
            of_tasks: list[Block] = [*notices, *_ranks(by_task), _critical_difference(by_task, folder)]
            yield from of_tasks
            yield _heat_map(table, first, folder)
            comparable = normalized(states)
            yield from _normalized(comparable, task_of)
        for axis, here in states.groupby(states["task"].map(axes), sort=False):
            yield from _over_time(here.reset_index(drop=True), str(axis), first, folder)
        blocks, notices = _with_notices(ranks.blocks, comparable, by, task_of=task_of)
    except ValueError as error:
        yield Paragraph(f"No comparison of pairs: {error}.")
    else:
        pairs: list[Block] = [*notices, *_pairs(blocks, ranks.improvement(table))]
        yield from pairs


def _heat_map(table: DataFrame, first: str, folder: Path) -> Figure:
    path = folder / "heat-map.png"
    reached = per_task(table, first, "median")
    heat_map_figure(reached, path=path)
    best = reached[reached["best"]].groupby("task")["label"].agg(" and ".join)
    alt = f"Heat map of settings and methods; the best: {', '.join(f'{task} {label}' for task, label in best.items())}."
    return Figure.read(path, alt, "Medians at the end: regrets where the optimum is known, else best values.")


def _over_time(states: DataFrame, axis: str, first: str, folder: Path) -> Iterator[Block]:
    """Of the settings whose runs compare by one cost; a sentence where they do not allow it."""
    try:
        over_time, reached = ranks_over_time(states, axis), targets_reached(states, axis)
    except ValueError as error:
        yield Paragraph(f"No comparison over {UNITS[axis]}: {error}.")
        return
    path = folder / f"ranks-over-{axis}.png"
    rank_figure(over_time, first=first, path=path)
    ends = over_time.groupby("label", sort=False)["rank"].last()
    alt = f"Mean ranks over time; at the end: {', '.join(f'{label} {rank:.2f}' for label, rank in ends.items())}."
    spent = UNITS[axis]
    yield Figure.read(path, alt, f"Mean ranks over the {spent} that all runs of a setting have spent at least.")
    path = folder / f"targets-reached-{axis}.png"
    targets_figure(reached, first=first, path=path)
    shares = reached.groupby("label", sort=False)["reached"].last()
    ends_there = ", ".join(f"{label} {share:.0%}" for label, share in shares.items())
    caption = (
        f"Share of targets reached by a cost in {spent}: an empirical cumulative distribution over runs and targets."
    )
    yield Figure.read(path, f"Step curves of targets reached; at the end: {ends_there}.", caption)


def _with_notices(function: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[Any, list[Notice]]:
    """What a function returns, and what it warned of as notices."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **named)
    texts = dict.fromkeys(str(warning.message) for warning in caught)
    return result, [Notice(f"{text[0].upper()}{text[1:]}.") for text in texts]


def _ranks(comparison: Blocks) -> tuple[Paragraph, Table]:
    table = ranks.average_ranks(comparison)
    statistic, p = ranks.friedman(comparison)
    words = "Methods are ranked in each setting by the median over their seeds; 1 is best, ties share their ranks."
    if not math.isnan(p):
        words += f" Friedman’s test that all rank alike: χ² = {number(statistic, 3)}, p = {number(p, 2)}."
    rows = tuple((row["label"], f"{row['rank']:.2f}", str(row["blocks"])) for _, row in table.iterrows())
    return Paragraph(words), Table("Mean ranks over settings", ("method", "mean rank", "settings"), rows, "lrr")


def _critical_difference(comparison: Blocks, folder: Path) -> Figure:
    path = folder / "critical-difference.png"
    critical_difference_figure(comparison, path=path)
    table = average_ranks(comparison)
    difference = critical_difference(len(table), len(comparison.values))
    ranks = ", ".join(f"{row['label']} {row['rank']:.2f}" for _, row in table.iterrows())
    caption = (
        f"Mean ranks over settings; methods that are joined are closer than Nemenyi’s critical difference at the level "
        f"0.05, which is {number(difference, 3)}."
    )
    return Figure.read(path, f"Critical-difference diagram, the best first: {ranks}.", caption)


def _normalized(comparable: DataFrame, task_of: Mapping[str, str]) -> Iterator[Block]:
    table, notices = _with_notices(across_tasks, comparable, "iqm", task_of=task_of)
    means, _ = _with_notices(across_tasks, comparable, "mean", task_of=task_of)
    means = means.set_index("label")
    rows = tuple(
        (row["label"], with_interval(row, "score"), with_interval(means.loc[row["label"]], "score"), str(row["n"]))
        for _, row in table.iterrows()
    )
    yield from notices
    yield Paragraph(
        "Normalized score: 0 is the best there is in a setting, 1 what the first heavy run gives on average; the "
        "interquartile mean over the runs of all settings, which may leave out all of one that is harder than the "
        "others, and the mean, with 95% intervals stratified by setting."
    )
    head = ("method", "interquartile mean [95% interval]", "mean [95% interval]", "runs")
    yield Table("Normalized scores", head, rows, "lrrr")


def _pairs(comparison: Blocks, chances: DataFrame) -> tuple[Paragraph, Table]:
    table = ranks.pairwise(comparison).merge(chances.drop(columns="dropped"), on=["a", "b"])
    rows = tuple(
        (
            *(row["a"], row["b"], with_interval(row, "probability")),
            *(str(row[name]) for name in ("wins", "ties", "losses")),
            number(row["p_holm"], 2),
        )
        for _, row in table.iterrows()
    )
    over = (
        "settings, medians over seeds of normalized scores against each other"
        if comparison.by == "task"
        else "seeds, equal seeds against each other, so they speak of this setting alone"
    )
    words = (
        "Probability: that a run of A ends better than one of B, a tie counting half, the mean over settings; its "
        "interval is Newcombe’s, which is too wide where there are many ties. Wins, ties and losses of A, and "
        f"Wilcoxon’s signed-rank test with Holm’s correction: over {over}."
    )
    head = ("A", "B", "P(A better) [95% interval]", "wins", "ties", "losses", "p, corrected")
    return Paragraph(words), Table("Pairs of methods", head, rows, "llrrrrr")
