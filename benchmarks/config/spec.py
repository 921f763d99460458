"""A method or a task as data: a name, a class and its parameters."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
import math
import pkgutil
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.common.errors import describe_error
from benchmarks.config.code import Code
from benchmarks.config.registry import target_of

FIRST_VERSION = 1  # of a class that does not say its `version`


@dataclass(frozen=True)
class Spec:
    """A method or a task by name, the class it is made of and the keyword arguments of that class.

    Parameters
    ----------
    name : str
        Names folders and records: letters, digits, "_", "-" and ".".
    target : str
        Where the class is, for example "benchmarks.objectives.currin.Currin".
    parameters : mapping of str to value
        Values that JSON can hold; tuples count as lists. Numbers are passed on, and enter the identity, in
        the type that the class annotates, or its default has: 0 and 0.0 are one value.
    code : Code, optional
        Of a class that cannot be imported from `target`: what rebuilds it.
    registered : bool
        Whether the name alone says which class it is, though `conf` of the suite does not have it.

    Raises
    ------
    ValueError
        If the name cannot name a folder.
    """

    name: str
    target: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    code: Code | None = None
    registered: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\w[\w.-]*", self.name, flags=re.ASCII):
            raise ValueError(f"name must be letters, digits, '_', '-' and '.', got {self.name!r}")

    def resolve(self) -> Any:
        """The class itself.

        Raises
        ------
        ValueError
            If `target` names nothing, or what it names cannot be imported.
        """
        if self.code is not None:
            return self.code.load()
        try:
            found = pkgutil.resolve_name(self.target)
        except Exception as error:
            # An error of the file itself, such as a library that it lacks, is not the name's fault.
            no_module = isinstance(error, ModuleNotFoundError) and f"{self.target}.".startswith(f"{error.name}.")
            if no_module or (isinstance(error, AttributeError | ValueError) and _frames(error) <= 2):
                alone = isinstance(error, ModuleNotFoundError) and error.name == self.target.partition(".")[0]
                advice = ": Python must find it, from its folder or by PYTHONPATH" if alone else ""
                raise ValueError(f"{self.name}: nothing to be found at {self.target!r} ({error}){advice}") from error
            raise ValueError(f"{self.name}: {self.target!r} cannot be imported: {describe_error(error)}") from error
        if not isinstance(found, type):
            raise ValueError(f"{self.name}: {self.target!r} is {found!r}: give where a class is")
        return found

    def check(self, given: set[str]) -> None:
        """Refuse parameters that the class does not take, and null where it is not annotated to take None.

        Those in `given` the suite passes itself.

        A class that takes any keyword is left to check them when it is built.

        Raises
        ------
        ValueError
            Naming the parameter and the nearest right name.
        """
        accepted = inspect.signature(self.resolve()).parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values()):
            return  # the class checks them itself
        if lacking := sorted(given - set(accepted)):
            raise ValueError(
                f"{self.name}: {self.target!r} must take the parameters {', '.join(lacking)}, which the suite gives it"
            )
        names = [name for name in accepted if name not in given]
        for name, value in self.parameters.items():
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise ValueError(f"{self.name} has no parameter {name!r}: {hint}It has {', '.join(names) or 'none'}")
            annotation = accepted[name].annotation
            if value is None and annotation is not inspect.Parameter.empty and "None" not in str(annotation):
                raise ValueError(f"{self.name}: {name} cannot be null: give a value")

    def build(self, **given: Any) -> Any:
        """An instance, of `given` and `typed_parameters`; errors as in `check`."""
        self.check(set(given))
        return self.resolve()(**given, **self.typed_parameters)

    @property
    def version(self) -> int:
        """The number that the class raises as `version` when its results come to mean something else."""
        return getattr(self.resolve(), "version", FIRST_VERSION)

    @functools.cached_property
    def typed_parameters(self) -> dict[str, Any]:
        """The parameters, with numbers in the types of the class."""
        accepted = inspect.signature(self.resolve()).parameters
        return {
            name: as_type_of(accepted[name], value) if name in accepted else value
            for name, value in self.parameters.items()
        }

    def identity(self, group: str) -> dict[str, Any]:
        """What decides results, apart from where the class is, as JSON can hold it.

        Parameters
        ----------
        group : {"task", "method"}
            Of `conf`. A class that is not the one which `conf` has by this name is named with its path; one that
            cannot be imported has the digest of its source in place of that.
        """
        identity = {"name": self.name, "version": self.version, "parameters": jsonable(self.typed_parameters)}
        if self.code is not None:
            return identity | {"source": self.code.digest}
        known = self.registered or self.target == target_of(group, self.name)
        return identity if known else identity | {"target": self.target}


def _frames(error: Exception) -> int:
    """How deep an error was raised below where it was caught: 2 in the function that was called there."""
    return len(traceback.extract_tb(error.__traceback__))


def as_type_of(parameter: inspect.Parameter, value: Any) -> Any:
    """A value with its numbers in the type that a parameter is annotated with or, without that, its default has.

    An integer becomes a float where a float is meant, and a whole float an integer where an integer is
    meant; those in a list, too. Anything else stays as it is, for the class to refuse.
    """
    if isinstance(value, list | tuple):
        return [as_type_of(parameter, item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if parameter.annotation is not inspect.Parameter.empty:
        annotation = parameter.annotation
        words = re.findall(r"\w+", annotation.__name__ if isinstance(annotation, type) else str(annotation))
    else:
        words = [type(parameter.default).__name__]
    if "float" in words:
        return float(value) + 0.0 if abs(value) <= sys.float_info.max else value  # -0.0 is 0.0
    return int(value) if "int" in words and float(value).is_integer() else value


def jsonable(value: Any) -> Any:
    """`value` as strict JSON can hold it; infinities, as in open bounds, become "inf" and "-inf"."""
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(name): jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
