"""What every command does around its work: errors and Ctrl-C in a line, and the exit status."""

import pytest

from baselines.libraries.interpreter import run_module
from benchmarks.common.errors import UsageError
from benchmarks.console.command import CommandFailed, command


def raising(error, **options):
    """A command that takes arguments and raises an error."""

    @command(lambda arguments: f"help for {arguments}", **options)
    def main(arguments):
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "options", "status", "said"),
    [
        (UsageError("task=x: no"), {}, 2, "error: task=x: no"),
        (OSError("no disk"), {"mistakes": (UsageError, OSError)}, 2, "error: no disk"),
        (CommandFailed("no disk"), {}, 1, "error: no disk"),
        (KeyboardInterrupt(), {}, 130, "stopped"),
        (
            *(KeyboardInterrupt(), {"continued": "benchmarks.run"}, 130),
            "stopped; all recorded trials are kept, and the same command continues: "
            + run_module("benchmarks.run", "task=toy", "rerun=all"),
        ),
    ],
)
def test_an_end_that_is_none_of_its_own_is_a_line_and_a_status(capsys, error, options, status, said):
    assert raising(error, **options)(["task=toy", "rerun=all"]) == status
    assert capsys.readouterr() == ("", f"{said}\n")


def test_what_is_done_for_good_is_not_in_the_line_after_ctrl_c(capsys):
    @command(lambda _: "", continued="benchmarks.run")
    def main(arguments):
        arguments.remove("rerun=all")
        raise KeyboardInterrupt

    assert main(["task=toy", "rerun=all"]) == 130
    assert capsys.readouterr().err.endswith(f"continues: {run_module('benchmarks.run', 'task=toy')}\n")


def test_help_comes_before_any_work(capsys):
    assert raising(AssertionError())(["task=toy", "-h"]) == 0
    assert capsys.readouterr() == ("help for ['task=toy', '-h']\n", "")


def test_an_error_that_is_no_mistake_is_raised():
    with pytest.raises(OSError, match="no disk"):
        raising(OSError("no disk"))([])
