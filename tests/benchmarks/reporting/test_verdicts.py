"""The verdicts as Markdown: claims that differ in the methods alone are one row."""

from __future__ import annotations

import itertools
import math

import pandas as pd

from benchmarks.analysis.claims import COLUMNS, COMMON, FAILS, HOLDS, OPEN, read
from benchmarks.reporting.verdicts import markdown


def verdict(statement, method="", over="", **changes):
    row = {"claim": statement.replace("A", method), "source": "Fig. 9", "verdict": HOLDS, "figure": 2.0, "low": 1.5}
    row |= {"high": 3.0, "n": 30, "data": "", "meaning": "m", "reason": "", "code": "benchmarks/analysis/checks.py#L1"}
    return row | {"statement": statement, "definition": "B by A", "method": method, "over": over} | changes


def rows(text):
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]


def test_a_claim_of_several_methods_and_rivals_is_one_row_with_a_column_each():
    pairs = list(itertools.product(["btao", "btao_paper"], ["tpe", "smac"]))
    table = pd.DataFrame(
        [
            *(verdict("A is ahead of B at 0.1", *pair) for pair in pairs),
            verdict("it is so | always", verdict=FAILS, n=4096, data="mnist"),
            verdict("A is ahead of B at 0.01", *pairs[0], verdict=OPEN, reason="none gets there", n=0, figure=math.nan),
            *(verdict("A is ahead of B at 0.01", *pair) for pair in pairs[1:]),
        ]
    )
    text = markdown(table)
    head, _, first, second, other, _, single = rows(text)
    names = [f"{method} over {over}: ours [95% interval]" for method, over in pairs]
    assert head == ["claim", "source", *names, "n", "data", "what is computed"]
    link = "B by A ([checks.py](../../benchmarks/analysis/checks.py#L1))"
    assert first == ["A is ahead of B at 0.1", "Fig. 9", *["**holds** 2 [1.5, 3]"] * 4, "30", "", link]
    assert second[0] == "A is ahead of B at 0.01"
    assert second[2:4] == ["**cannot tell** none gets there", "**holds** 2 [1.5, 3]"] and second[6] == "0–30"
    assert other[2] == "verdict: ours [95% interval]"
    assert single[0] == "it is so \\| always" and single[2:5] == ["**does not hold** 2 [1.5, 3]", "4096", "mnist"]
    assert "Claims of the paper: 9 (holds: 7; does not hold: 1; cannot tell: 1)." in text


def test_the_paper_s_claims_are_few_rows_and_the_frame_has_one_for_each_pair():
    claims = read()
    frame = pd.DataFrame([{name: getattr(claim, name) for name in COMMON} for claim in claims])
    frame = frame.assign(
        source=[claim.source for claim in claims], verdict=OPEN, reason="-", n=0, data="", code="c.py#L1"
    )
    shown = [row for row in rows(markdown(frame)) if row[0] not in ("claim", "---")]
    assert len(claims) > 140 and len(shown) < 50
    assert {"statement", "method", "over"} <= set(COMMON) and not set(COMMON) & set(COLUMNS)
