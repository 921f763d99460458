"""`python -m benchmarks.claims`: every claim of the paper, with our figure and a verdict.

The claims are in claims.yaml, what they are judged by in `benchmarks.analysis.checks`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common.errors import UsageError
from benchmarks.config import options
from benchmarks.console.command import command
from btao.running.files import write_whole

# pandas and the statistics are imported when used: --help starts at once.
if TYPE_CHECKING:
    from pandas import DataFrame

HELP = """\
usage: python -m benchmarks.claims [out=FOLDER] [claims=FILE] [match=TEXT]

Prints the claims of the paper, each with our figure, its 95% interval, the number of seeds behind it
and a verdict, and writes them to claims.md, a row a claim and a column a method and rival, and to
claims.csv, a row for each of these. Each verdict is at 95% by itself.

options
  out=FOLDER    judge the runs recorded below this folder, and write there; otherwise the reference
                results are, and the files are results/reference/claims.md and claims.csv
  claims=FILE   other claims than those of the paper; benchmarks/analysis/claims.yaml shows how they are written
  match=TEXT    only claims that have this text in them; nothing is written, nor with BTAO_SCALE=smoke set
  -h, --help    this text
"""
OPTIONS = {"out": "a folder", "claims": "a file", "match": "a part of a claim"}


@command(lambda _: HELP, mistakes=(ValueError, OSError))
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    from benchmarks.analysis.claims import CLAIMS, judge, read
    from benchmarks.reporting.verdicts import markdown

    given = options.given(arguments, OPTIONS)
    claims = read(Path(os.path.expanduser(given.get("claims", CLAIMS))))
    claims = [claim for claim in claims if given.get("match", "").lower() in claim.text.lower()]
    if not claims:
        raise UsageError(f"match={given.get('match', '')}: no claim has this in it")
    records, folder = _records(given.get("out"))
    table = judge(claims, records)
    _print(table)
    if "match" not in given and folder is not None:
        write_whole(folder / "claims.csv", table.to_csv(index=False))
        write_whole(folder / "claims.md", markdown(table))
        print(f"\nwritten: {folder / 'claims.md'}, {folder / 'claims.csv'}")
    return 0


def _records(out: str | None) -> tuple[Callable[[str], DataFrame], Path | None]:
    """What gives the trials of a name, and the folder where the verdicts go; None where the results are made to try."""
    from benchmarks import records
    from benchmarks.studies import reference

    if out is None:
        return reference.load, None if os.environ.get("BTAO_SCALE") else reference.FOLDER
    folder = Path(os.path.expanduser(out))
    frame = records.load(folder, strict=True)
    if frame.empty:
        raise UsageError(f"no records below {folder}: give the folder that was given as out= to the run")
    return (lambda name: frame), folder


def _print(table: DataFrame) -> None:
    from benchmarks.analysis.claims import figure_text
    from benchmarks.console.summary import print_table

    rows = [
        [row["claim"], row["verdict"], row["reason"] or figure_text(row), str(row["n"]), row["code"]]
        for row in table.to_dict("records")
    ]
    print_table(["claim", "verdict", "ours [95% interval]", "n", "computed by"], rows, "The paper's claims")


if __name__ == "__main__":
    sys.exit(main())
