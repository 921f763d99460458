"""btao.spaces.constraint: what a constraint refuses is never proposed, and what cannot be found is said in one line."""

import functools
import json
import math

import numpy as np
import pytest

from baselines.btao import random_design
from baselines.initial_design import initial_design
from btao import BTAO, Categorical, Integer, Real, Space, SpaceExhausted, When, minimize
from btao.acquisition import maximize
from btao.spaces.constraint import ConstraintFailure, ConstraintMismatch, allowed_design, allowed_points
from optimizer_runs import free


def fits(config):
    """A memory that is shared by width and batch; a depth only for small widths."""
    return config["width"] * config["batch"] <= 2048 and config.get("depth", 0.0) <= 0.7


SPACE = Space(
    {
        "width": Integer(8, 256, log=True),
        "batch": Integer(8, 64, step=8),
        "kind": Categorical(("a", "b")),
        "depth": Real(0.0, 1.0),
    },
    conditions={"depth": When("kind", "b")},
    constraint=fits,
)
PLANE = {"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)}


def circle(config, radius):
    return (config["x"] - 0.3) ** 2 + (config["y"] - 0.6) ** 2 <= radius**2


def disc(radius):
    return Space(PLANE, constraint=functools.partial(circle, radius=radius))


@pytest.mark.parametrize("rule", ["joint", "paper", "rate"])
def test_no_rule_proposes_what_is_refused(rule):
    optimizer = BTAO(SPACE, seed=2, **free(rule))
    assert all(fits(config) for config in optimizer.initial_design)
    for _ in range(22):
        trial = optimizer.ask()
        assert fits(trial.config)
        assert SPACE.validate(trial.config) == trial.config
        gain = math.log(trial.config["width"]) + math.log(trial.config["batch"]) + trial.config.get("depth", 0.0)
        optimizer.tell(trial, 0.1 * (trial.level == "light") - gain)  # best where it is refused
    assert min(trial.value for trial in optimizer.trials) < -math.log(1500)


def test_the_search_ends_at_the_edge_of_what_is_allowed():
    best = maximize(lambda X: X[:, 0], disc(0.2), np.empty((0, 2)), np.empty((0, 2)), np.random.default_rng(0))
    assert best[0] == pytest.approx(0.5, abs=0.01)
    assert circle({"x": best[0], "y": best[1]}, 0.2)


def test_a_small_region_is_found_and_one_that_is_too_small_is_said():
    rng = np.random.default_rng(0)
    points = allowed_points(disc(0.02), 8, rng)
    assert points.shape == (8, 2)
    assert disc(0.02).allowed(points).all()
    with pytest.raises(ValueError, match="constraint: none of 32,768 random configurations satisfies it; widen it, or"):
        BTAO(Space(PLANE, constraint=lambda config: config["x"] == 0.123))
    with pytest.raises(ValueError, match="constraint: none of the 4 configurations of the space satisfies it"):
        BTAO(Space({"n": Integer(1, 4)}, constraint=lambda config: config["n"] > 4))


def test_a_design_keeps_its_allowed_points_and_spreads_the_others():
    space, rng = disc(0.5), np.random.default_rng(1)
    design = rng.random((12, 2))
    kept = space.allowed(design)
    assert 0 < kept.sum() < 12
    changed = allowed_design(space, design, rng)
    assert np.array_equal(changed[kept], design[kept])
    assert space.allowed(changed).all()
    distances = np.linalg.norm(changed[:, None] - changed[None], axis=2) + np.eye(12)
    assert distances.min() > 0.01
    assert allowed_design(Space(PLANE), design, rng) is design


def test_every_start_is_allowed():
    start = initial_design(SPACE, seed=4)
    assert len(start.light) == 12
    assert all(map(fits, start.light))
    assert all(map(fits, random_design(SPACE, 20, seed=4)))


@pytest.mark.parametrize("rule", ["joint", "rate"])
def test_a_finite_space_is_exhausted_when_all_that_is_allowed_is_tried(rule):
    space = Space({"a": Integer(1, 4), "b": Integer(1, 3)}, constraint=lambda config: config["a"] != config["b"])
    assert (space.size, len(space.all_points)) == (12, 9)
    optimizer = BTAO(space, **free(rule))
    heavy = []
    with pytest.raises(SpaceExhausted, match="all configurations of the space that its constraint"):
        while True:
            trial = optimizer.ask()
            heavy += [tuple(trial.config.values())] * (trial.level == "heavy")
            optimizer.tell(trial, trial.config["a"] / trial.config["b"] + (trial.level == "light"))
    assert sorted(heavy) == [(a, b) for a in range(1, 5) for b in range(1, 4) if a != b]


class TestDictionaries:
    def test_the_constraint_is_given_again(self):
        data = json.loads(json.dumps(SPACE.to_dict()))
        assert data["constrained"] is True
        assert Space.from_dict(data, constraint=fits) == SPACE
        with pytest.raises(ConstraintMismatch, match="has a constraint, which JSON cannot hold: give the same"):
            Space.from_dict(data)
        with pytest.raises(
            ConstraintMismatch, match=r"no constraint, but constraint=<function fits at .*: leave it out"
        ):
            Space.from_dict(Space(PLANE).to_dict(), constraint=fits)

    def test_an_optimizer_goes_on_with_the_constraint_that_is_given_again(self):
        optimizer = BTAO(SPACE, seed=3, n_init=2)
        for _ in range(7):
            trial = optimizer.ask()
            optimizer.tell(trial, 1 / trial.config["width"])
        text = optimizer.to_json()
        again = BTAO.from_json(text, constraint=fits)
        assert again.ask().config == optimizer.ask().config
        with pytest.raises(ConstraintMismatch, match=r"^the space has a constraint, which JSON cannot hold"):
            BTAO.from_json(text)

    def test_minimize_continues_from_its_file(self, tmp_path):
        objectives = dict.fromkeys(("light", "heavy"), lambda config: 1 / config["width"])
        path = tmp_path / "state.json"
        first = minimize(objectives, SPACE, n_heavy=2, n_init=2, state=path)
        second = minimize(objectives, SPACE, n_heavy=3, n_init=2, state=path)
        assert second.trials[: len(first.trials)] == first.trials
        with pytest.raises(ValueError, match="has a constraint"):
            minimize(objectives, Space(SPACE.parameters, conditions=SPACE.conditions), n_heavy=3, n_init=2, state=path)

    def test_spaces_with_other_constraints_differ(self):
        assert disc(0.1) != disc(0.1) != Space(PLANE)
        assert "constraint=<function fits" in repr(SPACE)


class TestErrors:
    def test_a_refused_configuration_is_no_configuration(self):
        config = {"width": 256, "batch": 64, "kind": "a"}
        with pytest.raises(ValueError, match=r"config does not satisfy the constraint of the space: {'width': 256, "):
            SPACE.validate(config)
        with pytest.raises(ValueError, match="does not satisfy the constraint"):
            BTAO(SPACE, design=[config])

    def test_a_constraint_is_a_function_that_says_yes_or_no(self):
        with pytest.raises(TypeError, match="constraint must be a function of a configuration or None, got 'x < y'"):
            Space(PLANE, constraint="x < y")
        with pytest.raises(TypeError, match=r"constraint must return True or False, got None for {'x': 0.5, 'y': 0.5}"):
            Space(PLANE, constraint=lambda config: None).allowed([[0.5, 0.5]])
        assert Space(PLANE, constraint=lambda config: np.True_).allowed([[0.5, 0.5]]).tolist() == [True]

    def test_it_cannot_change_what_it_is_asked_about(self):
        space = Space(PLANE, constraint=lambda config: config.pop("x") < 0.5)
        assert space.validate({"x": 0.25, "y": 0.5}) == {"x": 0.25, "y": 0.5}


def test_a_constraint_that_fails_is_shown_with_the_configuration_and_what_is_inactive_there():
    parameters = {"kind": Categorical(["a", "b"]), "n": Integer(1, 4)}
    space = Space(parameters, conditions={"n": When("kind", "b")}, constraint=lambda config: config["n"] < 3)
    assert space.validate({"kind": "b", "n": 2}) == {"kind": "b", "n": 2}
    with pytest.raises(
        ConstraintFailure,
        match=r"^constraint failed at {'kind': 'a'} with KeyError: 'n': 'n' is inactive there, and absent; "
        r"use config\.get\('n'\)$",
    ) as caught:
        BTAO(space)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_constraint_that_fails_does_not_make_a_state_a_wrong_one():
    text = BTAO(Space(PLANE, constraint=lambda config: True)).to_json()
    with pytest.raises(ConstraintFailure, match=r"^constraint failed at {'x': .*} with KeyError: 'zz'$"):
        BTAO.from_json(text, constraint=lambda config: config["zz"])
