"""Recorded tables: what they hold, and what is refused."""

import dataclasses
import hashlib
import math

import pandas
import pytest

from baselines.protocol import Measurement, Problem, SearchExhausted
from benchmarks.common.errors import UsageError
from benchmarks.config.registry import find_table
from benchmarks.data.source import DataSource
from benchmarks.tables import table as tables
from benchmarks.tables.design import DesignSearch, configurations, grid_size, grid_space, of_grid
from btao import Categorical, Integer, Ordinal, Real, Space, When
from btao.training import Level

SPACE = Space({"x": Real(0.0, 1.0), "k": Integer(1, 5)})
HEAD = tables.Head(
    "t", 1, {"n": 1}, "smoke", DataSource("d", "0" * 64, 2, 1), 0, 1, True, ({"versions": {}, "machine": {}},)
)


def rows(**changes):
    values = {
        "configuration": [0, 0, 2, 2],
        "config.x": [0.1 + 0.2, 0.1 + 0.2, 1.0, 1.0],
        "config.k": [1, 1, 5, 5],
        "iteration": [1, 2, 1, 2],
        "consumed": [1, 2, 1, 2],
        "validation_error": [0.5, 1 / 3, 0.9, math.nan],
        "training_error": [0.5, 0.25, 0.9, math.nan],
        "test_error": [0.5, 0.3, 0.9, math.nan],
        "seconds": [0.0, 1.5, 2.0, 3.0],
        "processor_seconds": [0.5, 1.0, 2.0, 3.0],
    }
    return pandas.DataFrame(values | changes).astype(tables.COLUMNS)


def test_what_is_saved_is_loaded_to_the_bit(tmp_path):
    path = tmp_path / "new" / "t.parquet"
    saved = tables.Table("t", HEAD, rows())
    saved.save(path)
    loaded = tables.load(str(path))
    assert loaded.head == HEAD
    pandas.testing.assert_frame_equal(loaded.rows, saved.rows, check_exact=True)
    assert loaded.sha256 == saved.sha256
    assert list(path.parent.iterdir()) == [path]
    loaded.check(SPACE, Level(2))
    assert loaded.configurations == {0: {"x": 0.1 + 0.2, "k": 1}, 2: {"x": 1.0, "k": 5}}
    assert list(loaded.configurations[0]) == ["x", "k"]


def test_the_hash_is_that_of_what_a_replay_depends_on():
    digest = tables.Table("t", HEAD, rows()).sha256
    assert digest == tables.Table("u", dataclasses.replace(HEAD, made_by=()), rows()).sha256
    others = [
        tables.Table("t", dataclasses.replace(HEAD, seed=1), rows()),
        tables.Table("t", dataclasses.replace(HEAD, full_length=False), rows()),
        tables.Table("t", HEAD, rows(validation_error=[0.5, 1 / 3, 0.9, 0.8])),
        tables.Table("t", HEAD, rows(seconds=[0.0, 1.5, 2.0, 3.1])),
        tables.Table("t", HEAD, rows(**{"config.x": [0.3, 0.3, 1.0, 1.0]})),
    ]
    assert len({digest, *(other.sha256 for other in others)}) == 6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"validation_error": [0.5, math.inf, 0.9, 0.8]}, "configuration 0: a validation error is not in"),
        ({"validation_error": [math.nan, 0.2, 0.9, 0.8]}, "configuration 0: a validation error is not in"),
        ({"validation_error": [0.5, 0.2, 1.5, 0.8]}, "configuration 2: a validation error is not in"),
        ({"validation_error": [0.5, 0.2, 0.9, -0.1]}, "configuration 2: a validation error is not in"),
        ({"seconds": [1.0, 0.5, 2.0, 2.0]}, "configuration 0: its seconds do not grow"),
        ({"seconds": [-1.0, 0.5, 2.0, 2.0]}, "configuration 0: its seconds do not grow"),
        ({"processor_seconds": [1.0, math.nan, 2.0, 2.0]}, "configuration 0: its processor_seconds do not grow"),
        ({"iteration": [1, 3, 1, 2]}, "configuration 0: its curve is not complete up to iteration 2"),
        ({"iteration": [2, 1, 1, 2]}, "configuration 0: its curve is not complete"),
        ({"configuration": [0, 1, 2, 2]}, "configuration 0: its curve is not complete"),
        ({"consumed": [1, 1, 1, 2]}, "configuration 0: consumed must be the iteration"),
        ({"consumed": [1, 3, 1, 2]}, "configuration 0: consumed must be from 1 to the iteration, and not fall"),
        ({"consumed": [-7, 2, 1, 2]}, "configuration 0: consumed must be from 1"),
        ({"config.x": [0.5] * 4, "config.k": [1] * 4}, "configuration 2 is configuration 0 again"),
        (
            {"processor_seconds": [0.5, 1.0, 2.0, 6.0]},
            "configuration 2: 6 processor_seconds on one thread in 3 seconds",
        ),
        (
            {"processor_seconds": [500.0, 1000.0, 2.0, 3.0]},
            "configuration 0: 1000 processor_seconds on one thread in 1.5",
        ),
        ({"configuration": [0, 0, 0, 0]}, "configuration 0 has 2 sets of parameters"),
        ({"config.k": [6, 6, 5, 5]}, r"configuration 0: .*k.*6"),
        ({"config.k": ["a", "a", "b", "b"]}, r"configuration 0: .*k.*'a'"),
        ({"test_error": [0.5, 7.0, 0.5, 0.5]}, "configuration 0: a test error is not in"),
        ({"training_error": [0.5, 7.0, 0.5, 0.5]}, "configuration 0: a training error is not in"),
        ({"training_error": [0.5, 0.5, math.inf, 0.5]}, "configuration 2: a training error is not in"),
        ({"training_error": [math.nan, 0.5, 0.5, 0.5]}, "configuration 0: a training error before the last is missing"),
        ({"processor_seconds": [0.0, 0.0, 2.0, 3.0]}, "configuration 0: its training took 0 processor_seconds"),
        ({"configuration": [-1, -1, 2, 2]}, "its configurations are not numbered by integers from 0 on"),
        ({"configuration": [2, 2, 0, 0]}, "its configurations are not numbered by integers from 0 on, in asc"),
        ({"iteration": [1, 1, 1, 1], "validation_error": [math.nan] * 4}, "configuration 0: a valid"),
        ({"config.y": [1, 1, 1, 1]}, "its columns are .*config.y.* instead of configuration, config.x, config.k, iter"),
        ({name: [] for name in rows()}, "it holds no configuration"),
    ],
)
def test_what_cannot_have_been_recorded_is_refused(changes, message):
    with pytest.raises(tables.CorruptTable, match=f"table t: {message}.*record it again"):
        tables.Table("t", HEAD, rows(**changes)).check(SPACE, Level(2))


def test_a_table_of_some_iterations_has_the_same_for_all():
    sparse = dataclasses.replace(HEAD, every_iteration=False)
    frame = rows(validation_error=[0.5, 0.4, 0.9, 0.8], consumed=[1, 1, 1, 2])
    tables.Table("t", sparse, frame).check(SPACE, Level(2))
    with pytest.raises(tables.CorruptTable, match="configuration 0: its curve is not complete"):
        tables.Table("t", sparse, frame[1:]).check(SPACE, Level(2))
    with pytest.raises(tables.CorruptTable, match="its column seconds holds no numbers"):
        tables.Table("t", sparse, frame.astype({"seconds": str})).check(SPACE, Level(2))


def test_a_curve_that_is_not_of_full_length_ends_where_the_heavy_level_stops():
    short, heavy = dataclasses.replace(HEAD, full_length=False), Level(3, patience=1)
    frame = rows(validation_error=[0.5, 0.5, 0.9, math.nan])
    tables.Table("t", short, frame).check(SPACE, heavy)
    for level, errors, where in (
        (Level(3, patience=2), [0.5, 0.5, 0.9, math.nan], "0: its curve is not complete up to iteration 3"),
        (heavy, [0.5, 0.4, 0.9, math.nan], "0: its curve is not complete up to iteration 3"),
        (Level(1), [0.5, 0.5, 0.9, math.nan], "0: its curve is not complete up to iteration 1"),
        (heavy, [0.5, 0.5, 0.9, 0.8], "2: its curve is not complete up to iteration 3"),
        (heavy, [0.5, 0.5, math.nan, math.nan], "2: a validation error is not in"),
    ):
        with pytest.raises(tables.CorruptTable, match=f"configuration {where}"):
            tables.Table("t", short, rows(validation_error=errors)).check(SPACE, level)
    with pytest.raises(tables.CorruptTable, match="configuration 0: its curve is not complete up to iteration 3"):
        tables.Table("t", HEAD, frame).check(SPACE, heavy)


def test_the_hash_of_texts_is_that_of_what_they_say():
    frame = rows()
    frame.insert(1, "config.c", ["a", "a", "b", "b"])
    other = frame.assign(**{"config.c": [*"aab", "c"]})
    assert tables.Table("t", HEAD, other).sha256 != tables.Table("t", HEAD, frame).sha256
    rebuilt = frame.assign(**{"config.c": pandas.array([chr(97 + k) for k in (0, 0, 1, 1)], dtype="object")})
    assert tables.Table("t", HEAD, rebuilt).sha256 == tables.Table("t", HEAD, frame).sha256


def test_choices_that_are_inactive_at_times_have_one_hash_before_and_after_they_are_saved(tmp_path):
    kinds = {"flag": (True, False), "name": ("u", "v"), "size": (3, 7), "share": (0.5, 1.5)}
    space = Space(
        {"y": Categorical(("a", "b")), **{name: Categorical(choices) for name, choices in kinds.items()}},
        conditions={name: When("y", "a") for name in kinds},
    )
    configs = [{"y": "a"} | {name: choices[0] for name, choices in kinds.items()}, {"y": "b"}]
    unlike = rows().drop(columns=["config.x", "config.k"]).to_dict("records")
    frame = pandas.DataFrame(
        [
            row | {f"config.{name}": value for name, value in configs[row["configuration"] // 2].items()}
            for row in unlike
        ]
    )
    saved = tables.Table("t", HEAD, tables.arranged(frame, space))
    saved.save(tmp_path / "t.parquet")
    loaded = tables.load(tmp_path / "t.parquet")
    assert loaded.sha256 == saved.sha256
    assert list(loaded.configurations.values()) == list(saved.configurations.values()) == configs
    assert [type(value) for value in loaded.configurations[0].values()] == [str, bool, str, int, float]
    loaded.check(space, Level(2))


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no table"):
        tables.load(tmp_path / "t.parquet")
    rows().to_parquet(tmp_path / "plain.parquet")
    (tmp_path / "text.parquet").write_text("text")
    tables.Table("t", HEAD, rows()).save(tmp_path / "torn.parquet")
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "torn.parquet").read_bytes()[:-50])
    for name in ("plain", "text", "torn"):
        with pytest.raises(tables.CorruptTable, match=f"{name}.parquet is no recorded table"):
            tables.load(tmp_path / f"{name}.parquet")


# ------------------------------------------------------------------ which table


@pytest.mark.parametrize(
    ("there", "scale", "name", "found"),
    [
        (["fcn-a-paper", "fcn-a-laptop", "svm-a-paper"], None, None, "fcn-a-paper"),
        (["fcn-a-paper", "fcn-a-laptop"], "laptop", None, "fcn-a-laptop"),
        (["fcn-a-smoke"], None, None, "fcn-a-smoke"),
        (["fcn-a-paper", "fcn-a-grid-paper", "fcn-a-n9-paper"], None, None, "fcn-a-grid-paper"),
        (["fcn-a-paper", "fcn-a-grid-laptop"], None, None, "fcn-a-paper"),
        (["fcn-a-paper", "fcn-a-grid-paper", "fcn-b-grid-paper"], None, None, "choose one with table=NAME"),
        (["fcn-a-paper", "fcn-b-paper"], None, "fcn-b-paper", "fcn-b-paper"),
        (["fcn-a-paper", "fcn-b-paper"], None, None, "choose one with table=NAME: fcn-a-paper, fcn-b-paper"),
        (["fcn-a-paper"], "laptop", None, r"no table of task fcn at scale=laptop .*there are: fcn-a-paper"),
        ([], None, None, r"no table of task fcn .*there are: none.*python -m benchmarks.record task=fcn"),
        (["fcn-a-paper"], None, "fcn-b-paper", "table=fcn-b-paper: no file .*there are: fcn-a-paper"),
    ],
)
def test_a_table_is_found_by_task_and_scale(tmp_path, there, scale, name, found):
    for stem in there:
        (tmp_path / f"{stem}.parquet").write_bytes(b"")
    if found in there:
        assert find_table("fcn", scale, name, tmp_path) == tmp_path / f"{found}.parquet"
        assert find_table("fcn", scale, str(tmp_path / f"{found}.parquet"), tmp_path / "none").stem == found
    else:
        with pytest.raises(UsageError, match=found):
            find_table("fcn", scale, name, tmp_path)


# ------------------------------------------------------------------ the design


def test_a_design_is_center_corners_and_sobol_points():
    design = configurations(SPACE, 37, seed=1)
    assert design[:5] == [SPACE.from_unit(u) for u in ([0.5, 0.5], [0, 0], [0, 1], [1, 0], [1, 1])]
    assert len({tuple(config.items()) for config in design}) == 37
    x = sorted(config["x"] for config in design[5:])
    assert all(lower <= (32 * value) % 32 < lower + 1 for lower, value in enumerate(x))  # one in each 32nd
    assert configurations(SPACE, 20, seed=1) == design[:20]
    assert configurations(SPACE, 37, seed=2) != design


def test_a_small_space_is_named_as_such():
    space = Space({"k": Integer(1, 3), "c": Categorical(["a", "b"])})
    assert len(configurations(space, 6, seed=0)) == 6
    with pytest.raises(ValueError, match="n=7: only 6 different configurations were found"):
        configurations(space, 7, seed=0)


def test_the_search_asks_for_its_part_at_every_budget():
    search = DesignSearch(Problem(SPACE, 9, 3), seed=1, start=2, stop=4, budgets=(3, 9))
    asked = []
    with pytest.raises(SearchExhausted):
        while True:
            trial = search.ask()
            asked.append((trial.number, trial.config, trial.heavy, trial.budget))
            search.tell(trial, Measurement(0.5))
    first, second = configurations(SPACE, 4, seed=1)[2:]
    assert asked == [(0, first, False, 3), (1, first, True, 9), (2, second, False, 3), (3, second, True, 9)]
    for wrong in ((), (9, 3), (3,), (3, 3, 9)):
        with pytest.raises(ValueError, match="budgets must ascend to 9"):
            DesignSearch(Problem(SPACE, 9, 3), seed=1, start=0, stop=1, budgets=wrong)


GRID = {"k": [1, 3, 4], "x": [0.0, 0.25, 1.0]}


def test_a_grid_is_every_combination_in_an_order_that_depends_on_nothing_else():
    design = of_grid(SPACE, GRID)
    assert sorted(map(tuple, map(dict.values, design))) == [(x, k) for x in (0.0, 0.25, 1.0) for k in (1, 3, 4)]
    digests = [hashlib.sha256(f'[0, [["k", {c["k"]}], ["x", {c["x"]}]]]'.encode()).hexdigest() for c in design]
    assert digests == sorted(digests)
    assert of_grid(SPACE, {name: tuple(GRID[name]) for name in ("x", "k")}) == design
    search = DesignSearch(Problem(SPACE, 9, 3), seed=5, start=3, stop=9, budgets=(9,), grid=GRID)
    assert [search.ask().config for _ in range(6)] == design[3:]
    assert grid_size(GRID) == 9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": [1, 2]}, "grid must give values of x, k, got those of k, x, y"),
        ({"k": [3]}, r"grid.k must be a list of at least two values, got \[3\]"),
        ({"k": "12"}, "grid.k must be a list of at least two values, got '12'"),
        ({"k": [1, 6]}, r"grid.k: must lie in \[1, 5\], got 6"),
        ({"k": [1, 2.5]}, "grid.k: value must be an integer"),
        ({"x": [0.5, 0.25]}, r"grid.x must ascend, got \[0.5, 0.25\]"),
        ({"x": [0.5, 0.5]}, "grid.x must ascend"),
    ],
)
def test_what_is_no_grid_of_the_space_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        of_grid(SPACE, GRID | changes)


def test_the_space_of_a_grid_has_its_values_and_nothing_else():
    space = Space({"x": Real(0.0, 1.0), "c": Categorical(["a", "b", "c"])})
    grid = {"c": ["c", "a"], "x": [0.0, 0.5, 1.0]}
    assert grid_space(space, grid) == Space({"x": Ordinal([0.0, 0.5, 1.0]), "c": Categorical(["c", "a"])})
    with pytest.raises(ValueError, match=r"grid.c: values must differ"):
        of_grid(space, grid | {"c": ["a", "a"]})


@pytest.mark.parametrize(("task", "advice"), [("fcn", r"\); record one"), ("currin", r"\); if it trains, record one")])
def test_a_recording_is_advised_of_a_task_that_trains(tmp_path, task, advice):
    with pytest.raises(UsageError, match=rf"no table of task {task} .*{advice} with .* task={task}"):
        find_table(task, None, None, tmp_path)


def test_iterations_are_integers():
    frame = rows().astype({"iteration": "float64"})
    with pytest.raises(tables.CorruptTable, match="its column iteration holds no integers"):
        tables.Table("t", HEAD, frame).check(SPACE, Level(2))


@pytest.mark.parametrize("head", [{"threads": 2}, {"made_by": ({"machine": {"gpus": 1}},)}])
def test_processor_seconds_that_are_not_charged_may_be_any(head):
    frame = rows(processor_seconds=[5.0, 10.0, 20.0, 60.0])
    tables.Table("t", dataclasses.replace(HEAD, **head), frame).check(SPACE, Level(2))
