"""`python -m benchmarks.report out=...`: recorded runs as one HTML page, and the same as Markdown.

Exit status: 0 when the report is written, whatever the runs are like, 2 for a mistake in the command
or records that allow none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common.errors import UsageError
from benchmarks.config import options
from benchmarks.config.registry import out_folder
from benchmarks.console.command import command
from btao.running.files import write_whole

# pandas, matplotlib and the pages are imported when used: a mistake in the arguments shows at once.
if TYPE_CHECKING:
    from benchmarks.reporting.page import Block, Page
    from benchmarks.reporting.settings import Setting

HELP = """\
usage: python -m benchmarks.report [out=results/runs] [first=METHOD] [method=[A,B,...]] [task=[A,B,...]]

Draws up what is recorded below a folder, whatever tasks and methods, and however much of it is done:
what was compared, what is missing, what failed, the results of each task and across tasks, and where
they come from. Results are drawn from the runs that are done; the others are named, with the commands
that finish them. Of a task whose records contradict themselves nothing else is shown. Damaged records are
named and nothing is written.

options
  out=FOLDER      whose records are drawn up
  first=METHOD    what others are compared to: speed-ups over them, tests against it, always in color; by default
                  btao where it is there, else the first method
  method=[A,...]  only these methods, in this order
  task=[A,...]    only these tasks, in this order
  -h, --help      this text

It writes into that folder
  report.html  one file that needs nothing else: no network, no script
  report.md    the same as Markdown
  report/      the figures as PNG and PDF, the numbers in each as CSV, and records.sha256, the checksums
               of the records that results were drawn from
The same records give the same files, byte for byte. Earlier ones are replaced.
"""
OPTIONS = {
    "out": "a folder",
    "first": "a method",
    "method": "methods, as [btao,tpe]",
    "task": "tasks, as [currin,park]",
}
FOLDER = "report"
CHECKSUMS = "records.sha256"


@command(lambda _: HELP, mistakes=(ValueError, OSError))
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    given = options.given(arguments, OPTIONS)
    out = out_folder([f"out={given['out']}"] if "out" in given else [])
    methods, tasks = (_listed(name, given.get(name, "")) for name in ("method", "task"))
    if not out.is_dir():
        raise UsageError(f"no folder {out}: give the one that was given as out= to the run")
    for path in write(out, tasks, methods, given.get("first")):
        print(path)
    return 0


def _listed(name: str, value: str) -> list[str]:
    """The names in a value such as [a,b] or a,b, each once."""
    names = [each.strip() for each in value.removeprefix("[").removesuffix("]").split(",")]
    if value and not all(names):
        raise UsageError(f"{name}={value}: give {OPTIONS[name]}")
    return list(dict.fromkeys(names)) if value else []


def write(
    out: Path, tasks: Sequence[str] = (), methods: Sequence[str] = (), first: str | None = None
) -> tuple[Path, Path]:
    """Draw up the report of the records below a folder; the paths of the HTML page and of the Markdown.

    Parameters
    ----------
    out : Path
    tasks, methods, first
        As in `reporting.settings.select`.

    Raises
    ------
    UsageError, CorruptRecord, ValueError, OSError
        As `reporting.settings.read` and `select`; an OSError also if a file cannot be written.
    """
    from benchmarks.reporting import html as page_html
    from benchmarks.reporting import markdown as page_markdown
    from benchmarks.reporting.settings import checksums, read, select

    settings = select(read(out), tasks, methods, first)
    chosen = [f"first={first}"] if first else []
    chosen += [f"{name}=[{','.join(given)}]" for name, given in (("method", methods), ("task", tasks)) if given]
    page = draw_up(settings, out, chosen)
    write_whole(out / FOLDER / CHECKSUMS, checksums(settings, out))
    write_whole(out / "report.html", page_html.render(page))
    write_whole(out / "report.md", page_markdown.render(page, FOLDER))
    return out / "report.html", out / "report.md"


def draw_up(settings: Sequence[Setting], out: Path, chosen: Sequence[str] = ()) -> Page:
    """The page of some settings; its figures are drawn below `out`. `chosen` are the arguments that chose them."""
    from benchmarks.records.command import Command
    from benchmarks.reporting.coverage import compared, failures, missing
    from benchmarks.reporting.notices import notices
    from benchmarks.reporting.page import Code, Page, Paragraph
    from benchmarks.reporting.provenance import provenance
    from benchmarks.reporting.ranking import ranking
    from benchmarks.reporting.results import results

    done = sum(len(setting.done) for setting in settings)
    cells = sum(len(setting.grid.methods) * len(setting.grid.seeds) for setting in settings)
    trials = sum(len(setting.results) for setting in settings)
    opening: tuple[Block, ...] = (
        Paragraph(
            f"Drawn from {trials:,} trials in the {done:,} of {cells:,} runs that are done, in {len(settings)} "
            f"setting{'' if len(settings) == 1 else 's'}. This command makes the page again:"
        ),
        Code((str(Command("benchmarks.report", (f"out={out}", *chosen))),)),
        *notices(settings),
    )
    sections = (
        compared(settings),
        missing(settings),
        failures(settings),
        results(settings, out / FOLDER),
        ranking(settings, out / FOLDER),
        provenance(settings, out, f"{FOLDER}/{CHECKSUMS}"),
    )
    return Page("Benchmark report", opening, sections)


if __name__ == "__main__":
    sys.exit(main())
