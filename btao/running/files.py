"""Files that are replaced as a whole: a reader sees the old or the new one, never a part, whatever happens."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path

# What writing to an open file raises, which names none.
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside a file to write to; what was written there takes the file's place at the end of the block.

    The new content is on the disk before it has the file's name, so that not even a power cut leaves an
    empty file. After an error the file is as it was. It keeps its permissions, and a link its target.
    Several processes may replace one file at a time: each writes to a path of its own, and the last one
    wins.

    Parameters
    ----------
    path : Path
        The file. Its folder is made where there is none. The temporary path keeps the suffix.

    Raises
    ------
    OSError
        If it cannot be written; it names `path`, of a link its target, or the folder that cannot be made. One of
        something else that the block raises is left as it is.
    """
    path = followed(path)
    temporary = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:8]}.tmp{path.suffix}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        try:
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
            if mode is not None:
                temporary.touch(0o600)
                temporary.chmod(mode | stat.S_IRUSR | stat.S_IWUSR)  # what may not be read or written may be replaced
                os.utime(temporary, (0, 0))
            yield temporary
            if temporary.stat().st_mtime_ns == 0:
                raise FileNotFoundError(errno.ENOENT, "nothing was written in place of it", str(path))
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            if mode is not None:
                temporary.chmod(mode)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        unnamed = error.filename is None and error.errno in OF_THE_DISK
        if unnamed or error.filename in (str(temporary), temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def followed(path: Path) -> Path:
    """What a link leads to, there or not; the path itself where it is none. OSError where links lead in a circle."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file by one with this content, text as UTF-8; see `replacing`."""
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
