"""A call of `benchmarks.study.run`: checked as a command is, carried out, and what there is then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.analysis.aggregate import reasons_without_result
from benchmarks.config import registry
from benchmarks.config.request import read
from benchmarks.records.command import Command
from benchmarks.running.plan import Plan, plan
from benchmarks.studies.execution import command_of, ended_early, run_plan, trials, without_trial
from benchmarks.studies.keywords import keywords
from benchmarks.studies.rerun import set_aside
from benchmarks.studies.study_sum import MissingRun, Run, Settings

# The statistics are imported when used: a mistake in the arguments shows at once.
if TYPE_CHECKING:
    from pandas import DataFrame

    from benchmarks.running.experiment import Experiment
    from benchmarks.running.progress import Failure


class Done(NamedTuple):
    """What a call comes to, as `benchmarks.studies.study.Study` takes it."""

    trials: DataFrame
    titles: tuple[str, ...]
    methods: tuple[str, ...]
    planned: dict[tuple[str, str], int]
    missing: tuple[str, ...]
    settings: Settings


def checked(task: Any, methods: Any, **options: Any) -> tuple[Plan, Command]:
    """The plan of a call and the command for its record; UsageError for a mistake in it."""
    asked = keywords(task, methods, **options)
    with registry.adding(asked.additions):
        (request,) = read(asked.words)
        planned = plan(request)
    return planned, asked.command(planned.job, command_of(asked.words, [planned]).arguments)


def carry_out(plan: Plan, command: Command) -> Done:
    """Run what is not done yet, and read what is done.

    Raises
    ------
    UsageError
        If the cluster that it asks for cannot be used, or a process works on a run that is to be made anew.
    KeyboardInterrupt
        After the workers were ended; what they recorded stays.
    CorruptRecord
        If a record is damaged.
    """
    (plan,) = set_aside([plan])
    failures = run_plan(plan, command)
    failed = [failure.experiment for failure in failures]
    ended = [experiment for experiment in plan.experiments if experiment not in failed]
    frame = trials(ended, plan.request.out)
    task = plan.request.task["name"]
    names = [experiment.method.name for experiment in plan.experiments]
    early = [f"ended with budget left: {line}" for line in ended_early(plan.experiments, plan.request.out)]
    return Done(
        frame,
        (plan.title, *early),
        tuple(dict.fromkeys(names)),
        {(task, name): seeds for name, seeds in Counter(names).items()},
        (*_missing(plan, failures), *_without_result(ended, frame)),
        {f"{experiment.method.name}-{experiment.hash}": experiment.shared for experiment in plan.experiments},
    )


def _missing(plan: Plan, failures: Sequence[Failure]) -> list[str]:
    """A line for each method that was left out, and each run that failed."""
    lines: list[str] = [f"skipped: {reason}" for reason in plan.skipped]
    for failure in failures:
        experiment = failure.experiment
        where = "" if failure.error_file is None else f" ({failure.error_file})"
        lines.append(MissingRun.of(_run(experiment), f"{failure.reason}{where}"))
    return lines


def _without_result(ended: Sequence[Experiment], frame: DataFrame) -> list[MissingRun]:
    """A line for each run that came to its end without a heavy result."""
    reasons = {} if frame.empty else reasons_without_result(frame)
    reasons |= {_run(experiment): "no trial" for experiment in without_trial(ended, frame)}
    return [MissingRun.of(run, why) for run, why in reasons.items()]


def _run(experiment: Experiment) -> Run:
    return experiment.task.name, experiment.method.name, experiment.hash, experiment.seed
