"""python -m benchmarks.profile: what it writes, that it repeats itself, and its mistakes; and its figures."""

import dataclasses

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from small_grid import save_grid

from benchmarks.analysis.prediction import accuracy_scores, fits
from benchmarks.common.errors import UsageError
from benchmarks.config.registry import TABLES
from benchmarks.config.request import read
from benchmarks.figures import prediction as profile_plots
from benchmarks.objectives.currin import Currin
from benchmarks.objectives.fcn import FCN
from benchmarks.objectives.toy import Toy
from benchmarks.profile import main
from benchmarks.records.frames import load
from benchmarks.running.experiment import run_experiment
from benchmarks.running.plan import plan
from benchmarks.studies import model_accuracy
from benchmarks.studies.model_accuracy import TEST_SEED
from benchmarks.tables import table as tables
from benchmarks.tables.design import configurations
from benchmarks.tables.replay import Replay

pytestmark = pytest.mark.usefixtures("forked_workers")

COLUMNS = ["task", "data", "model", "runs", "seed", "heavy_runs", "n", "rmse", "coverage", "width", "log_score"]
SMALL = ["task=toy", "budget.heavy=4", "points=16"]


def runs_of(words, folder):
    """The trials of the runs that the words ask for."""
    (request,) = read([*words, f"out={folder / 'runs'}"])
    for experiment in plan(request).experiments:
        run_experiment(experiment, request.out)
    return load(request.out)


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
    trials, space = (
        runs_of(["task=toy", "budget.heavy=4", "method=[btao_joint,gp_bo]", "seeds=[3]"], tmp_path),
        Toy.space,
    )
    design = configurations(space, 16, TEST_SEED)
    points, truth = (np.array([each(c) for c in design]) for each in (space.to_unit, Toy().truth))
    for model, runs, method in [("gp", "own", "gp_bo"), ("gp", "common", "btao_joint"), ("tam", "own", "btao_joint")]:
        bounds = {"delta_bounds": Toy.delta_bounds, "rho_bounds": Toy.rho_bounds}
        *_, (_, predict) = fits(trials[trials["method"] == method], space, model, **bounds)
        chosen = (table["model"] == model) & (table["runs"] == runs) & (table["seed"] == 3) & (table["heavy_runs"] == 4)
        (row,) = table[chosen].to_dict("records")
        assert {name: row[name] for name in ("rmse", "coverage", "width", "log_score")} == pytest.approx(
            accuracy_scores(*predict(points), truth)
        )


def test_without_bounds_the_truncated_model_is_that_of_kennedy_and_ohagan(tmp_path):
    words, out = ["task=currin", "budget.heavy=4", "seeds=[0]"], tmp_path / "profile.csv"
    assert main([*words, "points=8", f"out={out}"]) == 0
    table = pd.read_csv(out)
    trials = runs_of([*words, "method=btao_joint"], tmp_path)
    design = configurations(Currin.space, 8, TEST_SEED)
    points, truth = (np.array([each(c) for c in design]) for each in (Currin.space.to_unit, Currin().truth))
    for count, predict in fits(trials, Currin.space, "koh"):
        rows = table[(table["heavy_runs"] == count) & table["model"].isin(["tam", "koh"])]
        assert len(rows) == 4
        for name, value in accuracy_scores(*predict(points), truth).items():
            assert rows[name].tolist() == pytest.approx([value] * 4)


def recorded(path, n=12, diverged=()):
    """A table of the fully connected network whose errors at the end are 0.1, 0.105, and so on."""
    whole = tables.load(TABLES / "fcn-mnist-5000-laptop.parquet")
    rows = whole.rows[whole.rows["configuration"] < n].copy()
    last = ~rows.duplicated("configuration", keep="last")
    rows["validation_error"] = rows["validation_error"].where(~last, 0.1 + rows["configuration"] / 200)
    rows.loc[last & rows["configuration"].isin(diverged), "validation_error"] = np.nan
    dataclasses.replace(whole, rows=rows.reset_index(drop=True)).save(path)
    return path


def test_of_a_table_a_fixed_part_is_held_out_of_the_runs(tmp_path):
    path = recorded(tmp_path / "fcn-a-laptop.parquet", n=12, diverged=(3, 5))
    reduced, numbers = model_accuracy.hold_out(path, tmp_path)
    assert (reduced.stem, len(numbers)) == (path.stem, 5)  # half of the ten that did not diverge
    assert not {3, 5} & set(numbers)
    assert model_accuracy.hold_out(path, tmp_path / "again")[1] == numbers
    assert set(tables.load(reduced).rows["configuration"]) == set(range(12)) - set(numbers)


def test_what_is_left_of_a_grid_answers_in_the_space_of_the_task(tmp_path):
    grid = {"batch_size": [8, 16, 32, 64, 128], "units": [16, 64, 256, 512], "learning_rate": [1e-4, 1e-3, 1e-2]}
    path = save_grid(tmp_path, grid=grid, errors=lambda number: [0.9, 0.8, 0.7, 0.6, 0.5, 0.4 - number / 1000])
    reduced, held_out = model_accuracy.hold_out(path, tmp_path / "rest")
    assert Replay(reduced).space == FCN.space and len(held_out) == 30
    known = tables.load(path).configurations
    assert held_out == {number: known[number] for number in held_out}
    points, values = model_accuracy._recorded_design(Replay(path), held_out, FCN.space)
    np.testing.assert_array_equal(points, [FCN.space.to_unit(config) for config in held_out.values()])
    assert values.tolist() == [0.4 - number / 1000 for number in held_out]
    words = ["task=fcn", "source=table", f"table={path}", "budget.heavy=2", "seeds=1"]
    assert len(model_accuracy.study(words, 8, tmp_path / "runs")) == 12  # of three models after two runs, of two kinds


def test_no_more_than_needed_is_held_out_of_a_large_table(tmp_path):
    path = recorded(tmp_path / "fcn-a-laptop.parquet", n=128)
    assert len(model_accuracy.hold_out(path, tmp_path)[1]) == 32
    path = recorded(tmp_path / "fcn-a-laptop.parquet", n=100)
    assert len(model_accuracy.hold_out(path, tmp_path)[1]) == 30


def test_a_table_with_next_to_nothing_in_it_is_refused(tmp_path):
    path = recorded(tmp_path / "fcn-a-laptop.parquet", n=3)
    with pytest.raises(UsageError, match="3 configurations with a heavy result are too few to hold some out"):
        model_accuracy.hold_out(path, tmp_path)


def test_on_a_table_what_was_held_out_is_predicted(tmp_path):
    path = recorded(tmp_path / "fcn-a-laptop.parquet", n=60)
    words = ["task=fcn", "source=table", f"table={path}", "budget.heavy=3", "seeds=1"]
    assert main([*words, f"out={tmp_path / 'profile.csv'}"]) == 0
    table = pd.read_csv(tmp_path / "profile.csv")
    assert table.groupby("model")["heavy_runs"].unique().map(list).tolist() == [[1, 2, 3]] * 3
    assert set(table["n"]) == {30}
    assert set(table["data"].str.contains("fcn-a-laptop")) == {True}
    # The runs are those on the table without the configurations held out, the truth that of these.
    reduced, numbers = model_accuracy.hold_out(path, tmp_path)
    words[2] = f"table={reduced}"
    *_, (_, predict) = fits(runs_of([*words, "method=btao_joint"], tmp_path), FCN.space, "gp")
    replay = Replay(path)
    points = replay.points[[replay.numbers.index(number) for number in numbers]]
    truth = [replay.read(replay.numbers.index(number), replay.heavy, 0).value for number in numbers]
    row = table[(table["model"] == "gp") & (table["runs"] == "common")].iloc[-1]
    assert row["rmse"] == pytest.approx(accuracy_scores(*predict(points), truth)["rmse"])


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
        (["task=toy", "threads=2"], "'threads=2' has no effect on a profile"),
    ],
)
def test_mistakes_end_in_one_line_before_any_work(words, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(model_accuracy, "portably")
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
    assert (row["value"], row["statistic"], row["seeds"]) == (pytest.approx(mine.median()), "median", 2)
    assert [axes.get_title() for axes in figure.axes][:2] == ["RMSE", "coverage of the 95% band"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["unit of the response", "share", "nats a point", "share"]
    with pytest.raises(ValueError, match="no scores of runs='others'"):
        profile_plots.accuracy_figure(table, "others")


def test_models_stand_beside_each_other_and_one_that_repeats_another_is_not_drawn(table):
    table = table[table["runs"] == "own"]
    (axes, *_) = profile_plots.accuracy_figure(table, "own", ["rmse"]).axes
    firsts = [one.get_xdata()[0] for one in axes.get_lines()]
    assert len(firsts) == len(set(firsts)) == 3
    same = pd.concat([table[table["model"] != "koh"], table[table["model"] == "tam"].assign(model="koh")])
    figure = profile_plots.accuracy_figure(same, "own", ["rmse"])
    assert len(figure.axes[0].get_lines()) == 2
    said = figure.get_supxlabel().replace("\n", " ")
    assert said.endswith("on toy the model without bounds is the truncated one, and is not drawn.")


def test_a_coverage_is_a_mean_and_lost_seeds_are_counted():
    scores = {"rmse": [1.0, 2.0, 9.0, 3.0], "coverage": [1.0, 1.0, 0.9, 0.1], "log_score": [1.0, -20.0, -1e6, -21.0]}
    table = pd.DataFrame({"task": "t", "runs": "own", "model": "gp", "heavy_runs": 4, "seed": range(4)} | scores)
    drawn = profile_plots.over_seeds(table, ["rmse", "coverage", "log_score", "lost"]).set_index("measure")
    assert drawn["value"].to_dict() == pytest.approx({"rmse": 2.5, "coverage": 0.75, "log_score": -20.5, "lost": 0.5})
    assert drawn["statistic"].tolist() == ["median", "mean", "median", "mean"]
    assert (drawn.loc["coverage", "q25"], drawn.loc["coverage", "q75"]) == (pytest.approx(0.7), 1.0)


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
