"""Whether the code of a method or a task has changed since a run was made."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.records.run_folder import read_run, starts_of

if TYPE_CHECKING:
    from benchmarks.running.experiment import Experiment

PARTS = ("method", "task")


def digests(experiment: Experiment) -> dict[str, str | None]:
    """What a run keeps of its code: the first digits of the SHA-256 of the files in which its classes are written.

    Of the method and of the task; None where the source is not at hand. What those files import is not
    in it. A process reads each class's file once, soon after it was imported: it goes on with that
    code when the file changes.
    """
    return {part: _digest_at_first(getattr(experiment, part).resolve()) for part in PARTS}


def changed(experiments: Iterable[Experiment], out: Path) -> list[str]:
    """A line for each file that was another one when trials were made, with the folders of their runs.

    Parameters
    ----------
    experiments : iterable of Experiment
        Those that are done. Starts that do not say what their code was are passed over.
    out : Path
        The folder of the records.
    """
    digest = functools.cache(_digest)  # many runs are of few classes
    made: dict[Path, Counter[Path]] = {}
    for experiment in experiments:
        folder = experiment.folder(out)
        starts = list(_starts_with_trials(read_run(folder) or {}))
        files = set()
        for part in PARTS:
            cls = getattr(experiment, part).resolve()
            recorded = {(start.get("code") or {}).get(part) for start in starts} - {None}
            if recorded - {digest(cls)}:
                files.add(_file(cls))
        for path in files - {None}:
            made.setdefault(path, Counter())[folder.parent] += 1
    return [
        f"{path} has changed since {folders.total()} of these runs were made, and they stay as they are: to "
        f"make them anew choose another out=, or move away, with all seeds, {', '.join(map(str, folders))}"
        for path, folders in made.items()
    ]


def _starts_with_trials(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The starts of a run that added trials to it."""
    starts = starts_of(run)
    ends = [*(start.get("first_trial") for start in starts[1:]), run.get("n_trials")]
    for start, end in zip(starts, ends, strict=True):
        if start.get("first_trial") != end:
            yield start


def _digest(cls: type) -> str | None:
    path = _file(cls)
    try:
        return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()[:10]
    except OSError:
        return None


_digest_at_first = functools.cache(_digest)


def _file(cls: type) -> Path | None:
    try:
        name = inspect.getsourcefile(cls)
    except (TypeError, OSError):  # what is no class of a file: of the interpreter, or typed into it
        return None
    return None if name is None else Path(name)
