"""What a claim is judged by: functions that compute one figure with its interval from records or a recorded table.

Each takes the records (or tables) it is about and the parameters that claims.yaml gives it. Intervals
are of 95% and seeded. Values are minimised: a smaller mean is better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import ablation, curves, targets
from benchmarks.incumbents import incumbents
from benchmarks.intervals import bootstrap, interval
from benchmarks.scores import scores

if TYPE_CHECKING:
    from pandas import DataFrame

    from benchmarks.objectives.protocol import Objective
    from benchmarks.table import Table

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Figure:
    """A figure, its 95% interval, and how many seeds, configurations or points it rests on."""

    value: float
    low: float
    high: float
    n: int


def speed_up(frame: DataFrame, task: str, method: str, over: str, against: str, share: float = 0.5) -> Figure:
    """How many times less `method` spends than `over` until it is where `over` is at `share` of its cost.

    See `benchmarks.targets` for what that is where runs never get there; n is the smaller number of seeds.
    """
    states = incumbents(runs_of(frame, task, [method, over]))
    row = targets.speed_ups(states, method, against, share=share).iloc[0]
    return Figure(row["speed_up"], row["low"], row["high"], int(min(row["n"], row["n_over"])))


def share_reaching(frame: DataFrame, task: str, method: str, target: float) -> Figure:
    """The share of runs that end with a regret of at most `target`, with Wilson's interval."""
    table = targets.costs(incumbents(runs_of(frame, task, [method])), target, "regret")
    return _share(table["reached"].to_numpy())


def final_mean(frame: DataFrame, task: str, method: str) -> Figure:
    """The mean of the best heavy values that the runs end with."""
    values = _final(frame, task, [method])[method]
    low, high = interval(values)
    return Figure(float(values.mean()), float(low), float(high), len(values))


def gap(frame: DataFrame, task: str, methods: Sequence[str], over: Sequence[str]) -> Figure:
    """By how much each of `methods` ends worse than each in `over`.

    The smallest mean final value of the first less the largest of the second, and as `final_mean`;
    above 0, all of the first are behind all of the second.
    """
    values = _final(frame, task, [*methods, *over])

    def statistic(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        means = [sample.mean(axis=axis) for sample in samples]
        return np.min(means[: len(methods)], axis=0) - np.max(means[len(methods) :], axis=0)

    return _over_methods(values, statistic)


def spread(frame: DataFrame, task: str, methods: Sequence[str]) -> Figure:
    """The largest less the smallest mean final value of these methods."""

    def statistic(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.ptp([sample.mean(axis=axis) for sample in samples], axis=0)

    return _over_methods(_final(frame, task, methods), statistic)


def ablation_effect(frame: DataFrame, task: str, variant: str, cost: str = "heavy_runs") -> Figure:
    """By how many decades a variant of BTAO has a larger regret than the default, at the most that all have spent.

    Paired by seed, see `benchmarks.ablation`; above 0 the default is better.
    """
    trials = frame[frame["task"] == task]
    if trials.empty or variant not in set(ablation.labels(trials)):
        raise LookupError(f"no runs of {variant} on {task}")
    row = ablation.effects(trials, cost, ablation.common_end(trials, cost)).set_index("label").loc[variant]
    return Figure(row["decades"], row["decades_low"], row["decades_high"], int(row["n"]))


def quick_improvement(table: Table, improvement: float, time: float) -> Figure:
    """The share of configurations that make `improvement` of a heavy run's in `time` of its seconds, both shares."""
    _, heavy = curves.levels(table)
    return _share(curves.improvement_shares(table, heavy, np.array([time]))[:, 0] >= improvement)


def ordered_curves(table: Table) -> Figure:
    """The share of configurations whose error at the end of a heavy run is at most that at the end of the light one.

    Of the last iterations themselves, not of the best so far, which are ordered by definition (METHOD item 17).
    """
    light, heavy = curves.levels(table)
    ordered = []
    for _, curve in table.rows.groupby("configuration"):
        errors = curve["validation_error"].to_numpy()
        if not np.isnan(errors).any():
            ordered.append(errors[heavy.stop(errors) - 1] <= errors[light.stop(errors) - 1])
    return _share(np.array(ordered))


def ordered_levels(task: Objective, points: int = 4096) -> Figure:
    """The share of the space where the heavy response is at most the light one, at scrambled Sobol points."""
    from scipy.stats import qmc

    sample = qmc.Sobol(task.space.dim, rng=np.random.default_rng(0)).random(points)
    configs = [task.space.from_unit(point) for point in sample]
    light, heavy = ([task.evaluate(config, level, 0).value for config in configs] for level in (task.light, task.heavy))
    return _share(np.less_equal(heavy, light))


def runs_of(frame: DataFrame, task: str, methods: Sequence[str]) -> DataFrame:
    """The trials of these methods on this task.

    Raises
    ------
    LookupError
        Naming the methods without any, or those with runs of several configurations, which are not to be pooled.
    """
    here = frame[(frame["task"] == task) & frame["method"].isin(methods)]
    configurations = here.groupby("method")["hash"].nunique().reindex(list(methods), fill_value=0)
    for wrong, what in ((configurations == 0, "no runs"), (configurations > 1, "runs of several configurations")):
        if wrong.any():
            raise LookupError(f"{what} of {', '.join(configurations.index[wrong])} on {task}")
    return here


def _final(frame: DataFrame, task: str, methods: Sequence[str]) -> dict[str, np.ndarray]:
    table = scores(incumbents(runs_of(frame, task, methods)), "value")
    return {method: table.loc[table["method"] == method, "score"].to_numpy() for method in methods}


def _over_methods(values: Mapping[str, np.ndarray], statistic: Callable[..., np.ndarray]) -> Figure:
    """A statistic of several methods' runs, whose seeds are resampled independently."""
    samples = list(values.values())
    low, high = bootstrap(samples, statistic, confidence=CONFIDENCE, resamples=2000, seed=0)
    return Figure(float(statistic(*samples)), float(low), float(high), min(map(len, samples)))


def _share(hits: np.ndarray) -> Figure:
    from scipy import stats

    ends = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(CONFIDENCE, method="wilson")
    return Figure(float(hits.mean()), float(ends.low), float(ends.high), len(hits))
