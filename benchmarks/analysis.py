"""From records to curves and statistics: pure functions on the DataFrame that `records.load` gives.

Definitions
-----------
run
    One seed of one method on one task; a method with other parameters has another hash, and its
    runs are never pooled with those of the first.
incumbent
    The configuration of the smallest value observed at the heavy level so far; of equal values
    the earlier stays. Light runs and failed runs are never incumbents, but cost what they cost.
value
    The observed value of the incumbent (minimised).
regret
    The noiseless response at the incumbent, where `truth` is recorded, else its value, minus the
    task's optimum. With noise the choice is the method's and the judgement is ours, so this
    curve may rise.
curve
    A step that holds the last result: undefined (nan) before the first heavy result and after
    the end of the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame, Series

METHOD = ["task", "method", "hash"]
RUN = [*METHOD, "seed"]
AXES = ("heavy_runs", "iterations", "time")
MEASURES = ("value", "regret")
REQUIRED = [
    *RUN,
    *("data", "optimum", "trial", "heavy", "value", "status", "iterations"),
    *("train_seconds", "method_seconds", "time", "truth"),
]
REGRET_TOLERANCE = 1e-9  # relative to max(1, |optimum|): rounding of the optimum, not a better point
SEEDS_FOR_INTERVAL = 5  # with fewer, `mean_interval` is the range of the values


def incumbents(frame: DataFrame) -> DataFrame:
    """The state of every run after each of its trials.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them, those of one run in the order of their record.

    Returns
    -------
    DataFrame
        One row per trial, sorted by run: task, data, method, hash, label, seed, trial;
        the costs so far `heavy_runs` (failed ones included), `iterations`, `time` (seconds of
        training and of the method); `value` and `regret` of the incumbent, nan before the first
        heavy result, `regret` also where the task's optimum is not known.

    Raises
    ------
    ValueError
        If a column is missing, a trial is recorded twice, the rows of one task disagree on the
        data set or on the optimum, or a heavy result lies below the optimum by more than
        rounding: then the optimum is wrong, and so is every regret computed from it.
    """
    import pandas as pd

    _check(frame)
    frame = frame.sort_values(RUN, kind="stable", ignore_index=True)
    runs = frame.groupby(RUN, sort=False)
    # Records hold null where there is no number, so these columns may come as objects.
    value, truth, optimum = (frame[name].astype(float).to_numpy() for name in ("value", "truth", "optimum"))
    heavy = frame["heavy"].astype(bool)
    result = heavy.to_numpy() & (frame["status"] == "ok").to_numpy() & np.isfinite(value)
    regret = _regret(frame, np.where(np.isnan(truth), value, truth), optimum, result)

    incumbent = np.full(len(frame), -1)
    for rows in runs.indices.values():
        best = _incumbent(np.where(result[rows], value[rows], np.inf))
        incumbent[rows] = np.where(best < 0, -1, rows[best])
    known = incumbent >= 0

    return pd.DataFrame(
        {
            **{name: frame[name] for name in ("task", "data", "method", "hash")},
            "label": labels(frame),
            "seed": frame["seed"],
            "trial": frame["trial"],
            "heavy_runs": heavy.astype(int).groupby([frame[name] for name in RUN]).cumsum(),
            "iterations": runs["iterations"].cumsum(),
            "time": frame["time"].astype(float),
            "value": np.where(known, value[incumbent], np.nan),
            "regret": np.where(known, regret[incumbent], np.nan),
        }
    )


def aggregate(
    curves: DataFrame,
    against: str = "heavy_runs",
    measure: str = "regret",
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> DataFrame:
    """Mean, interval and quantiles over the seeds of each method, at every step of any seed.

    Parameters
    ----------
    curves : DataFrame
        As `incumbents` returns them.
    against : {"heavy_runs", "iterations", "time"}
        The cost on the horizontal axis.
    measure : {"regret", "value"}
        What to average.
    confidence, resamples, seed
        As in `mean_interval`.

    Returns
    -------
    DataFrame
        task, data, method, hash, label, `against`, seeds (of the method), n (seeds defined at
        this step: those that have a first result and have not ended), mean, low, high, median,
        q25, q75. All statistics are over the n seeds, nan where n is 0; where n changes along a
        curve, so does the sample, and steps there need not be improvements.

    Raises
    ------
    ValueError
        If `against` or `measure` is not one of those named.
    """
    import pandas as pd

    if against not in AXES:
        raise ValueError(f"against must be one of {', '.join(AXES)}, got {against!r}")
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")

    keys = ["task", "data", "method", "hash", "label"]
    names = ("mean", "low", "high", "median", "q25", "q75")
    parts = []
    for identity, group in curves.groupby(keys, sort=False, dropna=False):
        steps = [(run[against].to_numpy(float), run[measure].to_numpy()) for _, run in group.groupby("seed")]
        grid = np.unique(np.concatenate([x for x, _ in steps]))
        held = np.column_stack([hold(x, y, grid) for x, y in steps])
        statistics = np.full((len(grid), len(names)), np.nan)
        # Steps with the same seeds present are resampled together, as whole curves.
        patterns, pattern_of = np.unique(~np.isnan(held), axis=0, return_inverse=True)
        for number, present in enumerate(patterns):
            rows = pattern_of == number
            if present.any():
                sample = held[np.ix_(rows, present)]
                mean = sample.mean(axis=1)
                low, high = mean_interval(sample, confidence=confidence, resamples=resamples, seed=seed)
                quartiles = np.quantile(sample, [0.5, 0.25, 0.75], axis=1)
                statistics[rows] = np.column_stack([mean, low, high, *quartiles])
        parts.append(
            pd.DataFrame(
                {
                    **dict(zip(keys, identity, strict=True)),
                    against: grid,
                    "seeds": len(steps),
                    "n": (~np.isnan(held)).sum(axis=1),
                    **dict(zip(names, statistics.T, strict=True)),
                }
            )
        )
    return (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*keys, against, "seeds", "n", *names])
    )


def summary(frame: DataFrame, *, confidence: float = 0.95, resamples: int = 2000, seed: int = 0) -> DataFrame:
    """What each method reached and what it cost: the table at the end of a run.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them. A run that is not finished counts with what it has.
    confidence, resamples, seed
        As in `mean_interval`.

    Returns
    -------
    DataFrame
        One row per task and method (hash): task, data, method, hash, label; seeds (with a trial
        on record) and n (with a heavy result); over these n the mean and interval of the best
        observed value (best_mean, best_low, best_high) and of the final regret (regret_mean,
        regret_low, regret_high; nan where the optimum is not known). With noise the best
        observed value flatters, the regret does not. Then light_runs, heavy_runs, failed_runs:
        totals over the seeds, failed runs of either level counted in their level too; and
        train_seconds, method_seconds: the mean per seed, with totals over the seeds in
        train_seconds_total and method_seconds_total.

    Raises
    ------
    ValueError
        As `incumbents`.
    """
    import pandas as pd

    states = incumbents(frame)
    trials = frame.groupby(METHOD)
    rows = []
    for identity, group in states.groupby(METHOD):
        last = group.groupby("seed").last(skipna=False)
        mine = trials.get_group(identity)
        heavy = mine["heavy"].astype(bool)
        row = {
            "task": identity[0],
            "data": group["data"].iloc[0],
            "method": identity[1],
            "hash": identity[2],
            "label": group["label"].iloc[0],
            "seeds": len(last),
            "n": int(last["value"].notna().sum()),
        }
        for name, measure in (("best", "value"), ("regret", "regret")):
            final = last[measure].dropna().to_numpy()
            low, high = mean_interval(final, confidence=confidence, resamples=resamples, seed=seed)
            row |= {f"{name}_mean": final.mean() if final.size else np.nan}
            row |= {f"{name}_low": float(low), f"{name}_high": float(high)}
        row |= {
            "light_runs": int((~heavy).sum()),
            "heavy_runs": int(heavy.sum()),
            "failed_runs": int((mine["status"] != "ok").sum()),
        }
        for name in ("train_seconds", "method_seconds"):
            total = float(mine[name].sum())
            row |= {name: total / len(last), f"{name}_total": total}
        rows.append(row)
    return pd.DataFrame(rows)


def labels(frame: DataFrame) -> Series:
    """The name to show for each row: the method's, and its hash where a task has two of one method.

    The hash is cut to the fewest characters, at least 4, that tell the method's hashes apart.
    """
    import pandas as pd

    shown = {}
    for (task, method), hashes in frame.groupby(["task", "method"])["hash"].unique().items():
        length = 4
        while len({text[:length] for text in hashes}) < len(hashes):
            length += 1
        for text in hashes:
            shown[task, method, text] = method if len(hashes) == 1 else f"{method} [{text[:length]}]"
    keys = zip(*(frame[name] for name in METHOD), strict=True)
    return pd.Series([shown[key] for key in keys], index=frame.index, dtype="str")


def hold(x: np.ndarray, y: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """A step curve read at `grid`: the last y at or before each point, nan outside of [x[0], x[-1]].

    Parameters
    ----------
    x, y : ndarray, shape (k,)
        The curve; x does not decrease, and of equal x the last counts.
    grid : ndarray, shape (m,)
    """
    last = np.searchsorted(x, grid, side="right") - 1
    return np.where((last >= 0) & (grid <= x[-1]), y[last], np.nan)


def mean_interval(
    values: np.ndarray,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """A bootstrap interval for the mean over seeds.

    Parameters
    ----------
    values : ndarray, shape (..., n)
        A sample of n seeds in each row; rows share their resamples.
    confidence : float
        The coverage aimed at.
    resamples, seed : int
        Size and seed of the bootstrap: equal arguments give equal intervals.

    Returns
    -------
    low, high : ndarray, shape (...)
        nan for n < 2, where no interval exists; the mean itself where all n values are equal.

    Notes
    -----
    The percentile bootstrap, because it stays within the range of the values (a regret is never
    negative) and is defined for any sample. It is too narrow for small n, so its level is widened
    by t quantiles as Hesterberg (2015, The American Statistician 69, 371-386) derives. For normal
    samples 95% then means 95% at n = 10, 92% at n = 5. With fewer than five seeds the interval is
    the range of the values and cannot do better than a coverage of 1 - 2**(1 - n).
    """
    from scipy import stats

    values = np.asarray(values, dtype=float)
    n = values.shape[-1]
    if n < 2:
        missing = np.full(values.shape[:-1], np.nan)
        return missing, missing
    tail = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf((1 + confidence) / 2, n - 1))
    interval = stats.bootstrap(
        (values,),
        np.mean,
        axis=-1,
        vectorized=True,
        method="percentile",
        confidence_level=1 - 2 * tail,
        n_resamples=resamples,
        batch=200,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    equal = np.ptp(values, axis=-1) == 0
    mean = values.mean(axis=-1)
    return np.where(equal, mean, interval.low), np.where(equal, mean, interval.high)


def _incumbent(values: np.ndarray) -> np.ndarray:
    """Index of the smallest value so far, the first of equal ones; -1 while all are infinite."""
    before = np.minimum.accumulate(np.concatenate([[np.inf], values[:-1]]))
    return np.maximum.accumulate(np.where(values < before, np.arange(len(values)), -1))


def _regret(frame: DataFrame, response: np.ndarray, optimum: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Response minus optimum, rounding below zero clipped; raises if a result is below the optimum."""
    regret = response - optimum
    wrong = result & (regret < -REGRET_TOLERANCE * np.maximum(1.0, np.abs(optimum)))
    if wrong.any():
        row = np.flatnonzero(wrong)[np.argmin(regret[wrong])]
        first = frame.iloc[row]
        raise ValueError(
            f"NEGATIVE REGRET: task {first['task']!r} has a wrong optimum. {first['method']}, seed {first['seed']}, "
            f"trial {first['trial']} reached {float(response[row])!r}, below the optimum {float(optimum[row])!r}, "
            f"and so did {int(wrong.sum()) - 1} other heavy results"
        )
    return np.maximum(regret, 0.0)


def _check(frame: DataFrame) -> None:
    missing = [name for name in REQUIRED if name not in frame.columns]
    if missing:
        raise ValueError(
            f"frame lacks the columns {', '.join(missing)}: give it the trials as records.load returns them"
        )
    twice = frame.duplicated([*RUN, "trial"])
    if twice.any():
        row = frame[twice].iloc[0]
        raise ValueError(
            f"trial {row['trial']} of {row['task']}/{row['method']}-{row['hash']}/seed-{row['seed']} is recorded twice"
        )
    for name, what in (("data", "data sets"), ("optimum", "optima")):
        for task, values in frame.groupby("task")[name]:
            seen = [*values.dropna().unique(), *([None] if values.isna().any() else [])]
            if len(seen) > 1:
                raise ValueError(
                    f"task {task!r} mixes {what}: {', '.join(map(str, seen))}; values measured on them do not compare, "
                    f"select the rows of one"
                )
