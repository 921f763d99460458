"""Replay: a table answers exactly as the training that it recorded would have."""

import dataclasses
import json
import math
from typing import ClassVar

import numpy as np
import pandas
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from baselines.protocol import SearchExhausted, Trial
from benchmarks.config.spec import Spec
from benchmarks.data.source import DataSource
from benchmarks.objectives.curve import CurveTask, Iteration
from benchmarks.records.curves import record_of
from benchmarks.records.frames import load
from benchmarks.records.grid import grids
from benchmarks.records.run_info import Status
from benchmarks.records.trials import Row, read_rows
from benchmarks.running.budget import Budget
from benchmarks.running.continuation import Continuation
from benchmarks.running.experiment import Experiment, _level, run_experiment
from benchmarks.running.source import Recorded
from benchmarks.studies.execution import ended_early
from benchmarks.tables import table as tables
from benchmarks.tables.answers import NearestAnswers
from benchmarks.tables.replay import Replay
from btao import Integer, Real, Space
from btao.training import Level

HEAVY = 6
DATA = DataSource("numbers", "0" * 64, 100, 50)
CONFIGS = [{"x": 0.0, "k": 1}, {"x": 0.5, "k": 3}, {"x": 1.0, "k": 5}, {"x": 0.25, "k": 2}]

TARGET = f"{__name__}:Scripted"


class Scripted(CurveTask):
    """Trains along given curves, by configuration; `delta_bounds` is there to have a parameter of no effect here."""

    space = Space({"x": Real(0.0, 1.0), "k": Integer(1, 5)})
    rho_bounds, data, optimum = (0.0, 1.0), DATA, None
    curves: ClassVar[list] = []

    def __init__(
        self,
        light_patience: int | None = 2,
        light_tolerance: float = 0.1,
        heavy_patience: int | None = 3,
        heavy_tolerance: float = 0.0,
        heavy_iterations: int = HEAVY,
        resume_training: bool = True,
        width: int = 1,
        delta_bounds: tuple[float, float] = (-1.0, 0.0),
    ):
        self.light = Level(2, light_patience, light_tolerance)
        self.heavy = Level(heavy_iterations, heavy_patience, heavy_tolerance)
        self.resume_training, self.width, self.delta_bounds = resume_training, width, delta_bounds

    def prepare(self):
        pass

    def start(self, config, seed):
        return ScriptedTraining(self.curves[CONFIGS.index(config)])


class ScriptedTraining:
    def __init__(self, curve):
        self.curve, self.done = curve, 0

    def advance(self):
        self.done += 1
        return Iteration(self.curve[self.done - 1], 0.5)

    def test_error(self):
        return self.curve[self.done - 1] / 2

    def state(self):
        return {"done": np.array(self.done)}

    def restore(self, state):
        self.done = int(state["done"])


@pytest.fixture(autouse=True, scope="module")
def known():
    """The task of these tests, beside those that there are."""
    real = tables.target_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "target_of", lambda group, task: TARGET if task == "scripted" else real(group, task))
        yield


def table_of(curves, path, clock=1.0, **head):
    """A table of the curves; iteration i of configuration c ends c + i * clock processor seconds after the start."""
    rows = [
        {
            "configuration": 10 * c,
            **{f"config.{name}": value for name, value in CONFIGS[c].items()},
            "iteration": i,
            "consumed": i,
            "validation_error": error,
            "training_error": 0.5,
            "test_error": error / 2,
            "seconds": 100.0 * i,
            "processor_seconds": c + i * clock,
        }
        for c, curve in enumerate(curves)
        for i, error in enumerate(curve, start=1)
    ]
    values = {
        "task": "scripted",
        "version": 1,
        "parameters": {"heavy_iterations": HEAVY, "width": 1},
    }
    values |= {"scale": "smoke", "data": DATA, "seed": 0, "threads": 1, "every_iteration": True, "made_by": ()}
    result = tables.Table(path.stem, tables.Head(**values | head), pandas.DataFrame(rows).astype(tables.COLUMNS))
    result.save(path)
    return path


def until_nan(curve):
    """Training ends where it diverges."""
    for index, value in enumerate(curve, start=1):
        if math.isnan(value):
            return curve[:index]
    return curve


def as_row(trial, evaluation, start=0):
    value = None if math.isnan(evaluation.value) else evaluation.value
    fixed = (trial.number, trial.heavy, trial.budget, trial.config, value, "ok", evaluation.error)
    curve = None
    if evaluation.curve is not None:
        curve = record_of(evaluation.curve, start)
    return Row(*fixed, evaluation.iterations, 0.0, 0.0, 0.0, None, curve, None, evaluation.answer)


error = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, math.nan])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(error, min_size=HEAVY, max_size=HEAVY).map(until_nan), min_size=4, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, HEAVY)), max_size=12, unique=True),
    st.booleans(),
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([None, 1, 2, 3]),
)
def test_a_replayed_run_measures_and_consumes_what_a_live_one_does(
    tmp_path_factory, curves, script, resumes, patience, recorded_with
):
    """Where proposals are recorded configurations; each at a budget once.

    Curves end where the patience of a recording does, if it has any, in a replay of no more patience.
    """
    folder = tmp_path_factory.mktemp("replay")
    assume(recorded_with is None or (patience is not None and patience <= recorded_with))
    given_ = {"resume_training": resumes, "heavy_patience": patience, "light_patience": patience and 1}
    assume(any(len(seen) == HEAVY and not math.isnan(seen[-1]) for seen in curves))  # a table needs a heavy result
    Scripted.curves = curves
    live_task = Scripted(**given_)
    if recorded_with is None:
        path = table_of(curves, folder / "t.parquet")
    else:
        ended = [curve[: Level(HEAVY, recorded_with).stop(curve)] for curve in curves]
        parameters = {"heavy_iterations": HEAVY, "heavy_patience": recorded_with, "width": 1}
        path = table_of(ended, folder / "t.parquet", parameters=parameters, full_length=False)
    replay = Replay(path, given_)
    live, replayed = Continuation(live_task, 0, folder), NearestAnswers(replay)
    for number, (c, budget) in enumerate(script):
        trial = Trial(number, CONFIGS[c], budget == HEAVY, budget)
        level = _level(live_task, trial)
        assert replayed.cost(trial) == live.cost(trial)
        done = live.done(trial)
        expected, found = live.evaluate(trial, level), replayed.evaluate(trial, level)
        assert (found.iterations, found.error) == (expected.iterations, expected.error)
        assert found.value == expected.value or (math.isnan(found.value) and math.isnan(expected.value))
        assert found.test_error == expected.test_error == (None if expected.error else expected.value / 2)
        assert found.answer == {"configuration": 10 * c, "distance": 0.0}
        clock = [0.0, *(c + float(i) for i in range(1, HEAVY + 1))]
        start = done if resumes else 0
        assert found.seconds == (clock[start + found.iterations] - clock[start] if found.iterations else 0.0)
        live.remember(as_row(trial, expected, done))
        replayed.remember(as_row(trial, found))


FLAT = [[0.5, 0.4, 0.3, 0.25, 0.2, 0.1], [0.6] * 6, [0.7, 0.3, 0.3, 0.3, 0.3, 0.05], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]]


def test_the_nearest_configuration_answers_that_was_not_seen_at_the_budget(tmp_path):
    replayed = NearestAnswers(Replay(table_of(FLAT, tmp_path / "t.parquet")))
    asked = {"x": 0.5, "k": 3}
    answers = []
    for number in range(4):
        trial = Trial(number, asked, True, HEAVY)
        evaluation = replayed.evaluate(trial, Level(HEAVY))
        answers.append((evaluation.answer["configuration"], round(evaluation.answer["distance"], 6)))
        replayed.remember(as_row(trial, evaluation))
    # In the unit cube the k of 1, ..., 5 are at 0.1, 0.3, ..., 0.9.
    expected = [(10, 0.0), (30, math.hypot(0.25, 0.2)), (0, math.hypot(0.5, 0.4)), (20, math.hypot(0.5, 0.4))]
    assert answers == [(number, round(distance, 6)) for number, distance in expected]
    with pytest.raises(SearchExhausted, match="every recorded configuration was seen at 6 iterations"):
        replayed.cost(Trial(4, asked, True, HEAVY))
    other = Trial(5, {"x": 0.5, "k": 2}, False, 2)
    assert replayed.evaluate(other, Level(2)).answer["configuration"] == 10  # another budget, and all are taken


def test_a_heavy_run_continues_its_own_light_run(tmp_path):
    """Though another recorded configuration is nearer, which another light run had taken."""
    replayed = NearestAnswers(Replay(table_of(FLAT, tmp_path / "t.parquet")))
    first, second = {"x": 0.5, "k": 3}, {"x": 0.51, "k": 3}
    answers = []
    for number, (config, budget) in enumerate([(first, 2), (second, 2), (second, HEAVY), (first, HEAVY)]):
        trial = Trial(number, config, budget == HEAVY, budget)
        evaluation = replayed.evaluate(trial, Level(budget))
        answers.append((evaluation.answer["configuration"], evaluation.iterations))
        replayed.remember(as_row(trial, evaluation))
    assert answers == [(10, 2), (30, 2), (30, 4), (10, 4)]


def answered(replayed, asked):
    """Of trials (x, budget): which configuration answers, the most it can consume, iterations and seconds."""
    for number, (x, budget) in enumerate(asked):
        trial = Trial(number, {"x": x, "k": 3}, budget == HEAVY, budget)
        cost = replayed.cost(trial)
        evaluation = replayed.evaluate(trial, Level(budget))
        yield evaluation.answer["configuration"], cost, evaluation.iterations, evaluation.seconds
        replayed.remember(as_row(trial, evaluation))


def test_a_new_configuration_takes_nothing_that_another_may_continue(tmp_path):
    """As where a method begins some configurations at the heavy level, and promotes others to it."""
    replayed = NearestAnswers(Replay(table_of(FLAT, tmp_path / "t.parquet")))
    paid = list(answered(replayed, [(0.5, 2), (0.51, HEAVY), (0.51, 2), (0.5, 4), (0.5, HEAVY)]))
    assert paid == [(10, 2, 2, 3.0), (30, HEAVY, HEAVY, 9.0), (30, 2, 2, 5.0), (10, 2, 2, 2.0), (10, 2, 2, 2.0)]


def test_a_configuration_that_was_answered_twice_goes_on_with_the_first(tmp_path):
    replayed = NearestAnswers(Replay(table_of(FLAT, tmp_path / "t.parquet")))
    paid = list(answered(replayed, [(0.5, 2), (0.5, 2), (0.5, 4), (0.5, 4)]))
    assert [(answer, cost) for answer, cost, *_ in paid] == [(10, 2), (30, 2), (10, 2), (30, 2)]


def test_what_another_configuration_has_paid_for_is_paid_again(tmp_path):
    """As a live run would train it, where every answer is taken: the answer is the same, the configuration is not."""
    replayed = NearestAnswers(Replay(table_of(FLAT, tmp_path / "t.parquet")))
    taken = [(0.5, 2), (0.26, 2), (0.01, 2), (0.99, 2)]
    paid = list(answered(replayed, [*taken, (0.51, HEAVY), (0.51, 3), (0.5, HEAVY)]))
    assert [answer for answer, *_ in paid[:4]] == [10, 30, 0, 20]
    # The last one's own answer was seen at this budget: another curve, from its start.
    assert paid[4:] == [(10, HEAVY, HEAVY, 7.0), (10, 3, 3, 4.0), (30, HEAVY, HEAVY, 9.0)]


def test_a_table_does_not_choose_what_is_called(tmp_path):
    """The first tables named the class of their task."""
    path = table_of(FLAT, tmp_path / "t.parquet", parameters={"command": f"touch {tmp_path}/called"})
    table = parquet.read_table(path)
    head = json.loads(table.schema.metadata[tables.KEY])
    del head["version"]
    head["target"] = "os:system"
    parquet.write_table(table.replace_schema_metadata({tables.KEY: json.dumps(head)}), path)
    assert tables.load(path).head.version == 1
    with pytest.raises(ValueError, match="scripted has no parameter 'command'"):
        Replay(path)
    assert not (tmp_path / "called").exists()


def test_a_table_of_an_unknown_task_or_of_another_version_of_it_is_refused(tmp_path):
    with pytest.raises(tables.CorruptTable, match=r"there is no conf/task/unknown\.yaml"):
        Replay(table_of(FLAT, tmp_path / "t.parquet", task="unknown"))
    with pytest.raises(tables.CorruptTable, match="of version 2 of task scripted, which is at version 1: record it"):
        Replay(table_of(FLAT, tmp_path / "u.parquet", version=2))


def test_a_table_without_a_heavy_result_is_refused(tmp_path):
    with pytest.raises(tables.CorruptTable, match="table t: no configuration has a heavy result"):
        Replay(table_of([[0.5, math.nan], [math.nan]], tmp_path / "t.parquet"))


def test_regret_is_against_the_best_heavy_measurement(tmp_path):
    """Not against the best error in the table: training stops before 0.05."""
    replay = Replay(table_of(FLAT, tmp_path / "t.parquet"))
    assert replay.optimum == 0.1
    assert Replay(tmp_path / "t.parquet", {"heavy_patience": None}).optimum == 0.05
    assert replay.evaluate({"x": 0.9, "k": 5}, replay.heavy, seed=0).value == 0.3


def test_levels_with_which_training_would_go_on_where_curves_end_are_refused(tmp_path):
    ended = [curve[: Level(HEAVY, 2, 0.05).stop(curve)] for curve in FLAT]
    assert [len(curve) for curve in ended] == [6, 3, 4, 6]
    patience = {"heavy_patience": 2, "heavy_tolerance": 0.05, "light_patience": 2, "light_tolerance": 0.05}
    parameters = {"heavy_iterations": HEAVY, "width": 1, **patience}
    path = table_of(ended, tmp_path / "t.parquet", parameters=parameters, full_length=False)
    right = "_patience must be at most 2 and {0}_tolerance at least 0.05, by which training ended in table t, got "
    for changes, wrong in (
        ({"heavy_patience": 3}, "heavy" + right.format("heavy") + "3 and 0.05"),
        ({"heavy_patience": None}, "heavy" + right.format("heavy") + "None and 0.05"),
        ({"heavy_tolerance": 0.04}, "heavy" + right.format("heavy") + "2 and 0.04"),
        ({"light_patience": 3}, "light" + right.format("light") + "3 and 0.05"),
    ):
        with pytest.raises(ValueError, match=wrong):
            Replay(path, changes)
    with pytest.raises(ValueError, match="the curve ends after 3 iterations, where Level"):
        Replay(path).read(1, Level(HEAVY, 3, 0.05), 0)
    sooner = Replay(path, {"heavy_patience": 1, "light_patience": 1, "heavy_tolerance": 0.06, "light_tolerance": 0.06})
    assert [sooner.read(index, sooner.heavy, 0).iterations for index in range(4)] == [4, 2, 3, 6]


def experiment(path, seed=3, heavy=3, **parameters):
    task = Spec("scripted", TARGET, parameters)
    method = Spec("random_search", "baselines.random_search.RandomSearch")
    return Experiment(task, method, seed, Budget(heavy=heavy), data=Replay(path).data, source=Recorded(path))


def test_a_run_keeps_the_recorded_seconds_and_continues_where_it_was_cut(tmp_path):
    path = table_of(FLAT, tmp_path / "t.parquet")
    each = experiment(path)
    assert run_experiment(each, tmp_path / "whole") is Status.FINISHED
    rows = read_rows(each.folder(tmp_path / "whole"))
    assert len({row.answer["configuration"] for row in rows}) == 3
    for row in rows:
        assert row.train_seconds == row.answer["configuration"] / 10 + row.iterations
        assert (row.curve, row.processor_seconds) == (None, None)
    frame = load(tmp_path / "whole")
    assert set(frame["optimum"]) == {0.1}
    answers = list(zip(frame["answer"], frame["distance"], strict=True))
    assert answers == [(row.answer["configuration"], row.answer["distance"]) for row in rows]
    folder = each.folder(tmp_path / "cut")
    folder.mkdir(parents=True)
    lines = (each.folder(tmp_path / "whole") / "trials.jsonl").read_text().splitlines(keepends=True)
    (folder / "trials.jsonl").write_text("".join(lines[:2]))
    run_experiment(each, tmp_path / "cut")
    seconds = ["method_seconds", "time"]
    assert load(tmp_path / "cut").drop(columns=seconds).equals(frame.drop(columns=seconds))


def test_a_run_ends_when_the_table_does(tmp_path):
    each = experiment(table_of(FLAT, tmp_path / "t.parquet"), heavy=9)
    assert run_experiment(each, tmp_path) is Status.EXHAUSTED
    assert len(load(tmp_path)) == 4
    lines = ended_early([each], tmp_path)
    assert lines == [f"{each.method.name}, 1 run: every recorded configuration was seen at {HEAVY} iterations"]
    (grid,) = grids(tmp_path)
    assert grid.lines()[-1] == lines[0].replace("1 run:", "1 done with budget left:")


def test_other_contents_are_another_experiment(tmp_path):
    first = experiment(table_of(FLAT, tmp_path / "t.parquet"))
    same = experiment(table_of(FLAT, tmp_path / "t.parquet", made_by=({"machine": {"cores": 2}},)))
    other = experiment(table_of([*FLAT[:3], [0.9] * 6], tmp_path / "t.parquet"))
    assert first.hash == same.hash != other.hash


@pytest.mark.parametrize(
    "head", [{"threads": 2}, {"made_by": ({"machine": {}}, {"machine": {"gpus": 1}})}], ids=["threads", "gpu"]
)
def test_what_one_processor_does_not_time_is_timed_by_the_wall_clock(tmp_path, head):
    replay = Replay(table_of(FLAT, tmp_path / "t.parquet", **head))
    assert replay.evaluate(CONFIGS[0], Level(2), seed=0).seconds == 200.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"width": 2}, "table t was recorded with width=1, not 2: leave it out"),
        ({"heavy_iterations": 7}, "heavy_iterations must be at most 6, where table t ends, got 7"),
        ({"breadth": 2}, "scripted has no parameter 'breadth'"),
        ({"width": 1, "heavy_iterations": 4}, None),
    ],
)
def test_only_how_a_curve_is_read_can_be_changed(tmp_path, parameters, message):
    path = table_of(FLAT, tmp_path / "t.parquet")
    if message is None:
        assert Replay(path, parameters).heavy.iterations == 4
    else:
        with pytest.raises(ValueError, match=message):
            Replay(path, parameters)


def sparse(tmp_path, monkeypatch):
    """A table of a task that is trained from the start for every number of iterations; one solver converged at 40."""
    path = table_of(FLAT, tmp_path / "t.parquet")
    rows = [
        {"configuration": c, "config.C": C, "config.gamma": 1.0, "iteration": i, "consumed": min(i, most)}
        | {
            "validation_error": 0.5 / i,
            "training_error": math.nan,
            "test_error": 0.25 / i,
            "seconds": 0.0 + i,
            "processor_seconds": 0.1 * i,
        }
        for c, (C, most) in enumerate([(1.0, 500), (8.0, 40)])
        for i in (50, 167, 500)
    ]
    head = dataclasses.replace(tables.load(path).head, parameters={}, every_iteration=False)
    tables.Table("t", head, pandas.DataFrame(rows).astype(tables.COLUMNS)).save(path)
    monkeypatch.setattr(tables, "target_of", lambda group, task: "benchmarks.objectives.svm.SVM")
    return NearestAnswers(Replay(path))


def test_a_task_that_cannot_continue_pays_for_all_iterations_but_not_for_a_known_light_run_twice(tmp_path, monkeypatch):
    replayed = sparse(tmp_path, monkeypatch)
    found = []
    for number, (C, budget) in enumerate([(1.0, 50), (1.0, 500), (1.0, 167), (8.0, 500), (8.0, 50)]):
        trial = Trial(number, {"C": C, "gamma": 1.0}, budget == 500, budget)
        evaluation = replayed.evaluate(trial, Level(budget))
        replayed.remember(as_row(trial, evaluation))
        found.append((evaluation.value, evaluation.iterations, round(evaluation.seconds, 9)))
    assert found == [(0.01, 50, 5.0), (0.001, 500, 45.0), (0.5 / 167, 167, 11.7), (0.001, 40, 50.0), (0.01, 40, 0.0)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"light_iterations": 20}, "light_iterations must be 50, which is what table t has, got 20"),
        ({"heavy_iterations": 400}, "heavy_iterations must be 167 or 500, which is what table t has, got 400"),
        ({"heavy_iterations": 167}, None),
    ],
)
def test_levels_are_recorded_ones_where_training_cannot_be_watched(tmp_path, monkeypatch, parameters, message):
    sparse(tmp_path, monkeypatch)
    if message is None:
        assert Replay(tmp_path / "t.parquet", parameters).optimum == 0.5 / 167
    else:
        with pytest.raises(ValueError, match=message):
            Replay(tmp_path / "t.parquet", parameters)


def test_between_recorded_numbers_of_iterations_the_smaller_answers(tmp_path, monkeypatch):
    replayed = sparse(tmp_path, monkeypatch)
    trial = Trial(0, {"C": 1.0, "gamma": 1.0}, False, 499)
    assert replayed.evaluate(trial, Level(499)).value == 0.5 / 167
    with pytest.raises(ValueError, match="knows nothing of fewer than 50 iterations, got 49"):
        replayed.evaluate(Trial(1, {"C": 1.0, "gamma": 1.0}, False, 49), Level(49))
