"""How long `python -m benchmarks.run --help` takes, as a ratio to an empty Hydra program.

Run by hand: `python tests/measurements/help_start.py [repeats]`. The two alternate, each with its files
in the page cache, and the ratio is that of the medians; one process at a time, so both meet the same load.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EMPTY = """
import hydra

@hydra.main(version_base="1.3", config_path=None)
def main(config):
    pass

main()
"""


def seconds(command: list[str], folder: str) -> float:
    """Wall time of one start."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main(repeats: int) -> None:
    """Print both medians and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "empty.py"
        program.write_text(EMPTY)
        commands = {
            "empty Hydra program": [sys.executable, str(program)],
            "benchmarks.run --help": [sys.executable, "-m", "benchmarks.run", "--help"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for repeat in range(repeats + 1):
            for name, command in commands.items():
                taken = seconds(command, folder)
                if repeat:  # the first start of each fills the page cache
                    times[name].append(taken)
    empty, help_ = (statistics.median(values) for values in times.values())
    for name, values in times.items():
        print(f"{name:22} {statistics.median(values):.3f} s (median of {repeats})")
    print(f"ratio                  {help_ / empty:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
