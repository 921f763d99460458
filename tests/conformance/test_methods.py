"""What every method of the suite must do. A new conf/method/<name>.yaml is tested unasked."""

import functools
import math
import pkgutil
import random
import zlib
from pathlib import Path

import numpy as np
import pytest
import yaml

from baselines.protocol import IncompatibleMethod, Measurement, Problem, SearchExhausted, Trial, check_compatible
from btao import Categorical, Integer, Real, Space

METHODS = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted((Path(__file__).parents[2] / "conf" / "method").glob("*.yaml"))
}

MIXED = Space(
    {
        "rate": Real(1e-4, 1.0, log=True),
        "units": Integer(8, 512, log=True),
        "depth": Integer(1, 3),
        "kind": Categorical(("relu", "tanh", "none")),
    }
)
PLANE = Space({"x": Real(-2.0, 3.0), "y": Real(0.0, 1.0)})
PROBLEMS = {
    "real": Problem(PLANE, heavy_iterations=9, light_iterations=3, n_heavy=20),
    "mixed": Problem(MIXED, heavy_iterations=9, light_iterations=3, n_heavy=20),
    "bounded": Problem(PLANE, heavy_iterations=27, light_iterations=1, delta_bounds=(-1.0, 0.5), rho_bounds=(0.0, 2.0)),
    "one level": Problem(PLANE, heavy_iterations=9),
    "finite": Problem(Space({"kind": Categorical(("a", "b", "c"))}), heavy_iterations=9, light_iterations=3),
}


def resolve(name):
    """The class of a method and its parameters."""
    parameters = {key: value for key, value in METHODS[name].items() if key not in ("_target_", "description")}
    return pkgutil.resolve_name(METHODS[name]["_target_"]), parameters


def compatible(name, problem):
    try:
        check_compatible(name, resolve(name)[0].capabilities, PROBLEMS[problem])
    except IncompatibleMethod:
        return False
    return True


PAIRS = [
    (name, problem) for name in METHODS for problem in PROBLEMS if problem != "finite" and compatible(name, problem)
]
every_method = pytest.mark.parametrize(("name", "problem"), PAIRS, ids=[f"{m}-{p}" for m, p in PAIRS])


def make(name, problem, seed=0):
    cls, parameters = resolve(name)
    return cls(problem=PROBLEMS[problem], seed=seed, **parameters)


def measure(problem, trial):
    """A bowl in the unit cube that depends on the level a little."""
    u = PROBLEMS[problem].space.to_unit(trial.config)
    return Measurement(float(np.sum((u - 0.4) ** 2)) + 0.1 / trial.budget)


def step(method, answer):
    trial = method.ask()
    method.tell(trial, answer(trial))
    return trial


@functools.cache
def run(name, problem, seed=0, n=20):
    """The trials of an undisturbed run."""
    method = make(name, problem, seed)
    return tuple(step(method, functools.partial(measure, problem)) for _ in range(n))


def test_methods_are_found():
    assert "random_search" in METHODS


@every_method
def test_trials_are_of_the_problem(name, problem):
    space = PROBLEMS[problem].space
    for number, trial in enumerate(run(name, problem)):
        assert trial.number == number
        assert list(trial.config) == list(space.names)
        valid = space.validate(trial.config)
        assert [(type(value), value) for value in trial.config.values()] == [
            (type(value), value) for value in valid.values()
        ]
        assert (type(trial.number), type(trial.heavy), type(trial.budget)) == (int, bool, int)


@every_method
def test_budgets_are_those_that_the_method_declares(name, problem):
    levels = make(name, problem).capabilities.levels
    assert levels in ("heavy", "two", "any")
    heavy, light = PROBLEMS[problem].heavy_iterations, PROBLEMS[problem].light_iterations
    trials = run(name, problem)
    assert any(trial.heavy for trial in trials)
    for trial in trials:
        assert trial.heavy == (trial.budget == heavy)
        if not trial.heavy:
            assert levels != "heavy"
            assert trial.budget == light if levels == "two" else 1 <= trial.budget < heavy


@every_method
def test_the_seed_decides(name, problem):
    again = make(name, problem)
    assert tuple(step(again, functools.partial(measure, problem)) for _ in range(10)) == run(name, problem)[:10]
    assert run(name, problem, seed=1, n=10) != run(name, problem)[:10]


@every_method
def test_a_run_split_by_replay_is_the_same_run(name, problem):
    """10 + 10 trials are the same 20, failures among them."""

    def answer(trial):
        return Measurement(math.nan, "killed") if trial.number % 7 == 3 else measure(problem, trial)

    whole = make(name, problem)
    expected = [step(whole, answer) for _ in range(20)]
    first = make(name, problem)
    record = [(trial, answer(trial)) for trial in (step(first, answer) for _ in range(10))]
    second = make(name, problem)
    for trial, measurement in record:
        assert second.ask() == trial
        second.tell(trial, measurement)
    assert [trial for trial, _ in record] + [step(second, answer) for _ in range(10)] == expected


FAILURES = [
    Measurement(math.nan),
    Measurement(math.inf),
    Measurement(-math.inf),
    Measurement(math.nan, "RuntimeError: out of memory"),
    Measurement(0.25, "killed after the measurement"),
]


@every_method
def test_failed_trials_are_survived(name, problem):
    method = make(name, problem)

    def answer(trial):
        failed = zlib.crc32(bytes([trial.number])) % 3 == 0
        return FAILURES[trial.number % len(FAILURES)] if failed else measure(problem, trial)

    for _ in range(20):
        PROBLEMS[problem].space.validate(step(method, answer).config)


@every_method
def test_a_start_of_failures_only_is_survived(name, problem):
    method = make(name, problem)
    for _ in range(12):
        PROBLEMS[problem].space.validate(step(method, lambda trial: FAILURES[trial.number % len(FAILURES)]).config)
    for _ in range(4):
        PROBLEMS[problem].space.validate(step(method, functools.partial(measure, problem)).config)


@every_method
def test_equal_values_everywhere_are_survived(name, problem):
    method = make(name, problem)
    for _ in range(14):
        PROBLEMS[problem].space.validate(step(method, lambda trial: Measurement(1.0)).config)


@every_method
def test_trials_may_be_told_in_any_order(name, problem):
    method = make(name, problem)
    pending = [method.ask()]
    try:
        pending.append(method.ask())
    except RuntimeError as reason:
        pytest.skip(f"one pending trial at a time: {reason}")
    for _ in range(8):
        trial = pending.pop()
        method.tell(trial, measure(problem, trial))
        pending.insert(0, method.ask())
    assert len({trial.number for trial in pending}) == 2
    for trial in pending:
        method.tell(trial, measure(problem, trial))


@every_method
def test_a_trial_is_told_once_and_only_if_it_was_asked(name, problem):
    method = make(name, problem)
    trial = step(method, functools.partial(measure, problem))
    with pytest.raises(ValueError, match=r"\b0\b"):
        method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="999"):
        method.tell(Trial(999, trial.config, trial.heavy, trial.budget), Measurement(0.0))
    pending = method.ask()
    method.tell(pending, measure(problem, pending))


@every_method
def test_global_randomness_is_neither_used_nor_changed(name, problem):
    """Same trials, whatever the global generators hold, and the same state of these afterwards."""
    random.seed(99)
    np.random.seed(99)  # noqa: NPY002
    states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    method = make(name, problem)
    trials = tuple(step(method, functools.partial(measure, problem)) for _ in range(8))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002
    assert trials == run(name, problem)[:8]


@pytest.mark.parametrize("name", [name for name in METHODS if compatible(name, "finite")])
def test_a_finite_space_is_searched_without_an_error(name):
    """Three configurations: a method repeats them, or says that it is exhausted."""
    method = make(name, "finite")
    seen = set()
    try:
        for _ in range(16):
            trial = step(method, lambda trial: Measurement(float("abc".index(trial.config["kind"]))))
            if trial.heavy:
                seen.add(trial.config["kind"])
    except SearchExhausted:
        assert seen == {"a", "b", "c"}
    assert "a" in seen
