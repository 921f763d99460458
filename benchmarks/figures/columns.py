"""How wide figures are in journals, and the fonts that fit there."""

from __future__ import annotations

from typing import Any

from matplotlib import font_manager
from matplotlib.typing import RcKeyType

# Inches of a column, and of all columns together where there are two.
COLUMNS = {
    "icml": 3.25,
    "icml_wide": 6.75,
    "neurips": 5.5,
    "iclr": 5.5,
    "jmlr": 6.0,
    "ieee": 3.5,
    "ieee_wide": 7.16,
    "acm": 3.33,
    "acm_wide": 7.0,
}
NARROWEST = 2.6  # inches in which a panel can be read
SMALL: dict[RcKeyType, Any] = {
    "font.size": 7,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.2,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
}


def width_of(column: str | float) -> float:
    """The width of a figure in inches.

    Parameters
    ----------
    column : str or float
        Of `COLUMNS`, or inches.

    Raises
    ------
    ValueError
        If it is none of these, or narrower than `NARROWEST`.
    """
    width = COLUMNS.get(column) if isinstance(column, str) else float(column)
    if width is None or not width >= NARROWEST:
        raise ValueError(
            f"column must be a width of at least {NARROWEST:g} inches or one of {', '.join(COLUMNS)}, got {column!r}"
        )
    return width


def settings(column: str | float | None, font: str | None) -> dict[RcKeyType, Any]:
    """What is changed of matplotlib's settings for a column and a font.

    Parameters
    ----------
    column : str or float, optional
        As in `width_of`; text and lines are then of the size of captions.
    font : str, optional
        A family that matplotlib finds: "serif", "STIXGeneral", which it carries and which goes with Times, or others.

    Raises
    ------
    ValueError
        If matplotlib does not find the font.
    """
    changes = {} if column is None else dict(SMALL)
    if font is not None:
        try:
            font_manager.findfont(font, fallback_to_default=False)
        except ValueError:
            raise ValueError(f"font must be a family that matplotlib finds, got {font!r}") from None
        # DejaVu, which matplotlib carries, has the signs that the font lacks.
        changes |= {
            "font.family": [font, "DejaVu Sans"],
            "mathtext.fontset": "stix" if font == "STIXGeneral" else "dejavusans",
        }
    return changes
