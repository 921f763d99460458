"""One style for all figures: a method has the same color, dashes and marker in all of them.

Colors are those of Okabe and Ito (2008), which color-blind readers can tell apart; dashes and markers
do the same work in print without color. A method that is not listed gets a color far from those beside it.
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.typing import RcKeyType
from pandas import DataFrame

from benchmarks.figures.colors import distance
from btao.running.files import write_whole


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
# Other methods take one of these by name: colors far from each other and from those above, and other markers.
OTHER_STYLES = [
    Style(color, dashes, marker)
    for marker in ("<", ">", "p", "d", "X")
    for dashes in ((0, (4, 1)), (0, (2, 1)), (0, (7, 2, 2, 2)))
    for color in ("#332288", "#7B3F00", "#AA4499", "#882255", "#8C564B")
]
FAR = 0.06  # between two colors of one figure, as `colors.distance` measures it
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
NOTE: dict[str, Any] = {"fontsize": 7.5, "color": "#595959"}  # what is said below the panels
TRUETYPE: dict[RcKeyType, Any] = {"pdf.fonttype": 42}  # journals refuse the fonts of type 3 that are the default
LETTERS_PER_INCH = 15  # of what is said below the panels, with some room
LEGEND_LINE = 0.175  # inches; of titles and labels, too
NOTE_LINE = 1.3 * 7.5 / 72  # inches
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

    The methods of `METHOD_STYLES` have the style named there. Any other has one that depends on its name, the same in
    every figure but where that is taken, or its color is too close to another in the figure (see `FAR`): then the
    later in the alphabet takes the next that is far enough or, where none is, the one with the farthest color.

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
    for name in others:
        start = zlib.crc32(name.encode()) % len(OTHER_STYLES)
        free = [style for style in OTHER_STYLES[start:] + OTHER_STYLES[:start] if style not in styles.values()]
        colors = {style.color for style in styles.values()}
        room = {style: min((distance(style.color, color) for color in colors), default=1.0) for style in free}
        styles[name] = next((style for style in free if room[style] >= FAR), max(free, key=room.__getitem__))
    return styles


def label_styles(labels: Iterable[str]) -> dict[str, Style]:
    """The style of each label as `incumbents.labels` gives it: that of its method, whatever the hash."""
    methods = {label: label.partition(" [")[0] for label in labels}
    styles = method_styles(methods.values())
    return {label: styles[method] for label, method in methods.items()}


def below_panels(figure: Figure, handles: Sequence[Artist], ncols: int, note: str) -> None:
    """One legend for all panels, and what is to be said of them below it: `height_below` of the figure's height."""
    high = figure.get_figheight()
    # Left to the layout, one would lie over the other.
    share = height_below(len(handles), ncols, note) / high
    figure.set_layout_engine("constrained", rect=(0, share, 1, 1 - share))
    if handles:
        anchor = (0.5, note_height(note) / high)
        figure.legend(
            handles=handles, loc="lower center", ncols=ncols, frameon=False, bbox_to_anchor=anchor, borderaxespad=0
        )
    # In inches as all the rest: a share of the height would put the note of a tall figure into its legend.
    figure.supxlabel(note, y=NOTE_LINE / 4 / high, **NOTE).set_in_layout(False)
    # A notebook cuts a figure to what is in its layout: this is, and is all of it.
    figure.add_artist(Rectangle((0, 0), 1, 1, fill=False, linewidth=0, transform=figure.transFigure))


def height_below(entries: int, ncols: int, note: str) -> float:
    """How high a legend with a note below it is, in inches."""
    return -(-entries // ncols) * LEGEND_LINE + LEGEND_LINE / 2 + note_height(note)


def legend_below(figure: Figure, axes: Axes, ncols: int) -> None:
    """One legend for all panels, with what is drawn in one of them."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=ncols, frameon=False)


def note_height(note: str) -> float:
    """How high what is said below the panels is, in inches."""
    return (1 + note.count("\n")) * NOTE_LINE + NOTE_LINE / 2


def plain_numbers(axis: Axis) -> None:
    """Mark a logarithmic axis with 1, 2, 5, 10 and so on, written without powers."""

    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def powers_of_ten(axis: Axis) -> None:
    """Mark a logarithmic axis, whose limits are set, with powers of ten, written with raised digits.

    One of them alone tells no scale: an axis that has fewer than two has plain numbers.
    Matplotlib's own marks are formulas, which it takes as long to parse and to lay out as all the rest. Those
    between the powers are left out where there are many, too close to read: they took half of the drawing.
    """

    low, high = axis.get_view_interval()
    if math.floor(math.log10(high)) <= math.ceil(math.log10(low)):
        plain_numbers(axis)
        return
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
    axis.set_minor_formatter(NullFormatter())
    if high > 10**DECADES * low:
        axis.set_minor_locator(NullLocator())


def power_of_ten(value: float) -> str:
    """An exact power of ten in words of a figure, such as 10⁻⁹."""
    return "10" + str(round(math.log10(value))).translate(RAISED)


def figure_path(path: str | Path | None) -> Path | None:
    """The path of a figure, if there is one; ValueError if it ends in none of `FORMATS`."""
    if path is not None and Path(path).suffix not in [f".{ending}" for ending in FORMATS]:
        raise ValueError(f"path must end in {' or '.join(f'.{ending}' for ending in FORMATS)}, got {str(path)!r}")
    return None if path is None else Path(path)


def save(figure: Figure, table: DataFrame, path: Path | None) -> Figure:
    """Write a figure in each of `FORMATS`, and the numbers in it as .csv beside them, each file as a whole; return it.

    Without a path nothing is written.
    A PDF carries no date, so that equal figures are equal files.

    Parameters
    ----------
    path : Path, optional
        As `figure_path` gives it; the files have its name and their own endings.

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
        with matplotlib.rc_context(TRUETYPE):
            figure.savefig(drawn, format=ending, dpi=DPI, metadata=metadata)
        with matplotlib.rc_context(NO_LAYOUT):
            figure.set_layout_engine(None)  # laid out once, for all formats; with "none" it would be drawn twice
        write_whole(path.with_suffix(f".{ending}"), drawn.getvalue())
    write_whole(path.with_suffix(".csv"), table.to_csv(index=False))
    return figure
