"""How much faster two jobs are than one: 20 seeds of BTAO on Currin, through the command.

Run by hand: `python tests/measurements/jobs_ratio.py [repeats] [seeds]`. The two alternate, each into a
fresh folder, and the ratio is that of the medians; one command at a time, so both meet the same load.
A first run that does not count leaves Python's compiled modules, as any command before these would.
Beside it stands what the machine itself gives then: how much more two processes that only count do in
all than one does. Where that is well below 2, something else is using the cores.
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
COUNTING = "for _ in range(30_000_000): pass"


def seconds(jobs: int, seeds: int) -> float:
    """Wall time of the whole command."""
    arguments = ["task=currin", "method=btao", f"seeds={seeds}", f"jobs={jobs}", "out=out"]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "benchmarks.run", *arguments],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
            | {"PYTHONPATH": str(ROOT)},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - started


def counting(processes: int) -> float:
    """Wall time of so many processes that count, each as far."""
    started = time.perf_counter()
    for process in [subprocess.Popen([sys.executable, "-c", COUNTING]) for _ in range(processes)]:
        process.wait()
    return time.perf_counter() - started


def main(repeats: int, seeds: int) -> None:
    """Print both medians and their ratio."""
    times: dict[int, list[float]] = {1: [], 2: []}
    bare: dict[int, list[float]] = {1: [], 2: []}
    seconds(jobs=2, seeds=2)
    for _ in range(repeats):
        for jobs in times:
            times[jobs].append(seconds(jobs, seeds))
            bare[jobs].append(counting(jobs))
            print(f"jobs={jobs}  {times[jobs][-1]:.1f} s, counting {bare[jobs][-1]:.1f} s", flush=True)
    one, two = (statistics.median(values) for values in times.values())
    print(f"medians of {repeats}: jobs=1 {one:.1f} s, jobs=2 {two:.1f} s, ratio {one / two:.2f}")
    one, two = (statistics.median(values) for values in bare.values())
    print(f"two processes that count: {2 * one / two:.2f} times what one does")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(3, 20)[len(given) :])
