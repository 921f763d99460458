"""Studies from Python, as in a notebook: `from benchmarks import study`, then `study.run(task="fcn", methods="btao")`.

It does what the command `python -m benchmarks.run` does, with the same records: a run that is done is not made again,
and one that was interrupted goes on. Mistakes are exceptions of one line, `benchmarks.common.errors.UsageError`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.errors import UsageError
from benchmarks.config.registry import out_folder
from benchmarks.studies import reference as references
from benchmarks.studies.functions import method, task
from benchmarks.studies.recorded_study import of_folder, of_trials
from benchmarks.studies.study import Study

# What runs experiments is imported when used: `load` and `reference` do without.

__all__ = ["Study", "load", "method", "reference", "run", "task"]


def run(
    task: Any,
    methods: Any = None,
    *,
    seeds: int | Sequence[int] | None = None,
    budget: Mapping[str, float] | None = None,
    source: str | None = None,
    table: str | Path | None = None,
    scale: str | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    task_parameters: Mapping[str, Any] | None = None,
    shared_init: bool | None = None,
    data: str | None = None,
    data_dir: str | Path | None = None,
    engine: str | None = None,
    address: str | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    out: str | Path | None = None,
    conf: str | Path | None = None,
    display: str | None = None,
    cache: bool | None = None,
    rerun: str | None = None,
) -> Study:
    """Run methods on a task; what is done already is not run again.

    Parameters
    ----------
    task : str or class
        A name, as "fcn"; or a class as `benchmarks.objectives.protocol.Objective` has it, among them those that
        `study.task` makes of functions.
    methods : str, class, function or list of these, optional
        Names; classes as `baselines.protocol.Method` has them; functions as `study.method` takes them. Without any
        they are those of the command.
    parameters : mapping, optional
        By name of the method, its parameters, as {"btao_joint": {"light_per_heavy": 4}}.
    task_parameters : mapping, optional
        Parameters of the task.
    budget : mapping, optional
        Limits named heavy, iterations, seconds and train_seconds, as {"train_seconds": 600}.
    seeds, source, table, scale, shared_init, data, data_dir, engine, address, jobs, threads, out, conf, display
        The options of the command, as `python -m benchmarks.run --help` explains them; address is engine.address.
    cache, rerun
        Likewise.

    Returns
    -------
    Study
        Of the runs that are done. Those that failed are among its `missing`, and are made when it is called again.

    Raises
    ------
    UsageError
        A mistake in the arguments, before any work.
    KeyboardInterrupt
        By Ctrl-C or the stop button. All recorded trials are kept, and the same call goes on.

    Notes
    -----
    A class that no file holds, as one of a notebook's cell, goes to the workers as it is. Its source is kept with the
    run and is part of the identity: a changed cell is another run.
    """
    from benchmarks.studies.interactive import carry_out, checked

    asked = checked(
        task,
        methods,
        budget=budget,
        parameters=parameters,
        task_parameters=task_parameters,
        seeds=seeds,
        source=source,
        table=table,
        scale=scale,
        shared_init=shared_init,
        data=data,
        data_dir=data_dir,
        engine=engine,
        address=address,
        jobs=jobs,
        threads=threads,
        out=out,
        conf=conf,
        display=display,
        cache=cache,
        rerun=rerun,
    )
    try:
        done = carry_out(*asked)
    except KeyboardInterrupt:
        print("stopped; all recorded trials are kept, and the same call goes on", file=sys.stderr)
        raise
    return Study(*done)


def load(out: str | Path | None = None) -> Study:
    """The study of all runs recorded below a folder, that of the records by default; it warns of several settings.

    Raises
    ------
    UsageError
        If there is no such folder, or no record in it.
    CorruptRecord, ValueError
        If a record is damaged, or two folders record the same run.
    """
    folder = out_folder([] if out is None else [f"out={out}"])
    if not folder.is_dir():
        raise UsageError(f"out={folder}: there is no such folder; give the one that the runs were recorded in")
    return of_folder(folder)


def reference(name: str) -> Study:
    """The study of a reference result of trials: all that `python -m benchmarks.reference --help` names but profile.

    Raises
    ------
    UsageError
        If there is no such result of trials.
    FileNotFoundError
        If it was not committed.
    """
    if name not in references.COMMANDS:
        raise UsageError(f"no reference study {name!r}: choose one of {', '.join(references.COMMANDS)}")
    return of_trials(references.load(name), f"reference results: {name}", references.settings(name))
