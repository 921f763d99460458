"""Which data a task used, as records say it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataSource:
    """The data set that was really used: its name, the SHA-256 of its content, and image counts."""

    name: str
    sha256: str
    n_train: int
    n_validation: int
