"""A method or a task as data: a name, a class and its parameters."""

from __future__ import annotations

import difflib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
        Values that JSON can hold; tuples count as lists.

    Raises
    ------
    ValueError
        If the name cannot name a folder.
    """

    name: str
    target: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

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
        try:
            return pkgutil.resolve_name(self.target)
        except (AttributeError, ValueError) as error:
            raise ValueError(f"{self.name}: nothing to be found at {self.target!r} ({error})") from error
        except Exception as error:
            # An error of the file itself, such as a library that it lacks, is not the name's fault.
            if isinstance(error, ModuleNotFoundError) and f"{self.target}.".startswith(f"{error.name}."):
                raise ValueError(f"{self.name}: nothing to be found at {self.target!r} ({error})") from error
            raise ValueError(
                f"{self.name}: {self.target!r} cannot be imported: {type(error).__name__}: {error}"
            ) from error

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
        """An instance, of `given` and `parameters`; errors as in `check`."""
        self.check(set(given))
        return self.resolve()(**given, **self.parameters)
