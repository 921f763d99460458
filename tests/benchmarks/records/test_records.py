"""Records survive what happens to files: torn lines, full disks, two writers, damage."""

import dataclasses
import functools
import json
import math
import resource

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import records
from benchmarks.records.frames import configurations, load
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import RunInfo
from benchmarks.records.trials import CorruptRecord, Row, RunLocked, TrialLog
from btao import Categorical, Integer, Real, Space, When

OK = Row(0, True, 5, {"x": 0.1, "n": 3}, -1.5, "ok", None, 5, 0.25, 0.5, 0.75, -1.25)
FAILED = Row(1, False, 1, {"x": 0.2, "n": 4}, None, "failed", "ValueError: no\nend", 1, 0.25, 0.5, 1.5, None)
CLOCKS = ("train_seconds", "method_seconds", "time")
IDENTITY = {
    "task": {"name": "toy", "version": 1, "parameters": {}},
    "method": {"name": "m", "version": 1, "parameters": {}},
    **{"source": "live", "budget": {}, "threads": 1, "data": None},
}
HEAD = RunInfo("toy", "m", 0, "abc", IDENTITY, optimum=-2.0)
COLUMNS = [
    *("task", "method", "seed", "hash", "parameters", "data", "optimum", "trial", "heavy", "budget"),
    *("value", "status", "error", "iterations", "train_seconds", "method_seconds", "time", "truth", "recommended"),
    *("test_error", "train_budget"),
]


def write(folder, rows=(OK, FAILED), *, data=None, parameters=None, **head):
    method = IDENTITY["method"] | {"parameters": parameters or {}}
    run = dataclasses.replace(HEAD, identity=IDENTITY | {"data": data, "method": method}, **head)
    with TrialLog(folder) as log:
        RunFolder(folder).begin(run)
        for row in rows:
            log.append(row)
    return folder / "trials.jsonl"


def reopen(folder):
    with TrialLog(folder) as log:
        return log.rows


def test_rows_come_back_as_they_were_written(tmp_path):
    path = write(tmp_path / "run")
    assert path.read_text().count("\n") == 2
    assert reopen(tmp_path / "run") == [OK, FAILED]


def test_every_row_is_on_file_before_the_log_is_closed(tmp_path):
    with TrialLog(tmp_path) as log:
        for n in range(3):
            log.append(OK)
            assert log.path.read_text().count("\n") == n + 1


@given(value=st.floats(allow_nan=False, allow_infinity=False), text=st.text(), x=st.floats(-1, 1))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_number_and_text_survives_exactly(tmp_path, value, text, x):
    folder = tmp_path / "run"
    row = dataclasses.replace(OK, value=value, error=text, config={text: x})
    (folder / "trials.jsonl").unlink(missing_ok=True)
    write(folder, [row])
    assert reopen(folder) == [row]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        *(("value", value, f"value must be a finite number, got {value}") for value in (math.nan, math.inf)),
        *(("value", value, f"value must be a number, got {value!r}") for value in (True, "0.5")),
        ("value", 10**400, "value must be a finite number, got 1000"),
        ("trial", "0", "trial must be an integer of at least 0, got '0'"),
        ("heavy", 1, "heavy must be True or False, got 1"),
        ("budget", 0, "budget must be an integer of at least 1, got 0"),
        ("config", [0.1], r"config must be a mapping of names, got \[0.1\]"),
        ("config", {"x": {"y": object}}, r"config\.x\.y must be a finite number, a text, .*got <class 'object'>"),
        ("status", "fine", "status must be 'ok' or 'failed', got 'fine'"),
        ("error", OSError("no"), "error must be a text, got OSError"),
        ("train_seconds", None, "train_seconds must be a number, got None"),
        ("truth", "bad", "truth must be a number, got 'bad'"),
        ("recommended", 1.5, "recommended must be an integer of at least 0, got 1.5"),
        ("curve", {"start": 0, "seconds": ["1"]}, r"curve\.seconds must be a list of numbers, got \['1'\]"),
        ("curve", {"start": 0, "seconds": [1.0], "test_errors": []}, "the lists of curve must be equally long"),
        ("curve", {"seconds": [1.0]}, r"curve\.start must be an integer"),
    ],
)
def test_a_field_that_no_record_can_hold_is_refused_by_its_name(field, value, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(OK, **{field: value})


def test_numbers_of_numpy_become_plain_ones():
    config = {"x": np.float32(0.5), "n": np.int64(3)}
    row = Row(np.int64(0), np.True_, np.int64(5), config, np.float32(0.5), "ok", None, 5, 0, 0, 0, np.float32(1.5))
    assert row == dataclasses.replace(OK, config={"x": 0.5, "n": 3}, value=0.5, truth=1.5, **dict.fromkeys(CLOCKS, 0.0))
    assert [type(value) for value in (row.trial, row.heavy, row.value, row.truth, *row.config.values())] == [
        *(int, bool, float, float, float, int)
    ]


def test_a_run_that_cannot_be_read_is_left_out_by_name_and_line_and_the_others_are_loaded(tmp_path):
    write(tmp_path / "a", seed=0)
    path = write(tmp_path / "b", seed=1)
    path.write_text(path.read_text().replace('"truth": null', '"truth": "bad"'))
    write(tmp_path / "c", seed=2, rows=[OK])
    run = tmp_path / "d" / "run.json"
    write(tmp_path / "d", seed=3)
    run.write_text(run.read_text().replace('"optimum": -2.0', '"optimum": "low"'))
    with pytest.warns(UserWarning, match="left out, as it cannot be read") as caught:
        frame = load(tmp_path)
    assert frame["seed"].tolist() == [0, 0, 2]
    told = [str(warning.message) for warning in caught]
    assert len(told) == 2
    assert "b/trials.jsonl, line 2 is no trial (truth must be a number, got 'bad')" in told[0]
    assert "d/run.json describes no run (ValueError: optimum must be a number, got 'low')" in told[1]
    with pytest.raises(CorruptRecord, match=r"b/trials\.jsonl, line 2"):
        load(tmp_path, strict=True)


def test_what_the_method_was_told_is_rebuilt():
    assert OK.measurement.value == -1.5
    assert not OK.measurement.failed
    assert math.isnan(FAILED.measurement.value)
    assert FAILED.measurement.error == "ValueError: no\nend"


def test_a_log_torn_anywhere_keeps_its_whole_lines_and_can_be_continued(tmp_path):
    path = write(tmp_path)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in sorted({*range(0, len(whole), 11), first - 1, first, first + 1, len(whole) - 1}):
        path.write_bytes(whole[:end])
        if end in (0, first):
            rows = reopen(tmp_path)
        else:
            with pytest.warns(UserWarning, match="dropped the last line"):
                rows = reopen(tmp_path)
        assert rows == ([OK] if end >= first else [])
        write(tmp_path, [FAILED])
        assert reopen(tmp_path) == [*rows, FAILED]


@pytest.mark.parametrize("line", [b'{"trial": 0, "hea', b"", b"\x00\x00", b"[1]", b'{"trial": 0}', b"\xff"])
def test_damage_before_the_end_is_an_error_that_names_file_and_line(tmp_path, line):
    path = write(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + line + b"\n" + lines[1])
    damaged = path.read_bytes()
    for read in (reopen, functools.partial(load, strict=True)):
        with pytest.raises(CorruptRecord, match=r"trials\.jsonl, line 2 is no.*damaged"):
            read(tmp_path)
    assert path.read_bytes() == damaged


def test_the_second_process_on_a_run_is_refused_and_a_reader_is_not(tmp_path):
    with TrialLog(tmp_path) as log:
        RunFolder(tmp_path).begin(HEAD)
        log.append(OK)
        with pytest.raises(RunLocked, match="another process is working on"):
            TrialLog(tmp_path)
        assert len(load(tmp_path)) == 1
        log.append(FAILED)
    assert reopen(tmp_path) == [OK, FAILED]


def test_a_full_disk_is_an_error_that_names_the_path_and_leaves_whole_lines(tmp_path):
    with TrialLog(tmp_path) as log:
        log.append(OK)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.path.stat().st_size + 10, hard))
        try:
            with pytest.raises(OSError, match=r"trial 1 not recorded: .*trials\.jsonl"):
                log.append(FAILED)
            with pytest.raises(OSError, match=r"run not recorded: .*run\.json"):
                RunFolder(tmp_path).begin(dataclasses.replace(HEAD, why="x" * 10_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        log.append(FAILED)
    assert reopen(tmp_path) == [OK, FAILED]


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        TrialLog(tmp_path / "file" / "run")


def test_run_json_is_replaced_as_a_whole(tmp_path):
    folder = RunFolder(tmp_path)
    assert folder.info() is None
    folder.begin(HEAD)
    with pytest.raises(ValueError, match="not JSON compliant"):
        folder.begin(dataclasses.replace(HEAD, n_trials=math.nan))
    assert folder.info() == HEAD
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_damaged_run_json_is_named(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(CorruptRecord, match=r"run\.json"):
        RunFolder(tmp_path).info()


def test_load_gives_one_row_a_trial(tmp_path):
    data, parameters = {"name": "mnist", "sha256": "0"}, {"b": [1, "inf"], "a": None}
    write(tmp_path / "toy/m-abc/seed-0", data=data, parameters=parameters)
    frame = load(tmp_path)
    columns = COLUMNS.copy()
    columns[10:10] = ["config.x", "config.n"]
    assert list(frame.columns) == columns
    assert set(frame.pop("parameters")) == {'{"a": null, "b": [1, "inf"]}'}
    assert frame.pop("recommended").isna().all()  # of records that do not say
    assert frame.pop("test_error").isna().all()
    assert frame.pop("train_budget").isna().all()
    first, second = frame.to_dict("records")
    assert first | {"error": None} == {
        **{"task": "toy", "method": "m", "seed": 0, "hash": "abc", "data": "mnist", "optimum": -2.0},
        **{"trial": 0, "heavy": True, "budget": 5, "config.x": 0.1, "config.n": 3, "value": -1.5, "status": "ok"},
        **{"error": None, "iterations": 5, "train_seconds": 0.25, "method_seconds": 0.5, "time": 0.75, "truth": -1.25},
    }
    assert math.isnan(second["value"])
    assert math.isnan(second["truth"])
    assert pd.isna(first["error"])
    assert (second["status"], second["error"]) == ("failed", "ValueError: no\nend")


def test_what_a_method_recommends_is_loaded_as_whole_numbers(tmp_path):
    path = write(tmp_path / "run", [dataclasses.replace(OK, recommended=0), FAILED])
    assert ['"recommended": 0' in line for line in path.read_text().splitlines()] == [True, False]
    recommended = load(tmp_path)["recommended"]
    assert (str(recommended.dtype), recommended[0], recommended.isna().tolist()) == ("Int64", 0, [False, True])


def test_load_takes_any_folder_of_the_tree(tmp_path):
    for task in ("toy", "park"):
        for seed in (0, 1):
            write(tmp_path / f"{task}/m-abc/seed-{seed}", task=task, seed=seed)
    sizes = {".": 8, "toy": 4, "toy/m-abc": 4, "toy/m-abc/seed-1": 2}
    assert {name: len(load(tmp_path / name)) for name in sizes} == sizes
    assert len(load(str(tmp_path))) == 8


def test_order_is_that_of_tasks_methods_and_seeds_as_numbers(tmp_path):
    for place, seed in enumerate((10, 9, 1)):
        write(tmp_path / f"{place}", seed=seed)
    write(tmp_path / "z", task="currin", seed=3)
    frame = load(tmp_path)
    assert frame["seed"].tolist() == [3, 3, 1, 1, 9, 9, 10, 10]
    assert frame["trial"].tolist() == [0, 1] * 4
    assert frame.index.tolist() == list(range(8))


def test_types_do_not_depend_on_what_is_recorded(tmp_path):
    types = load(tmp_path).dtypes
    assert load(tmp_path).empty
    assert list(types.index) == COLUMNS
    write(tmp_path / "a", [OK], optimum=None)
    write(tmp_path / "b", [FAILED], seed=1, data={"name": "mnist"})
    for folder in (tmp_path, tmp_path / "a", tmp_path / "b"):
        assert (load(folder).dtypes[COLUMNS] == types).all()
    kinds = {"heavy": "b", "seed": "i", "trial": "i", "iterations": "i", "value": "f", "optimum": "f", "truth": "f"}
    assert {name: types[name].kind for name in kinds} == kinds


def test_parameters_that_a_task_lacks_are_missing(tmp_path):
    write(tmp_path / "a", [OK])
    write(tmp_path / "b", [dataclasses.replace(OK, config={"kind": "rbf"})], task="other")
    frame = load(tmp_path)
    assert frame["config.kind"].isna().tolist() == [False, True]
    assert frame["config.x"].isna().tolist() == [True, False]


def test_parameters_that_are_inactive_at_times_are_missing_and_integers_stay_whole(tmp_path):
    space = Space(
        {"kind": Categorical(("a", "b")), "n": Integer(1, 3), "on": Categorical((False, True)), "x": Real(0.0, 1.0)},
        conditions={"n": When("kind", "a"), "on": When("n", 1, 2), "x": When("kind", "b")},
    )
    configs = [{"kind": "b", "x": 0.5}, {"kind": "a", "n": 2, "on": False}, {"kind": "a", "n": 3}]
    write(tmp_path, [dataclasses.replace(OK, trial=number, config=config) for number, config in enumerate(configs)])
    assert reopen(tmp_path)[1].config == configs[1]
    frame = load(tmp_path)
    assert str(frame["config.n"].dtype) == "Int64"
    assert frame["config.n"].isna().tolist() == [True, False, False]
    assert frame["config.x"].isna().tolist() == [False, True, True]
    found = configurations(frame, space)
    assert [space.validate(config) for config in found] == configs
    assert [type(value) for value in found[1].values()] == [str, int, bool]
    assert configurations(frame.iloc[1:].drop(columns="config.x"), space) == configs[1:]


def test_tuples_are_read_as_they_were_written(tmp_path):
    config = {"layers": (64, (32, None)), "x": 0.5}
    write(tmp_path, [dataclasses.replace(OK, config=config)])
    assert reopen(tmp_path)[0].config == config
    frame = load(tmp_path)
    assert frame["config.layers"][0] == config["layers"]
    space = Space({"layers": Categorical([(64, (32, None)), ()]), "x": Real(0, 1)})
    assert configurations(frame, space) == [config]


def test_an_integer_that_other_tasks_made_a_float_is_read_as_one(tmp_path):
    write(tmp_path / "a", [OK])
    write(tmp_path / "b", [dataclasses.replace(OK, config={"kind": "rbf"})], task="other")
    frame = load(tmp_path)
    assert frame["config.n"].dtype == "float64"
    (config,) = configurations(frame[frame["task"] == "toy"], Space({"x": Real(0, 1), "n": Integer(1, 3)}))
    assert (config, type(config["n"])) == ({"x": 0.1, "n": 3}, int)


def test_load_reads_a_run_that_is_being_written(tmp_path):
    path = write(tmp_path / "a")
    path.write_bytes(path.read_bytes()[:-9])
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "trials.jsonl").touch()  # locked, but not yet described
    before = path.read_bytes()
    with pytest.warns(UserWarning, match="dropped the last line"):
        assert load(tmp_path)["trial"].tolist() == [0]
    assert path.read_bytes() == before


def test_what_cannot_be_read_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder of records at .*nowhere.*out="):
        load(tmp_path / "nowhere")
    write(tmp_path / "a")
    write(tmp_path / "b")
    with pytest.raises(ValueError, match="record the same run"):
        load(tmp_path)
    (tmp_path / "b" / "run.json").write_text(json.dumps({"task": "toy"}))
    with pytest.raises(CorruptRecord, match=r"run\.json describes no run \(KeyError: 'configuration'\)"):
        load(tmp_path, strict=True)
    (tmp_path / "b" / "run.json").unlink()
    with pytest.raises(CorruptRecord, match=r"no run\.json"):
        load(tmp_path, strict=True)


def test_pandas_is_imported_by_load_only():
    assert not hasattr(records, "pandas")
