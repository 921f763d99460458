"""What several test files need: recorded tables, records made by hand, an observer of an engine, a lighter SMAC."""

from __future__ import annotations

import contextlib
import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SECONDS = ("train_seconds", "method_seconds", "time", "processor_seconds")


def rows(folder: Path) -> list[dict[str, Any]]:
    """The rows on record in the folder of a run, but for seconds."""
    lines = (folder / "trials.jsonl").read_text().splitlines()
    return [{name: value for name, value in json.loads(line).items() if name not in SECONDS} for line in lines]


def tables(out: Path) -> dict[str, list[dict[str, Any]]]:
    """All rows on record below a folder, but for seconds, by path."""
    return {str(path.relative_to(out)): rows(path.parent) for path in sorted(out.rglob("trials.jsonl"))}


def run(levels, values, *, method="btao", seed=0, task="currin", hash="aaaa1111", data=None, optimum=0.0, truth=None):
    """The record of one run; levels as "LLH", nan for a failed trial, 1 iteration light and 5 heavy, 2 s a trial.

    Of the 2 s a trial takes, 1.5 are training.
    """
    count = len(levels)
    heavy = np.array([level == "H" for level in levels], dtype=bool)
    iterations = np.where(heavy, 5, 1)
    return pd.DataFrame(
        {
            "task": task,
            "method": method,
            "seed": seed,
            "hash": hash,
            "data": pd.Series([data] * count, dtype="str"),
            "optimum": math.nan if optimum is None else optimum,
            "trial": np.arange(count),
            "heavy": heavy,
            "budget": iterations,
            "config.x": 0.5,
            "value": np.array(values, dtype=float),
            "status": ["failed" if math.isnan(value) else "ok" for value in values],
            "error": None,
            "iterations": iterations,
            "train_seconds": 1.5,
            "method_seconds": 0.5,
            "time": 2.0 * np.arange(1, count + 1),
            "truth": math.nan if truth is None else np.array(truth, dtype=float),
        }
    )


def frame(*runs):
    """The records of several runs as one table."""
    return pd.concat(runs, ignore_index=True)


def line(axes, label):
    """The points of the curve with this legend entry, those without a value left out."""
    (found,) = [one for one in axes.get_lines() if one.get_label() == label]
    x, y = np.asarray(found.get_xdata(), float), np.asarray(found.get_ydata(), float)
    return x[~np.isnan(y)].tolist(), y[~np.isnan(y)].tolist()


def reserve_less_for_trees(patch):
    """Let SMAC's forest reserve memory for 2^10 leaves a tree, not 2^20: of up to 2^10 trials it is the same forest.

    To reserve it takes most of the time of a proposal. Nothing happens where SMAC is not installed.
    """
    with contextlib.suppress(ImportError):
        from smac import HyperparameterOptimizationFacade

        get_model = HyperparameterOptimizationFacade.get_model

        def small(*args, **kwargs):
            model = get_model(*args, **kwargs)
            model._rf_opts["max_leaf_nodes"] = 2**10
            return model

        patch.setattr(HyperparameterOptimizationFacade, "get_model", staticmethod(small))


def search_less(patch):
    """Let SMAC look for its proposals among fewer candidates, with fewer starts of the fit of a Gaussian process.

    For tests that do not turn on how good the proposals are. Nothing happens where SMAC is not installed.
    """
    with contextlib.suppress(ImportError):
        from smac import BlackBoxFacade, HyperparameterOptimizationFacade

        for facade in (BlackBoxFacade, HyperparameterOptimizationFacade):
            few = functools.partial(facade.get_acquisition_maximizer, challengers=100, local_search_iterations=2)
            patch.setattr(facade, "get_acquisition_maximizer", staticmethod(few))
        get_model = BlackBoxFacade.get_model

        def restarted_less(*args, **kwargs):
            model = get_model(*args, **kwargs)
            model._n_restarts = 2
            return model

        patch.setattr(BlackBoxFacade, "get_model", staticmethod(restarted_less))


class Log:
    """Remembers what an engine says."""

    def __init__(self) -> None:
        self.begun, self.progress, self.over = [], {}, {}

    def started(self, index):
        self.begun.append(index)

    def progressed(self, index, progress):
        self.progress.setdefault(index, []).append(progress)

    def ended(self, index, failure):
        self.over[index] = failure
