"""btao.optimizer: failed trials, unusual values and trials under way."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from btao import BTAO, Measurement, TruncationWarning
from optimizer_runs import BOUNDED, FREE, LINE, MIXED, SQUARE, assert_no_repeats, loss, of_level, play, played, shifted

# --- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        ({"value": math.nan}, "the value is nan"),
        ({"value": math.inf}, "the value is inf"),
        ({"value": -math.inf}, "the value is -inf"),
        ({"value": 1e300}, "the value is 1e+300, more than 1e+100 in size"),
        ({"value": 10**400}, "the value is inf"),
        ({"error": "out of memory"}, "out of memory"),
        ({"value": -5.0, "error": "diverged"}, "diverged"),
    ],
)
def test_failed_trials_are_recorded_never_best_and_never_asked_again(outcome, error):
    optimizer = BTAO(LINE, n_init=2, seed=4, **FREE)
    failed = []
    for number in range(14):
        trial = optimizer.ask()
        if number in (1, 4, 7, 10, 12):
            told = optimizer.tell(trial, **outcome)
            failed.append(told)
            assert told.status == "failed" and told.value is None
            assert told.error == error
        else:
            optimizer.tell(trial, loss(trial.config, trial.level))
    assert {trial.level for trial in failed} == {"light", "heavy"}
    assert_no_repeats(LINE, optimizer.trials)
    heavy = of_level(optimizer.trials, "heavy")
    assert optimizer.best.value == min(trial.value for trial in heavy if trial.status == "ok")
    bad_lights = [trial.config for trial in of_level(failed, "light")]
    assert not [trial for trial in heavy if trial.config in bad_lights]


@pytest.mark.parametrize("measured", [Measurement(0.5, cost=2.0), Measurement(math.nan, "out of memory", 3.0)])
def test_a_trial_may_be_told_what_an_objective_measured(measured):
    optimizer = BTAO(LINE, **FREE)
    value = None if measured.error else measured.value
    for told in (optimizer.tell(optimizer.ask(), measured), optimizer.tell({"x": 0.123}, "light", measured)):
        assert (told.value, told.error, told.cost) == (value, measured.error, measured.cost)
    with pytest.raises(TypeError, match=r"a Measurement has its own error and cost, got error=None, cost=1\.0 beside"):
        optimizer.tell(optimizer.ask(), measured, cost=1.0)


def test_a_start_that_fails_altogether_goes_on_with_light_runs_far_apart():
    optimizer = BTAO(SQUARE, n_init=2, seed=0, **FREE)
    for _ in range(12):
        trial = optimizer.ask()
        assert trial.level == "light"
        optimizer.tell(trial, error="no")
    points = np.array([trial.point for trial in optimizer.trials])
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(12, 1)]
    assert distances.min() > 0.15
    assert optimizer.best is None
    good = optimizer.ask()
    optimizer.tell(good, 0.4)
    heavy = optimizer.ask()
    assert (heavy.level, heavy.config) == ("heavy", good.config)
    optimizer.tell(heavy, 0.3)
    play(optimizer, 6)
    assert optimizer.best.value <= 0.3


@pytest.mark.parametrize("rule", ["joint", "paper"])
def test_heavy_runs_that_all_fail_leave_a_run_of_light_ones(rule):
    def objective(config, level):
        return loss(config, level) if level == "light" else math.nan

    optimizer, asked = played(SQUARE, 24, objective, n_init=2, rule=rule)
    assert len(of_level(asked, "heavy")) == 8
    assert_no_repeats(SQUARE, asked)
    assert optimizer.best is None
    with pytest.raises(RuntimeError, match="successful light and heavy trial"):
        optimizer.predict([asked[0].config])


def test_a_search_leaves_the_region_that_fails():
    def objective(config, level):
        return math.nan if config["x"] < 0.5 else config["x"] + (0.1 if level == "light" else 0.0)

    optimizer, asked = played(LINE, 27, objective, seed=1)
    assert optimizer.best.config["x"] == pytest.approx(0.5, abs=0.05)
    assert sum(trial.config["x"] >= 0.5 for trial in asked) > 10


# --- unusual objectives ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "bounds"), [(0.0, FREE), (0.3, FREE), (1e99, FREE), (0.0, BOUNDED), (0.3, BOUNDED), (-7.0, BOUNDED)]
)
@pytest.mark.parametrize("rule", ["joint", "paper"])
def test_a_constant_objective(value, bounds, rule):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        optimizer, asked = played(SQUARE, 12, lambda config, level: value, n_init=2, **bounds | {"rule": rule})
    assert_no_repeats(SQUARE, asked)
    assert optimizer.best.value == value
    assert optimizer.best.number == next(trial.number for trial in asked if trial.level == "heavy")


def test_heavy_values_above_light_ones_widen_the_bounds_with_a_warning():
    def objective(config, level):
        return loss(config, "light") + (0.2 if level == "heavy" else 0.0)

    with pytest.warns(TruncationWarning, match=r"breaks the upper bound 0 on delta for every rho in \[0, 1\]"):
        optimizer, asked = played(SQUARE, 16, objective, n_init=3, **BOUNDED)
        assert np.isfinite(optimizer.predict([trial.config for trial in asked])).all()
    assert_no_repeats(SQUARE, asked)
    assert optimizer.delta_bounds == (-1.0, 0.0)  # the user's stay


def test_values_far_outside_the_bounds_widen_them():
    def objective(config, level):
        return -1000 * config["x"] if level == "light" else -2000 * config["x"]

    with pytest.warns(TruncationWarning, match=r"breaks the lower bound -1 on delta for every rho in \[0, 1\]"):
        optimizer, _ = played(LINE, 12, objective, n_init=2, **BOUNDED)
    assert optimizer.best.value < -1900


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**40),
    bounds=st.sampled_from([FREE, BOUNDED]),
    values=st.lists(st.sampled_from([0.0, 0.5, 1e6, -3.0, math.nan]), min_size=11, max_size=11),
)
def test_whatever_is_told_proposals_are_new_points_of_the_space(seed, bounds, values):
    optimizer = BTAO(MIXED, seed=seed, n_init=2, **bounds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        for value in values:
            trial = optimizer.ask()
            MIXED.validate(trial.config)
            optimizer.tell(trial, value)
    assert_no_repeats(MIXED, optimizer.trials)


# --- pending trials -------------------------------------------------------------------------------------------------


def test_several_trials_under_way_are_all_different_and_may_be_told_in_any_order():
    optimizer = BTAO(SQUARE, n_init=2, seed=5, **FREE)
    rng = np.random.default_rng(0)
    for _ in range(7):
        batch = [optimizer.ask() for _ in range(4)]
        assert [trial.number for trial in optimizer.pending] == [trial.number for trial in batch]
        for index in rng.permutation(4):
            optimizer.tell(batch[index], loss(batch[index].config, batch[index].level))
        assert optimizer.pending == []
    assert_no_repeats(SQUARE, optimizer.trials)
    assert len(of_level(optimizer.trials, "heavy")) >= 5


def test_a_start_asked_for_at_once_goes_on_beyond_the_design():
    optimizer = BTAO(LINE, n_init=2, **FREE)
    batch = [optimizer.ask() for _ in range(7)]
    assert [trial.level for trial in batch] == ["light"] * 7  # no heavy run before its light one is told
    assert_no_repeats(LINE, batch)
    for trial in reversed(batch):
        optimizer.tell(trial, loss(trial.config, trial.level))
    heavy = [optimizer.ask(), optimizer.ask()]
    assert [trial.config for trial in heavy] == [trial.config for trial in batch[:2]]


def test_a_trial_under_way_keeps_the_next_one_away_from_it():
    optimizer, _ = played(LINE, 9, shifted, n_init=3, seed=0)
    first, second = optimizer.ask(), optimizer.ask()
    assert first.level == second.level == "light"
    assert abs(first.config["x"] - second.config["x"]) > 1e-3


# --- ask and tell: mistakes -----------------------------------------------------------------------------------------


def test_what_ask_and_tell_return():
    optimizer = BTAO(LINE, seed=1)
    trial = optimizer.ask()
    assert (trial.number, trial.level, trial.status, trial.value) == (0, "light", "pending", None)
    told = optimizer.tell(trial, np.float32(0.25))
    assert (told.number, told.status, told.value, told.error) == (0, "ok", 0.25, None)
    assert type(told.value) is float
    assert optimizer.trials == [told]
    assert trial.status == "pending"  # a record of its moment


def test_telling_twice_or_a_trial_of_another_optimizer_is_refused():
    optimizer, other = BTAO(LINE, seed=0), BTAO(LINE, seed=1)
    trial = optimizer.ask()
    foreign = other.ask()
    with pytest.raises(ValueError, match="trial 0 belongs to another optimizer"):
        optimizer.tell(foreign, 0.1)
    optimizer.tell(trial, 0.1)
    with pytest.raises(ValueError, match=r"trial 0 was told before: it is ok, value 0\.1"):
        optimizer.tell(trial, 0.2)
    with pytest.raises(ValueError, match="told before"):
        optimizer.tell(trial, error="late")
    unknown = [other.ask() for _ in range(3)][-1]
    with pytest.raises(ValueError, match="trial 3 was never asked here: 1 trials are known"):
        optimizer.tell(unknown, 0.1)
    with pytest.raises(ValueError, match=r"level must be 'light' or 'heavy', got 0\.1: of a configuration, tell"):
        optimizer.tell(trial.config, 0.1)
    with pytest.raises(TypeError, match="trial must be one that ask"):
        optimizer.tell(0.5, 0.1)
    assert [known.value for known in optimizer.trials] == [0.1]


@pytest.mark.parametrize(
    ("outcome", "kind", "message"),
    [
        ({}, ValueError, "value is missing"),
        ({"value": "0.1"}, TypeError, "value must be a real number, got '0.1'"),
        ({"value": True}, TypeError, "value must be a real number, got True"),
        ({"value": 1j}, TypeError, "value must be a real number"),
        ({"value": [0.1]}, TypeError, "value must be a real number"),
        ({"value": np.zeros(2)}, TypeError, "value must be a real number"),
        ({"error": ValueError("x")}, TypeError, "error must be a text"),
    ],
)
def test_an_outcome_that_is_none_is_refused_and_the_trial_stays_pending(outcome, kind, message):
    optimizer = BTAO(LINE)
    trial = optimizer.ask()
    with pytest.raises(kind, match=message):
        optimizer.tell(trial, **outcome)
    assert optimizer.pending == [trial]
    optimizer.tell(trial, 0.5)


def test_a_caller_may_change_the_configuration_it_was_given():
    optimizer = BTAO(LINE, n_init=1, light_per_heavy=1, rule="joint")
    for _ in range(2):
        trial = optimizer.ask()
        x = trial.config["x"]
        trial.config["epochs"] = 5
        optimizer.tell(trial, 0.5)
    assert optimizer.best.config == {"x": x}


def test_best_is_the_first_of_equal_heavy_values():
    optimizer = BTAO(LINE, n_init=3, light_per_heavy=1, rule="joint")
    assert optimizer.best is None
    values = iter([0.0, 0.0, 0.0, 0.9, 0.4, 0.4])  # lights first: they are never best
    asked = play(optimizer, 6, lambda config, level: next(values))
    assert optimizer.best.number == 4
    assert optimizer.best.config == asked[4].config
    assert optimizer.best.value == 0.4
