"""python -m benchmarks.profile: what it writes, that it repeats itself, and its mistakes; and its figures."""

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from benchmarks import profile, profile_plots
from benchmarks.catalogue import TABLES
from benchmarks.design import configurations
from benchmarks.objectives.toy import Toy
from benchmarks.prediction import fits, scores
from benchmarks.profile import TEST_SEED, main
from benchmarks.records import load
from benchmarks.run import main as run

COLUMNS = ["task", "data", "model", "runs", "seed", "heavy_runs", "n", "rmse", "coverage", "width", "log_score"]
SMALL = ["task=toy", "budget.heavy=4", "points=16"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    out = tmp_path_factory.mktemp("profile") / "a" / "profile.parquet"
    assert main([*SMALL, "seeds=[3,5]", f"out={out}"]) == 0
    return pd.read_parquet(out)


def test_a_row_for_each_model_seed_and_heavy_run(table):
    assert list(table.columns) == COLUMNS
    counts = table.groupby(["model", "runs", "seed"])["heavy_runs"].apply(list)
    assert counts.tolist() == [[1, 2, 3, 4]] * 12
    assert set(table["n"]) == {16}
    assert table["data"].isna().all()


def test_the_same_command_gives_the_same_table(table, tmp_path):
    assert main([*SMALL, "seeds=[3,5]", f"out={tmp_path / 'again.parquet'}"]) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "again.parquet"), table)


def test_the_scores_are_those_of_the_models_on_the_recorded_runs(table, tmp_path):
    assert run(["task=toy", "budget.heavy=4", "method=[btao,gp_bo]", "seeds=[3]", f"out={tmp_path}", "jobs=1"]) == 0
    trials, space = load(tmp_path), Toy.space
    design = configurations(space, 16, TEST_SEED)
    points, truth = (np.array([each(c) for c in design]) for each in (space.to_unit, Toy().truth))
    for model, runs, method in [("gp", "own", "gp_bo"), ("gp", "common", "btao"), ("tam", "own", "btao")]:
        bounds = {"delta_bounds": Toy.delta_bounds, "rho_bounds": Toy.rho_bounds}
        *_, (_, predict) = fits(trials[trials["method"] == method], space, model, **bounds)
        chosen = (table["model"] == model) & (table["runs"] == runs) & (table["seed"] == 3) & (table["heavy_runs"] == 4)
        (row,) = table[chosen].to_dict("records")
        assert {name: row[name] for name in ("rmse", "coverage", "width", "log_score")} == pytest.approx(
            scores(*predict(points), truth)
        )


def test_without_bounds_the_truncated_model_is_that_of_kennedy_and_ohagan(tmp_path):
    out = tmp_path / "profile.csv"
    assert main(["task=currin", "budget.heavy=4", "points=8", "seeds=1", f"out={out}"]) == 0
    table = pd.read_csv(out)
    tam, koh = (table[table["model"] == model].drop(columns="model").reset_index(drop=True) for model in ("tam", "koh"))
    pd.testing.assert_frame_equal(tam, koh)


@pytest.mark.skipif(not (TABLES / "fcn-mnist-paper.parquet").exists(), reason="no recorded table")
def test_on_a_table_what_the_run_has_not_seen_is_predicted(tmp_path):
    out = tmp_path / "profile.csv"
    words = ["task=fcn", "source=table", "table=fcn-mnist-paper", "budget.heavy=3", "seeds=1"]
    assert main([*words, f"out={out}"]) == 0
    table = pd.read_csv(out)
    left = table.groupby("heavy_runs")["n"].agg(["min", "max"])
    assert (left["min"] == left["max"]).all()
    assert left["max"].diff().dropna().tolist() == [-1, -1]
    assert table["data"].str.contains("fcn-mnist-paper").all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["task=toy", "method=tpe"], "'method=tpe' has no effect on a profile"),
        (["task=toy", "points=0"], "points=0: give an integer of at least 1"),
        (["task=toy", "out=profile.txt"], "out=profile.txt: give a file that ends in .parquet or .csv"),
        (["task=toy", "-m"], "unknown flag '-m'"),
        (["task=tyo"], "unknown task 'tyo': did you mean 'toy'?"),
        ([], "no task is chosen"),
        (["task=svm", "data=auto"], "'data=auto' has no effect on a profile"),
    ],
)
def test_mistakes_end_in_one_line_before_any_work(words, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(profile, "profile", lambda words, *_: profile._request(words))
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}")


def test_help_says_what_is_written(capsys):
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(column in said for column in COLUMNS)


def test_the_accuracy_is_drawn_with_its_numbers(table, tmp_path):
    figure = profile_plots.accuracy_figure(table, "own", path=tmp_path / "a.png")
    assert matplotlib.image.imread(tmp_path / "a.png").ndim == 3
    drawn = pd.read_csv(tmp_path / "a.csv")
    assert set(drawn["heavy_runs"]) == {3, 4}
    mine = table[(table["runs"] == "own") & (table["model"] == "gp") & (table["heavy_runs"] == 4)]["rmse"]
    row = drawn[(drawn["model"] == "gp") & (drawn["heavy_runs"] == 4) & (drawn["measure"] == "rmse")].iloc[0]
    assert (row["median"], row["seeds"]) == (pytest.approx(mine.median()), 2)
    assert [axes.get_title() for axes in figure.axes][:2] == ["RMSE", "coverage of the 95% band"]
    with pytest.raises(ValueError, match="no scores of runs='others'"):
        profile_plots.accuracy_figure(table, "others")


def test_slices_and_maps_are_drawn(tmp_path):
    x, y = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5), indexing="ij")
    surface = pd.DataFrame({"model": "gp", "x": x.ravel(), "y": y.ravel(), "mean": 1.0, "std": 0.1, "truth": 0.5})
    profile_plots.map_figure(surface, path=tmp_path / "map.png")
    assert set(pd.read_csv(tmp_path / "map.csv")["error"]) == {0.5}
    line = surface[surface["y"] == 0].drop(columns="y")
    runs = pd.DataFrame({"x": [0.5], "value": [1.0]})
    figure = profile_plots.slice_figure([line], runs, path=tmp_path / "slice.png")
    band = figure.axes[0].collections[0].get_paths()[0].get_extents()
    assert (band.y0, band.y1) == (pytest.approx(1 - 0.196), pytest.approx(1 + 0.196))
