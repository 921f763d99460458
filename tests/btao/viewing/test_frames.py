"""btao.viewing.frames: trials as a table, which is a warm start, too."""

import importlib
import math

import pandas as pd
import pytest

from btao import BTAO, Categorical, Constant, Integer, Ordinal, Real, Space, When
from optimizer_runs import FREE, MIXED, play


def test_a_row_has_all_of_a_trial():
    optimizer = BTAO(MIXED, n_init=2, **FREE)
    optimizer.tell(optimizer.ask(), error="no")
    optimizer.tell(optimizer.ask(), 0.5, cost=2)
    optimizer.ask()
    frame = optimizer.trials_frame()
    assert list(frame.columns) == ["number", "level", "status", "value", "error", "cost", "given", "x", "n", "kind"]
    assert frame["status"].tolist() == ["failed", "ok", "pending"]
    assert frame["value"][1] == 0.5 and frame["cost"][1] == 2 and math.isnan(frame["value"][0])
    assert frame[["x", "n", "kind"]].to_dict("records") == [trial.config for trial in optimizer.trials]


def test_a_table_of_trials_is_a_warm_start():
    first = BTAO(MIXED, n_init=2, seed=1, **FREE)
    play(first, 7)
    second = BTAO(MIXED, n_init=2, seed=2, **FREE)
    assert second.add_trials(first.trials_frame()) == 7
    pd.testing.assert_frame_equal(
        second.trials_frame().drop(columns="given"), first.trials_frame().drop(columns="given")
    )


def test_no_trials_are_an_empty_table_and_names_do_not_clash():
    assert BTAO(Space({"cost": Real(0, 1)})).trials_frame().columns[-1] == "config.cost"
    assert len(BTAO(MIXED).trials_frame()) == 0


def test_without_pandas_an_error_says_how_to_get_it(monkeypatch):
    def without(name, *arguments):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ImportError, match=r"trials_frame\(\) needs pandas, which .* or btao\[plots\]$"):
        BTAO(MIXED).trials_frame()


def test_a_table_of_a_conditional_space_is_a_warm_start():
    parameters = {"kind": Categorical(["a", "b"]), "n": Integer(1, 9), "u": Real(0, 1)}
    space = Space(parameters, conditions={"n": When("kind", "b")})
    optimizer = BTAO(space, n_init=4, seed=1, **FREE)
    play(optimizer, 12, lambda config, level: config["u"] + config.get("n", 0))
    other = BTAO(space, n_init=4, seed=1, **FREE)
    other.add_trials(optimizer.trials_frame())
    assert {len(trial.config) for trial in other.trials} == {2, 3}
    assert [trial.config for trial in other.trials] == [trial.config for trial in optimizer.trials]


SOMETIMES = {"n": When("kind", "b")}


@pytest.mark.parametrize(
    ("parameter", "conditions"),
    [
        (Categorical([1, 2, 4]), SOMETIMES),
        (Categorical([None, 2, 4]), {}),
        (Categorical([None, 2, 4]), SOMETIMES),
        (Categorical([1, 0.5]), {}),
        (Categorical([1, 1.0, True, (1, 2)]), SOMETIMES),
        (Constant(3), SOMETIMES),
        (Constant(None), SOMETIMES),
        (Ordinal([1, 2, 4]), SOMETIMES),
    ],
)
def test_choices_come_back_from_a_table_as_they_are(parameter, conditions):
    space = Space({"kind": Categorical(["a", "b"]), "n": parameter}, conditions=conditions)
    configs = [space.from_unit(point) for point in space.all_points]
    optimizer, other = BTAO(space), BTAO(space)
    optimizer.add_trials([{"config": config, "level": "light", "value": 0.5} for config in configs])
    assert other.add_trials(optimizer.trials_frame()) == len(configs)
    assert [repr(trial.config) for trial in other.trials] == [*map(repr, configs)]


def test_whole_choices_come_back_from_a_table_of_floats_as_they_are():
    space = Space({"kind": Categorical(["a", "b"]), "n": Categorical([1, 2])}, conditions=SOMETIMES)
    table = pd.DataFrame({"kind": ["a", "b"], "n": [math.nan, 2.0], "level": ["light"] * 2, "value": [0.5, 0.25]})
    optimizer = BTAO(space)
    optimizer.add_trials(table)
    assert [repr(trial.config) for trial in optimizer.trials] == ["{'kind': 'a'}", "{'kind': 'b', 'n': 2}"]
