"""The file that keeps the state of a run of `minimize`."""

from __future__ import annotations

import errno
import itertools
import json
import os
import tempfile
from collections.abc import Container, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from btao.interface.saving import BOUNDS, OPTIONS
from btao.interface.state import write_state
from btao.optimizer import BTAO
from btao.running.files import followed, write_whole
from btao.running.objectives import Levels
from btao.training import Level

# What a run and the state that it continues must have in common.
ARGUMENTS = ("space", *dict.fromkeys(("direction", "rule", *BOUNDS, *OPTIONS)))  # first what others depend on


class StateFile:
    """The file that keeps the state of a run, which is of one run at a time.

    Parameters
    ----------
    path : Path
    levels : {"light": Level, "heavy": Level}, optional
        What the one objective trains to, which is kept with the state.

    Attributes
    ----------
    path : Path
        That file or, once another run has written to it, a new one beside it.
    """

    def __init__(self, path: Path, levels: Levels | None = None) -> None:
        self.path = path
        self._levels = levels and {name: level.definite for name, level in levels.items()}
        self._known: bytes | None = None  # what this run has read or written last

    @classmethod
    def checked(cls, state: str | os.PathLike[str], levels: Levels | None = None) -> StateFile:
        """The file of a path, ~ included; TypeError or ValueError where none can be written."""
        if not isinstance(state, str | os.PathLike):
            raise TypeError(f"state must be the path of a file or None, got {state!r}")
        path = Path(state).expanduser()
        try:
            path = followed(path)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise ValueError(f"state must be a file, but {path} is a link to itself") from None
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
        return cls(path, levels)

    def restore(self, fresh: BTAO, design: Any = None, derived: Container[str] = ()) -> BTAO:
        """The run that the file holds; ValueError if it is none with the arguments of `fresh`.

        Those that are `derived`, which nobody gave, are not compared: the run keeps its own. The start is compared
        where `design` gives one: that of a Latin hypercube may differ in its last bits where another machine made it.
        """
        self._known = self.path.read_bytes()
        text = self._known.decode(errors="replace")
        try:
            restored = BTAO.from_json(text, constraint=fresh.space.constraint)
            levels = _levels(json.loads(text), self._levels)
        except ValueError as error:
            raise ValueError(f"{self.path} cannot be continued, use another file: {error}") from error
        pairs = {name: (getattr(restored, name), getattr(fresh, name)) for name in ARGUMENTS if name not in derived}
        if design is not None and not _same_start(restored, fresh):
            pairs["design"] = restored.initial_design, fresh.initial_design
        pairs["levels"] = levels, self._levels
        for name, (held, asked) in pairs.items():
            if held != asked:
                same = f"give rule={held!r}" if name == "rule" else "give the same arguments"
                raise ValueError(
                    f"{self.path} holds a run with {name}={held!r}, but {name}={asked!r} is asked for: {same}, or use "
                    "another file"
                )
        return restored

    def write(self, optimizer: BTAO) -> None:
        """Keep the state; RuntimeError if another run wrote to the file meanwhile, which is then left to it."""
        levels = None if self._levels is None else {name: astuple(level) for name, level in self._levels.items()}
        content = write_state({**optimizer.to_dict(), "levels": levels}).encode()
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


def _levels(state: Mapping[str, Any], default: Levels | None) -> Levels | None:
    """The levels of a state; `default` where it says nothing of them, as one of an earlier version."""
    if "levels" not in state:
        return default
    try:
        return state["levels"] and {name: Level(*level).definite for name, level in state["levels"].items()}
    except (AttributeError, TypeError) as error:
        raise ValueError(f"its levels are {state['levels']!r}") from error


def _free(path: Path) -> Path:
    """A name beside the path that no file has: run-2.json for run.json."""
    return next(
        free for k in itertools.count(2) if not (free := path.with_name(f"{path.stem}-{k}{path.suffix}")).exists()
    )


def _same_start(*optimizers: BTAO) -> bool:
    """Whether two begin with equal configurations, but for the last bits, which earlier states did not keep."""
    held, asked = (np.array([each.space.to_unit(config) for config in each.initial_design]) for each in optimizers)
    return held.shape == asked.shape and np.allclose(held, asked, rtol=0, atol=1e-10)
