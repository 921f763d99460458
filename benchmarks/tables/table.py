"""A recorded table: training curves of a design of configurations, in one Parquet file.

One row a configuration and iteration. Studies replay it instead of training (`source=table`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.config.registry import FORMER_TARGETS, target_of
from benchmarks.config.spec import FIRST_VERSION, Spec
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import Objective
from benchmarks.tables.design import grid_space
from btao import Space
from btao.running.files import replacing
from btao.training import Level

# pyarrow is imported when used: live runs do without.
if TYPE_CHECKING:
    import pandas

KEY = b"btao"  # of the metadata in the file's schema

# The columns but for those of the configuration, config.<name>, which follow the first.
COLUMNS = {
    "configuration": "int32",
    "iteration": "int32",
    "consumed": "int32",
    "validation_error": "float64",
    "training_error": "float64",
    "test_error": "float64",
    "seconds": "float64",
    "processor_seconds": "float64",
}

# Of parameters that are inactive at times: with one missing value, which a file keeps, and without fractions.
NULLABLE = {int: "Int64", bool: "boolean"}

SLACK = 1.1, 1.0  # a processor's seconds may exceed what the clock on the wall allows by this factor and these seconds


class CorruptTable(ValueError):
    """A file that is no table, or whose contents cannot have been recorded."""


@dataclass(frozen=True)
class Head:
    """What a table was made from and by.

    Attributes
    ----------
    task : str
        Its name in conf/task.
    version : int
        That of the class of the task, see `Spec.version`.
    parameters : mapping
        Those of the task.
    scale : str
    data : DataSource or None
        None: the task has no data set.
    seed : int
        Of the design and of the training.
    threads : int
    every_iteration : bool
        Whether each iteration is recorded; otherwise certain numbers of iterations are, each trained from the start.
    made_by : tuple of dict
        Versions, commit and machine of every stretch of recording, see `benchmarks.records.provenance`.
    timed_by : tuple of dict
        The same of the recording that the seconds are from, see `benchmarks.tables.timing`; empty: they are of this
        one.
    grid : mapping of str to sequence, optional
        The values of each parameter, if the design is their grid; else it is the center, the corners and a
        scrambled Sobol sequence.
    full_length : bool
        Whether training went on to `heavy_iterations` whatever `parameters` say of stopping; otherwise each curve ends
        where they stop a heavy run.
    """

    task: str
    version: int
    parameters: Mapping[str, Any]
    scale: str
    data: DataSource | None
    seed: int
    threads: int
    every_iteration: bool
    made_by: tuple[dict[str, Any], ...]
    timed_by: tuple[dict[str, Any], ...] = ()
    grid: Mapping[str, Sequence[Any]] | None = None
    full_length: bool = True

    @property
    def design(self) -> str:
        """The kind of the design: grid or sobol."""
        return "sobol" if self.grid is None else "grid"

    @property
    def machines(self) -> list[dict[str, Any]]:
        """The different descriptions of the machines whose seconds the table has, as `records.provenance` gives them.

        Seconds of several may not compare. Machines that are described alike need not be equally fast.
        """
        machines = [stretch.get("machine") or {} for stretch in self.timed_by or self.made_by]
        return [machine for place, machine in enumerate(machines) if machine not in machines[:place]]

    @property
    def clock(self) -> str:
        """The column that times a replay: the processor's seconds, which are those of an idle machine.

        With several threads, or with a GPU, whose seconds no processor counts, those of the clock on the wall.
        """
        gpus = any(machine.get("gpus") for machine in self.machines)
        return "processor_seconds" if self.threads == 1 and not gpus else "seconds"

    def unlike(self, other: Head, but: Collection[str] = ()) -> list[str]:
        """What another table was made from otherwise, in words, but for who made and timed it and some fields."""
        asked = [name for name in vars(self) if name not in {"made_by", "timed_by", *but}]
        pairs = {name: (getattr(other, name), getattr(self, name)) for name in asked}
        return [f"{name} {theirs} instead of {ours}" for name, (theirs, ours) in pairs.items() if theirs != ours]

    def objective(self, **changes: Any) -> Objective:
        """The task as it was recorded, but for `changes` of its parameters.

        Raises
        ------
        CorruptTable
            If there is no task of this name in `conf/task`, or its class has another version.
        ValueError, UsageError
            As `Spec.build`.
        """
        target = target_of("task", self.task)
        if target is None:
            raise CorruptTable(
                f"the table was recorded of task {self.task}, but there is no conf/task/{self.task}.yaml"
            )
        spec = Spec(self.task, target, {**self.parameters, **changes})
        if self.version != spec.version:
            raise CorruptTable(
                f"the table was recorded of version {self.version} of task {self.task}, which is at version "
                f"{spec.version}: record it again"
            )
        return spec.build()

    def digested(self) -> dict[str, Any]:
        """What a replay depends on; of version 1 as the first tables said it, so that their runs are still known."""
        head = dataclasses.asdict(self)
        del head["made_by"], head["timed_by"]
        if self.full_length:
            del head["full_length"]
        if self.grid is not None:
            return head
        del head["grid"]
        former = FORMER_TARGETS["task"].get(self.task)
        if self.version == FIRST_VERSION and former is not None:
            del head["version"]
            head["target"] = former
        return head


@dataclass(frozen=True)
class Table:
    """A recorded table.

    Attributes
    ----------
    name : str
        That of its file, without the suffix.
    head : Head
    rows : DataFrame
        Sorted by configuration and iteration. Columns:

        configuration : place in the design, from 0
        config.<name> : its parameters; missing where it is inactive
        iteration : from 1
        consumed : iterations really trained; fewer where a solver had converged
        validation_error, training_error, test_error : shares of wrong answers, the last two nan where they are
            not known; a last validation error of nan says that training diverged
        seconds, processor_seconds : from the start of training; the second are summed over threads
    """

    name: str
    head: Head
    rows: pandas.DataFrame

    @property
    def configurations(self) -> dict[int, dict[str, Any]]:
        """The configurations by their numbers."""
        firsts = self.rows.drop_duplicates("configuration").set_index("configuration").filter(regex=r"^config\.")
        return dict(zip(firsts.index.tolist(), _unprefixed(firsts), strict=True))

    @property
    def sha256(self) -> str:
        """SHA-256 of what a replay depends on: the task, the data and the rows."""
        digest = hashlib.sha256()
        digest.update(json.dumps(self.head.digested(), sort_keys=True).encode())
        for column, values in self.rows.items():
            if column == "test_error" and values.isna().all():
                continue  # tables of before there was one have the digest that they had
            digest.update(f"{column}\n".encode())
            is_number = isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf"
            digest.update(np.ascontiguousarray(values).data if is_number else "\n".join(map(str, values)).encode())
        return digest.hexdigest()

    @property
    def cautions(self) -> list[str]:
        """Lines about what may not compare: errors by several versions of a library, seconds of several machines."""
        said = []
        made_by = [stretch.get("versions") or {} for stretch in self.head.made_by]
        for name in sorted({name for versions in made_by for name in versions}):
            if len(found := {str(versions.get(name)) for versions in made_by}) > 1:
                said.append(f"table {self.name} was recorded with {name} {', '.join(sorted(found))}")
        if (machines := len(self.head.machines)) > 1:
            cure = "`python -m benchmarks.retime --help` tells how it gets those of one"
            if not self.head.every_iteration:
                cure = "to have those of one, record it on one, in another out="
            said.append(
                f"the seconds of table {self.name} are from {machines} unlike machines and may not compare; {cure}"
            )
        return said

    def save(self, path: Path) -> None:
        """Write the file as a whole; a reader sees the old or the new one."""
        import pyarrow
        from pyarrow import parquet

        table = pyarrow.Table.from_pandas(self.rows, preserve_index=False)
        head = json.dumps(dataclasses.asdict(self.head), sort_keys=True).encode()
        table = table.replace_schema_metadata((table.schema.metadata or {}) | {KEY: head})
        with replacing(path) as temporary:
            parquet.write_table(table, temporary, compression="zstd")

    def checked(self) -> Objective:
        """The task as it was recorded, if `check` finds nothing wrong; raises what that and `Head.objective` do."""
        task = self.head.objective()
        self.check(task.space, task.heavy)
        return task

    def check(self, space: Space, heavy: Level) -> None:
        """Refuse what cannot have been recorded of a task.

        Parameters
        ----------
        space : Space
        heavy : Level
            As `Head.parameters` say it.

        Raises
        ------
        CorruptTable
            Naming the file and the first thing that is wrong: columns, configurations outside the space,
            errors outside [0, 1], seconds that do not grow or are more of the processor's than there were, curves
            that are not complete.
        """
        if self.head.grid is not None:
            space = grid_space(space, self.head.grid)
        for wrong in self._faults(space, heavy):
            raise CorruptTable(f"table {self.name}: {wrong}; record it again or take the file from version control")

    def _faults(self, space: Space, heavy: Level) -> Iterator[str]:
        """What is wrong, from the columns to the single curves. What comes after a fault relies on there being none."""
        rows, expected = self.rows, _columns(space)
        parameters = expected[1 : 1 + len(space.parameters)]
        if list(rows) != expected:
            yield f"its columns are {', '.join(map(str, rows))} instead of {', '.join(expected)}"
        if rows.empty:
            yield "it holds no configuration"
        yield from (
            f"its column {column} holds no numbers" for column in COLUMNS if rows[column].dtype.kind not in "iuf"
        )
        places = rows["configuration"].to_numpy()
        if places.dtype.kind == "f" or places[0] < 0 or (np.diff(places) < 0).any():
            yield "its configurations are not numbered by integers from 0 on, in ascending order"
        whole = ("iteration", "consumed")
        yield from (f"its column {column} holds no integers" for column in whole if rows[column].dtype.kind == "f")
        columns = {name: rows[name].to_numpy() for name in COLUMNS}
        recorded = sorted(set(columns["iteration"].tolist()))
        sets = rows[["configuration", *parameters]].drop_duplicates()
        numbers, starts = np.unique(places, return_index=True)
        counts = np.unique(sets["configuration"], return_counts=True)[1]
        configs = _unprefixed(sets.drop_duplicates("configuration")[parameters])
        known: dict[tuple[Any, ...], Any] = {}
        for number, start, end, count, config in zip(
            numbers, starts, [*starts[1:], len(rows)], counts, configs, strict=True
        ):
            where = f"configuration {number}"
            if count != 1:
                yield f"{where} has {count} sets of parameters"
            try:
                space.validate(config)
            except (TypeError, ValueError) as error:
                yield f"{where}: {error}"
            if (same := known.setdefault(tuple(config.items()), number)) != number:
                yield f"{where} is configuration {same} again"
            curve = {name: values[start:end] for name, values in columns.items()}
            yield from (f"{where}: {fault}" for fault in self._curve_faults(curve, recorded, heavy))

    def _curve_faults(self, curve: Mapping[str, np.ndarray], recorded: list[int], heavy: Level) -> Iterator[str]:
        """What is wrong with the columns of one configuration; these numbers of iterations are recorded of some."""
        every, timed = self.head.every_iteration, self.head.clock == "processor_seconds"  # else they are not charged
        iterations, consumed, errors, training, test, wall, processor = (curve[name] for name in list(COLUMNS)[1:])
        wanted = np.arange(1, len(iterations) + 1) if every else recorded
        stop = None if self.head.full_length else heavy.stop(errors.tolist())
        end = stop or heavy.iterations
        at_end = iterations[-1] == end or (stop is None and np.isnan(errors[-1]))
        faults = {
            "a validation error is not in [0, 1]": np.isnan(errors[:-1]).any() or _outside(errors, 0, 1),
            "a training error is not in [0, 1]": _outside(training, 0, 1),
            "a test error is not in [0, 1]": _outside(test, 0, 1),
            "a training error before the last is missing": every and np.isnan(training[:-1]).any(),  # it may diverge
            "its seconds do not grow from one iteration to the next": _falls(wall),
            "its processor_seconds do not grow from one iteration to the next": _falls(processor),
            f"{processor[-1]:g} processor_seconds on one thread in {wall[-1]:g} seconds": (
                timed and processor[-1] > SLACK[0] * wall[-1] + SLACK[1]
            ),
            f"its curve is not complete up to iteration {end}": (not at_end or not np.array_equal(iterations, wanted)),
            "consumed must be from 1 to the iteration, and not fall": (
                _outside(consumed, 1, iterations) or _falls(consumed)
            ),
            "consumed must be the iteration": every and (consumed != iterations).any(),
            f"its training took 0 {self.head.clock}": curve[self.head.clock][-1] == 0,
        }
        yield from (fault for fault, is_so in faults.items() if is_so)


def load(path: str | Path) -> Table:
    """Read a table; `Table.check` tells whether it can be replayed.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    CorruptTable
        If it is no table.
    """
    import pyarrow
    from pyarrow import parquet

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no table {path}" + (": it is a folder" if path.is_dir() else ""))
    try:
        table = parquet.read_table(path)
        head = json.loads(table.schema.metadata[KEY])
        by = {"made_by": tuple(head["made_by"]), "timed_by": tuple(head.get("timed_by", ()))}
        if "target" in head:  # of the first tables, which named the class by its path
            del head["target"]
            head["version"] = FIRST_VERSION
        head = Head(**head | {"data": head["data"] and DataSource(**head["data"])} | by)
    except (OSError, ValueError, KeyError, TypeError, pyarrow.ArrowException) as error:
        raise CorruptTable(f"{path} is no recorded table ({type(error).__name__}: {error})") from error
    rows = table.to_pandas()
    if "test_error" not in rows and "training_error" in rows:
        rows.insert(rows.columns.get_loc("training_error") + 1, "test_error", np.nan)
    return Table(path.stem, head, rows)


def stop_of(level: Level, errors: Sequence[float]) -> int:
    """After how many iterations a level stops on a recorded curve; where training diverged before, after all of it.

    Raises
    ------
    ValueError
        If the curve ends where the level would train on.
    """
    stop = level.stop(errors)
    if stop is None and not np.isnan(errors[-1]):
        raise ValueError(f"the curve ends after {len(errors)} iterations, where {level} would train on")
    return stop or len(errors)


def _outside(values: np.ndarray, low: float, high: float | np.ndarray) -> bool:
    """Whether a value is not in the interval; nan is none."""
    return bool(((values < low) | (values > high)).any())


def _falls(values: np.ndarray) -> bool:
    """Whether values are not finite, below 0 or fall."""
    return bool(not np.isfinite(values).all() or values[0] < 0 or (np.diff(values) < 0).any())


def _unprefixed(configs: pandas.DataFrame) -> list[dict[str, Any]]:
    """The rows of columns config.<name> as configurations, with Python's own numbers; without what is missing."""
    named = configs.rename(columns=lambda column: column.removeprefix("config."))
    active = named.notna().to_dict("records")
    return [
        {str(name): value for name, value in config.items() if known[name]}
        for config, known in zip(named.to_dict("records"), active, strict=True)
    ]


def _columns(space: Space) -> list[str]:
    """The columns of a table of a task with this space."""
    first, *others = COLUMNS
    return [first, *(f"config.{name}" for name in space.names), *others]


def arranged(rows: pandas.DataFrame, space: Space) -> pandas.DataFrame:
    """Rows in the order and with the columns and types of a table; a parameter that is inactive is missing.

    Parameters
    ----------
    rows : DataFrame
        With the columns of a table, but for parameters that are inactive in all of them.
    space : Space
        Of the recorded task.
    """
    types = dict(COLUMNS)
    for name in space.conditions:
        kind = type(space.parameters[name].from_unit(0.5))
        if kind in NULLABLE:
            types[f"config.{name}"] = NULLABLE[kind]
    rows = rows.sort_values(["configuration", "iteration"], ignore_index=True)
    return rows.reindex(columns=_columns(space)).astype(types)
