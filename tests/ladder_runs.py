"""Records made by hand of runs of the ladder's steps."""

from __future__ import annotations

import json

from benchmarks.analysis.ladder.steps import STEPS
from benchmarks.config.registry import document
from support import frame, run

ON_FUNCTIONS = [number for number, step in enumerate(STEPS) if not step.of_errors]


def of_step(number, values, seed=0, task="currin", levels=None):
    """A run of a step: heavy runs of these values, the optimum being 0."""
    step = STEPS[number]
    written = json.dumps({**document("method", step.method), **step.changes})
    one = run(levels or "H" * len(values), values, method=step.method, seed=seed, task=task, hash=f"{number:08}")
    return one.assign(parameters=written)


def climbed(ends, task="currin", seeds=2):
    """A step a number, where it ends after a first regret of 10; of seed k the end is 10^-k times that."""
    return frame(
        *(of_step(number, [10.0, end * 0.1**seed], seed, task) for number, end in ends.items() for seed in range(seeds))
    )
