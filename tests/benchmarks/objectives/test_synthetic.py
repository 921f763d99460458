"""The synthetic tasks against independent formulas and searches; the SVM against a small image set."""

import itertools
import math
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from benchmarks.data import datasets as data
from benchmarks.data.images import content_sha256
from benchmarks.data.published import DATASETS, Dataset
from benchmarks.data.source import DataSource
from benchmarks.objectives import currin, park, toy
from benchmarks.objectives.svm import SVM
from btao.training import Level

TASKS = {"toy": toy.Toy, "currin": currin.Currin, "park": park.Park}
MODULES = {"toy": toy, "currin": currin, "park": park}

every_task = pytest.mark.parametrize("name", TASKS)
unit = st.floats(0, 1)


def config_at(task, u):
    return task.space.from_unit(np.asarray(u)[: task.space.dim])


# --- formulas ---------------------------------------------------------------------------------------------------------


def currin_by_hand(x1, x2):
    factor = 1 - math.exp(-1 / (2 * x2)) if x2 > 0 else 1.0
    return factor * (((2300 * x1 + 1900) * x1 + 2092) * x1 + 60) / (((100 * x1 + 500) * x1 + 4) * x1 + 20)


def currin_light_by_hand(x1, x2):
    return (
        currin_by_hand(x1 + 0.05, x2 + 0.05)
        + currin_by_hand(x1 + 0.05, max(0, x2 - 0.05))
        + currin_by_hand(x1 - 0.05, x2 + 0.05)
        + currin_by_hand(x1 - 0.05, max(0, x2 - 0.05))
    ) / 4


@given(unit, unit, unit, unit)
def test_values_are_those_of_the_paper(a, b, c, d):
    x = -math.pi + 4 * math.pi * a
    assert toy.light(x) == pytest.approx(math.sin(x), abs=1e-12)
    assert toy.heavy(x) == pytest.approx(0.5 * math.sin(x) - 1, abs=1e-12)
    assert currin.heavy([a, b]) == pytest.approx(currin_by_hand(a, b), rel=1e-12)
    assert currin.light([a, b]) == pytest.approx(currin_light_by_hand(a, b), rel=1e-12)
    value = 2 * math.exp(a) * math.exp(b) / 3 - d * math.sin(c) + c
    assert park.heavy([a, b, c, d]) == pytest.approx(value, rel=1e-12)
    assert park.light([a, b, c, d]) == pytest.approx(1.2 * value - 1, rel=1e-12)


def test_currin_is_continuous_at_its_edge():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = currin.heavy(np.array([[0.3, 0.0], [0.3, -0.0], [0.3, 5e-324], [0.3, 1e-3]]))
        assert np.ptp(values) == 0
        assert np.isfinite(currin.light(np.array([[0.0, 0.0], [0.0, 0.05]]))).all()


@every_task
def test_functions_are_vectorized(name):
    task, module = TASKS[name], MODULES[name]
    points = np.random.default_rng(0).random((3, 5, task.space.dim))
    for function in (module.light, module.heavy):
        together = function(points)
        assert together.shape == ((3, 5, 1) if name == "toy" else (3, 5))
        one_by_one = [np.ravel(function(point))[0] for point in points.reshape(15, -1)]
        np.testing.assert_allclose(together.ravel(), one_by_one, rtol=1e-14)


# --- optima -----------------------------------------------------------------------------------------------------------

MINIMIZERS = {
    "toy": [[-math.pi / 2], [3 * math.pi / 2]],
    "currin": [[13 / 60, 0.0228], [13 / 60, 0.0]],
    "park": [[1.0, 1.0, 1.0, 0.0]],
}


@every_task
def test_the_optimum_is_reached(name):
    task = TASKS[name]()
    for point in MINIMIZERS[name]:
        regret = task.truth(dict(zip(task.space.names, point, strict=True))) - task.optimum
        # Currin's factor at x2 = 0.0228 is 1 - 3e-10.
        assert 0 <= regret < (1e-8 if point[-1] == 0.0228 else 1e-12)


@every_task
def test_a_grid_and_a_local_search_find_the_optimum_and_nothing_better(name):
    task, module = TASKS[name](), MODULES[name]
    axes = [
        np.linspace(parameter.low, parameter.high, {1: 4001, 2: 301, 4: 15}[task.space.dim])
        for parameter in task.space.parameters.values()
    ]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, task.space.dim)

    def minimized(x):
        return task.sign * np.ravel(module.heavy(np.atleast_2d(x)))

    values = minimized(grid)
    assert values.min() >= task.optimum
    best = math.inf
    for start in grid[np.argsort(values, kind="stable")[:3]]:
        bounds = [(parameter.low, parameter.high) for parameter in task.space.parameters.values()]
        found = minimize(
            lambda x: minimized(x)[0],
            start,
            bounds=bounds,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-14},
        )
        best = min(best, found.fun)
    assert best >= task.optimum
    assert best == pytest.approx(task.optimum, abs=1e-10)


@pytest.mark.parametrize(("name", "published"), [("toy", -1.5), ("currin", -13.798722), ("park", -5.926037)])
def test_the_optimum_is_the_known_one(name, published):
    assert TASKS[name].optimum == pytest.approx(published, abs=5e-7)


@every_task
@given(u=st.tuples(unit, unit, unit, unit))
def test_nothing_beats_the_optimum(name, u):
    task = TASKS[name]()
    assert task.truth(config_at(task, u)) >= task.optimum


# --- levels, noise, bounds --------------------------------------------------------------------------------------------


@every_task
def test_evaluations_are_minimized_and_cost_their_level(name):
    task = TASKS[name](light_iterations=2, heavy_iterations=7)
    config = config_at(task, [0.3, 0.6, 0.2, 0.9])
    x = np.array(list(config.values()))
    for level, function, iterations in ((task.light, MODULES[name].light, 2), (task.heavy, MODULES[name].heavy, 7)):
        evaluation = task.evaluate(config, level, seed=0)
        assert evaluation.value == task.sign * np.ravel(function(x))[0]
        assert (type(evaluation.value), evaluation.iterations, evaluation.error) == (float, iterations, None)
    assert task.truth(config) == task.evaluate(config, task.heavy, seed=1).value
    assert task.data is None


def test_only_the_toy_has_bounds_of_its_own():
    unbounded = (-math.inf, math.inf)
    assert (toy.Toy().delta_bounds, toy.Toy().rho_bounds) == ((-1.5, 0.5), unbounded)
    for task in (currin.Currin(), park.Park()):
        assert (task.delta_bounds, task.rho_bounds) == (unbounded, unbounded)
    assert toy.Toy(delta_bounds=[-2, 1], rho_bounds=[0, 1]).delta_bounds == (-2, 1)
    assert toy.Toy().delta_bounds == (-1.5, 0.5)


@every_task
def test_noise_comes_from_seed_configuration_and_level(name):
    task = TASKS[name](noise=0.1)
    configs = [config_at(task, u) for u in np.random.default_rng(1).random((200, 4))]
    levels = (task.light, task.heavy)
    noiseless = TASKS[name]()

    def noise(config, level, seed):
        return task.evaluate(config, level, seed).value - noiseless.evaluate(config, level, seed).value

    assert noise(configs[0], task.heavy, 0) == noise(dict(reversed(configs[0].items())), task.heavy, 0)
    draws = np.array([noise(c, level, seed) for c, level, seed in itertools.product(configs, levels, (0, 1))])
    assert len(np.unique(draws)) == len(draws)
    assert abs(draws.mean()) < 4 * 0.1 / math.sqrt(len(draws))
    assert draws.std() == pytest.approx(0.1, rel=0.1)
    assert task.truth(configs[0]) == noiseless.truth(configs[0])


@every_task
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": -0.1}, "noise must be finite and not negative, got -0.1"),
        ({"noise": math.nan}, "noise must be finite"),
        ({"light_iterations": 5}, "light_iterations must be below heavy_iterations, got 5 and 5"),
        ({"light_iterations": 0}, "iterations must be an integer of at least 1, got 0"),
    ],
)
def test_bad_parameters_are_refused(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        TASKS[name](**parameters)


def test_bad_evaluations_are_refused():
    task = currin.Currin()
    with pytest.raises(ValueError, match=r"level must have 1 \(light\) or 5 \(heavy\) iterations, got 3"):
        task.evaluate({"x1": 0.5, "x2": 0.5}, Level(3), seed=0)
    with pytest.raises(ValueError, match="did you mean 'x2'"):
        task.evaluate({"x1": 0.5, "x3": 0.5}, task.heavy, seed=0)
    with pytest.raises(ValueError, match=r"parameter 'x1': must lie in \[0.0, 1.0\], got 1.5"):
        task.truth({"x1": 1.5, "x2": 0.5})


# --- support vector machine -------------------------------------------------------------------------------------------


@pytest.fixture
def digits(tmp_path, monkeypatch):
    """Ten noisy patterns of 4x4 pixels in place of MNIST: 150 training images, the last 50 for validation."""
    generator = np.random.default_rng(0)
    patterns = generator.integers(60, 196, (10, 4, 4))
    arrays = {}
    for part, n in (("train", 150), ("test", 10)):
        labels = (np.arange(n) % 10).astype(np.uint8)
        arrays[f"x_{part}"] = (patterns[labels] + generator.integers(-60, 60, (n, 4, 4))).astype(np.uint8)
        arrays[f"y_{part}"] = labels
    np.savez(tmp_path / "mnist.npz", **arrays)
    dataset = Dataset(
        name="mnist",
        image_shape=(4, 4),
        train_counts=(15,) * 10,
        test_counts=(1,) * 10,
        n_validation=50,
        content=content_sha256(arrays),
        url="",
        sha256="",
    )
    monkeypatch.setitem(DATASETS, "mnist", dataset)
    return tmp_path, arrays


def small_svm(digits, **parameters):
    return SVM(n_train=100, n_validation=50, data="mnist", data_dir=str(digits[0]), **parameters)


def test_svm_names_the_images_it_uses(digits):
    task = small_svm(digits)
    assert task.data == DataSource("mnist", content_sha256(digits[1]), 100, 50)
    assert (task.optimum, task.truth({"C": 1.0, "gamma": 1.0})) == (None, None)
    assert (task.delta_bounds, task.rho_bounds) == ((-1.0, 0.0), (0.0, 1.0))


def test_svm_measures_the_validation_error(digits):
    from sklearn.svm import SVC

    task, arrays = small_svm(digits), digits[1]
    x = arrays["x_train"].reshape(150, 16) / 255
    machine = SVC(C=8.0, gamma=0.25).fit(x[:100], arrays["y_train"][:100])
    expected = 1 - machine.score(x[100:], arrays["y_train"][100:])
    evaluation = task.evaluate({"C": 8.0, "gamma": 0.25}, Level(10_000), seed=0)
    assert 0 < evaluation.value < 0.5
    assert evaluation.value == pytest.approx(expected)
    assert evaluation.iterations == machine.n_iter_.max()
    assert (type(evaluation.value), type(evaluation.iterations)) == (float, int)


def test_svm_stops_at_the_limit_without_a_warning_and_whatever_the_seed(digits):
    task = small_svm(digits, light_iterations=2, heavy_iterations=10_000)
    config = {"C": 1024.0, "gamma": 2**-10}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        light = [task.evaluate(config, task.light, seed) for seed in (0, 1)]
        heavy = task.evaluate(config, task.heavy, seed=0)
    assert light[0] == light[1]
    assert light[0].iterations == 2 < heavy.iterations < 10_000


@pytest.mark.parametrize(("c", "gamma"), list(itertools.product([-6, 0, 5, 10], [-8, -3, 0, 6])))
def test_a_heavy_svm_run_is_the_best_of_both_its_machines(digits, c, gamma):
    from sklearn.svm import SVC

    task, arrays = small_svm(digits, light_iterations=3, heavy_iterations=9), digits[1]
    config = {"C": 2.0**c, "gamma": 2.0**gamma}
    x = arrays["x_train"].reshape(150, 16) / 255
    errors = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for limit in (3, 9):
            machine = SVC(**config, max_iter=limit).fit(x[:100], arrays["y_train"][:100])
            errors[limit] = 1 - machine.score(x[100:], arrays["y_train"][100:])
    light, heavy = (task.evaluate(config, level, seed=0).value for level in (task.light, task.heavy))
    assert light == pytest.approx(errors[3])
    assert heavy == pytest.approx(min(errors.values()))
    assert heavy <= light


@pytest.mark.parametrize(("c", "gamma"), [(-10, -10), (0, 0), (3, -3), (10, 10)])
def test_svm_machines_are_those_of_the_images_in_their_own_order(digits, c, gamma):
    from sklearn.svm import SVC

    task, arrays = small_svm(digits), digits[1]
    x, y = arrays["x_train"].reshape(150, 16)[:100] / 255, arrays["y_train"][:100]
    ours, theirs = (
        SVC(C=2.0**c, gamma=2.0**gamma, max_iter=10_000, random_state=0).fit(*images)
        for images in (task._training, (x, y))
    )
    for attribute in ("support_vectors_", "n_support_", "dual_coef_", "intercept_", "n_iter_"):
        np.testing.assert_array_equal(getattr(ours, attribute), getattr(theirs, attribute))


def test_svm_trains_no_light_machine_twice(digits, monkeypatch):
    from sklearn.svm import SVC

    limits, fit = [], SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda self, x, y: (limits.append(self.max_iter), fit(self, x, y))[1])
    task = small_svm(digits, light_iterations=2, heavy_iterations=6)
    config = {"C": 4.0, "gamma": 0.25}
    light, heavy = (task.evaluate(config, level, seed=0) for level in (task.light, task.heavy))
    task.evaluate({"gamma": 4.0, "C": 0.25}, task.heavy, seed=0)
    assert limits == [2, 6, 2, 6]
    anew = small_svm(digits, light_iterations=2, heavy_iterations=6)
    assert (anew.evaluate(config, task.heavy, seed=0), anew.evaluate(config, task.light, seed=0)) == (heavy, light)


def test_svm_reads_no_data_before_it_is_needed(tmp_path):
    task = SVM(data="mnist", data_dir=str(tmp_path / "nowhere"))
    assert (task.light.iterations, task.heavy.iterations) == (50, 500)
    with pytest.raises(data.DataNotFound):
        _ = task.data


def test_svm_refuses_bad_arguments(digits):
    with pytest.raises(ValueError, match="light_iterations must be below heavy_iterations, got 500 and 500"):
        SVM(light_iterations=500)
    task = small_svm(digits)
    with pytest.raises(ValueError, match="parameter 'gamma': must lie in"):
        task.evaluate({"C": 1.0, "gamma": 0.0}, task.heavy, seed=0)


def test_objectives_import_no_heavy_library():
    code = (
        "import sys; from benchmarks.objectives import svm, toy; "
        "print(sorted({'sklearn', 'mlxtend', 'pandas', 'matplotlib', 'rich', 'tensorflow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
