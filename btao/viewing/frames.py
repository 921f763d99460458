"""Trials as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from btao.optional import load
from btao.parameters import Categorical, Constant
from btao.space import Space
from btao.trial import Trial

COLUMNS = ("number", "level", "status", "value", "error", "cost", "given")


def trials_frame(trials: Sequence[Trial], space: Space) -> Any:
    """A DataFrame with a row a trial.

    Parameters
    ----------
    trials : sequence of Trial
    space : Space

    Returns
    -------
    pandas.DataFrame
        The attributes of `Trial` and a column for each parameter, which is called "config.<name>" where a column of
        that name is there already. Choices are the objects that they are; None stands where a parameter is inactive, if
        its column is not of numbers.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    pandas = load("pandas", "trials_frame()", "plots")
    names = {name: f"config.{name}" if name in COLUMNS else name for name in space.names}
    rows = [
        {name: getattr(trial, name) for name in COLUMNS} | {names[name]: trial.config.get(name) for name in names}
        for trial in trials
    ]
    frame = pandas.DataFrame(rows, columns=[*COLUMNS, *names.values()])
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Categorical | Constant):  # 1 and 1.0 are two choices, which pandas takes for one
            values = [row[names[name]] for row in rows]
            frame[names[name]] = pandas.Series(values, index=frame.index, dtype=object)
    return frame.astype({"value": float, "cost": float})
