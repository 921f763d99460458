"""What the steps of the ladder change, against hand-worked cases."""

from __future__ import annotations

import itertools
import math

import pandas as pd
import pytest
from ladder_runs import ON_FUNCTIONS, climbed, of_step

from benchmarks.analysis.ladder.steps import STEPS
from benchmarks.analysis.ladder.worth import changes, ladder
from support import frame

NAMES = [step.name for step in STEPS]


def test_a_step_is_compared_with_the_one_before_it_that_is_run_there():
    """Of functions the steps that matter to errors alone are not run: the third step follows the first."""
    ends = dict(zip(ON_FUNCTIONS, [1.0, 0.1, 0.1, 0.5, 0.5, 0.5, 0.05], strict=True))
    table = changes(climbed(ends))
    others = table[~table["run"]]
    assert others["step"].unique().tolist() == [step.name for step in STEPS if step.of_errors]
    assert others[["decades", "rank_change", "training"]].eq(0).all(axis=None)
    table = table[table["run"]]
    assert table["step"].unique().tolist() == [NAMES[number] for number in ON_FUNCTIONS]
    for seed in (0, 1):
        mine = table[table["seed"] == seed]
        assert mine["decades"].iloc[1:].tolist() == pytest.approx([-1.0, 0.0, math.log10(5), 0.0, 0.0, -1.0])
        # The second step ties with the first, and the last two tie, too.
        assert mine["rank"].tolist() == [8.5, 3.5, 3.5, 6.0, 6.0, 6.0, 1.5]
        assert mine["rank_change"].iloc[1:].tolist() == [-5.0, 0.0, 2.5, 0.0, 0.0, -4.5]
    assert table[["decades", "rank_change", "training"]].isna().sum().tolist() == [2, 2, 2]


def test_the_mean_is_that_over_tasks_of_means_over_seeds():
    function = climbed(dict.fromkeys(ON_FUNCTIONS, 1.0) | {ON_FUNCTIONS[-1]: 0.01}, seeds=3)
    errors = climbed(dict.fromkeys(range(len(STEPS)), 1.0) | {len(STEPS) - 1: 0.1}, task="fcn")
    table = ladder(changes(frame(function, errors))).set_index("step")
    assert table["tasks"].tolist() == [1 if step.of_errors else 2 for step in STEPS]
    assert table["runs"].tolist() == [2 if step.of_errors else 5 for step in STEPS]
    elsewhere = table.loc["it looks elsewhere"]
    assert elsewhere["ratio"] == pytest.approx(10 ** ((-2 + 0) / 2))
    assert (elsewhere["ratio_low"], elsewhere["ratio_high"]) == pytest.approx((0.01, 1.0))  # only tasks differ
    logarithm = table.loc["logarithm of errors"]
    assert logarithm["ratio"] == pytest.approx(0.1)
    assert logarithm[["ratio_low", "rank_high"]].isna().all()  # of one task
    assert (logarithm["rank"], logarithm["rank_change"]) == ((1.0 + 1.5) / 2, -4.5)  # a tie on the function


def test_regrets_that_are_rounding_or_those_of_the_best_configuration_count_as_the_least():
    """A millionth of the first regret, 10; where the smallest above 0 is larger, half of that."""
    ends = dict.fromkeys(ON_FUNCTIONS, 1e-3) | {ON_FUNCTIONS[1]: 1e-12}
    tiny = changes(climbed(ends, seeds=1)).set_index("step")["decades"]
    assert tiny[NAMES[ON_FUNCTIONS[1]]] == pytest.approx(math.log10(1e-5 / 1e-3))
    ends = dict.fromkeys(range(len(STEPS)), 0.02) | {1: 0.0}
    none = changes(climbed(ends, task="fcn", seeds=1)).set_index("step")["decades"]
    assert none[NAMES[1]] == pytest.approx(math.log10(0.5))


def test_training_is_that_of_both_levels():
    runs = [of_step(number, [10.0, 1.0, 1.0], levels="HHL" if number else "HHH") for number in ON_FUNCTIONS]
    table = ladder(changes(frame(*runs)))
    assert table["training"].iloc[1:].tolist() == pytest.approx([11 / 15, 1.0, 1.0, 1.0, 1.0, 1.0])


def test_a_seed_without_a_result_of_a_step_is_left_out():
    both = climbed(dict.fromkeys(ON_FUNCTIONS, 1.0))
    lost = both["hash"].eq(f"{ON_FUNCTIONS[2]:08}") & both["seed"].eq(1)
    table = changes(frame(both[~lost], of_step(ON_FUNCTIONS[2], [math.nan, math.nan], seed=1)))
    assert set(table["seed"]) == {0}
    with pytest.raises(ValueError, match=r"no seed of a task has results of all steps: the paper's rule, "):
        changes(both[both["hash"] != f"{ON_FUNCTIONS[2]:08}"])


def test_what_cannot_be_compared_says_so():
    ends = climbed(dict.fromkeys(ON_FUNCTIONS, 1.0))
    with pytest.raises(ValueError, match="not on record: run them again"):
        changes(ends.assign(parameters=None))
    with pytest.raises(ValueError, match="measure='regret' is not on record of every heavy result"):
        changes(frame(ends, ends.assign(task="park", optimum=math.nan)))
    again = of_step(0, [9.0], seed=5).assign(hash="ffff")
    with pytest.raises(
        ValueError, match=r"several configurations of the step \"the paper's rule\": hashes 00000000, ffff"
    ):
        changes(pd.concat([ends, again]))
    with pytest.raises(ValueError, match="got trials of gp_bo"):
        changes(ends.assign(method="gp_bo"))


def test_steps_come_in_their_order_whatever_that_of_the_records():
    trials = climbed(dict.fromkeys(range(len(STEPS)), 1.0), task="fcn")
    shuffled = pd.concat(
        [rows for _, rows in itertools.islice(trials.groupby(["seed", "hash"], sort=False), None)][::-1]
    )
    assert ladder(changes(shuffled))["step"].tolist() == NAMES
