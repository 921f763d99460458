"""How often methods propose what they have paid for before: on a grid they are answered again, and learn nothing."""

from __future__ import annotations

from pandas import DataFrame, Series

from benchmarks.analysis.incumbents import METHOD, RUN, labels


def repeats(frame: DataFrame) -> DataFrame:
    """The share of trials that repeat an earlier one, of each method on each task.

    A trial repeats an earlier one of its run that had the same configuration and was granted as much or more.

    Parameters
    ----------
    frame : DataFrame
        Trials as `records.load` returns them, with the columns of the configuration.

    Returns
    -------
    DataFrame
        One row a task and method: task, method, hash, label, seeds, `repeating`, the share of seeds with a repeat,
        trials, and `repeated`, the share of trials that are one.

    Raises
    ------
    ValueError
        If there is no column of a configuration.
    """
    known = frame.assign(label=labels(frame), repeated=_repeats(frame))
    runs = known.groupby([*RUN, "label"], sort=False)["repeated"].agg(["any", "size", "sum"]).reset_index()
    rows = runs.groupby([*METHOD, "label"], sort=False)
    table = rows.agg(seeds=("seed", "size"), repeating=("any", "mean"), trials=("size", "sum"), repeated=("sum", "sum"))
    return table.assign(repeated=table["repeated"] / table["trials"]).reset_index()


def _repeats(frame: DataFrame) -> Series:
    config = [name for name in frame.columns if name.startswith("config.")]
    if not config:
        raise ValueError("frame lacks the columns config.<name>: give it the trials as records.load returns them")
    # A parameter that is inactive is missing: it compares as a text that no value has.
    values = [frame[name].astype("object").where(frame[name].notna(), "<inactive>") for name in config]
    same = [*(frame[name] for name in RUN), *values]
    most = frame["budget"].groupby(same, sort=False).cummax()
    return frame["budget"] <= most.groupby(same, sort=False).shift(fill_value=0)
