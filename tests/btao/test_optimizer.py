"""btao.optimizer: the order of trials, the proposals, failures, pending trials and state (METHOD items 10-15)."""

import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from btao import BTAO, Categorical, Integer, Real, Space, SpaceExhausted, TruncationWarning
from btao.gp import GaussianProcess, Kernel
from btao.tam import TruncatedAdditiveModel

LINE = Space({"x": Real(0.0, 1.0)})
SQUARE = Space({"x": Real(-1.0, 1.0), "y": Real(1e-3, 1e3, log=True)})
MIXED = Space({"x": Real(1e-4, 1.0, log=True), "n": Integer(1, 64), "kind": Categorical(["a", "b", "c"])})
# Box probabilities take most of the time of a run: tests that do not turn on the bounds go without.
FREE = {"delta_bounds": (-math.inf, math.inf), "rho_bounds": (-math.inf, math.inf)}
BOUNDED = {"delta_bounds": (-1.0, 0.0), "rho_bounds": (0.0, 1.0)}


def loss(config, level):
    """A heavy error no worse than the light one; any space."""
    values = [0.3 * math.sin(3 * len(str(v))) if isinstance(v, str) else math.tanh(float(v)) for v in config.values()]
    light = 0.5 + 0.2 * math.cos(4 * sum(values))
    return light if level == "light" else 0.8 * light - 0.05 * values[0] ** 2


def play(optimizer, n_trials, objective=loss):
    """Ask and tell `n_trials` times; the trials as asked."""
    asked = []
    for _ in range(n_trials):
        trial = optimizer.ask()
        asked.append(trial)
        optimizer.tell(trial, objective(trial.config, trial.level))
    return asked


def played(space, n_trials, objective=loss, **options):
    optimizer = BTAO(space, **FREE | options)
    return optimizer, play(optimizer, n_trials, objective)


def names(trials):
    """What a run asked for."""
    return [(trial.number, trial.level, trial.config) for trial in trials]


def of_level(trials, level):
    return [trial for trial in trials if trial.level == level]


def assert_no_repeats(space, trials):
    kernel = Kernel(space.dim, space)
    for level in ("light", "heavy"):
        points = np.array([trial.point for trial in of_level(trials, level)])
        if len(points):
            same = kernel.same(points, points)
            assert same.sum() == len(points)


# --- order ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("candidates", ["joint", "light"])
@pytest.mark.parametrize(("light_per_heavy", "n_init"), [(1, 1), (1, 3), (2, 1), (2, 3), (3, 2)])
def test_levels_come_in_the_order_of_the_algorithm(candidates, light_per_heavy, n_init):
    iterations = 2
    n_trials = (light_per_heavy + 1) * (n_init + iterations)
    _, asked = played(LINE, n_trials, light_per_heavy=light_per_heavy, n_init=n_init, candidates=candidates)
    start = ["light"] * (light_per_heavy * n_init) + ["heavy"] * n_init
    assert [trial.level for trial in asked] == start + (["light"] * light_per_heavy + ["heavy"]) * iterations
    assert [trial.number for trial in asked] == list(range(n_trials))


def test_heavy_runs_of_the_start_default_to_the_number_of_parameters_plus_two():
    for space in (LINE, SQUARE, MIXED):
        assert BTAO(space).n_init == space.dim + 2


@pytest.mark.parametrize(("light_per_heavy", "n_init", "seed"), [(2, 4, 0), (3, 5, 1), (1, 6, 2)])
def test_the_start_is_a_nested_latin_hypercube(light_per_heavy, n_init, seed):
    n_light = light_per_heavy * n_init
    _, asked = played(SQUARE, n_light + n_init, light_per_heavy=light_per_heavy, n_init=n_init, seed=seed)
    light, heavy = of_level(asked, "light"), of_level(asked, "heavy")
    assert [trial.config for trial in heavy] == [trial.config for trial in light[:n_init]]
    for trials in (light, heavy):
        for column in np.array([SQUARE.to_unit(trial.config) for trial in trials]).T:
            assert sorted(np.floor(column * len(trials))) == list(range(len(trials)))


@pytest.mark.parametrize("candidates", ["joint", "light"])
def test_heavy_runs_are_made_once_and_where_a_light_run_was(candidates):
    _, asked = played(SQUARE, 24, candidates=candidates, seed=3)
    for trial in of_level(asked, "heavy"):
        assert trial.config in [other.config for other in of_level(asked[: trial.number], "light")]
    assert_no_repeats(SQUARE, asked)


# --- which point ----------------------------------------------------------------------------------------------------


def test_the_light_point_maximizes_the_light_ucb():
    optimizer, asked = played(SQUARE, 12, n_init=4, seed=1)
    light = of_level(asked, "light")
    X = np.array([trial.point for trial in light])
    y = [loss(trial.config, "light") for trial in light]
    model = GaussianProcess().fit(X, y)
    weight = 0.2 * 2 * math.log(2 * 8)
    axis = np.linspace(0, 1, 61)

    def ucb(points):
        mean, std = model.predict(points)
        return -mean + weight * std

    trial = optimizer.ask()
    assert trial.level == "light"
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert ucb(trial.point[None, :])[0] >= ucb(grid).max() - 1e-3


def rough(config, level):
    """Far from linear between the levels, so that the uncertainty of the heavy response matters."""
    light = math.sin(9 * config["x"])
    return light if level == "light" else 0.1 * light + 0.4 * math.cos(13 * config["x"])


@pytest.mark.parametrize("square_root_beta", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_the_heavy_point_maximizes_the_heavy_ucb_among_light_points(seed, square_root_beta):
    optimizer, _ = played(LINE, 12, rough, n_init=3, light_per_heavy=3, seed=seed, square_root_beta=square_root_beta)
    n_checked = 0
    while n_checked < 4:
        done = [trial.config for trial in of_level(optimizer.trials, "heavy")]
        candidate = [trial.config for trial in of_level(optimizer.trials, "light") if trial.config not in done]
        mean, std = optimizer.predict(candidate)
        weight = 0.2 * math.log(2 * len(done))
        weight = math.sqrt(weight) if square_root_beta else weight
        trial = optimizer.ask()
        if trial.level == "heavy":
            assert trial.config == candidate[int(np.argmax(-mean + weight * std))]
            n_checked += 1
        optimizer.tell(trial, rough(trial.config, trial.level))


@pytest.mark.parametrize("under_way", [None, "light", "heavy"])
@pytest.mark.parametrize(("n_init", "seed"), [(2, 0), (2, 1), (5, 2), (5, 7)])
def test_the_joint_point_maximizes_the_heavy_ucb_over_the_cube(n_init, seed, under_way):
    # After the start, again and again: 1 light, 1 light by the joint rule, 1 heavy.
    optimizer, _ = played(LINE, 3 * n_init + 2 * (under_way == "heavy"), rough, n_init=n_init, seed=seed)
    pending = None
    while True:
        trial = optimizer.ask()
        if len(of_level(optimizer.trials, "light")) % 2 == 0 and trial.level == "light":
            break
        if trial.level == under_way:
            pending = trial
        else:
            optimizer.tell(trial, rough(trial.config, trial.level))
    assert [other.number for other in optimizer.pending] == ([pending.number] if pending else []) + [trial.number]

    told = [other for other in optimizer.trials if other.status == "ok"]
    data = []
    for level in ("light", "heavy"):
        data += [[other.point for other in of_level(told, level)], [other.value for other in of_level(told, level)]]
    fantasized = {level: np.empty((0, 1)) for level in ("light", "heavy")}
    if pending:
        fantasized[pending.level] = pending.point[None, :]
    model = TruncatedAdditiveModel().fit(*data).fantasize(fantasized["light"], fantasized["heavy"])

    def ucb(points):
        mean, std = model.predict(points)
        return -mean + 0.2 * math.log(2 * n_init) * std

    # A maximum at a known light point is passed over, and its neighborhood with it.
    known = np.array([other.point for other in of_level(optimizer.trials[:-1], "light")])
    grid = np.linspace(0, 1, 2001)[:, None]
    grid = grid[Kernel(1).distance(grid, known) > 0.02]
    assert ucb(trial.point[None, :])[0] >= ucb(grid).max() - 1e-4


def shifted(config, level):
    """The minimizers of the levels differ: 0.2 and 0.7."""
    light = (config["x"] - 0.2) ** 2
    return light if level == "light" else light - config["x"] + 0.25


def test_the_rules_differ_in_the_last_light_point_of_an_iteration_alone():
    options = {"n_init": 3, "light_per_heavy": 3, "seed": 0}
    _, joint = played(LINE, 16, shifted, candidates="joint", **options)
    _, paper = played(LINE, 16, shifted, candidates="light", **options)
    assert names(joint[:14]) == names(paper[:14])  # 9 light, 3 heavy, 2 of the 3 light ones
    assert joint[14].config != paper[14].config
    assert abs(joint[14].config["x"] - 0.7) < abs(paper[14].config["x"] - 0.7)


def test_light_points_of_the_papers_rule_do_not_depend_on_heavy_values():
    def other(config, level):
        return loss(config, level) if level == "light" else -3 * config["x"] ** 2

    options = {"candidates": "light", "n_init": 3, "seed": 2}
    _, one = played(LINE, 20, **options)
    _, two = played(LINE, 20, other, **options)
    assert [trial.config for trial in of_level(one, "light")] == [trial.config for trial in of_level(two, "light")]


def test_joint_candidates_find_a_heavy_minimizer_that_light_runs_do_not_show():
    regret = {}
    for candidates in ("joint", "light"):
        optimizer, _ = played(LINE, 27, shifted, n_init=3, seed=0, candidates=candidates)
        regret[candidates] = optimizer.best.value - (0.25 - 0.7 + 0.25)
    assert 0 <= regret["joint"] < 1e-4
    assert regret["joint"] <= regret["light"]


@pytest.mark.parametrize("seed", range(3))
def test_the_toy_is_solved_in_three_iterations(seed):
    space = Space({"x": Real(-math.pi, 3 * math.pi)})

    def toy(config, level):
        light = math.sin(config["x"])
        return light if level == "light" else 0.5 * light - 1

    optimizer, asked = played(space, 18, toy, seed=seed, n_init=3, delta_bounds=(-1.5, 0.5))
    assert len(of_level(asked, "heavy")) == 6 and len(of_level(asked, "light")) == 12
    assert 0 <= optimizer.best.value + 1.5 < 1e-3


def test_the_root_of_beta_is_another_search():
    _, plain = played(SQUARE, 14, n_init=3)
    _, root = played(SQUARE, 14, n_init=3, square_root_beta=True)
    assert names(plain[:9]) == names(root[:9])
    assert names(plain) != names(root)


# --- spaces ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [LINE, SQUARE, MIXED])
def test_proposals_are_valid_configurations_of_plain_python_values(space):
    _, asked = played(space, 22, seed=1)
    for trial in asked:
        assert space.validate(trial.config) == trial.config
        assert list(trial.config) == list(space.names)
        assert {type(value) for value in trial.config.values()} <= {int, float, str}
        assert space.from_unit(trial.point) == trial.config
    assert_no_repeats(space, asked)


@pytest.mark.parametrize("n_init", [1, 2, 6])
def test_a_finite_space_is_tried_whole_at_both_levels_and_then_exhausted(n_init):
    space = Space({"n": Integer(1, 3), "flag": Categorical([True, False])})
    optimizer, asked = played(space, 12, n_init=n_init)
    assert_no_repeats(space, asked)
    assert len(of_level(asked, "light")) == len(of_level(asked, "heavy")) == 6
    for _ in range(2):
        with pytest.raises(SpaceExhausted, match=r"all 6 configurations of the space have been tried$"):
            optimizer.ask()
    assert len(optimizer.trials) == 12


def test_a_finite_space_with_trials_under_way_goes_on_when_they_are_told():
    optimizer = BTAO(Space({"n": Integer(1, 2)}), n_init=1)
    pending = [optimizer.ask(), optimizer.ask()]
    with pytest.raises(SpaceExhausted, match="2 trials wait to be told"):
        optimizer.ask()
    for trial in pending:
        optimizer.tell(trial, 0.5)
    assert optimizer.ask().level == "heavy"


def test_a_finite_space_whose_light_runs_fail_has_no_heavy_ones():
    optimizer = BTAO(Space({"n": Integer(1, 4)}), n_init=1)
    for _ in range(4):
        optimizer.tell(optimizer.ask(), math.nan)
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


# --- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        ({"value": math.nan}, "the value is nan"),
        ({"value": math.inf}, "the value is inf"),
        ({"value": -math.inf}, "the value is -inf"),
        ({"value": 1e300}, "the value is 1e+300"),
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


@pytest.mark.parametrize("candidates", ["joint", "light"])
def test_heavy_runs_that_all_fail_leave_a_run_of_light_ones(candidates):
    def objective(config, level):
        return loss(config, level) if level == "light" else math.nan

    optimizer, asked = played(SQUARE, 24, objective, n_init=2, candidates=candidates)
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
@pytest.mark.parametrize("candidates", ["joint", "light"])
def test_a_constant_objective(value, bounds, candidates):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        optimizer, asked = played(SQUARE, 12, lambda config, level: value, n_init=2, candidates=candidates, **bounds)
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
    optimizer = BTAO(LINE, n_init=2, light_per_heavy=2)
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
    with pytest.raises(TypeError, match="trial must be one that ask"):
        optimizer.tell(trial.config, 0.1)
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
    optimizer = BTAO(LINE, n_init=1, light_per_heavy=1)
    for _ in range(2):
        trial = optimizer.ask()
        x = trial.config["x"]
        trial.config["epochs"] = 5
        optimizer.tell(trial, 0.5)
    assert optimizer.best.config == {"x": x}


def test_best_is_the_first_of_equal_heavy_values():
    optimizer = BTAO(LINE, n_init=3, light_per_heavy=1)
    assert optimizer.best is None
    values = iter([0.0, 0.0, 0.0, 0.9, 0.4, 0.4])  # lights first: they are never best
    asked = play(optimizer, 6, lambda config, level: next(values))
    assert optimizer.best.number == 4
    assert optimizer.best.config == asked[4].config
    assert optimizer.best.value == 0.4


# --- prediction -----------------------------------------------------------------------------------------------------


def test_predictions_reproduce_heavy_values_and_use_known_light_ones():
    optimizer, asked = played(SQUARE, 18, n_init=4, seed=2, **BOUNDED)
    heavy = of_level(asked, "heavy")
    mean, std = optimizer.predict([trial.config for trial in heavy])
    np.testing.assert_allclose(mean, [loss(trial.config, "heavy") for trial in heavy], atol=2e-3)
    assert (std >= 0).all() and std.max() < 1e-2
    done = [trial.config for trial in heavy]
    for trial in of_level(asked, "light"):
        if trial.config not in done:  # then delta alone is uncertain: y_h lies in rho y_l + [-1, 0], rho in [0, 1]
            mean, std = optimizer.predict(trial.config)
            assert mean.shape == std.shape == (1,)
            assert -1 <= mean[0] <= loss(trial.config, "light") + 1e-9


def test_predictions_refuse_what_they_cannot_answer():
    optimizer = BTAO(SQUARE, n_init=2)
    with pytest.raises(RuntimeError, match="predict needs a successful light and heavy trial"):
        optimizer.predict([{"x": 0.0, "y": 1.0}])
    play(optimizer, 8)
    with pytest.raises(ValueError, match="did you mean 'x'"):
        optimizer.predict([{"xx": 0.0, "y": 1.0}])
    with pytest.raises(ValueError, match="parameter 'y'"):
        optimizer.predict([{"x": 0.0, "y": -1.0}])
    mean, std = optimizer.predict([])
    assert mean.shape == std.shape == (0,)


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
        (LINE, {"candidates": "joint", "n_init": 2, **BOUNDED}),
        (MIXED, {"candidates": "joint", "n_init": 2, **FREE}),
        (MIXED, {"candidates": "light", "n_init": 1, **FREE}),
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


def test_the_state_is_strict_json_with_all_arguments():
    options = {"seed": 4, "light_per_heavy": 3, "n_init": 2, "candidates": "light", "square_root_beta": True}
    bounds = {"delta_bounds": (-math.inf, 0.25), "rho_bounds": (-0.5, math.inf)}
    optimizer = BTAO(MIXED, **options, **bounds)
    optimizer.tell(optimizer.ask(), error="no")

    def refuse(text):
        raise AssertionError(f"{text} is not JSON")

    json.loads(optimizer.to_json(), parse_constant=refuse)
    restored = BTAO.from_json(optimizer.to_json())
    assert restored.space == MIXED
    for name, value in (options | bounds).items():
        assert getattr(restored, name) == value
    assert restored.trials == optimizer.trials


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a state of BTAO"),
        ("[]", "not a state of BTAO"),
        ("{}", "not a state of BTAO"),
        ('{"format": 99}', "format 99, but this version of btao reads 2"),
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


# --- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {"x": Real(0, 1)}}, r"space must be a btao\.Space"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"seed": 1.5}, "seed must be an integer"),
        ({"seed": None}, "seed must be an integer"),
        ({"light_per_heavy": 0}, "light_per_heavy must be an integer of at least 1, got 0"),
        ({"light_per_heavy": True}, "light_per_heavy must be an integer"),
        ({"n_init": 0}, "n_init must be an integer of at least 1, got 0"),
        ({"n_init": 2.0}, "n_init must be an integer"),
        ({"candidates": "heavy"}, r"candidates must be one of \('joint', 'light'\), got 'heavy'"),
        ({"delta_bounds": (0.0, -1.0)}, "delta_bounds must be a pair"),
        ({"delta_bounds": (0.0, 0.0)}, "delta_bounds must be a pair"),
        ({"delta_bounds": 1.0}, "delta_bounds must be a pair"),
        ({"rho_bounds": (1.0, 0.0)}, "rho_bounds must be a pair"),
        ({"rho_bounds": (math.nan, 1.0)}, "rho_bounds must be a pair"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BTAO(**{"space": LINE} | options)


def test_numpy_integers_are_arguments_too():
    optimizer = BTAO(LINE, seed=np.int64(3), light_per_heavy=np.int32(2), n_init=np.int64(2))
    assert names(play(optimizer, 6)) == names(played(LINE, 6, seed=3, light_per_heavy=2, n_init=2)[1])
    json.loads(optimizer.to_json())


def test_a_given_design_is_the_start_and_part_of_the_state():
    space = Space({"x": Real(0.0, 1.0), "n": Integer(1, 5)})
    design = [{"x": 0.1, "n": 1}, {"x": 0.9, "n": 5}, {"x": 0.5, "n": 3}, {"x": 0.1, "n": 1}]
    optimizer = BTAO(space, seed=1, n_init=2, design=design)
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
