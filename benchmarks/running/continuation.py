"""Training that goes on: what a run has trained of each configuration, and the states to continue from.

What was trained is read from the recorded rows, and decides what a trial is charged: one that grants more than its
configuration was granted before continues it, and pays for the rest; any other is trained again, and pays in full.
States are files that save time: one that is lost or damaged is trained again, to the same bits. No iterations are
charged for that; the seconds it takes are real ones, and count as such.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from baselines.protocol import Trial
from benchmarks.objectives.curve import CurveTask, Past, State
from benchmarks.objectives.protocol import Curve, Evaluation, Objective, is_trained
from benchmarks.records.curves import curve_of
from benchmarks.records.trials import Row
from btao.running.files import replacing
from btao.training import Level

FOLDER = "states"


class Continuation:
    """Evaluates the trials of one run, each from where its configuration was left.

    Objectives that are no `CurveTask`, or say `resume_training=False`, pay for every trial in full.

    Parameters
    ----------
    objective : Objective
    seed : int
    folder : Path
        The folder of the run; states are kept in a folder inside.

    Attributes
    ----------
    trains : bool
        Whether something is trained, and no formula evaluated.
    """

    def __init__(self, objective: Objective, seed: int, folder: Path) -> None:
        self.trains = is_trained(objective)
        self._objective = objective
        self._seed = seed
        resumes = isinstance(objective, CurveTask) and objective.resume_training
        self._states = StateFolder(folder / FOLDER) if resumes else None
        self._trained: dict[str, tuple[int, Curve]] = {}  # by configuration, the most that was granted, and its curve

    def cost(self, trial: Trial) -> int:
        """The most iterations that a trial can consume."""
        return trial.budget - self.done(trial)

    def evaluate(
        self, trial: Trial, level: Level, on_iteration: Callable[[int, float], None] | None = None
    ) -> Evaluation:
        """Train a trial's configuration as `level` says, on from what was trained before."""
        if not isinstance(self._objective, CurveTask):
            return self._objective.evaluate(dict(trial.config), level, self._seed)
        past = Past(self._past(trial.config, trial.budget), self._states)
        return self._objective.evaluate(dict(trial.config), level, self._seed, past, on_iteration)

    def done(self, trial: Trial) -> int:
        """The iterations of a trial's configuration that were trained before, and need not be again."""
        return len(self._past(trial.config, trial.budget).validation_errors)

    def remember(self, row: Row) -> None:
        """Take account of a trial that is on record."""
        if self._states is not None and row.curve is not None:
            key = _key(row.config)
            granted, curve = self._trained.get(key, (0, Curve()))
            if row.budget > granted:
                self._trained[key] = row.budget, curve + curve_of(row)

    def _past(self, config: dict[str, Any], budget: int) -> Curve:
        """The curve that a trial of so many iterations continues."""
        granted, curve = self._trained.get(_key(config), (0, Curve()))
        return curve if budget > granted else Curve()

    def settle(self, row: Row) -> None:
        """Remove the states that nothing needs any more, now that a trial, the last one so far, is on record."""
        if self._states is not None and row.curve is not None:
            _, curve = self._trained[_key(row.config)]
            self._states.settle(row.config, None if row.heavy else len(curve.validation_errors))

    def close(self) -> None:
        """Remove the states: the run is over."""
        if self._states is not None:
            self._states.remove()


class StateFolder:
    """States of training as npz files, one a configuration and number of iterations.

    A new state is written beside the last one, which goes when the trial is on record (`settle`): a
    run that is killed in between finds the state that its record speaks of.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, config: dict[str, Any], iterations: int) -> State | None:
        """The state of a configuration after so many iterations, or None if there is no sound one."""
        try:
            with self._path(config, iterations).open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return dict(archive)
        except (OSError, ValueError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile):  # as numpy and zipfile do
            return None

    def save(self, config: dict[str, Any], iterations: int, state: Callable[[], State]) -> None:
        """Take and keep a state; where that fails, as on a full disk, warn and go on without."""
        path = self._path(config, iterations)
        try:
            with replacing(path) as temporary:
                np.savez(temporary, **cast("dict[str, Any]", state()))
        except Exception as error:  # the training is done and has its result, come what may
            why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            warnings.warn(f"no state kept, its training would start anew: {path}: {why}", stacklevel=2)

    def settle(self, config: dict[str, Any], iterations: int | None) -> None:
        """Remove all states of a configuration but that after so many iterations."""
        for path in self._folder.glob(f"{_digest(config)}-*"):
            if iterations is None or path != self._path(config, iterations):
                with contextlib.suppress(OSError):
                    path.unlink()

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, config: dict[str, Any], iterations: int) -> Path:
        return self._folder / f"{_digest(config)}-{iterations}.npz"


def _key(config: dict[str, Any]) -> str:
    return json.dumps(config, sort_keys=True)


def _digest(config: dict[str, Any]) -> str:
    return hashlib.sha256(_key(config).encode()).hexdigest()[:16]
