"""btao.viewing.plots and html: what is drawn, and where."""

import importlib

import matplotlib
import matplotlib.figure
import numpy as np
import pytest
from profiles import MODEL, SPACE, conditional, line, searched

from btao import BTAO, Categorical, Real, Space
from optimizer_runs import FREE, play

matplotlib.use("agg")


@pytest.fixture(scope="module")
def optimizer():
    optimizer = searched()
    optimizer.tell(optimizer.ask(), error="no")
    return optimizer


def values(optimizer, level):
    return [trial for trial in optimizer.trials if trial.level == level and trial.status == "ok"]


def test_a_profile_of_one_parameter_has_mean_band_and_data_of_both_levels(optimizer):
    ax = optimizer.plot_profile("rate")
    x, mean = line(ax, MODEL)
    assert (x[0], x[-1], ax.get_xscale(), ax.get_xlabel()) == (1e-4, 1e-1, "log", "rate")
    best = optimizer.best.config
    expected, std = optimizer.predict([best | {"rate": each} for each in x.tolist()])
    np.testing.assert_allclose(mean, expected)
    band = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    assert band[:, 1].max() == pytest.approx((expected + 2 * std).max())
    for level in ("light", "heavy"):
        assert line(ax, level)[1].tolist() == [trial.value for trial in values(optimizer, level)]


def test_categories_stand_side_by_side_with_their_names(optimizer):
    ax = optimizer.plot_profile("kind")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b"]
    assert line(ax, "light")[0].tolist() == ["ab".index(t.config["kind"]) for t in values(optimizer, "light")]


def test_a_profile_of_two_parameters_is_an_image_with_the_trials_in_their_places(optimizer):
    ax = optimizer.plot_profile("n", "rate")
    image = ax.collections[0].get_array()
    x = np.arange(1, 10)
    best = optimizer.best.config
    expected, _ = optimizer.predict([best | {"n": int(n), "rate": 1e-4} for n in x])
    np.testing.assert_allclose(np.asarray(image).reshape(-1, 9)[0], expected)
    trials = values(optimizer, "heavy")
    np.testing.assert_allclose(line(ax, "heavy"), np.transpose([[t.config["n"], t.config["rate"]] for t in trials]))


def test_the_history_shows_every_trial_and_the_best_so_far(optimizer):
    figure = matplotlib.figure.Figure()
    ax = optimizer.plot_history(ax=figure.add_subplot())
    heavy = values(optimizer, "heavy")
    numbers, best = line(ax, "best heavy")
    assert best[-1] == optimizer.best.value and numbers[-1] == 10
    np.testing.assert_array_equal(best[:-1], np.minimum.accumulate([trial.value for trial in heavy]))
    assert len(line(ax, "light")[0]) + len(heavy) + len(line(ax, "failed")[0]) // 2 == 11
    empty = BTAO(SPACE).plot_history(ax=figure.add_subplot())
    assert line(empty, "heavy")[0].size == 0


def test_what_cannot_be_drawn_is_refused(optimizer, monkeypatch):
    with pytest.raises(RuntimeError, match="predict needs a successful light and heavy trial"):
        BTAO(SPACE).plot_profile("rate")
    for names in ((), ("rate", "rate"), ("rate", "n", "kind")):
        with pytest.raises(ValueError, match="names must be one parameter or two different ones"):
            optimizer.plot_profile(*names)
    with pytest.raises(ValueError, match=r"names must be of the parameters .*, got 'lr'"):
        optimizer.plot_profile("lr")

    def without(name, *arguments):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ImportError, match=r"plot_history\(\) needs matplotlib, which .*: pip install matplotlib, "):
        optimizer.plot_history()


def test_a_notebook_shows_a_table(optimizer):
    page = optimizer._repr_html_()
    assert "<td>joint</td>" in page and "<td>minimize</td>" in page
    assert f"{optimizer.best.value:.6g} (trial {optimizer.best.number})" in page
    assert "1 failed, 0 pending" in page and "best rate" in page
    assert "best value" not in BTAO(Space({"<x>": Real(0, 1)}))._repr_html_()


def test_where_parameters_are_conditional_only_the_configurations_that_have_them_are_drawn():
    optimizer = conditional()
    assert optimizer.best.config["kind"] == "b"
    ax = optimizer.plot_profile("momentum")
    with_it = [trial.value for trial in values(optimizer, "light") if "momentum" in trial.config]
    assert 0 < len(with_it) < len(values(optimizer, "light"))
    np.testing.assert_array_equal(line(ax, "light")[1], with_it)
    assert optimizer.plot_profile("kind", "momentum").get_ylabel() == "momentum"
    frame = optimizer.trials_frame()
    assert frame.loc[frame["kind"] == "a", "momentum"].isna().all()
    assert optimizer.importance()["fixed"] == 0

    other = BTAO(optimizer.space, n_init=4, seed=2, **FREE)
    play(other, 16, lambda config, level: 0.5 * (config["kind"] == "b"))
    with pytest.raises(ValueError, match=r"names must be active in the best configuration, .* but 'momentum' is not"):
        other.plot_profile("momentum")


def test_where_the_constraint_refuses_nothing_is_drawn():
    space = Space({"x": Real(0, 1), "y": Real(0, 1)}, constraint=lambda config: config["x"] + config["y"] <= 1.2)
    optimizer = BTAO(space, n_init=4, seed=2, **FREE)
    play(optimizer, 16, lambda config, level: (config["x"] - 0.7) ** 2 + (config["y"] - 0.4) ** 2)
    x, mean = line(optimizer.plot_profile("x"), MODEL)
    allowed = x + optimizer.best.config["y"] <= 1.2
    assert 0 < allowed.sum() < len(x)
    np.testing.assert_array_equal(np.isfinite(mean), allowed)
    assert optimizer.plot_profile("x", "y").get_ylabel() == "y"


def test_true_and_1_have_places_of_their_own():
    space = Space({"kind": Categorical([1, True, "z"])})
    optimizer = BTAO(space, n_init=3, seed=0, **FREE)
    play(optimizer, 6, lambda config, level: {int: 0.1, bool: 0.2, str: 0.3}[type(config["kind"])])
    places, told = line(optimizer.plot_profile("kind"), "light")
    assert dict(zip(places, told, strict=True)) == {0: 0.1, 1: 0.2, 2: 0.3}
