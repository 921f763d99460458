"""Reference results: names, digests, and tables that are not committed. The notebooks exercise the rest."""

import os

import pandas as pd
import pytest
from matplotlib.image import imread
from small_grid import save_grid

from benchmarks.analysis.variants import label
from benchmarks.config.request import read
from benchmarks.studies import equal_seconds, reference, verification


def test_an_unknown_table_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no reference 'tony'; there are toy, synthetic, svm, .*, ladder, profile$"):
        reference.load("tony")


def test_a_table_that_is_missing_says_what_makes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    with pytest.raises(FileNotFoundError, match=r"`python -m benchmarks.reference profile` makes it"):
        reference.load("profile")


def test_the_digest_is_of_all_but_seconds():
    frame = pd.DataFrame({"value": [1.0, None], "time": [3.0, 4.0]})
    assert reference.sha256(frame) == reference.sha256(frame.assign(time=0.0))
    assert reference.sha256(frame) != reference.sha256(frame.assign(value=[1.0, 2.0]))
    assert len(reference.sha256(frame)) == 64


@pytest.mark.parametrize("name", [name for name in reference.NAMES if (reference.FOLDER / f"{name}.parquet").exists()])
def test_a_committed_figure_is_the_one_that_is_drawn_of_its_result(name, tmp_path, monkeypatch):
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    path = tmp_path / f"{name}.png"
    reference._draw(name, reference.load(name), path)
    drawn, committed = (imread(folder / f"{name}.png") for folder in (tmp_path, reference.FOLDER))
    assert drawn.shape == committed.shape
    assert (abs(drawn - committed).max(axis=2) > 0.2).mean() < 1e-4  # of the pixels: a marker here and there
    numbers = [pd.read_csv(folder / f"{name}.csv") for folder in (tmp_path, reference.FOLDER)]
    pd.testing.assert_frame_equal(*numbers)


def test_what_is_recorded_lies_beside_its_figure_and_the_numbers_in_it(tmp_path, monkeypatch):
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    small = ["task=toy", "method=[random_search,gp_bo]", "budget.heavy=4", "seeds=2", "jobs=1"]
    monkeypatch.setitem(reference.COMMANDS, "toy", [small])
    assert reference.record("toy", tmp_path / "runs") == tmp_path / "reference" / "toy.parquet"
    frame = reference.load("toy")
    assert frame.groupby(["method", "seed"])["heavy"].sum().tolist() == [4] * 4
    assert {path.suffix for path in (tmp_path / "reference").iterdir()} == {".parquet", ".png", ".pdf", ".csv"}
    numbers = pd.read_csv(tmp_path / "reference" / "toy.csv")
    best = frame["value"].where(frame["heavy"]).groupby([frame["method"], frame["seed"]]).min().groupby("method").mean()
    drawn = numbers[numbers["measure"] == "regret"].groupby("label")["mean"].min()
    assert drawn.to_dict() == pytest.approx((best - frame["optimum"].iloc[0]).to_dict())


def test_nothing_is_downloaded_or_taken_in_place_of_a_data_set_to_read_a_result(tmp_path, monkeypatch, capfd):
    for name in ("BTAO_SCALE", "BTAO_DATA", "BTAO_OFFLINE", "BTAO_NOTICE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("KERAS_HOME", "BTAO_CACHE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr("benchmarks.data.datasets.download", lambda *_: pytest.fail("a download"))
    assert sorted(reference.settings("live")) == ["extra_trees", "gradient_boosting", "linear_sgd"]
    assert capfd.readouterr() == ("", "")
    assert "BTAO_OFFLINE" not in os.environ


def test_another_folder_and_a_part_of_a_result_can_be_read(tmp_path, monkeypatch):
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    frame = pd.DataFrame({"method": ["a", "b", "b"], "seed": [0, 0, 1]})
    frame.to_parquet(tmp_path / "toy.parquet")
    assert reference.there("toy", tmp_path) and not reference.there("svm", tmp_path)
    part = reference.load("toy", folder=str(tmp_path), methods=["b"], seeds=1)
    assert part.to_numpy().tolist() == [["b", 0]]


@pytest.mark.parametrize("name", list(reference.COMMANDS))
def test_every_command_can_be_read_at_both_sizes(name):
    if name not in verification.COMMANDS:  # whose tests read these
        assert {len(request.seeds) for request in read(reference.commands(name)[-1])} <= {10, 30}
    small = [request for command in reference.commands(name, small=True) for request in read(command)]
    assert {request.seeds for request in small} == {(0, 1)}


def test_where_a_task_has_a_grid_all_runs_end_after_equal_seconds(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "TABLES", tmp_path)
    monkeypatch.setattr(equal_seconds, "budget", lambda replay, *size: f"budget.train_seconds={size[0]}.{size[1]}")
    assert reference.commands("fcn") == reference.COMMANDS["fcn"]
    save_grid(tmp_path)
    (request,) = read(*reference.commands("fcn"))
    assert request.budget == {"train_seconds": 40.30} and request.seeds == tuple(range(30))
    assert {request.methods[method]["n_trials"] for method in ("smac", "smac_gp")} == {40}
    (small,) = read(*reference.commands("fcn", small=True))
    assert (small.budget, small.seeds, small.jobs) == ({"train_seconds": 10.2}, (0, 1), 1)
    ends = {
        tuple(word for word in words if word.startswith(("task", "budget"))) for words in reference.commands("ladder")
    }
    assert ends == {
        ("task=fcn", "budget.train_seconds=40.30"),
        *((f"task={task}", "budget.heavy=20") for task in ("svm", "cnn")),
        (verification.FUNCTIONS, "budget.iterations=200"),
    }


def test_an_ablation_is_tried_on_a_few_variants_of_one_task():
    small = [request for command in reference.commands("ablation", small=True) for request in read(command)]
    assert [request.task["name"] for request in small] == ["currin"] * 4
    labels = [label(request.methods["btao_joint"]) for request in small]
    assert labels == ["default", "light_per_heavy=4", "start=random", "truncated"]


def test_the_scale_at_which_notebooks_are_tried_is_smoke(monkeypatch):
    monkeypatch.setenv("BTAO_SCALE", "paper")
    with pytest.raises(ValueError, match="BTAO_SCALE must be smoke or not set, got 'paper'"):
        reference.load("toy")


def test_what_is_there_is_committed_or_can_be_made_now(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    monkeypatch.setattr(reference, "TABLES", tmp_path)
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    assert not reference.there("toy")
    (tmp_path / "toy.parquet").touch()
    assert reference.there("toy") and not reference.there("svm")
    monkeypatch.setenv("BTAO_SCALE", "smoke")
    assert reference.there("synthetic") and not reference.there("svm")
    with pytest.raises(FileNotFoundError, match="the recorded table that svm replays is missing in"):
        reference.load("svm")
    (tmp_path / "svm-mnist-5000-laptop.parquet").touch()
    assert reference.there("svm")
    for name in ("fcn-mnist-5000-laptop", "cnn-mnist-5000-laptop"):
        assert not reference.there("profile")
        (tmp_path / f"{name}.parquet").touch()
    assert reference.there("profile")


@pytest.mark.parametrize("number", range(len(reference.PROFILE)))
def test_the_profile_is_of_tasks_that_there_are(number):
    (request,) = read([*reference.PROFILE[number], "method=btao"])
    assert request.seeds == tuple(range(30))
