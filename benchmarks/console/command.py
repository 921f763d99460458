"""What every command does around its work: its arguments, --help, errors in a line, Ctrl-C and the exit status."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence

from baselines.libraries.interpreter import run_module
from benchmarks.common.errors import UsageError
from benchmarks.common.streams import unfailing

STOPPED = 130  # the exit status after Ctrl-C


class CommandFailed(Exception):
    """What a command was to do and could not, though there is no mistake in it: exit status 1."""


def command(
    help_text: Callable[[list[str]], str],
    mistakes: tuple[type[Exception], ...] = (UsageError,),
    *,
    continued: str | None = None,
) -> Callable[[Callable[[list[str]], int]], Callable[..., int]]:
    """Make a function of arguments, which returns the exit status, the main function of a command.

    That takes the arguments of the process where none are given, answers -h and --help with what `help_text` makes of
    them, and tells errors in a line on stderr: those of the classes in `mistakes` with exit status 2, `CommandFailed`
    with 1. Ctrl-C ends it with a line, too, and `STOPPED`. What it prints may be lost, as in a pipe that is closed:
    the work and the exit status are the same.

    Parameters
    ----------
    help_text : callable
    mistakes : tuple of type, optional
    continued : str, optional
        The module of a command that goes on where it was stopped, for the line after Ctrl-C. The line has the
        arguments that the function was given, but for those that it has taken off the list meanwhile.
    """

    def decorate(function: Callable[[list[str]], int]) -> Callable[..., int]:
        @functools.wraps(function)
        @unfailing()
        def main(arguments: Sequence[str] | None = None) -> int:
            given = list(sys.argv[1:] if arguments is None else arguments)
            try:
                if {"-h", "--help"} & set(given):
                    print(help_text(given))
                    return 0
                return function(given)
            except mistakes as error:
                print_error(error)
                return 2
            except CommandFailed as error:
                print_error(error)
                return 1
            except KeyboardInterrupt:
                print(_stopped(continued, given), file=sys.stderr)
                return STOPPED

        return main

    return decorate


def print_error(error: Exception) -> None:
    """Tell an error in a line on stderr."""
    print(f"error: {error}", file=sys.stderr)


def _stopped(continued: str | None, arguments: Sequence[str]) -> str:
    if continued is None:
        return "stopped"
    again = run_module(continued, *arguments)
    return f"stopped; all recorded trials are kept, and the same command continues: {again}"
