"""A method asked within a budget: once that is spent, it stays spent."""

import pytest

from baselines.protocol import Trial
from benchmarks.running.budget import Budget, BudgetedMethod, BudgetSpent


class Alternating:
    """Heavy trials of 5 iterations and light ones of 1, in turn."""

    def __init__(self):
        self.asked = 0

    def ask(self):
        heavy = self.asked % 2 == 0
        self.asked += 1
        return Trial(self.asked - 1, {}, heavy, 5 if heavy else 1)


def test_after_a_trial_that_is_not_covered_no_smaller_one_is_given_out():
    method = Alternating()
    budgeted = BudgetedMethod(method, Budget(iterations=8))
    assert [budgeted.ask().budget for _ in range(2)] == [5, 1]
    budgeted.spent.iterations = 6
    for _ in range(3):
        with pytest.raises(BudgetSpent, match="the next trial may take 5 iterations, more than are left after 6"):
            budgeted.ask()
    assert method.asked == 3  # the refused one is the last
