"""`python -m benchmarks.profile task=currin`: how accurately BTAO's model and others predict the heavy response."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import options
from benchmarks.command_line import Request, read
from benchmarks.options import UsageError

if TYPE_CHECKING:
    from pandas import DataFrame

    from benchmarks.experiment import Experiment
    from benchmarks.objectives.protocol import Objective
    from benchmarks.replay import Replay

HELP = """\
usage: python -m benchmarks.profile task=NAME [OPTION=VALUE ...]

Makes runs of BTAO and GP-BO, fits models to them after each heavy run and compares what they predict
with the true heavy response on a fixed test design (the centre and the corners of the space, then a
scrambled Sobol sequence), or on the configurations of a recorded table that the run has not seen.
Writes one row a model, seed and heavy run:

  task, data (of a recorded table), model (tam: truncated; koh: Kennedy-O'Hagan, without bounds; gp: of
  heavy runs only), runs (own: those of the method with that model; common: those of BTAO, for all
  three), seed, heavy_runs, n (points predicted), rmse, coverage (of the 95% band), width (of the band),
  log_score (mean log density of the true response, larger is better)

options (with their defaults)
  task=NAME                   a task with a known truth, or any one that has a table, with source=table
  out=profile.parquet         the file to write, .parquet or .csv
  seeds=10                    10: the seeds 0 to 9; [3,7]: these two
  points=512                  of the test design; none with a table
  scale=laptop  budget.heavy=  source=live  table=  task.parameters.NAME=VALUE  threads=1
                              as `python -m benchmarks.run --help` says
  -h, --help                  this text

The same command gives the same file.
"""
# Options of `benchmarks.run` that have no effect here.
RUN_ONLY = ("method", "methods", "engine", "jobs", "display", "shared_init", "data", "data_dir")
TEST_SEED = 2**31  # of the test design; none that runs usually have
# A method and the changes of it that give each model its own runs.
OWN = {"tam": ("btao", ()), "koh": ("btao", ("delta_bounds", "rho_bounds")), "gp": ("gp_bo", ())}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(arguments):
        print(HELP)
        return 0
    try:
        out, points, words = _read(arguments)
        with tempfile.TemporaryDirectory() as folder:
            table = profile(words, points, Path(folder))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write = table.to_csv if out.suffix == ".csv" else table.to_parquet
        write(out, index=False)
    except OSError as error:
        print(f"error: {out}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{len(table)} rows: {out}")
    return 0


def _read(arguments: Sequence[str]) -> tuple[Path, int, list[str]]:
    """Where to write, the size of the test design, and the words for `benchmarks.command_line.read`."""
    own, rest = {"out": "profile.parquet", "points": "512"}, []
    for argument in arguments:
        name, _, value = argument.lstrip("+").partition("=")
        if argument.startswith("-"):
            raise UsageError(options.unknown("flag", argument, ["-h", "--help"]))
        if name in own:
            own[name] = value
        elif name.partition(".")[0] in RUN_ONLY:
            raise UsageError(f"{argument!r} has no effect on a profile; --help lists the options")
        else:
            rest.append(argument)
    out = Path(own["out"]).expanduser()
    if out.suffix not in (".parquet", ".csv"):
        raise UsageError(f"out={own['out']}: give a file that ends in .parquet or .csv")
    points = options.count("points", int(own["points"]) if own["points"].isdecimal() else own["points"], required=True)
    return out, points, rest


def profile(words: Sequence[str], points: int, folder: Path) -> DataFrame:
    """The table that `HELP` describes.

    Parameters
    ----------
    words : sequence of str
        Arguments of `benchmarks.run`: the task, seeds, budget, source.
    points : int
        Of the test design.
    folder : Path
        Where runs are recorded.

    Raises
    ------
    UsageError
        If an argument is wrong, or the truth of the task is not known.
    """
    import pandas as pd

    plans = {model: _plan(words, model, folder) for model in OWN}
    objective, _ = plans["tam"][0].build()
    test = _Recorded(objective) if _request(words).table else _Formula(objective, points)
    bounded = np.isfinite([*objective.delta_bounds, *objective.rho_bounds]).any()
    parts = []
    for tam, koh, gp in zip(*plans.values(), strict=True):
        runs = {"tam": _run(tam, folder), "gp": _run(gp, folder)}
        common = {model: test.accuracy(runs["tam"], model) for model in ("tam", "gp")}
        own = {"tam": common["tam"], "gp": test.accuracy(runs["gp"], "gp")}
        if bounded:
            common["koh"], own["koh"] = (test.accuracy(run, "koh") for run in (runs["tam"], _run(koh, folder)))
        else:
            common["koh"] = own["koh"] = common["tam"].assign(model="koh")
        for name, tables in (("own", own), ("common", common)):
            for model in OWN:
                head = {"task": tam.task.name, "data": tam.data and tam.data.name, "runs": name, "seed": tam.seed}
                parts.append(tables[model].assign(**head))
    columns = ["task", "data", "model", "runs", "seed", "heavy_runs", "n", "rmse", "coverage", "width", "log_score"]
    return pd.concat(parts, ignore_index=True)[columns].astype({"data": "str"})


def _request(words: Sequence[str], *more: str) -> Request:
    (request,) = read([*words, *more] if more else [*words, "method=btao"])
    return request


def _plan(words: Sequence[str], model: str, folder: Path) -> Sequence[Experiment]:
    """The runs, seed by seed, that are a model's own."""
    from benchmarks.plan import plan

    method, unbounded = OWN[model]
    changes = [f"methods.{method}.{name}=[-inf,inf]" for name in unbounded]
    return plan(dataclasses.replace(_request(words, f"method={method}", *changes), out=folder)).experiments


def _run(experiment: Experiment, folder: Path) -> tuple[DataFrame, list[Any]]:
    """The trials of a run, and which recorded configuration answered each."""
    from benchmarks import records
    from benchmarks.experiment import run_experiment

    run_experiment(experiment, folder, command="python -m benchmarks.profile")
    place = experiment.folder(folder)
    return records.load(place), [row.answer and row.answer["configuration"] for row in records.rows_of(place)]


class _Formula:
    """A test design whose heavy responses are known by formula."""

    def __init__(self, objective: Objective, n: int) -> None:
        from benchmarks.design import configurations

        self._objective = objective
        design = configurations(objective.space, n, TEST_SEED)
        truth = [objective.truth(config) for config in design]
        if None in truth:
            raise UsageError("the true heavy response of this task is not known: give source=table, or another task")
        self._points = np.array([objective.space.to_unit(config) for config in design])
        self._truth = np.array(truth)

    def accuracy(self, run: tuple[DataFrame, list[Any]], model: str) -> DataFrame:
        """As `prediction.accuracy`."""
        return _accuracy(self._objective, run[0], model, self._points, self._truth)


class _Recorded:
    """The configurations of a table, less those whose heavy response the run has seen."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        heavy = [replay.read(place, replay.heavy, 0).value for place in range(len(replay.numbers))]
        self._truth = np.array(heavy)

    def accuracy(self, run: tuple[DataFrame, list[Any]], model: str) -> DataFrame:
        """As `prediction.accuracy`, on what is left after each heavy run."""
        trials, answers = run
        heavy = trials["heavy"].to_numpy(bool)
        answered = [answer for answer, counts in zip(answers, heavy, strict=True) if counts]
        numbers, finite = np.array(self._replay.numbers), np.isfinite(self._truth)

        def unseen(heavy_runs: int) -> np.ndarray:
            return finite & ~np.isin(numbers, answered[:heavy_runs])

        return _accuracy(self._replay, trials, model, self._replay.points, self._truth, unseen=unseen)


def _accuracy(objective: Objective, trials: DataFrame, model: str, *test: Any, **unseen: Any) -> DataFrame:
    from benchmarks.prediction import accuracy

    bounds = {"delta_bounds": tuple(objective.delta_bounds), "rho_bounds": tuple(objective.rho_bounds)}
    return accuracy(trials, objective.space, model, *test, **bounds, **unseen)


if __name__ == "__main__":
    sys.exit(main())
