"""btao.optimizer: the order of trials, the proposals and the predictions (METHOD items 10-13 and 15)."""

import math

import numpy as np
import pytest

from btao import BTAO, Categorical, Constant, Integer, Real, Space, SpaceExhausted
from btao.gp import GaussianProcess, Kernel
from btao.tam import TruncatedAdditiveModel
from optimizer_runs import BOUNDED, LINE, MIXED, SQUARE, assert_no_repeats, loss, names, of_level, play, played, shifted

# --- order ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["joint", "paper"])
@pytest.mark.parametrize(("light_per_heavy", "n_init"), [(1, 1), (1, 3), (2, 1), (2, 3), (3, 2)])
def test_levels_come_in_the_order_of_the_algorithm(rule, light_per_heavy, n_init):
    iterations = 2
    n_trials = (light_per_heavy + 1) * (n_init + iterations)
    _, asked = played(LINE, n_trials, light_per_heavy=light_per_heavy, n_init=n_init, rule=rule)
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


@pytest.mark.parametrize("rule", ["joint", "paper"])
def test_heavy_runs_are_made_once_and_where_a_light_run_was(rule):
    _, asked = played(SQUARE, 24, rule=rule, seed=3)
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


def test_the_rules_differ_in_the_last_light_point_of_an_iteration_alone():
    options = {"n_init": 3, "light_per_heavy": 3, "seed": 0}
    _, joint = played(LINE, 16, shifted, rule="joint", **options)
    _, paper = played(LINE, 16, shifted, rule="paper", **options)
    assert names(joint[:14]) == names(paper[:14])  # 9 light, 3 heavy, 2 of the 3 light ones
    assert joint[14].config != paper[14].config
    assert abs(joint[14].config["x"] - 0.7) < abs(paper[14].config["x"] - 0.7)


def test_light_points_of_the_papers_rule_do_not_depend_on_heavy_values():
    def other(config, level):
        return loss(config, level) if level == "light" else -3 * config["x"] ** 2

    options = {"rule": "paper", "n_init": 3, "seed": 2}
    _, one = played(LINE, 20, **options)
    _, two = played(LINE, 20, other, **options)
    assert [trial.config for trial in of_level(one, "light")] == [trial.config for trial in of_level(two, "light")]


# What the rules of the paper's model asked after a start of six trials, in the unit cube.
PROPOSALS = {
    "paper": [
        ("light", [0.0675410198078184, 1.0]),
        ("light", [0.32107889803261325, 0.12376351318193476]),
        ("heavy", [0.18364428785230322, 0.2784180049803515]),
        ("light", [0.2582401150916186, 0.6093793347008613]),
        ("light", [0.22661088023997983, 1.0]),
        ("heavy", [0.2582401150916186, 0.6093793347008613]),
    ],
    "joint": [
        ("light", [0.0675410198078184, 1.0]),
        ("light", [0.31302511797195015, 0.26158209776360464]),
        ("heavy", [0.18364428785230322, 0.2784180049803515]),
        ("light", [0.20351949345373735, 0.6508186919391352]),
        ("light", [0.35221982099514715, 1.0]),
        ("heavy", [0.35221982099514715, 1.0]),
    ],
}


@pytest.mark.parametrize("noise", [None, False])
@pytest.mark.parametrize("rule", PROPOSALS)
def test_without_noise_the_rules_of_the_paper_ask_what_they_have_always_asked(rule, noise):
    _, asked = played(SQUARE, 12, noise=noise, n_init=2, seed=3, **BOUNDED | {"rule": rule})
    assert [trial.level for trial in asked[6:]] == [level for level, _ in PROPOSALS[rule]]
    expected = [point for _, point in PROPOSALS[rule]]
    # As exactly as an ascent finds a maximum: processors round differently.
    np.testing.assert_allclose([trial.point for trial in asked[6:]], expected, rtol=0, atol=1e-6)


def test_joint_candidates_find_a_heavy_minimizer_that_light_runs_do_not_show():
    regret = {}
    for rule in ("joint", "paper"):
        optimizer, _ = played(LINE, 27, shifted, n_init=3, seed=0, rule=rule)
        regret[rule] = optimizer.best.value - (0.25 - 0.7 + 0.25)
    assert 0 <= regret["joint"] < 1e-4
    assert regret["joint"] <= regret["paper"]


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


@pytest.mark.parametrize("rule", ["joint", "paper", "rate"])
def test_constants_alone_are_tried_once_at_each_level(rule):
    optimizer = BTAO(Space({"k": Constant((8, 8)), "n": Integer(3, 3)}), rule=rule)
    levels = []
    with pytest.raises(SpaceExhausted, match="all 1 configurations"):
        while True:
            trial = optimizer.ask()
            assert trial.config == {"k": (8, 8), "n": 3}
            levels.append(trial.level)
            optimizer.tell(trial, 0.5)
    assert levels == ["light", "heavy"]
    again = BTAO.from_json(optimizer.to_json())
    assert again.best.config == {"k": (8, 8), "n": 3}


def test_the_start_does_not_grow_with_constants():
    assert BTAO(Space({"x": Real(0, 1), "k": Constant(1), "c": Categorical(["a"])})).n_init == 3


@pytest.mark.parametrize("rule", ["joint", "rate"])
def test_a_category_of_two_values_gives_finite_predictions(rule):
    space = Space({"on": Categorical((False, True)), "x": Real(0.0, 1.0)})
    optimizer = BTAO(space, rule=rule, n_init=3)
    for _ in range(12):
        trial = optimizer.ask()
        optimizer.tell(trial, 0.1 + 0.2 * trial.config["on"] + 0.3 * trial.config["x"])
    mean, std = optimizer.predict([{"on": on, "x": 0.5} for on in (False, True)])
    assert mean.tolist() == pytest.approx([0.25, 0.45], abs=0.05)
    assert (std >= 0).all() and (std < 1).all()


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_change_of_a_trial_that_was_returned_changes_no_other(direction):
    optimizer = BTAO(LINE, direction=direction)
    returned = [optimizer.tell({"x": 0.5}, "light", 0.4), optimizer.tell({"x": 0.5}, "heavy", 0.3)]
    returned += [optimizer.best, optimizer.recommended, *optimizer.trials]
    failed = optimizer.tell(optimizer.ask(), error="no")
    returned += [failed, optimizer.reopen(failed), *optimizer.pending]
    before = optimizer.to_json(), repr(optimizer.trials)
    for trial in returned:
        trial.config["x"] = 77
    assert (optimizer.to_json(), repr(optimizer.trials)) == before
    assert optimizer.best.config == {"x": 0.5}
