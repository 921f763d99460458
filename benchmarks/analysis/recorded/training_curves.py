"""What the curves of a recorded table say of light training: pure functions.

Errors are validation errors, shares of wrong answers; "so far" means the best since the start of training.
"""

from __future__ import annotations

import numpy as np
import pandas
from numpy.typing import NDArray

from benchmarks.tables.table import Table, stop_of
from btao.training import Level

GUESSING = 0.9  # the error of guessing among ten classes: that of a network before its training


def levels(table: Table) -> tuple[Level, Level]:
    """The light and the heavy level of the recorded task."""
    task = table.head.objective()
    return task.light, task.heavy


def errors_so_far(table: Table) -> pandas.DataFrame:
    """Errors so far: one row a configuration, one column an iteration; those that diverged are left out.

    Where training was stopped before, they stay what they were.
    """
    diverged = table.rows.loc[table.rows["validation_error"].isna(), "configuration"]
    wide = table.rows.pivot(index="configuration", columns="iteration", values="validation_error")
    return wide[~wide.index.isin(diverged)].cummin(axis=1).ffill(axis=1)


def of_levels(table: Table, light: Level, heavy: Level) -> pandas.DataFrame:
    """What the two levels measure, and when they stop.

    Returns
    -------
    DataFrame
        By configuration: light, heavy (errors), light_stop, heavy_stop (iterations). Where only some
        numbers of iterations are recorded, levels are read at theirs.
    """
    rows = {}
    for configuration, curve in table.rows.groupby("configuration"):
        errors = curve["validation_error"].to_numpy()
        if np.isnan(errors).any():
            continue
        iterations = curve["iteration"].to_numpy()
        values = []
        for level in (light, heavy):
            if table.head.every_iteration:
                values.append((level.measure(errors.tolist()), stop_of(level, errors.tolist())))
            else:  # each is what a run of so many iterations measures
                values.append((errors[iterations <= level.iterations][-1], level.iterations))
        rows[configuration] = [values[0][0], values[1][0], values[0][1], values[1][1]]
    return pandas.DataFrame.from_dict(rows, "index", columns=["light", "heavy", "light_stop", "heavy_stop"])


def improvement_shares(table: Table, heavy: Level, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of a heavy run's improvement on guessing that were there after shares of its time.

    Between iterations the last one counts. Configurations that never were better than guessing are
    left out, as those that diverged are.

    Parameters
    ----------
    table : Table
        With every iteration.
    heavy : Level
        Where a run ends.
    at : (m,) array
        Shares of the time, from 0 to 1.

    Returns
    -------
    (n, m) array
    """
    shares = []
    for _, curve in table.rows.groupby("configuration"):
        errors = curve["validation_error"].to_numpy()
        if np.isnan(errors).any():
            continue
        stop = stop_of(heavy, errors.tolist())
        so_far = np.minimum.accumulate([GUESSING, *errors[:stop]])
        if so_far[-1] == GUESSING:
            continue
        seconds = np.array([0.0, *curve[table.head.clock].to_numpy()[:stop]])
        done = np.searchsorted(seconds / seconds[-1], at, side="right") - 1
        shares.append((GUESSING - so_far[done]) / (GUESSING - so_far[-1]))
    return np.array(shares).reshape(len(shares), len(at))


def rank_correlations(table: Table) -> pandas.Series:
    """Spearman's correlation, over configurations, of the errors so far with those at the end, by iteration.

    At the end of the curves: of a heavy run, where the table is not of full length.
    """
    so_far = errors_so_far(table)
    ranks = so_far.rank()
    return ranks.corrwith(ranks.iloc[:, -1]).rename("rank correlation")
