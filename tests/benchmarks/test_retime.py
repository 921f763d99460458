"""Seconds of one machine for a table that several recorded: `python -m benchmarks.retime`."""

import dataclasses
import math
import shutil

import pandas
import pytest

from benchmarks import record, retime, run
from benchmarks.config import registry, request
from benchmarks.config.registry import TABLES
from benchmarks.data.source import DataSource
from benchmarks.tables import table as tables
from benchmarks.tables.replay import Replay
from benchmarks.tables.timing import retimed
from btao.training import Level

pytestmark = pytest.mark.usefixtures("forked_workers", "empty_figures")

ERRORS = [[0.8, 0.5, 0.4, 0.3], [0.9, 0.7, math.nan], [0.6, 0.6, 0.5, 0.4]]
SLOW, FAST = ({"machine": {"cpu": name}, "versions": {}, "git": None} for name in ("slow", "fast"))


def table(name, errors, seconds, made_by, **head):
    """A table of the network, the seconds of whose iterations are given for each configuration."""
    rows = [
        {"configuration": c, "config.batch_size": 16, "config.units": 16 + c, "config.learning_rate": 0.01}
        | {"iteration": i, "consumed": i, "validation_error": error, "training_error": error, "test_error": error}
        | {"seconds": 3.0 * sum(paces[:i]), "processor_seconds": float(sum(paces[:i]))}
        for c, (curve, paces) in enumerate(zip(errors, seconds, strict=True))
        for i, error in enumerate(curve, start=1)
    ]
    length = max(map(len, errors))
    values = {"task": "fcn", "version": 1, "scale": "smoke", "data": DataSource("d", "0" * 64, 100, 50), "seed": 0}
    values |= {"parameters": {"light_iterations": 1, "heavy_iterations": length}, "threads": 1, "every_iteration": True}
    return tables.Table(
        name, tables.Head(**values | head, made_by=made_by), pandas.DataFrame(rows).astype(tables.COLUMNS)
    )


MIXED = table("t", ERRORS, [[1] * 4, [10] * 3, [20] * 4], (SLOW, FAST))
CLOCK = table("clock", [curve[:2] for curve in ERRORS], [[2, 4], [5, 5], [7, 8]], (FAST,))


def test_every_iteration_gets_the_mean_seconds_of_those_of_the_clock():
    timed = retimed(MIXED, CLOCK)
    assert timed.rows["processor_seconds"].tolist() == [3, 6, 9, 12, 5, 10, 15, 7.5, 15, 22.5, 30]
    assert timed.rows["seconds"].tolist() == [9, 18, 27, 36, 15, 30, 45, 22.5, 45, 67.5, 90]
    same = [column for column in MIXED.rows if column not in ("seconds", "processor_seconds")]
    pandas.testing.assert_frame_equal(timed.rows[same], MIXED.rows[same], check_exact=True)
    assert timed.rows.dtypes.tolist() == MIXED.rows.dtypes.tolist()
    assert (timed.name, timed.head) == ("t", dataclasses.replace(MIXED.head, timed_by=(FAST,)))
    assert (MIXED.head.machines, timed.head.machines) == ([SLOW["machine"], FAST["machine"]], [FAST["machine"]])
    assert timed.sha256 != MIXED.sha256


def test_a_training_that_diverged_while_it_was_timed_has_the_seconds_up_to_there():
    clock = table("clock", [[0.8, 0.5], [math.nan], [0.6, 0.6]], [[2, 4], [5], [7, 8]], (FAST,))
    assert retimed(MIXED, clock).rows["processor_seconds"].tolist()[4:7] == [5, 10, 15]


def test_a_clock_that_was_timed_itself_is_named_by_what_timed_it():
    twice = retimed(MIXED, retimed(CLOCK, CLOCK))
    assert twice.head.timed_by == (FAST,)
    pandas.testing.assert_frame_equal(twice.rows, retimed(MIXED, CLOCK).rows)


def test_the_seconds_of_a_gpu_are_those_of_the_wall():
    gpu = {"machine": {"gpus": 1}, "versions": {}, "git": None}
    assert (MIXED.head.clock, changed(MIXED, timed_by=(gpu,)).head.clock) == ("processor_seconds", "seconds")


def changed(clock, **head):
    return dataclasses.replace(clock, head=dataclasses.replace(clock.head, **head))


@pytest.mark.parametrize(
    ("clock", "message"),
    [
        (changed(CLOCK, threads=2), "must be recorded as the table was, but has threads 2 instead of 1"),
        (changed(CLOCK, data=DataSource("e", "1" * 64, 100, 50)), "has data .*'e'.* instead of .*'d'"),
        (changed(CLOCK, parameters=CLOCK.head.parameters | {"n_train": 7}), "has n_train 7 instead of None"),
        (changed(CLOCK, made_by=(SLOW, FAST)), "is of 2 machines itself; record all of it on one, in another out="),
        (changed(CLOCK, made_by=()), "is of 0 machines itself"),
        (changed(CLOCK, every_iteration=False), "clock: clock holds certain numbers of iterations.*record it on one"),
        (
            table("clock", [[0.8, 0.5]], [[2, 4]], (FAST,)),
            "lacks 2 configurations of the table, the first of them 1; record it with seed=0 and n=3",
        ),
        (
            dataclasses.replace(CLOCK, rows=CLOCK.rows.assign(seconds=CLOCK.rows["processor_seconds"] - 1.5)),
            "clock: the table would be damaged by it: .*processor_seconds on one thread in",
        ),
        (
            dataclasses.replace(CLOCK, rows=CLOCK.rows.assign(**{"config.learning_rate": 0.002})),
            "lacks 3 configurations of the table, the first of them 0",
        ),
    ],
)
def test_a_clock_that_does_not_fit_is_refused(clock, message):
    with pytest.raises(ValueError, match=message):
        retimed(MIXED, clock)


def test_what_decides_only_how_a_curve_is_read_may_differ():
    reading = {"rho_bounds": [0.0, 2.0], "heavy_patience": 9, "resume_training": False}
    other = changed(CLOCK, parameters=CLOCK.head.parameters | reading)
    assert retimed(MIXED, other).rows.equals(retimed(MIXED, CLOCK).rows)


def test_a_table_of_certain_numbers_of_iterations_cannot_be_timed_and_is_said_so():
    with pytest.raises(ValueError, match="table: t holds certain numbers of iterations"):
        retimed(changed(MIXED, every_iteration=False), CLOCK)
    assert changed(MIXED, every_iteration=False).cautions == [
        "the seconds of table t are from 2 unlike machines and may not compare; to have those of one, record it on "
        "one, in another out="
    ]
    (caution,) = MIXED.cautions
    assert "`python -m benchmarks.retime --help` tells" in caution
    assert CLOCK.cautions == []


def test_several_versions_of_a_library_are_named():
    made_by = (*(FAST | {"versions": {"numpy": version, "scipy": "1"}} for version in "12"), FAST)
    assert changed(CLOCK, made_by=made_by).cautions == [
        "table clock was recorded with numpy 1, 2, None",
        "table clock was recorded with scipy 1, None",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "table= and clock= and out= must be given"),
        (["table=t.parquet", "out=there"], "clock= must be given"),
        (["tabel=t.parquet"], "unknown option 'tabel': did you mean 'table'?"),
        (["--force"], "'--force' is not of the form option=value"),
        (
            ["table=none.parquet", "clock=clock.parquet", "out=new"],
            "table=none.parquet: there is no table none.parquet",
        ),
        (["table=t.parquet", "clock=there", "out=new"], "clock=there: there is no table there: it is a folder"),
        (["table=t.parquet", "clock=bad.parquet", "out=new"], "clock=bad.parquet: table bad: configuration 0: its sec"),
        (["table=t.parquet", "clock=clock.parquet", "out=there"], "there/t.parquet is there already; give another"),
        (["table=t.parquet", "clock=clock.parquet", "out=clock.parquet"], "out=clock.parquet is a file; give a folder"),
    ],
)
def test_mistakes_in_the_command_are_named(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    bad = dataclasses.replace(CLOCK, rows=CLOCK.rows.assign(seconds=-1.0))
    files = {"t.parquet": MIXED, "clock.parquet": CLOCK, "bad.parquet": bad, "there/t.parquet": MIXED}
    for path, content in files.items():
        content.save(tmp_path / path)
    before = (tmp_path / "there" / "t.parquet").read_bytes()
    assert retime.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert (tmp_path / "there" / "t.parquet").read_bytes() == before
    assert not (tmp_path / "new").exists()


@pytest.fixture
def quick_network(tmp_path, monkeypatch):
    """Until it is undone, task=fcn computes errors: the real network is compiled for each configuration first."""
    shutil.copytree(registry.CONF, tmp_path / "conf")
    path = tmp_path / "conf" / "task" / "fcn.yaml"
    path.write_text(path.read_text().replace("benchmarks.objectives.fcn.FCN", "quick_network.QuickFCN"))
    for module in (registry, request):
        monkeypatch.setattr(module, "CONF", tmp_path / "conf")
    return monkeypatch


def test_a_recorded_table_is_timed_replayed_and_extended(tmp_path, quick_network, capsys):
    words = ["task=fcn", "scale=smoke", "task.parameters.n_train=200", "task.parameters.n_validation=100"]
    short = ["task.parameters.light_iterations=1", "task.parameters.heavy_iterations=2"]
    for folder, more in (("mixed", ["n=9"]), ("clocks", [*short, "n=9"])):
        assert record.main([*words, *more, f"out={tmp_path / folder}", "display=plain", "jobs=1"]) == 0
    assert "machines" not in capsys.readouterr().err
    name = "fcn-mnist-5000-n200-smoke.parquet"
    files = [f"table={tmp_path / 'mixed' / name}", f"clock={tmp_path / 'clocks' / name}"]
    assert retime.main([*files, f"out={tmp_path / 'timed'}"]) == 0
    path = tmp_path / "timed" / name
    assert f"{path} holds 16 configurations with the seconds of" in capsys.readouterr().out

    timed, clock = tables.load(path), tables.load(tmp_path / "clocks" / name)
    ends = timed.rows.groupby("configuration")["processor_seconds"].last()  # of 6 iterations, of which 2 were timed
    assert ends.tolist() == pytest.approx(
        (3 * clock.rows.groupby("configuration")["processor_seconds"].last()).tolist()
    )
    assert Replay(path).evaluate(timed.configurations[0], Level(6), seed=0).seconds == pytest.approx(ends[0])

    (by,) = timed.head.timed_by  # from here on as if a slower machine had recorded it
    slower = by | {"machine": by["machine"] | {"cpu": "slower"}}
    changed(timed, made_by=(slower,)).save(path)
    assert record.main([*words, "n=17", f"out={path.parent}", "display=plain", "jobs=1"]) == 0
    longer = tables.load(path)
    assert (longer.head.made_by, longer.head.timed_by) == ((slower, by), (by,))
    assert longer.rows["processor_seconds"].tolist()[: len(timed.rows)] == timed.rows["processor_seconds"].tolist()
    assert "machines" not in capsys.readouterr().err

    changed(longer, timed_by=(slower,)).save(path)  # as if that had timed it, too
    assert record.main([*words, "n=17", "gather=true", f"out={path.parent}"]) == 0
    assert tables.load(path).head.timed_by == (slower,)  # nothing new: nothing changes
    assert record.main([*words, "n=25", f"out={path.parent}", "display=plain", "jobs=1"]) == 0
    assert tables.load(path).head.timed_by == (slower, by)
    said = f"note: the seconds of table {path.stem} are from 2 unlike machines and may not compare"
    assert said in capsys.readouterr().err

    quick_network.undo()
    replay = ["task=fcn", "scale=smoke", "source=table", f"table={path}", "method=random_search", "seeds=1"]
    assert run.main([*replay, "budget.heavy=2", f"out={tmp_path / 'runs'}", "display=plain"]) == 0
    assert said in capsys.readouterr().err


# Those that are not finished may be of several: they are timed anew when they are.
@pytest.mark.parametrize("path", sorted(TABLES.glob("*.parquet")), ids=lambda path: path.stem)
def test_the_seconds_of_a_committed_table_are_those_of_one_machine(path):
    assert len(tables.load(path).head.machines) == 1
