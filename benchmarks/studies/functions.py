"""Functions as tasks and methods: each becomes a class, as the suite runs them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from baselines.pending_trials import PendingTrials, check_seed
from baselines.protocol import Capabilities, Measurement, Problem, Trial
from benchmarks.common.errors import UsageError
from benchmarks.objectives.protocol import Evaluation, check_order, configuration_seed
from btao import Space
from btao.training import Level

TASK_ARGUMENTS, METHOD_ARGUMENTS = ("config", "iterations", "seed"), ("space", "trials", "generator")
OPEN = (-math.inf, math.inf)


class FunctionTask:
    """A task whose values a function returns; `task` makes the class of one."""

    function: ClassVar[Callable[..., float]]
    seed_by: ClassVar[str | None]  # "place" or "name": how the function takes it, if it does
    space: ClassVar[Space]
    levels: ClassVar[str]
    delta_bounds: ClassVar[tuple[float, float]]
    rho_bounds: ClassVar[tuple[float, float]]
    optimum: ClassVar[float | None]
    data: ClassVar[None] = None
    trains: ClassVar[bool] = True

    def __init__(self, light_iterations: int, heavy_iterations: int) -> None:
        self.light, self.heavy = Level(light_iterations), Level(heavy_iterations)
        check_order(self.light, self.heavy)

    def prepare(self) -> None:
        """Nothing to load."""

    def evaluate(self, config: dict[str, Any], level: Level, seed: int) -> Evaluation:
        """What the function returns at `config` after the iterations of `level`."""
        config = self.space.validate(config)
        more, named = _seed_given(self.seed_by, configuration_seed(seed, config))
        return Evaluation(self.function(dict(config), level.iterations, *more, **named), level.iterations)

    def truth(self, config: dict[str, Any]) -> None:
        """Not known."""


class FunctionMethod:
    """A method that makes heavy runs of the configurations that a function proposes; `method` makes the class of one.

    Parameters
    ----------
    problem : Problem
    seed : int
        At least 0.

    Raises
    ------
    ValueError
        If `seed` is no integer of at least 0.
    """

    function: ClassVar[Callable[..., Mapping[str, Any]]]
    capabilities: ClassVar[Capabilities] = Capabilities(levels="heavy", conditions=True, constraint=True)

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem, self._seed = problem, check_seed(seed)
        self._told: list[tuple[dict[str, Any], float]] = []
        self._asked = 0
        self._pending = PendingTrials()

    def ask(self) -> Trial:
        """A heavy trial of what the function proposes."""
        generator = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(self._asked,)))
        told = [(dict(config), value) for config, value in self._told]
        config = self._problem.space.validate(self.function(self._problem.space, told, generator))
        trial = Trial(self._asked, config, heavy=True, budget=self._problem.heavy_iterations)
        self._asked += 1
        return self._pending.open(trial)

    def tell(self, trial: Trial, measurement: Measurement) -> None:
        """Take a measurement; ValueError if the trial was not asked for, or was told before."""
        self._pending.close(trial)
        self._told.append((trial.config, math.inf if measurement.failed else measurement.value))


def task(
    space: Space,
    *,
    light: int,
    heavy: int,
    levels: str = "any",
    budget: Mapping[str, float] | None = None,
    delta_bounds: tuple[float, float] = OPEN,
    rho_bounds: tuple[float, float] = OPEN,
    optimum: float | None = None,
) -> Callable[[Callable[..., float]], type[FunctionTask]]:
    """Make a task of a function of a configuration and a number of iterations: a decorator.

    Parameters
    ----------
    space : Space
        What is searched.
    light, heavy : int
        The iterations of the light and of the heavy level, light < heavy: the function is called with them, and they
        are what a run costs. Epochs, trees, steps of a solver or images: whatever makes a run longer.
    levels : {"any", "two"}
        Whether any number of iterations up to the heavy one makes sense, as for BOHB, or these two only.
    budget : mapping, optional
        Of a run without one of its own, as {"heavy": 20}, which is the default.
    delta_bounds, rho_bounds : (float, float)
        What BTAO takes for granted: heavy = ρ · light + δ with ρ and δ within these bounds. For validation errors that
        longer training lowers (0, 1) and (-1, 0) fit; the default is no bounds.
    optimum : float, optional
        The smallest heavy value, if it is known.

    Returns
    -------
    callable
        Takes the function, f(config, iterations) or f(config, iterations, seed): it returns the value after so many
        iterations, to be minimized. All its randomness is to come of `seed`, a number that a run and a configuration
        have; it may be a keyword of the function. Other arguments with defaults keep them. What it raises is a failed
        trial. Returned is a class: a task as any other, which takes the parameters light_iterations and
        heavy_iterations.

    Raises
    ------
    UsageError
        If `space` is no Space, or the function takes other arguments.
    """
    if not isinstance(space, Space):
        raise UsageError(f"space={space!r}: give a btao.Space")

    def decorate(function: Callable[..., float]) -> type[FunctionTask]:
        seed_by = _seed_by(_parameters("task", function, TASK_ARGUMENTS))
        _check_call("task", function, 2, seed_by)
        iterations = {"light_iterations": light, "heavy_iterations": heavy}
        members = {
            "seed_by": seed_by,
            "space": space,
            "levels": levels,
            "budget": dict(budget or {"heavy": 20}),
            "delta_bounds": delta_bounds,
            "rho_bounds": rho_bounds,
            "optimum": optimum,
            "__signature__": inspect.Signature(
                [
                    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=int)
                    for name, default in iterations.items()
                ]
            ),
        }
        made: type[FunctionTask] = _class_of(function, FunctionTask, members)
        return made

    return decorate


def method(function: Callable[..., Mapping[str, Any]]) -> type[FunctionMethod]:
    """Make a method of a function that proposes the next configuration.

    Parameters
    ----------
    function : callable
        f(space, trials, generator): a `btao.Space`; the trials so far, pairs of a configuration and its value (to be
        minimized, infinity where the trial failed); and numpy's generator of random numbers, from which all
        randomness is to come. It returns a configuration of the space, which is trained at the heavy level.

    Raises
    ------
    UsageError
        If the function takes other arguments.
    """
    _parameters("method", function, METHOD_ARGUMENTS)
    _check_call("method", function, 3)
    made: type[FunctionMethod] = _class_of(function, FunctionMethod, {})
    return made


def _class_of(function: Callable[..., Any], base: type, members: Mapping[str, Any]) -> Any:
    """A class named after a function, which it holds."""
    named = {name: getattr(function, name) for name in ("__doc__", "__module__", "__qualname__")}
    return type(function.__name__, (base,), {"function": staticmethod(function), **members, **named})


def _parameters(kind: str, function: Any, names: Sequence[str]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function, by name; UsageError if it is none."""
    if not inspect.isfunction(function):
        raise UsageError(f"{kind}={function!r}: give a function of {', '.join(names)}")
    return inspect.signature(function).parameters


def _seed_by(parameters: Mapping[str, inspect.Parameter]) -> str | None:
    """How the function of a task takes a seed: by its third place, by its name, or not."""
    places = [each for each in parameters.values() if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if len(places) > 2 and (places[2].name == "seed" or places[2].default is places[2].empty):
        return "place"
    seed = parameters.get("seed")
    named = seed is not None and seed.kind in (seed.KEYWORD_ONLY, seed.POSITIONAL_OR_KEYWORD)
    return "name" if named and seed not in places[:2] else None


def _seed_given(seed_by: str | None, seed: int) -> tuple[list[int], dict[str, int]]:
    """The seed as arguments of a call, those by place and those by name."""
    return [seed] * (seed_by == "place"), {"seed": seed} if seed_by == "name" else {}


def _check_call(kind: str, function: Callable[..., Any], places: int, seed_by: str | None = None) -> None:
    """Refuse a function that cannot be called as the suite calls it: UsageError."""
    signature = inspect.signature(function)
    more, named = _seed_given(seed_by, 0)
    try:
        signature.bind(*[None] * places, *more, **named)
    except TypeError as error:
        right = "(config, iterations) or (config, iterations, seed)" if kind == "task" else "(space, trials, generator)"
        wrong = f"{kind} {function.__name__} takes {signature}"
        raise UsageError(f"{wrong}: let it take {right}, and others with defaults only ({error})") from None
