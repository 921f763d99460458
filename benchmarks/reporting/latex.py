"""A table of methods and tasks for a paper, in LaTeX with the package booktabs."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from pandas import DataFrame

from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.intervals import check_choice
from benchmarks.analysis.per_task import per_task
from benchmarks.analysis.scores import scores
from benchmarks.figures.style import method_styles
from benchmarks.records.labels import first_of

SPREADS = ("interval", "std")
STATISTICS = {"mean": "mean", "median": "median", "iqm": "interquartile mean"}
WORSE, BETTER = "$^{-}$", "$^{+}$"
SPECIAL = {**{letter: f"\\{letter}" for letter in "&%$#_{}"}, "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
SPECIAL["\\"] = r"\textbackslash{}"


def latex(
    frame: DataFrame,
    *,
    first: str | None = None,
    statistic: str = "mean",
    spread: str = "interval",
    measure: str | None = None,
    alpha: float = 0.05,
    digits: int = 3,
) -> str:
    """A table with a row a method and a column a task: what the methods end with, the best in bold, marks of tests.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them, of runs that are done.
    first : str, optional
        The label or the method that others are compared to; see `records.labels.first_of`.
    statistic : {"mean", "median", "iqm"}
        Over seeds.
    spread : {"interval", "std"}
        What stands beside it: its 95% bootstrap interval, or ± the standard deviation over seeds.
    measure : {None, "regret", "value", "test_error"}
        None takes the regret on tasks where it is known, else the value.
    alpha : float
        The level of the tests: Wilcoxon's signed-rank test over equal seeds, with Holm's correction on each task.
    digits : int
        Significant ones, of every number.

    Returns
    -------
    str
        A `table` environment, whose caption says how its numbers were computed.

    Raises
    ------
    ValueError
        If the frame is empty, a choice is none of those named, `alpha` is not between 0 and 1 or `digits` not
        positive; and as `incumbents`.
    """
    check_choice("spread", spread, SPREADS)
    check_choice("statistic", statistic, STATISTICS)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}")
    if digits < 1:
        raise ValueError(f"digits must be at least 1, got {digits!r}")
    if frame.empty:
        raise ValueError("frame holds no trials, so there is nothing to tabulate")
    states = incumbents(frame)
    methods = dict(zip(states["label"], states["method"], strict=True))
    order = [label for name in method_styles(methods.values()) for label in methods if methods[label] == name]
    base = first_of({label: methods[label] for label in order}, first)
    table = per_task(scores(states, measure), base, statistic)
    tasks = list(table["task"].unique())
    rows = {(row["task"], row["label"]): row for row in table.to_dict("records")}
    head = ["", *map(_text, tasks)]
    lines = [f"{' & '.join(head)} \\\\", r"\midrule"]
    counts = {task: {row["n"] for (of, _), row in rows.items() if of == task} for task in tasks}
    for label in order:
        cells = [_cell(rows.get((task, label)), spread, alpha, digits, counts[task]) for task in tasks]
        lines.append(f"{' & '.join([_text(label), *cells])} \\\\")
    lines += [r"\midrule", f"{' & '.join(['seeds', *(_seeds(counts[task]) for task in tasks)])} \\\\"]
    known = states["regret"].notna().groupby(states["task"]).any()
    caption = _caption([known[task] for task in tasks], measure, statistic, spread, base, alpha)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            f"\\caption{{{caption}}}",
            f"\\begin{{tabular}}{{l{'r' * len(tasks)}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _cell(row: dict[Any, Any] | None, spread: str, alpha: float, digits: int, counts: Collection[int]) -> str:
    """A number in bold where it is the best, with its spread, the mark of its test, and its seeds where they differ.

    A dash stands where there are no runs.
    """
    if row is None:
        return "--"
    value = _number(row["value"], digits)
    text = f"$\\mathbf{{{value}}}$" if row["best"] else f"${value}$"
    if spread == "std" and not math.isnan(row["std"]):
        text += f" $\\pm\\,{_number(row['std'], digits)}$"
    elif spread == "interval" and not math.isnan(row["low"]):
        text += f" $[{_number(row['low'], digits)}, {_number(row['high'], digits)}]$"
    if row["p_holm"] <= alpha:  # not so for nan
        text += BETTER if row["rank_sum"] < 0 else WORSE
    return text if len(counts) == 1 else f"{text} ($n={row['n']}$)"


def _caption(known: Sequence[bool], measure: str | None, statistic: str, spread: str, first: str, alpha: float) -> str:
    """How the numbers were computed."""
    regret, value = "Simple regret", "Best validation value (minimized)"
    test = "Test error of the configuration that is best in validation"
    what = {"regret": regret, "value": value, "test_error": test}.get(measure or "")
    if what is None:
        mixed = f"{regret} where the optimum is known, else best value (minimized)"
        what = regret if all(known) else mixed if any(known) else value
    beside = "95\\% bootstrap interval" if spread == "interval" else "standard deviation"
    return (
        f"{what} at the end of the runs: {STATISTICS[statistic]} and {beside} over seeds; the best of a task in bold. "
        f"{BETTER} better and {WORSE} worse than {_text(first)} by Wilcoxon's signed-rank test over equal seeds, "
        f"with Holm's correction on each task, at the level {alpha:g}."
    )


def _number(value: float, digits: int) -> str:
    """A number in mathematics, a power of ten where that is shorter."""
    if not math.isfinite(value):
        return r"\infty"
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa} \\times 10^{{{int(exponent)}}}" if exponent else mantissa


def _seeds(counts: Collection[int]) -> str:
    return str(*counts) if len(counts) == 1 else f"{min(counts)}--{max(counts)}"


def _text(text: str) -> str:
    """A text with what LaTeX would read as commands escaped."""
    return re.sub(r"[&%$#_{}~^\\]", lambda found: SPECIAL[found.group()], text)
