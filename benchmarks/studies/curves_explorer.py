"""The curves of a study in a notebook, with methods to switch on and off and a choice of the cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from benchmarks.analysis.aggregate import AXES
from benchmarks.analysis.incumbents import keys
from benchmarks.analysis.intervals import check_choice
from benchmarks.figures.curves import AXIS_LABELS, curves_figure
from benchmarks.figures.focus import MOST
from btao.viewing.explorer import Explorer, widgets_for

if TYPE_CHECKING:
    from benchmarks.studies.study import Study


class CurvesExplorer(Explorer):
    """The curves of a study, with a control of the cost and one for each method.

    Parameters
    ----------
    study : Study
    cost : {"train_seconds", "heavy_runs", "heavy_equivalents", "time"}
        That is drawn first.
    options
        As `Study.plot` takes them, but for `path` and `focus`.

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
        If the study has no trial, or a choice is none of those named.
    """

    def __init__(self, study: Study, cost: str = "train_seconds", **options: Any) -> None:
        widgets = widgets_for("explore()")
        check_choice("cost", cost, AXES)
        if study.trials.empty:
            raise ValueError("no run of this study is done: there is nothing to explore")
        self._trials, self._options = study.trials, {"labels": study.labels, **options}
        self._labels = keys(study.trials).map(self._options["labels"])
        self.cost = widgets.Dropdown(
            options=[(AXIS_LABELS[name], name) for name in AXES], value=cost, description="against"
        )
        self.methods = {
            label: widgets.Checkbox(value=True, description=label, indent=False, layout=widgets.Layout(width="auto"))
            for label in dict.fromkeys(self._options["labels"].values())
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
