"""The noise of training: how far the heavy errors of one configuration lie apart that is trained from several seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas

from benchmarks.analysis.recorded.training_curves import levels, of_levels
from benchmarks.common.formats import number
from benchmarks.tables.repeats import check_repeats
from benchmarks.tables.table import Table


def heavy_errors(table: Table, repeats: Sequence[Table]) -> pandas.DataFrame:
    """What the heavy level measures: a row a configuration, a column a seed of training.

    Only of configurations that all tables have and that never diverged.

    Raises
    ------
    ValueError
        If there is no repeat, a repeat is of another recording, or there is no such configuration.
    """
    if not repeats:
        raise ValueError(f"there is no repeat of table {table.name}, so nothing to tell noise from")
    check_repeats(table, repeats)
    light, heavy = levels(table)
    errors = {each.head.seed: of_levels(each, light, heavy)["heavy"] for each in (table, *repeats)}
    common = pandas.concat(errors, axis="columns", join="inner").rename_axis(index="configuration", columns="seed")
    if common.empty:
        raise ValueError(f"table {table.name} and its repeats have no configuration in common that never diverged")
    return common


def by_configuration(errors: pandas.DataFrame) -> pandas.DataFrame:
    """Of each configuration the mean error, the standard deviation between seeds, and whether it is of the best.

    Parameters
    ----------
    errors : DataFrame
        As `heavy_errors` gives them.

    Returns
    -------
    DataFrame
        By configuration: mean, sd (over n - 1), and best: whether it is of the quarter with the lowest means, rounded
        up.
    """
    spread = pandas.DataFrame({"mean": errors.mean(axis="columns"), "sd": errors.std(axis="columns")})
    quarter = spread["mean"].nsmallest(math.ceil(len(spread) / 4)).index
    return spread.assign(best=spread.index.isin(quarter))


def pooled(spread: pandas.DataFrame) -> float:
    """The standard deviation between seeds over configurations: the root of the mean variance."""
    return math.sqrt((spread["sd"] ** 2).mean())


def stated(errors: pandas.DataFrame) -> str:
    """The noise in words, as the README of the tables has it."""
    spread = by_configuration(errors)
    best = spread[spread["best"]]
    return (
        f"{len(errors)} configurations at {len(errors.columns)} seeds of training; standard deviation of the heavy "
        f"error between seeds: {number(pooled(spread), 2)} pooled, {number(spread['sd'].median(), 2)} in the median, "
        f"{number(pooled(best), 2)} pooled over the {len(best)} best"
    )
