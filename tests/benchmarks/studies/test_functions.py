"""Functions as tasks and methods. test_study.py runs them."""

import inspect
import math

import pytest

from baselines.protocol import Measurement, Problem
from benchmarks.common.errors import UsageError
from benchmarks.config.code import capture, is_importable
from benchmarks.objectives.protocol import Evaluation, check_objective
from benchmarks.studies.functions import method, task
from btao import Integer, Space

SPACE = Space({"n": Integer(1, 9)})


@task(SPACE, light=2, heavy=8, budget={"heavy": 4}, delta_bounds=(-1, 0))
def shrinking(config, iterations):
    """A number over the iterations."""
    return config["n"] / iterations


def test_a_function_is_a_task_of_two_levels():
    made = shrinking(**{name: each.default for name, each in inspect.signature(shrinking).parameters.items()})
    check_objective(made)
    assert (made.light.iterations, made.heavy.iterations) == (2, 8)
    assert made.delta_bounds == (-1, 0) and made.rho_bounds == (-math.inf, math.inf)
    assert made.evaluate({"n": 4}, made.light, seed=1) == Evaluation(2.0, 2)
    assert made.evaluate({"n": 4}, made.heavy, seed=1) == Evaluation(0.5, 8)
    assert shrinking.__doc__ == "A number over the iterations."


def test_its_levels_are_parameters():
    assert str(inspect.signature(shrinking)) == "(*, light_iterations: int = 2, heavy_iterations: int = 8)"
    assert shrinking(light_iterations=3, heavy_iterations=4).heavy.iterations == 4
    with pytest.raises(ValueError, match="light_iterations must be below heavy_iterations, got 4 and 4"):
        shrinking(light_iterations=4, heavy_iterations=4)


def test_a_task_of_a_file_is_imported():
    assert is_importable(shrinking)


def test_a_seed_is_given_to_a_function_that_takes_one_and_is_of_run_and_configuration():
    @task(SPACE, light=1, heavy=2)
    def noisy(config, iterations, seed):
        return seed

    made = noisy(light_iterations=1, heavy_iterations=2)
    seeds = [made.evaluate({"n": n}, made.light, seed).value for n, seed in ((1, 0), (1, 0), (2, 0), (1, 1))]
    assert seeds[0] == seeds[1] and len({*seeds}) == 3


def with_a_default(config, iterations, verbose=False):
    return float(verbose)


def by_name(config, iterations, *, seed, scale=1):
    return scale * (seed > 9)


def with_both(config, iterations, scale=2.0, seed=None):
    return scale * (seed > 9)


def by_place_alone(config, iterations, number, /):
    return number > 9


def of_any(*arguments, **options):
    return len(arguments) + len(options)


@pytest.mark.parametrize(
    ("function", "value"),
    [(with_a_default, 0.0), (by_name, 1), (with_both, 2.0), (by_place_alone, True), (of_any, 2)],
)
def test_only_a_seed_is_given_beyond_the_first_two_arguments(function, value):
    made = task(SPACE, light=1, heavy=2)(function)(light_iterations=1, heavy_iterations=2)
    assert made.evaluate({"n": 1}, made.light, seed=0).value == value


def test_arguments_with_defaults_of_a_method_keep_them():
    def first(space, trials, generator, at=0.5, *, width=0):
        return space.from_unit([at + width] * space.dim)

    assert method(first)(Problem(SPACE, 8), seed=0).ask().config == {"n": 5}


def test_the_space_of_a_task_is_part_of_its_source():
    def of(space):
        @task(space, light=1, heavy=2)
        def value(config, iterations):
            return 0.0

        return capture(value)

    assert of(SPACE).digest == of(Space({"n": Integer(1, 9)})).digest != of(Space({"n": Integer(1, 8)})).digest
    assert of(SPACE).load()(light_iterations=1, heavy_iterations=2).space == SPACE


def test_a_function_that_proposes_is_a_method():
    def best_again(space, trials, generator):
        best = min(trials, key=lambda trial: trial[1])[0] if trials else None
        return best or space.from_unit(generator.random(space.dim))

    made = [method(best_again)(Problem(SPACE, 8), seed=seed) for seed in (3, 3, 4)]
    first = [each.ask() for each in made]
    assert first[0] == first[1] and first[0].heavy and first[0].budget == 8
    made[0].tell(first[0], Measurement(math.nan, "no"))
    assert made[0].ask().config == first[0].config
    with pytest.raises(ValueError, match="trial 0 is not pending"):
        made[0].tell(first[0], Measurement(1.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: task({"n": 1}, light=1, heavy=2), r"space=\{'n': 1\}: give a btao.Space"),
        (
            lambda: task(SPACE, light=1, heavy=2)(lambda config: 0),
            r"takes \(config\): let it take \(config, iterations\) or \(config, iterations, seed\)",
        ),
        (
            lambda: task(SPACE, light=1, heavy=2)(lambda config, *, iterations: 0),
            r"takes \(config, \*, iterations\): .* \(too many positional arguments\)",
        ),
        (
            lambda: task(SPACE, light=1, heavy=2)(lambda config, iterations, seed, rate: 0),
            r"others with defaults only \(missing a required argument: 'rate'\)",
        ),
        (
            lambda: method(lambda space, trials, generator, *, width: 0),
            r"let it take \(space, trials, generator\), .* 'width'\)",
        ),
        (lambda: method(lambda space: 0), r"takes \(space\): let it take \(space, trials, generator\)"),
        (lambda: method(3), "method=3: give a function of space, trials, generator"),
    ],
)
def test_what_is_no_such_function_is_refused(call, message):
    with pytest.raises(UsageError, match=message):
        call()
