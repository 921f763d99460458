"""Runs that are made anew, by `rerun=`: the old ones are kept aside, and everything is as if they had not been."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.errors import UsageError
from benchmarks.records.run_folder import RunFolder, place_aside
from benchmarks.records.run_info import Status
from benchmarks.records.source_code import outdated
from benchmarks.records.trials import RunLocked
from benchmarks.running.plan import Plan


def set_aside(plans: Sequence[Plan]) -> list[Plan]:
    """Move the runs that `rerun=` names to out/aside/<n>; the plans without them among what is done.

    Raises
    ------
    UsageError
        If a process works on one of them. Nothing is moved then.
    """
    runs: dict[Path, dict[Path, None]] = {}
    for plan in plans:
        runs.setdefault(plan.request.out, {}).update(dict.fromkeys(_named(plan)))
    moved = {path for paths in runs.values() for path in paths}
    with contextlib.ExitStack() as stack:  # all are held until all are moved: no process begins on one in between
        for path in sorted(moved):
            try:
                stack.enter_context(RunFolder(path).held())
            except RunLocked:
                raise UsageError(f"rerun: a process works on {path}: wait for its end, or stop it") from None
        for out, paths in runs.items():
            if paths:
                _move(list(paths), out)
    return [_without(plan, moved) for plan in plans]


def _move(paths: Sequence[Path], out: Path) -> None:
    """Move runs of a folder aside, and say where they are kept."""
    place = place_aside(out)
    for path in paths:
        kept = place / path.relative_to(out)
        kept.parent.mkdir(parents=True, exist_ok=True)
        path.rename(kept)
    print(f"note: {len(paths)} run{'s are' if len(paths) > 1 else ' is'} kept in {place}", file=sys.stderr)


def _named(plan: Plan) -> list[Path]:
    """The folders of the runs of a plan that are to be made anew."""
    out, which = plan.request.out, plan.request.rerun
    if which == "none":
        return []
    there = [(path, each) for each in plan.experiments if (path := each.folder(out)).exists()]
    if which == "changed":
        return list(outdated((path, experiment.parts) for path, experiment in there))
    if which == "failed":
        ended = {path: RunFolder(path).info() for path, _ in there}
        return [path for path, run in ended.items() if run is not None and run.status in (Status.FAILED, Status.KILLED)]
    return [path for path, _ in there]


def _without(plan: Plan, moved: set[Path]) -> Plan:
    """A plan in which nothing of the runs that were moved is done."""
    kept = (index for index in plan.done if plan.experiments[index].folder(plan.request.out) not in moved)
    return dataclasses.replace(plan, done={index: plan.done[index] for index in kept})
