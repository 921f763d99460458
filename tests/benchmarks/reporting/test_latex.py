"""Tables in LaTeX. test_study.py has a whole one."""

import math

import pandas as pd
import pytest

from benchmarks.analysis.aggregate import summary
from benchmarks.reporting.latex import escape, table
from support import frame, run


def test_what_latex_reads_as_markup_is_escaped():
    assert escape(r"gp_bo 50% {a} \x ~^#&$") == (
        r"gp\_bo 50\% \{a\} \textbackslash{}x \textasciitilde{}\textasciicircum{}\#\&\$"
    )


def test_several_tasks_have_a_column_and_their_own_best():
    trials = frame(
        run("H", [0.002], task="a", method="x", hash="1", optimum=None),
        run("H", [5e-9], task="a", method="y", hash="2", optimum=None),
        run("H", [3.0], task="b_c", method="x", hash="3", optimum=1.0),
        run("H", [math.nan], task="b_c", method="y", hash="4", optimum=1.0),
    )
    text = table(summary(trials), ("y", "x"))
    rows = [line for line in text.splitlines() if line.count("&") == 3]
    assert rows == [
        r"task & method & best value or simple regret & $n$ \\",
        r"a & y & $\mathbf{5 \cdot 10^{-9}}$ & 1 \\",
        r" & x & $0.002$ & 1 \\",
        r"b\_c & y & -- & 0 \\",
        r" & x & $\mathbf{2}$ & 1 \\",
    ]
    assert text.count(r"\midrule") == 2


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        ([0.0186, 0.0198], r"$\mathbf{0.01920} \pm 0.00060$"),
        ([1000.0, 1246.0], r"$\mathbf{1123} \pm 123$"),
        ([1e-7, 3e-7], r"$\mathbf{2 \cdot 10^{-7}} \pm 1 \cdot 10^{-7}$"),
    ],
)
def test_a_value_is_rounded_as_its_interval(values, cell):
    runs = [run("H", [value], seed=seed, optimum=None) for seed, value in enumerate(values)]
    assert cell in table(summary(frame(*runs)), ("btao",))


def test_a_study_without_a_run_has_no_table():
    with pytest.raises(ValueError, match="no run is done: there is nothing for a table"):
        table(pd.DataFrame(), ("btao",))
