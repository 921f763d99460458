"""Whether the code of a method or a task has changed since a run was made."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.config.spec import Spec
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import RunInfo, Start


def digests(parts: Mapping[str, Spec]) -> dict[str, str | None]:
    """What a run keeps of its code: the first digits of the SHA-256 of the files in which its classes are written.

    Of each part, the method and the task; None where the source is not at hand. What those files import is not
    in it. A process reads each class's file once, soon after it was imported: it goes on with that
    code when the file changes. Of a class without a file that any process can import it is the digest of its source.
    """
    return {
        name: _digest_at_first(spec.resolve()) if spec.code is None else spec.code.digest
        for name, spec in parts.items()
    }


def changed(runs: Iterable[tuple[Path, Mapping[str, Spec]]]) -> list[str]:
    """A line for each file that was another one when trials were made, with the folders of their runs.

    Parameters
    ----------
    runs : iterable of (Path, mapping)
        The folders of runs that are done, with their parts. Starts that do not say what their code was are
        passed over.
    """
    digest = functools.cache(_digest)  # many runs are of few classes
    made: dict[Path, Counter[Path]] = {}
    for folder, parts in runs:
        starts = list(_starts_with_trials(RunFolder(folder).info()))
        files = set()
        for name, spec in parts.items():
            if spec.code is not None:
                continue  # another source is another run
            cls = spec.resolve()
            recorded = {start.code.get(name) for start in starts} - {None}
            if recorded - {digest(cls)}:
                files.add(_file(cls))
        for path in filter(None, files):
            made.setdefault(path, Counter())[folder.parent] += 1
    return [
        f"{path} has changed since {folders.total()} of these runs were made, and they stay as they are: to "
        f"make them anew choose another out=, or move away, with all seeds, {', '.join(map(str, folders))}"
        for path, folders in made.items()
    ]


def _starts_with_trials(run: RunInfo | None) -> Iterator[Start]:
    """The starts of a run that added trials to it."""
    if run is None:
        return
    ends = [*(start.first_trial for start in run.starts[1:]), run.n_trials]
    for start, end in zip(run.starts, ends, strict=True):
        if start.first_trial != end:
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
