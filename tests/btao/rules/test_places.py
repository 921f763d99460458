"""btao.rules.places: the same point is found as the kernel tells it, whichever is the first there."""

import numpy as np
import pytest

from btao import BTAO
from btao.gp import SAME_POINT, Kernel
from btao.rules.history import History
from btao.rules.places import CELL, Places
from optimizer_runs import LINE, MIXED, SQUARE, played


@pytest.mark.parametrize("space", [LINE, SQUARE, MIXED], ids=["line", "square", "mixed"])
def test_the_first_point_that_the_kernel_takes_for_the_same_is_found(space):
    rng = np.random.default_rng(0)
    points = space.snap(rng.random((60, space.dim)))
    points = np.vstack([points, points[::3], rng.random((20, space.dim))])
    kernel = Kernel(space.dim, space)
    places = Places(kernel)
    found = []
    for number, point in enumerate(points):
        places.add(point, number)
        found.append(places.at(point))
    assert found == kernel.first(points).tolist()
    assert found[60:80] == [*range(0, 60, 3)]


@pytest.mark.parametrize("distance", [0.0, 0.9, -0.9, 1.1, -1.1])
def test_points_are_the_same_up_to_the_tolerance_also_across_the_border_of_a_cell(distance):
    places = Places(Kernel(1))
    for number, at in enumerate(points := CELL * np.arange(1, 200, dtype=float)):
        places.add(np.array([at]), number)
    numbers = [places.at(np.array([at + distance * SAME_POINT])) for at in points]
    assert numbers == ([*range(199)] if abs(distance) < 1 else [None] * 199)


def test_where_nothing_was_put_nothing_is_found():
    assert Places(Kernel(2)).at(np.array([0.5, 0.5])) is None


def test_a_history_that_was_pickled_without_places_finds_its_trials():
    optimizer, _ = played(SQUARE, 7, n_init=2)
    history = optimizer._history
    state = {name: value for name, value in vars(history).items() if name != "_places"}
    former = History.__new__(History)
    former.__setstate__(state)
    assert [former.at(trial.level, trial.point) for trial in history.trials] == history.trials
    assert former.n_told == 7


def test_a_trial_whose_place_an_interrupt_kept_from_being_found_is_found_later(monkeypatch):
    optimizer, add, calls = BTAO(LINE), Places.add, []

    def interrupted(self, point, number):
        add(self, point, number)
        calls.append(number)
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Places, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        for x in (0.25, 0.75):
            optimizer.tell({"x": x}, "light", 0.5)
    assert optimizer.tell({"x": 0.75}, "light", 0.125).number == 1
    asked = optimizer.ask()
    assert optimizer.tell(asked.config, "light", 1.0).number == asked.number == 2
    assert [trial.value for trial in optimizer.trials] == [0.5, 0.125, 1.0]
