"""Figures across tasks draw the numbers of the analysis."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.over_time import ranks_over_time, targets_reached
from benchmarks.analysis.per_task import per_task
from benchmarks.analysis.scores import scores
from benchmarks.figures.across_tasks import heat_map_figure, rank_figure, targets_figure
from benchmarks.figures.curves import GRAY
from benchmarks.figures.style import METHOD_STYLES
from support import frame, run

METHODS = list(METHOD_STYLES)[:7]


@pytest.fixture(scope="module")
def states():
    """Of seven methods each ends worse than the one before, on two tasks."""
    return incumbents(
        frame(
            *(
                run("HHH", [9.0, 8.0, 1.0 + place], method=method, task=task, seed=seed)
                for place, method in enumerate(METHODS)
                for task in ("currin", "park")
                for seed in range(2)
            )
        )
    )


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_ranks_over_time_are_drawn_with_the_best_on_top(states, tmp_path):
    table = ranks_over_time(states)
    figure = rank_figure(table, first=METHODS[-1], path=tmp_path / "ranks.pdf")
    (axes,) = figure.axes
    bottom, top = axes.get_ylim()
    assert bottom > top and axes.get_xlabel() == "share of the training iterations, in heavy runs"
    assert entries(figure) == [*METHODS[:4], METHODS[-1], "the others"]
    assert sum(line.get_color() == GRAY.color for line in axes.get_lines()) == 2
    assert sorted(line.get_ydata()[-1] for line in axes.get_lines()) == list(range(1, 8))
    said = figure.get_supxlabel().replace("\n", " ")
    assert said == "1 is best; mean and 95% interval over 2 tasks; gray: smac, tpe"
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "ranks.csv"), table)


def test_targets_reached_are_drawn_as_steps(states):
    table = targets_reached(states)
    figure = targets_figure(table)
    (axes,) = figure.axes
    assert axes.get_xscale() == "log" and entries(figure)[:2] == METHODS[:2]
    best = next(line for line in axes.get_lines() if line.get_color() == METHOD_STYLES[METHODS[0]].color)
    assert best.get_drawstyle() == "steps-post" and best.get_ydata()[-1] == pytest.approx(1.0)


def test_a_cell_of_the_heat_map_has_the_value_and_the_best_is_bold(states):
    table = per_task(scores(states), statistic="median")
    (axes,) = heat_map_figure(table).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == METHODS
    assert [label.get_text() for label in axes.get_yticklabels()] == ["currin", "park"]
    assert [text.get_text() for text in axes.texts] == [str(place + 1) for place in range(7)] * 2
    assert [text.get_position() for text in axes.texts if text.get_fontweight() == "bold"] == [(0, 0), (0, 1)]
    some = table.drop(index=table.index[1])  # a method without runs on a task has an empty cell
    assert len(heat_map_figure(some).axes[0].texts) == 13
    with pytest.raises(ValueError, match="nothing to draw"):
        heat_map_figure(table.iloc[:0])
