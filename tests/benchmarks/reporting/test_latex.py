"""The table for a paper: its numbers, its marks and its caption."""

from __future__ import annotations

import math

import pytest

from benchmarks.reporting.latex import latex
from support import frame, run

NAN = math.nan


def trials(seeds=9):
    """On currin tpe is always worse than btao, on park always better; gp_bo has no run on park."""
    return frame(
        *(
            run("H", [value + 0.01 * seed], method=method, task=task, seed=seed)
            for method, task, value in (
                ("tpe", "currin", 2.0), ("btao", "currin", 1.0), ("gp_bo", "currin", 1.0),
                ("tpe", "park", 2e-9), ("btao", "park", 3.0),
            )
            for seed in range(seeds)
        )
    )  # fmt: skip


def cells(table, name):
    (row,) = [line for line in table.splitlines() if line.startswith(f"{name} &")]
    return [cell.strip() for cell in row.removesuffix("\\\\").split("&")[1:]]


def test_a_cell_has_the_number_its_spread_and_the_mark_of_its_test():
    table = latex(trials(), spread="std")
    assert cells(table, "btao") == [r"$\mathbf{1.04}$ $\pm\,0.0274$", r"$3.04$ $\pm\,0.0274$"]
    assert cells(table, "gp\\_bo") == [r"$\mathbf{1.04}$ $\pm\,0.0274$", "--"]
    assert cells(table, "tpe") == [r"$2.04$ $\pm\,0.0274$$^{-}$", r"$\mathbf{0.04}$ $\pm\,0.0274$$^{+}$"]
    assert cells(table, "seeds") == ["9", "9"]
    order = [line.split(" &")[0] for line in table.splitlines() if " & " in line]
    assert order == ["", "btao", "gp\\_bo", "tpe", "seeds"]


def test_others_are_compared_to_the_method_that_is_named_first():
    assert "$^{+}$" in cells(latex(trials(), first="tpe"), "btao")[0]
    assert "better and $^{-}$ worse than tpe by Wilcoxon" in latex(trials(), first="tpe")
    with pytest.raises(ValueError, match="first: unknown method 'tpo': did you mean 'tpe'"):
        latex(trials(), first="tpo")


def test_few_seeds_carry_no_mark_and_one_no_spread():
    assert "^{-}$ &" not in latex(trials(seeds=4)).replace(" \\\\", " &")
    assert cells(latex(trials(seeds=1)), "tpe") == ["$2$", r"$\mathbf{2 \times 10^{-9}}$"]


def test_intervals_runs_that_found_nothing_and_the_caption():
    found = frame(
        run("H", [0.5], optimum=None, task="50%_task"), run("H", [0.7], seed=1, optimum=None, task="50%_task")
    )
    nothing = run("H", [NAN], method="tpe", optimum=None, task="50%_task")
    table = latex(frame(found, nothing), statistic="median")
    assert cells(table, "btao") == [r"$\mathbf{0.6}$ $[0.5, 0.7]$ ($n=2$)"]
    assert cells(table, "tpe") == [r"$\infty$ ($n=1$)"]
    assert cells(table, "seeds") == ["1--2"]
    assert r" & 50\%\_task \\" in table
    assert (
        r"\caption{Best validation value (minimized) at the end of the runs: median and 95\% bootstrap interval"
        in table
    )
    assert (
        table.startswith("\\begin{table}\n\\centering\n")
        and table.count("\\toprule") == table.count("\\bottomrule") == 1
    )


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"spread": "range"}, "spread must be one of interval, std, got 'range'"),
        ({"statistic": "mode"}, "statistic must be one of mean, median, iqm, got 'mode'"),
        ({"alpha": 5}, "alpha must be between 0 and 1, got 5"),
        ({"digits": 0}, "digits must be at least 1, got 0"),
    ],
)
def test_mistakes_are_refused(choice, message):
    with pytest.raises(ValueError, match=message):
        latex(trials(), **choice)
    with pytest.raises(ValueError, match="no trials"):
        latex(trials().iloc[:0])
