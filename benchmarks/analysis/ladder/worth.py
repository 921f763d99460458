"""What each step of the ladder is worth: its final regret, and its rank among all steps, less those of the step before.

Definitions
-----------
change of the regret
    The difference of the decimal logarithms of final regrets, in decades, between runs of equal task and seed.
    Negative: the step is better. A mean of changes is that over tasks of their means over seeds.
least regret
    What a smaller regret counts as, 0 among them, for a logarithm would make much of rounding: a millionth of what the
    first heavy runs on the task have, on average over all steps; and at least half of the smallest above 0 with which a
    run ends, for on recorded errors the best of few configurations is often found, and has none.
rank
    Of a step among all of them, by the final regrets of one task and seed; ties share the mean of their ranks. A step
    that is not run on a task, as it changes nothing there, ties with the one before.
change of training
    The same as of the regret, of iterations spent. It is 0, but for the last trial, where the budget is in iterations.
interval
    Tasks are resampled, and seeds within each: so it is for other tasks of this kind, too. Steps share the seeds.
"""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.intervals import RESAMPLING, Resampling, nested_interval
from benchmarks.analysis.ladder.steps import STEPS, name_of
from benchmarks.analysis.scores import judged

NEGLIGIBLE = 1e-6  # of the first regrets


def changes(trials: DataFrame) -> DataFrame:
    """What each step changes on each task and seed.

    Parameters
    ----------
    trials : DataFrame
        As `records.load` returns them, of finished runs of steps of the ladder on tasks whose optimum is known.

    Returns
    -------
    DataFrame
        A row a step, task and seed, in the order of `STEPS`: step, task, seed; run, whether the step is run on the
        task; decades, the change of the regret; rank; rank_change; training, its change in decades. Changes of the
        first step are nan, those of a step that is not run are 0. Seeds are left out that lack a result of a step.

    Raises
    ------
    ValueError
        If a trial is of no step, or its parameters are not on record, the runs of a step on a task are of several
        configurations, such as budgets, or no seed has a result of all steps; and as `incumbents` and `scores.judged`.
    """
    states = _states(trials)
    regrets = _table(np.log10(_regrets(states)))
    ranks = regrets.rank(axis=1)
    spent = _table(np.log10(states.groupby(["task", "seed", "label"])["heavy_equivalents"].last()))
    ran = set(zip(states["task"], states["label"], strict=True))
    parts = []
    for step, before in zip(regrets, [None, *regrets], strict=False):
        part = {"step": step, "rank": ranks[step]}
        for name, numbers in (("decades", regrets), ("rank_change", ranks), ("training", spent.loc[regrets.index])):
            part[name] = numbers[step] - (numbers[before] if before else np.nan)
        rows = DataFrame(part, index=regrets.index).reset_index()
        parts.append(rows.assign(run=[(task, step) in ran for task in rows["task"]]))
    columns = ["step", "task", "seed", "run", "decades", "rank", "rank_change", "training"]
    return pd.concat(parts, ignore_index=True)[columns]


def ladder(table: DataFrame, resampling: Resampling = RESAMPLING) -> DataFrame:
    """What each step changes over the tasks on which it is run.

    Parameters
    ----------
    table : DataFrame
        As `changes` returns it.
    resampling : Resampling
        Of the intervals.

    Returns
    -------
    DataFrame
        A row a step that is run on some task: step; tasks and runs, how many the changes are over; ratio of the regret
        to that of the step before, 10 to the mean change, with its interval ratio_low, ratio_high; rank, the mean over
        all tasks; rank_change, rank_low, rank_high; and training, a ratio, too. There is no interval (nan) with one
        task, or one seed on a task.
    """
    rows = []
    for step, everywhere in table.groupby("step", sort=False):
        here = everywhere[everywhere["run"]]
        if here.empty:
            continue
        tasks = [task for _, task in here.groupby("task")]
        row = {"step": step, "tasks": len(tasks), "runs": len(here), "rank": _mean(everywhere, "rank")}
        row |= {name: _mean(here, name) for name in ("decades", "rank_change", "training")}
        for name, column in (("ratio", "decades"), ("rank", "rank_change")):
            ends = nested_interval([task[column].to_numpy(float) for task in tasks], resampling)
            row |= dict(zip((f"{name}_low", f"{name}_high"), ends, strict=True))
        rows.append(row)
    result = DataFrame(rows).assign(ratio=lambda each: each["decades"])
    ratios = ["ratio", "ratio_low", "ratio_high", "training"]
    result[ratios] = 10.0 ** result[ratios]
    return result[["step", "tasks", "runs", *ratios[:3], "rank", "rank_change", "rank_low", "rank_high", "training"]]


def _mean(rows: DataFrame, column: str) -> float:
    return float(rows.groupby("task")[column].mean().mean())


def _states(trials: DataFrame) -> DataFrame:
    """The states of all runs, labeled by their steps."""
    if trials["parameters"].isna().any():
        raise ValueError("the frame has trials whose parameters are not on record: run them again")
    runs = trials[["hash", "method", "parameters"]].drop_duplicates()
    names = {hash_: name_of(method, json.loads(written)) for hash_, method, written in runs.to_numpy()}
    states = incumbents(trials)
    states = states.assign(label=states["hash"].map(names))
    for (task, name), hashes in states.groupby(["task", "label"])["hash"]:
        if hashes.nunique() > 1:
            raise ValueError(
                f"task {task!r} has runs of several configurations of the step {name!r}: hashes "
                f"{', '.join(sorted(hashes.unique()))}; they differ in budget, threads or data, select the rows of one"
            )
    return states


def _regrets(states: DataFrame) -> Series:
    """The final regret of each run by task, seed and label, at least the least of its task; nan without a result."""
    judged(states, "regret")  # refuses tasks whose optimum is not known; regrets are floored below, more
    ends = states.groupby(["task", "seed", "label"])["regret"].last()
    first = states.dropna(subset="regret").groupby(["task", "label", "seed"])["regret"].first()
    least = NEGLIGIBLE * first.groupby("task").mean()
    smallest = ends[ends > 0].groupby("task").min()
    floor = pd.concat([least, smallest / 2], axis=1).max(axis=1).to_dict()
    return ends.clip(lower=ends.index.get_level_values("task").map(floor).to_numpy(float))


def _table(numbers: Series) -> DataFrame:
    """A row a task and seed, a column a step; of seeds that have a number of each step that is run on the task."""
    table = numbers.unstack("label").reindex(columns=[step.name for step in STEPS])
    of_task = table.groupby("task").transform("count")
    for before, step in itertools.pairwise(STEPS):
        if step.of_errors:
            table[step.name] = table[step.name].where(of_task[step.name] > 0, table[before.name])
    if table.dropna().empty:
        raise ValueError(f"no seed of a task has results of all steps: {', '.join(map(str, table))}")
    return table.dropna()
