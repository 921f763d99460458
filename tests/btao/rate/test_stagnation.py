"""When the rate rule looks elsewhere (METHOD item 30)."""

import math

import numpy as np
import pytest

from btao.gp import JITTER
from btao.rate.improvement import log_improvement
from btao.rate.stagnation import INFLATIONS, inflations, log_least_improvement, runs_without_gain


@pytest.mark.parametrize(
    ("values", "without"),
    [
        ([0.3], 0),
        ([0.3, 0.3], 1),
        ([0.3, 0.2], 0),
        ([0.3, 0.2, 0.25, 0.9], 2),
        ([0.3, 0.2, 0.25, 0.1], 0),
        ([-1.0, -1.0 - 2e-6, -1.0 - 2.5e-6], 1),  # the last gains half of the least gain
        ([0.3, 0.2, 0.2 - 5e-7, 0.2 - 1e-6, 0.2 - 1.5e-6], 3),  # small gains do not add up
        ([0.0] * 9, 8),
        ([math.inf, 0.3, math.inf, math.inf], 2),  # one that failed or is under way gains nothing
        ([math.inf] * 3, 3),
        ([], 0),
    ],
)
def test_runs_are_counted_from_the_last_that_gained(values, without):
    assert runs_without_gain(values, known=math.inf) == without


def test_a_run_gains_if_it_is_better_than_what_was_known_before_all():
    assert runs_without_gain([0.3, 0.1, 0.2], known=0.2) == 1
    assert runs_without_gain([0.3, 0.1, 0.2], known=0.1) == 3


def test_after_two_runs_without_a_gain_every_other_one_may_look_elsewhere():
    elsewhere = [len(inflations(np.zeros(n), math.inf)) > 1 for n in range(1, 9)]
    assert elsewhere == [False, False, True, False, True, False, True, False]
    assert INFLATIONS[0] == 1.0  # first as the model has it


@pytest.mark.parametrize("variance", [1e-8, 0.03, 4.0])
def test_the_least_improvement_is_that_of_the_best_value_at_the_least_nugget(variance):
    expected = log_improvement(-0.4, np.array([-0.4]), np.array([JITTER * variance]))
    np.testing.assert_allclose(log_least_improvement(variance), expected, rtol=1e-12)
