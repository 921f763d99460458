"""What runs cost, and when light ones have cost enough (METHOD items 24 and 27)."""

import numpy as np
import pytest

from btao.rate.costs import Costs

NAN = np.nan


def test_before_a_heavy_run_the_ratio_is_the_prior_s():
    assert Costs(np.array([2.0, 4.0]), np.array([NAN, NAN])).of_runs() == (3.0, 4.5)


def test_the_ratio_is_that_of_rests_to_their_own_light_runs_with_the_prior_as_one_more():
    """n_h = 2: rests 10 + 30 over light runs 2 + 3."""
    light, heavy = Costs(np.array([2.0, 3.0, 7.0]), np.array([10.0, 30.0, NAN])).of_runs()
    assert light == 4.0
    assert heavy == pytest.approx(4.0 * (2 * 40 / 5 + 1.5) / 3)


def test_runs_that_cost_nothing_have_a_cost_to_weigh_by():
    assert Costs(np.zeros(2), np.array([0.0, NAN])).of_runs() == (1.0, 1.5)
    light, heavy = Costs(np.array([3.0, 3.0]), np.array([0.0, NAN])).of_runs()  # light training came to its own end
    assert (light, heavy) == (3.0, pytest.approx(3.0 * 1.5 / 2))


def test_light_runs_that_cost_nothing_leave_heavy_ones_their_cost():
    assert Costs(np.zeros(3), np.array([900.0, NAN, 700.0])).of_runs() == (0.0, 800.0)


def test_of_training_that_continues_the_light_runs_of_the_promoted_are_no_waste():
    costs = Costs(np.array([5.0, 5.0, 5.0, 5.0]), np.array([2.0, NAN, NAN, NAN]))
    assert costs.too_light(2.0, continues=True)  # 15 against 2 * (2 + 5)
    assert not costs.too_light(2.2, continues=True)
    assert costs.too_light(9.0, continues=False)  # 20 against 9 * 2
    assert not costs.too_light(10.0, continues=False)
