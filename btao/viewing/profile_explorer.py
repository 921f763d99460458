"""The performance profile along one parameter or two, with sliders that move it through the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from btao.optional import load
from btao.parameters import Parameter
from btao.viewing.explorer import Explorer, widgets_for
from btao.viewing.plots import complete, grid, plot_profile

if TYPE_CHECKING:
    from btao.interface.showing import Showing

STOPS = 21  # of a slider
LINE = "–"  # in place of a second parameter


class ProfileExplorer(Explorer):
    """The profile of an optimizer, with a control of what is drawn and of where.

    Parameters
    ----------
    optimizer : BTAO
    *names : str
        The parameters along which it is drawn first, as in `plot_profile`; the first parameter where none is given.

    Attributes
    ----------
    along, across : ipywidgets.Dropdown
        The parameters along which it is drawn: `across` is "–" for a line.
    at : dict of str to ipywidgets.SelectionSlider
        The values of the others, at first those of `best`.

    Raises
    ------
    ImportError
        If ipywidgets or matplotlib is not installed.
    RuntimeError, ValueError
        As `plot_profile`.
    """

    def __init__(self, optimizer: Showing, *names: str) -> None:
        widgets = widgets_for("explore_profile()")
        self._optimizer = optimizer
        space = optimizer.space
        names = names or space.names[:1]
        plot_profile(optimizer, *names, ax=_axes())  # an error before anything is shown
        best = optimizer.best
        assert best is not None
        first = complete(space, best, {})
        self.along = widgets.Dropdown(options=list(space.names), value=names[0], description="along")
        across = names[1] if len(names) > 1 else LINE
        self.across = widgets.Dropdown(options=[LINE, *space.names], value=across, description="and")
        self.at = {
            name: widgets.SelectionSlider(
                options=_stops(parameter, first[name]), value=first[name], description=name, continuous_update=False
            )
            for name, parameter in space.parameters.items()
        }
        self.follow([[self.along, self.across], list(self.at.values())])

    def draw(self) -> Any:
        """The profile where the sliders are; a sentence in place of it where there is none."""
        names = list(dict.fromkeys(name for name in (self.along.value, self.across.value) if name != LINE))
        for name, slider in self.at.items():
            slider.disabled = name in names
        axes = _axes()
        try:
            plot_profile(self._optimizer, *names, at={name: slider.value for name, slider in self.at.items()}, ax=axes)
        except ValueError as error:
            axes.text(0.5, 0.5, str(error), ha="center", va="center", wrap=True, transform=axes.transAxes)
            axes.set_axis_off()
        return axes.figure


def _axes() -> Any:
    """Empty axes, of a figure that pyplot does not keep."""
    return load("matplotlib.figure", "explore_profile()", "plots").Figure((6.4, 4), layout="constrained").add_subplot()


def _stops(parameter: Parameter, value: Any) -> list[tuple[str, Any]]:
    """Where a slider stops, in order: a grid and a value of it, which stays where another reads alike."""
    texts = {_text(each): each for each in [*grid(parameter, STOPS), value]}
    return sorted(texts.items(), key=lambda pair: parameter.to_unit(pair[1]))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
