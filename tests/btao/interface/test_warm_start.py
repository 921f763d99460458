"""btao.interface.warm_start and BTAO.tell(config, level, value): results made elsewhere."""

import json
import math
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from btao import BTAO, Categorical, Integer, Real, Space, minimize
from optimizer_runs import FREE, LINE, SQUARE, assert_no_repeats, free, names, play, played, shifted

RULES = ("joint", "paper", "rate")
MIXED = Space({"x": Real(0.0, 1.0), "n": Integer(1, 9)})


def response(config, level):
    light = (config["x"] - 0.2) ** 2 + 0.1
    return light if level == "light" else light - 0.5 * config["x"] + 0.4


def old_trials(n_light, n_heavy, function=response):
    grid = [{"x": (k + 0.5) / n_light} for k in range(n_light)]
    rows = [{"config": config, "level": "light", "value": function(config, "light")} for config in grid]
    return rows + [{"config": c, "level": "heavy", "value": function(c, "heavy")} for c in grid[:n_heavy]]


# --- one result -----------------------------------------------------------------------------------------------------


def test_a_result_made_elsewhere_is_a_trial_that_was_not_asked_for():
    optimizer = BTAO(MIXED, **FREE)
    told = optimizer.tell({"n": np.int64(3), "x": np.float64(0.5)}, "light", np.float32(0.25), cost=2)
    assert optimizer.trials == [told]
    assert (told.number, told.level, told.status, told.value, told.cost) == (0, "light", "ok", 0.25, 2.0)
    assert told.given and told.config == {"x": 0.5, "n": 3}
    failed = optimizer.tell({"x": 0.5, "n": 4}, level="light", error="out of memory")
    assert (failed.status, failed.error, failed.given) == ("failed", "out of memory", True)
    assert optimizer.best is None
    heavy = optimizer.tell({"x": 0.5, "n": 3}, "heavy", 0.125)
    assert optimizer.best == heavy
    asked = optimizer.ask()
    assert not asked.given and asked.number == 3
    with pytest.raises(
        ValueError,
        match=r"trial 0 was told before: it is ok, value 0\.25; now it is told {.*}. A configuration has one result a "
        "level: of several measurements tell their mean$",
    ):
        optimizer.tell({"x": 0.5, "n": 3}, "light", 0.3)


def test_a_result_of_a_trial_that_waits_is_told_to_it():
    optimizer = BTAO(LINE, **FREE)
    trial = optimizer.ask()
    told = optimizer.tell(trial.config, "light", 0.5)
    assert (told.number, told.given, told.value) == (0, False, 0.5)
    with pytest.raises(ValueError, match="trial 0 was told before"):
        optimizer.tell(trial, 0.5)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (({"x": 0.5}, 0.1), ValueError, r"level must be 'light' or 'heavy', got 0\.1: of a configuration, tell"),
        (({"x": 0.5}, "medium", 0.1), ValueError, "level must be 'light' or 'heavy', got 'medium'"),
        (({"x": 0.5}, "light"), ValueError, "value is missing"),
        (({"x": 0.5}, "light", "0.1"), TypeError, "value must be a real number, got '0.1'"),
        (({"x": 1.5}, "light", 0.1), ValueError, r"parameter 'x': must lie in \[0\.0, 1\.0\], got 1\.5"),
        (({}, "light", 0.1), ValueError, "config lacks a value for"),
        ((0.5, "light", 0.1), TypeError, "trial must be one that ask"),
    ],
)
def test_a_wrong_result_is_refused_and_leaves_no_trial(arguments, kind, message):
    optimizer = BTAO(LINE)
    with pytest.raises(kind, match=message):
        optimizer.tell(*arguments)
    assert optimizer.trials == []


def test_a_trial_that_was_asked_for_is_told_without_its_level():
    optimizer = BTAO(LINE)
    with pytest.raises(TypeError, match=r"a trial knows its level: .*, got 'light' and 0\.1 beside it"):
        optimizer.tell(optimizer.ask(), "light", 0.1)
    assert len(optimizer.pending) == 1


# --- a start from old trials ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_old_trials_stand_in_for_the_start(rule):
    optimizer = BTAO(LINE, n_init=3, **free(rule))
    assert optimizer.add_trials(old_trials(6, 3)) == 9
    asked = play(optimizer, 9, response)
    assert not [trial for trial in asked if trial.level == "light" and trial.config in optimizer.initial_design]
    assert optimizer.best.config["x"] == pytest.approx(0.45, abs=0.05)
    assert_no_repeats(LINE, optimizer.trials)


def test_a_few_old_light_results_leave_the_rest_of_the_start():
    optimizer = BTAO(LINE, n_init=3, **FREE)
    optimizer.add_trials(old_trials(2, 0))
    asked = play(optimizer, 4, response)
    assert [trial.level for trial in asked] == ["light"] * 4
    assert [trial.config for trial in asked] == optimizer.initial_design[:4]
    assert [trial.level for trial in play(optimizer, 6, response)] == ["heavy"] * 3 + ["light"] * 2 + ["heavy"]


def test_a_point_of_the_start_that_is_known_is_not_asked_for_again():
    optimizer = BTAO(LINE, n_init=2, **FREE)
    second = optimizer.initial_design[1]
    optimizer.tell(second, "light", 0.5)
    asked = play(optimizer, 3, response)
    assert second not in [trial.config for trial in asked]


@pytest.mark.parametrize(("n_light", "n_heavy"), [(40, 0), (30, 30)])
def test_more_old_results_than_the_start_has_shift_no_iteration(n_light, n_heavy):
    optimizer = BTAO(LINE, n_init=2, **FREE)
    optimizer.add_trials(old_trials(n_light, n_heavy))
    start = ["heavy"] * (2 - min(2, n_heavy))
    levels = [trial.level for trial in play(optimizer, len(start) + 6, response)]
    assert levels == start + ["light", "light", "heavy"] * 2


def test_old_light_runs_are_no_debt_of_the_rate_rule():
    optimizer = BTAO(LINE, rule="rate")
    optimizer.add_trials([row | {"cost": 100.0} for row in old_trials(30, 1)])
    levels = []
    for trial in (optimizer.ask() for _ in range(12)):
        levels.append(trial.level)
        optimizer.tell(trial, response(trial.config, trial.level), cost=1.0 if trial.level == "light" else 5.0)
    assert "light" in levels


@pytest.mark.parametrize("rule", RULES)
def test_a_heavy_result_without_a_light_one_is_best_and_its_light_run_comes_first(rule):
    optimizer = BTAO(LINE, n_init=2, **free(rule))
    optimizer.tell({"x": 0.45}, "heavy", response({"x": 0.45}, "heavy"))
    assert optimizer.best.config == {"x": 0.45}
    with pytest.raises(RuntimeError, match="predict needs a successful light and heavy trial"):
        optimizer.predict({"x": 0.5})
    trial = optimizer.ask()
    assert (trial.level, trial.config) == ("light", {"x": 0.45})
    optimizer = BTAO.from_json(optimizer.to_json())
    assert optimizer.ask().config != {"x": 0.45}  # it is under way
    optimizer.tell(trial, response({"x": 0.45}, "light"))
    mean, _ = optimizer.predict({"x": 0.45})
    assert mean[0] == pytest.approx(response({"x": 0.45}, "heavy"), abs=1e-4)


@pytest.mark.parametrize("rule", RULES)
def test_a_restored_optimizer_goes_on_alike_after_a_warm_start(rule):
    optimizer = BTAO(LINE, n_init=2, **free(rule))
    optimizer.add_trials(old_trials(5, 2))
    restored = BTAO.from_json(optimizer.to_json())
    assert restored.trials == optimizer.trials
    assert names(play(restored, 7, shifted)) == names(play(optimizer, 7, shifted))
    assert restored.to_json() == optimizer.to_json()


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("rule", RULES)
def test_of_old_heavy_results_without_light_ones_the_best_few_are_run_lightly(rule, direction):
    sign = 1 if direction == "minimize" else -1

    def signed(config, level):
        return sign * response(config, level)

    optimizer = BTAO(LINE, n_init=3, direction=direction, **free(rule))
    old = [row for row in old_trials(60, 60, signed) if row["level"] == "heavy"]
    optimizer.add_trials(old)
    best = [row["config"] for row in sorted(old, key=lambda row: sign * row["value"])]
    assert optimizer.best.config == best[0]
    asked = play(BTAO.from_json(optimizer.to_json()), 14, signed)
    assert [(trial.level, trial.config) for trial in asked[:3]] == [("light", config) for config in best[:3]]
    assert [trial.level for trial in asked].count("heavy") >= 2


def test_a_light_run_of_an_old_heavy_result_that_fails_is_in_no_other_ones_place():
    optimizer = BTAO(LINE, n_init=1, **FREE)
    optimizer.add_trials([{"x": x, "level": "heavy", "value": x} for x in (0.75, 0.25)])
    optimizer.tell(trial := optimizer.ask(), error="no")
    assert trial.config == {"x": 0.25}
    assert optimizer.ask().config in optimizer.initial_design


RATES = Space({"rate": Real(1e-4, 1e-1, log=True), "kind": Categorical([(1, 2), (3,)])})
MINE = {"rate": 0.01, "kind": (1, 2)}


@pytest.mark.parametrize("given", ["enqueue", "tell", "add_trials", "design"])
def test_a_configuration_that_is_given_is_never_rounded(given):
    assert RATES.from_unit(RATES.to_unit(MINE)) != MINE
    optimizer = BTAO(RATES, n_init=1, design=[MINE] if given == "design" else None, **FREE)
    if given == "enqueue":
        optimizer.enqueue(MINE)
    elif given == "tell":
        optimizer.tell(MINE, "light", 0.5)
    elif given == "add_trials":
        optimizer.add_trials([{**MINE, "level": "light", "value": 0.5}])
    assert given != "design" or optimizer.initial_design == [MINE]
    optimizer = BTAO.from_json(optimizer.to_json())
    play(optimizer, 4, lambda config, level: config["rate"])
    of_mine = [trial for trial in optimizer.trials if trial.config == MINE]
    assert [trial.level for trial in of_mine] == ["light", "heavy"]
    restored = BTAO.from_json(optimizer.to_json())
    assert restored.trials == optimizer.trials
    assert restored.to_json() == optimizer.to_json()


def test_a_state_of_before_given_configurations_were_kept_is_read():
    state = json.loads(played(LINE, 3)[0].to_json())
    former = json.dumps({name: value for name, value in state.items() if name != "configs"} | {"format": 4})
    assert json.loads(BTAO.from_json(former).to_json()) == state


# --- tables ---------------------------------------------------------------------------------------------------------


def test_a_data_frame_is_read_with_its_null_values_as_failures():
    table = pd.DataFrame(
        {
            "x": [0.1, 0.2, 0.3, 0.1],
            "n": [1, 2, 3, 1],
            "level": ["light", "light", "light", "heavy"],
            "value": pd.array([0.5, None, 0.25, 0.125], dtype="Float64"),
            "error": [None, None, "diverged", None],
            "cost": [1.0, math.nan, 3.0, 5.0],
        }
    )
    optimizer = BTAO(MIXED)
    assert optimizer.add_trials(table) == 4
    rows = [(trial.config["n"], trial.level, trial.value, trial.error, trial.cost) for trial in optimizer.trials]
    assert rows == [
        (1, "light", 0.5, None, 1.0),
        (2, "light", None, "the value is nan", None),
        (3, "light", None, "diverged", 3.0),
        (1, "heavy", 0.125, None, 5.0),
    ]
    assert optimizer.add_trials(table) == 0  # all of it is known


def test_the_trials_of_another_optimizer_are_taken_without_those_that_wait():
    first = BTAO(SQUARE, seed=1, n_init=2, **FREE)
    play(first, 8)
    first.ask()
    second = BTAO(SQUARE, seed=2, n_init=2, **FREE)
    assert second.add_trials(first.trials) == 8
    assert [(t.level, t.config, t.value) for t in second.trials] == [
        (t.level, t.config, t.value) for t in first.trials[:8]
    ]


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        ("x", TypeError, "trials must be a DataFrame of pandas, or a list of dict or Trial, got 'x'"),
        ({"x": 0.1}, TypeError, "trials must be a DataFrame of pandas"),
        ([0.1], TypeError, r"row 0 of trials must be a dict or a Trial, got 0\.1"),
        ([{"x": 0.1, "value": 1.0}], ValueError, "row 0 of trials: it lacks its level"),
        ([{"x": 0.1, "level": "light"}], ValueError, "row 0 of trials: it lacks its value"),
        ([{"x": 0.1, "level": "light", "value": "a"}], TypeError, "row 0 of trials: value must be a real number"),
        (
            [{"x": 0.1, "level": "light", "value": 0.3, "status": "failed"}],
            ValueError,
            r"row 0 of trials: its status must be 'ok' with value 0\.3 and error None, got 'failed'",
        ),
        (
            [{"config": {"x": 0.1}, "level": "light", "value": None, "status": "ok"}],
            ValueError,
            "row 0 of trials: its status must be 'failed' with value nan and error None, got 'ok'",
        ),
        ([{"y": 0.1, "level": "light", "value": 1.0}], ValueError, "row 0 of trials: config has no parameter 'y'"),
        (
            [{"x": 0.1, "level": "light", "value": 1.0}, {"x": 0.1, "level": "light", "value": 2.0}],
            ValueError,
            r"trial 0 was told before: it is ok, value 1\.0; now it is told",
        ),
    ],
)
def test_a_wrong_row_is_named_and_none_is_taken(rows, kind, message):
    optimizer = BTAO(LINE)
    before = optimizer.to_json()
    if isinstance(rows, list):
        rows = [{"x": 0.9, "level": "light", "value": 3.0}, *rows]
        message = message.replace("row 0", "row 1").replace("trial 0", "trial 1")
    with pytest.raises(kind, match=message):
        optimizer.add_trials(rows)
    assert optimizer.to_json() == before


def test_a_parameter_that_is_called_as_a_field_needs_rows_with_a_config():
    space = Space({"cost": Real(0.0, 1.0)})
    with pytest.raises(ValueError, match=r"row 0 of trials: 'cost' is the name of a parameter, too: give rows as"):
        BTAO(space).add_trials([{"cost": 0.5, "level": "light", "value": 1.0}])
    assert BTAO(space).add_trials([{"config": {"cost": 0.5}, "level": "light", "value": 1.0}]) == 1


# --- minimize -------------------------------------------------------------------------------------------------------


def test_minimize_starts_from_old_trials_and_counts_new_heavy_runs_alone(tmp_path):
    objectives = {level: lambda config, level=level: response(config, level) for level in ("light", "heavy")}
    state = tmp_path / "run.json"
    options = {"n_init": 3, "state": state, "warm_start": old_trials(6, 3), "enqueue": [{"x": 0.5}], **FREE}
    result = minimize(objectives, LINE, n_heavy=2, **options)
    new = [trial for trial in result.trials if not trial.given]
    assert [trial.level for trial in new].count("heavy") == 2
    assert names(new)[:2] == [(9, "light", {"x": 0.5}), (10, "heavy", {"x": 0.5})]
    longer = minimize(objectives, LINE, n_heavy=3, **options)  # takes and enqueues nothing anew
    assert names(longer.trials)[: len(result.trials)] == names(result.trials)
    assert sum(trial.level == "heavy" for trial in longer.trials) == 6


@pytest.mark.parametrize("space", [MIXED, Space({"n": Integer(0, 999)})], ids=["mixed", "grid"])
def test_the_work_of_a_warm_start_grows_with_the_number_of_trials(space, monkeypatch):
    measured, features = [], Space.features
    rows = [0]

    def counted(self, points):
        rows[0] += len(points)
        return features(self, points)

    monkeypatch.setattr(Space, "features", counted)
    for n in (100, 200):
        axes = np.tile((np.arange(n) + 0.5) / n, (space.dim, 1))
        configs = [space.from_unit(u) for u in np.random.default_rng(0).permuted(axes, axis=1).T]
        optimizer = BTAO(space, **FREE)
        rows[0] = 0
        lines = lines_run(
            lambda optimizer=optimizer, configs=configs: optimizer.add_trials(
                [{"config": config, "level": "light", "value": 0.1} for config in configs]
            )
        )
        measured.append((rows[0], lines))
    (rows_of_100, lines_of_100), (rows_of_200, lines_of_200) = measured
    assert 0 < rows_of_200 <= 2.1 * rows_of_100
    assert 0 < lines_of_200 <= 2.1 * lines_of_100


def lines_run(act):
    """How many lines of Python an act runs, those that a comprehension repeats included."""
    n_lines = 0

    def trace(frame, event, argument):
        nonlocal n_lines
        n_lines += 1
        frame.f_trace_opcodes = True
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return n_lines


def test_a_warm_start_that_is_refused_leaves_what_was_known():
    optimizer = BTAO(LINE, **FREE)
    waiting = optimizer.ask()
    rows = [
        {"config": waiting.config, "level": "light", "value": 0.2},
        {"x": 0.123, "level": "light", "value": 0.3},
        {"x": 0.123, "level": "light", "value": 0.4},
    ]
    with pytest.raises(ValueError, match=r"trial 1 was told before: it is ok, value 0\.3"):
        optimizer.add_trials(rows)
    assert optimizer.trials == [waiting]
    assert optimizer.add_trials(rows[:2]) == 2
    assert [trial.value for trial in optimizer.trials] == [0.2, 0.3]


def test_a_warm_start_that_is_interrupted_leaves_what_was_known(monkeypatch):
    optimizer, take_on = BTAO(LINE, **FREE), BTAO._take_on

    def interrupted(self, result):
        take_on(self, result)
        raise KeyboardInterrupt

    monkeypatch.setattr(BTAO, "_take_on", interrupted)
    with pytest.raises(KeyboardInterrupt):
        optimizer.add_trials(old_trials(2, 0))
    assert optimizer.trials == []


def test_no_other_thread_sees_a_part_of_a_warm_start(monkeypatch):
    optimizer, take_on = BTAO(LINE, **FREE), BTAO._take_on
    optimizer.add_trials(old_trials(3, 1))
    begun, seen = threading.Event(), []
    looks = (lambda: len(optimizer.trials), lambda: optimizer.best.value, lambda: len(optimizer.pending))

    def slow(self, result):
        told = take_on(self, result)
        begun.set()
        threads[0].join(timeout=0.05)  # whoever does not wait for the lock sees this moment
        return told

    def look():
        begun.wait()
        seen.extend(look() for look in looks)

    before = [look() for look in looks]
    monkeypatch.setattr(BTAO, "_take_on", slow)
    threads = [threading.Thread(target=look)]
    threads[0].start()
    rows = [{"x": 0.9, "level": "heavy", "value": -5.0}, {"x": 0.9, "level": "heavy", "value": -6.0}]
    with pytest.raises(ValueError, match="was told before"):
        optimizer.add_trials(rows)
    threads[0].join()
    assert seen == before
