"""Figures that compare methods: they draw the numbers of the analysis, infinite ones too."""

from __future__ import annotations

import dataclasses
import math

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread

from benchmarks.analysis import ranking
from benchmarks.figures.comparison import critical_difference_figure, speed_up_figure
from benchmarks.figures.style import METHOD_STYLES

INF, NAN = math.inf, math.nan
METHODS = list(METHOD_STYLES)


def comparison(values):
    """Blocks of five tasks or more without a warning; the methods of the suite are the columns."""
    index = pd.Index([f"task_{number}" for number in range(len(values))], name="task")
    frame = pd.DataFrame(values, index=index, columns=METHODS[: len(values[0])])
    return ranking.Blocks(frame, "task", 0, len(values), one_scale=True)


def texts(figure):
    """All that is written in a figure and its axes, but for what marks the axes."""
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def crossbars(axes):
    return sorted(
        (min(line.get_xdata()), max(line.get_xdata())) for line in axes.get_lines() if line.get_linewidth() == 2.5
    )


def test_the_diagram_of_the_case_worked_by_hand(tmp_path):
    # Mean ranks 1.2, 2.1, 2.9, 3.8 and a critical difference of 2.098: only the first and the last are told apart.
    by_hand = comparison([[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 4, 3], [1, 2, 2, 3]])
    figure = critical_difference_figure(by_hand, path=tmp_path / "cd.png")
    (axes,) = figure.axes
    np.testing.assert_allclose(crossbars(axes), [(1.2, 2.9), (2.1, 3.8)])
    assert "CD = 2.10" in texts(figure)
    assert {text.split("  ")[0] for text in texts(figure)} >= {"btao", "btao_paper"}
    assert figure.get_supxlabel() == (
        "mean rank over 5 tasks, 1 is best; joined: closer than CD (Nemenyi, level 0.05)\nFriedman: χ² = 11.3, p = 0.01"
    )
    assert figure.get_suptitle() == ""
    colors = {line.get_color() for line in axes.get_lines()}
    assert colors >= {METHOD_STYLES[method].color for method in METHODS[:4]}
    written = pd.read_csv(tmp_path / "cd.csv")
    np.testing.assert_allclose(written["rank"], [1.2, 2.1, 2.9, 3.8])
    np.testing.assert_allclose(written["critical_difference"], 2.098, atol=1e-3)
    assert imread(tmp_path / "cd.png").std() > 0
    assert (tmp_path / "cd.pdf").read_bytes().startswith(b"%PDF")


def test_the_diagram_warns_of_few_tasks_and_of_blocks_left_out():
    values = comparison([[1, 2, 3], [1, 3, 2]]).values
    figure = critical_difference_figure(ranking.Blocks(values, "seed", 3, 1, one_scale=True))
    assert figure.get_suptitle() == "1 task only, fewer than 5: this says little about other tasks"
    assert "over 2 seeds of 1 task," in figure.get_supxlabel()
    assert figure.get_supxlabel().endswith("incomplete and left out: 3")


def test_a_crowded_diagram_stays_on_its_page():
    rng = np.random.default_rng(0)
    figure = critical_difference_figure(comparison(rng.random((5, 9)) + np.arange(9) * 0.2))
    FigureCanvasAgg(figure).draw()
    page = figure.bbox
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 10
    for number, box in enumerate(boxes):
        assert page.x0 <= box.x0 and box.x1 <= page.x1
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


def speed_ups(*rows):
    columns = ["task", "of", "over", "against", "target", "share", "speed_up", "low", "high"]
    return pd.DataFrame(
        [["currin", "btao", over, "time", 0.1, 0.5, *numbers] for over, *numbers in rows], columns=columns
    )


def test_speed_ups_are_drawn_with_what_is_infinite_at_the_edge(tmp_path):
    table = speed_ups(
        ("tpe", 2.0, 1.5, 4.0),
        ("smac", INF, 3.0, INF),
        ("bohb", 0.0, 0.0, 0.5),
        ("gp_bo", NAN, 0.0, INF),
        ("x", 1.0, NAN, NAN),
    )
    figure = speed_up_figure(table, path=tmp_path / "speed.png")
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert texts(figure) == ["2 [1.5, 4]", "∞ [3, ∞]", "0 [0, 0.5]", "neither reaches it [0, ∞]", "1"]
    left, right = axes.get_xlim()
    assert left < 0.5 and right > 4
    drawn = [(line.get_color(), line.get_marker(), list(np.atleast_1d(line.get_xdata()))) for line in axes.get_lines()]
    tpe, smac, bohb = (METHOD_STYLES[method] for method in ("tpe", "smac", "bohb"))
    assert (tpe.color, tpe.marker, [2.0]) in drawn
    assert (tpe.color, "None", [1.5, 4.0]) in drawn
    assert (smac.color, ">", [right]) in drawn and (smac.color, "None", [3.0, right]) in drawn
    assert (bohb.color, "<", [left]) in drawn
    hollow = {line.get_marker(): line.get_xdata()[0] for line in axes.get_lines() if line.get_fillstyle() == "none"}
    assert set(hollow) == {smac.marker, bohb.marker}
    assert left < hollow[bohb.marker] < 0.5 and 4 < hollow[smac.marker] < right
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["over tpe", "over smac", "over bohb", "over gp_bo", "over x"]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "speed.csv"), table)


def test_the_figure_says_where_the_target_is_from():
    table = speed_ups(("tpe", 2.0, 1.5, 4.0))
    said = speed_up_figure(table).get_supxlabel().replace("\n", " ")
    assert "reached at 50% of its cost, taken again in each resample" in said
    assert "takes it as known" in speed_up_figure(table.assign(share=NAN)).get_supxlabel()


def test_settings_of_one_task_are_told_from_tasks():
    few = dataclasses.replace(comparison([[1, 2, 3]] * 5), tasks=2)
    figure = critical_difference_figure(few)
    assert figure.get_supxlabel().startswith("mean rank over 5 settings of 2 tasks, 1 is best")
    assert figure.get_suptitle().startswith("2 tasks only")


def test_a_panel_a_task_with_the_same_rows():
    table = pd.concat([speed_ups(("tpe", 2.0, 1.5, 4.0)), speed_ups(("smac", 1.0, 0.5, 2.0)).assign(task="park")])
    figure = speed_up_figure(table)
    assert [axes.get_title() for axes in figure.axes] == ["currin", "park"]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    with pytest.raises(ValueError, match=r"at one share, got 0.5, 1.0"):
        speed_up_figure(table.assign(share=[0.5, 1.0]))
    with pytest.raises(ValueError, match="no speed-ups"):
        speed_up_figure(table.iloc[:0])


def test_no_cell_of_the_grid_is_empty():
    row = speed_ups(("tpe", 2.0, 1.5, 4.0))
    for count, axes in ((1, 1), (2, 2), (3, 3), (5, 6), (6, 6)):
        figure = speed_up_figure(pd.concat([row.assign(task=f"task_{number}") for number in range(count)]))
        assert len(figure.axes) == axes
        said = figure.get_supxlabel() if axes == count else figure.axes[-1].texts[0].get_text()
        assert said.replace("\n", " ").startswith("ratio of median costs to the target")


def test_comparisons_leave_the_settings_alone():
    before = {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}
    critical_difference_figure(comparison([[1, 2, 3]] * 5))
    speed_up_figure(speed_ups(("tpe", 2.0, 1.5, 4.0)))
    assert {name: matplotlib.rcParams[name] for name in before} == before


@pytest.mark.parametrize("blocks", [1, 2, 30])
def test_all_ranks_and_the_whole_ruler_are_within_the_diagram(blocks):
    figure = critical_difference_figure(comparison([[2, 2, 3, 4, 5, 6, 7, 8, 8]] * blocks))
    (axes,) = figure.axes
    left, right = axes.get_xlim()
    assert left <= 1 and right >= 9 and list(axes.get_xticks()) == list(range(1, 10))
    assert right >= 1 + ranking.critical_difference(9, blocks, 0.05)


def test_bars_of_the_diagram_do_not_depend_on_the_order_of_a_set():
    (axes,) = critical_difference_figure(comparison([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])).axes
    (bar,) = [line.get_xdata() for line in axes.get_lines() if len(line.get_xdata()) == 6]
    assert list(bar) == [1, 2, 3, 4, 5, 6]
