"""Everything recorded below a folder as DataFrames: trials, and training curves."""

from __future__ import annotations

import itertools
import json
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.records.curves import lists_of
from benchmarks.records.run_folder import RUN, RunFolder, files_of_runs, is_former
from benchmarks.records.run_info import RunInfo
from benchmarks.records.trials import TRIALS, CorruptRecord, Row, read_rows
from btao import Integer, Space
from btao.checks import is_integer

# pandas is imported when used: workers write records without it.
if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas

# The columns of `load` but for those of the configuration, which go before `value`.
COLUMN_TYPES = {
    "task": "str",
    "method": "str",
    "seed": "int64",
    "hash": "str",
    "parameters": "str",
    "data": "str",
    "optimum": "float64",
    "trial": "int64",
    "heavy": "bool",
    "budget": "int64",
    "value": "float64",
    "status": "str",
    "error": "str",
    "iterations": "int64",
    "train_seconds": "float64",
    "method_seconds": "float64",
    "time": "float64",
    "truth": "float64",
    "recommended": "Int64",
    "test_error": "float64",
    "train_budget": "float64",
}
CURVE_HEAD = ("task", "method", "seed", "hash", "data")
CURVE_COLUMN_TYPES = {
    **{name: COLUMN_TYPES[name] for name in (*CURVE_HEAD, "trial")},
    "iteration": "int64",
    **dict.fromkeys(("validation_error", "training_error", "seconds", "processor_seconds", "test_error"), "float64"),
}


def load(out: str | Path, *, strict: bool = False) -> pandas.DataFrame:
    """All trials recorded below a folder, finished or running.

    Parameters
    ----------
    out : path
        The folder that was given as `out=`, or one of a task, a method or a run in it.
    strict : bool
        Whether to raise where a run is damaged. Otherwise it is left out, with a warning that names the file and the
        line.

    Returns
    -------
    DataFrame
        One row a trial, sorted by task, method, hash and seed, then in the order of the record.
        Columns: task, method, seed, hash, parameters (the method's, resolved, as JSON; missing if
        its run.json does not say), data (name of the data set used; missing if the task has
        none), optimum (minimized; nan if unknown), then those of `Row` that every row has,
        with `config` as one column config.<name> a parameter and None as nan (of a parameter that is inactive at
        times, missing there, integers as Int64), `recommended`, missing where the method does not say,
        `test_error`, nan where it is not known, and `train_budget`, the seconds of training that were the budget of
        the run, nan where it had none. If any trial was answered by a recorded table, also `answer` (number of the
        recorded configuration) and `distance` (to it, in the unit cube); if any was by the cache, also `cached`,
        whether it was.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    CorruptRecord
        If a record is damaged and `strict`. A torn last line is dropped with a warning in any case.
    ValueError
        If two folders record the same run.
    """
    import pandas

    runs = _load_runs(Path(out), strict)
    rows = [head | vars(row) for head, rows in runs for row in rows]
    trials = pandas.DataFrame(rows, columns=list(COLUMN_TYPES)).astype(COLUMN_TYPES)
    answers = [row["answer"] or {} for row in rows]
    if any(answers):
        trials["answer"] = pandas.array([answer.get("configuration") for answer in answers], "Int64")
        trials["distance"] = pandas.array([answer.get("distance") for answer in answers], "float64")
    if any(row["cached"] for row in rows):
        trials["cached"] = [bool(row["cached"]) for row in rows]
    return _with_configs(trials, [row["config"] for row in rows], before="value")


def load_curves(out: str | Path, *, strict: bool = False) -> pandas.DataFrame:
    """The training curves recorded below a folder, iteration by iteration, whatever level stopped them.

    A configuration that was trained in several trials of a run has one curve, in the order of its
    iterations: with `Level.stop` and `Level.measure` any other stopping rule can be studied on it.
    Where `resume_training=False`, every trial has a curve of its own, from iteration 1, and so has a trial that
    repeats an earlier one: group by trial.

    Parameters
    ----------
    out : path
    strict : bool
        As for `load`.

    Returns
    -------
    DataFrame
        Columns: task, method, seed, hash, data, trial, one column config.<name> a parameter,
        iteration (from 1), validation_error and training_error (shares of wrong answers; nan where
        training diverged), seconds and processor_seconds (real ones of this iteration; those of the
        processor are summed over threads), test_error (nan where it is not known). Empty if no task had
        curves.

    Raises
    ------
    FileNotFoundError, CorruptRecord, ValueError
        As `load` does.
    """
    import pandas

    rows, configs = [], []
    for head, trials in _load_runs(Path(out), strict):
        for row in trials:
            if row.curve is None:
                continue
            for iteration, values in enumerate(zip(*lists_of(row.curve), strict=True), start=row.curve["start"] + 1):
                rows.append([*(head[name] for name in CURVE_HEAD), row.trial, iteration, *values])
                configs.append(row.config)
    curves = pandas.DataFrame(rows, columns=list(CURVE_COLUMN_TYPES)).astype(CURVE_COLUMN_TYPES)
    return _with_configs(curves, configs, before="iteration")


def configurations(frame: pandas.DataFrame, space: Space) -> list[dict[str, Any]]:
    """The configurations of a space that rows with columns config.<name> hold.

    Parameters
    ----------
    frame : DataFrame
        As `load` gives it.
    space : Space

    Returns
    -------
    list of dict
        A missing value is None, or of an inactive parameter; a whole number of an integer parameter is an int. They are
        not validated.
    """
    import pandas

    def plain(name: str, value: Any) -> Any:
        if not isinstance(value, tuple) and pandas.isna(value):
            return None
        whole = isinstance(space.parameters[name], Integer) and isinstance(value, float) and value.is_integer()
        return int(value) if whole else value

    records = frame[[f"config.{name}" for name in space.names if f"config.{name}" in frame]].to_dict("records")
    rows = [{name: plain(name, record.get(f"config.{name}")) for name in space.names} for record in records]
    return [space.assemble(row.__getitem__) for row in rows]


def _with_configs(frame: pandas.DataFrame, configs: list[dict[str, Any]], before: str) -> pandas.DataFrame:
    """`frame` with a column config.<name> for every parameter, put before one of its own."""
    import pandas

    named = [{f"config.{name}": value for name, value in config.items()} for config in configs]
    columns = pandas.DataFrame(named, index=frame.index)
    runs = zip(frame["task"], frame["method"], frame["hash"], frame["seed"], strict=True)
    for name in _inactive_at_times(runs, configs):
        values = [config.get(name) for config in configs]
        if all(value is None or is_integer(value) for value in values):  # which pandas would make floats
            columns[f"config.{name}"] = pandas.array(values, "Int64")
    at = frame.columns.get_loc(before)
    return pandas.concat([frame.iloc[:, :at], columns, frame.iloc[:, at:]], axis=1)


def _inactive_at_times(runs: Iterable[tuple[Any, ...]], configs: list[dict[str, Any]]) -> list[str]:
    """The parameters that some configurations of a run have and others have not."""
    found: set[str] = set()
    for _, group in itertools.groupby(zip(runs, configs, strict=True), key=lambda pair: pair[0]):
        trials = [config for _, config in group]
        counts = Counter(name for config in trials for name in config)
        found |= {name for name, count in counts.items() if count < len(trials)}
    return sorted(found)


def _load_runs(out: Path, strict: bool) -> list[tuple[dict[str, Any], list[Row]]]:
    """What is common to all trials of a run, and its rows, for every run below a folder."""
    if not out.is_dir():
        raise FileNotFoundError(f"no folder of records at {out}: give the one that was given as out= to the run")
    runs: dict[tuple[Any, ...], tuple[Path, dict[str, Any], list[Row]]] = {}
    for path in files_of_runs(out, TRIALS):
        folder = path.parent
        try:
            rows, run = read_rows(folder), RunFolder(folder).info()
            if run is None and rows:
                raise CorruptRecord(f"{folder} has trials, but no {RUN} to say of what")
        except CorruptRecord as error:
            if strict:
                raise
            warnings.warn(f"left out, as it cannot be read: {error}", stacklevel=3)
            continue
        if run is None:
            continue  # just starting
        key = (run.task, run.method, run.hash, run.seed)
        if key in runs:
            first, _, known = runs[key]
            former = any(is_former(each.parent, run.method, run.hash) for each in (folder, first))
            if not former or [_asked(row) for row in rows] != [_asked(row) for row in known]:
                raise ValueError(f"{folder} and {first} record the same run: move one of them away")
            warnings.warn(f"{folder} and {first} record the same run and the same trials: one is read", stacklevel=3)
            continue
        runs[key] = (folder, _head(run), rows)
    return [(head, rows) for _, (_, head, rows) in sorted(runs.items(), key=lambda item: item[0])]


def _asked(row: Row) -> tuple[Any, ...]:
    """A trial but for its seconds."""
    return row.trial, row.heavy, row.budget, row.config, row.value, row.iterations


def _head(run: RunInfo) -> dict[str, Any]:
    """The columns that all trials of a run have in common."""
    head = {name: getattr(run, name) for name in ("task", "method", "seed", "hash", "optimum")}
    parameters = json.dumps(run.parameters, sort_keys=True, allow_nan=False)
    head |= {"train_budget": run.identity["budget"].get("train_seconds")}
    return head | {"data": run.identity["data"] and run.identity["data"]["name"], "parameters": parameters}
