"""Words of figures: how a panel is titled, and what room words take."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import matplotlib
from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from benchmarks.data.published import DATASETS
from benchmarks.figures.style import LETTERS_PER_INCH, NOTE

TABLE = re.compile(r"(?:(?P<data>.+) \()?table (?P<name>[^()]+)\)?")  # what records call the data of a replay
IMAGES = re.compile(r"-n(\d+)-")  # in the name of a table that is not of as many as its scale has
ALL = re.compile(r"-paper$")  # a table of this scale has all training images, if its name does not say how many
POINTS = 72  # an inch


def panel_title(task: str, data: str | None) -> str:
    """What a panel shows: the task, its data and, where a published data set was recorded, how many training images.

    Parameters
    ----------
    task : str
    data : str, optional
        As records have it, such as "mnist (table svm-mnist-n10000-grid-paper)".
    """
    found = None if data is None else TABLE.fullmatch(data)
    if data is None or (found and found["data"] is None):
        return task
    if not found:
        return f"{task} on {data}"
    name, table = found["data"], found["name"]
    images = IMAGES.search(table)
    number = int(images[1]) if images else None
    if number is None and name in DATASETS and ALL.search(table):
        number = sum(DATASETS[name].train_counts) - DATASETS[name].n_validation
    return f"{task} on {name}" + ("" if number is None else f", {number:,} images")


def wrapped(text: str, inches: float, size: float) -> str:
    """The text, in lines if it is longer than so many inches, in the present font of a size in points."""
    if _wide(text, size) <= inches:
        return text
    return textwrap.fill(text, max(1, int(LETTERS_PER_INCH * inches * NOTE["fontsize"] / size)))


def entries_beside(handles: Sequence[Artist], inches: float) -> int:
    """How many entries of a legend fit beside each other, at least 1, with matplotlib's present settings."""
    size, setting = matplotlib.rcParams["legend.fontsize"], matplotlib.rcParams
    longest = max((_wide(str(each.get_label()), size) for each in handles), default=0.0)
    entry = longest + size / POINTS * (setting["legend.handlelength"] + setting["legend.handletextpad"])
    between, rim = size / POINTS * setting["legend.columnspacing"], size / POINTS * setting["legend.borderpad"]
    fit = int((inches - 2 * rim + between) / (entry + between))
    return max(1, min(len(handles), fit))


def _wide(text: str, size: float) -> float:
    """The width of a line in inches."""
    points, _, _ = TextToPath().get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(points) / POINTS
