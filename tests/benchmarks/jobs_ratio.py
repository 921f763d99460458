"""How much faster two jobs are than one: 20 seeds of BTAO on Currin, through the command.

Run by hand: `python tests/benchmarks/jobs_ratio.py [repeats] [seeds]`. The two alternate, each into a
fresh folder, and the ratio is that of the medians; one command at a time, so both meet the same load.
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


def seconds(jobs: int, seeds: int) -> float:
    """Wall time of the whole command."""
    arguments = ["task=currin", "method=btao", f"seeds={seeds}", f"jobs={jobs}", "out=out"]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "benchmarks.run", *arguments],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - started


def main(repeats: int, seeds: int) -> None:
    """Print both medians and their ratio."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeats):
        for jobs, values in times.items():
            values.append(seconds(jobs, seeds))
            print(f"jobs={jobs}  {values[-1]:.1f} s", flush=True)
    one, two = (statistics.median(values) for values in times.values())
    print(f"medians of {repeats}: jobs=1 {one:.1f} s, jobs=2 {two:.1f} s, ratio {one / two:.2f}")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(3, 20)[len(given) :])
