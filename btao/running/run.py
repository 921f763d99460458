"""The trials of one call of `minimize`: one after another, or several at a time."""

from __future__ import annotations

import contextlib
import math
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

import numpy as np

from btao.errors import is_of_code
from btao.optimizer import BTAO
from btao.rules.rule import SpaceExhausted
from btao.running.interrupts import held
from btao.running.light_results import LightResults
from btao.running.state_file import StateFile
from btao.running.workers import Workers
from btao.trial import LevelName, Measurement, Trial, check_cost, measured


class Run:
    """Trials, each of which is told, kept in the state and shown to the callback when it ends.

    Parameters
    ----------
    objectives : {"light": callable, "heavy": callable}
    optimizer : BTAO
        Trials that wait in it, as a run leaves them that is interrupted, are made first.
    file : StateFile, optional
    callback : callable, optional
    n_heavy : int
    retry_failed : bool
        Whether trials that have failed in it are made again before.
    timeout : float, optional
        Seconds after which no trial begins.
    target : float, optional
        A heavy value that is good enough to end the run.
    progress : bool
        Whether each trial has a line in stderr.

    Attributes
    ----------
    ended : str or None
        What ended the run before its time.
    failed_last : int
        Where it is given up, how many trials failed one after another at its end; else 0.
    """

    def __init__(
        self,
        objectives: Mapping[str, Callable[..., Any]],
        optimizer: BTAO,
        file: StateFile | None,
        callback: Callable[[Trial], Any] | None,
        n_heavy: int,
        retry_failed: bool,
        timeout: float | None,
        target: float | None,
        progress: bool,
    ) -> None:
        self._objectives, self._optimizer, self._file, self._callback = objectives, optimizer, file, callback
        self._n_heavy, self._target, self._progress = n_heavy, target, progress
        self._end = None if timeout is None else time.monotonic() + timeout
        self._patience = optimizer.light_per_heavy * max(n_heavy, optimizer.n_init)
        self._light = LightResults(objectives["heavy"])
        # Each is opened anew when its turn comes: of a run that ends before, it stays a failure.
        self._failed = [
            each for each in optimizer.trials if retry_failed and each.status == "failed" and not each.given
        ]
        self._waiting = optimizer.pending
        self._unreported: list[Trial] = []
        self._wrong_costs: dict[LevelName, str | None] = {}  # what to say of the first of each level; None: it is said
        self.ended: str | None = None
        self.failed_last = 0

    def one_by_one(self) -> None:
        """Make trials until the run is over. After Ctrl-C all is kept that has ended."""
        try:
            while (trial := self._next()) is not None:
                self._finish(trial, partial(self._make, trial))
        except KeyboardInterrupt:
            if not self._ends_with_best():
                raise

    def in_parallel(self, workers: Workers, n_jobs: int) -> None:
        """Make trials, `n_jobs` at a time, until the run is over.

        After an error the trials under way are waited for and kept. After Ctrl-C those are kept that have ended. The
        others wait in the state, and so do those that an executor of the caller has not begun when the run is over.
        The trials under way on processes of which one died are failed ones: any may have been the cause.
        """
        try:
            while True:
                while len(workers.running) < n_jobs and (trial := self._next()) is not None:
                    workers.start(trial, self._objectives[trial.level], self._light.arguments(trial))
                if self._is_over():
                    workers.withdraw()
                if not workers.running:
                    return
                if (ended := workers.next(self._seconds_left())) is not None:
                    self._finish(ended, workers.running[ended.number][1].result)
                    del workers.running[ended.number]
        except KeyboardInterrupt:
            self._keep_ended(workers)
            if not self._ends_with_best():
                raise
        except Exception as error:
            workers.withdraw()
            try:
                wait([future for _, future in workers.running.values()])
            finally:  # Ctrl-C ends the wait, and loses no more
                with contextlib.suppress(Exception):  # the first error is the one that is raised
                    self._keep_ended(workers)
                    self._report()
            if isinstance(error, BrokenProcessPool):
                self._keep_lost(workers, error)
            raise
        finally:
            workers.close()

    def _ends_with_best(self) -> bool:
        """Report after Ctrl-C; whether there is a best trial for the run to end with."""
        self._report()
        if self._optimizer.best is None:
            return False
        self.ended = "Ctrl-C"
        warnings.warn("Ctrl-C ended the run: this is the best that there is", stacklevel=4)
        return True

    def _make(self, trial: Trial) -> Any:
        return self._objectives[trial.level](dict(trial.config), **self._light.arguments(trial))

    def _next(self) -> Trial | None:
        """The next trial; None where the run is over, or must wait for trials under way."""
        if self._is_over():
            return None
        if self._failed:
            return self._optimizer.reopen(self._failed.pop(0))
        if self._waiting:
            return self._waiting.pop(0)
        asked = [trial for trial in self._optimizer.trials if not trial.given]
        latest = asked[-self._patience :]
        if sum(trial.level == "heavy" for trial in asked) >= self._n_heavy:
            return None
        if len(latest) == self._patience and all(trial.status == "failed" for trial in latest):
            self.failed_last = self._patience
            return None
        try:
            return self._optimizer.ask()
        except SpaceExhausted:
            return None

    def _is_over(self) -> bool:
        """Whether no trial may begin any more, be it one that is asked for already."""
        if self.ended is None and self._end is not None and time.monotonic() >= self._end:
            self.ended = "the timeout"
        return self.ended is not None or self._is_good_enough()

    def _seconds_left(self) -> float | None:
        """The time until the timeout; None where there is none, or it is over."""
        if self._end is None or self.ended is not None:
            return None
        return max(0.0, self._end - time.monotonic())

    def _is_good_enough(self) -> bool:
        best = self._optimizer.best
        if self._target is None or best is None:
            return False
        sign = -1 if self._optimizer.direction == "maximize" else 1
        return sign * measured(best) <= sign * self._target

    def _finish(self, trial: Trial, result: Callable[[], Any]) -> None:
        """Tell a trial what `result` returns or raises, keep the state and call back."""
        where = _named(trial)
        try:
            measurement = _measurement(self._light.value(trial, result()))
        except (BrokenExecutor, CancelledError):  # not the answer of an objective
            raise
        except Exception as error:
            if self._is_wrong(trial, error):
                kept = "is not kept" if self._file is None else f"is not kept in {self._file.path}"
                error.add_note(
                    f"{where} failed before any {trial.level} trial succeeded, and {kept}: the same call with a "
                    "corrected objective goes on. For a configuration that cannot be trained, return nan"
                )
                raise
            measurement = Measurement(math.nan, f"{type(error).__name__}: {error}")
            warnings.warn(f"{where} failed: {measurement.error}", stacklevel=4)
        with held():
            self._tell(trial, measurement)
            self._keep()
        self._report()

    def _tell(self, trial: Trial, measurement: Measurement) -> None:
        value: Any = measurement.value  # whatever an objective returned
        error, cost = measurement.error, measurement.cost
        try:
            cost = check_cost(cost)
        except (TypeError, ValueError) as wrong:  # the value has been paid for
            self._wrong_costs.setdefault(trial.level, f"{_named(trial)}: {wrong}; such trials are kept without a cost")
            cost = None
        try:
            told = self._optimizer.tell(trial, value=value, error=error, cost=cost)
        except (TypeError, ValueError) as wrong:
            if error is not None:
                raise TypeError(f"objectives[{trial.level!r}]: {wrong}, at {trial.config}") from wrong
            hint = ""
            if isinstance(value, tuple) and len(value) == 2 and not self._light.wanted:
                hint = "; a value and a model, say, where the heavy objective has a parameter named `light`"
            raise TypeError(
                f"objectives[{trial.level!r}] must return a real number, got {value!r} at {trial.config}{hint}"
            ) from wrong
        self._light.drop(told)
        self._unreported.append(told)

    def _keep(self) -> None:
        if self._file is not None:
            self._file.write(self._optimizer)

    def _report(self) -> None:
        """Show the trials that were told, and call back."""
        while self._unreported:
            told = self._unreported.pop(0)
            if self._progress:
                self._show(told)
            if self._callback is not None:
                answer = self._callback(told)
                if isinstance(answer, bool | np.bool_) and answer:
                    self.ended = "the callback"
        for level, text in self._wrong_costs.items():
            if text is not None:
                self._wrong_costs[level] = None
                warnings.warn(text, stacklevel=5)

    def _keep_ended(self, workers: Workers) -> None:
        """Tell and keep what has ended and was not told yet; what raised waits in the state, to be made again."""
        with contextlib.suppress(KeyboardInterrupt), held():  # pressed again, it ends no sooner
            pending = {trial.number for trial in self._optimizer.pending}
            for trial, future in workers.running.values():
                if not future.done() or future.cancelled() or future.exception() or trial.number not in pending:
                    continue
                with contextlib.suppress(TypeError):  # of a value that is no number
                    self._tell(trial, _measurement(self._light.value(trial, future.result())))
            if self._unreported:
                self._keep()

    def _keep_lost(self, workers: Workers, error: BrokenProcessPool) -> None:
        """Tell and keep as failed what was under way when a process died, and note it on the error."""
        lost = [
            trial
            for trial, future in workers.running.values()
            if not future.cancelled() and isinstance(future.exception(), BrokenProcessPool)
        ]
        if not workers.can_load([self._objectives[trial.level] for trial in lost]):
            error.add_note(
                "New processes cannot load the objective: it must be importable there, and a script that starts them "
                'be guarded by `if __name__ == "__main__":`'
            )
            return
        names = "; ".join(map(_named, lost))
        kept = "give state=, a file, to go on after this"
        if self._file is not None:
            kept = (
                f"{self._file.path} keeps them as failed: the same call goes on without them, and one with "
                "retry_failed=True runs them again"
            )
        error.add_note(f"A process died, as it does for want of memory, with these under way: {names}; {kept}")
        with contextlib.suppress(Exception):  # the first error is the one that is raised
            with held():
                for trial in lost:
                    self._tell(trial, Measurement(math.nan, f"{type(error).__name__}: a process died while this ran"))
                self._keep()
            self._report()

    def _is_wrong(self, trial: Trial, error: Exception) -> bool:
        """Whether an exception shows that the objective is wrong, and not that a configuration cannot be trained."""
        others = [
            each  # a result of elsewhere says nothing of this objective
            for each in self._optimizer.trials
            if each.level == trial.level and each.number != trial.number and not each.given
        ]
        if any(each.status == "ok" for each in others):
            return False
        return is_of_code(error) or all(each.status == "pending" for each in others)

    def _show(self, trial: Trial) -> None:
        trials = self._optimizer.trials
        n_heavy = sum(each.level == "heavy" and not each.given and each.status != "pending" for each in trials)
        best = self._optimizer.best
        print(
            f"{trial.level} {trial.number}: {trial.error if trial.value is None else f'{trial.value:.6g}'} · "
            f"heavy {n_heavy}/{self._n_heavy} · best {'none yet' if best is None else f'{measured(best):.6g}'}",
            file=sys.stderr,
        )


def _named(trial: Trial) -> str:
    return f"{trial.level} trial {trial.number} at {trial.config}"


def _measurement(returned: Any) -> Measurement:
    """What an objective returned, be it a value alone."""
    return returned if isinstance(returned, Measurement) else Measurement(returned)
