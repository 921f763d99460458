"""Progress in a notebook."""

from types import SimpleNamespace

import pytest
from currin_runs import experiment
from matplotlib.figure import Figure

from benchmarks.console.board import Board
from benchmarks.console.display import open_display
from benchmarks.console.notebook import Notebook, shell, show_figures
from benchmarks.running.progress import Failure, Progress


class Cell:
    """The output of a cell: what was published last of each display."""

    def __init__(self):
        self.kernel, self.display_pub, self.shown, self.count = object(), self, {}, 0

    def publish(self, data, *, transient, update):
        assert update == (transient["display_id"] in self.shown)
        self.shown[transient["display_id"]] = data
        self.count += 1

    @property
    def text(self):
        (data,) = self.shown.values()
        return data["text/html"]


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def board(now):
    return Board([experiment(0), experiment(1)], {}, 1, clock=lambda: now[0])


def test_one_display_follows_the_runs_and_ends_as_a_line_without_seconds(board, now, capsys):
    cell = Cell()
    with Notebook(board, "currin & more", cell) as display:
        display.started(0)
        now[0] = 1.0
        display.progressed(0, Progress(heavy=2, best=0.5, share=0.5))
        assert "<td>0/2</td><td>2</td><td>0</td><td>0.5</td><td>0:00:03</td>" in cell.text
        display.ended(0, None)
        display.started(1)
        display.ended(1, Failure(experiment(1), "RuntimeError: no"))
    (data,) = cell.shown.values()
    assert data["text/plain"] == "currin & more: 1 of 2 runs are done"
    assert data["text/html"] == "<p>currin &amp; more: 1 of 2 runs are done</p>"
    assert capsys.readouterr().err == "random_search, seed 1: FAILED, RuntimeError: no\n"


def test_it_is_replaced_a_few_times_a_second_only(board, now):
    cell = Cell()
    with Notebook(board, "currin", cell) as display:
        display.started(0)
        before = cell.count
        for step in range(100):
            now[0] = step / 100
            display.progressed(0, Progress(share=step / 100))
    assert cell.count - before <= 6


def test_a_figure_is_shown_as_a_picture_by_a_notebook_alone(monkeypatch):
    ipython = pytest.importorskip("IPython")
    shell = SimpleNamespace(display_formatter=ipython.core.formatters.DisplayFormatter())
    png = shell.display_formatter.formatters["image/png"]
    monkeypatch.setattr("benchmarks.console.notebook.shell", lambda: None)
    show_figures()
    assert png(Figure()) is None
    monkeypatch.setattr("benchmarks.console.notebook.shell", lambda: shell)
    show_figures()
    assert png(Figure()).startswith(b"\x89PNG")


def test_a_notebook_is_what_has_a_kernel(monkeypatch):
    cell = Cell()
    monkeypatch.setitem(__import__("sys").modules, "IPython", SimpleNamespace(get_ipython=lambda: cell))
    assert shell() is cell
    assert isinstance(open_display("auto", [experiment(0)], {}, jobs=1, title="currin"), Notebook)
    assert not isinstance(open_display("plain", [experiment(0)], {}, jobs=1, title="currin"), Notebook)
    monkeypatch.setitem(__import__("sys").modules, "IPython", SimpleNamespace(get_ipython=lambda: object()))
    assert shell() is None
