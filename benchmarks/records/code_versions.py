"""Which runs of one comparison were made by different code: their means would be of several versions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from benchmarks.records.labels import Cell, name_of
from benchmarks.records.run_info import RunInfo
from benchmarks.records.source_code import some, starts_with_trials


def several(runs: Mapping[Cell, RunInfo], labels: Mapping[str, str]) -> list[str]:
    """A line for each method, and one for the task, whose runs are of several versions of its code.

    Parameters
    ----------
    runs : mapping of (str, int) to RunInfo
        By method (name and hash) and seed, the runs of one task and configuration.
    labels : mapping of str to str
        What each method is called.
    """
    lines = []
    for method in dict.fromkeys(method for method, _ in runs):
        made = {str(seed): _codes(run, "method") for (other, seed), run in runs.items() if other == method}
        lines += _told(f"method {labels.get(method, name_of(method))}", "seeds", made)
    for task in dict.fromkeys(run.task for run in runs.values()):
        made = {
            f"{labels.get(method, name_of(method))} {seed}": _codes(run, "task") for (method, seed), run in runs.items()
        }
        lines += _told(f"task {task}", "runs", made)
    return lines


def _codes(run: RunInfo, part: str) -> list[Mapping[str, str] | str]:
    """What the code of a part was in each start that added trials, where that is known."""
    return [code for start in starts_with_trials(run) if (code := start.code.get(part)) is not None]


def _told(part: str, runs: str, made: Mapping[str, list[Mapping[str, str] | str]]) -> list[str]:
    """The line of a part, by what its code was in each run; none where it was the same in all."""
    known = {run: codes for run, codes in made.items() if codes}
    whole = [code for codes in known.values() for code in codes if isinstance(code, Mapping)]
    versions: dict[str, list[str]] = {}
    for run, codes in known.items():
        version = "+".join(dict.fromkeys(_digest(code, whole) for code in codes))
        versions.setdefault(version, []).append(run)
    if len(versions) < 2 and not any("+" in version for version in versions):
        return []
    each = "; ".join(f"{version} made {runs} {some(names, 12)}" for version, names in versions.items())
    files = _differing(whole)
    where = f" (they differ in {some(files, 3)})" if files else ""
    return [f"{part} is here in several versions of its code{where}, which a mean must not mix: {each}"]


def _digest(code: Mapping[str, str] | str, whole: Iterable[Mapping[str, str]]) -> str:
    """The digest of a version. An old record, of the file of the class alone, is the one version that has it."""
    if isinstance(code, str):
        same = {_digest(other, ()) for other in whole if next(iter(other.values())) == code}
        return same.pop() if len(same) == 1 else code
    return hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()[:10]


def _differing(whole: Iterable[Mapping[str, str]]) -> list[str]:
    """The modules that are not the same in all versions."""
    codes = list(whole)
    modules = dict.fromkeys(module for code in codes for module in code)
    return [module for module in modules if len({code.get(module) for code in codes}) > 1]
