"""`minimize`: the loop around BTAO for those who need no loop of their own."""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from btao.checks import check_integer
from btao.optimizer import BTAO, OPTIONS
from btao.rules.rule import SpaceExhausted
from btao.space import Space
from btao.trial import LEVELS, Trial, measured

# What a run and the state that it continues must have in common.
BOUNDS = ("delta_bounds", "rho_bounds")
ARGUMENTS = ("space", *BOUNDS, *OPTIONS)


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
    **options: Any,
) -> OptimizationResult:
    """Minimize the heavy objective with the help of the light one.

    Parameters
    ----------
    objectives : {"light": callable, "heavy": callable}
        Each takes a configuration (dict) and returns the value to be minimized. nan, an infinity, a value of more
        than 1e100 in size, or an exception makes the trial a failed one; an exception is also warned of.
    space : Space
    n_heavy : int
        Heavy runs in all, those of the start and failed ones included. A finite space may be
        exhausted before, and a run ends that fails as often in a row as it should have light runs.
    seed : int
    state : path, optional
        File in which the state is kept after every trial. If it exists the run goes on from there: a
        crash costs the trial in flight and no more. It is of one run at a time: one that finds that another has
        written to it leaves it as it is, keeps its own state in a new file beside it and ends with an error.
    callback : callable, optional
        Called with every new trial when it is in the state, to show or log it; the run ends if it returns
        True.
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
    if heavy > n_heavy:
        warnings.warn(
            f"n_heavy={n_heavy} is less than the {heavy} heavy runs of the start, before which {light} light runs are "
            "made for nothing, and no proposal is; give a larger n_heavy or a smaller n_init",
            stacklevel=2,
        )
    path = None if state is None else Path(state)
    if path is not None and not path.parent.is_dir():
        raise ValueError(f"state must be a file in an existing folder, but {path.parent} is none")
    known = ended = None
    if path is not None and path.exists():
        optimizer, known = _restore(path, optimizer)

    patience = optimizer.light_per_heavy * max(n_heavy, optimizer.n_init)
    while sum(trial.level == "heavy" for trial in optimizer.trials) < n_heavy:
        latest = optimizer.trials[-patience:]
        if len(latest) == patience and all(trial.status == "failed" for trial in latest):
            break
        try:
            trial = optimizer.ask()
        except SpaceExhausted:
            break
        try:
            outcome: dict[str, Any] = {"value": objectives[trial.level](dict(trial.config))}
        except Exception as error:
            outcome = {"error": f"{type(error).__name__}: {error}"}
            where = f"{trial.level} trial {trial.number} at {trial.config}"
            warnings.warn(f"{where} failed: {outcome['error']}", stacklevel=2)
        try:
            optimizer.tell(trial, **outcome)
        except (TypeError, ValueError) as error:
            got = outcome.get("value")
            raise TypeError(
                f"objectives[{trial.level!r}] must return a real number, got {got!r} at {trial.config}"
            ) from error
        if path is not None:
            content = optimizer.to_json().encode()
            if path.exists() and path.read_bytes() != known:
                kept = _free(path)
                _write(kept, content)
                raise RuntimeError(
                    f"{path} was written by another run meanwhile, and is left as that run wrote it; what this one has "
                    f"is in {kept}: give every run a file of its own"
                )
            _write(path, content)
            known = content
        if callback is not None:
            answer = callback(optimizer.trials[-1])
            if isinstance(answer, bool | np.bool_) and answer:
                ended = "the callback ended the run before one did"
                break

    best = optimizer.best
    if best is None:
        errors = [trial.error for trial in optimizer.trials if trial.error is not None]
        if ended is None:
            ended = f"the last error of {len(errors)}: {errors[-1]}" if errors else "none was told"
        raise RuntimeError(f"no heavy trial succeeded; {ended}")
    return OptimizationResult(best.config, measured(best), optimizer.trials, optimizer)


def _restore(path: Path, fresh: BTAO) -> tuple[BTAO, bytes]:
    """The run that a file holds, if it has the arguments of `fresh`, and the content of the file."""
    content = path.read_bytes()
    try:
        restored = BTAO.from_json(content.decode(errors="replace"))
    except ValueError as error:
        raise ValueError(f"{path} cannot be continued, use another file: {error}") from error
    for name in ARGUMENTS:
        if getattr(restored, name) != getattr(fresh, name):
            raise ValueError(
                f"{path} holds a run with {name}={getattr(restored, name)!r}, but {name}={getattr(fresh, name)!r} is "
                "asked for: use another file, or the same arguments"
            )
    return restored, content


def _free(path: Path) -> Path:
    """A name beside the path that no file has: run-2.json for run.json."""
    return next(
        free for k in itertools.count(2) if not (free := path.with_name(f"{path.stem}-{k}{path.suffix}")).exists()
    )


def _write(path: Path, content: bytes) -> None:
    """Replace the file in one step, so that a crash leaves the old state or the new one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
