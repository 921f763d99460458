"""Figures: what is drawn, what is written beside them, and what they leave alone."""

from __future__ import annotations

import itertools
import math
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread

from benchmarks import analysis, plots

NAN = math.nan
METHODS = ["random_search", "gp_bo", "btao", "btao_paper", "tpe", "smac", "smac_gp", "bohb", "hyperband"]


def run(values, *, method="btao", seed=0, task="currin", hash="aaaa1111", data=None, optimum=0.0):
    """The record of a run of heavy trials; nan for a failed one."""
    count = len(values)
    return pd.DataFrame(
        {
            "task": task,
            "method": method,
            "seed": seed,
            "hash": hash,
            "data": pd.Series([data] * count, dtype="str"),
            "optimum": NAN if optimum is None else optimum,
            "trial": np.arange(count),
            "heavy": True,
            "value": np.array(values, dtype=float),
            "status": ["failed" if math.isnan(value) else "ok" for value in values],
            "iterations": 5,
            "train_seconds": 1.5,
            "method_seconds": 0.5,
            "time": 2.0 * np.arange(1, count + 1),
            "truth": NAN,
        }
    )


def frame(*runs):
    return pd.concat(runs, ignore_index=True)


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def line(axes, label):
    """The points of the curve with this legend entry, those without a value left out."""
    (found,) = [one for one in axes.get_lines() if one.get_label() == label]
    x, y = np.asarray(found.get_xdata(), float), np.asarray(found.get_ydata(), float)
    return x[~np.isnan(y)].tolist(), y[~np.isnan(y)].tolist()


def test_styles_of_the_known_methods_are_fixed_and_told_apart_without_colour():
    styles = plots.method_styles(METHODS)
    assert styles == {name: plots.METHOD_STYLES[name] for name in plots.METHOD_STYLES}
    for aspect in ("color", "dashes", "marker"):
        assert len({getattr(style, aspect) for style in styles.values()}) == len(METHODS)
    assert plots.method_styles(["tpe"])["tpe"] == styles["tpe"]


def test_styles_of_other_methods_are_distinct_and_do_not_depend_on_the_company():
    names = [f"method_{number}" for number in range(40)]
    styles = plots.method_styles([*names, *METHODS])
    assert len(set(styles.values())) == len(styles)
    alone = {name: plots.method_styles([name])[name] for name in ("mine", "yours")}
    assert plots.method_styles(["yours", "mine", "btao"]) == {"btao": plots.METHOD_STYLES["btao"], **alone}
    with pytest.raises(ValueError, match="got 91"):
        plots.method_styles(map(str, range(91)))


def test_regret_figure_draws_steps_with_n_in_the_legend():
    trials = frame(
        run([4.0, 1.0, 0.5]),
        run([2.0, 1.0, 0.1], seed=1),
        run([8.0, 4.0], method="gp_bo", hash="bbbb2222"),
        run([4.0], method="gp_bo", hash="bbbb2222", seed=1),
    )
    (axes,) = plots.regret_figure(trials, "currin").axes
    assert legend(axes) == ["btao (n = 2)", "gp_bo (n = 1–2 of 2)"]
    assert line(axes, "btao (n = 2)") == ([1, 2, 3], [3.0, 1.0, 0.3])
    # In full only where both seeds are there, and nothing beyond the end of a seed.
    assert line(axes, "gp_bo (n = 1–2 of 2)") == ([1], [6.0])
    faint = [one for one in axes.get_lines() if one.get_alpha() == plots.FAINT]
    assert [list(one.get_ydata()) for one in faint] == [[6.0, 4.0]]
    assert all(one.get_drawstyle() == "steps-post" for one in axes.get_lines())
    assert axes.get_yscale() == "log"
    assert axes.get_xlabel() == "heavy evaluations"
    assert axes.get_title() == "currin"


def test_regret_figure_statistics_and_axes():
    trials = frame(*(run([2.0**seed], seed=seed) for seed in range(5)))
    (axes,) = plots.regret_figure(trials, "currin", statistic="median", against="time").axes
    assert line(axes, "btao (n = 5)") == ([2.0], [4.0])
    assert axes.get_xlabel().startswith("seconds")
    with pytest.raises(ValueError, match="statistic must be one of mean, median, got 'mode'"):
        plots.regret_figure(trials, "currin", statistic="mode")


def test_regret_figure_refuses_unknown_tasks_and_optima():
    trials = frame(run([1.0]), run([1.0], task="svm", optimum=None))
    with pytest.raises(ValueError, match="task 'park' has no trials in this frame; it has those of: currin, svm"):
        plots.regret_figure(trials, "park")
    with pytest.raises(ValueError, match="task 'svm' has no known optimum"):
        plots.regret_figure(trials, "svm")


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [1.0, 1e-17, 0.0], [1.0, 1e-5, 1e-16]])
def test_regrets_of_zero_are_drawn_at_the_floor_and_the_axis_says_so(tmp_path, values):
    figure = plots.regret_figure(frame(run(values), run(values, seed=1)), "currin", path=tmp_path / "zero.png")
    (axes,) = figure.axes
    assert axes.get_ylabel() == "simple regret (smaller than $10^{-9}$: drawn there)"
    _, y = line(axes, "btao (n = 2)")
    assert y == [max(value, plots.REGRET_FLOOR) for value in values]
    bottom, top = axes.get_ylim()
    assert 0 < bottom < plots.REGRET_FLOOR < top
    assert pd.read_csv(tmp_path / "zero.csv")["mean"].tolist() == values  # the numbers themselves are not floored


def test_an_axis_without_tiny_regrets_mentions_no_floor():
    (axes,) = plots.regret_figure(run([1.0, 0.1]), "currin").axes
    assert axes.get_ylabel() == "simple regret"


def test_figure_run_has_a_panel_a_task_and_names_the_data(tmp_path):
    trials = frame(
        run([3.0, 1.0]),
        run([0.4, 0.3], task="svm", data="mnist-5000", optimum=None),
        run([0.5, 0.2], task="svm", data="mnist-5000", optimum=None, seed=1),
    )
    figure, table = plots._curves_figure(trials, "heavy_runs", "mean")
    assert [axes.get_title() for axes in figure.axes] == ["currin", "svm, data: mnist-5000"]
    assert [axes.get_yscale() for axes in figure.axes] == ["log", "linear"]
    assert line(figure.axes[1], "btao (n = 2)") == ([1, 2], pytest.approx([0.45, 0.25]))

    path = plots.figure_run(trials, tmp_path / "new" / "run.png")
    assert path == tmp_path / "new" / "run.png"
    assert imread(path).std() > 0
    written = pd.read_csv(path.with_suffix(".csv"))
    np.testing.assert_allclose(written["mean"], table["mean"])
    assert set(zip(written["task"], written["measure"], strict=True)) == {("currin", "regret"), ("svm", "value")}


def test_figure_run_when_all_trials_failed(tmp_path):
    trials = frame(
        run([NAN, NAN]),
        run([NAN], task="svm", optimum=None),
        run([NAN], task="park", method="gp_bo"),
        run([1.0], task="park"),
    )
    plots.figure_run(trials, tmp_path / "run.png")
    figure, _ = plots._curves_figure(trials, "heavy_runs", "mean")
    currin, park, svm = figure.axes
    for axes in (currin, svm):
        assert [text.get_text() for text in axes.texts] == ["no heavy result"]
        assert legend(axes) == ["btao (no heavy result, seeds: 1)"]
    assert legend(park) == ["btao (n = 1)", "gp_bo (no heavy result, seeds: 1)"]


def test_two_hashes_of_a_method_share_a_colour_and_differ_in_marker():
    trials = frame(run([1.0]), run([2.0], hash="bbbb2222"))
    (axes,) = plots.regret_figure(trials, "currin").axes
    assert legend(axes) == ["btao [aaaa] (n = 1)", "btao [bbbb] (n = 1)"]
    one, two = axes.get_lines()
    assert one.get_color() == two.get_color()
    assert one.get_fillstyle() != two.get_fillstyle()


def test_figures_refuse_nothing_to_draw_a_wrong_optimum_and_a_wrong_ending(tmp_path):
    with pytest.raises(ValueError, match="no trials"):
        plots.figure_run(run([1.0]).iloc[:0], tmp_path / "run.png")
    with pytest.raises(ValueError, match="NEGATIVE REGRET"):
        plots.figure_run(run([-1.0]), tmp_path / "run.png")
    with pytest.raises(ValueError, match=r"path must end in \.png"):
        plots.figure_run(run([1.0]), tmp_path / "run.pdf")
    assert not list(tmp_path.iterdir())


def test_figures_leave_the_settings_alone_and_do_without_pyplot(tmp_path, monkeypatch):
    def settings():
        return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}

    before = settings()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it now fails
    plots.figure_run(run([1.0]), tmp_path / "run.png")
    assert settings() == before


def toy():
    x = np.linspace(-np.pi, 3 * np.pi, 50)
    y_light = np.sin(x)
    light = np.column_stack([x[::5], y_light[::5], [0, 0, 0, 0, 0, 0, 1, 1, 2, 2]])
    heavy = np.array([[0, -1, 0], [2, -0.5, 0], [4, -1.3, 0], [4.71, -1.5, 1], [-1.57, -1.5, 2], [4.72, -1.5, 3]])
    return {
        "x": x,
        "y_light": y_light,
        "y_heavy": 0.5 * y_light - 1,
        "mean": 0.5 * y_light - 0.9,
        "std": np.full(50, 0.1),
        "light_runs": light,
        "heavy_runs": heavy,
    }


def test_toy_figure_shows_the_runs_and_numbers_the_later_ones(tmp_path):
    figure = plots.toy_figure(**toy(), path=tmp_path / "toy.png")
    (axes,) = figure.axes
    assert line(axes, "light runs, by iteration")[0] == toy()["light_runs"][:, 0].tolist()
    assert line(axes, "initial heavy runs") == ([0.0, 2.0, 4.0], [-1.0, -0.5, -1.3])
    assert line(axes, "later heavy runs, by iteration")[0] == [4.71, -1.57, 4.72]
    # The first and the third nearly coincide and share one place.
    numbers = [(text.get_text(), text.xy[0]) for text in axes.texts]
    assert numbers[-2:] == [("1, 3", 4.71), ("2", -1.57)]
    light = toy()["light_runs"]
    assert numbers[:-2] == [(f"{iteration:.0f}", x) for x, _, iteration in light[6:]]

    table = pd.read_csv(tmp_path / "toy.csv")
    assert table.groupby("series").size().to_dict() == {
        "y_light": 50, "y_heavy": 50, "mean": 50, "light run": 10, "initial heavy run": 3, "later heavy run": 3,
    }  # fmt: skip
    band = table[table["series"] == "mean"]
    np.testing.assert_allclose(band["high"] - band["low"], 2 * 1.96 * 0.1)


def test_toy_figure_without_later_runs():
    start = {name: runs[runs[:, 2] == 0] for name, runs in toy().items() if name.endswith("runs")}
    (axes,) = plots.toy_figure(**{**toy(), **start}).axes
    assert len(axes.texts) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mean": np.zeros(3)}, r"mean must have one value for each of the 50 x, got the shape \(3,\)"),
        ({"light_runs": np.zeros(4)}, r"light_runs must have the shape \(k, 3\), got \(4,\)"),
    ],
)
def test_toy_figure_refuses_arrays_that_do_not_fit(wrong, message):
    with pytest.raises(ValueError, match=message):
        plots.toy_figure(**{**toy(), **wrong})


def test_no_text_of_a_crowded_figure_is_cut_off_or_overlaps_the_legend():
    trials = frame(
        *(
            run(np.geomspace(1, 1e-3 * (number + 1), 8), method=method, hash=f"{number}aaa", seed=seed, task=task)
            for (number, method), seed, task in itertools.product(
                enumerate([*METHODS, "another_method"]), range(2), ["currin", "park"]
            )
        )
    )
    figure, _ = plots._curves_figure(trials, "heavy_runs", "mean")
    FigureCanvasAgg(figure).draw()
    page = figure.bbox
    legends = [axes.get_legend().get_window_extent() for axes in figure.axes]
    caption = figure._supxlabel.get_window_extent()
    for axes, box in zip(figure.axes, legends, strict=True):
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0
        assert not box.overlaps(axes.xaxis.label.get_window_extent())
        assert not box.overlaps(caption)
        assert axes.bbox.width > 0.25 * page.width
    assert not legends[0].overlaps(legends[1])


def test_the_figure_draws_what_the_analysis_says():
    rng = np.random.default_rng(5)
    trials = frame(*(run(rng.random(6), seed=seed) for seed in range(6)))
    expected = analysis.aggregate(analysis.incumbents(trials))
    (axes,) = plots.regret_figure(trials, "currin").axes
    assert line(axes, "btao (n = 6)")[1] == expected["mean"].tolist()
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices[:, 1]
    assert corners.min() == expected["low"].min()
    assert corners.max() == expected["high"].max()
