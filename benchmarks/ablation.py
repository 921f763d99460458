"""What each choice in BTAO is worth: one option at a time is changed around its defaults.

Definitions
-----------
variant
    BTAO with one option changed; its label names the option and the value, as `light_per_heavy=4`.
    Two bounds that make one model count as one option.
cost
    Heavy runs, or heavy equivalents: iterations of all runs, light ones too, divided by those of a heavy run.
    Options that buy information with light runs have to be judged by the second.
effect
    Variant against default on the same task and seed, at the same cost: the difference of their regrets,
    and the difference of the decimal logarithms of their regrets, in decades. Negative: the variant is better.
    A regret below `REGRET_FLOOR` counts as that in the logarithm.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import analysis
from benchmarks.catalogue import document
from benchmarks.incumbents import incumbents
from benchmarks.intervals import interval
from benchmarks.options import text
from benchmarks.plots import REGRET_FLOOR

if TYPE_CHECKING:
    from pandas import DataFrame, Series

METHOD = "btao"
# Each option with the values it takes; the default is among those of the first.
OPTIONS: dict[str, tuple[Any, ...]] = {
    "light_per_heavy": (1, 2, 3, 4, 5, 6, 7, 8),
    "n_init": (2, 3, 8),
    "start": ("random",),
    "candidates": ("light",),
    "square_root_beta": (True,),
}
# The bounds of the model, which are changed together. Where a task has none, those of validation errors are set.
BOUNDS = {
    "truncated": {"delta_bounds": [-1.0, 0.0], "rho_bounds": [0.0, 1.0]},
    "untruncated": {"delta_bounds": ["-inf", "inf"], "rho_bounds": ["-inf", "inf"]},
}
DEFAULT = "default"
COSTS = ("heavy_runs", "heavy_equivalents")


@dataclass(frozen=True)
class Study:
    """Tasks on which all options are changed.

    Attributes
    ----------
    words : tuple of str
        Of the command line: the tasks, where their values come from, the budget.
    bounds : str
        The bounds in `BOUNDS` that the tasks do not have by themselves.
    """

    words: tuple[str, ...]
    bounds: str


# A recorded table is one line more: Study(("task=fcn", "source=table", "budget.heavy=12"), "untruncated").
STUDIES = (Study(("task=currin,park", "budget.heavy=12"), "truncated"),)


def commands(studies: Sequence[Study] = STUDIES) -> list[list[str]]:
    """The arguments of `python -m benchmarks.run`, less seeds and out: a sweep for every option of every study."""
    return [[*study.words, f"method={METHOD}", *words] for study in studies for words in _sweeps(study)]


def _sweeps(study: Study) -> Iterator[list[str]]:
    for option, values in OPTIONS.items():
        yield ["-m", f"methods.{METHOD}.{option}={','.join(map(text, values))}"]
    yield ["-m", *(f"methods.{METHOD}.{option}={text(pair)}" for option, pair in BOUNDS[study.bounds].items())]


def label(parameters: Mapping[str, Any]) -> str:
    """The label of a variant.

    Parameters
    ----------
    parameters : mapping
        The resolved ones of the method, as its run.json and the column `parameters` of `records.load` hold them.
    """
    changed = {
        name: value for name, value in document("method", METHOD).items() if parameters.get(name, value) != value
    }
    changed = {name: parameters[name] for name in changed}
    for name, bounds in BOUNDS.items():
        if changed == bounds:
            return name
    return ", ".join(f"{name}={json.dumps(value).strip(chr(34))}" for name, value in changed.items()) or DEFAULT


def labels(trials: DataFrame) -> Series:
    """The label of every trial, by its column `parameters`.

    Raises
    ------
    ValueError
        If a trial is of another method, or its parameters are not on record.
    """
    others = set(trials["method"]) - {METHOD}
    if others or trials["parameters"].isna().any():
        raise ValueError(
            f"an ablation is of {METHOD} with its parameters on record: got trials of {', '.join(sorted(others))}"
            if others
            else "the frame has trials whose parameters are not on record: run them again"
        )
    return trials["parameters"].map({each: label(json.loads(each)) for each in trials["parameters"].unique()})


def variants() -> list[str]:
    """The labels in the order in which tables and figures show them, the default first."""
    default = document("method", METHOD)
    singles = [{option: value} for option, values in OPTIONS.items() for value in values]
    return list(dict.fromkeys([DEFAULT, *(label(default | changed) for changed in [*singles, *BOUNDS.values()])]))


def regrets(trials: DataFrame, cost: str, at: float) -> DataFrame:
    """The regret of every run at one cost.

    Parameters
    ----------
    trials : DataFrame
        As `records.load` returns them, of BTAO alone.
    cost : {"heavy_runs", "heavy_equivalents"}
    at : float
        How much of it.

    Returns
    -------
    DataFrame
        One row a run: task, label, seed, regret (nan where the run has no result at this cost, or has
        ended before it).

    Raises
    ------
    ValueError
        If `cost` is none of these, or as `labels` and `incumbents`.
    """
    import pandas as pd

    named, states = labels(trials), _states(trials, cost)
    names = dict(zip(trials["hash"], named, strict=True))
    rows = []
    for (task, identity, seed), run in states.groupby(["task", "hash", "seed"], sort=False):
        regret = analysis.hold(run[cost].to_numpy(float), run["regret"].to_numpy(), np.array([float(at)]))
        rows.append({"task": task, "label": names[identity], "seed": seed, "regret": float(regret[0])})
    return pd.DataFrame(rows)


def common_end(trials: DataFrame, cost: str) -> float:
    """The most of a cost that every run has reached: where all variants of a task can be compared.

    Parameters, errors: as in `regrets`.
    """
    return float(_states(trials, cost).groupby(["task", "hash", "seed"])[cost].max().min())


def first_proposal(trials: DataFrame, cost: str) -> float:
    """What the default has spent on one task, in the median, with its first heavy run beyond the start.

    Parameters, errors: as in `regrets`.
    """
    states = _states(trials, cost)[(labels(trials) == DEFAULT).to_numpy()]
    # A start has number of parameters + 2 heavy runs.
    n = int(trials.filter(regex=r"^config\.").notna().any().sum()) + 3
    return float(states[states["heavy_runs"] == n].groupby("seed")[cost].min().median())


def effects(
    trials: DataFrame, cost: str, at: float, *, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> DataFrame:
    """Each variant against the default, paired by seed.

    Parameters
    ----------
    trials, cost, at
        As in `regrets`.
    confidence, resamples, seed
        As in `intervals.interval`.

    Returns
    -------
    DataFrame
        One row a task and variant, in the order of `variants`: task, label, cost, at; n (seeds that
        both have a result of at this cost) and missing (seeds of the variant that are left out);
        median regrets of variant and default (`regret`, `default`); mean and interval of the paired
        differences of regrets (difference, difference_low, difference_high) and of their logarithms
        (decades, decades_low, decades_high); and the seeds on which the variant is better, equal, worse.

    Raises
    ------
    ValueError
        As `regrets`, and if a task has no runs of the default.
    """
    import pandas as pd

    wide = regrets(trials, cost, at).pivot(index=["task", "seed"], columns="label", values="regret")
    rows = []
    for task, of_task in wide.groupby("task"):
        if DEFAULT not in of_task or of_task[DEFAULT].isna().all():
            raise ValueError(
                f"task {task!r} has no result of the default at {cost}={at:g}: there is nothing to compare"
            )
        ordered = [name for name in variants() if name in of_task] + sorted(set(of_task) - set(variants()))
        begun = trials[trials["task"] == task].assign(label=labels(trials)).groupby("label")["seed"].nunique()
        for name in ordered:
            if name == DEFAULT or name not in begun:
                continue
            pairs = of_task[[name, DEFAULT]].dropna()
            mine, default = pairs[name].to_numpy(), pairs[DEFAULT].to_numpy()
            row = {"task": task, "label": name, "cost": cost, "at": at}
            row |= {"n": len(pairs), "missing": int(begun[name]) - len(pairs)}
            row |= {"regret": float(np.median(mine)) if len(pairs) else np.nan}
            row |= {"default": float(np.median(default)) if len(pairs) else np.nan}
            decades = np.log10(np.maximum(mine, REGRET_FLOOR)) - np.log10(np.maximum(default, REGRET_FLOOR))
            for measure, values in (("difference", mine - default), ("decades", decades)):
                low, high = interval(values, confidence=confidence, resamples=resamples, seed=seed)
                row |= {measure: values.mean() if len(values) else np.nan}
                row |= {f"{measure}_low": float(low), f"{measure}_high": float(high)}
            row |= {"better": int((mine < default).sum()), "equal": int((mine == default).sum())}
            rows.append(row | {"worse": int((mine > default).sum())})
    return pd.DataFrame(rows)


def _states(trials: DataFrame, cost: str) -> DataFrame:
    """The states of all runs after each of their trials, `cost` being one of their columns."""
    if cost not in COSTS:
        raise ValueError(f"cost must be one of {', '.join(COSTS)}, got {cost!r}")
    return incumbents(trials)
