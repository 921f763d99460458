"""A study as blocks of a page: those that a notebook shows, and those of its report."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pandas import DataFrame

from benchmarks.common.formats import number
from benchmarks.figures.curves import AXIS_LABELS, curves_figure
from benchmarks.reporting.page import Block, Figure, Items, Notice, Page, Paragraph, Section, Table
from benchmarks.reporting.results import PANELS

MOST_MISSING = 10  # lines of what is missing that are shown


def shown(
    titles: Iterable[str], missing: Sequence[str], cautions: Iterable[str], tables: Callable[[], Iterable[Table]]
) -> tuple[Block, ...]:
    """What a notebook shows: what was run, what is missing, what to be careful with, and the tables.

    Where the records contradict each other, so that `tables` raises a ValueError, that is said in place of them.
    """
    blocks: list[Block] = [Paragraph(title) for title in titles]
    if missing:
        more = len(missing) - MOST_MISSING
        runs = "1 run has" if len(missing) == 1 else f"{len(missing)} runs have"
        blocks.append(Notice(f"{runs} no result. What is recorded is kept, and the same call goes on."))
        blocks.append(Items((*missing[:MOST_MISSING], *([f"and {more} more"] if more > 0 else []))))
    blocks += [Notice(f"{caution}.") for caution in cautions]
    try:
        blocks += tables()
    except ValueError as error:
        blocks.append(Notice(f"There is no table: {error}."))
    return tuple(blocks)


def page(
    opening: tuple[Block, ...],
    trials: DataFrame,
    labels: Mapping[str, str],
    ranks: Callable[[], DataFrame],
    folder: Path,
) -> Page:
    """The page of a report.

    Parameters
    ----------
    opening : tuple of Block
        As `shown` gives it.
    trials : DataFrame
        As `records.load` returns them, one at least.
    labels : mapping
        As `figures.curves.curves_figure` takes them.
    ranks : callable
        Returns the mean ranks; a ValueError says why there are none.
    folder : Path
        Where figures go.

    Raises
    ------
    ValueError
        If the records contradict each other.
    """
    figures = Section("Figures", "figures", tuple(_figures(trials, labels, folder)))
    return Page("Study", opening, (figures, _ranks(ranks)))


def _figures(trials: DataFrame, labels: Mapping[str, str], folder: Path) -> list[Figure]:
    drawn = []
    for name, axes in PANELS.items():
        path = folder / f"{name}.png"
        curves_figure(trials, axes, labels=labels, path=path)
        words = " and ".join(f"against {AXIS_LABELS[against]}" for against in axes)
        drawn.append(Figure.read(path, f"Step curves, one a method: means {words}.", f"Means {words}."))
    return drawn


def _ranks(ranks: Callable[[], DataFrame]) -> Section:
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = ranks()
    except ValueError as error:
        return Section("Methods against each other", "ranks", (Paragraph(f"No ranks: {error}."),))
    texts = dict.fromkeys(str(warning.message) for warning in caught)
    notices = (Notice(f"{text[0].upper()}{text[1:]}.") for text in texts)
    rows = tuple((row["label"], number(row["rank"], 3), str(row["blocks"])) for _, row in table.iterrows())
    shown = Table("Mean ranks, the best first", ("method", "mean rank", "blocks"), rows, "lrr")
    return Section("Methods against each other", "ranks", (*notices, shown))
