"""An optimizer as a notebook shows it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from btao.trial import LEVELS, measured

if TYPE_CHECKING:
    from btao.interface.showing import Showing


def summary(optimizer: Showing) -> str:
    """A table in HTML: rule, direction, runs by level and status, and the best heavy trial."""
    best = optimizer.best
    rows = {"rule": optimizer.rule, "direction": optimizer.direction}
    for level in LEVELS:
        statuses = [trial.status for trial in optimizer.trials if trial.level == level]
        failed, pending = (statuses.count(status) for status in ("failed", "pending"))
        rows[f"{level} trials"] = f"{len(statuses)}, {failed} failed, {pending} pending"
    if best is not None:
        rows["best value"] = f"{measured(best):.6g} (trial {best.number})"
        rows |= {f"best {name}": repr(value) for name, value in best.config.items()}
    lines = (
        f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table><caption>BTAO</caption>{''.join(lines)}</table>"
