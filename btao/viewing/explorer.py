"""A figure that follows controls in a notebook, by ipywidgets."""

from __future__ import annotations

import base64
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from btao.optional import load

DPI = 100
STATIC = "BTAO_STATIC"  # an environment variable: where it is set, a notebook gets the figure alone


def widgets_for(purpose: str) -> Any:
    """The library ipywidgets, or ImportError that says what it is for and how it is installed."""
    return load("ipywidgets", purpose, extra="notebooks")


def png_of(figure: Any, **options: Any) -> bytes:
    """A matplotlib Figure as a picture; `options` are those of its `savefig`."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", **options)
    return drawn.getvalue()


class Explorer(ABC):
    """Controls, and a figure that is drawn anew when one of them changes.

    A notebook shows both while its kernel runs. What it saves holds the figure as PNG beside them, which is what is
    shown where there is no kernel.

    Attributes
    ----------
    figure : matplotlib Figure
        As drawn last.
    """

    figure: Any

    @abstractmethod
    def draw(self) -> Any:
        """A matplotlib Figure for the present values of the controls."""

    def follow(self, rows: Sequence[Sequence[Any]]) -> None:
        """Draw, and draw again when a control changes; rows are how the controls are laid out."""
        widgets = widgets_for("an explorer")
        self._image = widgets.Image(format="png")
        lines = [widgets.HBox(list(row), layout=widgets.Layout(flex_flow="row wrap")) for row in rows]
        self._box = widgets.VBox([*lines, self._image])
        for control in (control for row in rows for control in row):
            control.observe(self._redraw, names="value")
        self._redraw()

    @property
    def png(self) -> bytes:
        """The figure as a picture."""
        return bytes(self._image.value)

    def _redraw(self, change: Any = None) -> None:
        self.figure = self.draw()
        self._image.value = png_of(self.figure, dpi=DPI, bbox_inches="tight")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        still = {"image/png": base64.b64encode(self.png).decode(), "text/plain": repr(self)}
        return still if os.environ.get(STATIC) else {**self._box._repr_mimebundle_(), **still}

    def __repr__(self) -> str:
        return f"{type(self).__name__}: run the cell to move its controls"
