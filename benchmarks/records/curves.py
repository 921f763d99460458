"""Training curves as rows hold them: strict JSON, without nan."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from benchmarks.objectives.protocol import Curve
from benchmarks.records.trials import Row

LISTS = tuple(field.name for field in dataclasses.fields(Curve))


def record_of(curve: Curve, start: int) -> dict[str, Any]:
    """A curve as `Row.curve` holds it; inverse of `curve_of`."""
    return {"start": start, **{name: [_strict(value) for value in values] for name, values in vars(curve).items()}}


def curve_of(row: Row) -> Curve:
    """The curve that a row holds; it has one."""
    assert row.curve is not None
    return Curve(*(tuple(map(_number, values)) for values in lists_of(row.curve)))


def lists_of(record: dict[str, Any]) -> list[list[float | None]]:
    """The lists of a curve as `Row.curve` holds it, in the order of `LISTS`; None where an older record lacks one."""
    missing = [None] * len(record["seconds"])
    return [record.get(name, missing) for name in LISTS]


def _strict(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _number(value: float | None) -> float:
    return math.nan if value is None else value
