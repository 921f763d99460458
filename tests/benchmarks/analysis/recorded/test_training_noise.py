"""The noise of training: against values worked out by hand."""

import math

import pandas
import pytest
from matplotlib.figure import Figure
from small_grid import small_grid

from benchmarks.analysis.recorded import training_noise as noise
from benchmarks.figures.training_curves import figure_noise
from layout import faults

ERRORS = pandas.DataFrame({0: [0.1, 0.3, 0.5, 0.7, 0.9], 1: [0.3, 0.3, 0.5, 0.9, 0.5]})


def of_errors(*errors, seed=0):
    """The first configurations of a grid, each with the same error in all epochs."""
    return small_grid(seed=seed, n=len(errors), errors=lambda number: [errors[number]] * 6)


def test_heavy_errors_are_of_what_all_tables_have_and_never_diverged():
    whole = of_errors(0.1, 0.2, 0.3, 0.4)
    repeats = [of_errors(0.2, math.nan, 0.5, seed=3), of_errors(0.3, 0.4, 0.6, 0.7, seed=5)]
    errors = noise.heavy_errors(whole, repeats)
    assert errors.to_dict("list") == {0: [0.1, 0.3], 3: [0.2, 0.5], 5: [0.3, 0.6]}
    assert errors.index.tolist() == [0, 2]


def test_a_table_without_a_repeat_tells_no_noise():
    with pytest.raises(ValueError, match="there is no repeat of table fcn-digits-grid-paper"):
        noise.heavy_errors(of_errors(0.1), [])
    with pytest.raises(ValueError, match="have no configuration in common that never diverged"):
        noise.heavy_errors(of_errors(math.nan), [of_errors(0.1, seed=1)])


def test_the_noise_is_the_standard_deviation_between_seeds():
    spread = noise.by_configuration(ERRORS)
    assert spread["mean"].tolist() == pytest.approx([0.2, 0.3, 0.5, 0.8, 0.7])
    assert spread["sd"].tolist() == pytest.approx([math.sqrt(variance) for variance in (0.02, 0, 0, 0.02, 0.08)])
    assert spread["best"].tolist() == [True, True, False, False, False]
    assert noise.pooled(spread) == pytest.approx(math.sqrt(0.12 / 5))
    assert noise.stated(ERRORS) == (
        "5 configurations at 2 seeds of training; standard deviation of the heavy error between seeds: 0.15 pooled, "
        "0.14 in the median, 0.1 pooled over the 2 best"
    )


def test_the_figure_has_the_noise_beside_the_differences_between_methods():
    ends = pandas.DataFrame(
        {"label": ["btao", "tpe"], "best_mean": [0.02, 0.05], "best_low": [0.01, 0.04], "best_high": [0.03, 0.06]}
    )
    figure = figure_noise(ERRORS, ends)
    assert isinstance(figure, Figure) and faults(figure) == []
    configurations, methods = figure.axes
    others, best = (each.get_offsets().tolist() for each in configurations.collections)
    assert [len(others), len(best)] == [3, 2] and best[0] == pytest.approx([0.2, math.sqrt(0.02)])
    assert [text.get_text() for text in methods.get_yticklabels()] == ["tpe", "btao"]  # the best one at the top
    points = [line.get_xdata()[0] for line in methods.get_lines() if line.get_marker() == "o"]
    assert points == pytest.approx([0.03, 0.0])
    assert methods.get_lines()[-1].get_xdata()[0] == pytest.approx(0.1) == configurations.get_lines()[-1].get_ydata()[0]


def test_without_results_of_methods_the_figure_has_the_noise_alone():
    figure = figure_noise(ERRORS)
    assert faults(figure) == []
    assert [axes.get_title() for axes in figure.axes] == ["training again"]
