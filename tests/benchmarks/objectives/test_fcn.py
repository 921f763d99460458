"""The FCN task: what the network computes, against Keras, and that training repeats bit for bit."""

import hashlib
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.data.images import Split
from benchmarks.data.source import DataSource
from benchmarks.objectives.curve import Past
from benchmarks.objectives.fcn import FCN
from benchmarks.objectives.protocol import Curve
from benchmarks.objectives.tensorflow_session import tensorflow
from benchmarks.running.continuation import StateFolder
from btao.training import Level

CONFIG = {"batch_size": 16, "units": 19, "learning_rate": 3e-3}


def images(n, seed):
    """Noisy images of ten classes, each bright in rows of its own."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(n).astype(np.uint8) % 10
    x = generator.integers(0, 120, (n, 28, 28))
    for image, label in zip(x, labels, strict=True):
        image[2 * label : 2 * label + 4] += generator.integers(0, 60)
    return x.astype(np.uint8), labels


def task_on_numbers(n_train=150, n_validation=60, **parameters):
    """150 images are nine batches of 16 and a part of one; a column of pixels is lit in validation only."""
    task = FCN(n_train, n_validation, **{"light_iterations": 3, "heavy_iterations": 6, **parameters})
    source = DataSource("numbers", "0" * 64, n_train, n_validation)
    x_train, y_train = images(n_train, 0)
    x_train[:, :, 5] = 0
    task.__dict__["_split"] = Split(x_train, y_train, *images(n_validation, 1), *images(n_validation, 2), source)
    return task


def digest(state):
    return hashlib.sha256(b"".join(state[name].tobytes() for name in sorted(state))).hexdigest()


# --- what is computed -------------------------------------------------------------------------------------------------


def test_an_epoch_is_that_of_keras_on_the_same_batches():
    """Loss averaged over the images of a batch, the last one smaller; Adam; errors before and after."""
    tensorflow()
    import keras

    task = task_on_numbers()
    training = task.start(CONFIG, seed=0)
    lit = task._split.x_train.reshape(-1, 784).any(0)
    assert lit.sum() == 27 * 28

    def weights():
        hidden = np.empty((784, 19), np.float32)
        hidden[lit], *others = (training.state()[f"weights_{index}"] for index in range(4))
        hidden[~lit] = training._constants[0]
        return [hidden, *others]

    model = keras.Sequential([keras.layers.Dense(19, activation="relu"), keras.layers.Dense(10)])
    model.build((None, 784))
    model.set_weights(weights())
    model.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    split = task._split
    x, y = split.x_train.reshape(-1, 784) / np.float32(255), split.y_train
    x_validation = split.x_validation.reshape(-1, 784) / np.float32(255)
    for epoch in range(2):
        order = np.random.default_rng([training._seed, 1, epoch]).permutation(150)
        wrong = 0
        for chosen in np.split(order, range(16, 150, 16)):
            wrong += (model(x[chosen]).numpy().argmax(1) != y[chosen]).sum()
            model.train_on_batch(x[chosen], y[chosen])
        found = training.advance()
        assert found.training_error == pytest.approx(wrong / 150, abs=2.5 / 150)
        answers = model(x_validation).numpy().argmax(1)
        assert found.validation_error == pytest.approx((answers != split.y_validation).mean(), abs=1.5 / 60)
        tested = model(split.x_test.reshape(-1, 784) / np.float32(255)).numpy().argmax(1)
        assert training.test_error() == pytest.approx((tested != split.y_test).mean(), abs=1.5 / 60)
    for found, expected in zip(weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


def test_what_can_be_learned_is_learned():
    heavy = task_on_numbers(600, 200).evaluate(CONFIG | {"units": 64}, Level(12), seed=0)
    assert heavy.value == min(heavy.curve.validation_errors) < 0.4
    assert heavy.curve.training_errors[-1] < heavy.curve.training_errors[0]


def test_a_rate_near_zero_leaves_the_network_where_it_was():
    training = task_on_numbers().start(CONFIG | {"learning_rate": 1e-6}, seed=0)
    before = training.state()
    training.advance()
    after = training.state()
    moved = max(np.abs(after[name] - before[name]).max() for name in before if name.startswith("weights"))
    assert 0 < moved <= 1.5e-5  # ten steps of at most about 1e-6


def test_divergence_is_a_failure_with_its_cost(monkeypatch):
    task = task_on_numbers()
    start = task.start
    monkeypatch.setattr(task, "start", lambda config, seed: start(config | {"learning_rate": 1e30}, seed))
    evaluation = task.evaluate(CONFIG, task.heavy, seed=0)
    assert math.isnan(evaluation.value)
    assert evaluation.error == f"training diverged in iteration {evaluation.iterations}"
    assert len(evaluation.curve.seconds) == evaluation.iterations <= 2


@pytest.mark.parametrize("batch_size", [8, 150, 512])
@pytest.mark.parametrize("units", [16, 512])
def test_the_ends_of_the_space_are_trained(batch_size, units):
    """A batch may be larger than all the images there are."""
    task = task_on_numbers()
    config = {"batch_size": batch_size, "units": units, "learning_rate": 1e-2}
    first, second = (task.evaluate(config, Level(2), seed=seed) for seed in (0, 1))
    assert first.error is None
    assert 0 <= first.value <= 1
    assert first.curve != second.curve


# --- repeats ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("through_a_file", [False, True])
def test_training_that_is_continued_equals_training_in_one_go(tmp_path, through_a_file):
    task = task_on_numbers(heavy_patience=None)
    whole = task.evaluate(CONFIG, task.heavy, seed=5)
    states = StateFolder(tmp_path / "states") if through_a_file else None
    light = task.evaluate(CONFIG, task.light, seed=5, past=Past(Curve(), states))
    assert light.iterations == 3
    rest = task.evaluate(CONFIG, task.heavy, seed=5, past=Past(light.curve, states))
    assert (rest.iterations, rest.value) == (3, whole.value)
    joined = light.curve + rest.curve
    assert joined.validation_errors == whole.curve.validation_errors
    assert joined.training_errors == whole.curve.training_errors


def test_a_state_holds_all_that_training_needs():
    task = task_on_numbers()
    whole = task.start(CONFIG, seed=5)
    whole.advance()
    kept = {name: array.copy() for name, array in whole.state().items()}
    whole.advance()
    rest = task.start(CONFIG, seed=5)
    rest.restore(kept)
    rest.advance()
    assert digest(rest.state()) == digest(whole.state()) != digest(kept)


def test_seed_and_configuration_decide():
    task = task_on_numbers()

    def trained(seed, **changes):
        training = task.start(CONFIG | changes, seed)
        training.advance()
        return digest(training.state())

    variants = [trained(0), trained(1), trained(0, learning_rate=2e-3), trained(0, batch_size=17)]
    assert len(set(variants)) == len(variants)
    assert trained(0) == variants[0]


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import test_fcn
training = test_fcn.task_on_numbers().start(test_fcn.CONFIG, seed=2**62)
training.advance()
print(test_fcn.digest(training.state()))
"""


def test_another_process_trains_the_same_bits_and_says_nothing():
    training = task_on_numbers().start(CONFIG, seed=2**62)
    training.advance()
    command = [sys.executable, "-c", SCRIPT, os.path.dirname(__file__)]
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(training.state())
    assert other.stderr == ""


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"light_iterations": 50}, "light_iterations must be below heavy_iterations, got 50 and 50"),
        ({"heavy_patience": 2}, "at least light_patience .*, got 2 and 3"),
        ({"light_patience": None}, "at least light_patience .*, got 3 and None"),
        ({"heavy_tolerance": 0.1}, "at most light_tolerance, got 0.1 and 0.001"),
        ({"light_patience": 0}, "patience must be None or an integer of at least 1, got 0"),
        ({"activation": "exp"}, r"activation must be one of \['relu', .*\], got 'exp'"),
        ({"data": "cifar10"}, "data must be 'auto' or 'mnist' for a task on mnist, got 'cifar10'"),
        ({"n_train": 9}, "n_train must be an integer from 10 to "),
    ],
)
def test_arguments_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        FCN(**parameters).data  # noqa: B018


def test_a_heavy_level_without_patience_may_have_any_tolerance():
    assert FCN(heavy_patience=None, heavy_tolerance=0.1).heavy == Level(50, None, 0.1)
