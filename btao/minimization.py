"""`minimize`: the loop around BTAO for those who need no loop of their own."""

from __future__ import annotations

import math
import os
import pickle
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from btao.checks import check_integer, is_number
from btao.interface.arguments import rule_of, supplied
from btao.optimizer import BTAO
from btao.running.objectives import check_levels, check_objectives, run_costs
from btao.running.run import Run
from btao.running.state_file import StateFile
from btao.running.workers import Workers
from btao.space import Space
from btao.training import Level
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

    def __repr__(self) -> str:
        counts = [f"{sum(trial.level == level for trial in self.trials)} {level}" for level in LEVELS]
        failed = sum(trial.status == "failed" for trial in self.trials)
        told = f"{' and '.join(counts)} trials" + (f", {failed} failed" if failed else "")
        return f"OptimizationResult(value={self.value:.6g}, config={self.config}; {told})"


def minimize(
    objectives: Mapping[str, Callable[..., Any]] | Callable[..., Any],
    space: Space,
    n_heavy: int,
    seed: int = 0,
    *,
    levels: Mapping[str, Level | tuple[Any, ...]] | None = None,
    state: str | os.PathLike[str] | None = None,
    callback: Callable[[Trial], Any] | None = None,
    warm_start: Any = None,
    enqueue: Sequence[Mapping[str, Any]] = (),
    retry_failed: bool = False,
    n_jobs: int = 1,
    executor: Any = None,
    timeout: float | None = None,
    target: float | None = None,
    progress: bool = False,
    **options: Any,
) -> OptimizationResult:
    """Minimize the heavy objective with the help of the light one.

    Parameters
    ----------
    objectives : {"light": callable, "heavy": callable}, or with `levels` one callable
        Each takes a configuration (dict) and returns the value to be minimized, or maximized with
        `direction="maximize"`; or a `Measurement` of it, which also says what the run cost, as in seconds, where runs
        of a level do not all take as long. nan, an infinity, or a value of more than 1e100 in size makes the trial a
        failed one; return nan where a run diverged, for beside a huge value no others differ. So does an exception,
        which is also warned of; but one in the first trial of a level, or one of the code (a NameError, a TypeError,
        ...) before any trial of the level has succeeded, those of `warm_start` not counted, ends the run, and the trial
        is not kept. If the heavy one has a parameter named `light`, the light one may return a pair, its value (or
        `Measurement`) and anything else, such as a model: the heavy run of the same configuration is given that by
        name, to go on from, or None where there is none, as after a restart. It is kept until then, and no longer than
        the run.
    space : Space
    n_heavy : int
        Heavy runs in all, those of the start and failed ones included, those of `warm_start` not. A finite space may be
        exhausted before, and a run ends that fails as often in a row as it should have light runs.
    seed : int
    levels : {"light": Level, "heavy": Level}, optional
        The one objective is then called with the level as `level`, and stops its training there; btao/TRAINING.md has
        examples with Keras and PyTorch. A level may be given as a tuple: (10,), or (50, 5, 0.001). With
        `direction="maximize"` levels must say their own, too: "maximize" of accuracies, "minimize" of errors.
    state : path, optional
        File in which the state is kept after every trial. If it exists the run goes on from there: a crash costs the
        trials in flight, which are made again. It is of one run at a time: one that finds that another has written to
        it leaves it as it is, keeps its own state in a new file beside it and ends with an error.
    callback : callable, optional
        Called with every new trial when it is in the state, to show or log it, those that end after an error or Ctrl-C
        included; the run ends if it returns True.
    warm_start : DataFrame, or list of dict or Trial, optional
        Results made elsewhere, as `BTAO.add_trials` takes them. Of heavy results without a light one the best are run
        lightly first, at most as many as the start has.
    enqueue : sequence of dict
        Configurations to try first, at both levels.
    retry_failed : bool
        Whether failed trials that `state` holds are run again first, each in its place, before new ones are asked for.
    n_jobs : int
        Trials under way at a time. With several, what is proposed depends on the order in which they end. An objective
        that waits or computes outside of Python, as network libraries do, gains by threads. Where all cores are busy
        let linear algebra have one thread, as by OMP_NUM_THREADS=1 before Python starts: proposals may else take many
        times as long.
    executor : {"threads", "processes"}, concurrent.futures.Executor or Dask client, optional
        Where trials run; None: in this thread or, with `n_jobs` above 1, in as many threads. Processes are new
        interpreters, and need objectives that they can import.
    timeout : float, optional
        Seconds after which no trial begins; those under way end, and those that wait in an executor, but of Dask's, are
        taken back. It changes no proposal.
    target : float, optional
        The run ends when a heavy value is as good.
    progress : bool
        Whether each trial has a line in stderr.
    **options
        More arguments of `BTAO`. Its "rate" rule takes a heavy run to continue the light one, where nothing else is
        given, if the heavy objective has a parameter named `light`, and runs to cost the iterations of `levels`, but
        those that return a cost.

    Returns
    -------
    OptimizationResult
        After Ctrl-C, too, with a warning, once a heavy trial has succeeded: the best that there is.

    Warns
    -----
    UserWarning
        If the start alone has more heavy runs than `n_heavy`: its light runs are then made for nothing. If so many
        trials fail one after another that the run is given up. Of each trial that an exception makes a failed one, of
        the first wrong cost of a level, which its trial is kept without, and of a Ctrl-C that ended the run. Once each
        of an option that results contradict, such as `ordered=True`, and of values of which one is so large that the
        model cannot tell the others apart.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong, or the file `state` belongs to a run with other arguments; a `design` or `levels` that
        are given are among these, what is new in each call, such as `n_heavy` and `n_jobs`, is not.
    ConstraintFailure
        If the constraint of the space raises.
    KeyboardInterrupt
        After Ctrl-C before a heavy trial has succeeded.
    RuntimeError
        If no heavy trial succeeded; names the last error. If another run writes to the file `state`.
    Exception
        What an objective raises that shows that it is wrong, see `objectives`, with a note of what is kept.
    BrokenProcessPool
        If a process dies, with a note of the trials under way, which `state` keeps as failed ones.

    Examples
    --------
    >>> from btao import Real, Space, minimize
    >>> objectives = {
    ...     "light": lambda config: (config["x"] - 0.4) ** 2 + 0.1,
    ...     "heavy": lambda config: (config["x"] - 0.5) ** 2,
    ... }
    >>> result = minimize(objectives, Space({"x": Real(0, 1)}), n_heavy=6, seed=0)
    >>> abs(result.config["x"] - 0.5) < 0.05 and result.value == result.optimizer.best.value
    True
    """
    trained_to = check_levels(levels, options.get("direction", "minimize"))
    functions = check_objectives(objectives, trained_to)
    n_heavy = check_integer("n_heavy", n_heavy)
    if not (callback is None or callable(callback)):
        raise TypeError(f"callback must be callable or None, got {callback!r}")
    if isinstance(enqueue, Mapping | str) or not isinstance(enqueue, Iterable):
        raise TypeError(f"enqueue must be a list of configurations, got {enqueue!r}")
    n_jobs = check_integer("n_jobs", n_jobs)
    if executor == "processes":
        _check_importable(functions)
    _check_number("timeout", timeout, 0)
    _check_number("target", target, -math.inf)
    rule = rule_of(options.get("rule"), options.get("candidates"))
    derived = supplied(rule, options, run_costs(functions, trained_to, options.get("continues")))
    optimizer = BTAO(space, seed=seed, **options | derived)
    light, heavy = optimizer.start_size
    if heavy > n_heavy and warm_start is None:
        warnings.warn(
            f"n_heavy={n_heavy} is less than the {heavy} heavy runs of the start, before which {light} light runs are "
            "made for nothing, and no proposal is; give a larger n_heavy or a smaller start (n_init, n_init_heavy)",
            stacklevel=2,
        )
    file = None if state is None else StateFile.checked(state, trained_to)
    if not isinstance(retry_failed, bool):
        raise TypeError(f"retry_failed must be True or False, got {retry_failed!r}")
    if retry_failed and file is None:
        raise ValueError("retry_failed=True runs the failed trials of a state again: give state=, the file that has it")
    if file is not None and file.path.exists():
        optimizer = file.restore(optimizer, options.get("design"), derived)
    if warm_start is not None:
        optimizer.add_trials(warm_start)
    for config in enqueue:
        optimizer.enqueue(config)
    run = Run(functions, optimizer, file, callback, n_heavy, retry_failed, timeout, target, progress)
    if n_jobs == 1 and executor is None:
        run.one_by_one()
    else:
        run.in_parallel(Workers("threads" if executor is None else executor, n_jobs), n_jobs)

    best = optimizer.best
    if best is None:
        errors = [trial.error for trial in optimizer.trials if trial.error is not None]
        if run.ended:
            why = f"{run.ended} ended the run before one did"
        else:
            why = (
                f"the last error of {len(errors)}: {errors[-1] or 'no reason was given'}" if errors else "none was told"
            )
        if run.failed_last:
            why = f"the run is given up as its last {run.failed_last} trials failed; {why}"
        if file is not None and errors:
            why += f". {file.path} keeps these failures: the same call with retry_failed=True runs them again"
        raise RuntimeError(f"no heavy trial succeeded; {why}")
    if run.failed_last:
        made = sum(trial.level == "heavy" and not trial.given for trial in optimizer.trials)
        warnings.warn(
            f"the last {run.failed_last} trials failed: the run is given up after {made} of {n_heavy} heavy runs; "
            "leave out of the space, or by its constraint, what cannot be trained, or run them again from a state "
            "with retry_failed=True",
            stacklevel=2,
        )
    return OptimizationResult(best.config, measured(best), optimizer.trials, optimizer)


def _check_importable(objectives: Mapping[str, Callable[..., Any]]) -> None:
    """Refuse objectives that no other process can be given."""
    try:
        pickle.dumps(objectives)
    except Exception as error:
        raise TypeError(
            f'objectives must be importable by other processes, as executor="processes" has it: define them by name at '
            f"the top of a module ({type(error).__name__}: {error})"
        ) from error


def _check_number(name: str, value: object, least: float) -> None:
    """Refuse what is neither None nor a finite number of at least `least`."""
    if value is not None and not (is_number(value) and least <= value < math.inf):
        at_least = f" of at least {least:g}" if math.isfinite(least) else ""
        raise ValueError(f"{name} must be None or a finite number{at_least}, got {value!r}")
