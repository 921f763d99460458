"""What a benchmark task is: a space, two levels of training and an evaluation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataSource:
    """The data set that was really used: its name, the SHA-256 of its content, and image counts."""

    name: str
    sha256: str
    n_train: int
    n_validation: int
