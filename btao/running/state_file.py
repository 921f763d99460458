"""The file that keeps the state of a run of `minimize`."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path

from btao.interface.saving import OPTIONS
from btao.optimizer import BTAO
from btao.running.files import write_whole

# What a run and the state that it continues must have in common.
BOUNDS = ("delta_bounds", "rho_bounds")
ARGUMENTS = ("space", *BOUNDS, *OPTIONS)


class StateFile:
    """The file that keeps the state of a run, which is of one run at a time.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    path : Path
        That file or, once another run has written to it, a new one beside it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: bytes | None = None  # what this run has read or written last

    @classmethod
    def checked(cls, state: str | os.PathLike[str]) -> StateFile:
        """The file of a path, ~ included; TypeError or ValueError where none can be written."""
        if not isinstance(state, str | os.PathLike):
            raise TypeError(f"state must be the path of a file or None, got {state!r}")
        path = Path(state).expanduser()
        if path.is_dir():
            raise ValueError(f"state must be a file, but {os.fspath(state)!r} is a folder")
        if not path.parent.is_dir():
            raise ValueError(f"state must be a file in an existing folder, but {path.parent} is none")
        try:
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, suffix=".tmp"):
                pass
        except OSError as error:
            raise ValueError(
                f"state must be a file that can be written, but none can in {path.parent} ({error.strerror})"
            ) from None
        return cls(path)

    def restore(self, fresh: BTAO) -> BTAO:
        """The run that the file holds; ValueError if it is none with the arguments of `fresh`."""
        self._known = self.path.read_bytes()
        try:
            restored = BTAO.from_json(self._known.decode(errors="replace"), constraint=fresh.space.constraint)
        except ValueError as error:
            raise ValueError(f"{self.path} cannot be continued, use another file: {error}") from error
        for name in ARGUMENTS:
            if getattr(restored, name) != getattr(fresh, name):
                raise ValueError(
                    f"{self.path} holds a run with {name}={getattr(restored, name)!r}, but "
                    f"{name}={getattr(fresh, name)!r} is asked for: use another file, or the same arguments"
                )
        return restored

    def write(self, optimizer: BTAO) -> None:
        """Keep the state; RuntimeError if another run wrote to the file meanwhile, which is then left to it."""
        content = optimizer.to_json().encode()
        if self.path.exists() and self.path.read_bytes() != self._known:
            taken, self.path = self.path, _free(self.path)
            write_whole(self.path, content)
            self._known = content
            raise RuntimeError(
                f"{taken} was written by another run meanwhile, and is left as that run wrote it; what this one has is "
                f"in {self.path}: give every run a file of its own"
            )
        write_whole(self.path, content)
        self._known = content


def _free(path: Path) -> Path:
    """A name beside the path that no file has: run-2.json for run.json."""
    return next(
        free for k in itertools.count(2) if not (free := path.with_name(f"{path.stem}-{k}{path.suffix}")).exists()
    )
