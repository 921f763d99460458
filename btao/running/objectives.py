"""The two functions that `minimize` calls: given as such, or as one function and the levels it trains to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from btao.running.light_results import takes_light
from btao.training import Level
from btao.trial import LEVELS

Objectives = Mapping[str, Callable[..., Any]]
Levels = Mapping[str, Level]

ELSEWHERE = (
    "btao has two levels: for more, Hyperband, BOHB or DEHB are made, for one, a Gaussian process of one level as "
    "scikit-optimize's or Optuna's"
)


def check_levels(levels: Any, direction: str = "minimize") -> Levels | None:
    """The two levels; None where none are given.

    Parameters
    ----------
    levels : {"light": Level, "heavy": Level} or None
        A level may also be given as the tuple of its arguments.
    direction : {"minimize", "maximize"}
        Of the values of the run. Where they are maximized, levels must say what their curves are: of accuracies, or
        still of errors.

    Raises
    ------
    TypeError, ValueError
        If they are something else, say nothing of their direction where they must, or not the same, or the heavy one
        does not train longer.
    """
    if levels is None:
        return None
    if not isinstance(levels, Mapping) or set(levels) != set(LEVELS):
        raise ValueError(f'levels must be {{"light": Level, "heavy": Level}}, got {levels!r}; {ELSEWHERE}')
    given: dict[str, Level] = {name: _level(name, levels[name]) for name in LEVELS}
    unsaid = [name for name, level in given.items() if level.direction is None]
    if unsaid and direction == "maximize":
        raise ValueError(
            f"levels[{unsaid[0]!r}] must say what its curves are where direction='maximize': "
            'Level(..., direction="maximize") of accuracies, direction="minimize" of errors'
        )
    light, heavy = (given[name].definite for name in LEVELS)
    if light.direction != heavy.direction:
        raise ValueError(f"levels must have one direction, got {light.direction!r} and {heavy.direction!r}")
    if not _trains_longer(heavy, light):
        raise ValueError(
            "levels['heavy'] must have more iterations than levels['light'] or, of as many, more patience or less "
            f"tolerance and nothing that ends it earlier, got {heavy} and {light}"
        )
    return given


def check_objectives(objectives: Any, levels: Levels | None) -> Objectives:
    """A function for each level.

    Parameters
    ----------
    objectives : {"light": callable, "heavy": callable}, or with `levels` one callable
    levels : {"light": Level, "heavy": Level}, optional

    Raises
    ------
    TypeError, ValueError
        If they are something else.
    """
    if levels is None:
        if not isinstance(objectives, Mapping) or set(objectives) != set(LEVELS):
            raise ValueError(
                'objectives must be {"light": function, "heavy": function}, or one function and levels= be given, '
                f"got {objectives!r}; {ELSEWHERE}"
            )
        for level, objective in objectives.items():
            if not callable(objective):
                raise TypeError(f"objectives[{level!r}] must be callable, got {objective!r}")
        return objectives
    if not callable(objectives):
        raise TypeError(f"objectives must be one function where levels are given, got {objectives!r}")
    return {name: partial(objectives, level=level) for name, level in levels.items()}


def run_costs(objectives: Objectives, levels: Levels | None, continues: bool | None = None) -> dict[str, Any]:
    """The arguments of `BTAO` that say what runs cost, as far as the objectives tell.

    `continues` is what is known of it; None: a heavy run continues a light one if it is given what that returned.
    """
    continues = takes_light(objectives["heavy"]) if continues is None else continues
    costs: dict[str, Any] = {"continues": continues}
    if levels is not None and levels["heavy"].iterations > levels["light"].iterations:
        light, heavy = levels["light"].iterations, levels["heavy"].iterations
        costs["heavy_cost"] = (heavy - light if continues else heavy) / light
    return costs


def _trains_longer(heavy: Level, light: Level) -> bool:
    if heavy.iterations != light.iterations:
        return heavy.iterations > light.iterations
    if light.patience is None or heavy == light:
        return False
    return light.is_as_impatient_as(heavy)


def _level(name: str, level: Any) -> Level:
    if isinstance(level, Level):
        return level
    if not isinstance(level, tuple) or not 1 <= len(level) <= 4:
        raise TypeError(
            f"levels[{name!r}] must be a Level or (iterations, patience, tolerance, direction), got {level!r}"
        )
    try:
        return Level(*level)
    except ValueError as error:
        raise ValueError(f"levels[{name!r}]: {error}") from None
