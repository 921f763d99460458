"""btao.design: Latin properties, marginals and seeds (METHOD item 10)."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import kstest

from btao.design import maximin_nested_latin_hypercube, nested_latin_hypercube


def is_latin(points):
    """Whether every column has one point in each of n equal intervals, in exact and in floating arithmetic."""
    n = len(points)
    return all(
        sorted(floor(Fraction(x) * n) for x in column) == list(range(n))
        and sorted(np.floor(column * n)) == list(range(n))
        for column in points.T
    )


def random_shapes():
    rng = np.random.default_rng(20)
    return [tuple(map(int, rng.integers([1, 1, 1, 0], [21, 7, 6, 2**31]))) for _ in range(200)]


def test_200_random_designs_are_latin_at_both_levels():
    for m, s, dim, seed in random_shapes():
        design = nested_latin_hypercube(m, s, dim, seed)
        assert design.shape == (m * s, dim)
        assert ((design >= 0) & (design < 1)).all()
        assert is_latin(design), (m, s, dim, seed)
        assert is_latin(design[:m]), (m, s, dim, seed)


class EdgeGenerator(np.random.Generator):
    """Draws only the ends of the interval asked for."""

    def uniform(self, low, high, size):
        return np.where(self.random(size) < 0.5, low, high)


@pytest.mark.parametrize(("m", "s"), [(1, 1), (1, 49), (7, 7), (49, 2), (1000, 3)])
def test_rounding_never_leaves_the_level(m, s):
    design = nested_latin_hypercube(m, s, 2, EdgeGenerator(np.random.PCG64(0)))
    assert ((design >= 0) & (design < 1)).all()
    assert is_latin(design)
    assert is_latin(design[:m])


@pytest.mark.parametrize("rows", [slice(None), slice(0, 3), slice(3, None)])
def test_marginals_are_uniform(rows):
    m, s = 3, 4
    designs = np.stack([nested_latin_hypercube(m, s, 2, seed) for seed in range(400)])[:, rows]
    within = (designs * m * s) % 1
    # One value per design: those of one column are not independent.
    assert kstest(designs[:, 0, 0], "uniform").pvalue > 1e-3
    assert kstest(designs[:, -1, 1], "uniform").pvalue > 1e-3
    assert kstest(within.ravel(), "uniform").pvalue > 1e-3


def test_every_level_of_a_block_can_be_heavy_and_columns_are_independent():
    designs = np.stack([nested_latin_hypercube(2, 3, 2, seed) for seed in range(600)])
    levels = np.floor(designs[:, 0] * 6).astype(int)
    table = np.zeros((6, 6))
    np.add.at(table, (levels[:, 0], levels[:, 1]), 1)
    # 36 equally likely cells: chi-squared with 35 degrees of freedom, 99.9% below 66.6.
    assert ((table - 600 / 36) ** 2 / (600 / 36)).sum() < 66.6


def test_ratio_one_is_an_ordinary_latin_hypercube():
    assert is_latin(nested_latin_hypercube(7, 1, 3, 5))


def smallest_distance(points):
    return pdist(points).min() if len(points) > 1 else np.inf


def test_the_maximin_design_is_latin_at_both_levels_and_better_spread():
    for m, s, dim, seed in random_shapes()[:40]:
        design = maximin_nested_latin_hypercube(m, s, dim, seed)
        assert design.shape == (m * s, dim)
        assert is_latin(design) and is_latin(design[:m])
    spread = np.array([smallest_distance(maximin_nested_latin_hypercube(5, 2, 2, seed)) for seed in range(30)])
    plain = np.array([smallest_distance(nested_latin_hypercube(5, 2, 2, seed)) for seed in range(30)])
    assert spread.mean() > 1.3 * plain.mean()
    assert spread.min() > plain.min()


def test_the_maximin_design_of_one_point_and_its_seeds():
    assert maximin_nested_latin_hypercube(1, 1, 3, 0).shape == (1, 3)
    first, again, other = (maximin_nested_latin_hypercube(4, 2, 3, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    with pytest.raises(ValueError, match=r"^ratio must be at least 1"):
        maximin_nested_latin_hypercube(4, 0, 3, 0)


def test_seeds():
    designs = [nested_latin_hypercube(4, 2, 3, seed) for seed in range(20)]
    assert all(np.array_equal(design, nested_latin_hypercube(4, 2, 3, seed)) for seed, design in enumerate(designs))
    assert len({design.tobytes() for design in designs}) == 20
    for same in (np.int64(3), np.random.SeedSequence(3), np.random.default_rng(3)):
        assert np.array_equal(nested_latin_hypercube(4, 2, 3, same), designs[3])


def test_a_generator_is_advanced_and_the_global_state_is_left_alone():
    rng = np.random.default_rng(3)
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    assert not np.array_equal(nested_latin_hypercube(4, 1, 2, rng), nested_latin_hypercube(4, 1, 2, rng))
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


@pytest.mark.parametrize("position", range(3))
@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (-2, ValueError), (2.0, TypeError), (True, TypeError), ("3", TypeError)]
)
def test_bad_counts_are_named(position, value, error):
    name = ["n_heavy", "ratio", "dim"][position]
    arguments = [3, 2, 2]
    arguments[position] = value
    with pytest.raises(error, match=f"^{name} must be .*got {value!r}"):
        nested_latin_hypercube(*arguments, seed=0)


@pytest.mark.parametrize(
    ("seed", "error"), [(None, TypeError), (True, TypeError), (-1, ValueError), (1.5, TypeError), ("0", TypeError)]
)
def test_bad_seeds_are_named(seed, error):
    with pytest.raises(error, match=r"seed must be .*got"):
        nested_latin_hypercube(3, 1, 2, seed)
