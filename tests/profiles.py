"""Searches whose performance profile is drawn, and what is read off a drawing."""

from __future__ import annotations

import math

import numpy as np

from btao import BTAO, Categorical, Constant, Integer, Real, Space, When
from optimizer_runs import FREE, play

SPACE = Space({"rate": Real(1e-4, 1e-1, log=True), "n": Integer(1, 9), "kind": Categorical(["a", "b"])})
MODEL = "heavy, by the model"  # the label of the mean


def error(config, level):
    value = 0.1 + (math.log10(config["rate"]) + 2) ** 2 / 10 + 0.02 * config["n"] + 0.1 * (config["kind"] == "b")
    return value if level == "heavy" else 1.2 * value


def searched():
    """A search of `SPACE` of ten trials."""
    optimizer = BTAO(SPACE, n_init=3, seed=1, **FREE)
    play(optimizer, 10, error)
    return optimizer


def line(ax, label):
    """The places and the values of a line of this label."""
    (found,) = [each for each in ax.get_lines() if each.get_label() == label]
    return np.array(found.get_xdata(), dtype=float), np.array(found.get_ydata(), dtype=float)


def conditional():
    """A search with a parameter that is active for the better category alone, and with a constant."""
    parameters = {"momentum": Real(0, 1), "kind": Categorical(["a", "b"]), "fixed": Constant(3)}
    space = Space(parameters, conditions={"momentum": When("kind", "b")})
    optimizer = BTAO(space, n_init=4, seed=2, **FREE)
    play(optimizer, 16, lambda config, level: 0.5 * (config["kind"] == "a") + config.get("momentum", 0.2) ** 2)
    return optimizer
