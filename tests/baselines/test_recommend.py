"""What BTAO and GP-BO recommend after each trial, and that saying so changes nothing."""

import numpy as np
import pytest

from baselines.btao import BTAOMethod
from baselines.gp_bo import GPBO
from baselines.protocol import Measurement, Problem
from benchmarks.objectives.currin import Currin

NOISY = Currin(noise=0.5)
PROBLEM = Problem(Currin.space, heavy_iterations=5, light_iterations=1)
METHODS = [pytest.param(GPBO, {"n_init": 3}, id="gp_bo"), pytest.param(BTAOMethod, {"n_init": 2}, id="btao")]


def play(method, n, task=NOISY, ask_for_it=True):
    """The trials with their measurements, and what was recommended after each."""
    told, said = [], []
    for number in range(n):
        trial = method.ask()
        failed = Measurement(-100.0, "killed") if number == 9 else None
        level = task.heavy if trial.heavy else task.light
        measurement = failed or Measurement(task.evaluate(trial.config, level, 0).value)
        method.tell(trial, measurement)
        told.append((trial, measurement))
        if ask_for_it:
            said.append(method.recommend())
    return told, said


@pytest.mark.parametrize(("cls", "parameters"), METHODS)
def test_asking_for_it_changes_no_trial(cls, parameters):
    asked, _ = play(cls(PROBLEM, 1, **parameters), 14)
    silent, _ = play(cls(PROBLEM, 1, **parameters), 14, ask_for_it=False)
    assert asked == silent


@pytest.mark.parametrize(("cls", "parameters"), METHODS)
def test_without_noise_it_is_the_first_of_the_best_heavy_results(cls, parameters):
    told, said = play(cls(PROBLEM, 0, **parameters), 20, Currin())
    for count, recommended in enumerate(said, start=1):
        heavy = [(m.value, trial.number) for trial, m in told[:count] if trial.heavy and not m.failed]
        assert recommended == (min(heavy)[1] if heavy else None)


def test_it_is_the_least_posterior_mean_by_dense_linear_algebra():
    method = GPBO(PROBLEM, 0, n_init=3)
    told, said = play(method, 9)
    points = np.array([PROBLEM.space.to_unit(trial.config) for trial, _ in told])
    values = np.array([m.value for _, m in told])
    squares = (points[:, None] - points[None]) ** 2
    R = np.exp(-squares @ np.exp(method._warm))
    inverse = np.linalg.inv(R + 1e-10 * np.eye(len(R)))
    mean = inverse.sum(0) @ values / inverse.sum()
    assert said[-1] == (mean + R @ inverse @ (values - mean)).argmin()


def test_a_smooth_process_does_not_believe_a_lucky_result():
    method = GPBO(PROBLEM, 0, n_init=3)
    for value in (0.4, 0.9, 0.6):
        method.tell(method.ask(), Measurement(value))
    lucky, twin = method.ask(), method.ask()
    method._points[twin.number] = method._points[lucky.number] + 1e-8
    method._warm = np.zeros(2)
    method.tell(lucky, Measurement(0.0))
    assert method.recommend() == lucky.number
    method.tell(twin, Measurement(1.0))
    assert method.recommend() == 0
