"""btao.running.light_results: a heavy run goes on from what the light one returned."""

import gc
import math
import weakref

import pytest

from btao import BTAO, Categorical, Measurement, Space, minimize
from optimizer_runs import FREE, LINE

OPTIONS = {"n_init": 2, **FREE}


@pytest.fixture(autouse=True)
def quick_collection():
    """Collections look at what a test makes alone: at all that other tests have imported, each takes a second."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


class Model:
    """Something that a light run leaves, and that can be seen to be gone."""

    def __init__(self, x):
        self.x = x


def value(config):
    return (config["x"] - 0.4) ** 2


def test_the_heavy_run_is_given_what_the_light_run_of_its_configuration_returned():
    given = []

    def heavy(config, light):
        given.append((light, config["x"]))
        return value(config)

    result = minimize({"light": lambda config: (value(config), Model(config["x"])), "heavy": heavy}, LINE, 5, **OPTIONS)
    assert len(given) == 5 and all(model.x == x for model, x in given)
    assert [trial.value for trial in result.trials] == [value(trial.config) for trial in result.trials]


@pytest.mark.parametrize("executor", [None, "threads"])
def test_nothing_is_kept_longer_than_needed(executor):
    alive, seen = weakref.WeakSet(), []

    def light(config):
        model = Model(config["x"])
        alive.add(model)
        return value(config), model

    def heavy(config, light):
        return value(config)

    def count(trial):
        gc.collect()
        seen.append((trial.level, len(alive)))

    result = minimize({"light": light, "heavy": heavy}, LINE, 4, callback=count, executor=executor, **OPTIONS)
    kept = 0
    for level, n in seen:
        kept += 1 if level == "light" else -1  # what a heavy run was given is gone when it has ended
        assert n == kept
    gc.collect()
    assert kept == 4 and len(alive) == 0  # with the run all the rest goes, though its result is held
    assert len(result.trials) == 12


@pytest.mark.parametrize("executor", [None, "threads"])
def test_what_a_heavy_run_returned_is_gone_when_the_next_trial_runs(executor):
    of_heavy, seen = weakref.WeakSet(), []

    def train(config, level, light=None):
        seen.append(len(of_heavy))
        model = Model(config["x"])
        if level.iterations == 9:
            of_heavy.add(model)
        return value(config), model

    levels = {"light": (3,), "heavy": (9,)}
    assert len(minimize(train, LINE, 3, levels=levels, executor=executor, **OPTIONS).trials) == 9
    assert seen == [0] * 9


def test_a_light_objective_may_return_its_value_alone_and_a_restart_has_no_results(tmp_path):
    given = []

    def heavy(config, *, light):
        given.append(light)
        return value(config)

    minimize({"light": value, "heavy": heavy}, LINE, 2, **OPTIONS)
    assert given == [None, None]
    objectives = {"light": lambda config: (value(config), "checkpoint"), "heavy": heavy}
    state = tmp_path / "run.json"
    minimize(objectives, LINE, 1, state=state, n_init=1, **FREE)
    minimize(objectives, LINE, 2, state=state, n_init=1, **FREE)
    assert given[2] == "checkpoint" and len(given) == 4


def test_a_measurement_may_stand_beside_what_is_kept(tmp_path):
    """Its cost is in the trials, also of the state; the heavy run is given the rest."""
    given = []

    def light(config):
        return Measurement(value(config), cost=2.0), Model(config["x"])

    def heavy(config, light):
        given.append(light.x == config["x"])
        return Measurement(value(config), cost=config["x"])

    state = tmp_path / "run.json"
    minimize({"light": light, "heavy": heavy}, LINE, 3, state=state, **OPTIONS)
    trials = BTAO.from_json(state.read_text()).trials
    assert given == [True] * 3
    for trial in trials:
        assert (trial.value, trial.cost) == (value(trial.config), 2.0 if trial.level == "light" else trial.config["x"])


def test_a_pair_is_no_value_where_the_heavy_objective_asks_for_nothing():
    objectives = {"light": lambda config: (value(config), "model"), "heavy": value}
    with pytest.raises(
        TypeError, match=r"objectives\['light'\] must return .*, 'model'\) at .*; a value and a model, say, where"
    ):
        minimize(objectives, LINE, 1, n_init=1, **FREE)


def test_a_heavy_objective_without_a_signature_asks_for_nothing():
    objectives = {"light": value, "heavy": max}  # the larger key of {"x": ...} is no number
    with pytest.raises(TypeError, match=r"objectives\['heavy'\] must return a real number, got 'x'"):
        minimize(objectives, LINE, 1, n_init=1, **FREE)


def test_the_result_of_a_light_run_that_failed_is_not_kept():
    alive = weakref.WeakSet()

    def light(config):
        model = Model(config["x"])
        alive.add(model)
        return math.nan if config["x"] > 0.3 else value(config), model

    def check(trial):
        gc.collect()
        assert all(model.x <= 0.3 for model in alive)

    minimize({"light": light, "heavy": lambda config, light: value(config)}, LINE, 3, callback=check, seed=1, **OPTIONS)


def test_1_and_true_are_two_configurations():
    given = []

    def heavy(config, light):
        given.append((config["kind"], light))
        return 0.5

    space = Space({"kind": Categorical([1, True, "z"])})
    minimize({"light": lambda config: (0.5, config["kind"]), "heavy": heavy}, space, 3, **OPTIONS)
    assert len(given) == 3 and all(kind is light for kind, light in given)
