"""The interface between a method and a benchmark: ask for a trial, tell its measurement."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from btao import Categorical, Integer, Real, Space

PARAMETER_TYPES = {Real: "real", Integer: "integer", Categorical: "categorical"}


class IncompatibleMethod(ValueError):
    """The method cannot do the task; raised before the first trial."""


class SearchExhausted(RuntimeError):
    """The method has nothing new left to propose: every configuration of a finite space is tried."""


@dataclass(frozen=True)
class Problem:
    """All that a method is told about a task.

    Everything is minimised. `light_iterations` and `heavy_iterations` are the budgets E of the
    two levels, or light is None where there is one level only. `n_heavy` is the number of heavy
    trials the run may make if that is known, for methods that plan ahead. The bounds are those
    of the truncated additive model (METHOD item 18), on the scale of the minimised values.
    """

    space: Space
    heavy_iterations: int
    light_iterations: int | None = None
    n_heavy: int | None = None
    delta_bounds: tuple[float, float] = (-math.inf, math.inf)
    rho_bounds: tuple[float, float] = (-math.inf, math.inf)


@dataclass(frozen=True)
class Trial:
    """One training run that a method asks for: a configuration and the iterations it is granted."""

    number: int
    config: dict[str, Any]
    heavy: bool
    budget: int


@dataclass(frozen=True)
class Measurement:
    """What came of a trial: a value to be minimised, or nan and the reason why it failed."""

    value: float
    error: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the trial failed: an error, or a value that is not finite."""
        return self.error is not None or not math.isfinite(self.value)


@dataclass(frozen=True)
class Capabilities:
    """What a method can do, as data.

    `levels` is "heavy" (heavy runs only), "two" (light and heavy) or "any" (arbitrary
    budgets of iterations); `types` are the kinds of parameters it can search.
    """

    levels: str = "heavy"
    types: frozenset[str] = field(default_factory=lambda: frozenset({"real", "integer", "categorical"}))


class Method(Protocol):
    """A method: constructed as `cls(problem, seed=..., **parameters)`, then asked and told in turn.

    `ask` raises `SearchExhausted` when nothing is left. `tell` takes every trial that was asked,
    once, in any order; it accepts failed measurements. Two instances with equal arguments that
    are told equal measurements ask for equal trials.
    """

    capabilities: ClassVar[Capabilities]

    def ask(self) -> Trial: ...

    def tell(self, trial: Trial, measurement: Measurement) -> None: ...


def check_compatible(name: str, capabilities: Capabilities, problem: Problem) -> None:
    """Refuse a method that cannot do a task.

    Raises
    ------
    IncompatibleMethod
        Naming the method, what it lacks and the parameters or level concerned.
    """
    for parameter_name, parameter in problem.space.parameters.items():
        kind = PARAMETER_TYPES[type(parameter)]
        if kind not in capabilities.types:
            raise IncompatibleMethod(
                f"method {name!r} searches {', '.join(sorted(capabilities.types))} parameters only, "
                f"but {parameter_name!r} is {kind}: choose another method for this task"
            )
    if capabilities.levels == "two" and problem.light_iterations is None:
        raise IncompatibleMethod(f"method {name!r} needs a light and a heavy level, but this task has a heavy one only")
