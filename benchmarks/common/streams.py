"""Standard streams on which no work depends: what they do not take is lost, and nothing else."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}


@contextlib.contextmanager
def unfailing() -> Iterator[None]:
    """Print to streams that never raise: to a pipe that is closed, a disk that is full, or a stream that is closed.

    A reader that has gone needs no word. That something else kept stdout from being written is said on stderr, at
    the end of the block. Streams that the caller has put in the place of the process's own are left alone.
    """
    _open_closed()
    with _replaced("stderr"), _replaced("stdout") as stdout:
        yield
        sys.stdout.flush()
        if stdout is not None and stdout.lost is not None:
            print(f"stdout could not be written: {stdout.lost.strerror}", file=sys.stderr)


class _Unfailing(io.FileIO):
    """A file that takes all that is written, and keeps the first error that means a loss to a reader who is there."""

    lost: OSError | None = None

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            if error.errno != errno.EPIPE:
                self.lost = self.lost or error
            return len(content)


def _open_closed() -> None:
    """Open what the process was started without: else the next file takes the number, and gets what is printed."""
    for number in STREAMS.values():
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)


@contextlib.contextmanager
def _replaced(name: str) -> Iterator[_Unfailing | None]:
    """The file of a stream that is unfailing in the block; None where the stream is not the process's own."""
    own: TextIO | None = getattr(sys, name)
    if own is not getattr(sys, f"__{name}__"):
        yield None
        return
    file = _Unfailing(STREAMS[name], "w", closefd=False)
    settings: dict[str, Any] = {"errors": "backslashreplace"}
    if isinstance(own, io.TextIOWrapper):
        settings |= {"encoding": own.encoding, "line_buffering": own.line_buffering, "write_through": own.write_through}
        with contextlib.suppress(OSError):
            own.flush()
    stream = io.TextIOWrapper(io.BufferedWriter(file), **settings)
    setattr(sys, name, stream)
    try:
        yield file
    finally:
        stream.flush()
        setattr(sys, name, own)
