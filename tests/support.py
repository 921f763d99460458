"""What several test files need: recorded tables but for their seconds, and an observer of an engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SECONDS = ("train_seconds", "method_seconds", "time", "processor_seconds")


def rows(folder: Path) -> list[dict[str, Any]]:
    """The rows on record in the folder of a run, but for seconds."""
    lines = (folder / "trials.jsonl").read_text().splitlines()
    return [{name: value for name, value in json.loads(line).items() if name not in SECONDS} for line in lines]


def tables(out: Path) -> dict[str, list[dict[str, Any]]]:
    """All rows on record below a folder, but for seconds, by path."""
    return {str(path.relative_to(out)): rows(path.parent) for path in sorted(out.rglob("trials.jsonl"))}


class Log:
    """Remembers what an engine says."""

    def __init__(self) -> None:
        self.begun, self.progress, self.over = [], {}, {}

    def started(self, index):
        self.begun.append(index)

    def progressed(self, index, progress):
        self.progress.setdefault(index, []).append(progress)

    def ended(self, index, failure):
        self.over[index] = failure
