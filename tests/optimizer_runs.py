"""Runs of btao.BTAO on small spaces, for the tests of its optimizer."""

from __future__ import annotations

import math

import numpy as np

from btao import BTAO, Categorical, Integer, Real, Space
from btao.gp import Kernel

LINE = Space({"x": Real(0.0, 1.0)})
SQUARE = Space({"x": Real(-1.0, 1.0), "y": Real(1e-3, 1e3, log=True)})
MIXED = Space({"x": Real(1e-4, 1.0, log=True), "n": Integer(1, 64), "kind": Categorical(["a", "b", "c"])})


def free(rule):
    """A rule without bounds, where it has them: they take most of the time of a run, and few tests turn on them."""
    ends = (-math.inf, math.inf)
    return {"rule": rule} if rule == "rate" else {"rule": rule, "delta_bounds": ends, "rho_bounds": ends}


FREE = free("joint")
BOUNDED = {"rule": "joint", "delta_bounds": (-1.0, 0.0), "rho_bounds": (0.0, 1.0)}


def loss(config, level):
    """A heavy error no worse than the light one; any space."""
    values = [0.3 * math.sin(3 * len(str(v))) if isinstance(v, str) else math.tanh(float(v)) for v in config.values()]
    light = 0.5 + 0.2 * math.cos(4 * sum(values))
    return light if level == "light" else 0.8 * light - 0.05 * values[0] ** 2


def shifted(config, level):
    """The minimizers of the levels differ: 0.2 and 0.7."""
    light = (config["x"] - 0.2) ** 2
    return light if level == "light" else light - config["x"] + 0.25


def play(optimizer, n_trials, objective=loss):
    """Ask and tell `n_trials` times; the trials as asked."""
    asked = []
    for _ in range(n_trials):
        trial = optimizer.ask()
        asked.append(trial)
        optimizer.tell(trial, objective(trial.config, trial.level))
    return asked


def played(space, n_trials, objective=loss, **options):
    optimizer = BTAO(space, **FREE | options)
    return optimizer, play(optimizer, n_trials, objective)


def names(trials):
    """What a run asked for."""
    return [(trial.number, trial.level, trial.config) for trial in trials]


def of_level(trials, level):
    return [trial for trial in trials if trial.level == level]


def assert_no_repeats(space, trials):
    kernel = Kernel(space.dim, space)
    for level in ("light", "heavy"):
        points = np.array([trial.point for trial in of_level(trials, level)])
        if len(points):
            same = kernel.same(points, points)
            assert same.sum() == len(points)
