"""The SVM task against scikit-learn's machines, on a small image set."""

import itertools
import warnings

import numpy as np
import pytest

from benchmarks.data import datasets as data
from benchmarks.data.images import content_sha256
from benchmarks.data.published import DATASETS, Dataset
from benchmarks.data.source import DataSource
from benchmarks.objectives.svm import SVM
from btao.training import Level


@pytest.fixture
def digits(tmp_path, monkeypatch):
    """Ten noisy patterns of 4x4 pixels in place of MNIST: 150 training images, the last 50 for validation."""
    generator = np.random.default_rng(0)
    patterns = generator.integers(60, 196, (10, 4, 4))
    arrays = {}
    for part, n in (("train", 150), ("test", 50)):
        labels = (np.arange(n) % 10).astype(np.uint8)
        arrays[f"x_{part}"] = (patterns[labels] + generator.integers(-60, 60, (n, 4, 4))).astype(np.uint8)
        arrays[f"y_{part}"] = labels
    np.savez(tmp_path / "mnist.npz", **arrays)
    dataset = Dataset(
        name="mnist",
        image_shape=(4, 4),
        train_counts=(15,) * 10,
        test_counts=(5,) * 10,
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
    tested = 1 - machine.score(arrays["x_test"].reshape(50, 16) / 255, arrays["y_test"])
    assert evaluation.test_error == pytest.approx(tested) != evaluation.value
    assert evaluation.testing.seconds > 0
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
            tested = 1 - machine.score(arrays["x_test"].reshape(50, 16) / 255, arrays["y_test"])
            errors[limit] = 1 - machine.score(x[100:], arrays["y_train"][100:]), tested
    light, heavy = (task.evaluate(config, level, seed=0) for level in (task.light, task.heavy))
    chosen = errors[9] if errors[9][0] < errors[3][0] else errors[3]
    assert (light.value, light.test_error) == pytest.approx(errors[3])
    assert (heavy.value, heavy.test_error) == pytest.approx(chosen)


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
