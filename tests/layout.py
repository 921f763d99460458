"""Where the words of a figure are, so that tests can say that all can be read."""

from __future__ import annotations

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

SLACK = 1.0  # pixels by which boxes may meet: letters do not fill theirs


def text_boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """What a figure says, with its place in pixels, once it is laid out."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    texts += [each for each in (figure._suptitle, figure._supxlabel) if each is not None]
    for axes in figure.axes:
        texts += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            texts += [axis.get_offset_text()]
            texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    renderer = canvas.get_renderer()
    shown = [text for text in dict.fromkeys(texts) if text.get_text() and text.get_visible()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in shown]


def faults(figure: Figure) -> list[str]:
    """Texts that are cut by the edge of a figure, and pairs that meet."""
    boxes = text_boxes(figure)
    page = figure.bbox
    cut = [
        f"{text!r} is cut"
        for text, box in boxes
        if min(box.x0, box.y0) < -SLACK or box.x1 > page.x1 + SLACK or box.y1 > page.y1 + SLACK
    ]
    meet = [
        f"{text!r} meets {other!r}"
        for (text, one), (other, two) in itertools.combinations(boxes, 2)
        if min(one.x1, two.x1) - max(one.x0, two.x0) > SLACK and min(one.y1, two.y1) - max(one.y0, two.y0) > SLACK
    ]
    return cut + meet
