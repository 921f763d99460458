"""Figures across tasks draw the numbers of the analysis."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.over_time import ranks_over_time, targets_reached
from benchmarks.analysis.per_task import per_task
from benchmarks.analysis.scores import scores
from benchmarks.figures.across_tasks import heat_map_figure, pairs_figure, rank_figure, targets_figure
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


def test_a_cell_of_pairs_has_the_seeds_won_and_lost_and_is_bold_where_they_are_told_apart(tmp_path):
    ends = {"btao": [2.0] * 8, "tpe": [3.0] * 8, "gp_bo": [1.0] * 3 + [2.0] + [3.0] * 4}
    runs = [
        run("HH", [9.0, value], method=method, task=task, seed=seed)
        for task in ("park", "currin")
        for method, values in ends.items()
        for seed, value in enumerate(values)
    ]
    table = per_task(scores(incumbents(frame(*runs))), "btao")
    table = table.drop(index=table.index[(table["task"] == "park") & (table["label"] == "gp_bo")])
    figure = pairs_figure(table, path=tmp_path / "pairs.png")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["gp_bo", "tpe"]
    cells = {text.get_position(): (text.get_text(), text.get_fontweight()) for text in axes.texts}
    row = [label.get_text() for label in axes.get_yticklabels()].index("currin")
    assert cells[0, row] == ("4 : 3", "normal") and cells[1, row] == ("8 : 0", "bold")
    assert len(cells) == 3  # gp_bo has no run on park
    assert axes.images[0].get_array()[row].tolist() == [4.5 / 8, 1.0]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "pairs.csv"), table.reset_index(drop=True))
    with pytest.raises(ValueError, match="no tests, so there is nothing to draw"):
        pairs_figure(table.drop(columns="p_holm"))
