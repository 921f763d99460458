"""Whether the code of a method or a task has changed since a run was made."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.records import read_run

if TYPE_CHECKING:
    from benchmarks.experiment import Experiment

PARTS = ("method", "task")


def digests(experiment: Experiment) -> dict[str, str | None]:
    """What a run keeps of its code: the first digits of the SHA-256 of the files in which its classes are written.

    Of the method and of the task; None where the source is not at hand. What those files import is not in it.
    """
    return {part: _digest(getattr(experiment, part).resolve()) for part in PARTS}


def changed(experiments: Iterable[Experiment], out: Path) -> list[str]:
    """A line for each file that was another one when runs were made, with their folders.

    Parameters
    ----------
    experiments : iterable of Experiment
        Those that are done. Runs that do not say what their code was are passed over.
    out : Path
        The folder of the records.
    """
    made: dict[Path, dict[Path, int]] = {}
    for experiment in experiments:
        folder = experiment.folder(out)
        recorded = (read_run(folder) or {}).get("code") or {}
        for part, digest in digests(experiment).items():
            if None not in (digest, recorded.get(part)) and recorded[part] != digest:
                folders = made.setdefault(_file(getattr(experiment, part).resolve()), {})
                folders[folder.parent] = folders.get(folder.parent, 0) + 1
    return [
        f"{path} has changed since {sum(folders.values())} of these runs were made, and they stay as they are: "
        f"to make them anew choose another out=, or move away {', '.join(map(str, folders))}"
        for path, folders in made.items()
    ]


def _digest(cls: type) -> str | None:
    path = _file(cls)
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()[:10]


def _file(cls: type) -> Path | None:
    try:
        name = inspect.getsourcefile(cls)
    except TypeError:  # a class of the interpreter itself
        return None
    path = None if name is None else Path(name)
    return path if path is not None and path.is_file() else None
