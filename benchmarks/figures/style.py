"""One style for all figures: a method has the same color, dashes and marker in all of them.

Colors are those of Okabe and Ito (2008), which color-blind readers can tell apart; dashes and markers
do the same work in print without color.
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.typing import RcKeyType
from pandas import DataFrame

from benchmarks.common.files import write_whole


@dataclass(frozen=True)
class Style:
    """How a method is drawn: color, dashes as matplotlib's `linestyle` takes them, marker."""

    color: str
    dashes: Any
    marker: str


METHOD_STYLES = {
    "btao": Style("#D55E00", "-", "o"),
    "btao_paper": Style("#E69F00", (0, (6, 1.5)), "s"),
    "gp_bo": Style("#0072B2", (0, (3, 1.5)), "^"),
    "random_search": Style("#7F7F7F", (0, (1, 1.2)), "x"),
    "tpe": Style("#009E73", (0, (5, 1.5, 1, 1.5)), "D"),
    "smac": Style("#CC79A7", (0, (5, 1.5, 1, 1.5, 1, 1.5)), "v"),
    "smac_gp": Style("#661100", (0, (5, 1, 1, 1, 1, 1)), "h"),
    "bohb": Style("#56B4E9", (0, (8, 1.5, 2, 1.5)), "P"),
    "hyperband": Style("#000000", (0, (2, 3)), "*"),
}
# Other methods take one of these by name: Tol's (2021) muted colors, and markers not used above.
OTHER_STYLES = [
    Style(color, dashes, marker)
    for marker in ("<", ">", "p", "d", "X")
    for dashes in ((0, (4, 1)), (0, (2, 1)), (0, (7, 2, 2, 2)))
    for color in ("#332288", "#88CCEE", "#117733", "#999933", "#882255", "#AA4499")
]
FILLS = ("full", "none", "left", "right", "top", "bottom")  # tell hashes of one method apart

RC: dict[RcKeyType, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # matplotlib carries it, so figures look alike everywhere
    "font.size": 9,
    "axes.titlesize": 10,
    "legend.fontsize": 8,
    "legend.handlelength": 3.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E0E0E0",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
}
NOTE = {"fontsize": 7.5, "color": "#595959"}  # what is said below the panels
DPI = 150
FORMATS = ("png", "pdf")
NO_LAYOUT: dict[RcKeyType, Any] = {"figure.autolayout": False, "figure.constrained_layout.use": False}
DECADES = 3  # on a logarithmic axis, up to which marks between the powers can be read
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def drawing(changes: Mapping[RcKeyType, Any] | None = None) -> AbstractContextManager[None]:
    """Matplotlib's settings while a figure is drawn: `RC`, with changes; they are as before at the end of the block."""

    return matplotlib.rc_context({**RC, **(changes or {})})


def method_styles(methods: Iterable[str]) -> dict[str, Style]:
    """A style for each method, no two alike, in the order in which figures list them.

    The methods of `METHOD_STYLES` have the style named there. Any other has one that depends on
    its name, the same in every figure but where two names in one figure meet on one style: then
    the later in the alphabet takes the next.

    Raises
    ------
    ValueError
        If there are more other methods than styles.
    """
    names = set(methods)
    styles = {name: style for name, style in METHOD_STYLES.items() if name in names}
    others = sorted(names - METHOD_STYLES.keys())
    if len(others) > len(OTHER_STYLES):
        raise ValueError(f"there are styles for {len(OTHER_STYLES)} unlisted methods, got {len(others)}")
    taken: set[int] = set()
    for name in others:
        slot = zlib.crc32(name.encode()) % len(OTHER_STYLES)
        while slot in taken:
            slot = (slot + 1) % len(OTHER_STYLES)
        taken.add(slot)
        styles[name] = OTHER_STYLES[slot]
    return styles


def label_styles(labels: Iterable[str]) -> dict[str, Style]:
    """The style of each label as `incumbents.labels` gives it: that of its method, whatever the hash."""
    methods = {label: label.partition(" [")[0] for label in labels}
    styles = method_styles(methods.values())
    return {label: styles[method] for label, method in methods.items()}


def legend_below(figure: Figure, axes: Axes, ncols: int, title: str | None = None) -> None:
    """One legend for all panels, with what is drawn in one of them."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=ncols, frameon=False, title=title)


def plain_numbers(axis: Axis) -> None:
    """Mark a logarithmic axis with 1, 2, 5, 10 and so on, written without powers."""

    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def powers_of_ten(axis: Axis) -> None:
    """Mark a logarithmic axis, whose limits are set, with powers of ten, written with raised digits.

    Matplotlib's own marks are formulas, which it takes as long to parse and to lay out as all the rest. Those
    between the powers are left out where there are many, too close to read: they took half of the drawing.
    """

    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
    axis.set_minor_formatter(NullFormatter())
    low, high = axis.get_view_interval()
    if high > 10**DECADES * low:
        axis.set_minor_locator(NullLocator())


def power_of_ten(value: float) -> str:
    """An exact power of ten in words of a figure, such as 10⁻⁹."""
    return "10" + str(round(math.log10(value))).translate(RAISED)


def png_path(path: str | Path | None) -> Path | None:
    """The path of a figure, if there is one; ValueError if it does not end in .png."""
    if path is not None and Path(path).suffix != ".png":
        raise ValueError(f"path must end in .png, got {str(path)!r}")
    return None if path is None else Path(path)


def save(figure: Figure, table: DataFrame, path: Path | None) -> Figure:
    """Write a figure in each of `FORMATS`, and the numbers in it as .csv beside them, each file as a whole; return it.

    Without a path nothing is written.
    A PDF carries no date, so that equal figures are equal files.

    Parameters
    ----------
    path : Path, optional
        As `png_path` gives it; the other files have its name and their own endings.

    Raises
    ------
    OSError
        If a file cannot be written, which it names; an older one of that name stays.
    """

    if path is None:
        return figure
    for ending in FORMATS:
        drawn = io.BytesIO()  # matplotlib's PDF fails of itself where the disk is full
        metadata = {"CreationDate": None} if ending == "pdf" else None
        figure.savefig(drawn, format=ending, dpi=DPI, metadata=metadata)
        with matplotlib.rc_context(NO_LAYOUT):
            figure.set_layout_engine(None)  # laid out once, for all formats; with "none" it would be drawn twice
        write_whole(path.with_suffix(f".{ending}"), drawn.getvalue())
    write_whole(path.with_suffix(".csv"), table.to_csv(index=False))
    return figure
