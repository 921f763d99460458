"""One experiment: one method on one task with one seed, recorded trial by trial.

An experiment is data. Its identity (all that decides the outcome but the seed) has a hash that names
its folder: the same experiment again continues what is unfinished and skips what is done, a changed
one (a larger budget, too) is another run. It continues by replay: a fresh method is asked and told
through the recorded trials, which must come out the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from baselines.initial_design import initial_design
from baselines.protocol import Capabilities, Method, Problem, SearchExhausted, Trial, check_compatible
from benchmarks.common.errors import describe_error
from benchmarks.config.spec import Spec, jsonable
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import Evaluation, Objective, resumes
from benchmarks.records.command import Command
from benchmarks.records.curves import record_of
from benchmarks.records.provenance import provenance
from benchmarks.records.run_folder import TRIES, RunFolder, former_folder
from benchmarks.records.run_info import RunInfo, Start, Status, digest_of, now, shared_of
from benchmarks.records.source_code import digests
from benchmarks.records.trials import Row, TrialLog
from benchmarks.running.budget import Budget, BudgetedMethod, BudgetSpent
from benchmarks.running.cache import cached
from benchmarks.running.continuation import Continuation
from benchmarks.running.contract import CheckedMethod, measured, true_value
from benchmarks.running.source import Live, Source, Training
from btao.checks import check_integer
from btao.errors import is_of_code
from btao.training import Level
from btao.trial import fault

NO_COMMAND = Command()


class ExperimentFailed(RuntimeError):
    """An experiment ended with an error of its method or its task; `folder` holds the traceback."""

    def __init__(self, message: str, folder: Path) -> None:
        super().__init__(message, folder)
        self.folder = folder

    def __str__(self) -> str:
        return self.args[0]


class TaskBroken(RuntimeError):
    """The code of the task is wrong, as its first trials show: more of them would be paid for and fail alike."""


class ReplayMismatch(RuntimeError):
    """A recorded run cannot be continued: its method no longer asks for the recorded trials."""


@dataclass(frozen=True)
class Experiment:
    """One method, one task, one seed.

    Parameters
    ----------
    task, method : Spec
    seed : int
        At least 0.
    budget : Budget
    threads : int
        Threads that training and method may use: they can change the last digits of a result. The
        caller sets them; here they are part of the identity.
    data : DataSource, optional
        The data set that the task will use. Another one when the task is built is an error.
    source : Source
        Where measurements come from; its name is part of the identity, what is in it as the hash of the data.
    shared_init : bool
        Whether all model-based methods start from the same configurations for the same seed.
    cache : bool
        Whether trainings are answered from the cache below `out`, and kept there; no part of the identity.

    Raises
    ------
    ValueError
        If `seed` or `threads` is out of its range.
    """

    task: Spec
    method: Spec
    seed: int
    budget: Budget
    threads: int = 1
    data: DataSource | None = None
    source: Source = field(default_factory=Live)
    shared_init: bool = False
    cache: bool = False

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("threads", 1)):
            object.__setattr__(self, name, check_integer(name, getattr(self, name), least))

    @functools.cached_property
    def identity(self) -> dict[str, Any]:
        """All that decides the outcome but the seed, as JSON-able data."""
        identity = {
            "task": self.task.identity("task"),
            "method": self.method.identity("method"),
            "source": self.source.name,
            "budget": self.budget.identity,
            **{name: jsonable(getattr(self, name)) for name in ("threads", "data")},
        }
        return identity | {"shared_init": True} if self.shared_init else identity

    @functools.cached_property
    def hash(self) -> str:
        """Ten hexadecimal digits of the SHA-256 of the identity."""
        return digest_of(self.identity)

    @property
    def shared(self) -> dict[str, Any]:
        """See `RunInfo.shared`."""
        return shared_of(self.identity)

    @property
    def setting(self) -> str:
        """The digest of what methods that are compared have in common, see `RunInfo.setting`."""
        return digest_of(self.shared)

    @property
    def parts(self) -> dict[str, Spec]:
        """The method and the task."""
        return {"method": self.method, "task": self.task}

    @property
    def sources(self) -> dict[str, str]:
        """By part, the source of a class that cannot be imported."""
        return {name: spec.code.source for name, spec in self.parts.items() if spec.code is not None}

    def folder(self, out: str | Path) -> Path:
        """out/<task>/<method>-<hash>/seed-<n>; a run of before schema 2 stays in the folder that it has."""
        path = Path(out) / self.task.name / f"{self.method.name}-{self.hash}" / f"seed-{self.seed}"
        if path.exists():
            return path
        return former_folder(Path(out), self.task.name, self.method.name, self.hash, self.seed) or path

    def check(self) -> None:
        """Refuse what can be refused before any work: unknown classes and parameters.

        Raises
        ------
        ValueError
            Naming the class or the parameter.
        """
        self.task.check(self.source.given)
        self._capabilities()
        self.method.check({"problem", "seed"})

    def _capabilities(self) -> Capabilities:
        """What the class of the method declares; ValueError if it declares nothing."""
        declared = getattr(self.method.resolve(), "capabilities", None)
        if not isinstance(declared, Capabilities):
            raise ValueError(
                f"{self.method.name}: {self.method.target!r} must declare `capabilities`, as "
                f"`capabilities = Capabilities(levels='heavy')` of baselines.protocol, got {declared!r}"
            )
        return declared

    def objective(self) -> Objective:
        """The task, with its data found; ValueError if they are others than `data`."""
        objective = self.source.objective(self.task)
        if objective.data != self.data:
            raise ValueError(f"the data set is {objective.data}, but the experiment was set up with {self.data}")
        return objective

    def _heavy_runs(self, objective: Objective) -> int | None:
        """Heavy runs that the budget covers, where it tells: its iterations do of a method that makes no other runs.

        They are what it covers for sure: where heavy runs stop early there are more.
        """
        limits = [self.budget.heavy]
        if self.budget.iterations is not None and self._capabilities().levels == "heavy":
            limits.append(max(self.budget.iterations // objective.heavy.iterations, 1))
        return min((limit for limit in limits if limit is not None), default=None)

    def build(self, folder: Path | None = None) -> tuple[Objective, Method]:
        """The task and a fresh method for it, which may write files into `folder`.

        Raises
        ------
        IncompatibleMethod
            If the method cannot do the task.
        ValueError
            If the task uses another data set than `data`.
        """
        objective = self.objective()
        problem = Problem(
            objective.space,
            objective.heavy.iterations,
            objective.light.iterations,
            self._heavy_runs(objective),
            objective.delta_bounds,
            objective.rho_bounds,
            objective.levels,
            initial_design(objective.space, self.seed) if self.shared_init else None,
            folder,
            resumes(objective),
        )
        check_compatible(self.method.name, self._capabilities(), problem)
        method = self.method.build(problem=problem, seed=self.seed)
        if lacking := [name for name in ("ask", "tell") if not callable(getattr(method, name, None))]:
            raise ValueError(f"{self.method.name}: {self.method.target!r} has no {' and no '.join(lacking)}")
        return objective, method


def run_experiment(
    experiment: Experiment,
    out: str | Path,
    *,
    command: Command = NO_COMMAND,
    on_trial: Callable[[Row], None] | None = None,
    on_iteration: Callable[[Trial, int, float], None] | None = None,
) -> Status | None:
    """Run an experiment to its end, from where an earlier start left it.

    Parameters
    ----------
    experiment : Experiment
    out : path
        Where records go.
    command : Command, optional
        What it was started with, for the record.
    on_trial : callable, optional
        Called with every row, those that were there before included.
    on_iteration : callable, optional
        Called during a trial whose task has a training curve, with the trial, the number of iterations
        trained and the validation error.

    Returns
    -------
    Status or None
        FINISHED when the budget is spent, EXHAUSTED when the method had nothing left to propose, None
        when either was so before.

    Raises
    ------
    ExperimentFailed
        If building or running the method or the task failed, or `budget.MAX_FAILURES_IN_A_ROW`
        trials did. The traceback is in error.txt, the trials so far are kept. An error inside `evaluate`
        is a failed trial and no more, but for one of its code (`is_of_code`) before any heavy, or any light, trial
        has succeeded: that is not on record, and made again when the code is corrected.
    RunLocked
        If another process is working on this experiment.
    ValueError
        If a class or parameter is unknown.
    OSError
        If the folder cannot be made or the log not be opened.
    """
    experiment.check()
    folder = RunFolder(experiment.folder(out))
    if folder.is_done():
        _show(folder, on_trial)
        return None
    with folder.log() as log:
        if folder.is_done():  # by a process that held it until now
            _show(folder, on_trial)
            return None
        run = describe(experiment, command, log.n_rows)
        try:
            run = folder.begin(run)  # first: building takes its time, and the process may die of it
            folder.keep_sources(experiment.sources)
            objective, method = experiment.build(folder.library)
            with _code_of(objective, "prepare"):
                objective.prepare()
            run = folder.note_optimum(run, objective.optimum)
            training = experiment.source.training(objective, experiment.seed, folder.path)
            if experiment.cache and isinstance(training, Continuation) and training.trains:
                training = cached(training, Path(out), run)
            checked = CheckedMethod(method, objective.space, objective.heavy.iterations)
            budgeted = BudgetedMethod(checked, experiment.budget, training.cost)
            deadly = log.n_rows if folder.crashes(log.n_rows) >= TRIES else None
            trials = _Trials(objective, budgeted, checked.recommend, training, log, on_trial, on_iteration, deadly)
            status, why = trials.run()
        except (Exception, SystemExit) as error:
            folder.fail(run, describe_error(error), traceback.format_exc())
            raise ExperimentFailed(describe_error(error), folder.path) from error
        training.close()  # first, as nobody comes back to a finished run; its rows are all on record
        log.sync()  # "finished" must not outlive the trials it speaks of, not even a power cut
        folder.finish(run, status, why, log.n_rows)
    return status


def _show(folder: RunFolder, on_trial: Callable[[Row], None] | None) -> None:
    """Show the trials of a run that is done."""
    if on_trial is not None:
        for row in folder.rows():
            on_trial(row)


@dataclass
class _Trials:
    """The trials of one run: those on record are replayed, then new ones made, all but the `deadly` one."""

    objective: Objective
    method: BudgetedMethod
    recommend: Callable[[], int | None]
    training: Training
    log: TrialLog
    on_trial: Callable[[Row], None] | None
    on_iteration: Callable[[Trial, int, float], None] | None
    deadly: int | None = None
    succeeded: set[bool] = field(default_factory=set)  # whether heavy: the kinds of trials that did

    def run(self) -> tuple[Status, str | None]:
        """Go on to the end; FINISHED or EXHAUSTED, and why it is exhausted."""
        for row in self.log.rows:
            self._replay(row)
            self._note(row)
        while True:
            started = time.perf_counter()
            try:
                trial = self.method.ask()
            except BudgetSpent:
                return Status.FINISHED, None
            except SearchExhausted as ended:
                return Status.EXHAUSTED, str(ended) or "the method had nothing left to propose"
            asking = time.perf_counter() - started
            row = self._measure(trial)
            started = time.perf_counter()
            try:
                self.method.tell(trial, row)
                row = dataclasses.replace(row, recommended=self.recommend())
            finally:  # the training is paid for, so its row is kept even if the method fails on it
                telling = time.perf_counter() - started
                elapsed = self.method.spent.seconds + row.train_seconds + asking + telling
                row = dataclasses.replace(row, method_seconds=asking + telling, time=elapsed)
                self.log.append(row)
            self._note(row)
            self.training.settle(row)

    def _note(self, row: Row) -> None:
        self.method.spent.add(row)
        self.training.remember(row)
        self.succeeded |= {row.heavy} if row.status == "ok" else set()
        if self.on_trial is not None:
            self.on_trial(row)

    def _replay(self, row: Row) -> None:
        """Ask and tell the method through a recorded trial."""
        trial = self.method.ask()
        asked = [trial.number, trial.heavy, trial.budget, trial.config]
        recorded = [row.trial, row.heavy, row.budget, row.config]
        if asked != recorded:
            raise ReplayMismatch(
                f"cannot continue {self.log.path}: the method asks for {asked} (number, heavy, budget, configuration) "
                f"where {recorded} is on record. Code or libraries changed since; move the folder away to start again"
            )
        self.method.tell(trial, row)

    def _stop_unless_succeeded(self, trial: Trial, code_error: Exception) -> None:
        """TaskBroken for an error of the task's code, where no trial of this kind has shown that it can succeed."""
        if trial.heavy not in self.succeeded:
            kind, name = "heavy" if trial.heavy else "light", type(self.objective).__name__
            raise TaskBroken(
                f"evaluate of {name} failed with an error of its code before any {kind} trial succeeded: "
                f"{describe_error(code_error)}. Once it is corrected, the same command goes on"
            ) from code_error

    def _truth(self, trial: Trial) -> float | None:
        with _code_of(self.objective, "truth"):
            return true_value(self.objective, trial.config)

    def _measure(self, trial: Trial) -> Row:
        """Train as a trial says. The row lacks the method's seconds and the time."""
        level = _level(self.objective, trial)
        report = None if self.on_iteration is None else functools.partial(self.on_iteration, trial)
        start = self.training.done(trial)
        # The processor's clock is slow to read: not where a formula or a table answers.
        trains = self.training.trains
        started, processor = time.perf_counter(), time.process_time() if trains else None
        try:
            if trial.number == self.deadly:
                raise MemoryError(f"the process was killed {TRIES} times in this trial: out of memory?")
            evaluation = self.training.evaluate(trial, level, report)
        except Exception as raised:
            # What it consumed is unknown: it is charged all it was granted.
            code_error = raised if is_of_code(raised) else None
            cost = self.training.cost(trial)
            evaluation = Evaluation(math.nan, cost, describe_error(raised), code_error=code_error)
        elapsed = time.perf_counter() - started
        processor = None if processor is None else time.process_time() - processor
        evaluation = measured(self.objective, evaluation, trial.budget)
        if evaluation.code_error is not None:
            self._stop_unless_succeeded(trial, evaluation.code_error)
        seconds = elapsed - evaluation.testing.seconds
        if processor is not None:
            processor -= evaluation.testing.processor_seconds
        if seconds < 0:
            raise ValueError(f"the task reports {evaluation.testing.seconds} seconds of testing in {elapsed}")
        value, error = evaluation.value, evaluation.error
        error = fault(value) if error is None else error
        failed = error is not None
        return Row(
            trial=trial.number,
            heavy=trial.heavy,
            budget=trial.budget,
            config=trial.config,
            value=None if failed else value,
            status="failed" if failed else "ok",
            error=error,
            iterations=evaluation.iterations,
            train_seconds=seconds if evaluation.seconds is None else evaluation.seconds,
            method_seconds=0.0,
            time=0.0,
            truth=None if failed else self._truth(trial),
            curve=None if evaluation.curve is None else record_of(evaluation.curve, start),
            processor_seconds=processor if evaluation.processor_seconds is None else evaluation.processor_seconds,
            answer=evaluation.answer,
            test_error=None if failed else evaluation.test_error,
            cached=evaluation.cached or None,
        )


@contextlib.contextmanager
def _code_of(objective: Objective, method: str) -> Iterator[None]:
    """Name the method of a task whose code is wrong."""
    try:
        yield
    except Exception as error:
        if not is_of_code(error):
            raise
        name = type(objective).__name__
        raise TaskBroken(
            f"{method} of {name} failed with an error of its code: {describe_error(error)}. Once it is corrected, the "
            "same command goes on"
        ) from error


def _level(objective: Objective, trial: Trial) -> Level:
    """The level that a trial is trained at, its iterations those that the trial grants.

    Up to the light level's iterations it is the light level, cut. Above, between the levels too, it
    is the heavy level, cut: a configuration that the light level's patience has stopped goes on.
    """
    level = objective.heavy if trial.budget > objective.light.iterations else objective.light
    return dataclasses.replace(level, iterations=trial.budget)


def describe(
    experiment: Experiment, command: Command, n_trials: int, added: Mapping[str, str] | None = None
) -> RunInfo:
    """The description of a run that starts now with so many trials on record.

    `added` are the environment variables of the process that runs it, where that is another one.
    """
    start = Start(command, now(), None, n_trials, digests(experiment.parts), **provenance(added))
    table = None if experiment.source.table is None else str(experiment.source.table)
    names = experiment.task.name, experiment.method.name
    return RunInfo(*names, experiment.seed, experiment.hash, experiment.identity, table=table, starts=(start,))
