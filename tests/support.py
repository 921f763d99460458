"""What several test files need: recorded tables but for seconds, records made by hand, an observer of an engine."""

from __future__ import annotations

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
