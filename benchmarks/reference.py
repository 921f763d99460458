"""Reference results: the committed records behind the notebooks, and how they are made anew.

`python -m benchmarks.reference` runs everything again and replaces results/reference/*;
`python -m benchmarks.reference toy` only that one. Interrupted, the same command continues. The
tables are identical on the same machine and versions, but for the columns of seconds.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import ablation

if TYPE_CHECKING:
    import pandas

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "results" / "reference"

# The commands of `benchmarks.run` behind each table, less scale and out.
COMMANDS = {
    "toy": [["task=toy", "method=btao", "seeds=10"]],
    "synthetic": [["-m", "task=currin,park", "method=[random_search,gp_bo,btao_paper,btao]", "seeds=20"]],
    "ablation": [[*command, "seeds=30"] for command in ablation.commands()],
}


def load(name: str) -> pandas.DataFrame:
    """The trials of a reference table, as `records.load` gives them.

    With the environment variable BTAO_SCALE set (to smoke, say) they are not read but run now, at
    that scale with two seeds: so the notebooks can be tested without the committed results.

    Raises
    ------
    ValueError
        If there is no such table.
    FileNotFoundError
        If the table was not committed.
    RuntimeError
        If a run made now fails.
    """
    import pandas

    check(name)
    scale = os.environ.get("BTAO_SCALE")
    if scale:
        with tempfile.TemporaryDirectory() as out:
            return _run(name, [f"scale={scale}", "seeds=2"], Path(out))
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: `python -m benchmarks.reference {name}` makes it")
    return pandas.read_parquet(path)


def record(name: str, out: Path) -> Path:
    """Run a table's experiments below `out`, or what is unfinished of them; write its Parquet file and figure."""
    from benchmarks import plots

    frame = _run(name, ["scale=laptop"], out)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.parquet"
    temporary = path.with_suffix(".tmp")
    frame.to_parquet(temporary, index=False)
    temporary.replace(path)
    plots.figure_run(frame, path.with_suffix(".png"))
    return path


def _run(name: str, arguments: Sequence[str], out: Path) -> pandas.DataFrame:
    from benchmarks import records, run

    for command in COMMANDS[name]:
        status = run.main([*command, *arguments, f"out={out}", "display=plain"])
        if status:
            raise RuntimeError(f"the run of the reference {name!r} ended with exit status {status}; it says why above")
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
