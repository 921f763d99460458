"""The table of a small grid of the fully connected network, made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas

from benchmarks.data.source import DataSource
from benchmarks.objectives.fcn import FCN
from benchmarks.tables import table as tables
from benchmarks.tables.design import of_grid

GRID = {"batch_size": [8, 64, 512], "units": [16, 512], "learning_rate": [1e-4, 1e-2]}
EPOCHS = 6
PARAMETERS = {
    **{"light_iterations": 2, "light_patience": None, "light_tolerance": 0.0},
    **{"heavy_iterations": EPOCHS, "heavy_patience": None},
}


def curve(number: int) -> list[float]:
    """Validation errors that rise once and fall again, so that patience matters."""
    return [0.9 - number / 100, 0.5, 0.6, 0.55, 0.4 - number / 100, 0.3]


def small_grid(
    *,
    seed: int = 0,
    grid: Mapping[str, Sequence[Any]] = GRID,
    n: int | None = None,
    errors: Callable[[int], list[float]] = curve,
) -> tables.Table:
    """The first n configurations of a grid, or all.

    Epoch i of configuration k ends i * (k + 1) seconds after the start, and the test error is half of the validation
    error.
    """
    rows = [
        {"configuration": number}
        | {f"config.{name}": value for name, value in config.items()}
        | {"iteration": i, "consumed": i, "validation_error": error, "training_error": 0.5, "test_error": error / 2}
        | {"seconds": float(i * (number + 1)), "processor_seconds": float(i * (number + 1))}
        for number, config in enumerate(of_grid(FCN.space, grid)[:n])
        for i, error in enumerate(errors(number), start=1)
    ]
    data = DataSource("digits", "0" * 64, 9, 9)
    head = tables.Head("fcn", 1, PARAMETERS, "paper", data, seed, 1, True, made_by=(), grid=grid)
    return tables.Table("fcn-digits-grid-paper", head, pandas.DataFrame(rows).astype(tables.COLUMNS))


def save_grid(folder: Path, **changes: Any) -> Path:
    """The file of such a table."""
    table = small_grid(**changes)
    path = folder / f"{table.name}.parquet"
    table.save(path)
    return path
