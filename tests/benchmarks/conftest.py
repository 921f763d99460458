"""Workers for tests of what runs record and commands print, which do not turn on how workers are started."""

import pytest

from forked_workers import fork_workers


@pytest.fixture(scope="module")
def forked_workers():
    """Workers are there at once: `pytestmark = pytest.mark.usefixtures("forked_workers")`."""
    with pytest.MonkeyPatch.context() as patch:
        fork_workers(patch)
        yield
