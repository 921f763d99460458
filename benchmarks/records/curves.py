"""Training curves as rows hold them: strict JSON, without nan."""

from __future__ import annotations

import math
from typing import Any

from benchmarks.objectives.protocol import Curve
from benchmarks.records.trials import Row


def record_of(curve: Curve, start: int) -> dict[str, Any]:
    """A curve as `Row.curve` holds it; inverse of `curve_of`."""
    return {
        "start": start,
        "validation_errors": [_strict(error) for error in curve.validation_errors],
        "training_errors": [_strict(error) for error in curve.training_errors],
        "seconds": list(curve.seconds),
        "processor_seconds": list(curve.processor_seconds),
    }


def curve_of(row: Row) -> Curve:
    """The curve that a row holds; it has one."""
    assert row.curve is not None
    return Curve(
        tuple(_number(error) for error in row.curve["validation_errors"]),
        tuple(_number(error) for error in row.curve["training_errors"]),
        tuple(row.curve["seconds"]),
        tuple(row.curve["processor_seconds"]),
    )


def _strict(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _number(value: float | None) -> float:
    return math.nan if value is None else value
