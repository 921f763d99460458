"""Recordings at the smallest scale, on the images that a package carries."""

from __future__ import annotations

from benchmarks import record
from benchmarks.running.recording import Recording

SMALL = ["scale=smoke", "task.parameters.n_train=200", "task.parameters.n_validation=100"]
SUPPORT_VECTORS = ["task=svm", *SMALL]
CLOCKS = ["seconds", "processor_seconds"]  # the columns of a table that no two recordings have the same


def planned(*arguments: str) -> Recording:
    """What `python -m benchmarks.record` with these arguments would record."""
    return record.planned(arguments)[0]
