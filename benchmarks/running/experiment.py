"""One experiment: one method on one task with one seed, recorded trial by trial.

An experiment is data. Its identity (all that decides the outcome but the seed) has a hash that names
its folder: the same experiment again continues what is unfinished and skips what is done, a changed
one (a larger budget, too) is another run. It continues by replay: a fresh method is asked and told
through the recorded trials, which must come out the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import hashlib
import json
import math
import operator
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from baselines.initial_design import initial_design
from baselines.protocol import Capabilities, Method, Problem, SearchExhausted, Trial, check_compatible
from benchmarks.common.errors import describe_error
from benchmarks.config.spec import Spec
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import Evaluation, Objective
from benchmarks.records import crash_count as killed
from benchmarks.records.provenance import NONE_ADDED, provenance
from benchmarks.records.run_folder import ERROR, is_done, read_run, write_run
from benchmarks.records.source_code import digests
from benchmarks.records.trials import Row, TrialLog, rows_of
from benchmarks.running.budget import Budget, BudgetedMethod, BudgetSpent
from benchmarks.running.continuation import Continuation, record_of
from benchmarks.tables.replay import Replay, ReplayedTraining
from btao.checks import check_integer
from btao.training import Level

LIBRARY = "library"  # the folder inside that of a run where a wrapped library may write

# What describes one start of a run, as opposed to the run.
START = ("status", "command", "started", "finished", "first_trial", "code", "versions", "git", "machine")


class ExperimentFailed(RuntimeError):
    """An experiment ended with an error of its method or its task; `folder` holds the traceback."""

    def __init__(self, message: str, folder: Path) -> None:
        super().__init__(message, folder)
        self.folder = folder

    def __str__(self) -> str:
        return self.args[0]


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
    data_arguments : mapping
        Keyword arguments that tell the task where to find its data; no part of the identity, as
        the hash of the data is.
    shared_init : bool
        Whether all model-based methods start from the same configurations for the same seed.

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
    data_arguments: Mapping[str, Any] = field(default_factory=dict)
    shared_init: bool = False

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("threads", 1)):
            object.__setattr__(self, name, check_integer(name, getattr(self, name), least))

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides the outcome but the seed, as JSON-able data."""
        names = ("task", "method", "budget", "threads", "data") + ("shared_init",) * self.shared_init
        return {name: _jsonable(getattr(self, name)) for name in names}

    @property
    def hash(self) -> str:
        """Ten hexadecimal digits of the SHA-256 of the identity."""
        text = json.dumps(self.identity, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    def folder(self, out: str | Path) -> Path:
        """out/<task>/<method>-<hash>/seed-<n>."""
        return Path(out) / self.task.name / f"{self.method.name}-{self.hash}" / f"seed-{self.seed}"

    def check(self) -> None:
        """Refuse what can be refused before any work: unknown classes and parameters.

        Raises
        ------
        ValueError
            Naming the class or the parameter.
        """
        self.task.check(set(self.data_arguments))
        self.method.check({"problem", "seed"})
        if not isinstance(getattr(self.method.resolve(), "capabilities", None), Capabilities):
            raise ValueError(
                f"{self.method.name}: {self.method.target!r} must declare `capabilities` as baselines.protocol says"
            )

    def objective(self) -> Objective:
        """The task, with its data found; ValueError if they are others than `data`."""
        objective = self.task.build(**self.data_arguments)
        if objective.data != self.data:
            raise ValueError(f"the data set is {objective.data}, but the experiment was set up with {self.data}")
        return objective

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
            self.budget.heavy,
            tuple(objective.delta_bounds),
            tuple(objective.rho_bounds),
            objective.levels,
            initial_design(objective.space, self.seed) if self.shared_init else None,
            folder,
        )
        check_compatible(self.method.name, self.method.resolve().capabilities, problem)
        return objective, self.method.build(problem=problem, seed=self.seed)


def _jsonable(value: Any) -> Any:
    """`value` as strict JSON can hold it; infinities, as in open bounds, become "inf" and "-inf"."""
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(name): _jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def run_experiment(
    experiment: Experiment,
    out: str | Path,
    *,
    command: str,
    on_trial: Callable[[Row], None] | None = None,
    on_iteration: Callable[[Trial, int, float], None] | None = None,
) -> str:
    """Run an experiment to its end, from where an earlier start left it.

    Parameters
    ----------
    experiment : Experiment
    out : path
        Where records go.
    command : str
        The command line, for the record.
    on_trial : callable, optional
        Called with every row, those that were there before included.
    on_iteration : callable, optional
        Called during a trial whose task has a training curve, with the trial, the number of iterations
        trained and the validation error.

    Returns
    -------
    str
        "finished" when the budget is spent, "exhausted" when the method had nothing left to
        propose, "skipped" when either was so before.

    Raises
    ------
    ExperimentFailed
        If building or running the method or the task failed, or `budget.MAX_FAILURES_IN_A_ROW`
        trials did. The traceback is in error.txt, the trials so far are kept. An error inside `evaluate`
        is a failed trial and no more.
    RunLocked
        If another process is working on this experiment.
    ValueError
        If a class or parameter is unknown.
    OSError
        If the folder cannot be made or the log not be opened.
    """
    experiment.check()
    folder = experiment.folder(out)
    if is_done(folder):
        return _skip(folder, on_trial)
    with TrialLog(folder) as log:
        if is_done(folder):  # by a process that held it until now
            return _skip(folder, on_trial)
        run = describe(experiment, command, log, earlier=read_run(folder)) | {"code": digests(experiment)}
        try:
            write_run(folder, run)  # first: building takes its time, and the process may die of it
            objective, method = experiment.build(folder / LIBRARY)
            objective.prepare()
            run["optimum"] = objective.optimum
            write_run(folder, run)
            training = training_of(objective, experiment.seed, folder)
            budgeted = BudgetedMethod(method, experiment.budget, training.cost)
            deadly = log.n_rows if killed.count(folder, log.n_rows) >= killed.TRIES else None
            trials = _Trials(objective, budgeted, training, log, on_trial, on_iteration, deadly)
            run["status"], why = trials.run()
            run |= {"exhausted": why} if why else {}
        except (Exception, SystemExit) as error:
            with contextlib.suppress(OSError):  # on a full disk the error itself is still raised
                (folder / ERROR).write_text(traceback.format_exc())
                write_run(folder, run | {"status": "failed", "finished": _now()})
            raise ExperimentFailed(describe_error(error), folder) from error
        training.close()  # first, as nobody comes back to a finished run; its rows are all on record
        log.sync()  # "finished" must not outlive the trials it speaks of, not even a power cut
        write_run(folder, run | {"finished": _now(), "n_trials": log.n_rows})
        for name in (ERROR, killed.FILE):
            (folder / name).unlink(missing_ok=True)
    return run["status"]


def _skip(folder: Path, on_trial: Callable[[Row], None] | None) -> str:
    """Show the trials of a run that is done."""
    for row in rows_of(folder) if on_trial is not None else ():
        on_trial(row)
    return "skipped"


@dataclass
class _Trials:
    """The trials of one run: those on record are replayed, then new ones made, all but the `deadly` one."""

    objective: Objective
    method: BudgetedMethod
    training: Continuation | ReplayedTraining
    log: TrialLog
    on_trial: Callable[[Row], None] | None
    on_iteration: Callable[[Trial, int, float], None] | None
    deadly: int | None = None

    def run(self) -> tuple[str, str | None]:
        """Go on to the end; "finished" or "exhausted", and why it is exhausted."""
        for row in self.log.rows:
            self._replay(row)
            self._note(row)
        while True:
            started = time.perf_counter()
            try:
                trial = self.method.ask()
            except BudgetSpent:
                return "finished", None
            except SearchExhausted as ended:
                return "exhausted", str(ended) or "the method had nothing left to propose"
            asking = time.perf_counter() - started
            row = self._measure(trial)
            started = time.perf_counter()
            try:
                self.method.tell(trial, row)
                row = dataclasses.replace(row, recommended=self.method.recommend())
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
        if self.on_trial is not None:
            self.on_trial(row)

    def _replay(self, row: Row) -> None:
        """Ask and tell the method through a recorded trial."""
        trial = self.method.ask()
        asked = json.loads(json.dumps([trial.number, trial.heavy, trial.budget, trial.config]))
        recorded = [row.trial, row.heavy, row.budget, row.config]
        if asked != recorded:
            raise ReplayMismatch(
                f"cannot continue {self.log.path}: the method asks for {asked} (number, heavy, budget, configuration) "
                f"where {recorded} is on record. Code or libraries changed since; move the folder away to start again"
            )
        self.method.tell(trial, row)

    def _measure(self, trial: Trial) -> Row:
        """Train as a trial says. The row lacks the method's seconds and the time."""
        level = _level(self.objective, trial)
        report = None if self.on_iteration is None else functools.partial(self.on_iteration, trial)
        start = self.training.done(trial.config)
        # The processor's clock is slow to read: not where a formula or a table answers.
        trains = self.training.trains
        started, processor = time.perf_counter(), time.process_time() if trains else None
        try:
            if trial.number == self.deadly:
                raise MemoryError(f"the process was killed {killed.TRIES} times in this trial: out of memory?")
            evaluation = self.training.evaluate(trial, level, report)
            value, error = float(evaluation.value), evaluation.error
        except Exception as raised:
            # What it consumed is unknown: it is charged all it was granted.
            evaluation = Evaluation(math.nan, self.training.cost(trial))
            value, error = math.nan, describe_error(raised)
        seconds = time.perf_counter() - started
        processor = time.process_time() - processor if trains else None
        iterations = operator.index(evaluation.iterations)
        if not 0 <= iterations <= trial.budget:
            raise ValueError(f"the task reports {iterations} iterations for a trial that was granted {trial.budget}")
        if error is None and not math.isfinite(value):
            error = f"the value is {value}"
        failed = error is not None
        return Row(
            trial=trial.number,
            heavy=trial.heavy,
            budget=trial.budget,
            config=trial.config,
            value=None if failed else value,
            status="failed" if failed else "ok",
            error=error,
            iterations=iterations,
            train_seconds=seconds if evaluation.seconds is None else evaluation.seconds,
            method_seconds=0.0,
            time=0.0,
            truth=None if failed else self.objective.truth(trial.config),
            curve=None if evaluation.curve is None else record_of(evaluation.curve, start),
            processor_seconds=processor,
            answer=evaluation.answer,
        )


def training_of(objective: Objective, seed: int, folder: Path) -> Continuation | ReplayedTraining:
    """What evaluates the trials of one run."""
    return ReplayedTraining(objective) if isinstance(objective, Replay) else Continuation(objective, seed, folder)


def _level(objective: Objective, trial: Trial) -> Level:
    """The level that a trial is trained at, its iterations those that the trial grants.

    Up to the light level's iterations it is the light level, cut. Above, between the levels too, it
    is the heavy level, cut: a configuration that the light level's patience has stopped goes on.
    """
    if trial.heavy and trial.budget != objective.heavy.iterations:
        raise ValueError(f"the method grants a heavy trial {trial.budget} iterations of {objective.heavy.iterations}")
    level = objective.heavy if trial.budget > objective.light.iterations else objective.light
    return dataclasses.replace(level, iterations=trial.budget)


def describe(
    experiment: Experiment,
    command: str,
    log: TrialLog,
    earlier: dict[str, Any] | None,
    added: Mapping[str, str] = NONE_ADDED,
) -> dict[str, Any]:
    """The contents of run.json at the start; earlier starts of the same run are kept in a list.

    `added` are the environment variables of the process that runs it, where that is another one.
    """
    identity = experiment.identity
    starts = [] if earlier is None else [*earlier.get("earlier", []), {name: earlier.get(name) for name in START}]
    return {
        "task": experiment.task.name,
        "method": experiment.method.name,
        "seed": experiment.seed,
        "hash": experiment.hash,
        "status": "running",
        "optimum": None if earlier is None else earlier.get("optimum"),
        "data": identity["data"],
        "threads": experiment.threads,
        "configuration": identity,
        "data_arguments": _jsonable(experiment.data_arguments),
        "command": command,
        "started": _now(),
        "finished": None,
        "n_trials": None,
        "first_trial": len(log.rows),
        **provenance(added),
        "earlier": starts,
    }


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
