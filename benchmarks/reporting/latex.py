"""What methods reached as a table in LaTeX, for the package booktabs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from pandas import DataFrame, Series

from benchmarks.common.formats import number

_SPECIAL = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
PLAIN = (1e-4, 1e4)  # half intervals between these are written without a power of ten
MEASURES = {"regret": "simple regret", "best": "best value"}


def table(summary: DataFrame, methods: Sequence[str], statistic: str = "mean") -> str:
    """A tabular of the methods: of each task the regret where the optimum is known, else the best value.

    Parameters
    ----------
    summary : DataFrame
        As `analysis.aggregate.summary` returns it.
    methods : sequence of str
        The order of the rows; others are left out.
    statistic : {"mean", "median", "iqm"}
        The one that the intervals of the summary are of.

    Returns
    -------
    str
        The statistic ± half the width of its interval, and n, the seeds behind it; the best of a task is bold. A
        comment before it says so.

    Raises
    ------
    ValueError
        If no method has a row.
    """
    if not len(summary) or not summary["method"].isin(methods).any():
        raise ValueError("no run is done: there is nothing for a table")
    tasks = list(dict.fromkeys(summary["task"]))
    measures = {task: _measure(summary[summary["task"] == task]) for task in tasks}
    named = [MEASURES[each] for each in dict.fromkeys(measures.values())]
    head = ["task"] * (len(tasks) > 1) + ["method", " or ".join(named), "$n$"]
    lines = []
    for task in tasks:
        rows = summary[summary["task"] == task]
        best = rows[f"{measures[task]}_{statistic}"].min()
        lines += [r"\midrule"]
        first = True
        for method in methods:
            for _, row in rows[rows["method"] == method].iterrows():
                cells = [escape(task) if first else ""] * (len(tasks) > 1)
                cells += [escape(row["label"]), _cell(row, measures[task], statistic, best), str(row["n"])]
                lines.append(" & ".join(cells) + r" \\")
                first = False
    columns = "l" * (len(head) - 2) + "rr"
    return "\n".join(
        [
            f"% {statistic} over n seeds, ± half the width of its 95% interval (below 5 seeds: of their range);",
            "% the best of each task is bold. Needs \\usepackage{booktabs}.",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def escape(text: str) -> str:
    """A text as LaTeX prints it."""
    return re.sub(r"[&%$#_{}\\~^]", lambda match: _SPECIAL[match[0]], text)


def _measure(rows: DataFrame) -> str:
    return "regret" if rows["regret_mean"].notna().any() else "best"


def _cell(row: Series, measure: str, statistic: str, best: float) -> str:
    value = row[f"{measure}_{statistic}"]
    if not math.isfinite(value):
        return "--"
    half = (row[f"{measure}_high"] - row[f"{measure}_low"]) / 2
    shown, interval = _rounded(value, half)
    cell = f"\\mathbf{{{shown}}}" if value == best else shown
    return f"${cell}$" if math.isnan(half) else f"${cell} \\pm {interval}$"


def _rounded(value: float, half: float) -> tuple[str, str]:
    """A value to the decimal places of half its interval, which has two digits; both as LaTeX writes them."""
    if PLAIN[0] <= half < PLAIN[1]:
        places = max(0, 1 - math.floor(math.log10(half)))
        return f"{value:.{places}f}", f"{half:.{places}f}"
    return _number(value, 4), _number(half, 2)


def _number(value: float, digits: int) -> str:
    """A number with its power of ten as LaTeX writes it."""
    mantissa, is_power, exponent = number(value, digits).partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if is_power else mantissa
