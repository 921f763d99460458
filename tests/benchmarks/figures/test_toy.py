"""The figure of the toy example."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.figures.toy import toy_figure
from support import line


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
    figure = toy_figure(**toy(), path=tmp_path / "toy.png")
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
    (axes,) = toy_figure(**{**toy(), **start}).axes
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
        toy_figure(**{**toy(), **wrong})
