"""How numbers, durations and intervals are written, in terminals, reports and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import Series


def number(value: float, digits: int = 6) -> str:
    """A value with so many significant digits, or a dash for what is not there."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "–"


def or_infinity(value: float, digits: int = 3) -> str:
    """As `number`, for what may be infinite: ∞."""
    return "∞" if value == math.inf else number(value, digits)


def with_interval(row: Mapping[str, float] | Series, name: str) -> str:
    """A number in a row of a table with its interval, low to high, where there is one."""
    ends = "" if math.isnan(row["low"]) else f" [{or_infinity(row['low'])}, {or_infinity(row['high'])}]"
    return or_infinity(row[name]) + ends


def duration(seconds: float | None) -> str:
    """Seconds as h:mm:ss, or a dash for what is not known."""
    if seconds is None:
        return "–"
    minutes, second = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{second:02d}"


def interval_name(enough: Series) -> str:
    """What the numbers in brackets are, from whether a method has seeds enough for an interval."""
    if enough.all():
        return "95% interval"
    return "95% interval, or the range of fewer than 5 seeds" if enough.any() else "range"


def mean_text(row: Series, measure: str) -> str:
    """The mean of "best", "regret" or "test" in a row of `aggregate.summary`, with its interval if there is one."""
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    interval = "" if math.isnan(low) else f" [{number(low, 4)}, {number(high, 4)}]"
    return number(row[f"{measure}_mean"]) + interval
