"""Progress while experiments run: a live table in a terminal or a notebook, a few plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Self

from benchmarks.common.formats import duration, number
from benchmarks.console.board import Board
from benchmarks.console.notebook import Notebook, shell
from benchmarks.running.experiment import Experiment
from benchmarks.running.progress import Failure, Progress

# rich is imported when used: a plain display starts at once.
if TYPE_CHECKING:
    from rich.table import Table

REFRESHES = 4  # a second
SILENCE = 60.0  # seconds without a line, at most, while training goes on in a plain display


class Live:
    """A table that is redrawn a few times a second; takes the engine's events."""

    def __init__(self, board: Board, title: str, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._board, self._title = board, title
        self._live = RichLive(get_renderable=self._table, console=Console(file=stream), refresh_per_second=REFRESHES)
        self.started, self.progressed = board.started, board.progressed

    def ended(self, index: int, failure: Failure | None) -> None:
        self._board.ended(index, failure)
        if failure is not None:
            style = "red" if self._board.states[index].failed else None
            self._live.console.print(self._board.fault(index, failure), style=style, markup=False, highlight=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def _table(self) -> Table:
        from rich import box
        from rich.markup import escape
        from rich.table import Table

        table = Table(
            title=escape(self._title),
            title_justify="left",
            caption_justify="left",
            box=box.SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
        )
        table.add_column("method", no_wrap=True)
        for name in ("seeds", "heavy", "light", "best so far", "seed", "time left", "failed"):
            table.add_column(name, justify="right", no_wrap=True)
        rows = self._board.rows()
        for row in rows:
            table.add_row(
                escape(row.method),
                f"{row.done}/{row.seeds}",
                str(row.heavy),
                str(row.light),
                number(row.best),
                "" if row.best_seed is None else str(row.best_seed),
                duration(row.left),
                f"[red]{row.failed}[/red]" if row.failed else "",
            )
        caption = self._board.training()
        left = [row.left for row in rows if row.left is not None]
        if len(left) == len(rows):
            caption.append(f"about {duration(sum(left))} left in all")
        table.caption = escape("\n".join(caption))
        return table


class Plain:
    """A line at the start and for every experiment that ends; takes the engine's events.

    While one training run takes long, a line a minute says how it goes.
    """

    def __init__(self, board: Board, title: str, stream: IO[str]) -> None:
        self._board, self._title, self._stream = board, title, stream
        self._last = board.clock()
        self.started = board.started

    def progressed(self, index: int, progress: Progress) -> None:
        self._board.progressed(index, progress)
        if self._board.clock() - self._last >= SILENCE and (line := self._board.training_line(index)):
            self._print(line)

    def ended(self, index: int, failure: Failure | None) -> None:
        self._board.ended(index, failure)
        state, experiment = self._board.states[index], self._board.experiments[index]
        text = (
            self._board.fault(index, failure)
            if failure
            else f"{experiment.method.name}, seed {experiment.seed}: best {number(state.progress.best)}, "
            f"{state.progress.heavy} heavy and {state.progress.light} light runs, "
            f"{state.seconds(self._board.clock()):.1f} s"
        )
        self._print(f"[{self._board.n_ended}/{len(self._board.states)}] {text}")

    def __enter__(self) -> Self:
        done = self._board.n_ended
        self._print(self._title + (f"; {done} of {len(self._board.states)} were done before" if done else ""))
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _print(self, text: str) -> None:
        print(text, file=self._stream, flush=True)
        self._last = self._board.clock()


def open_display(
    mode: str,
    experiments: Sequence[Experiment],
    before: Mapping[int, Progress],
    *,
    jobs: int,
    title: str,
    shared: bool = False,
    stream: IO[str] | None = None,
) -> Live | Plain | Notebook:
    """A display, to be used as a context.

    Parameters
    ----------
    mode : {"auto", "live", "plain"}
        auto is live if `stream` is a terminal, or in a notebook, whose cell then shows it.
    experiments, before, jobs, shared
        As `Board` takes them.
    title : str
        What is run, in one line.
    stream : text stream, optional
        stderr by default: results go to stdout.
    """
    notebook = shell() if stream is None and mode != "plain" else None
    if notebook is not None:
        return Notebook(Board(experiments, before, jobs, shared=shared), title, notebook)
    stream = sys.stderr if stream is None else stream
    live = mode == "live" or (mode == "auto" and stream.isatty())
    return (Live if live else Plain)(Board(experiments, before, jobs, shared=shared), title, stream)
