"""From trials to the state of every run after each of them: its incumbent, its regret, its cost so far.

Definitions
-----------
run
    One seed of one method on one task; a method with other parameters has another hash, and its
    runs are never pooled with those of the first.
incumbent
    The configuration of the smallest value observed at the heavy level so far; of equal values
    the earlier stays. Light runs and failed runs are never incumbents, but cost what they cost. Failed is what
    `btao.trial.is_result` refuses, too, whatever older records say of it.
value
    The observed value of the incumbent (minimized).
regret
    The noiseless response at the incumbent, where `truth` is recorded, else its value, minus the
    task's optimum. With noise the choice is the method's and the judgment is ours, so this
    curve may rise.
heavy equivalents
    Iterations consumed so far, light and heavy, divided by those that a heavy run is granted.
budget of training
    Where a run ends by seconds of training (`train_budget`), the result of its last trial comes after them: it is
    none, and no heavy run is counted for it. The trial is charged what was left of the seconds, and that share of its
    iterations. So every run ends at exactly this budget.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from benchmarks.analysis.intervals import check_choice
from benchmarks.records import labels as records_labels
from btao.trial import is_result

METHOD = ["task", "method", "hash"]
RUN = [*METHOD, "seed"]
REQUIRED = [
    *RUN,
    *("data", "optimum", "trial", "heavy", "budget", "value", "status", "iterations"),
    *("train_seconds", "method_seconds", "time", "truth"),
]
CHOICES = ("value", "recommended")
REGRET_TOLERANCE = 1e-9  # relative to max(1, |optimum|): rounding of the optimum, not a better point


def incumbents(frame: DataFrame, by: str = "value") -> DataFrame:
    """The state of every run after each of its trials.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them, those of one run in the order of their record.
    by : {"value", "recommended"}
        Whose choice is traced: the incumbent; or the trial in the column `recommended`, the number
        of the one that the method itself would recommend after this trial, or last within its budget of training, and
        the incumbent where it names none. What a method recommends may have a larger value than the incumbent.

    Returns
    -------
    DataFrame
        One row per trial, sorted by run: task, data, method, hash, label, seed, trial;
        the costs so far `heavy_runs` (failed ones included, late ones not), `iterations`, `heavy_equivalents`
        (nan where the task has no heavy trial yet), `train_seconds` and `time` (seconds of training
        and of the method); `value`, `regret` and `test_error` of the choice, nan before the first heavy result,
        `regret` also where the task's optimum is not known, `test_error` where it was not measured. The choice is by
        values alone: a test error is reported beside them, and chooses nothing.

    Raises
    ------
    ValueError
        If a column is missing, a trial is recorded twice, the rows of one task disagree on the
        data set, the optimum or the iterations of a heavy run, `by` is none of those named or
        recommends what is no heavy result of the run so far; or a heavy result lies below the
        optimum by more than rounding: then the optimum is wrong, and so is every regret computed
        from it.
    """
    check_choice("by", by, CHOICES)
    _check(frame, [*REQUIRED, *(["recommended"] if by == "recommended" else [])])
    frame = frame.sort_values(RUN, kind="stable", ignore_index=True)
    runs = frame.groupby(RUN, sort=False)
    # Records hold null where there is no number, so these columns may come as objects.
    value, truth, optimum = (frame[name].astype(float).to_numpy() for name in ("value", "truth", "optimum"))
    heavy = frame["heavy"].astype(bool)
    trained, limit = _training(frame)
    charged = _charged(frame, trained, limit)
    result = heavy_results(frame)
    regret = _regret(frame, np.where(is_result(truth), truth, value), optimum, result)

    chosen = np.full(len(frame), -1)
    rows_of_runs = [np.asarray(rows) for rows in runs.indices.values()]
    for rows in rows_of_runs:
        best = _incumbent(np.where(result[rows], value[rows], np.inf))
        chosen[rows] = np.where(best < 0, -1, rows[best])
    if by == "recommended":
        chosen = _recommended(frame, rows_of_runs, result, chosen, trained > limit)
    known = chosen >= 0
    test_error = frame.get("test_error", pd.Series(np.nan, index=frame.index)).astype(float).to_numpy()

    grouped = [frame[name] for name in RUN]
    iterations = (frame["iterations"] * charged).groupby(grouped).cumsum()
    return pd.DataFrame(
        {
            **{name: frame[name] for name in ("task", "data", "method", "hash")},
            "label": labels(frame),
            "seed": frame["seed"],
            "trial": frame["trial"],
            "heavy_runs": (heavy & (trained <= limit)).astype(int).groupby(grouped).cumsum(),
            "iterations": iterations,
            "heavy_equivalents": iterations / frame["task"].map(_heavy_budgets(frame)).astype(float),
            "train_seconds": np.minimum(trained, limit),
            "time": frame["time"].astype(float) - np.maximum(trained - limit, 0.0),
            "value": np.where(known, value[chosen], np.nan),
            "regret": np.where(known, regret[chosen], np.nan),
            "test_error": np.where(known, test_error[chosen], np.nan),
        }
    )


def heavy_results(frame: DataFrame) -> np.ndarray:
    """Which rows are results that an incumbent is chosen from: heavy, no failure, and within the budget of training.

    Parameters
    ----------
    frame : DataFrame
        As in `incumbents`.
    """
    successful = (frame["heavy"].astype(bool) & (frame["status"] == "ok")).to_numpy()
    trained, limit = _training(frame)
    return successful & is_result(frame["value"]) & (trained <= limit)


def _training(frame: DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The seconds of training so far, and those that were the budget of the run, infinite where that had none."""
    trained = frame.groupby(RUN, sort=False)["train_seconds"].cumsum().astype(float).to_numpy()
    if "train_budget" not in frame:  # trials of before there was one
        return trained, np.full(len(frame), np.inf)
    return trained, frame["train_budget"].astype(float).fillna(np.inf).to_numpy()


def _charged(frame: DataFrame, trained: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """The share of each trial that lies within the budget of training."""
    seconds = frame["train_seconds"].astype(float).to_numpy()
    late = trained > limit
    left = np.clip(limit[late] - (trained - seconds)[late], 0.0, None)
    charged = np.ones(len(frame))
    charged[late] = left / np.maximum(seconds[late], np.finfo(float).tiny)
    return charged


def keys(frame: DataFrame) -> Series:
    """The method of each row, by name and hash: as its folder is named."""
    return frame["method"] + "-" + frame["hash"]


def labels(frame: DataFrame) -> Series:
    """The name to show for each row: the method's, and what tells it apart where a task has two of one method.

    That is its parameters, or where they are not on record or the same its hash: see `benchmarks.records.labels`.
    """
    shown: dict[tuple[Any, str], str] = {}
    known = frame["parameters"].fillna("{}") if "parameters" in frame else "{}"
    methods = DataFrame({"task": frame["task"], "key": keys(frame), "parameters": known})
    one = methods.drop_duplicates(["task", "key"])
    for task, rows in one.groupby("task"):
        given = {key: json.loads(text) for key, text in zip(rows["key"], rows["parameters"], strict=True)}
        shown |= {(task, key): label for key, label in records_labels.labels(given).items()}
    names = np.array([shown[pair] for pair in zip(one["task"], one["key"], strict=True)], dtype=object)
    places = methods.groupby(["task", "key"], sort=False).ngroup()
    return pd.Series(names[places], index=frame.index, dtype="str")


def ordered_labels(frame: DataFrame, names: Iterable[str]) -> dict[str, str]:
    """By method (name and hash) the label of each that has trials, in the order of the names given.

    Methods of other names are left out.
    """
    shown = dict(zip(keys(frame), labels(frame), strict=True))
    return {key: shown[key] for name in names for key in shown if records_labels.name_of(key) == name}


def _incumbent(values: np.ndarray) -> np.ndarray:
    """Index of the smallest value so far, the first of equal ones; -1 while all are infinite."""
    before = np.minimum.accumulate(np.concatenate([[np.inf], values[:-1]]))
    return np.maximum.accumulate(np.where(values < before, np.arange(len(values)), -1))


def _recommended(
    frame: DataFrame, runs: Iterable[np.ndarray], result: np.ndarray, incumbent: np.ndarray, late: np.ndarray
) -> np.ndarray:
    """Row of the trial that is recommended after each, that of the incumbent where none is named.

    What came after the budget of training counts for nothing: there it is what was recommended within it.
    """
    chosen = incumbent.copy()
    trial, recommended = frame["trial"].to_numpy(), frame["recommended"].astype(float).to_numpy()
    for rows in runs:
        row_of = dict(zip(trial[rows], rows, strict=True))
        within = rows[~late[rows]]
        for row in within[~np.isnan(recommended[within])]:
            at = row_of.get(recommended[row], -1)
            if not 0 <= at <= row or not result[at]:
                raise ValueError(
                    f"recommended must number a heavy result of the run so far, got {recommended[row]:g} "
                    f"after trial {trial[row]} of {_path(frame.loc[row])}"
                )
            chosen[row] = at
        chosen[rows[late[rows]]] = chosen[within[-1]] if len(within) else -1
    return chosen


def _heavy_budgets(frame: DataFrame) -> Series:
    """The iterations granted to a heavy run, by task; tasks without a heavy trial are left out."""
    return frame[frame["heavy"].astype(bool)].groupby("task")["budget"].first()


def _path(row: Series) -> str:
    """A run, named as its folder is."""
    return f"{row['task']}/{row['method']}-{row['hash']}/seed-{row['seed']}"


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


def _check(frame: DataFrame, required: list[str]) -> None:
    missing = [name for name in required if name not in frame.columns]
    if missing:
        raise ValueError(
            f"frame lacks the columns {', '.join(missing)}: give it the trials as records.load returns them"
        )
    twice = frame.duplicated([*RUN, "trial"])
    if twice.any():
        row = frame[twice].iloc[0]
        raise ValueError(f"trial {row['trial']} of {_path(row)} is recorded twice")
    for what, name, rows in (
        ("data sets", "data", frame),
        ("optima", "optimum", frame),
        ("iterations of a heavy run", "budget", frame[frame["heavy"].astype(bool)]),
    ):
        for task, values in rows.groupby("task")[name]:
            seen = [*values.dropna().unique(), *([None] if values.isna().any() else [])]
            if len(seen) > 1:
                raise ValueError(
                    f"task {task!r} mixes {what}: {', '.join(map(str, seen))}; values measured on them do not compare, "
                    f"select the rows of one"
                )
