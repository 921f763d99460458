"""btao.training: when a curve stops and what it measures (METHOD items 16 and 17)."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from btao.training import Level

# No deadline: a busy machine is no failure.
examples = settings(deadline=None)

nan = math.nan
CURVES = st.lists(st.integers(0, 12).map(lambda k: k / 100) | st.just(nan), min_size=1, max_size=15)
PATIENCE = st.none() | st.integers(1, 6)
TOLERANCES = st.integers(0, 4).map(lambda k: k / 100)


@pytest.mark.parametrize(
    ("level", "curve", "stop"),
    [
        # The number of iterations alone.
        (Level(3), [0.5, 0.5], None),
        (Level(3), [0.5, 0.5, 0.5], 3),
        (Level(3), [0.5, 0.4, 0.3, 0.2, 0.1], 3),
        (Level(1), [0.5], 1),
        (Level(3), [], None),
        # e = 0: s successive iterations without any improvement.
        (Level(9, 2), [0.5, 0.5], None),
        (Level(9, 2), [0.5, 0.5, 0.5], 3),
        (Level(9, 2), [0.5, 0.6, 0.4, 0.4, 0.41], 5),
        (Level(9, 2), [0.5, 0.6, 0.4999, 0.6, 0.4998], None),
        (Level(9, 1), [0.5, 0.4, 0.4], 3),
        # e > 0: s successive ones improved the best by less than e in total, however it was spread.
        (Level(9, 2, 0.1), [0.5, 0.45, 0.41], 3),
        (Level(9, 2, 0.1), [0.5, 0.5, 0.39], None),
        (Level(9, 2, 0.1), [0.5, 0.45, 0.39, 0.34, 0.33], 5),
        (Level(9, 1, 0.1), [0.5, 0.39, 0.28, 0.27], 4),
        (Level(2, 2, 0.1), [0.5, 0.5, 0.5], 2),
        (Level(2, 5, 0.1), [0.5, 0.4], 2),
        # A worse iteration is measured against the best so far, not against the one before.
        (Level(9, 2, 0.1), [0.5, 0.9, 0.6], 3),
        # The first value is no improvement that patience could miss, however large e.
        (Level(9, 1, 1e6), [0.5], None),
        (Level(9, 1, 1e6), [0.5, 0.1], 2),
        # nan is no improvement.
        (Level(9, 2), [nan, nan], 2),
        (Level(9, 2), [nan, 0.5, nan], None),
        (Level(9, 2), [nan, 0.5, nan, nan], 4),
        (Level(9, 2), [0.5, nan, 0.4, nan], None),
        (Level(3), [nan, nan, nan], 3),
        # Infinities.
        (Level(9, 1), [math.inf], 1),
        (Level(9, 2), [math.inf, 0.5], None),
        (Level(9, 1), [0.5, -math.inf], None),
        (Level(9, 1), [0.5, -math.inf, -math.inf], 3),
    ],
)
def test_stop(level, curve, stop):
    assert level.stop(curve) == stop
    assert level.stop(np.array(curve)) == stop


@pytest.mark.parametrize("tolerance", [0.01, 0.001, 0.0001])
def test_a_gain_of_exactly_the_tolerance_is_enough_whatever_the_rounding(tolerance):
    steps = round(0.5 / tolerance) if tolerance > 1e-3 else 400
    curve = [0.9 - k * tolerance for k in range(steps)]
    assert Level(steps + 1, 1, tolerance).stop(curve) is None
    assert Level(steps + 1, 1, tolerance * (1 + 1e-6)).stop(curve) == 2


@pytest.mark.parametrize(
    ("level", "curve", "value"),
    [
        (Level(2), [0.5, 0.6, 0.1], 0.5),
        (Level(9), [0.5, 0.4], 0.4),
        (Level(9, 1), [0.5, 0.5, 0.1], 0.5),
        (Level(3), [nan, 0.4, nan], 0.4),
        (Level(3), [nan, nan, 0.4, 0.3], 0.4),
        (Level(2), [math.inf, 0.4], 0.4),
    ],
)
def test_measure_is_the_best_value_up_to_the_stop(level, curve, value):
    assert level.measure(curve) == value
    assert curve[level.best(curve) - 1] == value
    assert level.best(curve) - 1 == curve.index(value)  # the first of equal ones


@pytest.mark.parametrize("curve", [[], [nan], [nan, nan, 0.1]])
def test_measure_is_nan_without_a_value(curve):
    assert math.isnan(Level(2).measure(curve))
    assert Level(2).best(curve) is None


def test_measure_is_a_plain_float():
    assert json.dumps(Level(2).measure(np.array([0.5, 0.25], dtype=np.float32))) == "0.25"


@examples
@given(CURVES, st.integers(1, 15), st.integers(1, 6), TOLERANCES)
def test_stop_is_the_first_iteration_at_which_the_rule_holds(curve, iterations, patience, tolerance):
    """Against the rule of METHOD item 16 in exact arithmetic, in hundredths."""
    hundredths = [math.inf if math.isnan(value) else round(100 * value) for value in curve]

    def best(t):
        return min(hundredths[:t], default=math.inf)

    def rule_holds(t):
        if t == iterations:
            return True
        if t < patience:
            return False
        now, then = best(t), best(t - patience)
        return now == then or then - now < round(100 * tolerance)

    expected = next((t for t in range(1, len(curve) + 1) if rule_holds(t)), None)
    assert Level(iterations, patience, tolerance).stop(curve) == expected


@examples
@given(CURVES, st.integers(1, 15), PATIENCE, TOLERANCES)
def test_the_stop_does_not_depend_on_what_follows(curve, iterations, patience, tolerance):
    level = Level(iterations, patience, tolerance)
    stop = level.stop(curve)
    if stop is not None:
        assert all(level.stop(curve[:t]) == (stop if t >= stop else None) for t in range(len(curve) + 1))
        measured, cut = level.measure(curve), level.measure(curve[:stop])
        assert measured == cut or (math.isnan(measured) and math.isnan(cut))


@examples
@given(CURVES, st.integers(1, 15), PATIENCE, TOLERANCES, st.integers(0, 5), st.integers(0, 5), TOLERANCES)
def test_a_heavier_level_never_measures_more(curve, iterations, patience, tolerance, longer, more, less):
    light = Level(iterations, patience, tolerance)
    heavy = Level(iterations + longer, None if patience is None else patience + more, min(tolerance, less))
    stop_light, stop_heavy = light.stop(curve), heavy.stop(curve)
    if stop_heavy is not None:
        assert stop_light is not None
        assert stop_light <= stop_heavy
    y_light, y_heavy = light.measure(curve), heavy.measure(curve)
    assert math.isnan(y_light) or y_heavy <= y_light


@examples
@given(CURVES, st.integers(1, 15), PATIENCE, PATIENCE, TOLERANCES, TOLERANCES)
def test_a_level_that_is_as_impatient_stops_where_the_other_does(curve, iterations, patience, other, tolerance, less):
    one, two = Level(iterations, patience, tolerance), Level(iterations, other, less)
    if one.is_as_impatient_as(two):
        assert two.stop(curve) is None or one.stop(curve) <= two.stop(curve)


@pytest.mark.parametrize(
    ("one", "two", "curve"),
    [
        ((9, 3), (9, None, 0.01), None),  # without patience there is no tolerance
        ((9, None), (9, None, 0.01), None),
        ((9, 2, 0.1), (9, 3, 0.1), None),
        ((9, 3, 0.2), (9, 3, 0.1), None),
        ((1, 3), (9, 3), None),
        ((9, None), (9, 3), [0.5] * 9),
        ((9, 4), (9, 3), [0.5] * 9),
        ((9, 3), (9, 3, 0.1), [0.5, 0.49, 0.48, 0.47, 0.46, 0.45, 0.44, 0.43, 0.42]),
        ((9, 2), (9, 3, 0.1), [0.5, 0.49, 0.48, 0.47, 0.46, 0.45, 0.44, 0.43, 0.42]),
    ],
)
def test_as_impatient_is_a_level_that_no_curve_shows_to_go_on_where_the_other_stops(one, two, curve):
    one, two = Level(*one), Level(*two)
    assert one.is_as_impatient_as(two) == (curve is None)
    if curve is not None:
        assert one.stop(curve) > two.stop(curve)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "3", None])
def test_bad_iterations(value):
    with pytest.raises(ValueError, match=f"iterations must be an integer of at least 1, got {value!r}"):
        Level(value)


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "3"])
def test_bad_patience(value):
    with pytest.raises(ValueError, match=f"patience must be None or an integer of at least 1, got {value!r}"):
        Level(3, value)


@pytest.mark.parametrize("value", [-1e-9, nan, math.inf, "0.1", None])
def test_bad_tolerance(value):
    with pytest.raises(ValueError, match=f"tolerance must be a finite number and not negative, got {value!r}"):
        Level(3, 2, value)


@examples
@given(curve=CURVES, iterations=st.integers(1, 15), patience=PATIENCE, tolerance=TOLERANCES)
def test_accuracies_stop_where_errors_do_that_fall_as_they_rise(curve, iterations, patience, tolerance):
    errors = Level(iterations, patience, tolerance)
    accuracies = Level(iterations, patience, tolerance, direction="maximize")
    risen = [-value for value in curve]
    assert accuracies.stop(risen) == errors.stop(curve)
    assert accuracies.best(risen) == errors.best(curve)
    np.testing.assert_equal(accuracies.measure(risen), -errors.measure(curve))


def test_another_direction_is_refused():
    with pytest.raises(ValueError, match=r"direction must be one of \('minimize', 'maximize'\), got 'up'"):
        Level(3, direction="up")
