"""How accurately BTAO's model and others predict the heavy response: runs, fits and scores on a test design."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmarks.common.environment import portably
from benchmarks.common.errors import UsageError
from benchmarks.config import options
from benchmarks.config.request import Request, own_options, read

# pandas, the tables and the engine are imported when used: a mistake in the arguments shows at once.
if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

    from benchmarks.objectives.protocol import Objective
    from benchmarks.running.experiment import Experiment
    from benchmarks.tables.replay import Replay
    from btao import Space

    # Points (m, dim) of the unit cube, and the true heavy responses there, (m,).
    Design = tuple[NDArray[np.float64], NDArray[np.float64]]

HELD_OUT, LEAST_HELD_OUT = 4, 30  # of a table's configurations: one in so many, and how many if that is fewer
# Options of `benchmarks.run` that have no effect here.
RUN_ONLY = (
    *("method", "methods", "engine", "jobs", "threads", "display", "shared_init", "cache", "data", "data_dir"),
    "rerun",
)
TEST_SEED = 2**31  # of the test design; none that runs usually have
# A method and the changes of it that give each model its own runs.
OWN = {"tam": ("btao_joint", ()), "koh": ("btao_joint", ("delta_bounds", "rho_bounds")), "gp": ("gp_bo", ())}


def read_arguments(arguments: Sequence[str]) -> tuple[Path, int, list[str]]:
    """Where to write, the size of the test design, and the arguments for `study`."""
    own, rest = own_options(arguments, {"out": "profile.parquet", "points": "512"}, RUN_ONLY, "a profile")
    out = Path(os.path.expanduser(own["out"]))
    if out.suffix not in (".parquet", ".csv"):
        raise UsageError(f"out={own['out']}: give a file that ends in .parquet or .csv")
    points = options.count("points", options.number(own["points"]))
    return out, points, rest


def portable_study(arguments: Sequence[str], points: int) -> DataFrame:
    """What `study` returns, the same on any x86-64 processor with AVX2; see `portably`."""
    _request(arguments)  # a mistake shows before a process is started
    with tempfile.TemporaryDirectory() as folder:
        return portably(study, arguments, points, Path(folder))


def study(arguments: Sequence[str], points: int, folder: Path) -> DataFrame:
    """How accurate each model is after each heavy run: the table that `benchmarks.profile` writes and describes.

    Parameters
    ----------
    arguments : sequence of str
        Arguments of `benchmarks.run`: the task, seeds, budget, source.
    points : int
        Of the test design; of no effect with a table.
    folder : Path
        Where runs are recorded, and the table that they replay is.

    Raises
    ------
    UsageError
        If an argument is wrong, the truth of the task is not known, or its table is too small.
    """
    import pandas as pd

    table = _request(arguments).table
    objective, _ = _plan(arguments, "tam", folder, table)[0].build()
    if table is None:
        test = _formula_design(objective, points)
    else:
        whole = cast("Replay", objective)
        table, held_out = hold_out(table, folder)
        objective, _ = _plan(arguments, "tam", folder, table)[0].build()  # whose space is not that of a grid
        test = _recorded_design(whole, held_out, objective.space)
    plans = {model: _plan(arguments, model, folder, table) for model in OWN}
    bounded = np.isfinite([*objective.delta_bounds, *objective.rho_bounds]).any()
    parts = []
    for tam, koh, gp in zip(*plans.values(), strict=True):
        runs = {"tam": _run(tam, folder), "gp": _run(gp, folder)}
        common = {model: _accuracy(objective, runs["tam"], model, test) for model in ("tam", "gp")}
        own = {"tam": common["tam"], "gp": _accuracy(objective, runs["gp"], "gp", test)}
        if bounded:
            both = runs["tam"], _run(koh, folder)
            common["koh"], own["koh"] = (_accuracy(objective, trials, "koh", test) for trials in both)
        else:
            common["koh"] = own["koh"] = common["tam"].assign(model="koh")
        for name, tables in (("own", own), ("common", common)):
            for model in OWN:
                head = {"task": tam.task.name, "data": tam.data and tam.data.name, "runs": name, "seed": tam.seed}
                parts.append(tables[model].assign(**head))
    columns = ["task", "data", "model", "runs", "seed", "heavy_runs", "n", "rmse", "coverage", "width", "log_score"]
    return pd.concat(parts, ignore_index=True)[columns].astype({"data": "str"})


def hold_out(path: Path, folder: Path) -> tuple[Path, dict[int, dict[str, Any]]]:
    """Keep a random part of a recorded table from the runs.

    Drawn from `TEST_SEED`, of the configurations whose training did not diverge. What is left of a grid is none: it
    answers as a table of another design does, in the space of the task.

    Parameters
    ----------
    path : Path
        The table, a sound one.
    folder : Path
        Where the table without them is written, under the same name.

    Returns
    -------
    path : Path
        Of that table.
    held_out : dict of int to dict
        The configurations that are held out, by their numbers in the table.

    Raises
    ------
    UsageError
        If fewer than two configurations can be held out.
    """
    from benchmarks.tables import table as tables

    table = tables.load(path)
    last = table.rows.drop_duplicates("configuration", keep="last")
    sound = last.loc[last["validation_error"].notna(), "configuration"].to_numpy()
    n = min(max(len(last) // HELD_OUT, LEAST_HELD_OUT), len(sound) // 2)
    if n < 2:
        raise UsageError(f"table={path}: {len(sound)} configurations with a heavy result are too few to hold some out")
    numbers = np.sort(np.random.default_rng(TEST_SEED).choice(sound, n, replace=False))
    rest = table.rows[~table.rows["configuration"].isin(numbers)]
    reduced = folder / "table" / path.name
    head = dataclasses.replace(table.head, grid=None)
    dataclasses.replace(table, head=head, rows=rest.reset_index(drop=True)).save(reduced)
    configurations = table.configurations
    return reduced, {number: configurations[number] for number in numbers.tolist()}


def _request(arguments: Sequence[str], *more: str) -> Request:
    (request,) = read([*arguments, *more] if more else [*arguments, "method=btao_joint"])
    return request


def _plan(arguments: Sequence[str], model: str, folder: Path, table: Path | None) -> Sequence[Experiment]:
    """The runs, seed by seed, that are a model's own; with a table they replay this one."""
    from benchmarks.running.plan import plan

    method, unbounded = OWN[model]
    changes = [f"methods.{method}.{name}=[-inf,inf]" for name in unbounded]
    return plan(
        dataclasses.replace(_request(arguments, f"method={method}", *changes), out=folder, table=table)
    ).experiments


def _run(experiment: Experiment, folder: Path) -> DataFrame:
    """The trials of a run."""
    from benchmarks import records
    from benchmarks.records.command import Command
    from benchmarks.running.experiment import run_experiment

    run_experiment(experiment, folder, command=Command("benchmarks.profile"))
    return records.load(experiment.folder(folder), strict=True)


def _formula_design(objective: Objective, n: int) -> Design:
    """Of a task whose heavy responses are known by formula; UsageError if they are not."""
    from benchmarks.tables.design import configurations

    design = configurations(objective.space, n, TEST_SEED)
    objective.prepare()
    truth = [objective.truth(config) for config in design]
    if None in truth:
        raise UsageError("the true heavy response of this task is not known: give source=table, or another task")
    return np.array([objective.space.to_unit(config) for config in design]), np.array(truth)


def _recorded_design(whole: Replay, held_out: Mapping[int, Mapping[str, Any]], space: Space) -> Design:
    """Of the configurations of a whole table that were held out, by their numbers; points of a space."""
    places = [whole.numbers.index(number) for number in held_out]
    values = [whole.read(place, whole.heavy, 0).value for place in places]
    return np.array([space.to_unit(config) for config in held_out.values()]), np.array(values)


def _accuracy(objective: Objective, trials: DataFrame, model: str, test: Design) -> DataFrame:
    from benchmarks.analysis.prediction import accuracy

    delta_bounds, rho_bounds = objective.delta_bounds, objective.rho_bounds
    return accuracy(trials, objective.space, model, *test, delta_bounds=delta_bounds, rho_bounds=rho_bounds)
