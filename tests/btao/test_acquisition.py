"""btao.acquisition: UCB and its maximization over the cube (METHOD items 11 and 13)."""

import itertools
import math

import numpy as np
import pytest

from btao import BTAO, Space
from btao.acquisition import ENUMERABLE, beta, maximize, upper_confidence_bound
from btao.gp import Kernel
from btao.parameters import Categorical, Constant, Integer, Real

NONE_KNOWN = {dim: np.empty((0, dim)) for dim in range(1, 9)}


def cube(dim):
    return Space({f"x{k}": Real(0.0, 1.0) for k in range(dim)})


def search(acquisition, space, known=None, best=None, seed=0):
    nothing = NONE_KNOWN[space.dim]
    known, best = (nothing if points is None else np.array(points) for points in (known, best))
    return maximize(acquisition, space, known, best, np.random.default_rng(seed))


# --- the criterion --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "dim"), [(1, 1), (5, 2), (40, 8)])
def test_beta_is_the_multiplier_of_the_paper_or_its_root(n, dim):
    assert beta(n, dim) == pytest.approx(0.2 * dim * math.log(2 * n), rel=1e-15)
    assert beta(n, dim, square_root=True) == pytest.approx(math.sqrt(0.2 * dim * math.log(2 * n)), rel=1e-15)


def test_upper_confidence_bound():
    np.testing.assert_allclose(upper_confidence_bound(np.array([1.0, -2.0]), np.array([0.5, 0.0]), 3.0), [0.5, 2.0])


# --- real parameters ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [[0.3], [0.21, 0.77], [0.5, 0.9, 0.1], [0.2, 0.4, 0.6, 0.8, 0.5, 0.3, 0.7, 0.1]])
@pytest.mark.parametrize("seed", [0, 1])
def test_an_inner_maximum_is_found(target, seed):
    point = search(lambda X: -((X - target) ** 2).sum(axis=1), cube(len(target)), seed=seed)
    np.testing.assert_allclose(point, target, atol=1e-4)


def test_slopes_that_are_given_stand_in_for_differences():
    target, calls = np.array([0.3, 0.6]), []

    def acquisition(X):
        calls.append(len(X))
        return -((X - target) ** 2).sum(axis=1)

    space = Space({"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)})
    point = maximize(
        acquisition,
        space,
        NONE_KNOWN[2],
        NONE_KNOWN[2],
        np.random.default_rng(0),
        slopes=lambda X: (-((X - target) ** 2).sum(axis=1), -2 * (X - target)),
    )
    np.testing.assert_allclose(point, target, atol=1e-6)
    assert len(calls) == 2  # of the candidates, and of the ends


@pytest.mark.parametrize("dim", [1, 2, 3, 8])
def test_a_maximum_at_a_corner_is_found_exactly(dim):
    corner = np.arange(dim) % 2
    point = search(lambda X: -np.abs(X - corner).sum(axis=1), cube(dim))
    np.testing.assert_array_equal(point, corner)


def test_a_maximum_on_an_edge_is_found():
    point = search(lambda X: X[:, 0] - (X[:, 1] - 0.4) ** 2, cube(2))
    np.testing.assert_allclose(point, [1.0, 0.4], atol=1e-4)


def test_a_multimodal_maximum_is_no_worse_than_that_of_a_fine_grid():
    def acquisition(X):
        return np.sin(13 * X[:, 0]) * np.cos(9 * X[:, 1]) + 0.3 * X[:, 0]

    axis = np.linspace(0, 1, 301)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    point = search(acquisition, cube(2))
    assert acquisition(point[None, :])[0] >= acquisition(grid).max() - 1e-6


@pytest.mark.parametrize("corner", list(itertools.product([0.0, 1.0], repeat=3)))
def test_a_needle_at_a_corner_is_found(corner):
    point = search(lambda X: np.exp(-((X - corner) ** 2).sum(axis=1) / 1e-6), cube(3))
    np.testing.assert_allclose(point, corner, atol=1e-6)


def test_a_needle_near_a_best_point_is_found():
    needle = np.array([0.404, 0.597, 0.3])
    point = search(lambda X: np.exp(-((X - needle) ** 2).sum(axis=1) / 1e-5), cube(3), best=[[0.4, 0.6, 0.3]])
    np.testing.assert_allclose(point, needle, atol=1e-4)


def test_all_starts_are_evaluated_together():
    calls = []

    def acquisition(X):
        calls.append(len(X))
        return -((X - 0.4) ** 2).sum(axis=1)

    search(acquisition, cube(2))
    assert min(calls) >= 8  # never one start at a time
    assert len(calls) < 100


# --- known points ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimum", [[0.3, 0.6], [0.0, 1.0]])
def test_a_known_maximum_is_passed_over_for_the_next_best(optimum):
    def acquisition(X):
        return -np.abs(X - optimum).sum(axis=1)

    free = search(acquisition, cube(2))
    point = search(acquisition, cube(2), known=[free, optimum])
    assert Kernel(2).distance(point[None, :], np.array([free, optimum]))[0] > 1e-9
    assert acquisition(point[None, :])[0] > -0.2


def test_known_points_of_a_search_repeated_are_never_returned():
    known = []
    for seed in range(12):
        point = search(lambda X: -((X - 0.25) ** 2).sum(axis=1), cube(1), known=known or None, seed=seed)
        if known:
            assert np.abs(np.array(known) - point).max(axis=1).min() > 1e-9
        known.append(point)


# --- discrete and mixed spaces --------------------------------------------------------------------------------------

SMALL = Space({"n": Integer(1, 7), "kind": Categorical(["a", "b", "c"]), "flag": Categorical([True, False])})
# Too many for enumeration: the search climbs.
LARGE = Space({"m": Integer(0, 9999), "n": Integer(1, 4096, log=True), "kind": Categorical(list("abcdefg"))})


def all_points(space):
    configs = itertools.product(range(1, 8), ["a", "b", "c"], [True, False])
    return np.array([space.to_unit(dict(zip(space.names, values, strict=True))) for values in configs])


def test_a_small_finite_space_is_searched_exhaustively_from_best_to_worst():
    points = all_points(SMALL)
    worth = {tuple(point): value for point, value in zip(points, np.random.default_rng(3).random(42), strict=True)}

    def acquisition(X):
        return np.array([worth[tuple(point)] for point in SMALL.snap(X)])

    known = []
    for expected in sorted(worth.values(), reverse=True):
        point = search(acquisition, SMALL, known=known or None)
        assert worth[tuple(point)] == expected
        known.append(point)
    assert search(acquisition, SMALL, known=known) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_large_finite_space_is_climbed_to_its_maximum(seed):
    target = {"m": 7321, "n": 411, "kind": "e"}
    goal = LARGE.to_unit(target)
    assert LARGE.size > ENUMERABLE

    def acquisition(X):
        distance = (X - goal) ** 2
        distance[:, 2] = 0.1 * (np.abs(X[:, 2] - goal[2]) > 1e-9)
        return -distance.sum(axis=1)

    assert LARGE.from_unit(search(acquisition, LARGE, seed=seed)) == target


def test_a_mixed_space_is_searched_in_all_its_parameters():
    space = Space({"x": Real(0.0, 1.0), "n": Integer(1, 100000), "kind": Categorical(["a", "b", "c"])})
    goal = space.to_unit({"x": 0.42, "n": 76543, "kind": "b"})

    def acquisition(X):
        # The best x moves with n: one pass over each kind of parameter would stop short.
        wrong = np.abs(X[:, 2] - goal[2]) > 1e-9
        return -((X[:, 1] - goal[1]) ** 2) - (X[:, 0] - goal[0] + 0.5 * (X[:, 1] - goal[1])) ** 2 - wrong

    config = space.from_unit(search(acquisition, space))
    assert config["kind"] == "b"
    assert config["x"] == pytest.approx(0.42, abs=2e-3)
    assert abs(config["n"] - 76543) < 200


@pytest.mark.parametrize("space", [SMALL, LARGE, Space({"x": Real(1e-3, 1.0, log=True), "n": Integer(1, 9)})])
@pytest.mark.parametrize("seed", range(3))
def test_points_returned_are_canonical(space, seed):
    point = search(lambda X: np.sin(17 * X.sum(axis=1)), space, seed=seed)
    np.testing.assert_array_equal(space.snap(point[None, :])[0], point)


def test_no_point_is_left_when_all_that_round_alike_are_known():
    space = Space({"kind": Categorical(["a", "b"])})
    assert search(lambda X: X[:, 0], space, known=[[0.1], [0.9]]) is None


# --- determinism and ties -------------------------------------------------------------------------------------------


def test_equal_generators_give_equal_points_and_the_global_state_is_untouched():
    def acquisition(X):
        return np.sin(20 * X).sum(axis=1)

    state = np.random.get_state()[1].copy()  # noqa: NPY002
    np.testing.assert_array_equal(search(acquisition, cube(3), seed=5), search(acquisition, cube(3), seed=5))
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize("space", [cube(2), SMALL, LARGE])
def test_a_flat_acquisition_still_gives_a_new_point_of_the_space(space):
    known = []
    for seed in range(4):
        point = search(lambda X: np.zeros(len(X)), space, known=known or None, seed=seed)
        assert point.shape == (space.dim,) and (point >= 0).all() and (point <= 1).all()
        if known:
            assert not Kernel(space.dim, space).same(point[None, :], np.array(known)).any()
        known.append(point)


@pytest.mark.parametrize("rule", ["joint", "paper", "rate"])
@pytest.mark.parametrize("other", [Constant(3), Categorical(["a"]), Real(2, 2)])
def test_a_real_parameter_beside_one_that_does_not_vary_is_searched(rule, other):
    optimizer = BTAO(Space({"x": Real(0, 1), "other": other}), n_init=2, seed=0, rule=rule)
    for _ in range(9):
        trial = optimizer.ask()
        optimizer.tell(trial, (trial.config["x"] - 0.3) ** 2)
    assert abs(optimizer.best.config["x"] - 0.3) < 0.1
