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
    takes_seed: ClassVar[bool]
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
        arguments = [dict(config), level.iterations]
        if self.takes_seed:
            arguments.append(configuration_seed(seed, config))
        return Evaluation(self.function(*arguments), level.iterations)

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
        have. What it raises is a failed trial. Returned is a class: a task as any other, which takes the parameters
        light_iterations and heavy_iterations.

    Raises
    ------
    UsageError
        If `space` is no Space, or the function takes other arguments.
    """
    if not isinstance(space, Space):
        raise UsageError(f"space={space!r}: give a btao.Space")

    def decorate(function: Callable[..., float]) -> type[FunctionTask]:
        arguments = _check_arguments("task", function, TASK_ARGUMENTS, least=2)
        iterations = {"light_iterations": light, "heavy_iterations": heavy}
        members = {
            "takes_seed": len(arguments) == 3,
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
    _check_arguments("method", function, METHOD_ARGUMENTS, least=3)
    made: type[FunctionMethod] = _class_of(function, FunctionMethod, {})
    return made


def _class_of(function: Callable[..., Any], base: type, members: Mapping[str, Any]) -> Any:
    """A class named after a function, which it holds."""
    named = {name: getattr(function, name) for name in ("__doc__", "__module__", "__qualname__")}
    return type(function.__name__, (base,), {"function": staticmethod(function), **members, **named})


def _check_arguments(kind: str, function: Any, names: Sequence[str], least: int) -> list[str]:
    """The arguments of a function, which must be those named, at least the first ones; UsageError otherwise."""
    if not inspect.isfunction(function):
        raise UsageError(f"{kind}={function!r}: give a function of {', '.join(names)}")
    arguments = list(inspect.signature(function).parameters)
    if not least <= len(arguments) <= len(names):
        raise UsageError(
            f"{kind} {function.__name__} takes ({', '.join(arguments)}): let it take ({', '.join(names[:least])})"
            + (f" or ({', '.join(names)})" if least < len(names) else "")
        )
    return arguments
