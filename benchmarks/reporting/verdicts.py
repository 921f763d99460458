"""The verdicts on the claims as Markdown: a row a claim, a column each method and rival that it is judged of."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pandas import DataFrame, Series

from benchmarks.analysis.claims import FAILS, HOLDS, OPEN, OURS, figure_text

Row = Mapping[Any, Any]
NOTE = (
    "An interval that lies wholly where the claim is true says that it holds, one that lies wholly outside that "
    "it does not. Each verdict is at 95% by itself, so of many a few are wrong. A speed-up of inf says that at "
    "most half of the other method's runs get there, one of 0 that at most half of its own do. TPE draws its first "
    "20 configurations at random by its authors' default: with 20 heavy runs it is a second random search. "
    "A is the method and B its rival, which the head of a column names; claims.csv has a row for each."
)


def markdown(table: DataFrame) -> str:
    """The verdicts as tables in Markdown, each with a link to the code that computes it.

    Parameters
    ----------
    table : DataFrame
        As `claims.judge` returns it.
    """
    ours = table["source"].str.startswith(OURS)
    numbers = f"Claims of the paper: {_counts(table['verdict'][~ours])}."
    if ours.any():
        numbers += f" The same with light runs counted, which the paper does not do: {_counts(table['verdict'][ours])}."
    lines = [line for rows in _tables(table.to_dict("records")) for line in [*_table(rows), ""]]
    return "\n".join(["# The paper's claims", "", numbers, "", NOTE, "", *lines])


def _tables(rows: Sequence[Row]) -> Iterator[list[list[Row]]]:
    """The rows of each table: those of one statement together, and statements of the same columns in one."""
    statements: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        statements.setdefault((row["statement"], row["source"]), []).append(row)
    groups = list(statements.values())
    ordered = sorted(groups, key=lambda group: [_columns(each) for each in groups].index(_columns(group)))
    for _, alike in itertools.groupby(ordered, _columns):
        yield list(alike)


def _columns(group: Sequence[Row]) -> list[str]:
    """What the figures of a claim are of: a method over a rival, a method, or nothing to be named."""
    return [" over ".join(filter(None, (row["method"], row["over"]))) or "verdict" for row in group]


def _table(groups: Sequence[Sequence[Row]]) -> list[str]:
    columns = [f"{column}: ours [95% interval]" for column in _columns(groups[0])]
    head = ["claim", "source", *columns, "n", "data", "what is computed"]
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for group in groups:
        first = group[0]
        link = f"[{Path(first['code'].partition('#')[0]).name}](../../{first['code']})"
        verdicts = [f"**{row['verdict']}** {row['reason'] or figure_text(row)}" for row in group]
        n = sorted({row["n"] for row in group})
        seeds = str(n[0]) if len(n) == 1 else f"{n[0]}–{n[-1]}"
        data = "; ".join(dict.fromkeys(row["data"] for row in group if row["data"]))
        cells = [first["statement"], first["source"], *verdicts, seeds, data, f"{first['definition']} ({link})"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def _counts(verdicts: Series) -> str:
    said = "; ".join(f"{verdict}: {(verdicts == verdict).sum()}" for verdict in (HOLDS, FAILS, OPEN))
    return f"{len(verdicts)} ({said})"
