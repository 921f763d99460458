"""Answers of trainings, kept below `out`: what one run has trained, another of the same task need not train again.

An answer is that of the same task, data, seed, configuration, level and iterations trained before, by the same code,
libraries and kind of machine. It is charged as it was when it was made, so a run costs the same on record, whoever
trained first; only the time that it takes is another. States are not kept: a run that goes on from an answer trains
the iterations before once more, and is charged for the rest alone, in iterations and in seconds. A training in one go
also answers one that goes on to the same level, from there.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from baselines.protocol import Trial
from benchmarks.objectives.protocol import Curve, Evaluation
from benchmarks.records.curves import curve_of
from benchmarks.records.run_info import RunInfo
from benchmarks.records.trials import Row
from benchmarks.running.continuation import Continuation
from btao.running.files import write_whole
from btao.training import Level

FOLDER = ".cache"  # below `out`; no task can be called so


class AnswerCache:
    """Rows of trials, each in a file of its own that is written as a whole.

    Processes that write one answer at the same time have made the same one; the last stays.

    Parameters
    ----------
    folder : Path
        Made when the first answer is kept.
    shared : mapping
        All that decides an answer and is the same for a whole run, as JSON can hold it.
    """

    def __init__(self, folder: Path, shared: Mapping[str, Any]) -> None:
        self._folder = folder
        self._shared = json.loads(json.dumps(shared))

    def load(self, asked: Mapping[str, Any]) -> Row | None:
        """The row that answers what is asked for, or None if there is no sound one."""
        key, path = self._place(asked)
        try:
            held = json.loads(path.read_bytes())
            return Row(**held["row"]) if held["key"] == key else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def save(self, asked: Mapping[str, Any], row: Row) -> None:
        """Keep a row; where that fails, as on a full disk, warn and go on without."""
        key, path = self._place(asked)
        try:
            write_whole(path, json.dumps({"key": key, "row": vars(row)}, allow_nan=False))
        except OSError as error:  # the trial is on record, come what may
            warnings.warn(f"answer not kept in the cache: {path}: {error.strerror}", stacklevel=2)

    def _place(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Path]:
        """All that decides an answer, and the file that holds it."""
        key = self._shared | json.loads(json.dumps(asked))
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        return key, self._folder / f"{digest[:32]}.json"


class CachedTraining:
    """Answers the trials of one run from a cache, and trains and keeps what is not in it.

    Only what succeeds is kept: a failure may be one of the moment.

    Parameters
    ----------
    training : Continuation
    cache : AnswerCache
    """

    def __init__(self, training: Continuation, cache: AnswerCache) -> None:
        self.trains = training.trains
        self._training = training
        self._cache = cache
        self._stateless: dict[str, bool] = {}  # by configuration: whether its last answer came without a state
        self._made: dict[str, Any] | None = None  # what the trial that is being made asked for

    def cost(self, trial: Trial) -> int:
        """See `Continuation.cost`."""
        return self._training.cost(trial)

    def done(self, trial: Trial) -> int:
        """See `Continuation.done`."""
        return self._training.done(trial)

    def evaluate(
        self, trial: Trial, level: Level, on_iteration: Callable[[int, float], None] | None = None
    ) -> Evaluation:
        """What the cache answers, with what it cost when it was made; otherwise train as `Continuation` does."""
        self._made = None
        done = self.done(trial)
        ends = {name: end for name, end in vars(level).items() if name != "direction"}  # tasks are minimized
        asked = {"config": dict(trial.config), "level": ends, "done": done}
        row = self._cache.load(asked)
        if row is not None:
            return _evaluation(row)
        whole = self._cache.load(asked | {"done": 0}) if done else None
        if whole is not None and whole.curve is not None:
            return _rest(whole, done)
        evaluation = self._training.evaluate(trial, level, on_iteration)
        self._made = asked
        if done and evaluation.curve is not None and self._stateless.get(_key(trial.config)):
            seconds = {name: sum(getattr(evaluation.curve, name)) for name in ("seconds", "processor_seconds")}
            evaluation = dataclasses.replace(evaluation, **seconds)
        return evaluation

    def remember(self, row: Row) -> None:
        """Take account of a trial that is on record."""
        self._training.remember(row)
        self._stateless[_key(row.config)] = bool(row.cached)

    def settle(self, row: Row) -> None:
        """Keep the answer of a trial that is on record, and let go of states as `Continuation.settle` does."""
        self._training.settle(row)
        if self._made is not None and row.status == "ok":
            self._cache.save(self._made, row)
        self._made = None

    def close(self) -> None:
        """See `Continuation.close`."""
        self._training.close()


def cached(training: Continuation, out: Path, run: RunInfo) -> Continuation | CachedTraining:
    """The training of a run, answered from the cache below `out`; without one, where the task's source is not at hand.

    Parameters
    ----------
    training : Continuation
    out : Path
    run : RunInfo
        Its last start is the one that goes on: its code, its versions and its machine decide what answers.
    """
    start = run.starts[-1]
    if start.code.get("task") is None:
        return training
    shared = {
        **{name: run.identity[name] for name in ("task", "data", "threads")},
        "seed": run.seed,
        "code": start.code["task"],
        "versions": start.versions,
        "machine": {name: value for name, value in start.machine.items() if name not in ("platform", "cores")},
    }
    return CachedTraining(training, AnswerCache(out / FOLDER / run.task, shared))


def _evaluation(row: Row) -> Evaluation:
    """What a row on record says of its training."""
    assert row.value is not None, "only successes are kept"
    return Evaluation(
        row.value,
        row.iterations,
        curve=None if row.curve is None else curve_of(row),
        seconds=row.train_seconds,
        processor_seconds=row.processor_seconds,
        test_error=row.test_error,
        cached=True,
    )


def _rest(whole: Row, done: int) -> Evaluation:
    """What a training in one go says of the same one that goes on after so many iterations: the curve from there."""
    rest = Curve(*(values[done:] for values in vars(curve_of(whole)).values()))
    return dataclasses.replace(
        _evaluation(whole),
        iterations=len(rest.seconds),
        curve=rest,
        seconds=sum(rest.seconds),
        processor_seconds=sum(rest.processor_seconds),
    )


def _key(config: Mapping[str, Any]) -> str:
    return json.dumps(config, sort_keys=True)
