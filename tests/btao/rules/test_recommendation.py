"""btao.rules.recommendation: means decide where they differ, values where they do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btao import BTAO, Real, Space
from btao.gp import GaussianProcess
from btao.rules.recommendation import EQUAL_MEANS, least_expected


@pytest.mark.parametrize(
    ("values", "means", "expected"),
    [
        ([3.0], [9.0], 0),
        ([1.0, 2.0, 3.0], [1.5, 1.4, 3.0], 1),  # the first value was luck
        ([1.0, 2.0, 1.0], [1.0, 2.0, 1.0], 0),  # of equal ones the earlier
        ([1.0, 0.0, 2.0], [0.0, 0.9 * 2 * EQUAL_MEANS, 2.0], 1),  # the jitter's doing
        ([1.0, 0.0, 2.0], [0.0, 1.1 * 2 * EQUAL_MEANS, 2.0], 0),
        ([5.0, 5.0], [5.0, 5.0], 0),
    ],
)
def test_the_least_mean_is_recommended_and_equal_means_by_value(values, means, expected):
    assert least_expected(values, means) == expected


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20))
def test_a_model_that_interpolates_recommends_the_smallest_value(values):
    assert least_expected(values, values) == values.index(min(values))


def test_btao_recommends_its_best_without_noise_and_says_nothing_before():
    optimizer = BTAO(Space({"x": Real(0.0, 1.0)}), seed=3, n_init=2, rule="joint")
    assert optimizer.recommended is None
    for _ in range(14):
        trial = optimizer.ask()
        x = trial.config["x"]
        optimizer.tell(trial, (x - 0.3) ** 2 + (0.2 * x if trial.level == "light" else 0.0))
        assert optimizer.recommended == optimizer.best
    assert BTAO.from_json(optimizer.to_json()).recommended == optimizer.best


def test_results_that_contradict_each_other_side_by_side_are_averaged():
    """Values 0 and 1 at nearly one point, which a smooth process cannot follow, against 0.4 elsewhere."""
    points = np.array([[0.5], [0.5 + 1e-8], [0.0], [1.0]])
    values = np.array([0.0, 1.0, 0.4, 0.9])
    means, _ = GaussianProcess().fit(points, values, start=np.zeros(1), fixed=True).predict(points)
    assert means[:2] == pytest.approx([0.5, 0.5], abs=0.01)
    assert least_expected(values, means) == 2
