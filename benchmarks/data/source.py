"""Which data a task used, as records say it."""

from __future__ import annotations

from dataclasses import dataclass

from btao.checks import check_integer


@dataclass(frozen=True)
class DataSource:
    """The data set that was really used: its name, the SHA-256 of its content, and image counts."""

    name: str
    sha256: str
    n_train: int
    n_validation: int

    def __post_init__(self) -> None:
        for name in ("name", "sha256"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} of a DataSource must be a text, got {getattr(self, name)!r}")
        for name in ("n_train", "n_validation"):
            object.__setattr__(self, name, check_integer(f"{name} of a DataSource", getattr(self, name), least=0))
