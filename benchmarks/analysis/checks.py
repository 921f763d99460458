"""What a claim is judged by: functions that compute one figure with its interval from records or a recorded table.

Each takes the records (or the table, or the task) that it is about and the parameters that claims.yaml
gives it, and raises `Undecided` where these can tell nothing. Intervals are of 95% and seeded. Values
are minimized: a smaller mean is better.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pandas import DataFrame
from scipy.stats import qmc

from benchmarks.analysis import ablation, targets
from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.intervals import Resampling, bootstrap, interval, wilson
from benchmarks.analysis.recorded import training_curves as curves
from benchmarks.analysis.scores import common_cost, scores
from benchmarks.analysis.variants import DEFAULT, METHOD
from benchmarks.objectives.protocol import Objective
from benchmarks.tables.design import least
from benchmarks.tables.table import Table

# Of every interval; where the largest or least of several pairs is judged, corrected for their number.
CONFIDENCE = 0.95


class Undecided(Exception):
    """What is there can tell nothing of the claim; the message says why."""


@dataclass(frozen=True)
class Figure:
    """A figure, its 95% interval, and how many seeds, configurations or points it rests on."""

    value: float
    low: float
    high: float
    n: int


def speed_up(
    frame: DataFrame,
    task: str,
    method: str,
    over: str,
    against: str,
    share: float | None = None,
    target: float | None = None,
) -> Figure:
    """How many times less `method` spends than `over` to a regret, or to where `over` is at a share of its cost.

    One of `share` and `target` is given; see `benchmarks.analysis.targets` for what a speed-up is where runs never
    get there. n is the smaller number of seeds.
    """
    if (share is None) == (target is None):
        raise ValueError(f"one of share and target must be given, got {share} and {target}")
    states = incumbents(runs_of(frame, task, [method, over]))
    options = {"target": target} if share is None else {"share": share}
    row = targets.speed_ups(states, method, against, **options).iloc[0]
    if np.isnan(row["speed_up"]):
        raise Undecided(f"neither half of the runs of {method} nor half of those of {over} get there")
    return Figure(row["speed_up"], row["low"], row["high"], int(min(row["n"], row["n_over"])))


def share_reaching(frame: DataFrame, task: str, method: str, target: float) -> Figure:
    """The share of runs that end with a regret of at most `target`, with Wilson's interval."""
    table = targets.costs(incumbents(runs_of(frame, task, [method])), target, "regret")
    return _share(table["reached"].to_numpy())


def final_mean(frame: DataFrame, task: str, method: str) -> Figure:
    """The mean of the best heavy values that the runs end with."""
    table = scores(incumbents(runs_of(frame, task, [method])), "value")
    values = _found(table, method)
    low, high = interval(values)
    return Figure(float(values.mean()), float(low), float(high), len(values))


def largest_difference(frame: DataFrame, task: str, methods: Sequence[str]) -> Figure:
    """The largest difference between the mean best values of two of these methods, after equal seconds of training.

    Its low end is the largest that an interval of any pair, corrected by Bonferroni for their number,
    keeps away from 0; its high end the largest that the interval of any pair allows. So it is below a
    bound only if each pair is, and above only if some pair is.
    """
    pairs = list(itertools.combinations(methods, 2))
    values = _after_equal_seconds(frame, task, methods)
    figures = list(_differences(values, pairs))
    return Figure(
        max(abs(value) for value, *_ in figures),
        max(max(low, -high, 0.0) for _, _, (low, high) in figures),
        max(max(-low, high) for _, (low, high), _ in figures),
        min(map(len, values.values())),
    )


def least_gap(frame: DataFrame, task: str, behind: Sequence[str], ahead: Sequence[str]) -> Figure:
    """The least by which the mean best value of one of `behind` is above that of one of `ahead`, after equal seconds.

    Its low end is the lowest that the interval of any pair allows, its high end the lowest high end of
    intervals corrected by Bonferroni for the number of pairs. So it is above 0 only if each pair is, and
    below only if some pair is.
    """
    values = _after_equal_seconds(frame, task, [*behind, *ahead])
    figures = list(_differences(values, list(itertools.product(behind, ahead))))
    return Figure(
        min(value for value, *_ in figures),
        min(low for _, (low, _), _ in figures),
        min(high for _, _, (_, high) in figures),
        min(map(len, values.values())),
    )


def ablation_effect(frame: DataFrame, task: str, variant: str, cost: str = "heavy_runs") -> Figure:
    """By how much a variant of BTAO ends with a larger regret than the default, paired by seed at equal cost.

    In decades where the truth is known, else as the difference of errors; above 0 the default is better.
    """
    trials = frame[(frame["task"] == task) & (frame["method"] == METHOD)]
    if trials.empty or variant not in set(labels := ablation.labels(trials)):
        raise Undecided(f"no runs of {variant} on {task}")
    trials = trials[labels.isin([variant, DEFAULT])]
    row: Any = ablation.effects(trials, cost, ablation.common_end(trials, cost)).set_index("label").loc[variant]
    if row["equal"] == row["n"]:
        raise Undecided(f"all {row['n']} pairs of runs end alike" if row["n"] else f"no run of {variant} has a pair")
    return Figure(row["value"], row["low"], row["high"], int(row["n"]))


def quick_improvement(table: Table, improvement: float, time: float) -> Figure:
    """The share of configurations that make `improvement` of a heavy run's in `time` of its seconds, both shares.

    Of a grid, or of the Sobol configurations: the center and the corners are no sample of the space.
    """
    _, heavy = curves.levels(table)
    return _share(curves.improvement_shares(_sample(table), heavy, np.array([time]))[:, 0] >= improvement)


def ordered_curves(table: Table) -> Figure:
    """The share of configurations whose error at the end of a heavy run is at most that at the end of the light one.

    Of the last iterations themselves, not of the best so far, which are ordered by definition (METHOD
    item 17), and of the configurations of a grid, or of the Sobol ones.
    """
    light, heavy = curves.levels(table)
    ordered = []
    for _, curve in _sample(table).rows.groupby("configuration"):
        errors = curve["validation_error"].to_numpy()
        if not np.isnan(errors).any():
            ordered.append(errors[: heavy.stop(errors.tolist())][-1] <= errors[: light.stop(errors.tolist())][-1])
    return _share(np.array(ordered))


def ordered_levels(task: Objective, points: int = 4096) -> Figure:
    """The share of the space where the heavy response is at most the light one, at scrambled Sobol points."""
    sample = qmc.Sobol(task.space.dim, rng=np.random.default_rng(0)).random(points)
    configs = [task.space.from_unit(point) for point in sample]
    task.prepare()
    light, heavy = ([task.evaluate(config, level, 0).value for config in configs] for level in (task.light, task.heavy))
    return _share(np.less_equal(heavy, light))


def runs_of(frame: DataFrame, task: str, methods: Sequence[str]) -> DataFrame:
    """The trials of these methods on this task.

    Raises
    ------
    Undecided
        Naming the methods without any, or those with runs of several configurations, which are not to be pooled.
    """
    here = frame[(frame["task"] == task) & frame["method"].isin(methods)]
    configurations = here.groupby("method")["hash"].nunique().reindex(list(methods), fill_value=0)
    for wrong, what in ((configurations == 0, "no runs"), (configurations > 1, "runs of several configurations")):
        if wrong.any():
            raise Undecided(f"{what} of {', '.join(configurations.index[wrong])} on {task}")
    return here


def _after_equal_seconds(frame: DataFrame, task: str, methods: Sequence[str]) -> dict[str, np.ndarray]:
    """The best values of the runs of each method, after the seconds of training that the shortest run took."""
    states = incumbents(runs_of(frame, task, methods))
    table = scores(states, "value", against="train_seconds", at=common_cost(states, "train_seconds"))
    return {method: _found(table, method) for method in methods}


def _found(table: DataFrame, method: str) -> np.ndarray:
    """The scores of a method's runs."""
    values = table.loc[table["method"] == method, "score"].to_numpy()
    if np.isinf(values).any():
        raise Undecided(f"{np.isinf(values).sum()} of {len(values)} runs of {method} have no heavy result")
    return values


def _differences(
    values: dict[str, np.ndarray], pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[float, tuple[float, float], tuple[float, float]]]:
    """Of each pair the first mean less the second, its interval, and that corrected for the number of pairs."""

    def difference(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
        return first.mean(axis=axis) - second.mean(axis=axis)

    if min(map(len, values.values())) < 2:
        raise Undecided("one seed of a method gives no interval")
    for a, b in pairs:
        ends = []
        for resampling in (Resampling(CONFIDENCE), Resampling(1 - (1 - CONFIDENCE) / len(pairs), 10000)):
            low, high = bootstrap([values[a], values[b]], difference, resampling)
            ends.append((float(low), float(high)))
        yield float(difference(values[a], values[b])), ends[0], ends[1]


def _sample(table: Table) -> Table:
    """A grid as it is; another table without the center and the corners of the space, with which its design begins."""
    if table.head.grid is not None:
        return table
    first = least(table.head.objective().space)
    return Table(table.name, table.head, table.rows[table.rows["configuration"] >= first])


def _share(hits: np.ndarray) -> Figure:
    if not len(hits):
        raise Undecided("nothing to count")
    low, high = wilson(int(hits.sum()), len(hits), CONFIDENCE)
    return Figure(float(hits.mean()), low, high, len(hits))
