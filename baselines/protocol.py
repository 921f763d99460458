"""The interface between a method and a benchmark: ask for a trial, tell its measurement."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from baselines.libraries.interpreter import run_module
from btao import Space
from btao.parameters import KINDS, PARAMETER_CLASSES
from btao.trial import Measurement as Measurement  # a value to be minimized; its cost is iterations consumed

LEVELS = ("heavy", "two", "several", "any")  # of `Capabilities`


class IncompatibleMethod(ValueError):
    """The method cannot do the task; raised before the first trial."""


class MissingLibrary(IncompatibleMethod):
    """The library that a method wraps is not installed."""


class SearchExhausted(RuntimeError):
    """The method has nothing new left to propose: every configuration of a finite space is tried."""


# So many proposals of a library in a row may be refused by the constraint of a space before it is given up.
MAX_REFUSED = 1000


def only_refused(library: str) -> SearchExhausted:
    """What ends a search whose library proposes refused configurations alone."""
    return SearchExhausted(
        f"{library} proposed {MAX_REFUSED} configurations in a row that the constraint refuses; widen it, or narrow "
        "the bounds of the parameters to where it holds"
    )


@dataclass(frozen=True)
class InitialDesign:
    """Configurations that all model-based methods of a comparison start from.

    `heavy` are to be trained heavily; `light`, which begins with them, lightly by methods with a
    light level.
    """

    light: tuple[dict[str, Any], ...]
    heavy: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Problem:
    """All that a method is told about a task.

    Everything is minimized.

    Attributes
    ----------
    space : Space
    heavy_iterations, light_iterations : int
        The budgets E of the two levels; light is None where there is one level only.
    n_heavy : int, optional
        Heavy trials that the run may make, if that is known, for methods that plan ahead; more where some stop early.
    delta_bounds, rho_bounds : (float, float)
        Bounds of the truncated additive model (METHOD item 18), on the scale of the minimized values.
    levels : {"two", "any"}
        Whether there are these two budgets only, or any number of iterations up to the heavy one.
    initial : InitialDesign, optional
        What a model-based method has to start from, instead of a start of its own.
    folder : Path, optional
        Where a library may write files; None: in a temporary folder that is removed again.
    continues : bool
        Whether a heavy run continues the light one of its configuration, and pays for the rest only.
    """

    space: Space
    heavy_iterations: int
    light_iterations: int | None = None
    n_heavy: int | None = None
    delta_bounds: tuple[float, float] = (-math.inf, math.inf)
    rho_bounds: tuple[float, float] = (-math.inf, math.inf)
    levels: str = "any"
    initial: InitialDesign | None = None
    folder: Path | None = None
    continues: bool = False


@dataclass(frozen=True)
class Trial:
    """One training run that a method asks for: a configuration and the iterations it is granted."""

    number: int
    config: dict[str, Any]
    heavy: bool
    budget: int


@dataclass(frozen=True)
class Capabilities:
    """What a method can do and what it needs, as data.

    Attributes
    ----------
    levels : {"heavy", "two", "several", "any"}
        Heavy runs only; light and heavy ones; these and budgets between, where the task allows them;
        the same, or heavy ones alone where the task has no light level.
    types : frozenset of str
        The kinds of parameters it can search.
    conditions : bool
        Whether it can search spaces with conditional parameters, and leaves inactive ones out of its trials.
    constraint : bool
        Whether it keeps to the constraint of a space.
    requires : tuple of str
        Modules of the library that it wraps; found without importing them.
    extra : str
        The optional dependencies of `btao` that bring them; "" where the modules are called as what brings them.
    without_dependencies : tuple of str
        Requirements to be installed without their own, which are out of date or need a compiler.
    model_based : bool
        Whether it models the response, and so starts from `Problem.initial` where there is one (see
        `baselines.initial_design.check_start`), and is then led by what it was told.

    Raises
    ------
    ValueError
        If a value is none of these.
    """

    levels: str = "heavy"
    types: frozenset[str] = field(default_factory=lambda: frozenset(PARAMETER_CLASSES))
    conditions: bool = False
    constraint: bool = False
    requires: tuple[str, ...] = ()
    extra: str = ""
    without_dependencies: tuple[str, ...] = ()
    model_based: bool = False

    def __post_init__(self) -> None:
        if self.levels not in LEVELS:
            raise ValueError(f"levels of Capabilities must be one of {', '.join(LEVELS)}, got {self.levels!r}")
        for name, example in (("requires", "('scipy',)"), ("without_dependencies", "('dehb==0.1.2',)")):
            value = getattr(self, name)
            if not isinstance(value, tuple | list) or not all(isinstance(item, str) and item for item in value):
                raise ValueError(f"{name} of Capabilities must be a tuple of texts, as {example}, got {value!r}")
            object.__setattr__(self, name, tuple(value))
        if not isinstance(self.types, frozenset | set) or not self.types or not self.types <= {*PARAMETER_CLASSES}:
            known = ", ".join(sorted(PARAMETER_CLASSES))
            raise ValueError(f"types of Capabilities must be a frozenset of some of {known}, got {self.types!r}")
        object.__setattr__(self, "types", frozenset(self.types))
        if not isinstance(self.extra, str):
            raise ValueError(f"extra of Capabilities must be a text, got {self.extra!r}")
        for name in ("conditions", "constraint", "model_based"):
            if not isinstance(value := getattr(self, name), bool):
                raise ValueError(f"{name} of Capabilities must be True or False, got {value!r}")

    def missing(self) -> tuple[str, ...]:
        """Those of `requires` that are not installed."""
        return tuple(module for module in self.requires if not _is_installed(module))


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # of a package that the module would be in, or no module's name
        return False


class Method(Protocol):
    """A method: constructed as `cls(problem, seed=..., **parameters)`, then asked and told in turn.

    `ask` raises `SearchExhausted` when nothing is left; any number of trials may be pending. `tell`
    takes every trial that was asked, once, in any order; it accepts failed measurements, and raises ValueError with the
    trial's number for one that was not asked for or was told before (`baselines.pending_trials.PendingTrials`
    keeps that account). Two instances with equal arguments that are told equal measurements ask for
    equal trials: a run is continued by replaying its trials. A method that wraps a library runs it
    inside a `baselines.libraries.isolated_library.IsolatedLibrary`.

    A method with a model of the response may have `recommend() -> int | None` too: the number of the
    successful heavy trial, of those told, whose configuration it would recommend now, None if there is
    none. It changes nothing. Of a method without it the best observed heavy trial is what counts.

    A method with a start may have `start_size`, the numbers of its light and of its heavy runs: a budget that leaves
    nothing to propose is cautioned about. One that does less with a part of a problem than the rest of it may have
    `cautions`, a line each, which are shown before its first trial.
    """

    capabilities: ClassVar[Capabilities]

    def ask(self) -> Trial: ...

    def tell(self, trial: Trial, measurement: Measurement) -> None: ...


def check_compatible(name: str, capabilities: Capabilities, problem: Problem) -> None:
    """Refuse a method that cannot do a task.

    Raises
    ------
    MissingLibrary
        If its library is not installed, naming what to install.
    IncompatibleMethod
        Naming the method, what it lacks and the parameters or level concerned.
    """
    if missing := capabilities.missing():
        named = dict.fromkeys(module.partition(".")[0] for module in missing)
        install = run_module("pip", "install", *([f"btao[{capabilities.extra}]"] if capabilities.extra else named))
        if capabilities.without_dependencies:
            install += " && " + run_module("pip", "install", "--no-deps", *capabilities.without_dependencies)
        raise MissingLibrary(f"method {name!r} needs {' and '.join(missing)}, which is not installed: {install}")
    for parameter_name, parameter in problem.space.parameters.items():
        kind = KINDS[type(parameter)]
        if kind not in capabilities.types:
            raise IncompatibleMethod(
                f"method {name!r} searches {', '.join(sorted(capabilities.types))} parameters only, "
                f"but {parameter_name!r} is {kind}: choose another method for this task"
            )
    if problem.space.conditions and not capabilities.conditions:
        raise IncompatibleMethod(
            f"method {name!r} knows no conditional parameters, but {', '.join(map(repr, problem.space.conditions))} "
            "is active at times only: choose another method for this task, or let one of your own that takes "
            "configurations from space.from_unit say Capabilities(conditions=True)"
        )
    if problem.space.constraint is not None and not capabilities.constraint:
        raise IncompatibleMethod(
            f"method {name!r} keeps to no constraint, but the space has one: choose another method for this task, or "
            "let one of your own that asks space.allows say Capabilities(constraint=True)"
        )
    if capabilities.requires and not problem.space.n_varying:
        raise IncompatibleMethod(
            f"method {name!r} needs a parameter that varies, but all of this task are constants: choose another method"
        )
    if capabilities.levels in ("two", "several") and problem.light_iterations is None:
        raise IncompatibleMethod(f"method {name!r} needs a light and a heavy level, but this task has a heavy one only")
