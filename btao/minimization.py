"""`minimize`: the loop around BTAO for those who need no loop of their own."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from btao.checks import check_integer
from btao.errors import is_of_code
from btao.optimizer import BTAO
from btao.rules.rule import SpaceExhausted
from btao.space import Space
from btao.state_file import StateFile
from btao.trial import LEVELS, Trial, measured


@dataclass(frozen=True)
class OptimizationResult:
    """What `minimize` found.

    `config` and `value` are those of the best heavy trial, `trials` all trials in order, and
    `optimizer` the BTAO instance, for `predict` or for going on.
    """

    config: dict[str, Any]
    value: float
    trials: list[Trial]
    optimizer: BTAO


def minimize(
    objectives: Mapping[str, Callable[[dict[str, Any]], float]],
    space: Space,
    n_heavy: int,
    seed: int = 0,
    *,
    state: str | os.PathLike[str] | None = None,
    callback: Callable[[Trial], Any] | None = None,
    warm_start: Any = None,
    enqueue: Sequence[Mapping[str, Any]] = (),
    retry_failed: bool = False,
    **options: Any,
) -> OptimizationResult:
    """Minimize the heavy objective with the help of the light one.

    Parameters
    ----------
    objectives : {"light": callable, "heavy": callable}
        Each takes a configuration (dict) and returns the value to be minimized, or maximized with
        `direction="maximize"`. nan, an infinity, or a value of more than 1e100 in size makes the trial a failed one. So
        does an exception, which is also warned of; but one in the first trial of a level, or one of the code (a
        NameError, a TypeError, ...) before any trial of the level has succeeded, ends the run, and the trial is not
        kept.
    space : Space
    n_heavy : int
        Heavy runs in all, those of the start and failed ones included, those of `warm_start` not. A finite space may be
        exhausted before, and a run ends that fails as often in a row as it should have light runs.
    seed : int
    state : path, optional
        File in which the state is kept after every trial. If it exists the run goes on from there: a
        crash costs the trial in flight and no more. It is of one run at a time: one that finds that another has
        written to it leaves it as it is, keeps its own state in a new file beside it and ends with an error.
    callback : callable, optional
        Called with every new trial when it is in the state, to show or log it; the run ends if it returns
        True.
    warm_start : DataFrame, or list of dict or Trial, optional
        Results made elsewhere, as `BTAO.add_trials` takes them.
    enqueue : sequence of dict
        Configurations to try first, at both levels.
    retry_failed : bool
        Whether failed trials that `state` holds are run again first, each in its place, before new ones are asked for.
    **options
        More arguments of `BTAO`.

    Returns
    -------
    OptimizationResult

    Warns
    -----
    UserWarning
        If the start alone has more heavy runs than `n_heavy`: its light runs are then made for nothing.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong, or the file `state` belongs to a run with other arguments.
    RuntimeError
        If no heavy trial succeeded; names the last error. If another run writes to the file `state`.
    Exception
        What an objective raises that shows that it is wrong, see `objectives`, with a note of what is kept.
    """
    if not isinstance(objectives, Mapping) or set(objectives) != set(LEVELS):
        raise ValueError(f'objectives must be {{"light": function, "heavy": function}}, got {objectives!r}')
    for level, objective in objectives.items():
        if not callable(objective):
            raise TypeError(f"objectives[{level!r}] must be callable, got {objective!r}")
    n_heavy = check_integer("n_heavy", n_heavy)
    if not (callback is None or callable(callback)):
        raise TypeError(f"callback must be callable or None, got {callback!r}")
    optimizer = BTAO(space, seed=seed, **options)
    light, heavy = optimizer.start_size
    if heavy > n_heavy and warm_start is None:
        warnings.warn(
            f"n_heavy={n_heavy} is less than the {heavy} heavy runs of the start, before which {light} light runs are "
            "made for nothing, and no proposal is; give a larger n_heavy or a smaller n_init",
            stacklevel=2,
        )
    path = None if state is None else Path(state)
    if path is not None and not path.parent.is_dir():
        raise ValueError(f"state must be a file in an existing folder, but {path.parent} is none")
    if not isinstance(retry_failed, bool):
        raise TypeError(f"retry_failed must be True or False, got {retry_failed!r}")
    if retry_failed and path is None:
        raise ValueError("retry_failed=True runs the failed trials of a state again: give state=, the file that has it")
    file = None if path is None else StateFile(path)
    if file is not None and file.path.exists():
        optimizer = file.restore(optimizer)
    if warm_start is not None:
        optimizer.add_trials(warm_start)
    for config in enqueue:
        optimizer.enqueue(config)
    run = _Run(objectives, optimizer, file, callback)
    if retry_failed:
        for trial in optimizer.trials:
            if trial.status == "failed" and not trial.given and not run.ended:
                run.make(optimizer.reopen(trial))

    patience = optimizer.light_per_heavy * max(n_heavy, optimizer.n_init)
    while not run.ended and _heavy_runs(optimizer) < n_heavy:
        latest = [trial for trial in optimizer.trials if not trial.given][-patience:]
        if len(latest) == patience and all(trial.status == "failed" for trial in latest):
            break
        try:
            trial = optimizer.ask()
        except SpaceExhausted:
            break
        run.make(trial)

    best = optimizer.best
    if best is None:
        errors = [trial.error for trial in optimizer.trials if trial.error is not None]
        if run.ended:
            why = "the callback ended the run before one did"
        else:
            why = f"the last error of {len(errors)}: {errors[-1]}" if errors else "none was told"
        if path is not None and errors:
            why += f". {path} keeps these failures: the same call with retry_failed=True runs them again"
        raise RuntimeError(f"no heavy trial succeeded; {why}")
    return OptimizationResult(best.config, measured(best), optimizer.trials, optimizer)


def _heavy_runs(optimizer: BTAO) -> int:
    """Heavy trials that were asked for."""
    return sum(trial.level == "heavy" and not trial.given for trial in optimizer.trials)


class _Run:
    """The trials of one call of `minimize`."""

    def __init__(
        self,
        objectives: Mapping[str, Callable[[dict[str, Any]], float]],
        optimizer: BTAO,
        file: StateFile | None,
        callback: Callable[[Trial], Any] | None,
    ) -> None:
        self._objectives, self._optimizer, self._file, self._callback = objectives, optimizer, file, callback
        self.ended = False  # by the callback

    def make(self, trial: Trial) -> None:
        """Run a trial, tell it, keep the state and call back."""
        where = f"{trial.level} trial {trial.number} at {trial.config}"
        try:
            outcome: dict[str, Any] = {"value": self._objectives[trial.level](dict(trial.config))}
        except Exception as error:
            if self._is_wrong(trial, error):
                kept = "is not kept" if self._file is None else f"is not kept in {self._file.path}"
                error.add_note(
                    f"{where} failed before any {trial.level} trial succeeded, and {kept}: the same call with a "
                    "corrected objective goes on. For a configuration that cannot be trained, return nan"
                )
                raise
            outcome = {"error": f"{type(error).__name__}: {error}"}
            warnings.warn(f"{where} failed: {outcome['error']}", stacklevel=3)
        try:
            self._optimizer.tell(trial, **outcome)
        except (TypeError, ValueError) as error:
            got = outcome.get("value")
            raise TypeError(
                f"objectives[{trial.level!r}] must return a real number, got {got!r} at {trial.config}"
            ) from error
        if self._file is not None:
            self._file.write(self._optimizer)
        if self._callback is not None:
            answer = self._callback(self._optimizer.trials[trial.number])
            self.ended = isinstance(answer, bool | np.bool_) and bool(answer)

    def _is_wrong(self, trial: Trial, error: Exception) -> bool:
        """Whether an exception shows that the objective is wrong, and not that a configuration cannot be trained."""
        others = [each for each in self._optimizer.trials if each.level == trial.level and each.number != trial.number]
        if any(each.status == "ok" for each in others):
            return False
        return is_of_code(error) or all(each.status == "pending" for each in others)
