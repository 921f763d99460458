"""Errors: a mistake of the user, errors of code, and any error in one line, as records and the terminal show it."""

from __future__ import annotations

LENGTH = 1000  # characters, at most

# TensorFlow puts its own stack before what happened, and hints after it.
_STACK = ("Graph execution error:", "Detected at node", "File ", "[[", "Hint:")

# What code raises that is wrong, whatever it is given. All else, above all ValueError, ArithmeticError, MemoryError,
# OSError and RuntimeError, may come of a configuration that cannot be trained, or of the machine.
_OF_CODE = (
    *(TypeError, NameError, AttributeError, LookupError, ImportError, SyntaxError, AssertionError),
    *(NotImplementedError, RecursionError),
)


def is_of_code(error: BaseException) -> bool:
    """Whether an error says that the code is wrong, and not that what it was given cannot be trained.

    What is a ValueError, too, as scikit-learn's of a parameter that is out of its range, is of what was given.
    """
    return isinstance(error, _OF_CODE) and not isinstance(error, ValueError)


def describe_error(error: BaseException) -> str:
    """The class of an error and what it says: one line of at most `LENGTH` characters."""
    said = [line for line in map(str.strip, str(error).splitlines()) if line]
    telling = [line for line in said if not line.startswith(_STACK)]
    text = f"{type(error).__name__}: {' '.join(telling or said)}"
    return text if len(text) <= LENGTH else text[: LENGTH - 1] + "…"


class UsageError(ValueError):
    """A mistake in the arguments; the message is one line for the user."""
