"""What runs of several studies come to together: which of them are still missing, and in how many settings they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from pandas import DataFrame

from benchmarks.analysis.incumbents import RUN, keys
from benchmarks.config.options import text
from benchmarks.records.labels import name_of

Run = tuple[str, str, str, int]  # task, method, hash and seed
Settings = Mapping[str, Mapping[str, Any]]  # by method (name and hash): `RunInfo.shared` of its runs


class MissingRun(str):
    """A line for a run without a result, which knows what run it tells of."""

    run: Run

    @classmethod
    def of(cls, run: Run, why: str) -> Self:
        """The line: task, method and seed, and why."""
        task, method, _, seed = run
        line = cls(f"{task}, {method}, seed {seed}: {why}")
        line.run = run
        return line


def still_missing(*parts: tuple[DataFrame, Iterable[str]]) -> tuple[str, ...]:
    """What several studies lack together, each given by its trials and its `missing`.

    A run that one of them has with a result is not missing; of one that all lack, the last line stays. A line of no
    run stays as it is.
    """
    lines: dict[Run | str, str] = {}
    done: set[Run] = set()
    for trials, missing in parts:
        mine = {line.run if isinstance(line, MissingRun) else line: line for line in missing}
        lines |= mine
        done |= {run for run in _runs(trials) if run not in mine}
    return tuple(line for run, line in lines.items() if run not in done)


def several_settings(trials: DataFrame, settings: Settings) -> Iterator[str]:
    """A line for each task whose runs are of several settings, which names them by what they differ in.

    Where the settings of some runs are known and those of others are not, a line names the others. Of settings that
    differ in their budgets alone, `study_table.unequal_budgets` speaks.
    """
    if trials.empty:
        return
    for task, mine in trials.groupby("task"):
        known = {key: dict(_leaves(settings[key])) for key in keys(mine).unique() if key in settings}
        unknown = dict.fromkeys(name_of(key) for key in keys(mine).unique() if key not in settings)
        if known and unknown:
            yield f"{task}: the settings of these runs are not known, nor whether they compare: {', '.join(unknown)}"
        names = dict.fromkeys(name for leaves in known.values() for name in leaves)
        differing = [name for name in names if len({json.dumps(each.get(name)) for each in known.values()}) > 1]
        if all(name.startswith("budget.") for name in differing):
            continue
        methods: dict[str, dict[str, None]] = {}
        for key, leaves in known.items():
            words = ", ".join(f"{name}={text(leaves.get(name))}" for name in differing)
            methods.setdefault(words, {})[name_of(key)] = None
        listed = "; ".join(f"{words} ({', '.join(named)})" for words, named in methods.items())
        yield f"{task}: the runs are of {len(methods)} settings, whose figures do not compare: {listed}"


def _runs(trials: DataFrame) -> set[Run]:
    return set(trials[RUN].itertuples(index=False, name=None)) if len(trials) else set()


def _leaves(shared: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """What a setting is, by dotted name."""
    for name, value in shared.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
