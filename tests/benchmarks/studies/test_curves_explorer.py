"""The curves of a study that are drawn for the state of their controls."""

import base64
import importlib

import pandas as pd
import pytest

from benchmarks.studies.study import Study
from support import frame, line, run


@pytest.fixture
def explorer():
    methods = ("btao", "gp_bo", "tpe")
    runs = [run("LHH", [1.0, 0.5, 0.4], method=name, hash=f"hash{name}", seed=s) for name in methods for s in (0, 1)]
    return Study(frame(*runs), ("currin",), methods).explore()


def visible(explorer):
    """The labels of the curves that are drawn, by the legend."""
    return [text.get_text().partition(" ")[0] for text in explorer.figure.legends[0].get_texts()]


def test_methods_are_switched_off_and_on_again(explorer):
    assert list(explorer.methods) == visible(explorer) == ["btao", "gp_bo", "tpe"]
    before = explorer.png
    explorer.methods["gp_bo"].value = False
    assert visible(explorer) == ["btao", "tpe"]
    (axes,) = explorer.figure.axes
    assert {one.get_label().partition(" ")[0] for one in axes.get_lines()} == {"btao", "tpe"}
    assert explorer.png != before
    explorer.methods["gp_bo"].value = True
    assert visible(explorer) == ["btao", "gp_bo", "tpe"]


def test_the_cost_is_chosen(explorer):
    (axes,) = explorer.figure.axes
    assert axes.get_xlabel() == "seconds of training" and line(axes, "btao (n = 2)") == ([3.0, 4.5], [0.5, 0.4])
    explorer.cost.value = "heavy_equivalents"
    (axes,) = explorer.figure.axes
    assert axes.get_xlabel() == "training iterations, in heavy runs"
    assert line(axes, "btao (n = 2)")[0] == pytest.approx([1.2, 2.2])
    assert [name for _, name in explorer.cost.options] == ["heavy_runs", "heavy_equivalents", "train_seconds", "time"]


def test_without_a_method_a_sentence_says_so(explorer):
    for box in explorer.methods.values():
        box.value = False
    assert [text.get_text() for text in explorer.figure.texts] == ["no method is switched on"]


def test_of_many_methods_those_that_are_left_on_have_color():
    names = [f"m{number}" for number in range(7)]
    runs = [run("HH", [0.5, 0.4 + number / 100], method=name, hash=name) for number, name in enumerate(names)]
    explorer = Study(frame(*runs), ("currin",), tuple(names)).explore("heavy_runs", measure="value")
    assert visible(explorer) == ["m0", "m1", "m2", "m3", "m4", "the"]  # the others
    explorer.methods["m0"].value = explorer.methods["m1"].value = False
    assert visible(explorer) == ["m2", "m3", "m4", "m5", "m6"]


def test_the_picture_is_what_a_page_without_a_kernel_shows(explorer):
    explorer.methods["tpe"].value = False
    assert base64.b64decode(explorer._repr_mimebundle_()["image/png"]) == explorer.png


def test_what_cannot_be_explored_is_refused(explorer, monkeypatch):
    with pytest.raises(ValueError, match=r"^no run of this study is done$"):
        Study(pd.DataFrame(), ("currin",), ("btao",)).explore()
    two = Study(frame(run("H", [0.5])), ("currin",), ("btao",))
    with pytest.raises(ValueError, match="cost must be one of"):
        two.explore("money")

    def without(name, *arguments):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(
        ImportError,
        match=r"explore\(\) needs ipywidgets, which is not installed: pip install ipywidgets, or btao\[notebooks\]",
    ):
        two.explore()
