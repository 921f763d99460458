"""Runs that are set aside: held while they are moved. test_run.py and test_study.py make them anew."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from currin_runs import experiment, record

from benchmarks.common.errors import UsageError
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.trials import RunLocked
from benchmarks.running.plan import Plan
from benchmarks.studies.rerun import set_aside
from support import tables


def plan(out):
    request = SimpleNamespace(out=out, rerun="all")
    return Plan(request, [experiment(0), experiment(1)], {}, None)


def test_all_runs_are_held_until_all_are_moved(tmp_path, monkeypatch):
    out = record(tmp_path / "out")
    folders = [experiment(seed).folder(out) for seed in (0, 1)]
    rename, refused = Path.rename, []

    def rename_while_another_comes(self, target):
        for folder in folders:
            if folder.exists():
                with pytest.raises(RunLocked, match=f"another process is working on {folder}"):
                    RunFolder(folder).log()
                refused.append(folder.name)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", rename_while_another_comes)
    before = tables(out)
    set_aside([plan(out)])
    assert refused == ["seed-0", "seed-1", "seed-1"]
    assert not any(folder.exists() for folder in folders)
    kept = tables(out / "aside" / "1")
    assert kept == {path: rows for path, rows in before.items() if path in kept} and len(kept) == 2


def test_nothing_is_moved_where_another_holds_one(tmp_path):
    out = record(tmp_path / "out")
    held = experiment(1).folder(out)
    with RunFolder(held).log(), pytest.raises(UsageError, match=f"rerun: a process works on {held}: wait"):
        set_aside([plan(out)])
    assert not (out / "aside").exists() and experiment(0).folder(out).exists()
    with RunFolder(experiment(0).folder(out)).log():
        pass  # which is free again


def test_a_damaged_run_is_set_aside(tmp_path):
    out = record(tmp_path / "out")
    (experiment(0).folder(out) / "trials.jsonl").write_text("{}\n")
    set_aside([plan(out)])
    assert len([*(out / "aside" / "1").rglob("trials.jsonl")]) == 2


def test_a_log_that_was_moved_before_it_was_locked_is_not_taken(tmp_path, monkeypatch):
    folder = experiment(0).folder(record(tmp_path))

    def moved_meanwhile(file, operation):
        folder.rename(tmp_path / "moved")

    monkeypatch.setattr("benchmarks.records.trials.fcntl.flock", moved_meanwhile)
    with pytest.raises(RunLocked):
        RunFolder(folder).log()
