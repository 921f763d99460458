"""Cost to a target and speed-up against hand-worked cases: unreached, ended early, half-way."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from benchmarks.analysis import targets
from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.intervals import Resampling
from support import frame, run

NAN, INF = math.nan, math.inf


def test_costs_by_hand_with_a_run_that_never_reaches_and_one_that_ends_early():
    states = incumbents(
        frame(
            run("LHLHH", [0.0, 4.0, 0.0, 1.0, 0.5]),
            run("HHH", [4.0, 3.0, 2.0], seed=1),
            run("L", [0.0], seed=2),
        )
    )
    table = targets.costs(states, 1.0)
    assert table["reached"].tolist() == [True, False, False]
    # The first at its fourth trial; the others what they have spent.
    assert table["heavy_runs"].tolist() == [2, 3, 0]
    np.testing.assert_allclose(table["heavy_equivalents"], [2.4, 3.0, 0.2])
    assert table["train_seconds"].tolist() == [6.0, 4.5, 1.5]
    assert table["time"].tolist() == [8.0, 6.0, 2.0]


def test_a_target_of_the_test_error_is_reached_where_the_incumbent_first_has_it():
    mine = run("HHH", [3.0, 2.0, 1.0]).assign(test_error=[0.4, 0.2, 0.3])
    other = run("HHH", [3.0, 2.0, 1.0], method="tpe", hash="t").assign(test_error=[0.4, 0.4, 0.2])
    states = incumbents(frame(mine, other))
    assert targets.costs(states, 0.2, "test_error")["heavy_runs"].tolist() == [2, 3]
    (row,) = targets.speed_ups(states, "btao", "heavy_runs", share=1.0, measure="test_error").to_dict("records")
    assert (row["target"], row["speed_up"]) == (0.2, 1.5)


def test_a_result_without_a_test_error_is_no_run_that_never_reached_a_target():
    unknown = run("HH", [3.0, 1.0], method="tpe", hash="t").assign(test_error=[0.4, NAN])
    states = incumbents(frame(run("HH", [3.0, 1.0]).assign(test_error=0.3), unknown))
    with pytest.raises(ValueError, match=r"measure='test_error' is not on record of .*, not of tpe on currin$"):
        targets.speed_ups(states, "btao", measure="test_error")


def test_targets_may_differ_by_task_and_must_be_numbers():
    states = incumbents(frame(run("HH", [3.0, 1.0]), run("HH", [3.0, 1.0], task="park")))
    table = targets.costs(states, {"currin": 3.0, "park": 1.0})
    assert table["heavy_runs"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="target must be a number for every task, got None for 'park'"):
        targets.costs(states, {"currin": 3.0})
    with pytest.raises(ValueError, match="got nan for 'currin'"):
        targets.costs(states, NAN)


def test_with_noise_a_regret_is_reached_when_it_first_is_at_the_target():
    states = incumbents(run("HHH", [3.0, 2.0, 1.0], truth=[3.0, 0.5, 2.0]))
    assert targets.costs(states, 0.5)["heavy_runs"].tolist() == [2]


def times_to_zero(method, costs, budget=10, task="currin"):
    """Runs of a method that reach 0 after so many heavy trials; infinite: never in their budget."""
    return frame(
        *(
            run("H" * budget, np.where(np.arange(budget) + 1 >= cost, 0.0, 1.0), method=method, seed=seed, task=task)
            for seed, cost in enumerate(costs)
        )
    )


def test_reach_counts_unreached_runs_as_infinite():
    states = incumbents(
        frame(times_to_zero("btao", [2, 3, 5, INF]), times_to_zero("tpe", [4, INF, INF]), times_to_zero("smac", [4]))
    )
    table = targets.reach(targets.costs(states, 0.0), "heavy_runs").set_index("method")
    assert table["reached"].to_dict() == {"btao": 3, "tpe": 1, "smac": 1}
    assert table["share"].to_dict() == {"btao": 0.75, "tpe": 1 / 3, "smac": 1.0}
    assert table["median"].to_dict() == {"btao": 5.0, "tpe": INF, "smac": 4.0}  # of four, the third
    assert table.loc["btao", ["low", "high"]].tolist() == [2.0, INF]  # four seeds: their range
    assert table.loc["tpe", ["low", "high"]].tolist() == [4.0, INF]
    assert table.loc["smac", ["low", "high"]].isna().all()
    np.testing.assert_array_equal(table.loc[["btao", "tpe", "smac"], "spent"], [10, 10, NAN])
    # Wilson's interval for 3 of 4, from its formula.
    z = 1.959963984540054
    center, half = (0.75 + z * z / 8) / (1 + z * z / 4), z * math.sqrt(0.75 * 0.25 / 4 + z * z / 64) / (1 + z * z / 4)
    np.testing.assert_allclose(
        table.loc["btao", ["share_low", "share_high"]].astype(float), [center - half, center + half]
    )


def test_the_interval_of_a_median_cost_is_that_of_the_listed_resamples():
    costs = [1, 2, 4, 7, 9]
    table = targets.costs(incumbents(times_to_zero("btao", costs)), 0.0)
    row = targets.reach(table, "heavy_runs", Resampling(confidence=0.5, resamples=20_000)).iloc[0]
    medians = np.sort([np.median(resample) for resample in itertools.product(costs, repeat=5)])
    tail = 0.2037  # Phi(-sqrt(5/4) * t_{0.75, 4}), t = 0.740697
    assert row["low"] == medians[int(tail * len(medians))] == 2
    assert row["high"] == medians[int((1 - tail) * len(medians))] == 7


def test_no_more_than_half_of_the_runs_make_an_infinite_median():
    states = incumbents(frame(times_to_zero("btao", [2, 3, INF, INF]), times_to_zero("tpe", [2, 3, 4, INF])))
    medians = targets.reach(targets.costs(states, 0.0), "heavy_runs").set_index("method")["median"]
    assert medians.to_dict() == {"btao": INF, "tpe": 4.0}


def to_zero(a, b, **options):
    """The speed-up of btao over tpe to the target 0, from runs that reach it after so many heavy trials."""
    states = incumbents(frame(times_to_zero("btao", a), times_to_zero("tpe", b)))
    (row,) = targets.speed_ups(states, "btao", "heavy_runs", target=0.0, **options).to_dict("records")
    return row


def test_speed_up_by_hand():
    result = to_zero([2, 2, 4], [6, 8, 10])
    assert result["speed_up"] == 4.0
    assert (result["low"], result["high"]) == (6 / 4, 10 / 2)  # three seeds each: the range
    assert (result["n"], result["n_over"], result["reached"], result["reached_over"]) == (3, 3, 3, 3)
    assert result["undefined"] == 0
    assert to_zero([6, 8, 10], [2, 2, 4])["speed_up"] == 0.25
    assert to_zero([2, 4, 5, 9], [3, 6, 10, 10])["speed_up"] == 2.0  # of four, the third
    again = to_zero([2, 2, 4], [6, 8, 10])
    assert [again[name] for name in ("low", "high")] == [result[name] for name in ("low", "high")]  # seeded


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([2, 2, 2], [INF, INF, 4], (INF, 2.0, INF)),
        ([INF, INF, 4], [2, 2, 2], (0.0, 0.0, 0.5)),
        ([INF, INF, INF], [INF, INF, INF], (NAN, 0.0, INF)),  # nothing is known, and that is said
        ([2, 2, INF], [4, 4, 4], (2.0, 0.0, 2.0)),
        ([2, 2, 4, INF], [4, 4, 8, INF], (2.0, 0.0, INF)),
        ([2, 2, 2, 2], [4, 4, INF, INF], (INF, 2.0, INF)),  # exactly half have not reached it
    ],
)
def test_speed_up_with_runs_that_never_reach(a, b, expected):
    result = to_zero(a, b)
    np.testing.assert_array_equal([result["speed_up"], result["low"], result["high"]], expected)
    assert (result["undefined"] == 1.0) == (min(a) == min(b) == INF)


def test_a_resample_that_says_nothing_widens_the_interval_on_both_sides():
    result = to_zero([2, 2, 2, INF, INF], [4, 4, 4, INF, INF])
    assert result["speed_up"] == 2.0
    assert (result["low"], result["high"]) == (0.0, INF)
    infinite = np.mean([np.median(one) == INF for one in itertools.product([2, 2, 2, INF, INF], repeat=5)])
    assert result["undefined"] == pytest.approx(infinite**2, abs=0.02)


def test_speed_up_of_single_seeds_has_no_interval():
    result = to_zero([2], [6])
    assert result["speed_up"] == 3.0 and math.isnan(result["low"])


def test_an_interval_of_a_speed_up_covers_it():
    # Exponential costs with means 1 and 3: the medians have the ratio 3.
    rng = np.random.default_rng(8)
    covered = 0
    for a, b in zip(rng.exponential(1.0, (300, 15, 1)), rng.exponential(3.0, (300, 15, 1)), strict=True):
        result = targets.speed_up(a, b, resampling=Resampling(resamples=400))
        covered += result["low"] <= 3 <= result["high"]
    assert covered / 300 > 0.93


def differing(method, rng, n, trials=12):
    """Runs of a method that fall at random, from seed to seed differently."""
    falls = rng.exponential(size=(n, trials)) * (rng.random((n, trials)) < 0.5)
    return frame(
        *(run("H" * trials, row, method=method, seed=seed) for seed, row in enumerate(np.exp(-falls.cumsum(axis=1))))
    )


@pytest.mark.parametrize("n", [1, 2, 4, 7, 10])
@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
def test_a_method_is_as_fast_as_an_exact_copy_of_itself(n, share):
    trials = differing("tpe", np.random.default_rng(n), n)
    states = incumbents(frame(trials, trials.assign(method="copy")))
    (row,) = targets.speed_ups(states, "copy", "time", share=share).to_dict("records")
    assert row["speed_up"] == 1.0
    assert row["target"] == targets.target_of(states, "tpe", share)
    assert row["reached"] == row["reached_over"] > n / 2
    assert n == 1 or row["low"] <= 1 <= row["high"]
    cost = targets.reach(targets.costs(states, row["target"])).set_index("method").loc["tpe", "median"]
    assert cost <= share * 24  # all runs take 24 s


@pytest.mark.parametrize("n", [6, 20])
def test_the_interval_covers_1_for_methods_that_are_alike(n):
    """Each half-way target is one of the resample's own: what more than half of its runs have reached."""
    rng = np.random.default_rng(n)
    covered = 0
    for _ in range(200):
        a, b = np.minimum.accumulate(rng.exponential(size=(2, n, 40)), axis=2)
        goals, reached = np.unique(b[:, 19], return_inverse=True)
        costs = [(np.where(y[:, :, None] <= goals, np.arange(1, 41)[:, None], INF)).min(axis=1) for y in (a, b)]
        result = targets.speed_up(*costs, reached, resampling=Resampling(resamples=400))
        covered += result["low"] <= 1 <= result["high"]
    assert covered / 200 > 0.94


def test_the_target_is_taken_again_from_each_resample():
    """B's two seeds end at 4 after 4 s and at 2 after 8 s; A is at 4 after 2 s, at 2 after 8 s."""
    b = frame(run("HHHH", [9, 4, 4, 4], method="tpe"), run("HHHH", [9, 9, 9, 2], method="tpe", seed=1))
    a = frame(*(run("HHHH", [4, 3, 3, 2], seed=seed) for seed in range(2)))
    (row,) = targets.speed_ups(incumbents(frame(a, b)), "btao", share=1.0).to_dict("records")
    assert (row["target"], row["speed_up"]) == (4.0, 4.0)  # B's costs to 4 are 4 s and 8 s
    # Resamples of B: (4, 4) costs 4 s, 2 s of A; (2, 2) costs 8 s, as A; mixed, as above.
    assert (row["low"], row["high"]) == (1.0, 4.0)


def test_half_way_by_hand():
    states = incumbents(
        frame(
            run("HHHH", [8.0, 6.0, 3.0, 1.0]),  # half of 8 s is 4 s: 6
            run("HH", [4.0, 0.0], seed=1),  # half of 4 s is 2 s: 4
            run("LLLH", [0.0, 0.0, 0.0, 2.0], seed=2),  # nothing half-way
        )
    )
    assert targets.target_of(states, "btao") == 6.0
    assert targets.target_of(states, "btao", share=1.0) == 1.0
    assert targets.target_of(states[states["seed"] < 2], "btao") == 6.0  # of two, the upper
    assert targets.target_of(states[states["seed"] == 2], "btao") == INF
    with pytest.raises(ValueError, match="share must be above 0 and at most 1, got 0"):
        targets.target_of(states, "btao", share=0)
    with pytest.raises(ValueError, match="must hold runs of 'tpe' on one task, got 0 tasks"):
        targets.target_of(states, "tpe")


def test_speed_ups_half_way_take_the_target_from_the_other_method():
    values = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]
    states = incumbents(
        frame(
            *(run("H" * 10, values, method="tpe", seed=seed) for seed in range(2)),
            *(run("HHHH", [9.0, 5.0, 2.0, 0.0], seed=seed) for seed in range(2)),
        )
    )
    (row,) = targets.speed_ups(states, "btao", "heavy_runs").to_dict("records")
    assert (row["over"], row["target"]) == ("tpe", 5.0)  # the fifth of ten; btao is there with its second
    assert row["speed_up"] == 2.5
    (row,) = targets.speed_ups(states, "btao", "heavy_runs", share=1.0).to_dict("records")
    assert (row["target"], row["speed_up"]) == (0.0, 2.5)
    (row,) = targets.speed_ups(states, "btao", "heavy_runs", target=2.0).to_dict("records")
    assert row["speed_up"] == 8 / 3


def test_the_speed_up_over_tasks_is_the_median_of_those_of_the_tasks():
    slower, never = times_to_zero("tpe", [8, 8, 8]), times_to_zero("btao", [INF] * 3, task="park")
    parts = [
        *(times_to_zero("btao", [2, 2, 2]), slower, times_to_zero("smac", [2, 2, 2])),  # 4 over tpe, 1 over smac
        *(never, times_to_zero("tpe", [8, 8, 8], task="park")),  # 0, and no smac
        *(times_to_zero("btao", [2, 2, 4], task="svm"), times_to_zero("tpe", [4, 6, 8], task="svm")),  # 3
    ]
    states = incumbents(frame(*parts))
    table = targets.speed_ups_over_tasks(states, "btao", "heavy_runs", share=1.0).set_index("over")
    assert table["speed_up"].to_dict() == {"smac": 1.0, "tpe": 3.0}
    assert table["tasks"].to_dict() == {"smac": 1, "tpe": 3}
    assert (table.loc["smac", "low"], table.loc["smac", "high"]) == (1.0, 1.0)
    # Of the three tasks the one in the middle is svm, whose runs differ; above 4 it is currin.
    assert (table.loc["tpe", "low"], table.loc["tpe", "high"]) == (1.0, 4.0)
    two = targets.speed_ups_over_tasks(states[states["task"] != "park"], "btao", "heavy_runs", share=1.0)
    assert two.set_index("over")["speed_up"]["tpe"] == 3.0  # of 3 and 4
    one = targets.speed_ups_over_tasks(states[states["seed"] == 0], "btao", "heavy_runs", share=1.0)
    assert one["low"].isna().all()
    with pytest.raises(ValueError, match="of must be one of btao, smac, tpe, got 'x'"):
        targets.speed_ups_over_tasks(states, "x")


def of_a_task(states, over, task, **options):
    """The speed-up of btao over a method on one task."""
    table = targets.speed_ups(states[states["task"] == task], "btao", share=1.0, **options).set_index("over")
    return table.loc[over, ["speed_up", "low", "high"]].tolist()


def over_tasks(states, over, **options):
    """The speed-up of btao over a method, over tasks."""
    table = targets.speed_ups_over_tasks(states, "btao", share=1.0, **options).set_index("over")
    return table.loc[over, ["tasks", "speed_up", "low", "high"]].tolist()


def test_the_interval_over_tasks_does_not_turn_on_what_else_is_compared_and_is_that_of_a_task_alone():
    rng = np.random.default_rng(1)
    parts = []
    for task in ("currin", "park"):
        for method in ("btao", "smac", "tpe"):
            runs = differing(method, rng, 7, trials=40).assign(task=task)
            # Every cost is another number, so that other resamples would show.
            parts.append(runs.assign(time=runs["time"] + rng.random(len(runs))))
    states = incumbents(frame(*parts))
    few = Resampling(confidence=0.5, resamples=50)
    both = over_tasks(states, "tpe", resampling=few)
    assert both == over_tasks(states[states["label"] != "smac"], "tpe", resampling=few)
    for task in ("currin", "park"):
        here = states[states["task"] == task]
        assert over_tasks(here, "tpe", resampling=few) == [1, *of_a_task(states, "tpe", task, resampling=few)]


def test_seeds_are_resampled_on_each_task_for_itself():
    """Of a task a resample's median is 8 with probability p = 0.317; of five, that in the middle with 0.186."""
    p = sum(math.comb(5, k) * 0.4**k * 0.6 ** (5 - k) for k in (3, 4, 5))
    middle = sum(math.comb(5, k) * p**k * (1 - p) ** (5 - k) for k in (3, 4, 5))
    assert (p, middle) == (pytest.approx(0.317, abs=1e-3), pytest.approx(0.186, abs=1e-3))
    parts = [
        part
        for task in "abcde"
        for part in (times_to_zero("btao", [2] * 5, task=task), times_to_zero("tpe", [4, 4, 4, 8, 8], task=task))
    ]
    states = incumbents(frame(*parts))
    options = {"against": "heavy_runs", "resampling": Resampling(confidence=0.37)}  # about a quarter at either end
    assert of_a_task(states, "tpe", "a", **options) == [2.0, 2.0, 4.0]
    assert over_tasks(states, "tpe", **options) == [5, 2.0, 2.0, 2.0]


def test_a_task_that_has_no_speed_up_counts_neither_in_the_median_nor_in_its_interval():
    parts = [times_to_zero("btao", [2] * 3), times_to_zero("tpe", [8] * 3)]
    for method in ("btao", "tpe"):  # the heavy run fails, so that nothing is reached
        parts += [run("HL", [NAN, 0.5], method=method, task="park", seed=seed) for seed in range(3)]
    states = incumbents(frame(*parts))
    assert over_tasks(states, "tpe", against="heavy_runs") == [1, 4.0, 4.0, 4.0]
    alone = states[states["task"] == "park"]
    np.testing.assert_array_equal(over_tasks(alone, "tpe", against="heavy_runs"), [0, NAN, 0.0, INF])


def test_a_method_without_a_task_of_the_others_has_no_speed_up_over_tasks():
    parts = [times_to_zero("btao", [2] * 3), times_to_zero("tpe", [8] * 3), times_to_zero("smac", [8] * 3, task="park")]
    table = targets.speed_ups_over_tasks(incumbents(frame(*parts)), "btao", "heavy_runs", share=1.0)
    assert table["over"].tolist() == ["tpe"]


def test_wrong_arguments_are_named():
    states = incumbents(frame(times_to_zero("btao", [2]), times_to_zero("btao", [2], task="park")))
    table = targets.costs(states, 0.0)
    with pytest.raises(ValueError, match=r"against must be one of .*, got 'epochs'"):
        targets.reach(table, "epochs")
    for wrong, message in (
        ({"of": "tpe"}, "must hold runs of 'tpe' on one task, got 0 tasks"),
        ({"against": "epochs"}, "against must be one of"),
        ({"target": {"park": 0.0}}, "target must be a number for every task, got None for 'currin'"),
    ):
        with pytest.raises(ValueError, match=message):
            targets.speed_ups(states, **({"of": "btao"} | wrong))
