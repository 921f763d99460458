"""A table of a grid: each proposal has its own curve, and a repeated one is paid again."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from small_grid import EPOCHS, GRID, PARAMETERS, curve, save_grid, small_grid

from baselines.protocol import Trial
from benchmarks.config.spec import Spec
from benchmarks.records.trials import Row, read_rows
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, run_experiment
from benchmarks.running.source import Recorded
from benchmarks.tables import table as tables
from benchmarks.tables.answers import ExactAnswers
from benchmarks.tables.design import of_grid
from benchmarks.tables.replay import Replay
from btao import Ordinal, Space
from btao.training import Level


@pytest.fixture
def table(tmp_path):
    """The table and its file."""
    path = save_grid(tmp_path)
    return tables.load(path), path


def answered(replay, asked):
    """Of trials (number of a configuration, budget): answer, cost, iterations, seconds, value and test error."""
    answers, configs = ExactAnswers(replay), of_grid(replay._recording.task.space, GRID)
    for number, (place, budget) in enumerate(asked):
        trial = Trial(number, configs[place], budget == EPOCHS, budget)
        cost, found = answers.cost(trial), answers.evaluate(trial, Level(budget))
        assert found.answer == {"configuration": place, "distance": 0.0}
        yield cost, found.iterations, found.seconds, found.value, found.test_error
        head = (number, trial.heavy, budget, trial.config, found.value, "ok", None, found.iterations)
        answers.remember(Row(*head, 0.0, 0.0, 0.0, None, answer=found.answer))


def test_the_space_is_the_grid_and_every_configuration_has_its_own_answer(table):
    replay = Replay(table[1])
    assert replay.space == Space({name: Ordinal(GRID[name]) for name in ("batch_size", "units", "learning_rate")})
    assert (replay.space.size, len(replay.points), table[0].head.design) == (12, 12, "grid")
    np.testing.assert_array_equal(replay.space.snap(replay.points), replay.points)
    for number, config in table[0].configurations.items():
        assert replay.place(config) == number
        assert replay.evaluate(config, Level(1), seed=7).value == 0.9 - number / 100
    assert replay.optimum == min(0.3, 0.4 - 11 / 100)


def test_of_a_grid_whose_curves_end_with_heavy_runs_each_answer_is_that_of_the_whole_curve(tmp_path):
    level = {"light_patience": 1, "heavy_patience": 2}
    whole = small_grid()
    stop = Level(EPOCHS, 2).stop(curve(0))
    assert stop == 4
    head = dataclasses.replace(whole.head, parameters=PARAMETERS | level, full_length=False)
    ended = tables.Table("ended", head, whole.rows[whole.rows["iteration"] <= stop].reset_index(drop=True))
    paths = [tmp_path / "whole.parquet", tmp_path / "ended.parquet"]
    for table, path in zip((whole, ended), paths, strict=True):
        table.save(path)
    replays = [Replay(path, level) for path in paths]
    assert replays[0].optimum == replays[1].optimum == 0.5
    for number, budget, done in itertools.product(range(12), range(1, EPOCHS + 1), (0, 2)):
        found = [replay.read(number, Level(budget, 2), done) for replay in replays]
        assert found[0] == found[1]
    with pytest.raises(ValueError, match="heavy_patience must be at most 2"):
        Replay(paths[1], {"heavy_patience": None})


def test_a_promotion_pays_for_the_rest_and_a_repetition_pays_again(table):
    found = list(answered(Replay(table[1]), [(3, 2), (3, 6), (3, 6), (3, 2), (0, 6), (0, 6)]))
    best = 0.3, 0.15
    assert found == [
        (2, 2, 8.0, 0.5, 0.25),
        (4, 4, 16.0, *best),
        (6, 6, 24.0, *best),
        (2, 2, 8.0, 0.5, 0.25),
        (6, 6, 6.0, *best),
        (6, 6, 6.0, *best),
    ]


def test_without_continuation_a_promotion_pays_in_full(table):
    found = list(answered(Replay(table[1], {"resume_training": False}), [(3, 2), (3, 6)]))
    assert [iterations for _, iterations, *_ in found] == [2, 6]


def test_a_test_error_is_that_of_the_iteration_which_validation_chooses(table):
    replay = Replay(table[1], {"heavy_patience": 2, "light_iterations": 1, "light_patience": 2})
    evaluation = replay.evaluate(table[0].configurations[0], replay.heavy, seed=0)
    assert (evaluation.value, evaluation.test_error) == (0.5, 0.25)  # stopped before it fell again


def test_an_unfinished_grid_is_not_replayed(table):
    whole, path = table
    tables.Table(whole.name, whole.head, whole.rows[whole.rows["configuration"] != 4]).save(path)
    with pytest.raises(ValueError, match=r"lacks 1 of the 12 configurations of its grid: finish its recording"):
        Replay(path)


def test_values_of_another_grid_are_another_table(table, tmp_path):
    whole, _ = table
    other = {**GRID, "units": [16, 256]}
    with pytest.raises(tables.CorruptTable, match=r"configuration \d+: .*'units': must be one of \[16, 256\], got 512"):
        tables.Table(whole.name, dataclasses.replace(whole.head, grid=other), whole.rows).checked()


def test_a_run_on_a_grid_asks_for_its_configurations_alone_and_knows_test_errors(table, tmp_path):
    method = Spec("random_search", "baselines.random_search.RandomSearch")
    task, source = Spec("fcn", "benchmarks.objectives.fcn.FCN"), Recorded(table[1])
    data = source.objective(task).data
    experiment = Experiment(task, method, 0, Budget(heavy=12), data=data, source=source)
    run_experiment(experiment, tmp_path / "out")
    rows = read_rows(experiment.folder(tmp_path / "out"))
    assert [row.answer["distance"] for row in rows] == [0.0] * 12
    assert all(row.config == table[0].configurations[row.answer["configuration"]] for row in rows)
    assert all(math.isclose(row.test_error, row.value / 2) for row in rows)
