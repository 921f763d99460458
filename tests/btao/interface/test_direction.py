"""btao.interface.direction: maximization is minimization of the negated values, all of it in the user's sense."""

import math
import warnings

import numpy as np
import pytest

from btao import BTAO, TruncationWarning, minimize
from optimizer_runs import LINE, SQUARE, loss, names, play

RULES = ("joint", "paper", "rate")


def accuracy(config, level):
    return 1 - loss(config, level)


def negated(config, level):
    return -accuracy(config, level)


@pytest.mark.parametrize("rule", RULES)
def test_a_maximization_asks_what_the_negated_minimization_asks(rule):
    options, bounded = {"seed": 2, "n_init": 2, "rule": rule}, rule != "rate"
    up = BTAO(SQUARE, direction="maximize", delta_bounds=(-0.25, 0.75) if bounded else None, **options)
    down = BTAO(SQUARE, delta_bounds=(-0.75, 0.25) if bounded else None, **options)
    assert names(play(up, 12, accuracy)) == names(play(down, 12, negated))
    assert [trial.value for trial in up.trials] == [-trial.value for trial in down.trials]
    assert up.best.value == -down.best.value == max(t.value for t in up.trials if t.level == "heavy")
    assert up.recommended.config == down.recommended.config
    assert up.recommended.value == accuracy(up.recommended.config, "heavy")
    for one, other, sign in zip(up.predict(up.best.config), down.predict(up.best.config), (-1, 1), strict=True):
        np.testing.assert_array_equal(one, sign * other)


def test_what_tell_returns_and_says_is_in_the_users_sense():
    optimizer = BTAO(LINE, direction="maximize")
    trial = optimizer.ask()
    assert optimizer.tell(trial, 0.75).value == 0.75
    with pytest.raises(ValueError, match=r"trial 0 was told before: it is ok, value 0\.75"):
        optimizer.tell(trial, 0.5)
    rows = [trial, optimizer.trials[0], {"x": 0.25, "level": "light", "value": 0.5}]
    assert optimizer.add_trials(rows) == 1
    assert [each.value for each in optimizer.trials] == [0.75, 0.5]
    assert optimizer.tell({"x": 0.25}, "heavy", 0.875) == optimizer.best


def test_the_state_holds_values_in_the_users_sense_and_goes_on_alike():
    optimizer = BTAO(LINE, direction="maximize", n_init=2)
    play(optimizer, 5, accuracy)
    assert f'"value": {accuracy(optimizer.trials[0].config, "light")!r}' in optimizer.to_json()
    restored = BTAO.from_json(optimizer.to_json())
    assert restored.direction == "maximize" and restored.trials == optimizer.trials
    assert names(play(restored, 5, accuracy)) == names(play(optimizer, 5, accuracy))
    assert restored.to_json() == optimizer.to_json()


def test_the_default_bounds_say_that_a_heavy_run_is_never_worse():
    assert BTAO(LINE).delta_bounds == (-1.0, 0.0)
    assert BTAO(LINE, direction="maximize").delta_bounds == (0.0, 1.0)


def test_minimize_can_maximize():
    objectives = {level: lambda config, level=level: accuracy(config, level) for level in ("light", "heavy")}
    result = minimize(objectives, LINE, n_heavy=6, n_init=2, direction="maximize")
    heavies = [trial.value for trial in result.trials if trial.level == "heavy"]
    assert result.value == max(heavies) == accuracy(result.config, "heavy")
    assert result.value > min(heavies)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_bounds_that_are_contradicted_again_and_again_are_spoken_of_once(direction):
    """Accuracies told to a minimizer, errors to a maximizer: the classic mistake."""
    function = accuracy if direction == "minimize" else loss
    optimizer = BTAO(LINE, n_init=4, direction=direction, rule="joint")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play(
            optimizer,
            17,
            lambda config, level: (
                function(config, level) + (level == "heavy") * (1.5 if direction == "minimize" else -1.5)
            ),
        )
    texts = [str(each.message) for each in caught]
    advice = [text for text in texts if "help the search only where they hold" in text]
    assert len(advice) == 1
    other = "maximize" if direction == "minimize" else "minimize"
    assert f"direction='{other}'" in advice[0] and advice[0].startswith(("3 of", "4 of"))
    sides = [text for text in texts if "breaks the" in text]
    assert sides and all(
        {"minimize": "upper bound 0", "maximize": "lower bound 0"}[direction] in text for text in sides
    )
    assert {each.category for each in caught} == {TruncationWarning}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "max"}, r"direction must be one of \('minimize', 'maximize'\), got 'max'"),
        ({"direction": True}, "direction must be one of"),
        ({"direction": "maximize", "rule": "rate", "logarithm": True}, "logarithm must be None or False with"),
        ({"direction": "maximize", "rule": "joint", "delta_bounds": (1.0, 0.0)}, "delta_bounds must be a pair"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BTAO(LINE, **options)


def test_a_failure_is_neither_good_nor_bad():
    optimizer = BTAO(LINE, direction="maximize")
    for value in (math.nan, -math.inf, math.inf):
        assert optimizer.tell(optimizer.ask(), value).status == "failed"
    assert optimizer.best is None
