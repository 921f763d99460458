"""`python -m benchmarks.record`: train a design of configurations once, and keep the curves as a table."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from benchmarks.common.errors import UsageError
from benchmarks.config import options
from benchmarks.config.options import unknown
from benchmarks.config.registry import ROOT, TABLES, found_from_here
from benchmarks.config.request import own_options, read, whole_paths
from benchmarks.console.command import CommandFailed, command
from benchmarks.console.display import open_display
from benchmarks.records.command import RECORD_MODULE, Command
from benchmarks.running.progress import Failure
from benchmarks.running.recording import Gathered, Recording, numbers_of, plan

# The data sets are imported when used: --help starts at once.

HELP = """\
usage: python -m benchmarks.record task=NAME [OPTION=VALUE ...]

Trains a design of configurations, each to the full length of the heavy level, whatever its patience, and
writes their curves, with validation and test errors, to <out>/<task>-<data>-<scale>.parquet, of a
grid to <out>/<task>-<data>-grid-<scale>.parquet; of a task without a data set, <data> is left out.
`python -m benchmarks.run task=NAME source=table` then answers from there. The same command again continues what
is unfinished, and trains nothing that is in the table or logged; several processes or machines that see the
same folder share the work; a larger n extends the table. Machines should be equally fast, as a replay charges
the recorded seconds; where they are not, `python -m benchmarks.retime` gives the table those of one.
What a task must have to be recorded: benchmarks/objectives/protocol.py.

options (with their defaults)
  task=NAME                   the task; +task=NAME is the same
  design=sobol                the center and the corners of the space, then a scrambled Sobol sequence; grid: every
                              combination of the values that conf/task/NAME.yaml lists as its grid
  n=512                       configurations, at least the center and the corners, rounded up to a multiple of 8; of
                              a grid all, or with n=NUMBER a sample
  task.grid.NAME=[A,B,...]    other values of the grid
  seed=0                      of the design and of the training
  full_length=true            false: train each only until the heavy level's patience stops it. That may take half the
                              time, and the table then tells nothing of more patience
  scale=laptop                smoke, laptop or paper: the size of the task
  task.parameters.NAME=VALUE  a parameter of the task; n_train, if it is not the scale's, is named in the file
  data=auto  data_dir=  jobs=2  threads=1  display=auto
                              as `python -m benchmarks.run --help` says
  gather=false                true: train nothing, and write the table of what is logged, while others record, too
  out=results/tables          the folder of the table, and of <name>.parts, where its trials are logged
  -h, --help                  this text

exit status: 0 the table has all n configurations, 1 something failed, 2 a mistake in the command, 3 nothing
failed, but some are not recorded yet (other processes are still at work on them, or gather=true), 130 stopped
"""

DESIGNS = ("sobol", "grid")
# Options of `benchmarks.run` that have no effect here.
RUN_ONLY = (
    *("method", "methods", "seeds", "budget", "shared_init", "cache", "source", "table", "conf", "engine", "rerun"),
)


@command(lambda _: HELP, continued=RECORD_MODULE)
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    recording, only_gather = planned(arguments)
    failures: list[Failure] | None = [] if only_gather else None
    try:
        if not only_gather:
            with contextlib.suppress(KeyboardInterrupt):
                failures = recording.run(_command(arguments, recording), open_display)
        gathered = recording.gather()
    except (ValueError, OSError) as error:  # a damaged log, or a full disk
        raise CommandFailed(error) from error
    print(_holding(recording, gathered.numbers))
    for caution in gathered.cautions:
        print(f"note: {caution}", file=sys.stderr)
    if failures is None:
        raise KeyboardInterrupt  # `command` says how to go on
    return _report(recording, gathered, failures)


def planned(arguments: Sequence[str]) -> tuple[Recording, bool]:
    """The recording that the arguments ask for, and whether to gather only."""
    defaults = {"design": "sobol", "n": "", "seed": "0", "full_length": "true", "gather": "false"}
    own, rest = own_options(arguments, defaults, RUN_ONLY, "a table")
    if own["design"] not in DESIGNS:
        raise UsageError(unknown("design", own["design"], DESIGNS))
    n = options.count("n", options.number(own["n"])) if own["n"] else None
    switches = {"true": True, "false": False}
    full_length, only_gather = (
        options.flag(name, switches.get(own[name], own[name])) for name in ("full_length", "gather")
    )
    if not any(argument.lstrip("+").startswith("out=") for argument in rest):
        rest.append(f"out={found_from_here(str(TABLES.relative_to(ROOT)))}")
    try:
        (seed,) = options.seeds([options.number(own["seed"])])
    except UsageError:
        raise UsageError(f"seed={own['seed']}: give an integer from 0 to 2**63 - 1") from None
    (request,) = read([*rest, f"seeds=[{seed}]", "method=random_search"])
    return plan(request, own["design"], n, full_length), only_gather


def _command(arguments: Sequence[str], recording: Recording) -> Command:
    """The command for the record: whatever the shell and its folder it finds the same folder and data, or fails."""
    from benchmarks.data.datasets import found_by

    found = {} if recording.data is None else found_by(recording.data.name, recording.request.data_dir)
    found |= whole_paths({"out": options.value_of(arguments, "out")})
    return Command(RECORD_MODULE, tuple(options.with_values(arguments, found)))


def _holding(recording: Recording, numbers: set[int]) -> str:
    """What the table holds, in words."""
    if not numbers:
        return "nothing is recorded yet"
    beyond = len(numbers.difference(range(recording.n)))
    more = f", and {beyond} more" if beyond else ""
    return f"{recording.path} holds {len(numbers) - beyond} of {recording.n} configurations{more}"


def _report(recording: Recording, gathered: Gathered, failures: Sequence[Failure]) -> int:
    """Say what failed and what is left to others; the exit status."""
    failed = [*(failure.reason for failure in failures if not failure.locked), *gathered.failed.values()]
    for reason in failed:
        print(f"failed: {reason}", file=sys.stderr)
    if gathered.failed:
        print(
            "to train a configuration that failed again, remove the folder that is named with it, when no process "
            "works in it any more",
            file=sys.stderr,
        )
    missing = set(range(recording.n)) - gathered.numbers
    others = {number for failure in failures if failure.locked for number in numbers_of(failure.experiment)}
    if elsewhere := len((others & missing).difference(gathered.failed)):
        print(f"{elsewhere} configurations are still being recorded elsewhere", file=sys.stderr)
    return 1 if failed else 3 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
