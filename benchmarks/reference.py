"""`python -m benchmarks.reference`: make the reference results anew, see `benchmarks.studies.reference`."""

from __future__ import annotations

import sys

from benchmarks.config.registry import ROOT
from benchmarks.console.command import command
from benchmarks.studies.reference import NAMES, USUAL, check, record
from benchmarks.studies.verification import BY_NAME

ALL = "all"
HELP = f"""\
usage: python -m benchmarks.reference [all | NAME ...]

Makes the reference results anew, the usual ones, all or those named, as results/reference/NAME.parquet with a
figure (.png, .pdf) and the numbers in it (.csv). Interrupted, the same command continues: what has been
run is kept in results/runs/reference. The finished tasks of results that take hours are kept in
results/reference/unfinished, too, which can be committed; deleting both begins anew.
`python -m benchmarks.claims` then judges the paper's claims by them.

usual: {", ".join(USUAL)}
others, which verify the rule of btao further: {", ".join(BY_NAME)}
"""


@command(lambda _: HELP, mistakes=(ValueError, OSError, RuntimeError), continued="benchmarks.reference")
def main(names: list[str]) -> int:
    """Make the results of these names, or the usual ones; the exit status."""
    named = NAMES if ALL in names else tuple(names) or USUAL
    for name in named:
        check(name)
    for name in named:
        print(record(name, ROOT / "results" / "runs" / "reference" / name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
