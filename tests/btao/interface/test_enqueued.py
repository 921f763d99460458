"""btao.interface.enqueued: configurations that are tried first."""

import pytest

from btao import BTAO, Integer, Space
from optimizer_runs import FREE, LINE, assert_no_repeats, free, loss, play

RULES = ("joint", "paper", "rate")
MINE, YOURS = {"x": 0.25}, {"x": 0.75}


@pytest.mark.parametrize("rule", RULES)
def test_what_is_enqueued_comes_first_lightly_and_then_heavily(rule):
    optimizer = BTAO(LINE, n_init=2, **free(rule))
    play(optimizer, 2)
    optimizer.enqueue(MINE)
    optimizer.enqueue(YOURS, level="light")
    asked = [(trial.level, trial.config) for trial in play(optimizer, 3)]
    assert asked == [("light", MINE), ("heavy", MINE), ("light", YOURS)]
    play(optimizer, 8)
    assert_no_repeats(LINE, optimizer.trials)


def test_the_heavy_run_waits_for_the_light_one_and_others_do_not_wait():
    optimizer = BTAO(LINE, n_init=2, **FREE)
    optimizer.enqueue(MINE)
    optimizer.enqueue(YOURS)
    batch = [optimizer.ask() for _ in range(3)]
    assert [(trial.level, trial.config) for trial in batch[:2]] == [("light", MINE), ("light", YOURS)]
    assert batch[2].level == "light" and batch[2].config in optimizer.initial_design
    optimizer.tell(batch[1], 0.5)
    heavy = optimizer.ask()
    assert (heavy.level, heavy.config) == ("heavy", YOURS)


def test_what_fails_lightly_or_is_known_already_is_not_run_heavily():
    optimizer = BTAO(LINE, n_init=2, **FREE)
    optimizer.tell(YOURS, "light", 0.5)
    optimizer.tell(YOURS, "heavy", 0.5)
    for config in (MINE, MINE, YOURS):
        optimizer.enqueue(config)
    trial = optimizer.ask()
    assert trial.config == MINE
    optimizer.tell(trial, error="no")
    assert optimizer.ask().config in optimizer.initial_design


def test_a_heavy_run_is_made_when_its_light_run_is_reopened_and_succeeds():
    optimizer = BTAO(LINE, n_init=2, **FREE)
    for _ in range(2):
        optimizer.enqueue(MINE)
    failed = optimizer.tell(optimizer.ask(), error="no")
    assert optimizer.ask().config in optimizer.initial_design
    optimizer = BTAO.from_json(optimizer.to_json())
    optimizer.tell(optimizer.reopen(failed), 0.5)
    heavy = optimizer.ask()
    assert (heavy.level, heavy.config) == ("heavy", MINE)
    assert optimizer.ask().config != MINE


@pytest.mark.parametrize("rule", RULES)
def test_the_queue_survives_in_the_state(rule):
    optimizer = BTAO(LINE, n_init=2, **free(rule))
    optimizer.enqueue(MINE)
    optimizer.enqueue(YOURS)
    for _ in range(8):
        restored = BTAO.from_json(optimizer.to_json())
        asked, again = optimizer.ask(), restored.ask()
        assert (asked.level, asked.config) == (again.level, again.config)
        assert restored.to_json() == optimizer.to_json()
        optimizer.tell(asked, loss(asked.config, asked.level))
    assert [trial.config for trial in optimizer.trials[:4]] == [MINE, MINE, YOURS, YOURS]


def test_a_finite_space_whose_configurations_are_all_enqueued_is_tried_in_that_order():
    optimizer = BTAO(Space({"n": Integer(1, 3)}), n_init=1, **FREE)
    for n in (3, 1, 2):
        optimizer.enqueue({"n": n})
    asked = [(trial.config["n"], trial.level) for trial in play(optimizer, 6, lambda config, level: config["n"])]
    assert asked == [(3, "light"), (3, "heavy"), (1, "light"), (1, "heavy"), (2, "light"), (2, "heavy")]


def test_a_wrong_configuration_or_level_is_refused():
    optimizer = BTAO(LINE)
    with pytest.raises(ValueError, match="config has no parameter 'y'"):
        optimizer.enqueue({"y": 0.5})
    with pytest.raises(ValueError, match="level must be 'light' or 'heavy', got 'medium'"):
        optimizer.enqueue({"x": 0.5}, level="medium")
