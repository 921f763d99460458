"""Ranks and tests against a case worked by hand, scipy's own tests and listed sign flips."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.analysis import ranking
from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.intervals import mean_of_intervals
from benchmarks.analysis.scores import normalized, scores
from support import frame, run

INF = math.inf

# Ranks 1234, 1324, 2134, 1243 and, with a tie, 1 2.5 2.5 4: on average 1.2, 2.1, 2.9, 3.8.
BY_HAND = [[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 4, 3], [1, 2, 2, 3]]


def table(values, tasks=None, seeds=None):
    """Scores with a row of `values` a block and a column a method, called a, b, c and so on."""
    values = np.asarray(values, dtype=float)
    tasks = tasks or [f"task_{number}" for number in range(len(values))]
    seeds = seeds or [0] * len(values)
    return pd.DataFrame(
        [
            {"task": task, "seed": seed, "label": "abcdefghi"[column], "score": score, "normalized": True}
            for task, seed, row in zip(tasks, seeds, values, strict=True)
            for column, score in enumerate(row)
        ]
    )


def test_the_case_worked_by_hand():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        comparison = ranking.blocks(table(BY_HAND))
    ranks = ranking.average_ranks(comparison)
    assert ranks["label"].tolist() == ["a", "b", "c", "d"]
    np.testing.assert_allclose(ranks["rank"], [1.2, 2.1, 2.9, 3.8])
    assert (ranks[["blocks", "dropped", "tasks"]] == [5, 0, 5]).all(axis=None)
    # 12 N / (k (k + 1)) (sum of squares - k (k + 1)^2 / 4) = 3 * 3.7, over 1 - 6 / (N (k^3 - k)) for the tie.
    statistic, p = ranking.friedman(comparison)
    assert statistic == pytest.approx(11.1 / 0.98)
    assert p == pytest.approx(stats.chi2.sf(11.1 / 0.98, 3))
    # q(0.05) = 2.569 for four methods in published tables: 2.569 sqrt(4 * 5 / (6 * 5)) = 2.098.
    assert ranking.critical_difference(4, 5) == pytest.approx(2.098, abs=1e-3)


@pytest.mark.parametrize(
    ("k", "n", "alpha", "expected"),
    [
        (4, 14, 0.05, 1.25),  # the example of Demsar (2006)
        (2, 6, 0.05, 1.960 * math.sqrt(6 / 36)),
        (5, 30, 0.10, 2.459 * math.sqrt(30 / 180)),
        (10, 12, 0.05, 3.164 * math.sqrt(110 / 72)),
    ],
)
def test_critical_differences_of_published_tables(k, n, alpha, expected):
    assert ranking.critical_difference(k, n, alpha) == pytest.approx(expected, abs=6e-3)


def test_pairs_that_are_told_apart_and_the_blocks_that_half_of_them_would_take():
    # The gaps of the case by hand are 2.6, 1.7, 1.7, 0.9, 0.9 and 0.8; those of its first three columns 1.5, 0.9, 0.6.
    assert ranking.pairs_apart(ranking.blocks(table(BY_HAND))) == (1, 6, 8)
    assert ranking.critical_difference(4, 8) < 1.7 < ranking.critical_difference(4, 7)
    three = ranking.blocks(table([row[:3] for row in BY_HAND]))
    gap = sorted(abs(np.subtract.outer(*[three.ranks.mean().to_numpy()] * 2))[np.triu_indices(3, 1)])[1]
    apart, pairs, for_half = ranking.pairs_apart(three)
    assert (apart, pairs) == (1, 3) and gap == pytest.approx(0.9)
    assert ranking.critical_difference(3, for_half) <= gap < ranking.critical_difference(3, for_half - 1)
    assert ranking.pairs_apart(ranking.blocks(table([[1, 2, 3]] * 12))) == (3, 3, 11)
    assert ranking.pairs_apart(ranking.blocks(table([[1, 1, 1, 2]] * 20))) == (3, 6, 6)
    assert ranking.pairs_apart(ranking.blocks(table([[1, 1]] * 6))) == (0, 1, None)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_nemenyi_of_scikit_posthocs_tells_apart_what_the_critical_difference_does(seed):
    rng = np.random.default_rng(seed)
    comparison = ranking.blocks(table(rng.random((6, 4)) + rng.random(4)))
    mean = comparison.ranks.mean()
    p = scikit_posthocs.posthoc_nemenyi_friedman(comparison.ranks.reset_index(drop=True))
    difference = ranking.critical_difference(4, 6)
    for one, other in itertools.combinations(mean.index, 2):
        assert (p.loc[one, other] < 0.05) == (abs(mean[one] - mean[other]) > difference)


def test_friedman_is_that_of_scipy_and_defined_where_all_tie():
    values = np.random.default_rng(1).normal(size=(7, 3))
    expected = stats.friedmanchisquare(*values.T)
    assert ranking.friedman(ranking.blocks(table(values))) == pytest.approx((expected.statistic, expected.pvalue))
    assert ranking.friedman(ranking.blocks(table(np.ones((6, 3))))) == (0.0, 1.0)
    assert np.isnan(ranking.friedman(ranking.blocks(table(values[:, :2])))).all()


def test_a_block_is_a_task_with_the_median_over_seeds_or_a_seed():
    scores = table([[1, 9], [2, 3], [3, 3], [5, 4]], tasks=["t"] * 3 + ["u"], seeds=[0, 1, 2, 0])
    with pytest.warns(UserWarning, match="2 tasks only, fewer than 5"):
        by_task = ranking.blocks(scores)
    assert by_task.values.to_numpy().tolist() == [[2, 3], [5, 4]]
    with pytest.warns(UserWarning, match="2 tasks only"):
        by_seed = ranking.blocks(scores, "seed")
    assert by_seed.ranks.to_numpy().tolist() == [[1, 2], [1, 2], [1.5, 1.5], [2, 1]]


def test_settings_of_one_task_count_as_one():
    names = {f"currin, heavy={heavy}": "currin" for heavy in range(5)}
    with pytest.warns(UserWarning, match="2 tasks only, fewer than 5"):
        comparison = ranking.blocks(table([[1, 2]] * 6, tasks=[*names, "park"]), task_of=names)
    assert (len(comparison.values), comparison.tasks) == (6, 2)
    assert ranking.average_ranks(comparison)["tasks"].tolist() == [2, 2]


def test_the_unit_of_a_task_decides_nothing():
    def pairs(unit):
        rng = np.random.default_rng(4)
        values = {(t, m, seed): np.sort(rng.exponential(size=3))[::-1] for t in "tu" for m in "ab" for seed in range(9)}
        trials = frame(
            *(
                run("HHH", y * (unit if t == "u" else 1), task=t, method=m, seed=seed)
                for (t, m, seed), y in values.items()
            )
        )
        states = incumbents(trials)
        with pytest.warns(UserWarning, match="2 tasks only"):
            raw, comparison = ranking.blocks(scores(states), "seed"), ranking.blocks(normalized(states), "seed")
        with pytest.raises(ValueError, match="of one task or of normalized scores"):
            ranking.pairwise(raw)
        return ranking.pairwise(comparison)

    pd.testing.assert_frame_equal(pairs(1e3), pairs(1.0))
    told = ["a", "b", "wins", "ties", "losses", "difference", "p", "p_holm", "dropped"]
    assert list(pairs(1.0)) == told
    with pytest.warns(UserWarning, match="1 task only"):  # of one task, differences have one unit
        assert len(
            ranking.pairwise(ranking.blocks(table(BY_HAND, ["t"] * 5, range(5)).assign(normalized=False), "seed"))
        )


def test_only_complete_blocks_count_and_the_others_are_warned_of():
    scores = table(BY_HAND + BY_HAND[:2], seeds=[0] * 5 + [1] * 2, tasks=[*"stuvw", *"st"])
    missing = scores[(scores["seed"] == 0) | (scores["label"] != "c")]  # seed 1 of c is not on record
    with pytest.warns(UserWarning, match="left out 2 of 7 blocks") as caught:
        comparison = ranking.blocks(missing, "seed")
    assert caught[0].filename == __file__
    assert comparison.dropped == 2
    assert ranking.average_ranks(comparison)["dropped"].tolist() == [2] * 4
    assert ranking.pairwise(comparison)["dropped"].tolist() == [2] * 6
    ended_early = scores.assign(score=scores["score"].where((scores["seed"] == 0) | (scores["label"] != "c")))
    with pytest.warns(UserWarning, match="left out 2 of 7 blocks"):
        pd.testing.assert_frame_equal(ranking.blocks(ended_early, "seed").values, comparison.values)
    assert len(ranking.blocks(missing).values) == 5  # a task needs a seed of each method, not the same seeds


def test_a_run_that_found_nothing_is_ranked_last():
    comparison = ranking.blocks(table([[INF, 1, INF], *[[1, 2, 3]] * 5]))
    assert comparison.ranks.iloc[0].tolist() == [2.5, 1, 2.5]
    pairs = ranking.pairwise(comparison).set_index(["a", "b"])
    assert pairs.loc[("a", "c"), ["wins", "ties", "losses"]].tolist() == [5, 1, 0]
    assert pairs.loc[("a", "b"), "losses"] == 1


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="by must be one of task, seed, got 'run'"):
        ranking.blocks(table(BY_HAND), "run")
    with pytest.raises(ValueError, match="a comparison needs two methods, got a"):
        ranking.blocks(table([[1.0]] * 5))
    apart = table(BY_HAND)
    apart = apart[(apart["label"] != "a") | (apart["task"] == "task_9")]
    apart = pd.concat([apart, pd.DataFrame([{"task": "u", "seed": 0, "label": "a", "score": 1.0, "normalized": True}])])
    with pytest.raises(ValueError, match="no task has scores of all of a, b, c, d"):
        ranking.blocks(apart)


def sign_flips(difference):
    """The two-sided p-value of Wilcoxon's test from all sign flips; a zero gives half its rank to either side."""
    ranks = stats.rankdata(np.abs(difference))
    shared = ranks[difference == 0].sum() / 2
    ranks, signs = ranks[difference != 0], np.sign(difference[difference != 0])
    sums = np.array([ranks[np.array(flip) > 0].sum() for flip in itertools.product([-1, 1], repeat=len(ranks))])
    observed = ranks[signs > 0].sum() + shared
    below, above = np.mean(sums + shared <= observed), np.mean(sums + shared >= observed)
    return min(1.0, 2 * min(below, above))


def test_pairwise_p_values_are_those_of_all_sign_flips_and_corrected_after_holm():
    comparison = ranking.blocks(table(BY_HAND))
    pairs = ranking.pairwise(comparison).set_index(["a", "b"])
    values = comparison.values
    for a, b in itertools.combinations("abcd", 2):
        difference = (values[a] - values[b]).to_numpy()
        assert pairs.loc[(a, b), "p"] == pytest.approx(sign_flips(difference))
        assert pairs.loc[(a, b), "difference"] == np.median(difference)
    assert pairs.loc[("a", "d"), "p"] == 2 / 2**5  # a wins all five
    assert pairs.loc[("b", "c"), ["wins", "ties", "losses"]].tolist() == [3, 1, 1]
    # Holm: the smallest of six times 6, the next times 5, never less than the one before.
    running, adjusted = 0.0, []
    for place, p in enumerate(np.sort(pairs["p"])):
        running = max(running, min(1.0, (6 - place) * p))
        adjusted.append(running)
    np.testing.assert_allclose(np.sort(pairs["p_holm"]), adjusted)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=14, max_size=20),  # of fewer p takes long
    st.sampled_from([(0, 1000), (0, 189), (0, 10_000), (3e8, 1e6)]),
)
def test_shares_of_images_are_ranked_as_the_images_counted(counts, scale):
    """0.003 - 0.002 and 0.002 - 0.001 differ in their last bit, and tie."""
    shift, images = scale
    first, second = np.array(counts, dtype=float).T
    counted = ranking.signed_rank(first, second)
    shares = ranking.signed_rank((shift + first) / images, (shift + second) / images)
    assert {**shares, "difference": 0} == {**counted, "difference": 0}
    assert shares["difference"] == pytest.approx(counted["difference"] / images, rel=1e-6)
    if shift == 0:  # as regrets, and normalized: differences of differences
        regrets = [(values / images - 0.0248) / 0.0137 for values in (first, second)]
        assert {**ranking.signed_rank(*regrets), "difference": 0} == {**counted, "difference": 0}


def test_shares_of_few_images_are_ranked_as_the_images_counted():
    first, second = np.array([[3, 2, 1, 7, 9, 5], [2, 1, 2, 4, 9, 8]], dtype=float)
    counted, shares = (ranking.signed_rank(first / of, second / of) for of in (1, 1000))
    assert shares["ties"] == 1 and {**shares, "difference": 0} == {**counted, "difference": 0}


def test_small_differences_keep_their_order_beside_large_ones():
    first, second = np.array([1e3, 3e-9, 1e-9, INF, INF, INF]), np.array([1e-9, 1e-9, 2e-9, INF, 1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tested = ranking.signed_rank(first, second)
    assert (tested["wins"], tested["ties"], tested["losses"]) == (1, 1, 4)
    assert tested["rank_sum"] == 4 + 3 - 2 + 5.5 + 5.5
    tested = ranking.signed_rank(np.array([1e3, 1e-12, 3.0]), np.array([1e3, 3e-12, 4.0]))
    assert (tested["wins"], tested["ties"]) == (2, 1)  # a tie of large numbers is exact


def test_pairwise_of_methods_that_always_tie():
    pairs = ranking.pairwise(ranking.blocks(table([[1, 1], [2, 2], [INF, INF], [3, 3], [4, 4]])))
    assert pairs[["ties", "difference", "p", "p_holm"]].iloc[0].tolist() == [5, 0.0, 1.0, 1.0]


def scores_of(samples):
    return pd.DataFrame(
        [
            {"task": task, "label": label, "seed": seed, "score": score}
            for (task, label), values in samples.items()
            for seed, score in enumerate(values)
        ]
    )


def test_probability_of_improvement_by_hand_and_against_mann_whitney():
    scores = scores_of({("t", "a"): [1, 3], ("t", "b"): [2, 3], ("u", "a"): [1, INF], ("u", "b"): [INF, INF]})
    result = ranking.improvement(scores).set_index(["a", "b"])
    # t: 1 beats both, 3 ties with 3; u: 1 beats both, infinity ties with both.
    assert result.loc[("a", "b"), "probability"] == ((2 + 0.5) / 4 + (2 + 1) / 4) / 2
    assert result["probability"].sum() == 1.0
    rng = np.random.default_rng(6)
    first, second = rng.integers(9, size=8), rng.integers(9, size=11)
    one = ranking.improvement(scores_of({("t", "a"): first, ("t", "b"): second})).iloc[0]
    assert one["probability"] == pytest.approx(1 - stats.mannwhitneyu(first, second).statistic / 88)
    assert one["low"] < one["probability"] < one["high"]


def test_probability_of_improvement_leaves_out_tasks_without_both_and_says_so():
    scores = scores_of({("t", "a"): [1, 3], ("t", "b"): [2, 3], ("u", "a"): [1, 2], ("v", "c"): [1, math.nan]})
    result = ranking.improvement(scores).set_index(["a", "b"])
    assert result.loc[("a", "b"), ["tasks", "dropped"]].tolist() == [1, 2]
    assert math.isnan(result.loc[("a", "c"), "probability"])


@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("truth", [0.5, 0.76, 0.98])
def test_the_interval_of_a_probability_of_improvement_covers_it(tasks, n, truth):
    rng = np.random.default_rng(9)
    shift, hits, widths, repeats = stats.norm.ppf(truth) * math.sqrt(2), 0, [], 120
    runs = scores_of({(str(task), label): np.zeros(n) for task in range(tasks) for label in "ab"})
    for _ in range(repeats):
        runs["score"] = rng.normal(np.where(runs["label"] == "b", shift, 0.0), 1.0)
        row = ranking.improvement(runs).iloc[0]
        hits += row["low"] <= truth <= row["high"]
        widths.append(row["high"] - row["low"])
    assert hits / repeats > 0.86  # 0.9 to 0.98 in a longer simulation
    assert np.mean(widths) < {5: 0.7, 30: 0.3}[n] / math.sqrt(tasks)


def test_the_interval_of_a_probability_of_improvement_stays_open_at_its_ends():
    """Of two seeds against two, in order, by chance alone every sixth pair is so."""
    result = ranking.improvement(scores_of({("t", "a"): [1, 2], ("t", "b"): [3, INF]})).set_index(["a", "b"])
    better, worse = result.loc[("a", "b")], result.loc[("b", "a")]
    # p = 1 solves 1 - t = z**2 t (1 + (1 - t) / (2 - t) + t / (1 + t)) / 4 of the method, with t < 0.5.
    t, z = better["low"], stats.norm.ppf(0.975)
    assert 1 - t == pytest.approx(z**2 * t * (1 + (1 - t) / (2 - t) + t / (1 + t)) / 4)
    assert (better["probability"], better["high"]) == (1.0, 1.0)
    assert t < 0.5
    assert (worse["probability"], worse["low"], worse["high"]) == (0.0, 0.0, pytest.approx(1 - t))


def test_intervals_of_tasks_are_combined_by_squares():
    low, high = mean_of_intervals([0.5, 0.9], [(0.2, 0.7), (0.5, 1.0)])
    assert (low, high) == (pytest.approx(0.7 - 0.5 / 2), pytest.approx(0.7 + math.hypot(0.2, 0.1) / 2))
    one = ranking.improvement(scores_of({("t", "a"): [1, 2], ("t", "b"): [3]})).iloc[0]
    assert one["probability"] == 1.0
    assert math.isnan(one["low"]) and math.isnan(one["high"])
