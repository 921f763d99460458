"""The two functions that `minimize` calls: given as such, or as one function and the levels it trains to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
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
        That of the run, which the levels take on.

    Raises
    ------
    TypeError, ValueError
        If they are something else, the heavy one does not train longer, or one is of the other direction.
    """
    if levels is None:
        return None
    if not isinstance(levels, Mapping) or set(levels) != set(LEVELS):
        raise ValueError(f'levels must be {{"light": Level, "heavy": Level}}, got {levels!r}; {ELSEWHERE}')
    light, heavy = (_level(name, levels[name]) for name in LEVELS)
    if not _trains_longer(heavy, light):
        raise ValueError(
            "levels['heavy'] must have more iterations than levels['light'] or, of as many, more patience or less "
            f"tolerance and nothing that ends it earlier, got {heavy} and {light}"
        )
    for name, level in (("light", light), ("heavy", heavy)):
        if level.direction not in ("minimize", direction):
            raise ValueError(f"direction must be that of levels[{name!r}], {level.direction!r}, got {direction!r}")
    return {name: replace(level, direction=direction) for name, level in (("light", light), ("heavy", heavy))}


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
    if not isinstance(level, tuple) or not 1 <= len(level) <= 3:
        raise TypeError(f"levels[{name!r}] must be a Level or (iterations, patience, tolerance), got {level!r}")
    try:
        return Level(*level)
    except ValueError as error:
        raise ValueError(f"levels[{name!r}]: {error}") from None
