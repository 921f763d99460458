"""Where a worker process begins: it imports nothing large before it has told Python how."""

from __future__ import annotations

from multiprocessing.connection import Connection

from benchmarks.garbage import no_search


def start(connection: Connection) -> None:
    """Import what a worker needs, then run what comes (`benchmarks.worker.work`)."""
    with no_search():
        from benchmarks.worker import work
    work(connection)
