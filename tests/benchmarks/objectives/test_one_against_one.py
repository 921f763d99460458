"""Votes by matrix products against scikit-learn's own, and against a loop written from the definition."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.objectives.one_against_one import decision_values, vote


def images(n, seed, n_classes=10):
    """Noisy patterns of 36 pixels, half of them black, of classes of unequal size."""
    patterns = np.random.default_rng(0).integers(0, 256, (n_classes, 36)) * (np.arange(36) % 2)
    generator = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n - n_classes) ** 2 // n_classes])
    noise = generator.integers(-90, 91, (n, 36)) * (np.arange(36) % 2)
    return np.clip(patterns[labels] + noise, 0, 255) / 255.0, labels.astype(np.uint8)


def fitted(x, y, c, gamma, max_iter):
    from sklearn.svm import SVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SVC(C=c, gamma=gamma, max_iter=max_iter, decision_function_shape="ovo", random_state=0).fit(x, y)


def values_of(machine, x, **options):
    return decision_values(
        x,
        machine.support_vectors_,
        machine.n_support_,
        machine.dual_coef_,
        machine.intercept_,
        machine.gamma,
        **options,
    )


@pytest.mark.parametrize("max_iter", [1, 5, 50, -1])
@pytest.mark.parametrize(("c", "gamma"), list(itertools.product([-10, 0, 3, 10], [-10, -5, 0, 5, 10])))
def test_predictions_are_those_of_scikit_learn(c, gamma, max_iter):
    x, y = images(150, seed=1)
    machine = fitted(x, y, 2.0**c, 2.0**gamma, max_iter)
    # The training images themselves are among those asked about: a distance of 0 must come out as one.
    asked = np.concatenate([images(150, seed=2)[0], x])
    values = values_of(machine, asked)
    scale = np.abs(machine.dual_coef_).sum() + np.abs(machine.intercept_).max()
    np.testing.assert_allclose(values, machine.decision_function(asked), rtol=0, atol=1e-11 * scale)
    np.testing.assert_array_equal(machine.classes_[vote(values, 10)], machine.predict(asked))


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_any_number_of_classes(n_classes):
    x, y = images(90, seed=3, n_classes=n_classes)
    machine = fitted(x, y, 1.0, 0.25, 20)
    asked = images(200, seed=4, n_classes=n_classes)[0]
    np.testing.assert_array_equal(vote(values_of(machine, asked), n_classes), machine.predict(asked))


def test_values_are_those_of_the_definition_even_without_support_vectors_of_a_class():
    generator = np.random.default_rng(5)
    n_support, gamma = np.array([2, 0, 3, 1]), 0.7
    classes = np.repeat(np.arange(4), n_support)
    vectors, x = generator.random((6, 5)), generator.random((8, 5))
    coef, intercept = generator.normal(size=(3, 6)), generator.normal(size=6)
    expected = np.empty((8, 6))
    for n, (p, (i, j)) in itertools.product(range(8), enumerate(itertools.combinations(range(4), 2))):
        total = intercept[p]
        for s in range(6):
            if classes[s] in (i, j):
                row = j - 1 if classes[s] == i else i
                total += coef[row, s] * math.exp(-gamma * math.dist(x[n], vectors[s]) ** 2)
        expected[n, p] = total
    np.testing.assert_allclose(decision_values(x, vectors, n_support, coef, intercept, gamma), expected, rtol=1e-12)


def test_memory_is_bounded_and_the_block_size_changes_nothing_but_rounding():
    x, y = images(100, seed=6)
    machine = fitted(x, y, 4.0, 0.1, 30)
    together = values_of(machine, x)
    for block_bytes in (1, 1000, 10_000):
        np.testing.assert_allclose(values_of(machine, x, block_bytes=block_bytes), together, rtol=0, atol=1e-12)


def test_of_classes_with_equal_votes_the_first_wins():
    # 0 beats 1, 1 beats 2, 2 beats 0: one vote each.
    assert vote(np.array([[1.0, -1.0, 1.0]]), 3).tolist() == [0]
    # All pairs at exactly 0 are votes for the second classes: 2 wins.
    assert vote(np.zeros((1, 3)), 3).tolist() == [2]
    assert vote(np.array([[-1.0, -1.0, 0.0], [-1.0, 1.0, 1.0]]), 3).tolist() == [2, 1]


@given(
    st.integers(3, 10).flatmap(
        lambda k: st.tuples(
            st.just(k),
            st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=k * (k - 1) // 2, max_size=k * (k - 1) // 2),
        )
    )
)
def test_votes_are_counted_as_by_hand(case):
    k, values = case
    winners = [i if value > 0 else j for value, (i, j) in zip(values, itertools.combinations(range(k), 2), strict=True)]
    assert vote(np.array([values]), k).tolist() == [max(range(k), key=winners.count)]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_support": np.array([3, 3])}, "at least 3 classes, got 2"),
        ({"n_support": np.array([3, 2, 2])}, "support_vectors must have 7 rows, as n_support says, got 6"),
        ({"dual_coef": np.zeros((3, 6))}, r"dual_coef must have the shape \(2, 6\), got \(3, 6\)"),
        ({"intercept": np.zeros(2)}, "one value for each of 3 pairs, got 2"),
    ],
)
def test_shapes_that_disagree_are_refused(changed, message):
    machine = {
        "support_vectors": np.zeros((6, 4)),
        "n_support": np.array([2, 2, 2]),
        "dual_coef": np.zeros((2, 6)),
        "intercept": np.zeros(3),
    }
    with pytest.raises(ValueError, match=message):
        decision_values(np.zeros((1, 4)), gamma=1.0, **machine | changed)
