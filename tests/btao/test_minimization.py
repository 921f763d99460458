"""btao.minimization: the loop, failures, and a state file that survives a crash."""

import errno
import itertools
import json
import math
import tempfile
import warnings

import numpy as np
import pytest

from btao import BTAO, Integer, Measurement, OptimizationResult, Real, Space, minimize
from optimizer_runs import FREE, free

SPACE = Space({"x": Real(0.0, 1.0)})
OPTIONS = {"n_init": 2, **FREE}


def light(config):
    return (config["x"] - 0.4) ** 2


def heavy(config):
    return (config["x"] - 0.6) ** 2 - 1


OBJECTIVES = {"light": light, "heavy": heavy}


def names(trials):
    return [(trial.number, trial.level, trial.config, trial.status, trial.value, trial.error) for trial in trials]


class Interrupting:
    """An objective that is interrupted at the given calls, counted over both levels."""

    def __init__(self, *calls):
        self.calls, self.count = calls, 0

    def objectives(self):
        def wrap(function):
            def objective(config):
                self.count += 1
                if self.count in self.calls:
                    raise KeyboardInterrupt
                return function(config)

            return objective

        return {level: wrap(function) for level, function in OBJECTIVES.items()}


# --- the loop -------------------------------------------------------------------------------------------------------


def test_a_start_larger_than_the_run_is_warned_of_before_any_work():
    space = Space({f"x{j}": Real(0.0, 1.0) for j in range(30)})
    message = "^n_heavy=6 is less than the 32 heavy runs of the start, before which 64 light runs are made"
    with pytest.raises(KeyboardInterrupt), pytest.warns(UserWarning, match=message):
        minimize(Interrupting(1).objectives(), space, n_heavy=6, rule="joint")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        minimize(OBJECTIVES, SPACE, n_heavy=2, **OPTIONS)


def test_the_result_is_the_best_heavy_trial():
    result = minimize(OBJECTIVES, SPACE, n_heavy=7, seed=1, **OPTIONS)
    assert isinstance(result, OptimizationResult)
    heavies = [trial for trial in result.trials if trial.level == "heavy"]
    assert len(heavies) == 7 and len(result.trials) == 21
    assert result.value == min(trial.value for trial in heavies) == heavy(result.config)
    assert result.value == pytest.approx(-1, abs=1e-3)
    assert result.optimizer.best.config == result.config
    for trial in result.trials:
        assert trial.value == OBJECTIVES[trial.level](trial.config)


def test_it_asks_what_the_optimizer_asks():
    result = minimize(OBJECTIVES, SPACE, n_heavy=4, seed=3, **OPTIONS)
    optimizer = BTAO(SPACE, seed=3, **OPTIONS)
    for trial in result.trials:
        asked = optimizer.ask()
        assert (asked.level, asked.config) == (trial.level, trial.config)
        optimizer.tell(asked, trial.value)


def test_fewer_heavy_runs_than_the_start_has():
    result = minimize(OBJECTIVES, SPACE, n_heavy=1, **OPTIONS | {"n_init": 4})
    assert [trial.level for trial in result.trials] == ["light"] * 8 + ["heavy"]


def test_a_finite_space_may_end_the_run_early():
    space = Space({"x": Integer(0, 2)})
    result = minimize(OBJECTIVES, space, n_heavy=50, **OPTIONS)
    assert len(result.trials) == 6
    assert result.config == {"x": 1}


def test_an_objective_may_change_the_configuration_it_is_given():
    def greedy(config):
        return light(config) + config.pop("x")

    result = minimize({"light": greedy, "heavy": greedy}, SPACE, n_heavy=3, **OPTIONS)
    assert set(result.config) == {"x"}


def test_ctrl_c_ends_the_run_with_the_best_that_there_is():
    seen = []
    with pytest.warns(UserWarning, match="^Ctrl-C ended the run: this is the best that there is$") as warned:
        result = minimize(Interrupting(10).objectives(), SPACE, n_heavy=9, callback=seen.append, **OPTIONS)
    assert warned[0].filename == __file__
    whole = minimize(OBJECTIVES, SPACE, n_heavy=3, **OPTIONS)
    assert names(seen) == names(whole.trials) == names(result.trials[:9])
    assert (result.config, result.value) == (whole.config, whole.value)
    assert [trial.status for trial in result.trials[9:]] == ["pending"]


def test_ctrl_c_before_a_heavy_result_is_raised():
    with pytest.raises(KeyboardInterrupt):
        minimize(Interrupting(3).objectives(), SPACE, n_heavy=9, **OPTIONS)


# --- failures -------------------------------------------------------------------------------------------------------


def test_an_exception_is_a_failed_trial_with_a_warning():
    calls = []

    def failing(config):
        calls.append(config)
        if len(calls) == 2:
            raise MemoryError("no room")
        return heavy(config)

    with pytest.warns(UserWarning, match=r"heavy trial 5 at \{'x': .*\} failed: MemoryError: no room") as warned:
        result = minimize({"light": light, "heavy": failing}, SPACE, n_heavy=5, **OPTIONS)
    assert warned[0].filename == __file__
    assert (result.trials[5].status, result.trials[5].error) == ("failed", "MemoryError: no room")
    assert sum(trial.level == "heavy" for trial in result.trials) == 5  # the failed one is among them


def test_a_value_that_is_not_finite_is_a_failed_trial_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = minimize(
            {"light": light, "heavy": lambda config: math.nan if config["x"] < 0.5 else heavy(config)},
            SPACE,
            n_heavy=6,
            **OPTIONS,
        )
    assert result.config["x"] >= 0.5
    assert "the value is nan" in [trial.error for trial in result.trials]


def test_heavy_trials_that_all_fail_are_an_error_that_names_the_last_one():
    with pytest.raises(RuntimeError, match="no heavy trial succeeded; the last error of 3: the value is nan"):
        minimize({"light": light, "heavy": lambda config: math.nan}, SPACE, n_heavy=3, **OPTIONS)


def test_light_trials_that_all_fail_end_the_run():
    count = []

    def diverging(config):
        count.append(config)
        return math.inf

    message = "the run is given up as its last 10 trials failed; the last error of 10: the value is inf"
    with pytest.raises(RuntimeError, match=message):
        minimize({"light": diverging, "heavy": heavy}, SPACE, n_heavy=5, **OPTIONS)
    assert len(count) == 10  # as many as the run would have had


@pytest.mark.parametrize("level", ["light", "heavy"])
@pytest.mark.parametrize("error", [NameError("name 'nmupy' is not defined"), ValueError("a first one")])
def test_an_exception_in_the_first_trial_of_a_level_ends_the_run_and_does_not_block_the_corrected_one(
    tmp_path, level, error
):
    state, calls = tmp_path / "st.json", []

    def broken(config):
        calls.append(config)
        raise error

    arguments = {"space": SPACE, "n_heavy": 4, "state": state} | OPTIONS
    with pytest.raises(type(error)) as raised:
        minimize(OBJECTIVES | {level: broken}, **arguments)
    assert raised.value is error and len(calls) == 1
    (note,) = error.__notes__
    assert f"failed before any {level} trial succeeded, and is not kept in {state}" in note
    assert "a corrected objective goes on" in note and "return nan" in note
    del error.__notes__

    assert names(minimize(OBJECTIVES, **arguments).trials) == names(minimize(OBJECTIVES, SPACE, 4, **OPTIONS).trials)


def test_an_error_of_the_code_ends_the_run_while_no_trial_of_the_level_has_succeeded():
    values = iter([math.nan, math.nan])

    def broken(config):
        value = next(values, None)
        return value.real if value is None else value  # an AttributeError

    with pytest.raises(AttributeError, match="'real'"):
        minimize({"light": light, "heavy": broken}, SPACE, n_heavy=6, **OPTIONS)
    values = iter([math.nan, 0.5])
    with pytest.warns(UserWarning, match="heavy trial .* failed: AttributeError"):
        result = minimize({"light": light, "heavy": broken}, SPACE, n_heavy=3, **OPTIONS)
    assert result.value == 0.5


def test_an_error_of_the_code_ends_the_run_though_a_warm_start_has_results_of_the_level():
    calls = []

    def broken(config):
        calls.append(config)
        raise NameError("a bug")

    known = [{"x": 0.5, "level": level, "value": function({"x": 0.5})} for level, function in OBJECTIVES.items()]
    with pytest.raises(NameError, match="a bug") as caught:
        minimize({"light": broken, "heavy": broken}, SPACE, n_heavy=3, warm_start=known, **OPTIONS)
    assert len(calls) == 1
    assert "failed before any light trial succeeded, and is not kept" in caught.value.__notes__[0]


@pytest.mark.parametrize("rule", ["joint", "paper", "rate"])
def test_failed_trials_are_run_again_in_their_places_when_asked(tmp_path, rule):
    state, arguments = tmp_path / "st.json", {"n_init": 2, **free(rule)}
    minimize(OBJECTIVES | {"light": lambda config: light(config)}, SPACE, 3, state=state, **arguments)
    whole = minimize(OBJECTIVES, SPACE, 3, **arguments)
    content = json.loads(state.read_text())
    for number, row in enumerate(content["trials"]):
        if row["level"] == "heavy" or number == 1:
            row.update(status="failed", value=None, error="NameError: a typo")
    state.write_text(json.dumps(content))

    calls = []

    def counted(level):
        return lambda config: calls.append((level, config)) or OBJECTIVES[level](config)

    objectives = {level: counted(level) for level in OBJECTIVES}
    with pytest.raises(RuntimeError, match=rf"NameError: a typo. {state} keeps .* retry_failed=True runs them again"):
        minimize(objectives, SPACE, 3, state=state, **arguments)
    assert calls == []

    result = minimize(objectives, SPACE, 3, state=state, retry_failed=True, **arguments)
    assert names(result.trials) == names(whole.trials)
    assert calls == [(t.level, t.config) for t in whole.trials if t.level == "heavy" or t.number == 1]
    longer = minimize(OBJECTIVES, SPACE, 5, state=state, **arguments)
    assert longer.trials[: len(whole.trials)] == whole.trials
    assert sum(trial.level == "heavy" for trial in longer.trials) == 5


def test_a_retry_that_is_killed_keeps_what_it_has_and_what_it_has_not_reached(tmp_path):
    state = tmp_path / "st.json"
    with pytest.raises(RuntimeError, match="no heavy trial succeeded"):
        minimize(OBJECTIVES | {"heavy": lambda config: math.nan}, SPACE, 3, state=state, **OPTIONS)
    with pytest.warns(UserWarning, match="Ctrl-C"):
        minimize(Interrupting(2).objectives(), SPACE, 3, state=state, retry_failed=True, **OPTIONS)
    kept = [row["status"] for row in json.loads(state.read_text())["trials"] if row["level"] == "heavy"]
    assert kept == ["ok", "failed", "failed"]
    result = minimize(OBJECTIVES, SPACE, 3, state=state, retry_failed=True, **OPTIONS)
    assert all(trial.status == "ok" for trial in result.trials)


def test_a_callback_sees_every_new_trial_when_it_is_on_record_and_may_end_the_run(tmp_path):
    state, seen = tmp_path / "run.json", []

    def watch(trial):
        seen.append(trial)
        assert names(BTAO.from_json(state.read_text()).trials) == names(seen)
        return trial.level == "heavy" and trial.number >= 6

    run = minimize(OBJECTIVES, SPACE, n_heavy=5, state=state, callback=watch, **OPTIONS)
    assert names(run.trials) == names(seen) == names(minimize(OBJECTIVES, SPACE, n_heavy=3, **OPTIONS).trials)
    longer = minimize(OBJECTIVES, SPACE, n_heavy=4, state=state, callback=seen.append, **OPTIONS)
    assert names(longer.trials) == names(seen)  # and what a function returns otherwise does not end it
    for broken in (light, lambda config: math.nan):
        with (
            pytest.raises(RuntimeError, match="no heavy trial succeeded; the callback ended the run before one did"),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            minimize({"light": broken, "heavy": heavy}, SPACE, n_heavy=1, callback=lambda trial: np.True_, **OPTIONS)
    with pytest.raises(TypeError, match="callback must be callable or None, got 3"):
        minimize(OBJECTIVES, SPACE, n_heavy=1, callback=3, **OPTIONS)


# --- the state file -------------------------------------------------------------------------------------------------


def test_a_run_interrupted_anywhere_goes_on_to_the_same_trials(tmp_path):
    whole = minimize(OBJECTIVES, SPACE, n_heavy=5, seed=2, **OPTIONS)
    state = tmp_path / "run.json"
    objectives = Interrupting(1, 4, 8, 9, 14).objectives()
    for best in (False, False, True, True, True):
        # The last three have a heavy result to end with.
        with pytest.warns(UserWarning, match="Ctrl-C") if best else pytest.raises(KeyboardInterrupt):
            minimize(objectives, SPACE, n_heavy=5, seed=2, state=state, **OPTIONS)
    resumed = minimize(objectives, SPACE, n_heavy=5, seed=2, state=str(state), **OPTIONS)
    assert names(resumed.trials) == names(whole.trials)
    assert (resumed.config, resumed.value) == (whole.config, whole.value)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]  # no temporary file is left


def test_the_state_is_written_after_every_trial(tmp_path):
    state, seen = tmp_path / "run.json", []

    def watching(config):
        seen.append(len(json.loads(state.read_text())["trials"]) if state.exists() else 0)
        return light(config)

    minimize({"light": watching, "heavy": heavy}, SPACE, n_heavy=1, state=state, **OPTIONS)
    assert seen == [0, 1, 2, 3]
    assert len(json.loads(state.read_text())["trials"]) == 5


@pytest.mark.parametrize("begun", [False, True])
def test_a_state_that_another_run_writes_meanwhile_is_left_to_it_with_an_error(tmp_path, begun):
    state = tmp_path / "run.json"
    if begun:
        minimize(OBJECTIVES, SPACE, n_heavy=1, state=state, **OPTIONS)

    def disturbing(config):
        minimize(OBJECTIVES, SPACE, n_heavy=4, state=state, **OPTIONS)
        return light(config)

    (tmp_path / "run-2.json").write_text("there already")
    message = r"run\.json was written by another run meanwhile, .*; what this one has is in .*run-3\.json: give every"
    with pytest.raises(RuntimeError, match=message):
        minimize({"light": disturbing, "heavy": heavy}, SPACE, n_heavy=4, state=state, **OPTIONS)
    whole = names(minimize(OBJECTIVES, SPACE, n_heavy=4, **OPTIONS).trials)
    assert names(BTAO.from_json(state.read_text()).trials) == whole
    mine = names(BTAO.from_json((tmp_path / "run-3.json").read_text()).trials)
    assert 0 < len(mine) < len(whole) and mine == whole[: len(mine)]
    assert (tmp_path / "run-2.json").read_text() == "there already"


def test_a_state_that_is_removed_meanwhile_is_written_again(tmp_path):
    state = tmp_path / "run.json"

    def removing(config):
        state.unlink(missing_ok=True)
        return light(config)

    run = minimize({"light": removing, "heavy": heavy}, SPACE, n_heavy=3, state=state, **OPTIONS)
    assert names(BTAO.from_json(state.read_text()).trials) == names(run.trials)


def test_a_trial_that_was_asked_for_and_never_told_is_made_first(tmp_path):
    state, optimizer = tmp_path / "run.json", BTAO(SPACE, **OPTIONS)
    while optimizer.trials[-1:] == [] or optimizer.trials[-1].level == "light":
        trial = optimizer.ask()
        if trial.level == "light":
            optimizer.tell(trial, light(trial.config))
    state.write_text(optimizer.to_json())
    result = minimize(OBJECTIVES, SPACE, n_heavy=3, state=state, **OPTIONS)
    assert names(result.trials) == names(minimize(OBJECTIVES, SPACE, n_heavy=3, **OPTIONS).trials)


def test_a_finished_run_is_not_run_again_and_a_longer_one_goes_on(tmp_path):
    state, counter = tmp_path / "run.json", Interrupting()
    objectives = counter.objectives()
    minimize(objectives, SPACE, n_heavy=3, state=state, **OPTIONS)
    done = counter.count
    again = minimize(objectives, SPACE, n_heavy=3, state=state, **OPTIONS)
    assert counter.count == done and len(again.trials) == done
    longer = minimize(objectives, SPACE, n_heavy=5, state=state, **OPTIONS)
    assert counter.count == len(longer.trials) == 15
    assert names(longer.trials) == names(minimize(OBJECTIVES, SPACE, n_heavy=5, **OPTIONS).trials)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("space", Space({"x": Real(0.0, 2.0)})),
        ("seed", 1),
        ("light_per_heavy", 3),
        ("n_init", 4),
        ("delta_bounds", (-1.0, 0.0)),
        ("rho_bounds", (0.0, 1.0)),
        ("rule", "paper"),
        ("square_root_beta", True),
    ],
)
def test_a_state_of_other_arguments_is_refused_before_any_run(tmp_path, name, value):
    state = tmp_path / "run.json"
    minimize(OBJECTIVES, SPACE, n_heavy=1, state=state, **OPTIONS)
    before, counter = state.read_text(), Interrupting()
    with pytest.raises(ValueError, match=rf"run\.json holds a run with {name}=.* but {name}=.* is asked for"):
        minimize(
            counter.objectives(), **{"space": SPACE, "seed": 0, "n_heavy": 2, "state": state} | OPTIONS | {name: value}
        )
    assert counter.count == 0 and state.read_text() == before


def test_a_state_of_format_4_which_kept_points_alone_goes_on_with_its_design(tmp_path):
    state, space = tmp_path / "run.json", Space({"x": Real(1e-4, 1e-1, log=True)})
    design = [{"x": 0.01}, {"x": 0.003}]  # which change in their last bits on the way to the unit interval and back
    objectives = {"light": lambda config: config["x"], "heavy": lambda config: config["x"]}
    first = minimize(objectives, space, n_heavy=2, state=state, design=design, **OPTIONS)
    held = json.loads(state.read_text())
    del held["configs"]
    state.write_text(json.dumps(held | {"format": 4}))
    again = minimize(objectives, space, n_heavy=3, state=state, design=design, **OPTIONS)
    assert len(again.optimizer.trials) > len(first.optimizer.trials)
    assert again.optimizer.initial_design != design == first.optimizer.initial_design


def test_a_state_of_another_design_is_refused_before_any_run(tmp_path):
    state, design = tmp_path / "run.json", [{"x": 0.1}, {"x": 0.3}]
    minimize(OBJECTIVES, SPACE, n_heavy=2, state=state, design=design, **OPTIONS)
    before, counter = state.read_text(), Interrupting()
    other = [{"x": 0.9}, {"x": 0.8}]
    with pytest.raises(
        ValueError, match=r"holds a run with design=\[\{'x': 0\.1.* but design=\[\{'x': 0\.9.* is asked"
    ):
        minimize(counter.objectives(), SPACE, n_heavy=2, state=state, design=other, **OPTIONS)
    assert counter.count == 0 and state.read_text() == before
    again = minimize(counter.objectives(), SPACE, n_heavy=2, state=state, design=design, **OPTIONS)
    assert counter.count == 0 and again.optimizer.initial_design == design


def test_a_state_of_other_levels_is_refused_before_any_run(tmp_path):
    state, calls = tmp_path / "run.json", []

    def train(config, level):
        calls.append(level.iterations)
        return heavy(config) + 1 / level.iterations

    levels = {"light": (2,), "heavy": (4, 3, 0.1)}
    run = minimize(train, SPACE, 2, levels=levels, state=state, **OPTIONS)
    before = state.read_text()
    calls.clear()
    with pytest.raises(ValueError, match=r"run\.json holds a run with levels=.*=4, .* but levels=.*=4000, .* is asked"):
        minimize(train, SPACE, 3, levels=levels | {"heavy": (4000,)}, state=state, **OPTIONS)
    with pytest.raises(ValueError, match=r"holds a run with levels=\{.* but levels=None is asked for"):
        minimize(OBJECTIVES, SPACE, 3, state=state, **OPTIONS)
    assert calls == [] and state.read_text() == before
    assert names(minimize(train, SPACE, 2, levels=levels, state=state, **OPTIONS).trials) == names(run.trials)

    without = {name: value for name, value in json.loads(before).items() if name != "levels"}
    state.write_text(json.dumps(without))  # as earlier versions wrote it
    assert len(minimize(train, SPACE, 3, levels=levels, state=state, **OPTIONS).trials) == 9
    assert set(calls) == {2, 4} and json.loads(state.read_text())["levels"] == {
        "light": [2, None, 0.0, "minimize"],
        "heavy": [4, 3, 0.1, "minimize"],
    }

    state.write_text(json.dumps(without | {"levels": [2, 4]}))
    with pytest.raises(ValueError, match=r"run\.json cannot be continued, use another file: its levels are \[2, 4\]"):
        minimize(train, SPACE, 3, levels=levels, state=state, **OPTIONS)


def test_a_file_that_is_no_state_is_refused_and_kept(tmp_path):
    state = tmp_path / "notes.txt"
    state.write_text("my notes")
    with pytest.raises(ValueError, match="not a state of BTAO"):
        minimize(OBJECTIVES, SPACE, n_heavy=1, state=state, **OPTIONS)
    assert state.read_text() == "my notes"


@pytest.mark.parametrize(
    ("state", "kind", "message"),
    [
        ("", ValueError, "state must be a file, but '' is a folder"),
        (".", ValueError, "state must be a file, but '.' is a folder"),
        (5, TypeError, "state must be the path of a file or None, got 5"),
    ],
)
def test_a_state_that_cannot_be_written_is_refused_before_any_run(state, kind, message):
    counter = Interrupting()
    with pytest.raises(kind, match=message):
        minimize(counter.objectives(), SPACE, n_heavy=3, state=state, **OPTIONS)
    assert counter.count == 0


def test_a_state_in_a_folder_that_cannot_be_written_is_refused_before_any_run(tmp_path, monkeypatch):
    def refusing(*arguments, **options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refusing)
    counter = Interrupting()
    with pytest.raises(ValueError, match=r"state must be a file that can be written, .* \(Read-only file system\)"):
        minimize(counter.objectives(), SPACE, n_heavy=3, state=tmp_path / "run.json", **OPTIONS)
    assert counter.count == 0


def test_a_state_may_be_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    minimize(OBJECTIVES, SPACE, n_heavy=3, state="~/run.json", **OPTIONS)
    assert (tmp_path / "run.json").exists()


def test_a_state_in_a_folder_that_is_missing_is_refused_before_any_run(tmp_path):
    counter = Interrupting()
    with pytest.raises(ValueError, match=r"state must be a file in an existing folder, but .*missing is none"):
        minimize(counter.objectives(), SPACE, n_heavy=1, state=tmp_path / "missing" / "run.json", **OPTIONS)
    assert counter.count == 0


# --- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"objectives": light}, ValueError, "objectives must be"),
        ({"objectives": {"light": light}}, ValueError, "objectives must be"),
        ({"objectives": OBJECTIVES | {"medium": light}}, ValueError, "objectives must be"),
        ({"objectives": {"light": light, "heavy": 3}}, TypeError, r"objectives\['heavy'\] must be callable, got 3"),
        ({"space": {"x": (0, 1)}}, TypeError, r"space must be a btao\.Space"),
        ({"n_heavy": 0}, ValueError, "n_heavy must be an integer of at least 1, got 0"),
        ({"n_heavy": 2.0}, ValueError, r"n_heavy must be an integer of at least 1, got 2\.0"),
        ({"n_heavy": True}, ValueError, "n_heavy must be an integer"),
        ({"seed": -1}, ValueError, "seed must be an integer"),
        ({"candidates": "all"}, ValueError, "candidates must be one of"),
        ({"budget": 3}, TypeError, "budget"),
    ],
)
def test_bad_arguments_are_refused(arguments, kind, message):
    with pytest.raises(kind, match=message):
        minimize(**{"objectives": OBJECTIVES, "space": SPACE, "n_heavy": 1} | arguments)


@pytest.mark.parametrize("level", ["light", "heavy"])
@pytest.mark.parametrize("value", [None, "0.1", [1.0]])
def test_an_objective_that_returns_no_number_is_named(value, level):
    objectives = OBJECTIVES | {level: lambda config: value}
    with pytest.raises(TypeError, match=rf"objectives\['{level}'\] must return a real number, got .* at \{{"):
        minimize(objectives, SPACE, n_heavy=1, **OPTIONS)


def test_costs_that_objectives_return_weigh_levels_as_costs_that_are_told_do():
    def returned(**costs):
        objectives = {
            level: lambda config, level=level: Measurement(OBJECTIVES[level](config), cost=costs.get(level))
            for level in OBJECTIVES
        }
        return minimize(objectives, SPACE, n_heavy=8, heavy_cost=5.0).trials

    def told(**costs):
        optimizer = BTAO(SPACE, heavy_cost=5.0, continues=False)
        while sum(trial.level == "heavy" for trial in optimizer.trials) < 8:
            trial = optimizer.ask()
            optimizer.tell(trial, OBJECTIVES[trial.level](trial.config), cost=costs.get(trial.level))
        return optimizer.trials

    assert returned() == told()
    assert returned(light=3.0, heavy=15.0) == told(light=3.0, heavy=15.0)
    alike = returned(light=3.0, heavy=3.1)
    assert alike == told(light=3.0, heavy=3.1) and len(alike) < len(told())  # fewer light runs where they save little


def test_a_run_that_only_fails_any_more_says_that_it_is_given_up():
    calls = itertools.count()

    def once(config):
        return light(config) if next(calls) < 2 else math.nan

    with pytest.warns(UserWarning, match=r"the last 8 trials failed: the run is given up after \d of 4 heavy runs"):
        result = minimize({"light": once, "heavy": heavy}, SPACE, 4, **OPTIONS)
    assert [trial.status for trial in result.trials[-8:]] == ["failed"] * 8
    assert repr(result).endswith("failed)") and "trials" in repr(result) and len(repr(result)) < 200


def test_a_state_whose_name_is_too_long_is_not_called_a_link(tmp_path):
    with pytest.raises(OSError, match="File name too long"):
        minimize(OBJECTIVES, SPACE, 2, state=tmp_path / ("n" * 300), **OPTIONS)


def test_objectives_that_no_process_can_load_are_refused_before_any_work(tmp_path):
    state = tmp_path / "run.json"
    with pytest.raises(TypeError, match=r"objectives must be importable by other processes.*at the top of a module"):
        minimize({"light": lambda c: 0.0, "heavy": heavy}, SPACE, 2, executor="processes", state=state, **OPTIONS)
    assert not state.exists()


def test_a_measurement_may_say_why_it_failed_and_what_that_cost():
    def train(config):
        return Measurement(math.nan, "out of memory", 3) if config["x"] < 0.5 else light(config)

    failed = [t for t in minimize({"light": train, "heavy": heavy}, SPACE, 2, **OPTIONS).trials if t.config["x"] < 0.5]
    assert {(trial.status, trial.value, trial.error, trial.cost) for trial in failed} == {
        ("failed", None, "out of memory", 3.0)
    }


@pytest.mark.parametrize(
    ("cost", "kept", "why"),
    [
        (-1.0, None, "cost must be finite and not negative, got -1.0"),
        (math.inf, None, "cost must be finite and not negative, got inf"),
        (10**400, None, "cost must be finite and not negative, got inf"),
        (-(10**400), None, "cost must be finite and not negative, got -inf"),
        (np.longdouble("1e400"), None, "cost must be finite and not negative, got inf"),
        ("1 s", None, "cost must be a number, got '1 s'"),
        (math.nan, None, None),
        (np.array(1.5), 1.5, None),
    ],
)
def test_a_value_is_kept_whatever_its_cost(cost, kept, why):
    """Of the first wrong cost of a level it is said, when the trial is kept."""
    objectives = OBJECTIVES | {"heavy": lambda config: Measurement(heavy(config), cost=cost)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = minimize(objectives, SPACE, 3, **OPTIONS)
    told = [trial for trial in result.trials if trial.level == "heavy"]
    assert [(trial.value, trial.cost) for trial in told] == [(heavy(trial.config), kept) for trial in told]
    texts = [str(each.message) for each in caught]
    where = f"heavy trial {told[0].number} at {told[0].config}"
    assert texts == ([f"{where}: {why}; such trials are kept without a cost"] if why else [])


def test_a_value_is_in_the_state_before_its_cost_is_complained_of(tmp_path):
    state = tmp_path / "run.json"
    wrong = OBJECTIVES | {"light": lambda config: Measurement(light(config), cost=-1)}
    with warnings.catch_warnings(), pytest.raises(UserWarning, match="such trials are kept without a cost"):
        warnings.simplefilter("error")
        minimize(wrong, SPACE, 3, state=state, **OPTIONS)
    assert [trial.value for trial in BTAO.from_json(state.read_text()).trials if trial.status == "ok"] != []


def test_a_measurement_of_no_number_or_reason_is_named():
    with pytest.raises(TypeError, match=r"objectives\['light'\] must return a real number, got 'low' at \{"):
        minimize(OBJECTIVES | {"light": lambda config: Measurement("low", cost=1.0)}, SPACE, n_heavy=2, **OPTIONS)
    with pytest.raises(TypeError, match=r"objectives\['heavy'\]: error must be a text, got 404, at \{"):
        minimize(OBJECTIVES | {"heavy": lambda config: Measurement(math.nan, 404)}, SPACE, n_heavy=2, **OPTIONS)
    with pytest.raises(RuntimeError, match=r"the last error of 2: no reason was given$"):
        minimize(OBJECTIVES | {"heavy": lambda config: Measurement(math.nan, "")}, SPACE, n_heavy=2, **OPTIONS)


@pytest.mark.parametrize("wrong", [None, {"x": 0.5}, "x"])
def test_what_is_no_list_of_configurations_is_named(wrong):
    with pytest.raises(TypeError, match="enqueue must be a list of configurations, got "):
        minimize(OBJECTIVES, SPACE, n_heavy=2, enqueue=wrong, **OPTIONS)


def test_numpy_integers_are_arguments_too():
    assert len(minimize(OBJECTIVES, SPACE, n_heavy=np.int64(2), seed=np.int64(1), **OPTIONS).trials) == 6


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"no state", b"\xff\xfe"])
def test_a_file_that_holds_no_state_is_named_and_left_alone(tmp_path, content):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    counter = Interrupting()
    with pytest.raises(ValueError, match=r"run.json cannot be continued, use another file: not a state of BTAO"):
        minimize(counter.objectives(), SPACE, n_heavy=1, state=path, **OPTIONS)
    assert (counter.count, path.read_bytes()) == (0, content)


# --- what users of other tools have stumbled over -------------------------------------------------------------------


def test_a_callback_that_raises_ends_the_run_with_its_error_and_loses_no_trial(tmp_path):
    state, seen = tmp_path / "run.json", []

    def broken(trial):
        seen.append(trial)
        if len(seen) == 5:
            raise KeyError("loss")

    with pytest.raises(KeyError, match="loss"):
        minimize(OBJECTIVES, SPACE, n_heavy=3, state=state, callback=broken, **OPTIONS)
    assert names(BTAO.from_json(state.read_text()).trials) == names(seen)
    resumed = minimize(OBJECTIVES, SPACE, n_heavy=3, state=state, **OPTIONS)
    assert names(resumed.trials) == names(minimize(OBJECTIVES, SPACE, n_heavy=3, **OPTIONS).trials)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.longdouble, np.array])
def test_values_of_numpy_types_are_told_as_python_numbers(tmp_path, kind):
    objectives = {level: lambda config, f=f: kind(round(256 * f(config)) / 256) for level, f in OBJECTIVES.items()}
    result = minimize(objectives, SPACE, n_heavy=2, state=tmp_path / "run.json", **OPTIONS)
    assert {type(trial.value) for trial in result.trials} == {float}
    assert result.value == round(256 * heavy(result.config)) / 256


@pytest.mark.parametrize("level", ["light", "heavy"])
def test_an_objective_that_returns_a_tuple_is_named(level):
    with pytest.raises(TypeError, match=rf"objectives\['{level}'\] must return a real number, got \(0\.5, 1\) at"):
        minimize(OBJECTIVES | {level: lambda config: (0.5, 1)}, SPACE, n_heavy=2, **OPTIONS)


def test_a_state_behind_a_link_goes_on_and_a_link_to_nowhere_is_refused_before_any_run(tmp_path):
    target, link, calls = tmp_path / "disk" / "run.json", tmp_path / "link.json", []
    link.symlink_to(target)
    with pytest.raises(ValueError, match=r"state must be a file in an existing folder, but .*disk is none"):
        minimize({level: lambda config: calls.append(config) for level in OBJECTIVES}, SPACE, 2, state=link, **OPTIONS)
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    with pytest.raises(ValueError, match=r"state must be a file, but .*loop\.json is a link to itself"):
        minimize({level: lambda config: calls.append(config) for level in OBJECTIVES}, SPACE, 2, state=loop, **OPTIONS)
    assert calls == []
    target.parent.mkdir()
    for n_heavy in (1, 3):
        result = minimize(OBJECTIVES, SPACE, n_heavy=n_heavy, state=link, n_init=1, **FREE)
    assert link.is_symlink() and names(BTAO.from_json(target.read_text()).trials) == names(result.trials)
