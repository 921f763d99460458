"""What it costs to reach a target, and how much faster one method is than another.

Definitions
-----------
cost to a target
    What a run had spent, the trial included, when it first was at or below the target. A run that
    has not reached it counts as infinite in every statistic, and what it has spent is given beside:
    a run that ended early is thereby judged as if it never would have.
speed-up of A over B
    The median over seeds of B's cost to the target divided by A's. It is infinite where more than half
    of B's runs have not reached the target and A's median is finite, 0 the other way round, and
    undefined (nan) where both medians are infinite.
half-way
    A target taken from B: the median over its seeds of what they have reached at half of their own
    cost. The paper's comparisons in "the middle training period" are at this target; at the share 1 of
    B's cost it is "the best that B reaches".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.analysis import AXES, IDENTITY, check_axis, hold
from benchmarks.intervals import widened_tail
from benchmarks.scores import judged

if TYPE_CHECKING:
    from pandas import DataFrame


def costs(states: DataFrame, target: float | Mapping[str, float], measure: str | None = None) -> DataFrame:
    """The cost of every run to a target, on each axis.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them.
    target : float, or mapping of task to float
        What is to be reached; smaller is better.
    measure : {None, "regret", "value"}
        None takes the regret on tasks where it is known, else the value. A regret may rise again
        with noise: it is reached when it first is at the target.

    Returns
    -------
    DataFrame
        One row per run: task, data, method, hash, label, seed, target, reached; heavy_runs,
        heavy_equivalents, train_seconds, time: the cost to the target where reached, else
        what the run has spent without reaching it.

    Raises
    ------
    ValueError
        If a task has no target or one that is nan, or `measure` is not one of those named.
    """
    import pandas as pd

    targets = {task: target.get(task) if isinstance(target, Mapping) else target for task in states["task"].unique()}
    for task, value in targets.items():
        if value is None or np.isnan(value):
            raise ValueError(f"target must be a number for every task, got {value} for {task!r}")
    y = judged(states, measure)
    rows = []
    for (*identity, seed), run in states.groupby([*IDENTITY, "seed"], sort=False, dropna=False):
        at = (y[run.index] <= targets[identity[0]]).to_numpy()
        row = run.iloc[at.argmax() if at.any() else -1]
        rows.append([*identity, seed, targets[identity[0]], bool(at.any()), *row[list(AXES)]])
    return pd.DataFrame(rows, columns=[*IDENTITY, "seed", "target", "reached", *AXES])


def reach(
    table: DataFrame,
    against: str = "time",
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> DataFrame:
    """How many runs of each method reach the target, and at what cost.

    Parameters
    ----------
    table : DataFrame
        As `costs` returns it.
    against : {"heavy_runs", "heavy_equivalents", "train_seconds", "time"}
    confidence, resamples, seed
        As in `intervals.interval`.

    Returns
    -------
    DataFrame
        One row per task and method: task, data, method, hash, label, target, against, seeds,
        reached (how many), share with its interval share_low, share_high (Wilson's); median (cost,
        infinite where no more than half of the runs have reached the target) with its bootstrap
        interval low, high (nan for one seed), and spent: the least that a run without success has
        spent, nan where all have reached it.

    Raises
    ------
    ValueError
        If `against` is not one of those named.
    """
    import pandas as pd
    from scipy import stats

    check_axis(against)
    rows = []
    for identity, runs in table.groupby([*IDENTITY, "target"], sort=False, dropna=False):
        n, reached = len(runs), int(runs["reached"].sum())
        share = stats.binomtest(reached, n).proportion_ci(confidence, method="wilson")
        cost = _unreached_infinite(runs, against)
        medians = _resampled_medians(cost, resamples, np.random.default_rng(seed))
        low, high = _ends(medians, medians, widened_tail([n], confidence)) if n > 1 else (np.nan, np.nan)
        rows.append(
            {
                **dict(zip([*IDENTITY, "target"], identity, strict=True)),
                "against": against,
                "seeds": n,
                "reached": reached,
                "share": reached / n,
                "share_low": share.low,
                "share_high": share.high,
                "median": float(np.median(cost)),
                "low": low,
                "high": high,
                "spent": runs.loc[~runs["reached"], against].min(),
            }
        )
    return pd.DataFrame(rows)


def target_of(
    states: DataFrame, label: str, share: float = 0.5, against: str = "time", measure: str | None = None
) -> float:
    """What a method has reached at a share of its cost: the median over its seeds, each at that share of its own.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them, of one task.
    label : str
        The method.
    share : float
        In (0, 1]: 0.5 is half-way, 1 the end.
    against, measure
        As in `speed_ups`.

    Returns
    -------
    float
        Infinity where half of the runs have no heavy result by then.

    Raises
    ------
    ValueError
        If an argument is none of those named, or there are no runs of the method or several tasks.
    """
    check_axis(against)
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share!r}")
    y = judged(states, measure)
    mine = states[states["label"] == label]
    if mine["task"].nunique() != 1:
        raise ValueError(f"states must hold runs of {label!r} on one task, got {mine['task'].nunique()} tasks")
    reached = []
    for _, run in mine.groupby("seed"):
        x = run[against].to_numpy(float)
        reached.append(hold(x, y[run.index].to_numpy(float), share * x[-1:])[0])
    return float(np.median(np.where(np.isnan(reached), np.inf, reached)))


def speed_up(
    table: DataFrame,
    of: str,
    over: str,
    against: str = "time",
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, float]:
    """The speed-up of one method over another at a target that is given.

    Parameters
    ----------
    table : DataFrame
        As `costs` returns it, of one task.
    of, over : str
        Labels of A and B.
    against, confidence, resamples, seed
        As in `reach`. The seeds of A and of B are resampled independently, at the same target. A
        resample in which neither median is finite says nothing about the ratio: it counts as 0 for
        the low end and as infinity for the high end.

    Returns
    -------
    dict
        speed_up; low, high, its interval (nan where a method has one seed); n, n_over, the seeds of A
        and B; reached, reached_over, how many of them reach the target; undefined, the share of
        resamples that say nothing.

    Raises
    ------
    ValueError
        If `against` is not one of those named, the table has several tasks or no runs of A or B.
    """
    check_axis(against)
    if table["task"].nunique() > 1:
        raise ValueError(f"table must hold one task, got {', '.join(table['task'].unique())}")
    runs = {label: table[table["label"] == label] for label in (of, over)}
    for label, mine in runs.items():
        if mine.empty:
            raise ValueError(f"there are no runs of {label!r}; there are those of {', '.join(table['label'].unique())}")
    a, b = (_unreached_infinite(mine, against) for mine in (runs[of], runs[over]))
    generator = np.random.default_rng(seed)
    ratios = _ratio(_resampled_medians(b, resamples, generator), _resampled_medians(a, resamples, generator))
    silent = np.isnan(ratios)
    low = high = np.nan
    if min(len(a), len(b)) > 1:
        tail = widened_tail([len(a), len(b)], confidence)
        low, high = _ends(np.where(silent, 0.0, ratios), np.where(silent, np.inf, ratios), tail)
    return {
        "speed_up": float(_ratio(np.median(b), np.median(a))),
        "low": low,
        "high": high,
        "n": len(a),
        "n_over": len(b),
        "reached": int(np.isfinite(a).sum()),
        "reached_over": int(np.isfinite(b).sum()),
        "undefined": float(silent.mean()),
    }


def speed_ups(
    states: DataFrame,
    of: str,
    against: str = "time",
    *,
    target: float | Mapping[str, float] | None = None,
    share: float = 0.5,
    measure: str | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> DataFrame:
    """The speed-up of one method over every other, on every task.

    Parameters
    ----------
    states : DataFrame
        As `incumbents` returns them.
    of : str
        Label of the method A.
    against : {"heavy_runs", "heavy_equivalents", "train_seconds", "time"}
    target : float, or mapping of task to float, optional
        What is to be reached. Without it: what the other method, B, has reached at `share` of
        its cost.
    share : float
        In (0, 1]: 0.5 is half-way, 1 the end of B.
    measure : {None, "regret", "value"}
        None takes the regret on tasks where it is known, else the value.
    confidence, resamples, seed
        As in `speed_up`.

    Returns
    -------
    DataFrame
        One row per task and other method: task, of, over, against, target and what `speed_up` returns.
        Where half of B's runs have no result at `share` of their cost the target is infinite, and any
        heavy result reaches it.

    Raises
    ------
    ValueError
        As `speed_up`, `target_of` and `costs`.
    """
    import pandas as pd

    rows = []
    for task, here in states.groupby("task"):
        others = [label for label in here["label"].unique() if label != of]
        for over in others:
            goal = target_of(here, over, share, against, measure) if target is None else target
            table = costs(here[here["label"].isin([of, over])], goal, measure)
            options = {"confidence": confidence, "resamples": resamples, "seed": seed}
            row = {"task": task, "of": of, "over": over, "against": against, "target": table["target"].iloc[0]}
            rows.append(row | speed_up(table, of, over, against, **options))
    return pd.DataFrame(rows)


def _unreached_infinite(runs: DataFrame, against: str) -> np.ndarray:
    return runs[against].astype(float).where(runs["reached"], np.inf).to_numpy()


def _resampled_medians(values: np.ndarray, resamples: int, generator: np.random.Generator) -> np.ndarray:
    return np.median(generator.choice(values, size=(resamples, len(values))), axis=1)


def _ends(lows: np.ndarray, highs: np.ndarray, tail: float) -> tuple[float, float]:
    """The percentiles at either end; order statistics, as between a number and infinity there is nothing."""
    last = len(lows) - 1
    return (
        float(np.sort(lows)[int(np.floor(tail * last))]),
        float(np.sort(highs)[int(np.ceil((1 - tail) * last))]),
    )


def _ratio(over: np.ndarray, of: np.ndarray) -> np.ndarray:
    """over / of; nan where both are infinite or both 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(over, of)
