"""What every task of the suite must do. A new conf/task/<name>.yaml is tested unasked, at its smoke scale."""

import dataclasses
import functools
import inspect
import math
import os
import pkgutil
import random
from pathlib import Path

import numpy as np
import pytest
import yaml

from benchmarks.config.options import BUDGET
from benchmarks.data.datasets import DataNotFound
from benchmarks.objectives.protocol import NO_TIME, Evaluation
from btao import Space
from btao.training import Level

TASKS = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted((Path(__file__).parents[2] / "conf" / "task").glob("*.yaml"))
}
SCALES = ("smoke", "laptop", "paper")
every_task = pytest.mark.parametrize("name", TASKS)


@functools.cache
def build(name):
    """The task at its smoke scale, without a download, and prepared as before the first trial of a run."""
    task = TASKS[name]
    parameters = task.get("parameters", {}) | task["scales"]["smoke"].get("parameters", {})
    objective = pkgutil.resolve_name(task["_target_"])(**parameters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "BTAO_OFFLINE", "1")
        try:
            objective.data  # noqa: B018 (reads it)
        except DataNotFound as reason:
            pytest.skip(str(reason))
    objective.prepare()
    return objective


def configs(objective, n=3):
    generator = np.random.default_rng(0)
    return [objective.space.from_unit(generator.random(objective.space.dim)) for _ in range(n)]


def same(first, second):
    """Whether two evaluations are equal, but for the seconds of their curves, which no seed decides."""
    first, second = map(without_seconds, (first, second))
    return dataclasses.astuple(first) == dataclasses.astuple(second) or (
        math.isnan(first.value) and math.isnan(second.value) and first.iterations == second.iterations
    )


def without_seconds(evaluation):
    curve = evaluation.curve and dataclasses.replace(evaluation.curve, seconds=(), processor_seconds=())
    return dataclasses.replace(evaluation, curve=curve, testing=NO_TIME)


def test_tasks_are_found():
    assert {"toy", "currin", "park"} <= set(TASKS)


@every_task
def test_the_file_says_all_that_a_command_needs(name):
    task = TASKS[name]
    assert task["name"] == name
    assert task["description"]
    assert "\n" not in task["description"]
    assert tuple(task["scales"]) == SCALES
    accepted = inspect.signature(pkgutil.resolve_name(task["_target_"])).parameters
    assert set(task.get("parameters", {})) <= set(accepted)
    for scale in task["scales"].values():
        assert set(scale) <= {"budget", "parameters"}
        assert set(scale["budget"]) <= set(BUDGET)
        assert scale["budget"]
        # Hydra refuses to override what is not there.
        assert set(scale.get("parameters", {})) <= set(task.get("parameters", {}))


@every_task
def test_the_task_describes_itself(name):
    objective = build(name)
    assert isinstance(objective.space, Space)
    assert isinstance(objective.light, Level)
    assert isinstance(objective.heavy, Level)
    assert 1 <= objective.light.iterations < objective.heavy.iterations
    for low, high in (objective.delta_bounds, objective.rho_bounds):
        assert low < high
    assert objective.optimum is None or math.isfinite(objective.optimum)
    assert objective.data is not None or "needs_data" not in TASKS[name]
    if objective.data is not None:
        assert objective.data.name
        assert len(objective.data.sha256) == 64
        assert objective.data.n_train >= 1
        assert objective.data.n_validation >= 1


@every_task
@pytest.mark.parametrize("level", ["light", "heavy"])
def test_evaluations_keep_to_their_level_and_depend_on_seed_and_configuration_only(name, level):
    objective = build(name)
    level = getattr(objective, level)
    objective.evaluate(configs(objective, 1)[0], level, seed=3)  # what a first import does is not the task's doing
    states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = [objective.evaluate(config, level, seed=3) for config in configs(objective)]
    again = [objective.evaluate(config, level, seed=3) for config in reversed(configs(objective))][::-1]
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002
    for one, two in zip(first, again, strict=True):
        assert isinstance(one, Evaluation)
        assert isinstance(one.value, float)
        assert isinstance(one.iterations, int)
        assert 0 <= one.iterations <= level.iterations
        assert math.isfinite(one.value) or one.error
        assert same(one, two)


@every_task
def test_a_configuration_is_not_changed_and_a_wrong_one_is_refused(name):
    objective = build(name)
    (config,) = configs(objective, 1)
    before = dict(config)
    objective.evaluate(config, objective.light, seed=0)
    assert config == before
    with pytest.raises(ValueError, match="no_such_parameter"):
        objective.evaluate({**config, "no_such_parameter": 1.0}, objective.light, seed=0)


@every_task
def test_the_corners_of_the_space_can_be_evaluated(name):
    objective = build(name)
    for corner in (np.zeros, np.ones):
        evaluation = objective.evaluate(objective.space.from_unit(corner(objective.space.dim)), objective.light, seed=0)
        assert math.isfinite(evaluation.value) or evaluation.error


@every_task
def test_no_truth_is_below_the_optimum(name):
    objective = build(name)
    for config in configs(objective, 200):
        truth = objective.truth(config)
        if truth is None:
            assert objective.optimum is None
            return
        assert isinstance(truth, float)
        assert objective.optimum is None or truth >= objective.optimum


@every_task
def test_without_noise_the_heavy_value_is_the_truth(name):
    objective = build(name)
    for config in configs(objective):
        truth = objective.truth(config)
        if truth is not None and not getattr(objective, "noise", 0.0):
            assert objective.evaluate(config, objective.heavy, seed=0).value == truth
