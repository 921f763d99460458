"""The curves of a study in a notebook, with methods to switch on and off and a choice of the cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from pandas import DataFrame

from benchmarks.analysis.aggregate import AXES
from benchmarks.analysis.incumbents import keys
from benchmarks.analysis.intervals import check_choice
from benchmarks.figures.curves import AXIS_LABELS, curves_figure
from benchmarks.figures.focus import MOST
from btao.viewing.explorer import Explorer, widgets_for


class CurvesExplorer(Explorer):
    """The curves of trials, with a control of the cost and one for each method.

    Parameters
    ----------
    trials : DataFrame
        As `records.load` returns them, one at least.
    labels : mapping
        By method (name and hash): the name to show. Those without are left out.
    cost : {"train_seconds", "heavy_runs", "heavy_equivalents", "time"}
        That is drawn first.
    options
        As `figures.curves.curves_figure` takes them, but for `path` and `focus`.

    Attributes
    ----------
    cost : ipywidgets.Dropdown
    methods : dict of str to ipywidgets.Checkbox
        By label, as in the legend.

    Raises
    ------
    ImportError
        If ipywidgets is not installed.
    ValueError
        If a choice is none of those named.
    """

    def __init__(self, trials: DataFrame, labels: Mapping[str, str], cost: str, **options: Any) -> None:
        widgets = widgets_for("explore()")
        check_choice("cost", cost, AXES)
        self._trials, self._options = trials, {"labels": labels, **options}
        self._labels = keys(trials).map(labels)
        self.cost = widgets.Dropdown(
            options=[(AXIS_LABELS[name], name) for name in AXES], value=cost, description="against"
        )
        self.methods = {
            label: widgets.Checkbox(value=True, description=label, indent=False, layout=widgets.Layout(width="auto"))
            for label in dict.fromkeys(labels.values())
        }
        self.follow([[self.cost], list(self.methods.values())])

    def draw(self) -> Figure:
        """The curves of the methods that are on, all of at most five in color."""
        on = [label for label, box in self.methods.items() if box.value]
        if not on:
            figure = Figure((5.2, 1), layout="constrained")
            figure.text(0.5, 0.5, "no method is switched on", ha="center", va="center")
            return figure
        trials = self._trials[self._labels.isin(on)]
        focus = on if len(on) <= MOST else None
        return curves_figure(trials, self.cost.value, focus=focus, **self._options)
