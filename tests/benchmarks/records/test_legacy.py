"""Runs and tables of before schema 2, committed as they were recorded: read, reported and continued."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks import report, run, status
from benchmarks.records.frames import load
from benchmarks.records.grid import grids
from benchmarks.records.run_folder import RunFolder, former_folder
from benchmarks.records.run_info import Status
from benchmarks.tables import table as tables
from support import rows

pytestmark = pytest.mark.usefixtures("forked_workers", "empty_figures")

RECORDED = Path(__file__).with_name("schema_1")
TABLE = Path("tables/svm-mnist-5000-smoke.parquet")
TOY = ["+task=toy", "seeds=2", "method=[random_search,btao,btao_paper]", "out=runs", "jobs=2", "display=plain"]
# What is `btao_joint` was `btao` then.
SVM = ["+task=svm", "source=table", f"table={TABLE}", "seeds=1", "method=btao_joint", "budget.heavy=5", "out=runs"]


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A copy, in the working folder: one run was killed after 11 trials, one seed of two others was never begun."""
    shutil.copytree(RECORDED, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def folders(out):
    return sorted(str(path.parent.relative_to(out)) for path in out.rglob("run.json"))


def test_a_description_is_read_as_if_it_were_of_now(recorded):
    folder = RunFolder(recorded / "svm/btao-53ee380b77/seed-0")
    info = folder.info()
    assert (info.task, info.method, info.seed, info.status) == ("svm", "btao", 0, Status.EXHAUSTED)
    assert info.why == "every recorded configuration was seen at 50 iterations"
    assert info.identity["task"] == {"name": "svm", "version": 1, "parameters": {}}
    assert info.identity["method"]["parameters"]["light_per_heavy"] == 2
    assert (info.identity["source"], info.table) == ("table", str(TABLE))
    assert info.command.arguments[:3] == ("+task=svm", "source=table", f"table={TABLE}")
    (start,) = info.starts
    assert start.versions["numpy"] == "2.4.6" and start.git["clean"] is True
    assert folder.is_done()
    assert load(recorded)["hash"].nunique() == 4


def test_no_identity_names_the_path_of_a_class(recorded):
    for grid in grids(recorded):
        for info, _ in grid.runs.values():
            assert "benchmarks." not in json.dumps(info.identity) and "baselines." not in json.dumps(info.identity)


def test_status_and_report_read_them(recorded, capsys):
    assert status.main(["out=runs"]) == 1
    said = capsys.readouterr().out
    lines = said.splitlines()
    toy = next(number for number, line in enumerate(lines) if line.startswith("toy, noise=0.0"))
    assert lines[toy + 1 : toy + 5] == [
        "               0 1",
        "btao           . -  1/2",
        "btao_paper     - T  0/2",
        "random_search  . -  1/2",
    ]
    assert lines[-1] == f"  {shlex.quote(sys.executable)} -m benchmarks.run {shlex.join(TOY)}"
    assert report.main(["out=runs"]) == 0
    assert "btao_paper" in (recorded / "report.md").read_text()


@pytest.mark.parametrize("spelling", [[], ["task.parameters.noise=0"]])
def test_they_are_continued_where_they_are_and_what_is_done_is_not_run_again(recorded, spelling, capsys):
    before, command = folders(recorded), [*TOY[:2], "method=[random_search,btao_paper]", *TOY[3:], *spelling]
    assert run.main(command) == 0
    new = [path for path in folders(recorded) if path not in before]
    assert sorted(path.partition("-")[0] for path in new) == ["toy/btao_paper", "toy/random_search"]
    continued = RunFolder(recorded / "toy/btao_paper-2aa5ed0d0c/seed-1")
    assert [start.first_trial for start in continued.info().starts] == [0, 11]
    assert continued.info().status is Status.FINISHED and len(rows(continued.path)) == 18
    fresh = next(recorded.glob("toy/random_search-*/seed-1"))
    assert json.loads((fresh / "run.json").read_text())["schema"] == 2
    assert "2 of 4 were done before" not in capsys.readouterr().err
    assert run.main(command) == 0 and folders(recorded) == sorted({*before, *new})


def test_a_table_is_replayed_to_the_same_trials_and_drawn(recorded, capsys, drawn_figures):
    table = tables.load(TABLE)
    assert (table.head.task, table.head.version) == ("svm", 1)
    assert run.main([*SVM, "display=plain"]) == 0
    out, _ = capsys.readouterr()
    (now,) = recorded.glob("svm/btao_joint-*/seed-0")
    then = rows(recorded / "svm/btao-53ee380b77/seed-0")
    assert [(row["heavy"], row["value"]) for row in rows(now)] == [(row["heavy"], row["value"]) for row in then]
    assert Path(out.rpartition("figure: ")[2].strip()).read_bytes().startswith(b"\x89PNG")
    table.save(Path("again/svm-mnist-5000-smoke.parquet"))
    again = tables.load("again/svm-mnist-5000-smoke.parquet")
    assert again.head == table.head and again.sha256 == table.sha256


def test_a_folder_that_was_moved_away_is_not_continued(recorded):
    folder = next(recorded.glob("toy/random_search-*"))
    folder.rename(folder.with_name(folder.name + ".old"))
    assert run.main([*TOY[:1], "seeds=1", "method=random_search", "out=runs", "jobs=1", "display=plain"]) == 0
    assert len(list(recorded.glob("toy/random_search-*/seed-0"))) == 2


def test_one_damaged_description_hides_no_other_seed(recorded):
    folder = next(recorded.glob("toy/random_search-*"))
    shutil.copytree(folder / "seed-0", folder / "seed-7")
    text = (folder / "seed-0" / "run.json").read_text()
    (folder / "seed-7" / "run.json").write_text(text.replace('"seed": 0', '"seed": 7'))
    (folder / "seed-0" / "run.json").write_text("{")
    hashed = RunFolder(folder / "seed-7").info().hash
    assert former_folder(recorded, "toy", "random_search", hashed, 7) == folder / "seed-7"


def test_a_class_that_has_come_to_mean_something_else_continues_no_former_run(recorded, monkeypatch):
    before = RunFolder(recorded / "svm/btao-53ee380b77/seed-0").info()
    monkeypatch.setattr("baselines.btao.BTAOMethod.version", 2, raising=False)
    after = RunFolder(recorded / "svm/btao-53ee380b77/seed-0").info()
    assert (before.identity["method"]["version"], after.hash) == (1, before.hash)


def test_two_former_spellings_of_one_run_are_read_once(recorded):
    folder = next(recorded.glob("toy/random_search-*"))
    shutil.copytree(folder, folder.with_name("random_search-0123456789"))
    with pytest.warns(UserWarning, match="record the same run and the same trials: one is read"):
        assert len(load(recorded / "toy")["trial"]) == len(load(recorded / "toy/btao-b5bce4afb6")) + 6 + 11
    toy = next(grid for grid in grids(recorded) if grid.one.task == "toy")
    assert sorted(method.partition("-")[0] for method, _ in toy.runs) == ["btao", "btao_paper", "random_search"]


def test_quotes_of_hydra_around_a_former_path_are_taken_off(recorded):
    path = recorded / "svm/btao-53ee380b77/seed-0/run.json"
    described = json.loads(path.read_text())
    described["command"] = shlex.join([*described["command"].split(" ")[:-2], "out='my runs'"])
    path.write_text(json.dumps(described))
    assert RunFolder(path.parent).info().command.arguments[-1] == "out=my runs"
