"""Errors: a mistake of the user, and any error in one line, as records and the terminal show it."""

from __future__ import annotations

LENGTH = 1000  # characters, at most

# TensorFlow puts its own stack before what happened, and hints after it.
_STACK = ("Graph execution error:", "Detected at node", "File ", "[[", "Hint:")


def describe_error(error: BaseException) -> str:
    """The class of an error and what it says: one line of at most `LENGTH` characters."""
    said = [line for line in map(str.strip, str(error).splitlines()) if line]
    telling = [line for line in said if not line.startswith(_STACK)]
    return shortened(f"{type(error).__name__}: {' '.join(telling or said)}")


def shortened(line: str) -> str:
    """At most `LENGTH` characters of a line; where some are left out, it says so."""
    return line if len(line) <= LENGTH else line[: LENGTH - 1] + "…"


class UsageError(ValueError):
    """A mistake in the arguments; the message is one line for the user."""
