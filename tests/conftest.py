"""What tests of commands go without, where it is not what they test: the start of workers, and the drawing of figures.

A module says `pytestmark = pytest.mark.usefixtures(...)`.
"""

import signal

import pytest

# forked_workers and matplotlib are imported when used: the tests of btao alone do without the suite.


def pytest_configure():
    """Ctrl-C is heard here and in commands that are started, also where a shell runs the tests in its background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def forked_workers():
    """Workers are there at once."""
    from forked_workers import fork_workers

    with pytest.MonkeyPatch.context() as patch:
        fork_workers(patch)
        yield


@pytest.fixture
def empty_figures(request, monkeypatch):
    """The files of figures are empty, but in a test with `drawn_figures`: to draw them takes most of a small run."""
    from matplotlib.figure import Figure

    if "drawn_figures" not in request.fixturenames:
        monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: None)


@pytest.fixture
def drawn_figures():
    """They are drawn in one test of a module whose others have `empty_figures`."""
