"""Figures of ratios: dots with their intervals, of tasks and over them, and a goal."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from benchmarks.figures.ratios import ABOVE, WITHIN, ladder_figure, regret_ratios_figure, speed_ups_over_tasks_figure
from benchmarks.figures.style import METHOD_STYLES

INF = math.inf


def dots(axes, **look):
    """The places of the dots of a look, in the order of their drawing."""
    lines = [one for one in axes.get_lines() if all(getattr(one, f"get_{name}")() == look[name] for name in look)]
    return [(x, y) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def test_speed_ups_over_tasks_are_drawn_largest_first_with_those_of_the_tasks(tmp_path):
    head = {"of": "btao", "against": "time", "share": 1.0}
    table = pd.DataFrame(
        [
            {"over": "gp_bo", "tasks": 3, "speed_up": 0.5, "low": 0.0, "high": 1.0},
            {"over": "tpe", "tasks": 3, "speed_up": 4.0, "low": 2.0, "high": 8.0},
        ]
    ).assign(**head)
    tasks = pd.DataFrame({"over": ["gp_bo"] * 3 + ["tpe"] * 3, "speed_up": [0.0, 0.5, 1.0, 2.0, 4.0, INF]})
    figure = speed_ups_over_tasks_figure(table, tasks, path=tmp_path / "speed.png")
    (axes,) = figure.axes
    left, right = axes.get_xlim()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["over tpe", "over gp_bo"]
    assert [text.get_text() for text in axes.texts] == ["4 [2, 8]", "0.5 [0, 1]"]
    gp_bo, tpe = METHOD_STYLES["gp_bo"], METHOD_STYLES["tpe"]
    assert dots(axes, color=tpe.color, markersize=4) == [(2.0, 0), (4.0, 0), (right, 0)]
    assert dots(axes, color=gp_bo.color, markersize=4) == [(left, -1), (0.5, -1), (1.0, -1)]
    assert dots(axes, color=tpe.color, marker=tpe.marker) == [(4.0, 0)]
    assert axes.get_xlabel() == "speed-up of btao, time, training and method"
    assert "reached at 100% of its cost" in figure.get_supxlabel().replace("\n", " ")
    assert pd.read_csv(tmp_path / "speed.csv")["over"].tolist() == ["tpe", "gp_bo"]
    with pytest.raises(ValueError, match="no speed-ups"):
        speed_ups_over_tasks_figure(table.iloc[:0], tasks)


def test_ratios_above_the_goal_have_another_color(tmp_path):
    table = pd.DataFrame(
        [("park", 1.2, 0.5, 2.0), ("branin", 1.4, 1.35, 3.0)], columns=["task", "ratio", "low", "high"]
    ).assign(of="btao", to="gp_ei", statistic="median")
    figure = regret_ratios_figure(table, 1.3, path=tmp_path / "ratios.png")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["park", "branin"]
    assert dots(axes, color=WITHIN.color, marker=WITHIN.marker) == [(1.2, 0)]
    assert dots(axes, color=ABOVE.color, marker=ABOVE.marker) == [(1.4, -1)]
    assert dots(axes, linestyle="--")[0][0] == 1.3
    assert axes.get_xlabel() == "final regret of btao / that of gp_ei"
    assert figure.get_supxlabel().replace("\n", " ").startswith("ratio of the medians over seeds at the end")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "ratios.csv"), table)
    with pytest.raises(ValueError, match="no ratios"):
        regret_ratios_figure(table.iloc[:0], 1.3)


def test_each_step_of_the_ladder_but_the_first_has_a_ratio_and_a_change_of_rank(tmp_path):
    nan = math.nan
    table = pd.DataFrame(
        [
            ("first", 3, nan, nan, nan, nan, nan, nan),
            ("second", 3, 0.5, 0.25, 1.0, -0.5, -1.0, 0.0),
            ("third", 1, 2.0, nan, nan, 0.25, nan, nan),
        ],
        columns=["step", "tasks", "ratio", "ratio_low", "ratio_high", "rank_change", "rank_low", "rank_high"],
    )
    figure = ladder_figure(table, path=tmp_path / "ladder.png")
    axes, ranks = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["second (3)", "third (1)"]
    assert [text.get_text() for text in axes.texts] == ["0.5 [0.25, 1]", "2"]
    assert dots(axes, marker="o") == [(0.5, 0), (2.0, -1)]
    assert dots(ranks, marker="o") == [(-0.5, 0), (0.25, -1)]
    assert dots(ranks, linewidth=2)[:2] == [(-1.0, 0), (0.0, 0)]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "ladder.csv"), table)
    with pytest.raises(ValueError, match="two steps at least"):
        ladder_figure(table.iloc[:1])
