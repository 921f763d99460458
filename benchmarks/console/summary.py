"""What is said at the end of a run: a table of what every method reached and what it cost."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from benchmarks.common.formats import interval_name, mean_text
from benchmarks.records.run_folder import RunFolder

# rich and the statistics are imported when used: workers and --help do without.
if TYPE_CHECKING:
    from pandas import DataFrame

    from benchmarks.running.experiment import Experiment
    from benchmarks.running.progress import Failure

SHOWN = 3  # paths of output that are written out


def table(frame: DataFrame, experiments: Sequence[Experiment]) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of the table, one row a method in the order of the experiments.

    Parameters
    ----------
    frame : DataFrame
        The trials of the experiments that finished, and of no others: an unfinished one has spent
        less than its budget, and its best value is not to be averaged with those of whole runs.
    experiments : sequence of Experiment
        All that were asked for.

    Notes
    -----
    The means of the best value and of the regret, with their intervals, are over the n finished
    seeds with a heavy result, shown as n/all; runs and seconds are totals over the finished seeds.
    A method without any is shown as 0/all. Regret is shown where the optimum is known, failed runs
    where there are some, and where it was measured the test error of the configuration with the best value.
    """
    from benchmarks.analysis import aggregate as analysis
    from benchmarks.analysis.intervals import SEEDS_FOR_INTERVAL

    summary = analysis.summary(frame)
    with_regret = bool(summary["regret_mean"].notna().any())
    with_test = bool(summary["test_mean"].notna().any())
    with_failed = bool(summary["failed_runs"].any())
    interval = interval_name(summary["n"][summary["n"] > 1] >= SEEDS_FOR_INTERVAL)
    head = ["method", "n seeds", f"best, minimized [{interval}]"]
    head += [f"simple regret [{interval}]"] if with_regret else []
    head += [f"test error [{interval}]"] if with_test else []
    head += ["heavy runs", "light runs"] + (["failed runs"] if with_failed else []) + ["training s", "method s"]
    rows = []
    planned = [experiment.method.name for experiment in experiments]
    for name in dict.fromkeys(planned):
        if name not in set(summary["method"]):
            rows.append([name, f"0/{planned.count(name)}"] + ["–"] * (len(head) - 2))
        for _, row in summary[summary["method"] == name].iterrows():
            cells = [row["label"], f"{row['n']}/{planned.count(name)}", mean_text(row, "best")]
            cells += [mean_text(row, "regret")] if with_regret else []
            cells += [mean_text(row, "test")] if with_test else []
            counts = ["heavy_runs", "light_runs"] + (["failed_runs"] if with_failed else [])
            cells += [str(row[column]) for column in counts]
            cells += [f"{row[column]:.2f}" for column in ("train_seconds_total", "method_seconds_total")]
            rows.append(cells)
    return head, rows


def print_table(head: list[str], rows: list[list[str]], title: str, stream: IO[str] | None = None) -> None:
    """Print a table: drawn in a terminal, as aligned text elsewhere."""
    stream = stream or sys.stdout
    if not stream.isatty():
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        print(title, file=stream)
        for cells in [head, *rows]:
            first, *rest = (
                cell.rjust(width) if column else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            print("  ".join([first, *rest]), file=stream)
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=stream)
    drawn = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    columns = [[name, *cells] for name, *cells in zip(head, *rows, strict=True)]
    narrow = sum(max(map(len, cells)) + 2 for cells in columns) > console.width
    for cells in columns:
        # Where the table is too wide, lines break between words, but a number is never cut.
        longest = max(len(word) for cell in cells for word in cell.split())
        drawn.add_column(
            escape(cells[0]), justify="right" if drawn.columns else "left", width=longest if narrow else None
        )
    for cells in rows:
        drawn.add_row(*map(escape, cells))
    console.print(drawn)


def print_failures(failures: Sequence[Failure], stream: IO[str] | None = None) -> None:
    """Print every failure with the file that holds its traceback."""
    stream = stream or sys.stderr
    print(f"{len(failures)} experiment{'s' if len(failures) > 1 else ''} failed:", file=stream)
    for failure in failures:
        experiment = failure.experiment
        print(
            f"  {experiment.task.name}, {experiment.method.name}, seed {experiment.seed}: {failure.reason}", file=stream
        )
        if failure.error_file:
            print(f"    {failure.error_file}", file=stream)


def print_outputs(folders: Iterable[Path], stream: IO[str] | None = None) -> None:
    """Name the runs whose libraries or methods printed or warned of something, in one line if any."""
    outputs = [RunFolder(folder).output for folder in folders]
    paths = [str(path) for path in outputs if path.is_file() and path.stat().st_size]
    if paths:
        runs = "1 run wrote output of its own" if len(paths) == 1 else f"{len(paths)} runs wrote output of their own"
        shown = ", ".join(paths[:SHOWN]) + (", …" if len(paths) > SHOWN else "")
        print(f"{runs}, see {shown}", file=stream or sys.stderr)
