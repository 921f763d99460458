"""Which errors of an objective are of its code."""

from __future__ import annotations

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
