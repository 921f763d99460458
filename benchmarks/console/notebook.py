"""Progress in a notebook: a table in the output of the cell, which is replaced a few times a second.

It goes through IPython's own messages, which need no widgets, and ends as one line that holds no seconds: the output
of a cell is the same whenever the same is run.
"""

from __future__ import annotations

import sys
import uuid
from html import escape
from typing import Any, Self

from benchmarks.common.formats import duration, number
from benchmarks.console.board import Board
from benchmarks.running.progress import Failure, Progress
from btao.viewing.explorer import png_of

INTERVAL = 0.25  # seconds between two tables, at least
HEAD = ("method", "seeds", "heavy", "light", "best so far", "time left", "failed")


def shell() -> Any:
    """The shell of the notebook that this process is the kernel of; None where it is none."""
    ipython = sys.modules.get("IPython")
    found = None if ipython is None else ipython.get_ipython()
    return found if hasattr(found, "kernel") else None


def show_figures() -> None:
    """Let the notebook, where this process is the kernel of one, show figures as pictures, as `%matplotlib` would."""
    if (found := shell()) is not None:
        from matplotlib.figure import Figure  # late: progress is shown without it

        found.display_formatter.formatters["image/png"].for_type(Figure, png_of)


class Notebook:
    """A table in the output of a cell; takes the engine's events.

    Parameters
    ----------
    board : Board
    title : str
    shell : object
        That of the notebook.
    """

    def __init__(self, board: Board, title: str, shell: Any) -> None:
        self._board, self._title, self._shell = board, title, shell
        self._id, self._shown = uuid.uuid4().hex, board.clock() - INTERVAL
        self.started = board.started

    def progressed(self, index: int, progress: Progress) -> None:
        self._board.progressed(index, progress)
        if self._board.clock() - self._shown >= INTERVAL:
            self._show(*self._table(), update=True)

    def ended(self, index: int, failure: Failure | None) -> None:
        self._board.ended(index, failure)
        if failure is not None:
            print(self._board.fault(index, failure), file=sys.stderr)
        self._show(*self._table(), update=True)

    def __enter__(self) -> Self:
        self._show(*self._table(), update=False)
        return self

    def __exit__(self, *error: object) -> None:
        states = self._board.states
        faults = sum(state.failed or state.elsewhere for state in states)
        line = f"{self._title}: {self._board.n_ended - faults} of {len(states)} runs are done"
        self._show(f"<p>{escape(line)}</p>", line, update=True)

    def _show(self, html: str, text: str, update: bool) -> None:
        self._shown = self._board.clock()
        data = {"text/html": html, "text/plain": text}
        self._shell.display_pub.publish(data, transient={"display_id": self._id}, update=update)

    def _table(self) -> tuple[str, str]:
        """The table as HTML, and a line for what shows none."""
        lines = [
            f"<p>{escape(self._title)}</p><table><thead><tr>{''.join(f'<th>{name}</th>' for name in HEAD)}</tr></thead>"
        ]
        for row in self._board.rows():
            counts = f"{row.done}/{row.seeds}", str(row.heavy), str(row.light)
            cells = (row.method, *counts, number(row.best), duration(row.left), str(row.failed or ""))
            lines.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
        lines += ["</table>", *(f"<p>{escape(line)}</p>" for line in self._board.training())]
        text = f"{self._title}: {self._board.n_ended} of {len(self._board.states)} runs have ended"
        return "".join(lines), text
