"""btao.running.objectives: one function and two levels; the examples of btao/TRAINING.md."""

import contextlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import btao
from btao import BTAO, Level, minimize
from btao.running.objectives import check_levels
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


@pytest.mark.parametrize(
    ("light", "heavy"), [((9, 2), (9, 3)), ((9, 2), (9,)), ((9, 2, 0.1), (9, 2)), ((9, 2, 0.1), (9, 3, 0.01))]
)
def test_levels_may_differ_in_patience_or_tolerance_alone(light, heavy):
    assert check_levels({"light": light, "heavy": heavy}) == {"light": Level(*light), "heavy": Level(*heavy)}


@pytest.mark.parametrize(
    ("levels", "given", "expected"),
    [
        ({"light": (5,), "heavy": (50,)}, {}, (9.0, True)),
        ({"light": (5, 2), "heavy": (5, 3)}, {}, (5.0, True)),  # of as many iterations: the default
        ({"light": (5,), "heavy": (50,)}, {"heavy_cost": 3.0, "continues": False}, (3.0, False)),
        ({"light": (5,), "heavy": (50,)}, {"heavy_cost": None, "continues": False}, (10.0, False)),
    ],
)
def test_the_rate_rule_knows_what_runs_cost_by_the_levels_and_by_whether_the_heavy_one_goes_on(levels, given, expected):
    optimizer = minimize(train, LINE, 1, levels=levels, n_init=1, **given).optimizer
    assert (optimizer.heavy_cost, optimizer.continues) == expected


def rising(config, level):
    """An accuracy."""
    curve = []
    while level.stop(curve) is None:
        curve.append(1 - 0.8 ** len(curve) - (config["x"] - 0.3) ** 2)
    return level.measure(curve)


def falling(config, level):
    """What that lacks to 1, with another last bit."""
    curve = []
    while level.stop(curve) is None:
        curve.append(0.8 ** len(curve) + (config["x"] - 0.3) ** 2)
    return level.measure(curve)


def leveled(direction):
    return {"light": (5, 2, 0.0, direction), "heavy": Level(30, 5, 0.01, direction)}


def test_accuracies_are_trained_as_far_as_errors_are(tmp_path):
    """Maximized, their errors may be trained for as well; the run goes on from its state."""
    state, up = tmp_path / "run.json", {"n_init": 2, "direction": "maximize"}
    minimize(rising, LINE, 2, levels=leveled("maximize"), state=state, **up)
    best = minimize(rising, LINE, 6, levels=leveled("maximize"), state=state, **up)
    turned = minimize(lambda config, level: 1 - falling(config, level), LINE, 6, levels=leveled("minimize"), **up)
    least = minimize(falling, LINE, 6, levels=leveled(None), n_init=2, logarithm=False)
    for other in (turned, least):
        for mine, theirs in zip(best.trials, other.trials, strict=True):
            assert mine.config["x"] == pytest.approx(theirs.config["x"], abs=1e-5)
    assert best.value == pytest.approx(turned.value) == pytest.approx(1 - least.value) and best.value > 0.95


def test_levels_must_say_what_their_curves_are_where_values_are_maximized():
    with pytest.raises(ValueError, match=r"levels\['light'\] must say what its curves are where direction='maximize'"):
        minimize(rising, LINE, 2, levels=leveled(None), direction="maximize")
    mixed = {"light": leveled("minimize")["light"], "heavy": leveled("maximize")["heavy"]}
    with pytest.raises(ValueError, match="levels must have one direction, got 'minimize' and 'maximize'"):
        minimize(rising, LINE, 2, levels=mixed)
    same = {name: Level(5, 2, direction="maximize") for name in ("light", "heavy")}
    with pytest.raises(ValueError, match=r"levels\['heavy'\] must have more iterations"):
        minimize(rising, LINE, 2, levels=same, direction="maximize")


def test_levels_of_an_earlier_state_were_of_errors(tmp_path):
    state = tmp_path / "run.json"
    options = {"state": state, "n_init": 2, "direction": "maximize"}
    minimize(rising, LINE, 2, levels=leveled("minimize"), **options)
    held = json.loads(state.read_text())
    held["levels"] = {name: level[:3] for name, level in held["levels"].items()}
    state.write_text(json.dumps(held))
    with pytest.raises(ValueError, match=r"holds a run with levels=.*'minimize'.* but levels=.*'maximize'.* is asked"):
        minimize(rising, LINE, 3, levels=leveled("maximize"), **options)
    assert len(minimize(rising, LINE, 3, levels=leveled("minimize"), **options).trials) > 6


def test_a_run_goes_on_with_the_costs_of_its_state_where_none_are_given(tmp_path):
    state, levels = tmp_path / "run.json", {"light": (5,), "heavy": (50,)}
    state.write_text(BTAO(LINE, n_init=1, heavy_cost=7.0, continues=False).to_json())
    arguments = {"levels": levels, "n_init": 1, "state": state}
    assert minimize(train, LINE, 1, **arguments).optimizer.heavy_cost == 7.0
    with pytest.raises(ValueError, match=r"holds a run with heavy_cost=7\.0, but heavy_cost=9\.0 is asked for"):
        minimize(train, LINE, 1, **arguments, heavy_cost=9.0)


def test_another_direction_is_named_before_what_follows_from_it(tmp_path):
    state = tmp_path / "run.json"
    state.write_text(BTAO(LINE, n_init=1).to_json())
    objectives = {level: lambda config: config["x"] for level in ("light", "heavy")}
    with pytest.raises(ValueError, match="holds a run with direction='minimize', but direction='maximize' is asked"):
        minimize(objectives, LINE, 1, n_init=1, state=state, direction="maximize")


def test_a_run_of_the_former_default_says_which_rule_goes_on(tmp_path):
    state = tmp_path / "run.json"
    state.write_text(BTAO(LINE, n_init=1, rule="joint").to_json())
    plain = {"light": lambda config: config["x"], "heavy": lambda config: config["x"]}
    with pytest.raises(ValueError, match="but rule='rate' is asked for: give rule='joint', or use another file"):
        minimize(plain, LINE, 1, n_init=1, state=state)
    assert minimize(plain, LINE, 1, n_init=1, state=state, rule="joint").optimizer.rule == "joint"


def test_a_heavy_run_that_begins_anew_costs_all_its_iterations():
    levels = {"light": (5,), "heavy": (50,)}
    optimizer = minimize(lambda config, level: train(config, level)[0], LINE, 1, levels=levels, n_init=1).optimizer
    assert (optimizer.heavy_cost, optimizer.continues) == (10.0, False)
    plain = {name: lambda config, level=level: train(config, level)[0] for name, level in check_levels(levels).items()}
    optimizer = minimize(plain, LINE, 1, n_init=1).optimizer
    assert (optimizer.heavy_cost, optimizer.continues) == (5.0, False)


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
        (train, {"light": (9,), "heavy": (9, 3)}, ValueError, "or, of as many, more patience or less tolerance"),
        (train, {"light": (9, 3), "heavy": (9, 2)}, ValueError, "got Level.*patience=2.* and Level.*patience=3"),
        (train, {"light": (9, 3), "heavy": (9, 4, 0.1)}, ValueError, "and nothing that ends it earlier"),
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
    light, heavy = names["result"].trials
    assert 0 <= heavy.value <= light.value <= 1  # the heavy run went on with the curve of the light one
    assert keras.backend.backend() and names["StopAt"].__mro__[1] is keras.callbacks.Callback


class FakeScores:
    """What a network answers to inputs: the classes that it takes them for."""

    def __init__(self, network, classes):
        self.network, self.classes = network, classes

    def argmax(self, axis):
        assert axis == 1
        return self.classes


class FakeNetwork:
    """A network that takes one more of ten inputs for what it is with each step of training."""

    def __init__(self, *layers):
        self.layers, self.n_steps, self.calls = layers, 0, []

    def __call__(self, inputs):
        self.calls.append("answer")
        return FakeScores(self, np.where(inputs < self.n_steps, inputs, -1))

    def parameters(self):
        return self

    def train(self):
        self.calls.append("train")

    def eval(self):
        self.calls.append("eval")


class FakeAdam:
    def __init__(self, network, lr):
        self.network, self.lr = network, lr

    def zero_grad(self):
        self.network.calls.append("zero")

    def step(self):
        self.network.calls.append("step")
        self.network.n_steps += 1


class Loader(list):
    dataset = range(10)


def fake_torch():
    """The part of PyTorch that the example calls."""

    def cross_entropy(scores, targets):
        assert len(scores.classes) == len(targets)
        return SimpleNamespace(backward=lambda: scores.network.calls.append("backward"))

    layers = {name: lambda *size, name=name: (name, *size) for name in ("LazyLinear", "ReLU", "Flatten")}
    functional = SimpleNamespace(cross_entropy=cross_entropy)
    return SimpleNamespace(
        nn=SimpleNamespace(Sequential=FakeNetwork, functional=functional, **layers),
        optim=SimpleNamespace(Adam=FakeAdam),
        no_grad=contextlib.nullcontext,
        manual_seed=lambda seed: None,
    )


def test_the_pytorch_example_trains_stops_and_goes_on(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", fake_torch())
    classes = np.arange(10)
    names = {
        "training_loader": [(classes[:5], classes[:5])],
        "validation_loader": Loader([(classes[:6], classes[:6]), (classes[6:], classes[6:])]),
    }
    exec(compile(EXAMPLES[1], "TRAINING.md", "exec"), names)
    config = {"units": 16, "rate": 0.01}

    value, (model, optimizer, curve) = names["train"](config, Level(3))
    assert value == 0.7 and curve == [0.9, 0.8, 0.7]  # a step an epoch, and of ten inputs those wrong
    assert model.layers == (("Flatten",), ("LazyLinear", 16), ("ReLU",), ("LazyLinear", 10))
    assert (optimizer.network, optimizer.lr) == (model, 0.01)
    epoch = ["train", "zero", "answer", "backward", "step", "eval", "answer", "answer"]
    assert model.calls == ["answer", *epoch * 3]

    value, left = names["train"](config, Level(20, 2), light=(model, optimizer, curve))
    assert left[0] is model and left[1] is optimizer
    # It goes on from the light run, and stops when two epochs after the last wrong input brought nothing.
    assert curve == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0, 0, 0]) and value == 0
    assert names["train"](config, Level(3), light=left) == (0.7, left) and len(curve) == 12
