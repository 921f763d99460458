"""Reference results: the committed records behind the notebooks and the claims, and how they are made anew.

`python -m benchmarks.reference` runs everything again and replaces results/reference/*;
`python -m benchmarks.reference toy` only that one. Interrupted, the same command continues. The
results are identical on the same machine and versions, but for the columns of seconds.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.catalogue import ROOT, TABLES

if TYPE_CHECKING:
    import pandas

FOLDER = ROOT / "results" / "reference"

METHODS = "method=[random_search,tpe,gp_bo,smac,smac_gp,bohb,hyperband,btao_paper,btao]"

# What is run for each, less out. The recorded tables are the largest of each task.
COMMANDS = {
    "toy": ["task=toy", "method=btao", "seeds=10", "scale=laptop"],
    "synthetic": ["-m", "task=currin,park", METHODS, "seeds=30", "scale=laptop"],
    "svm": ["task=svm", "source=table", METHODS, "seeds=30"],
    "fcn": ["task=fcn", "source=table", METHODS, "seeds=30"],
    "cnn": ["task=cnn", "source=table", METHODS, "seeds=30"],
}
# What is run instead to try the notebooks: two seeds of the methods that start at once.
SMALL = {"method": "[random_search,gp_bo,btao_paper,btao]", "seeds": "2"}


def load(name: str) -> pandas.DataFrame:
    """The trials of a reference result, as `records.load` gives them.

    With the environment variable BTAO_SCALE=smoke they are not read but run now, small: so the
    notebooks can be tested without the committed results.

    Raises
    ------
    ValueError
        If there is no such result, or BTAO_SCALE is another.
    FileNotFoundError
        If it was not committed.
    RuntimeError
        If a run made now fails.
    """
    import pandas

    check(name)
    scale = os.environ.get("BTAO_SCALE")
    if scale not in (None, "", "smoke"):
        raise ValueError(f"BTAO_SCALE must be smoke or not set, got {scale!r}")
    if scale:
        with tempfile.TemporaryDirectory() as out:
            return _run(_small(COMMANDS[name]), Path(out))
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: `python -m benchmarks.reference {name}` makes it")
    return pandas.read_parquet(path)


def there(name: str) -> bool:
    """Whether `load` can give a result: it is committed or, to be run now, has the recorded table that it needs."""
    check(name)
    if not os.environ.get("BTAO_SCALE"):
        return (FOLDER / f"{name}.parquet").exists()
    return "source=table" not in COMMANDS[name] or any(TABLES.glob(f"{name}-*.parquet"))


def digest(frame: pandas.DataFrame) -> str:
    """SHA-256 of trials: what a notebook prints of what it draws."""
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()


def record(name: str, out: Path) -> Path:
    """Run what is unfinished of a reference result below `out`; write its Parquet file and figure."""
    from benchmarks import plots

    frame = _run(COMMANDS[name], out)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.parquet"
    temporary = path.with_suffix(".tmp")
    frame.to_parquet(temporary, index=False)
    temporary.replace(path)
    plots.figure_run(frame, path.with_suffix(".png"))
    return path


def _small(command: Sequence[str]) -> list[str]:
    """The command at the scale smoke, or with few trials of a recorded table."""
    given = dict(word.partition("=")[::2] for word in command)
    given |= {name: value for name, value in SMALL.items() if name == "seeds" or given[name] != "btao"}
    given |= {"budget.heavy": "7"} if "source" in given else {"scale": "smoke"}
    return [f"{name}={value}" if value else name for name, value in given.items()]


def _run(command: Sequence[str], out: Path) -> pandas.DataFrame:
    from benchmarks import records, run

    status = run.main([*command, f"out={out}", "display=plain"])
    if status:
        raise RuntimeError(f"`python -m benchmarks.run {' '.join(command)}` ended with exit status {status}, see above")
    return records.load(out)


def check(name: str) -> None:
    if name not in COMMANDS:
        raise ValueError(f"there is no reference {name!r}; there are {', '.join(COMMANDS)}")


def main(names: Sequence[str]) -> None:
    for name in names:
        check(name)
    for name in names or COMMANDS:
        print(record(name, ROOT / "results" / "runs" / "reference" / name))


if __name__ == "__main__":
    main(sys.argv[1:])
