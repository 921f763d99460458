"""How often methods propose what they have paid for before: on a grid they are answered again, and learn nothing."""

from __future__ import annotations

from pandas import DataFrame, Series, isna

from benchmarks.analysis.incumbents import METHOD, RUN, labels
from btao.parameters import key


def repeats(frame: DataFrame) -> DataFrame:
    """The share of trials that repeat an earlier one, of each method on each task.

    A trial repeats an earlier one of its run that had the same configuration and was granted as many iterations.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them, those of one run in the order of their record.

    Returns
    -------
    DataFrame
        One row a task and method: task, method, hash, label, seeds, `repeating`, the share of seeds with a repeat,
        trials, and `repeated`, the share of trials that are one.

    Raises
    ------
    ValueError
        If there is no column of a configuration, as in results that are kept without them.
    """
    known = frame.assign(label=labels(frame), repeated=_repeats(frame))
    runs = known.groupby([*RUN, "label"], sort=False)["repeated"].agg(["any", "size", "sum"]).reset_index()
    rows = runs.groupby([*METHOD, "label"], sort=False)
    table = rows.agg(seeds=("seed", "size"), repeating=("any", "mean"), trials=("size", "sum"), repeated=("sum", "sum"))
    return table.assign(repeated=table["repeated"] / table["trials"]).reset_index()


def _repeats(frame: DataFrame) -> Series:
    config = [name for name in frame.columns if name.startswith("config.")]
    if not config:
        raise ValueError("frame has no columns config.<name>: some results are kept without configurations")
    told_apart = frame[config].map(lambda value: None if not isinstance(value, tuple) and isna(value) else key(value))
    return frame[[*RUN, "budget"]].join(told_apart).duplicated()
