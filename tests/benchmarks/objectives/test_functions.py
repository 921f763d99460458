"""The functions of two levels: other ways of writing them, their optima by a global search, their light levels."""

import math
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import spearmanr
from scipy.stats.qmc import Sobol

from benchmarks.config.registry import choices, document
from benchmarks.config.spec import Spec

FUNCTIONS = [name for name in choices("task") if ".functions." in document("task", name)["_target_"]]
every_function = pytest.mark.parametrize("name", FUNCTIONS)
pi, cos, sin, exp, sqrt, log = math.pi, math.cos, math.sin, math.exp, math.sqrt, math.log


def task_of(name, **parameters):
    return Spec(name, document("task", name)["_target_"], parameters).build()


def box(task):
    kinds = task.space.parameters.values()
    return np.array([kind.low for kind in kinds]), np.array([kind.high for kind in kinds])


def minimized(task, points, level="heavy"):
    function = task.heavy_function if level == "heavy" else task.light_function
    return task.sign * function(points).reshape(len(points))


def forrester(x):
    return 36 * (x - 1 / 3) ** 2 * sin(4 * (3 * x - 1))


def branin(x, y):
    return (y - 5.1 / (2 * pi) ** 2 * x * x + 5 / pi * x - 6) ** 2 + 10 * cos(x) * (1 - 0.125 / pi) + 10


def camel(x, y):
    return 4 * x**2 - 2.1 * x**4 + x**6 / 3 + x * y - 4 * y**2 + 4 * y**4


def bohachevsky(x, y):
    return x * x + 0.3 * (1 - cos(3 * pi * x)) + 2 * y * y + 0.4 * (1 - cos(4 * pi * y))


def wells(x, depths, narrowness, centers):
    return sum(
        -depth * exp(-sum(a * (u - c) ** 2 for a, u, c in zip(row, x, center, strict=True)))
        for depth, row, center in zip(depths, narrowness, centers, strict=True)
    )


H3 = ([1, 1.2, 3, 3.2], [[3, 10, 30], [0.1, 10, 35]] * 2)
P3 = [[0.3689, 0.117, 0.2673], [0.4699, 0.4387, 0.747], [0.1091, 0.8732, 0.5547], [0.0381, 0.5743, 0.8828]]


def park1(a, b, c, d):
    first = a / 2 * (sqrt(1 + (b + c * c) * d / (a * a)) - 1)
    return -(first + (a + 3 * d) * exp(1 + sin(c)))


def park1_light(a, b, c, d):
    return -((1 + sin(a) / 10) * -park1(a, b, c, d) - 2 * a + b * b + c * c + 0.5)


def borehole(rw, r, tu, hu, tl, hl, length, kw, two_pi=2 * pi, one=1.0):
    ln = log(r / rw)
    return two_pi * tu * (hu - hl) / (ln * one + 2 * length * tu / (rw**2 * kw) + ln * tu / tl)


def trid(*x):
    return sum((u - 1) ** 2 for u in x) - sum(u * v for u, v in zip(x[1:], x, strict=False))


def trid_light(*x):
    return sum((u - 0.8) ** 2 for u in x) - 0.15 * sum(i * x[i - 1] * x[i - 2] for i in range(2, 11))


BY_HAND = {
    "forrester": (forrester, lambda x: forrester(x) / 2 + 10 * x),
    "branin": (branin, lambda x, y: branin(x, y) - 0.5 * (y - 5.1 * x**2 / (4 * pi**2) + 5 * x / pi - 6) ** 2),
    "camel": (camel, lambda x, y: camel(0.7 * x, 0.7 * y) + x * y - 15),
    "bohachevsky": (bohachevsky, lambda x, y: bohachevsky(0.7 * x, y) + x * y - 12),
    "hartmann3": (
        lambda *x: wells(x, *H3, P3),
        lambda *x: wells(x, *H3, [[1.125 * c for c in row] for row in P3]),
    ),
    "park1": (park1, park1_light),
    "borehole": (borehole, lambda *x: borehole(*x, two_pi=5, one=1.5)),
    "trid": (trid, trid_light),
    "branin_independent": (branin, lambda x, y: cos(x - pi / 2) + sin(y + pi / 2)),
    "branin_opposite": (branin, lambda x, y: -branin(x, y)),
    "branin_shifted": (branin, lambda x, y: branin(x - 2, y - 3)),
}


@pytest.mark.parametrize("name", BY_HAND)
@settings(max_examples=30, deadline=None)
@given(u=st.lists(st.floats(0.001, 1), min_size=10, max_size=10))
def test_values_are_those_of_the_formulas_written_otherwise(name, u):
    task = task_of(name)
    low, high = box(task)
    x = low + np.array(u[: len(low)]) * (high - low)
    config = dict(zip(task.space.names, x.tolist(), strict=True))
    for level, function in zip((task.heavy, task.light), BY_HAND[name], strict=True):
        found = task.evaluate(config, level, seed=0)
        assert found.value == pytest.approx(function(*x.tolist()), rel=1e-9, abs=1e-9)
        assert found.iterations == level.iterations


def test_the_six_dimensional_one_is_that_of_its_authors():
    """At the center of the deepest well of each level the other wells add what their distances leave."""
    module = import_module("benchmarks.objectives.functions.hartmann6")
    for k, center in enumerate(module.CENTERS):
        exponents = [
            -sum(a * (u - c) ** 2 for a, u, c in zip(row, center, other, strict=True))
            for row, other in zip(module.NARROWNESS, module.CENTERS, strict=True)
        ]
        assert exponents[k] == 0
        heavy = -(2.58 + sum(d * exp(e) for d, e in zip((1.0, 1.2, 3.0, 3.2), exponents, strict=True))) / 1.94
        assert module.heavy(center) == pytest.approx(heavy, rel=1e-12)
        light = (
            -(
                2.58
                + sum(
                    d * (exp(-4 / 9) * (13 + e) / 9) ** 9 for d, e in zip((0.5, 0.5, 2.0, 4.0), exponents, strict=True)
                )
            )
            / 1.94
        )
        assert module.light(center) == pytest.approx(light, rel=1e-12)


@every_function
def test_a_global_search_finds_the_optimum_and_nothing_better(name):
    task = task_of(name)
    low, high = box(task)
    width = high - low
    U = np.vstack([Sobol(len(low), rng=0).random(2**13), np.indices((2,) * len(low)).reshape(len(low), -1).T])
    values = minimized(task, low + U * width)
    assert values.min() >= task.optimum
    best = min(
        minimize(
            lambda u: minimized(task, (low + u * width)[None])[0],
            start,
            method="L-BFGS-B",
            bounds=[(0, 1)] * len(low),
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000},
        ).fun
        for start in U[np.argsort(values, kind="stable")[:6]]
    )
    assert best >= task.optimum
    assert best == pytest.approx(task.optimum, rel=1e-9, abs=1e-8)


@every_function
def test_functions_are_vectorized_and_finite_up_to_their_corners(name):
    task = task_of(name)
    low, high = box(task)
    corners = np.indices((2,) * len(low)).reshape(len(low), -1).T
    points = low + np.vstack([corners, np.random.default_rng(0).random((20, len(low)))]) * (high - low)
    for level in ("light", "heavy"):
        together = minimized(task, points, level)
        assert np.isfinite(together).all()
        one_by_one = [minimized(task, point[None], level)[0] for point in points]
        np.testing.assert_allclose(together, one_by_one, rtol=1e-13)


@every_function
@pytest.mark.parametrize(("light", "heavy"), [(1, 5), (1, 10), (2, 7)])
def test_the_costs_of_the_levels_are_free(name, light, heavy):
    task = task_of(name, light_iterations=light, heavy_iterations=heavy)
    config = task.space.from_unit([0.4] * task.space.dim)
    costs = [task.evaluate(config, level, 0).iterations for level in (task.light, task.heavy)]
    assert costs == [light, heavy]


def test_light_levels_tell_of_heavy_ones_but_for_those_that_mislead():
    ranks = {}
    for name in FUNCTIONS:
        task = task_of(name)
        low, high = box(task)
        points = low + Sobol(len(low), rng=1).random(2**10) * (high - low)
        ranks[name] = spearmanr(minimized(task, points, "light"), minimized(task, points)).statistic
    misleading = {name: ranks.pop(name) for name in list(ranks) if name.startswith("branin_")}
    assert min(ranks.values()) > 0.3  # of Forrester's
    assert abs(misleading["branin_independent"]) < 0.2
    assert misleading["branin_opposite"] == pytest.approx(-1)
    assert 0.1 < misleading["branin_shifted"] < 0.8
