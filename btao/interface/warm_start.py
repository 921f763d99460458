"""Results made elsewhere: one at a time, or as a table of old trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from btao.arrays import FloatArray
from btao.parameters import Categorical, Constant, Integer, key
from btao.space import Space
from btao.trial import LevelName, Outcome, Trial, check_cost, check_level, outcome

# What a row holds beside a value for each parameter. Those of the second line are of `BTAO.trials`: the status must be
# that of the value, and the others have no effect.
FIELDS = ("level", "value", "error", "cost")
IGNORED = ("number", "status", "given")


@dataclass(frozen=True)
class Result:
    """A checked result: where, at which level, what came of it (as attributes of `Trial`) and what it cost."""

    config: dict[str, Any]
    point: FloatArray
    level: LevelName
    outcome: Outcome
    cost: float | None

    @classmethod
    def of(
        cls, space: Space, config: Mapping[str, Any], level: object, value: object, error: Any, cost: object
    ) -> Result:
        """The result, or TypeError or ValueError that names what is wrong."""
        valid = space.validate(config)
        return cls(valid, space.point(valid), check_level(level), outcome(value, error), check_cost(cost))

    def repeats(self, trial: Trial) -> bool:
        """Whether a trial of the same configuration and level was told the same."""
        return trial.status == self.outcome["status"] and trial.value == self.outcome["value"]


def read_results(trials: Any, space: Space) -> list[Result]:
    """The results that `BTAO.add_trials` takes, in their order.

    Parameters
    ----------
    trials : DataFrame, or sequence of dict or Trial
        As `BTAO.add_trials` has it.
    space : Space

    Returns
    -------
    list of Result
        Without rows that wait for their result. A value that is null, with no error beside it, is a failure.

    Raises
    ------
    TypeError, ValueError
        If a row is none; names it by its position, from 0.
    """
    results = []
    for index, row in enumerate(_rows(trials, space)):
        if row.get("status") == "pending":
            continue
        value, error, cost = (None if _is_null(row.get(name)) else row[name] for name in FIELDS[1:])
        try:
            if "level" not in row:
                raise ValueError(f"it lacks its level, 'light' or 'heavy'; it has {list(row)}")
            if "value" not in row and error is None:
                raise ValueError(f"it lacks its value, nan for a failure; it has {list(row)}")
            value = math.nan if value is None else value
            result = Result.of(space, row["config"], row["level"], value, error, cost)
            status = row.get("status")
            if not _is_null(status) and status != result.outcome["status"]:
                raise ValueError(
                    f"its status must be {result.outcome['status']!r} with value {value!r} and error {error!r}, got "
                    f"{status!r}: correct one of them, or leave the status out"
                )
            results.append(result)
        except (TypeError, ValueError) as reason:
            raise type(reason)(f"row {index} of trials: {reason}") from None
    return results


def _rows(trials: Any, space: Space) -> Iterator[dict[str, Any]]:
    """Each row with its configuration as `config`."""
    if hasattr(trials, "columns") and hasattr(trials, "notna"):
        trials = trials.astype(object).where(trials.notna(), None).to_dict("records")
    if isinstance(trials, str | Mapping) or not isinstance(trials, Iterable):
        raise TypeError(f"trials must be a DataFrame of pandas, or a list of dict or Trial, got {trials!r}")
    for index, row in enumerate(trials):
        if isinstance(row, Trial):
            yield {name: getattr(row, name) for name in ("config", "status", *FIELDS)}
        elif not isinstance(row, Mapping):
            raise TypeError(f"row {index} of trials must be a dict or a Trial, got {row!r}")
        elif "config" in row and "config" not in space.parameters:
            yield dict(row)
        else:
            yield _with_config(row, index, space)


def _with_config(row: Mapping[str, Any], index: int, space: Space) -> dict[str, Any]:
    """A flat row with what is no field of a trial as its configuration."""
    if clash := sorted({*FIELDS, *IGNORED} & {*space.parameters}):
        raise ValueError(
            f"row {index} of trials: {clash[0]!r} is the name of a parameter, too: give rows as "
            '{"config": {...}, "level": ..., "value": ...}'
        )
    fields = {name: row[name] for name in (*FIELDS, "status") if name in row}
    given = {name: _of_table(row[name], name, space) for name in row if name not in FIELDS + IGNORED}
    active = space.assemble(given.get)
    config = {name: value for name, value in given.items() if value is not None or not _is_absent(name, space, active)}
    return fields | {"config": config}


def _is_absent(name: str, space: Space, active: Mapping[str, Any]) -> bool:
    """Whether a null says that a parameter is inactive: in a table it has a column all the same."""
    if name not in space.conditions:
        return False
    try:
        space.parameters[name].validate(None)
    except (TypeError, ValueError):
        return True
    return name not in active  # None is a choice of it


def _of_table(value: Any, name: str, space: Space) -> Any:
    """A value as it was: a column that holds nulls or other floats makes floats of integers."""
    if not (isinstance(value, float) and value.is_integer()):
        return value
    parameter = space.parameters.get(name)
    if isinstance(parameter, Categorical | Constant):
        choices = parameter.choices if isinstance(parameter, Categorical) else [parameter.value]
        keys = [*map(key, choices)]
        return int(value) if key(int(value)) in keys and key(float(value)) not in keys else value
    return int(value) if isinstance(parameter, Integer) else value


def _is_null(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
