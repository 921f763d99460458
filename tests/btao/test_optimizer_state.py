"""btao.optimizer: determinism, the state as text and the arguments."""

import json
import math
import re

import numpy as np
import pytest

from btao import BTAO, Integer, Real, Space
from optimizer_runs import BOUNDED, FREE, LINE, MIXED, SQUARE, free, loss, names, play, played

# Arguments that only the rules "joint" and "paper" have a use for, and those that only "rate" has.
OF_ADDITIVE = {"light_per_heavy": 2, "delta_bounds": (-1.0, 0.0), "rho_bounds": (0.0, 1.0), "square_root_beta": False}
OF_RATE = {"logarithm": False, "ordered": False, "heavy_cost": 5.0, "continues": True, "n_init_heavy": 1}

# --- determinism and state ------------------------------------------------------------------------------------------


def test_equal_seeds_ask_alike_and_different_ones_do_not():
    runs = [names(played(MIXED, 18, seed=seed)[1]) for seed in (0, 0, 1, 2**40)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2] and runs[0] != runs[3]


def test_the_global_random_state_is_neither_used_nor_changed():
    np.random.seed(1)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    one = names(played(SQUARE, 15, n_init=2)[1])
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert names(played(SQUARE, 15, n_init=2)[1]) == one


@pytest.mark.parametrize(
    ("space", "options"),
    [
        (LINE, {"n_init": 2, **BOUNDED}),
        (MIXED, {"n_init": 2, **FREE}),
        (MIXED, {"n_init": 1, **free("paper")}),
    ],
)
def test_a_restored_optimizer_asks_what_the_original_asks_from_every_point_of_a_run(space, options):
    def objective(config, level):
        value = loss(config, level)
        return math.nan if 0.55 < value < 0.58 else value

    length = 9
    optimizer, states = BTAO(space, seed=3, **options), []
    for _ in range(length):
        states.append(optimizer.to_json())
        trial = optimizer.ask()
        states.append(optimizer.to_json())  # the trial is pending in this one
        optimizer.tell(trial, objective(trial.config, trial.level))
    whole = names(optimizer.trials)
    for state in states:
        restored = BTAO.from_json(state)
        assert restored.to_json() == state
        for trial in restored.pending:
            restored.tell(trial, objective(trial.config, trial.level))
        play(restored, length - len(restored.trials), objective)
        assert names(restored.trials) == whole
        assert restored.to_json() == optimizer.to_json()


def test_ten_and_ten_asks_are_the_same_twenty():
    optimizer, asked = played(SQUARE, 20, n_init=2, seed=7)
    half, first = played(SQUARE, 10, n_init=2, seed=7)
    restored = BTAO.from_json(half.to_json())
    assert names(first + play(restored, 10)) == names(asked)
    assert restored.best == optimizer.best
    np.testing.assert_array_equal(restored.predict(asked[0].config), optimizer.predict(asked[0].config))


def test_predicting_changes_nothing_that_is_asked_or_stored():
    expected = names(played(SQUARE, 18, n_init=2, seed=7)[1])
    optimizer = BTAO(SQUARE, n_init=2, seed=7, **FREE)
    for number in range(18):
        if optimizer.best is not None:
            before = optimizer.to_json()
            optimizer.predict({"x": 0.1, "y": 1.0})
            assert optimizer.to_json() == before
        trial = optimizer.ask()
        if number % 2 and optimizer.best is not None:
            optimizer.predict({"x": 0.1, "y": 1.0})
        optimizer.tell(trial, loss(trial.config, trial.level))
        if number % 5 == 0:
            optimizer = BTAO.from_json(optimizer.to_json())
    assert names(optimizer.trials) == expected


def test_trials_under_way_survive_in_the_state():
    def batches(optimizer, n, restore):
        for _ in range(n):
            batch = [optimizer.ask() for _ in range(3)]
            if restore:
                optimizer = BTAO.from_json(optimizer.to_json())
                assert [trial.config for trial in optimizer.pending] == [trial.config for trial in batch]
            for trial in batch[::-1]:
                optimizer.tell(trial, loss(trial.config, trial.level))
                if restore:
                    optimizer = BTAO.from_json(optimizer.to_json())
        return names(optimizer.trials)

    assert batches(BTAO(LINE, n_init=2, **FREE), 6, True) == batches(BTAO(LINE, n_init=2, **FREE), 6, False)


@pytest.mark.parametrize(
    "options",
    [
        {
            **{"seed": 4, "light_per_heavy": 3, "n_init": 2, "rule": "paper", "square_root_beta": True, "noise": True},
            **{"delta_bounds": (-math.inf, 0.25), "rho_bounds": (-0.5, math.inf)},
        },
        {
            **{"seed": 4, "n_init": 3, "rule": "rate", "logarithm": True, "ordered": True, "heavy_cost": 3.0},
            **{"continues": False, "n_init_heavy": 2},
        },
    ],
)
def test_the_state_is_strict_json_with_all_arguments(options):
    optimizer = BTAO(MIXED, **options)
    optimizer.tell(optimizer.ask(), error="no")

    def refuse(text):
        raise AssertionError(f"{text} is not JSON")

    json.loads(optimizer.to_json(), parse_constant=refuse)
    restored = BTAO.from_json(optimizer.to_json())
    assert restored.space == MIXED
    for name, value in options.items():
        assert getattr(restored, name) == value
    assert restored.trials == optimizer.trials


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a state of BTAO"),
        ("[]", "not a state of BTAO"),
        ("{}", "not a state of BTAO"),
        ('{"format": 99}', "format 99, but this version of btao reads 2, 3, 4 and 5"),
    ],
)
def test_texts_that_are_no_state_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        BTAO.from_json(text)


def test_a_state_without_one_of_its_parts_is_refused():
    state = json.loads(played(LINE, 3)[0].to_json())
    for name in state:
        with pytest.raises(ValueError, match="not a state of BTAO"):
            BTAO.from_json(json.dumps({key: value for key, value in state.items() if key != name}))


def first_trial(**fields):
    return lambda state: state["trials"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.update(trials=[1]), "trial 0 must be a mapping, got 1"),
        (lambda state: state["trials"][0].pop("point"), "it lacks 'point'"),
        (first_trial(value=None), "trial 0: status 'ok' does not go with value None and error None"),
        (first_trial(error="no"), r"trial 0: status 'ok' does not go with value 0\.5 and error 'no'"),
        (first_trial(status="failed"), r"trial 0: status 'failed' does not go with value 0\.5 and error None"),
        (first_trial(status="pending"), r"trial 0: status 'pending' does not go with value 0\.5"),
        (first_trial(status="done"), "trial 0: status 'done' does not go with"),
        (first_trial(value="0.5"), "value must be a real number, got '0.5'"),
        (first_trial(number=5), "trial 0 has the number 5"),
        (first_trial(level="medium"), "level must be 'light' or 'heavy', got 'medium'"),
        (first_trial(cost=-1), "cost must be finite and not negative, got -1"),
        (first_trial(point=[0.5, 0.5]), r"u must have shape \(1,\), got \(2,\)"),
        (lambda state: state["state"].update(warm_light=[1]), "not enough values to unpack"),
    ],
)
def test_a_state_that_contradicts_itself_is_refused(change, message):
    optimizer = BTAO(LINE, **FREE)
    optimizer.tell(optimizer.ask(), 0.5)
    state = json.loads(optimizer.to_json())
    change(state)
    with pytest.raises(ValueError, match=f"not a state of BTAO as to_json writes it: {message}"):
        BTAO.from_json(json.dumps(state))


@pytest.mark.parametrize(
    ("rule", "change", "message"),
    [
        ("rate", lambda warm: warm["warm"][1].pop(), "warm must have 3 finite hyperparameters, got "),
        ("rate", lambda warm: warm["warm"][2].append(0.0), "warm must have 3 finite hyperparameters, got "),
        ("rate", lambda warm: warm["warm"].pop(), "not enough values to unpack"),
        ("rate", lambda warm: warm["warm"][0].pop(), "not enough values to unpack"),
        ("joint", lambda warm: warm["warm_light"][1].pop(), "warm_light must have 2 finite hyperparameters, got "),
        ("joint", lambda warm: warm["warm_heavy"][1]["log_phi"].pop(), "log_phi must have 2 finite hyperparameters"),
        ("joint", lambda warm: warm["warm_heavy"][1].update(mean="x"), "warm_heavy must have finite hyperparameters"),
        ("joint", lambda warm: warm["warm_heavy"][1].update(log_std=None), "warm_heavy must have finite"),
        ("joint", lambda warm: warm["warm_heavy"][1].update(log_nugget=-3.0), "must have log_nugget with noise alone"),
        ("joint", lambda warm: warm["warm_light"].__setitem__(0, "a"), "warm_light must be an integer"),
        ("rate", lambda warm: warm["warm"].__setitem__(0, ["a", 3]), "warm must be an integer"),
        ("joint", lambda warm: warm["warm_heavy"][1].pop("mean"), "required positional argument: 'mean'"),
    ],
)
def test_a_state_whose_hyperparameters_do_not_fit_the_space_is_refused(rule, change, message):
    optimizer = BTAO(SQUARE, n_init=2, **free(rule))
    play(optimizer, 12, loss)
    state = json.loads(optimizer.to_json())
    assert BTAO.from_json(json.dumps(state)).ask()
    change(state["state"])
    with pytest.raises(ValueError, match=f"not a state of BTAO as to_json writes it: .*{message}"):
        BTAO.from_json(json.dumps(state))


# --- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {"x": Real(0, 1)}}, r"space must be a btao\.Space"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"seed": 1.5}, "seed must be an integer"),
        ({"seed": None}, "seed must be an integer"),
        ({"light_per_heavy": 0, "rule": "joint"}, "light_per_heavy must be an integer of at least 1, got 0"),
        ({"light_per_heavy": True, "rule": "joint"}, "light_per_heavy must be an integer"),
        ({"n_init": 0}, "n_init must be an integer of at least 1, got 0"),
        ({"n_init": 2.0}, "n_init must be an integer"),
        ({"candidates": "heavy"}, r"candidates must be one of \('joint', 'light'\), got 'heavy'"),
        ({"delta_bounds": (0.0, -1.0), "rule": "joint"}, "delta_bounds must be a pair"),
        ({"delta_bounds": (0.0, 0.0), "rule": "joint"}, "delta_bounds must be a pair"),
        ({"delta_bounds": 1.0, "rule": "joint"}, "delta_bounds must be a pair"),
        ({"rho_bounds": (1.0, 0.0), "rule": "joint"}, "rho_bounds must be a pair"),
        ({"rho_bounds": (math.nan, 1.0), "rule": "joint"}, "rho_bounds must be a pair"),
        ({"ordered": "no"}, "ordered must be True, False or None, got 'no'"),
        ({"continues": 0}, "continues must be True, False or None, got 0"),
        ({"square_root_beta": "no", "rule": "joint"}, "square_root_beta must be True, False or None, got 'no'"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BTAO(**{"space": LINE} | options)


@pytest.mark.parametrize(
    ("rule", "name", "value", "others"),
    [
        *((None, name, value, "rule='joint' or rule='paper'") for name, value in OF_ADDITIVE.items()),
        *(("joint", name, value, "rule='rate'") for name, value in OF_RATE.items()),
        *(("paper", name, value, "rule='rate'") for name, value in OF_RATE.items()),
    ],
)
def test_an_argument_that_has_no_effect_with_the_rule_is_refused(rule, name, value, others):
    message = f"{name} has no effect with rule={rule or 'rate'!r}: leave it out, or give {others}, got {value!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        BTAO(LINE, rule=rule, **{name: value})


@pytest.mark.parametrize(
    ("options", "former"),
    [
        ({"n_init": 2, **FREE}, {"heavy_cost": 3.0, "ordered": True, "continues": False, "logarithm": True}),
        ({"n_init": 3}, {"light_per_heavy": 4, "delta_bounds": [-0.5, 0.0], "square_root_beta": True}),
    ],
)
def test_a_state_with_arguments_that_had_no_effect_goes_on_as_it_did(options, former):
    """Earlier versions took any argument with any rule."""
    half, first = BTAO(SQUARE, seed=2, **options), []
    first += play(half, 9)
    restored = BTAO.from_json(json.dumps(json.loads(half.to_json()) | former))
    assert names(first + play(restored, 6)) == names(play(BTAO(SQUARE, seed=2, **options), 15))


def test_the_rule_is_that_of_rates_where_none_is_given():
    assert BTAO(LINE).rule == "rate"
    assert names(play(BTAO(LINE, seed=3), 12)) == names(play(BTAO(LINE, seed=3, rule="rate"), 12))


def test_numpy_integers_are_arguments_too():
    optimizer = BTAO(LINE, seed=np.int64(3), light_per_heavy=np.int32(2), n_init=np.int64(2), **FREE)
    assert names(play(optimizer, 6)) == names(played(LINE, 6, seed=3, light_per_heavy=2, n_init=2)[1])
    json.loads(optimizer.to_json())


def test_a_given_design_is_the_start_and_part_of_the_state():
    space = Space({"x": Real(0.0, 1.0), "n": Integer(1, 5)})
    design = [{"x": 0.1, "n": 1}, {"x": 0.9, "n": 5}, {"x": 0.5, "n": 3}, {"x": 0.1, "n": 1}]
    optimizer = BTAO(space, seed=1, n_init=2, design=design, **FREE)
    assert optimizer.initial_design == design[:3]  # the repeated one counts once
    trials = []
    for _ in range(3):
        trials.append(optimizer.ask())
        optimizer.tell(trials[-1], trials[-1].config["x"])
    optimizer = BTAO.from_json(optimizer.to_json())
    assert optimizer.initial_design == design[:3]
    for _ in range(2):
        trials.append(optimizer.ask())
        optimizer.tell(trials[-1], 0.0)
    assert [(trial.level, trial.config) for trial in trials] == [
        *(("light", config) for config in design[:3]),
        *(("heavy", config) for config in design[:2]),
    ]


@pytest.mark.parametrize(
    ("design", "message"),
    [([], "design must be None or hold a configuration at least"), ([{"y": 1.0}], "y"), ([{"x": 2.0}], "2.0")],
)
def test_a_wrong_design_is_refused(design, message):
    with pytest.raises(ValueError, match=message):
        BTAO(Space({"x": Real(0.0, 1.0)}), design=design)
