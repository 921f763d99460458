"""Figures of a search, drawn with matplotlib: the performance profile and the history."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from btao.arrays import FloatArray
from btao.optional import load
from btao.parameters import Categorical, Constant, Ordinal, Parameter, Real
from btao.trial import Trial, measured

if TYPE_CHECKING:
    from btao.interface.showing import Showing
    from btao.space import Space

N_LINE, N_PLANE = 201, 41
LISTED = Categorical | Ordinal | Constant
MARKERS = {"light": ("o", "tab:orange"), "heavy": ("s", "tab:blue")}


def plot_profile(optimizer: Showing, *names: str, at: Mapping[str, Any] | None = None, ax: Any = None) -> Any:
    """The heavy response along one parameter or two, as the model has it; the others are those of `best`, or of `at`.

    Parameters
    ----------
    optimizer : BTAO
    *names : str
        One parameter: mean and a band of two standard deviations. Two: the mean as colors, the deviation as lines.
        The values of both levels are drawn at their place along these parameters, whatever the others are.
    at : mapping, optional
        Values of other parameters, in place of those of `best`.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    RuntimeError
        Before a configuration has a light and a heavy result.
    ValueError
        If a name is no parameter, or not active beside the others, or there are not one or two; or `at` has what is no
        parameter or no value of one.
    ImportError
        If matplotlib is not installed.
    """
    space, best = optimizer.space, optimizer.best
    if not 1 <= len(set(names)) == len(names) <= 2:
        raise ValueError(f"names must be one parameter or two different ones, got {names!r}")
    for name in names:
        if name not in space.parameters:
            raise ValueError(f"names must be of the parameters {list(space.names)}, got {name!r}")
    optimizer.predict([])  # an error before there is a heavy trial
    assert best is not None
    others = complete(space, best, at or {})
    here = space.assemble(others.__getitem__)
    if inactive := [name for name in names if name not in here]:
        where = "in the best configuration" if at is None else "there"
        raise ValueError(f"names must be active {where}, {here}, but {inactive[0]!r} is not")
    parameters = [space.parameters[name] for name in names]
    grids = [grid(parameter, N_LINE if len(names) == 1 else N_PLANE) for parameter in parameters]
    configs = [
        space.assemble((others | dict(zip(names, values, strict=True))).__getitem__)
        for values in itertools.product(*grids)
    ]
    allowed = np.array([space.allows(config) for config in configs])  # by the constraint; elsewhere nothing is drawn
    mean, std = np.full((2, len(configs)), np.nan)
    mean[allowed], std[allowed] = optimizer.predict([c for c, is_one in zip(configs, allowed, strict=True) if is_one])
    ax = ax or load("matplotlib.pyplot", "plot_profile()", "plots").figure(layout="constrained").add_subplot()
    axes = [_places(parameter, values) for parameter, values in zip(parameters, grids, strict=True)]
    if len(names) == 1:
        _draw_line(ax, axes[0], mean, std, isinstance(parameters[0], LISTED))
    else:
        _draw_plane(ax, axes, mean, std)
    _draw_trials(ax, optimizer.trials, names, parameters)
    for axis, name, parameter in zip((ax.xaxis, ax.yaxis), names, parameters, strict=False):
        _label(axis, name, parameter)
    if len(names) == 1:
        ax.set_ylabel("value")
    ax.legend()
    return ax


def plot_history(optimizer: Showing, ax: Any = None) -> Any:
    """The value of each trial in the order of asking, and the best heavy value so far.

    Parameters, errors: as `plot_profile`; without trials the axes are empty.
    """
    ax = ax or load("matplotlib.pyplot", "plot_history()", "plots").figure(layout="constrained").add_subplot()
    trials = optimizer.trials
    for level, (marker, color) in MARKERS.items():
        told = [trial for trial in trials if trial.level == level and trial.status == "ok"]
        ax.plot(*_pairs(told), marker, color=color, label=level, markersize=4)
    heavies = [trial for trial in trials if trial.level == "heavy" and trial.status == "ok"]
    better = np.maximum if optimizer.direction == "maximize" else np.minimum
    numbers, values = _pairs(heavies)
    if heavies:
        best = better.accumulate(values)
        ax.step([*numbers, len(trials) - 1], [*best, best[-1]], where="post", color="k", label="best heavy")
    failed = [trial.number for trial in trials if trial.status == "failed"]
    for number in failed:
        label = "failed" if number == failed[0] else None
        ax.axvline(number, color="tab:red", alpha=0.4, linewidth=1, label=label)
    ax.set_xlabel("trial")
    ax.set_ylabel("value")
    ax.legend()
    return ax


def complete(space: Space, best: Trial, at: Mapping[str, Any]) -> dict[str, Any]:
    """A value of every parameter: that of `at`, else of the best configuration, else of its point."""
    values = {
        name: space.parameters[name].from_unit(u) for name, u in zip(space.names, best.point.tolist(), strict=True)
    }
    values |= best.config  # which leaves out what may be active beside other values
    for name, value in at.items():
        if name not in space.parameters:
            raise ValueError(f"at must name parameters, of {list(space.names)}, got {name!r}")
        try:
            values[name] = space.parameters[name].validate(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"at: parameter {name!r}: {error}") from None
    return values


def grid(parameter: Parameter, n: int) -> list[Any]:
    """At most n values of a parameter along its axis, all of one that has no more or is listed."""
    if isinstance(parameter, Real) or parameter.size > n:
        coordinates = np.linspace(0, 1, n)
        return list(dict.fromkeys(parameter.from_unit(float(u)) for u in coordinates))
    return [parameter.from_unit(float(u)) for u in parameter.centers()]


def _places(parameter: Parameter, values: Sequence[Any]) -> FloatArray:
    """Where values stand on an axis: at themselves, or one beside the other where they are listed."""
    if isinstance(parameter, LISTED):
        return np.array([parameter.index(value) for value in values], dtype=float)
    return np.array(values, dtype=float)


def _label(axis: Any, name: str, parameter: Parameter) -> None:
    axis.set_label_text(name)
    if isinstance(parameter, LISTED):
        listed = [str(parameter.from_unit(float(u))) for u in parameter.centers()]
        axis.set_ticks(range(len(listed)), listed)
    elif parameter.log:
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})


def _draw_line(ax: Any, x: FloatArray, mean: FloatArray, std: FloatArray, listed: bool) -> None:
    if listed:
        ax.errorbar(x, mean, 2 * std, fmt="_", color="k", capsize=4, label="heavy, by the model")
        return
    ax.plot(x, mean, color="k", label="heavy, by the model")
    ax.fill_between(x, mean - 2 * std, mean + 2 * std, color="k", alpha=0.15, linewidth=0, label="± 2 std")


def _draw_plane(ax: Any, axes: Sequence[FloatArray], mean: FloatArray, std: FloatArray) -> None:
    shape = [len(axis) for axis in axes]
    image = ax.pcolormesh(*axes, mean.reshape(shape).T, shading="nearest", cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label="heavy, mean by the model")
    known = std[np.isfinite(std)]
    if min(shape) > 1 and len(known) and np.ptp(known) > 0:
        lines = ax.contour(*axes, std.reshape(shape).T, levels=4, colors="w", linewidths=0.8)
        ax.clabel(lines, fmt="%.2g")


def _draw_trials(ax: Any, trials: Sequence[Trial], names: Sequence[str], parameters: Sequence[Parameter]) -> None:
    for level, (marker, color) in MARKERS.items():
        told = [each for each in trials if each.level == level and each.status == "ok" and {*names} <= {*each.config}]
        places = [_places(p, [trial.config[name] for trial in told]) for name, p in zip(names, parameters, strict=True)]
        if len(places) == 1:
            places.append(np.array([measured(trial) for trial in told]))
        ax.plot(*places, marker, color=color, markeredgecolor="w", markersize=6, linestyle="", label=level, zorder=3)


def _pairs(trials: Sequence[Trial]) -> tuple[list[int], list[float]]:
    """Numbers and values of successful trials."""
    return [trial.number for trial in trials], [measured(trial) for trial in trials]
