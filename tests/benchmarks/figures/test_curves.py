"""Figures of curves: what is drawn, what is written beside them, and what they leave alone."""

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

import support
from benchmarks.analysis import aggregate as analysis
from benchmarks.analysis.incumbents import incumbents, keys
from benchmarks.figures import curves as plots
from benchmarks.figures.style import METHOD_STYLES
from layout import faults, text_boxes
from support import frame, line

NAN = math.nan


def run(values, **identity):
    """The record of a run of heavy trials; nan for a failed one."""
    return support.run("H" * len(values), values, **identity)


def legend(axes):
    (one,) = axes.figure.legends
    return [text.get_text() for text in one.get_texts()]


def names(axes):
    """What is written at the ends of curves, from below."""
    return [text.get_text() for text in sorted(axes.texts, key=lambda text: text.xy[1])]


def test_regret_figure_draws_steps_with_n_in_the_legend():
    trials = frame(
        run([4.0, 1.0, 0.5]),
        run([2.0, 1.0, 0.1], seed=1),
        run([8.0, 4.0], method="gp_bo", hash="bbbb2222"),
        run([4.0], method="gp_bo", hash="bbbb2222", seed=1),
    )
    (axes,) = plots.regret_figure(trials, "currin").axes
    assert legend(axes) == ["btao (n = 2)", "gp_bo (n = 2)"]
    assert line(axes, "btao (n = 2)") == ([1, 2, 3], [3.0, 1.0, 0.3])
    # In full only where both seeds run: then the one that has ended keeps its value.
    assert line(axes, "gp_bo (n = 2)") == ([1], [6.0])
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
    with pytest.raises(ValueError, match="statistic must be one of mean, median, iqm, got 'mode'"):
        plots.regret_figure(trials, "currin", statistic="mode")


def test_regret_figure_refuses_unknown_tasks_and_optima():
    trials = frame(run([1.0]), run([1.0], task="svm", optimum=None))
    with pytest.raises(ValueError, match="task 'park' has no trials in this frame; it has those of: currin, svm"):
        plots.regret_figure(trials, "park")
    with pytest.raises(ValueError, match="task 'svm' has no known optimum"):
        plots.regret_figure(trials, "svm")


def marks(axis):
    axis.axes.figure.draw_without_rendering()
    return [tick.label1.get_text() for tick in axis.get_major_ticks()]


@pytest.mark.parametrize(
    ("values", "place"), [([0.0, 0.0, 0.0], 1e-9), ([1.0, 1e-17, 0.0], 0.1), ([1.0, 0.002, 1e-5, 1e-16], 1e-6)]
)
def test_regrets_of_rounding_are_drawn_a_decade_below_the_others_and_the_axis_says_so(tmp_path, values, place):
    figure = plots.regret_figure(frame(run(values), run(values, seed=1)), "currin", path=tmp_path / "zero.png")
    (axes,) = figure.axes
    _, y = line(axes, "btao (n = 2)")
    assert y == pytest.approx([value if value > 1e-9 else place for value in values])
    bottom, top = axes.get_ylim()
    assert 0 < bottom < place < top
    assert "< 10⁻⁹" in marks(axes.yaxis)
    assert pd.read_csv(tmp_path / "zero.csv")["mean"].tolist() == values  # the numbers themselves are not floored


def test_an_axis_without_tiny_regrets_is_not_broken():
    (axes,) = plots.regret_figure(run([1.0, 0.1]), "currin").axes
    assert axes.get_ylabel() == "simple regret"
    assert not any("<" in mark for mark in marks(axes.yaxis))
    assert [one.get_label() for one in axes.get_lines()] == ["btao (n = 1)"]


def test_figure_run_has_a_panel_a_task_and_names_the_data(tmp_path):
    trials = frame(
        run([3.0, 1.0]),
        run([0.4, 0.3], task="svm", data="mnist-5000", optimum=None),
        run([0.5, 0.2], task="svm", data="mnist-5000", optimum=None, seed=1),
    )
    figure = plots.curves_figure(trials)
    assert [axes.get_title() for axes in figure.axes] == ["currin", "svm on mnist-5000"]
    assert [axes.get_yscale() for axes in figure.axes] == ["log", "linear"]
    assert line(figure.axes[1], "btao (n = 2)") == ([1, 2], pytest.approx([0.45, 0.25]))

    path = plots.figure_run(trials, tmp_path / "new" / "run.png")
    assert path == tmp_path / "new" / "run.png"
    assert imread(path).std() > 0
    assert {each.suffix for each in path.parent.iterdir()} == {".png", ".pdf", ".csv"}
    written = pd.read_csv(path.with_suffix(".csv"))
    heavy = written[written["against"] == "heavy_runs"]
    np.testing.assert_allclose(heavy["mean"], [3.0, 1.0, 0.45, 0.25])
    assert set(zip(written["task"], written["measure"], strict=True)) == {("currin", "regret"), ("svm", "value")}


def test_a_row_a_task_and_a_column_an_axis(tmp_path):
    trials = frame(
        support.run("LHH", [0.0, 4.0, 2.0]),
        support.run("LHH", [0.0, 2.0, 2.0], seed=1),
        run([0.4, 0.3], task="svm", optimum=None),
    )
    figure = plots.curves_figure(trials, plots.COSTS, path=tmp_path / "costs.png")
    assert [axes.get_title() for axes in figure.axes] == ["currin", "currin", "svm", "svm"]
    seconds, equivalents = figure.axes[:2]
    assert seconds.get_xlabel() == "seconds of training"
    assert line(seconds, "btao (n = 2)") == ([3.0, 4.5], [3.0, 2.0])
    assert equivalents.get_xlabel() == "training iterations, in heavy runs"
    assert line(equivalents, "btao (n = 2)") == ([1.2, 2.2], [3.0, 2.0])
    written = pd.read_csv(tmp_path / "costs.csv")
    assert written.groupby(["task", "against"]).size().to_dict() == {
        ("currin", "heavy_equivalents"): 3, ("currin", "train_seconds"): 3,
        ("svm", "heavy_equivalents"): 2, ("svm", "train_seconds"): 2,
    }  # fmt: skip
    assert {path.suffix for path in tmp_path.iterdir()} == {".png", ".pdf", ".csv"}


def test_values_that_fall_to_a_third_have_a_logarithmic_axis():
    for values, scale in (
        ([0.9, 0.05], "log"),
        ([0.9, 0.25], "log"),
        ([0.9, 0.31], "linear"),
        ([0.9, 0.0], "linear"),
        ([5.0, -1.0], "linear"),
    ):
        (axes,) = plots.curves_figure(run(values, optimum=None)).axes
        assert axes.get_yscale() == scale


def test_markers_of_curves_that_coincide_lie_apart():
    trials = frame(*(run(np.ones(60), method=method) for method in ("btao", "tpe")))
    (axes,) = plots.curves_figure(trials).axes
    assert [one.get_markevery() for one in axes.get_lines()] == [(0, 6), (1, 6)]


def test_figure_run_when_all_trials_failed(tmp_path):
    trials = frame(
        run([NAN, NAN]),
        run([NAN], task="svm", optimum=None),
        run([NAN], task="park", method="gp_bo"),
        run([1.0], task="park"),
    )
    plots.figure_run(trials, tmp_path / "run.png")
    figure = plots.curves_figure(trials)
    currin, park, svm = figure.axes
    for axes in (currin, svm):
        assert [text.get_text() for text in axes.texts] == ["no heavy result"]
    assert legend(park) == ["btao (n = 0–1 of 1)", "gp_bo (no heavy result, seeds: 1)"]


def test_two_hashes_of_a_method_share_a_color_and_differ_in_marker():
    trials = frame(run([1.0]), run([2.0], hash="bbbb2222"))
    (axes,) = plots.regret_figure(trials, "currin").axes
    assert legend(axes) == ["btao [aaaa] (n = 1)", "btao [bbbb] (n = 1)"]
    one, two = axes.get_lines()
    assert one.get_color() == two.get_color()
    assert one.get_fillstyle() != two.get_fillstyle()


def test_labels_are_shown_as_given_and_in_their_order():
    trials = frame(run([1.0]), run([2.0], method="tpe"), run([3.0], method="gp_bo"))
    (axes,) = plots.curves_figure(trials).axes
    assert legend(axes) == ["btao (n = 1)", "gp_bo (n = 1)", "tpe (n = 1)"]
    labels = {"tpe-aaaa1111": "TPE", "mine-aaaa1111": "mine", "btao-aaaa1111": "btao", "gp_bo-aaaa1111": "gp_bo"}
    (axes,) = plots.curves_figure(trials, labels=labels).axes
    assert legend(axes) == ["TPE (n = 1)", "btao (n = 1)", "gp_bo (n = 1)"]
    assert line(axes, "TPE (n = 1)") == ([1], [2.0])


def test_figures_refuse_nothing_to_draw_a_wrong_optimum_and_a_wrong_ending(tmp_path):
    with pytest.raises(ValueError, match="no trials"):
        plots.figure_run(run([1.0]).iloc[:0], tmp_path / "run.png")
    with pytest.raises(ValueError, match="NEGATIVE REGRET"):
        plots.figure_run(run([-1.0]), tmp_path / "run.png")
    with pytest.raises(ValueError, match=r"path must end in \.png or \.pdf"):
        plots.figure_run(run([1.0]), tmp_path / "run.svg")
    assert not list(tmp_path.iterdir())


def test_figures_leave_the_settings_alone_and_do_without_pyplot(tmp_path, monkeypatch):
    def settings():
        return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}

    before = settings()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it now fails
    plots.figure_run(run([1.0]), tmp_path / "run.png")
    assert settings() == before


def crowd(hashes=("aaaa",), methods=(*METHOD_STYLES, "another_method"), tasks=("currin", "park")):
    """Runs of many methods, each of which ends worse than the one before."""
    return frame(
        *(
            run(np.geomspace(1, 1e-3 * 2**number, 8 - seed), method=method, hash=hash, seed=seed, task=task)
            for (number, method), hash, seed, task in itertools.product(enumerate(methods), hashes, range(2), tasks)
        )
    )


@pytest.mark.parametrize("hashes", [["aaaa"], ["aaaa", "bbbb"]])
def test_no_text_of_a_crowded_figure_is_cut_off_or_overlaps_the_legend(hashes):
    figure = plots.curves_figure(crowd(hashes))
    FigureCanvasAgg(figure).draw()
    page = figure.bbox
    (shown,) = figure.legends
    box = shown.get_window_extent()
    caption = figure._supxlabel.get_window_extent()
    assert page.x0 <= box.x0 and box.x1 <= page.x1 and not box.overlaps(caption)
    assert page.x0 <= caption.x0 and caption.x1 <= page.x1 and page.y0 <= caption.y0
    for axes in figure.axes:
        ends = [text.get_window_extent() for text in axes.texts]
        assert all(end.x1 <= page.x1 for end in ends)
        assert not any(one.overlaps(other) for one, other in itertools.combinations(ends, 2))
        assert not box.overlaps(axes.xaxis.label.get_window_extent())
        assert axes.yaxis.label.get_window_extent().y0 >= page.y0
        assert axes.bbox.width > 0.25 * page.width


def test_of_many_methods_the_named_one_and_the_best_four_have_a_color_and_a_band():
    methods = ["gp_bo", "tpe", "smac", "smac_gp", "bohb", "hyperband", "btao"]  # the best first
    figure = plots.curves_figure(crowd(methods=methods), "heavy_equivalents")
    (axes, _) = figure.axes
    assert legend(axes) == [*(f"{name} (n = 2)" for name in ("btao", "gp_bo", "tpe", "smac", "smac_gp")), "the others"]
    gray = [one for one in axes.get_lines() if one.get_color() == plots.GRAY.color]
    assert {one.get_label() for one in gray if not one.get_label().startswith("_")} == {
        "bohb (n = 2)", "hyperband (n = 2)"
    }  # fmt: skip
    assert len(axes.collections) == 5
    assert figure.get_supxlabel().replace("\n", " ").endswith("gray, without intervals: bohb, hyperband")
    figure = plots.curves_figure(crowd(methods=methods), first="hyperband")
    assert legend(figure.axes[0])[:5] == [
        f"{name} (n = 2)" for name in ("gp_bo", "tpe", "smac", "smac_gp", "hyperband")
    ]


def test_the_methods_in_focus_may_be_chosen():
    for focus in (["smac"], "smac"):
        (axes,) = plots.curves_figure(crowd(methods=["btao", "tpe", "smac"], tasks=["park"]), focus=focus).axes
        assert legend(axes) == ["smac (n = 2)", "the others"]
    with pytest.raises(ValueError, match="focus: unknown method 'smcs': did you mean 'smac'"):
        plots.curves_figure(crowd(), focus=["smcs"])
    with pytest.raises(ValueError, match="focus must name at most 5 curves, got 6: btao, btao_paper"):
        plots.curves_figure(crowd(), focus=list(METHOD_STYLES)[:6])
    with pytest.raises(ValueError, match="first: unknown method 'mine': choose one of"):
        plots.curves_figure(run([1.0]), first="mine")


def test_names_stand_at_the_ends_of_curves_where_there_is_room():
    low, close, high = run([4.0, 1.0]), run([4.0, 1.001], method="tpe"), run([4.0, 3.0], method="smac")
    (axes,) = plots.curves_figure(frame(low, close, high), measure="value").axes
    assert names(axes) == ["btao", "tpe", "smac"]
    alike = [run([4.0, 1.0], method=method) for method in ("gp_bo", "bohb")]
    (axes,) = plots.curves_figure(frame(low, close, high, *alike), measure="value").axes
    assert len(names(axes)) == 3  # of four that end at one place the legend names the rest
    assert faults(axes.figure) == []
    short = run([4.0], method="smac")
    (axes,) = plots.curves_figure(frame(run([4.0, 1.0]), short), measure="value").axes
    assert names(axes) == ["btao"]


def test_names_are_at_most_a_line_from_the_ends_of_their_curves_and_above_the_axis():
    """Two that end at one place have theirs on either side of it, one at the lowest mark clear of the axis."""
    figure = plots.curves_figure(
        frame(run([4.0, 1e-12]), run([4.0, 1.0], method="tpe"), run([4.0, 1.0], method="bohb"))
    )
    (axes,) = figure.axes
    boxes = dict(text_boxes(figure))
    end = axes.transData.transform((2, 1.0))[1]
    assert names(axes) == ["btao", "tpe", "bohb"]
    assert boxes["tpe"].y1 <= end + 1 and end - 1 <= boxes["bohb"].y0
    assert boxes["tpe"].x0 == boxes["bohb"].x0 == boxes["btao"].x0
    assert boxes["btao"].y0 > axes.bbox.y0 - 1


def test_the_figure_draws_what_the_analysis_says():
    rng = np.random.default_rng(5)
    trials = frame(*(run(rng.random(6), seed=seed) for seed in range(6)))
    expected = analysis.aggregate(incumbents(trials))
    (axes,) = plots.regret_figure(trials, "currin").axes
    assert line(axes, "btao (n = 6)")[1] == expected["mean"].tolist()
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices[:, 1]
    assert corners.min() == expected["low"].min()
    assert corners.max() == expected["high"].max()


def test_values_are_drawn_where_they_are_asked_for_though_the_optimum_is_known():
    trials = frame(run([4.0, 1.5]))
    (axes,) = plots.curves_figure(trials, measure="value").axes
    assert line(axes, "btao (n = 1)") == ([1, 2], [4.0, 1.5])
    assert axes.get_ylabel() == "best value so far (minimized)"
    with pytest.raises(ValueError, match="measure must be one of value, regret, test_error, got 'score'"):
        plots.curves_figure(trials, measure="score")


def test_what_is_recommended_is_drawn_apart_from_the_incumbent():
    trials = frame(run([4.0, 1.0, 2.0]), run([3.0, 5.0, 1.0], seed=1))
    trials["recommended"] = pd.array([0, 0, 1, None, None, None], "Int64")
    (axes,) = plots.curves_figure(trials, measure="value", by="recommended").axes
    assert axes.get_ylabel() == "value of what is recommended\n(minimized)"  # longer than the panel is high
    assert line(axes, "btao (n = 2)") == ([1, 2, 3], [3.5, 3.5, 1.0])
    (axes,) = plots.curves_figure(trials, by="recommended").axes
    assert axes.get_ylabel() == "simple regret of what is recommended"
    with pytest.raises(ValueError, match="by must be one of value, recommended, got 'best'"):
        plots.curves_figure(trials, by="best")


def test_a_curve_goes_on_to_the_end_of_its_last_seed_faint_from_the_end_of_the_first():
    trials = frame(run([4.0, 2.0, 1.0]), run([4.0, 4.0], seed=1), run([1.0], seed=2))
    (axes,) = plots.regret_figure(trials, "currin").axes
    assert line(axes, "btao (n = 3)") == ([1], [3.0])
    (faint,) = [one for one in axes.get_lines() if one.get_alpha() == plots.FAINT]
    assert (list(faint.get_xdata()), list(faint.get_ydata())) == ([1, 2, 3], [3.0, pytest.approx(7 / 3), 2.0])


def test_without_tails_a_curve_ends_where_its_first_seed_does(tmp_path):
    trials = frame(run([4.0, 3.0, 2.0]), run([2.0], seed=1), run([1.0, 1.0], method="gp_bo", hash="bbbb2222"))
    figure = plots.curves_figure(trials, tails=False, path=tmp_path / "curves.png")
    (axes,) = figure.axes
    assert line(axes, "btao (n = 2)") == ([1], [3.0]) and line(axes, "gp_bo (n = 1)") == ([1, 2], [1.0, 1.0])
    assert [one for one in axes.get_lines() if one.get_alpha() == plots.FAINT] == []
    caption = figure._supxlabel.get_text().replace("\n", " ")
    assert "a curve ends where the first of its seeds does" in caption and "faint" not in caption
    assert pd.read_csv(tmp_path / "curves.csv")["ended"].tolist() == [0, 0, 0]


def test_a_curve_begins_where_all_its_seeds_have_a_result():
    """Seed 0 has two heavy runs of a second, seed 1 its first after eight; seed 2 never has one."""
    one, other = run([3.0, 1.0]), run([2.0, 0.5], seed=1)
    trials = frame(one.assign(train_seconds=1.0), other.assign(train_seconds=[8.0, 9.0]), run([NAN], seed=2))
    (axes,) = plots.curves_figure(trials, "train_seconds", measure="value").axes
    assert legend(axes) == ["btao (n = 2 of 3)"]
    (curve,) = [one for one in axes.get_lines() if one.get_alpha() == plots.FAINT]
    assert (list(curve.get_xdata()), list(curve.get_ydata())) == ([8, 17], [1.5, 0.75])


def test_the_marks_of_small_fractions_of_a_second_do_not_run_together():
    trials = frame(*(run([3.0, 1.0, 0.5], seed=seed).assign(train_seconds=1e-4) for seed in range(5)))
    figure = plots.curves_figure(trials, ["train_seconds", "heavy_equivalents"])
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    boxes = [label.get_window_extent(renderer) for label in figure.axes[0].get_xticklabels()]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_the_whole_caption_is_on_the_page_of_a_small_figure():
    trials = frame(*(run([4.0, 3.0, 2.0, 1.0, 0.5][: 3 + seed], seed=seed) for seed in range(3)))
    figure = plots.curves_figure(trials)
    FigureCanvasAgg(figure).draw()
    caption = figure._supxlabel
    assert "faint where some seeds have ended" in caption.get_text().replace("\n", " ")
    box = caption.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.width and box.y0 >= 0
    assert not box.overlaps(figure.legends[0].get_window_extent())


def test_a_figure_fits_a_journal_s_column_with_its_font_a_title_and_without_a_legend(tmp_path):
    trials = crowd(methods=["btao", "tpe"])
    figure = plots.curves_figure(trials, column="icml", font="STIXGeneral", title="Ours", path=tmp_path / "x.pdf")
    assert figure.get_figwidth() == 3.25
    assert {path.name for path in tmp_path.iterdir()} == {"x.png", "x.pdf", "x.csv"}
    assert b"/Type3" not in (tmp_path / "x.pdf").read_bytes()
    assert figure.get_suptitle() == "Ours" and legend(figure.axes[0]) == ["btao (n = 2)", "tpe (n = 2)"]
    assert figure.axes[0].xaxis.label.get_fontname() == "STIXGeneral"
    assert figure.axes[0].xaxis.label.get_fontsize() == 7
    assert plots.curves_figure(trials, column=4.0, legend=False).legends == []
    for wrong in ("icm", 0.3):
        with pytest.raises(ValueError, match=r"column must be a width of at least 2\.6 inches or one of icml, "):
            plots.curves_figure(trials, column=wrong)
    with pytest.raises(ValueError, match="font must be a family that matplotlib finds, got 'No Such'"):
        plots.curves_figure(trials, font="No Such")


@pytest.mark.parametrize(
    ("column", "against", "shape"),
    [
        ("icml", ["train_seconds", "heavy_equivalents"], (6, 1)),
        ("icml_wide", "heavy_equivalents", (2, 2)),
        ("icml_wide", ["heavy_runs", "train_seconds", "heavy_equivalents"], (9, 1)),  # a row is of one task
        (9.0, "train_seconds", (1, 3)),
    ],
)
def test_all_words_can_be_read_in_a_column(column, against, shape):
    """Of long names, at the ends of curves and in the legend, and of ranges with long marks."""
    names = ["btao_paper", "random_search", "a_method_of_a_user", "smac_gp", "tpe", "bohb"]
    tasks = ["park", "fcn", "a_task_of_a_user_with_a_long_name_and_many_words"]
    trials = crowd(methods=names, tasks=tasks).assign(train_seconds=1234.5)
    trials["data"] = trials["task"].map({"fcn": "cifar10 (table fcn-cifar10-n5000-paper)"})
    figure = plots.curves_figure(trials, against, column=column, title="What nine methods reach on three tasks " * 2)
    assert faults(figure) == []
    grid = figure.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == shape
    assert min(axes.get_position().width * figure.get_figwidth() for axes in figure.axes) > 1.2
    legend, page = figure.legends[0].get_window_extent(), figure.bbox
    assert legend.x0 >= 0 and legend.x1 <= page.x1 and legend.height < 0.2 * page.height


def test_the_test_error_of_the_incumbent_is_drawn_where_it_was_measured():
    trials = run([0.5, 0.3, 0.2], optimum=None).assign(test_error=[0.6, 0.4, 0.5])
    (axes,) = plots.curves_figure(trials, measure="test_error").axes
    assert line(axes, "btao (n = 1)") == ([1, 2, 3], [0.6, 0.4, 0.5])
    assert axes.get_ylabel() == "test error of the incumbent"
    beside = frame(trials, run([0.5], task="park", method="gp_bo"))  # which has heavy results, but no test error
    _, park = plots.curves_figure(beside, measure="test_error").axes
    assert [text.get_text() for text in park.texts] == ["no test error on record"]
    assert legend(park) == ["btao (n = 1)", "gp_bo (no test error on record, seeds: 1)"]
    with pytest.raises(ValueError, match="got 'test_error': no heavy result has one on record"):
        plots.curves_figure(run([0.5]), measure="test_error")


def test_runs_that_end_by_seconds_are_drawn_by_seconds_with_their_test_errors(tmp_path):
    trials = run([0.5, 0.3, 0.2]).assign(train_budget=4.0, test_error=[0.6, 0.4, 0.5])  # the third is too late
    plots.figure_run(trials, tmp_path / "run.png")
    drawn = pd.read_csv(tmp_path / "run.csv").groupby(["against", "measure"], sort=False)["mean"].agg(list)
    assert drawn.index.tolist() == [
        ("train_seconds", "regret"),
        ("heavy_runs", "regret"),
        ("train_seconds", "test_error"),
    ]
    assert drawn["train_seconds", "regret"] == [0.5, 0.3, 0.3] and drawn["train_seconds", "test_error"][-1] == 0.4
    for untested in (trials.drop(columns="test_error"), trials.assign(test_error=[NAN, NAN, 0.5])):
        plots.figure_run(untested, tmp_path / "run.png")
        assert set(pd.read_csv(tmp_path / "run.csv")["measure"]) == {"regret"}


def test_each_axis_can_have_a_measure_of_its_own():
    trials = run([4.0, 1.5]).assign(test_error=[0.6, 0.4])
    figure = plots.curves_figure(trials, ["heavy_runs"] * 2, measure=["value", "test_error"])
    assert [line(axes, "btao (n = 1)")[1] for axes in figure.axes] == [[4.0, 1.5], [0.6, 0.4]]
    with pytest.raises(ValueError, match=r"measure must be one, or one for each of 2 axes, got \['value'\]"):
        plots.curves_figure(trials, plots.RUN_AXES, measure=["value"])


def test_test_errors_choose_no_colors():
    trials = frame(
        *(run([float(i)], method=f"m{i}", optimum=None).assign(test_error=1.0 / (1 + i)) for i in range(7)),
    )
    figure = plots.curves_figure(trials, ["heavy_runs"] * 2, measure=["value", "test_error"])
    assert [text.partition(" ")[0] for text in legend(figure.axes[0])] == ["m0", "m1", "m2", "m3", "m4", "the"]


def test_a_notebook_cuts_nothing_off_a_figure():
    figure = plots.curves_figure(crowd())
    figure.draw_without_rendering()
    shown, caption = figure.get_tightbbox().transformed(figure.dpi_scale_trans), figure._supxlabel.get_window_extent()
    assert shown.y0 <= caption.y0 and caption.y1 <= shown.y1 and caption.height > 0


def test_a_method_on_several_tasks_is_once_in_the_legend():
    trials = crowd(["aaaa"], ["btao"], ["currin"])
    trials = pd.concat([trials, trials.assign(task="other", hash="bbbb")])
    figure = plots.curves_figure(trials, labels=dict.fromkeys(keys(trials).unique(), "btao"))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["btao (n = 2)"]


def test_of_a_curve_of_many_steps_the_numbers_are_those_where_it_changes_and_where_seeds_end(tmp_path, monkeypatch):
    trials = frame(
        run([0.5, 0.6, 0.5, 0.3, 0.4, 0.4]),
        run([0.5, 0.6, 0.5], seed=1),
        run([0.2, 0.3, 0.3], method="tpe"),  # of the same hash
    )
    drawn = {}
    for rows, tails in itertools.product((4, 500), (True, False)):
        monkeypatch.setattr(plots, "MANY_ROWS", rows)
        figure = plots.curves_figure(trials, "train_seconds", measure="value", tails=tails, path=tmp_path / "a.png")
        (axes,) = figure.axes
        lines = [np.array(one.get_data(), dtype=float) for one in axes.get_lines()]
        ends = [line[:, ~np.isnan(line[1])][:, -1].tolist() for line in lines]
        drawn[rows, tails] = ends, pd.read_csv(tmp_path / "a.csv").set_index("label")
    for tails in (True, False):
        (few, _), (all_rows, table) = drawn[4, tails], drawn[500, tails]
        assert few == all_rows
        assert [len(table.loc[label]) for label in ("btao", "tpe")] == [7 if tails else 3, 3]
    kept = drawn[4, True][1]
    assert kept.loc["btao", "cost"].round(6).tolist() == [1.5, 4.5, 4.5, 6.0, 9.0]
    assert kept.loc["btao", "ended"].tolist() == [0, 0, 1, 1, 1]
    assert kept.loc["tpe", "cost"].tolist() == [1.5, 3.0, 4.5]  # three rows are few
