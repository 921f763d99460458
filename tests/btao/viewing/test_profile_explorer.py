"""btao.viewing.profile_explorer: the profile that is drawn for the state of its controls."""

import base64
import importlib

import matplotlib
import numpy as np
import pytest
from profiles import MODEL, SPACE, conditional, line, searched

from btao import BTAO
from btao.viewing.explorer import STATIC

matplotlib.use("agg")
VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(scope="module")
def optimizer():
    return searched()


def mean(explorer):
    """The line of the model, as drawn."""
    (ax,) = explorer.figure.axes
    return line(ax, MODEL)


def test_it_begins_at_the_best_configuration_and_sliders_move_the_slice(optimizer):
    explorer = optimizer.explore_profile("rate")
    best = optimizer.best.config
    assert {name: slider.value for name, slider in explorer.at.items()} == best
    assert (explorer.at["rate"].disabled, explorer.at["n"].disabled) == (True, False)
    before = explorer.png
    x, y = mean(explorer)
    np.testing.assert_allclose(y, optimizer.predict([best | {"rate": each} for each in x.tolist()])[0])
    explorer.at["n"].value, explorer.at["kind"].value = 9, "b"
    x, y = mean(explorer)
    moved = {"n": 9, "kind": "b"}
    np.testing.assert_allclose(y, optimizer.predict([moved | {"rate": each} for each in x.tolist()])[0])
    assert explorer.png != before


def test_other_parameters_are_chosen_and_a_second_one_makes_a_map(optimizer):
    explorer = optimizer.explore_profile()
    assert explorer.along.value == "rate"
    explorer.along.value = "n"
    assert mean(explorer)[0].tolist() == list(range(1, 10))
    explorer.across.value = "rate"
    ax = explorer.figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("n", "rate")
    assert [slider.disabled for slider in explorer.at.values()] == [True, True, False]
    explorer.across.value = "n"
    assert explorer.figure.axes[0].get_ylabel() == "value"
    assert optimizer.explore_profile("n", "kind").figure.axes[0].get_ylabel() == "kind"


def test_a_slider_stops_on_a_grid_and_at_the_best_value(optimizer):
    explorer = optimizer.explore_profile("kind")
    stops = [value for _, value in explorer.at["rate"].options]
    assert stops == sorted(stops) and (stops[0], stops[-1]) == (1e-4, 1e-1) and len(stops) <= 22
    assert optimizer.best.config["rate"] in stops
    assert [value for _, value in explorer.at["n"].options] == list(range(1, 10))


def test_a_profile_may_be_drawn_elsewhere_without_controls(optimizer):
    ax = optimizer.plot_profile("n", at={"kind": "b"})
    expected, _ = optimizer.predict([optimizer.best.config | {"kind": "b", "n": n} for n in range(1, 10)])
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), expected)
    with pytest.raises(ValueError, match=r"at must name parameters, of .*, got 'lr'"):
        optimizer.plot_profile("n", at={"lr": 1})
    with pytest.raises(ValueError, match=r"at: parameter 'kind': .*'c'"):
        optimizer.plot_profile("n", at={"kind": "c"})


def test_where_there_is_no_profile_a_sentence_says_why():
    optimizer = conditional()
    explorer = optimizer.explore_profile("momentum")
    assert len(mean(explorer)[0]) > 1
    explorer.at["kind"].value = "a"
    (text,) = explorer.figure.axes[0].texts
    assert text.get_text().startswith("names must be active there, {'kind': 'a', 'fixed': 3}, but 'momentum' is not")


def test_a_notebook_has_the_controls_and_the_picture_or_the_picture_alone(optimizer, monkeypatch):
    explorer = optimizer.explore_profile("n")
    monkeypatch.delenv(STATIC, raising=False)
    live = explorer._repr_mimebundle_()
    assert VIEW in live and base64.b64decode(live["image/png"]) == explorer.png
    monkeypatch.setenv(STATIC, "1")
    assert set(explorer._repr_mimebundle_()) == {"image/png", "text/plain"}


def test_what_cannot_be_explored_is_refused(optimizer, monkeypatch):
    with pytest.raises(ValueError, match=r"names must be of the parameters .*, got 'lr'"):
        optimizer.explore_profile("lr")
    with pytest.raises(RuntimeError, match="predict needs a successful light and heavy trial"):
        BTAO(SPACE).explore_profile()

    def without(name, *arguments):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", without)
    message = (
        r"explore_profile\(\) needs ipywidgets, which is not installed: pip install ipywidgets, or btao\[notebooks\]"
    )
    with pytest.raises(ImportError, match=message):
        optimizer.explore_profile()
