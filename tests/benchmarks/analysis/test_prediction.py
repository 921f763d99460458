"""benchmarks.analysis.prediction: scores against closed forms, fits against the models themselves, slices."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.analysis.prediction import accuracy, accuracy_scores, best_point, fits, points_of, slice_points, slices
from btao import Categorical, Integer, Real, Space
from btao.gp import GaussianProcess
from btao.tam import TruncatedAdditiveModel

LINE = Space({"x": Real(0.0, 2.0)})


def light(x):
    return np.sin(3 * x)


def heavy(x):
    return 0.8 * light(x) - 0.3 + 0.1 * x


def run(n_light=8, heavy_at=(0, 3, 5, 7)):
    """Light runs along the line, and heavy ones at some of them; the last light one failed."""
    x = np.linspace(0.1, 1.9, n_light)
    rows = [{"config.x": each, "heavy": False, "value": light(each), "status": "ok"} for each in x]
    rows += [{"config.x": x[place], "heavy": True, "value": heavy(x[place]), "status": "ok"} for place in heavy_at]
    rows.insert(8, {"config.x": 1.0, "heavy": False, "value": np.nan, "status": "failed"})
    return pd.DataFrame(rows)


def test_scores_are_those_of_normal_predictions():
    mean, std, truth = [0.0, 1.0, 2.0, 3.0], [1.0, 0.5, 2.0, 1.0], [0.5, 2.0, 2.0, 1.03]
    got = accuracy_scores(mean, std, truth)
    assert got["rmse"] == pytest.approx(math.sqrt((0.25 + 1 + 0 + 1.97**2) / 4))
    assert got["coverage"] == 0.5
    assert got["width"] == pytest.approx(3.92 * 4.5 / 4)
    assert got["log_score"] == pytest.approx(stats.norm(mean, std).logpdf(truth).mean())


def test_the_band_of_the_true_distribution_covers_95_percent():
    truth = np.random.default_rng(0).normal(size=20_000)
    assert accuracy_scores(np.zeros(20_000), np.ones(20_000), truth)["coverage"] == pytest.approx(0.95, abs=0.005)


def test_rounding_is_no_certainty_and_no_point_is_no_score():
    certain = accuracy_scores([1.0, 3.0], [0.0, 0.0], [1.0, 3.0])
    assert certain["log_score"] == pytest.approx(stats.norm(0, 2e-6).logpdf(0))
    assert certain["width"] == pytest.approx(3.92 * 2e-6)
    assert all(math.isnan(value) for value in accuracy_scores([], [], []).values())


@pytest.mark.parametrize("model", ["tam", "koh"])
def test_a_model_is_fitted_after_each_heavy_run(model):
    trials, grid = run(), np.linspace(0, 1, 7)[:, None]
    bounds = {"delta_bounds": (-0.4, 0.1), "rho_bounds": (0.0, 1.0)}
    steps = list(fits(trials, LINE, model, **bounds))
    assert [count for count, _ in steps] == [1, 2, 3, 4]
    x, y = points_of(trials, LINE), trials["value"].to_numpy()
    expected = TruncatedAdditiveModel(**(bounds if model == "tam" else {}), space=LINE)
    expected.fit(x[:8], y[:8], x[9:10], y[9:10])
    assert np.allclose(steps[0][1](grid), expected.predict(grid))
    mean, std = steps[-1][1](x[9:])
    assert mean == pytest.approx(y[9:], abs=1e-3)
    assert std.max() < 0.01


def test_the_process_of_heavy_runs_sees_no_light_one():
    trials, grid = run(), np.linspace(0, 1, 7)[:, None]
    *_, (count, predict) = fits(trials, LINE, "gp")
    x, y = points_of(trials, LINE)[9:], trials["value"].to_numpy()[9:]
    start = None
    for n in range(1, 5):
        expected = GaussianProcess(LINE).fit(x[:n], y[:n], start=start)
        start = expected.log_phi_
    assert count == 4
    assert np.array_equal(predict(grid), expected.predict(grid))


def test_a_failed_heavy_run_counts_and_is_not_fitted():
    trials = run()
    trials.loc[10, ["value", "status"]] = [np.nan, "failed"]
    assert [count for count, _ in fits(trials, LINE, "koh")] == [1, 3, 4]


def test_what_a_model_lacks_is_named():
    with pytest.raises(ValueError, match="model must be one of tam, koh, gp, got 'rf'"):
        next(fits(run(), LINE, "rf"))
    with pytest.raises(ValueError, match="model 'koh' needs a light run"):
        next(fits(run()[lambda trials: trials["heavy"]], LINE, "koh"))


def test_accuracy_is_that_of_the_fits_on_the_test_design():
    points, truth = np.array([[0.2], [0.5], [0.8]]), heavy(np.array([0.4, 1.0, 1.6]))
    table = accuracy(run(), LINE, "gp", points, truth)
    assert table[["heavy_runs", "n"]].to_numpy().tolist() == [[1, 3], [2, 3], [3, 3], [4, 3]]
    *_, (_, predict) = list(fits(run(), LINE, "gp"))[:3]
    assert table["rmse"][2] == pytest.approx(np.sqrt(np.mean((predict(points)[0] - truth) ** 2)))


def test_configurations_become_points_whatever_their_kinds():
    space = Space({"n": Integer(1, 4), "kind": Categorical(("a", True)), "x": Real(0.0, 1.0)})
    frame = pd.DataFrame({"config.x": [0.25], "config.kind": [True], "config.other": [None], "config.n": [4]})
    assert points_of(frame, space).tolist() == [[0.875, 0.75, 0.25]]


def test_slices_go_through_the_point_and_show_the_truth():
    plane = Space({"x": Real(0.0, 2.0), "y": Real(-1.0, 1.0)})
    axis, points = slice_points(np.array([0.3, 0.6]), [1], 3)
    assert axis.tolist() == [0.0, 0.5, 1.0]
    assert points.tolist() == [[0.3, 0.0], [0.3, 0.5], [0.3, 1.0]]

    def predict(X):
        return X.sum(axis=1), np.ones(len(X))

    both = slices({"a": predict, "b": predict}, plane, np.array([0.3, 0.6]), [0, 1], lambda c: c["x"] * c["y"], 3)
    assert list(both.columns) == ["model", "x", "y", "mean", "std", "truth"]
    assert len(both) == 18
    assert both["truth"].tolist()[:9] == [0, 0, 0, -1, 0, 1, -2, 0, 2]
    assert both["mean"].tolist()[:4] == [0.0, 0.5, 1.0, 0.5]
    unknown = slices({"a": predict}, plane, np.array([0.3, 0.6]), [0], lambda config: None, 3)
    assert unknown["truth"].isna().all()


def test_the_best_point_is_that_of_the_smallest_heavy_value():
    trials = run()
    x = trials.loc[trials["heavy"], "config.x"].to_numpy()
    assert best_point(trials, LINE) == pytest.approx([x[heavy(x).argmin()] / 2])
