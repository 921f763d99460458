"""btao.running.objectives: one function and two levels; the examples of btao/TRAINING.md."""

import re
from pathlib import Path

import numpy as np
import pytest

import btao
from btao import Level, minimize
from optimizer_runs import FREE, LINE

OPTIONS = {"n_init": 2, **FREE}
ELSEWHERE = "btao has two levels: for more, Hyperband, BOHB or DEHB"
EXAMPLES = re.findall(
    r"```python\n(.*?)```", (Path(btao.__file__).parent / "TRAINING.md").read_text(encoding="utf-8"), flags=re.DOTALL
)


def train(config, level, light=None):
    """A curve that falls to (x - 0.6)^2 and goes on from where the light run stopped."""
    curve = list(light or [])
    while level.stop(curve) is None:
        curve.append((config["x"] - 0.6) ** 2 + 1 / (1 + len(curve)))
    return level.measure(curve), curve


def test_one_function_is_called_with_the_level_and_goes_on_from_the_light_run():
    calls = []

    def counted(config, level, light=None):
        value, curve = train(config, level, light)
        calls.append((level, 0 if light is None else len(light), len(curve)))
        return value, curve

    result = minimize(counted, LINE, 5, levels={"light": (4,), "heavy": Level(20, 5, 0.01)}, **OPTIONS)
    assert {call for call in calls if call[0] == Level(4)} == {(Level(4), 0, 4)}
    heavy = [call for call in calls if call[0] == Level(20, 5, 0.01)]
    assert len(heavy) == 5 and all(begun == 4 < ended <= 20 for _, begun, ended in heavy)
    assert result.value == train(result.config, Level(20, 5, 0.01))[0]


def test_it_works_on_processes():
    result = minimize(train, LINE, 2, levels={"light": (4,), "heavy": (9,)}, n_jobs=2, executor="processes", **OPTIONS)
    assert result.value == pytest.approx((result.config["x"] - 0.6) ** 2 + 1 / 9)


@pytest.mark.parametrize(
    ("objectives", "levels", "kind", "message"),
    [
        ({"low": train, "mid": train, "high": train}, None, ValueError, ELSEWHERE),
        ({"heavy": train}, None, ValueError, ELSEWHERE),
        (train, None, ValueError, ELSEWHERE),
        (train, {"heavy": (50,)}, ValueError, ELSEWHERE),
        (train, {"light": (1,), "heavy": (5,), "heaviest": (9,)}, ValueError, ELSEWHERE),
        (train, [(1,), (5,)], ValueError, "levels must be"),
        (
            {"light": train, "heavy": train},
            {"light": (1,), "heavy": (5,)},
            TypeError,
            "objectives must be one function",
        ),
        (train, {"light": 10, "heavy": (50,)}, TypeError, r"levels\['light'\] must be a Level or \(iterations, "),
        (train, {"light": (0,), "heavy": (50,)}, ValueError, r"levels\['light'\]: iterations must be an integer"),
        (train, {"light": (9,), "heavy": (9,)}, ValueError, r"levels\['heavy'\] must have more iterations than "),
    ],
)
def test_other_numbers_of_levels_are_refused_with_what_to_use_instead(objectives, levels, kind, message):
    with pytest.raises(kind, match=message):
        minimize(objectives, LINE, 2, levels=levels, **OPTIONS)


def test_the_keras_example_trains_and_stops():
    keras = pytest.importorskip("keras")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)).astype("float32"), rng.integers(0, 3, 80)
    X[:, 0] += 2 * y
    text = (
        EXAMPLES[0].replace("n_heavy=6", "n_heavy=1, n_init=1").replace("(10, 3)", "(2,)").replace("(50, 5)", "(4, 3)")
    )
    names = {"training_data": (X[:60], y[:60]), "validation_data": (X[60:], y[60:])}
    exec(compile(text, "TRAINING.md", "exec"), names)
    light, _, heavy = names["result"].trials
    assert 0 <= heavy.value <= light.value <= 1  # the heavy run went on with the curve of the light one
    assert keras.backend.backend() and names["StopAt"].__mro__[1] is keras.callbacks.Callback


def test_the_pytorch_example_is_python_and_needs_what_it_says():
    code = compile(EXAMPLES[1], "TRAINING.md", "exec")
    assert {"train", "build", "torch"} <= {*code.co_names}
