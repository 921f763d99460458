"""TPE: hyperopt's own `fmin`, trial for trial, in spaces that are translated exactly."""

import functools
import logging
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hyperopt import STATUS_FAIL, STATUS_OK, Domain, Trials, fmin, hp, rand, tpe
from scipy import stats

from baselines.protocol import InitialDesign, Measurement, Problem, Trial
from baselines.tpe import TPE, expression
from benchmarks.objectives.currin import heavy
from btao import Categorical, Integer, Ordinal, Real, Space, When

CURRIN = Space({"x1": Real(0.0, 1.0), "x2": Real(0.0, 1.0)})
MIXED = Space(
    {
        "units": Integer(8, 512, log=True),
        "rate": Real(1e-4, 1.0, log=True),
        "kind": Categorical(("relu", True, 1, 1.0, None)),
        "depth": Integer(-1, 3),
    }
)
# The same spaces as a user of hyperopt writes them.
CURRIN_BARE = {"x1": hp.uniform("x1", 0.0, 1.0), "x2": hp.uniform("x2", 0.0, 1.0)}
MIXED_BARE = {
    "units": hp.qloguniform("units", math.log(7.5), math.log(512.5), 1),
    "rate": hp.loguniform("rate", math.log(1e-4), math.log(1.0)),
    "kind": hp.choice("kind", ["relu", True, 1, 1.0, None]),
    "depth": hp.quniform("depth", -1.5, 3.5, 1),
}

NESTED = Space(
    {
        "rate": Real(1e-4, 1.0, log=True),
        "optimizer": Categorical(("adam", "sgd", "nag")),
        "momentum": Real(0.0, 0.99),
        "damped": Categorical((False, True)),
        "damping": Integer(1, 4),
    },
    conditions={
        "momentum": When("optimizer", "sgd", "nag"),
        "damped": When("optimizer", "sgd"),
        "damping": When("damped", True),
    },
)
MOMENTUM = hp.uniform("momentum", 0.0, 0.99)
DAMPED = hp.choice("damped", [{}, {"damping": hp.quniform("damping", 0.5, 4.5, 1)}])
NESTED_BARE = {
    "rate": hp.loguniform("rate", math.log(1e-4), math.log(1.0)),
    "optimizer": hp.choice("optimizer", [{}, {"momentum": MOMENTUM, "damped": DAMPED}, {"momentum": MOMENTUM}]),
}


def currin(config):
    return -float(heavy([config["x1"], config["x2"]]))


def mixed(config):
    """Fails in a fifth of the space, at its best values."""
    value = math.log(config["units"]) - 4 * math.log10(config["rate"]) + (config["depth"] - 2) ** 2
    value += 3.0 if config["kind"] == "relu" else 0.0
    return math.nan if config["rate"] > 0.15 else value


def run(space, objective, n, seed, initial=None, **parameters):
    """The configurations and values of a run of ours."""
    method = TPE(Problem(space, 9, initial=initial), seed=seed, **parameters)
    trace = []
    for _ in range(n):
        trial = method.ask()
        value = objective(trial.config)
        method.tell(trial, Measurement(value))
        trace.append((trial.config, value))
    return trace


def bare(space, objective, n, seed, points=None, **parameters):
    """The same of `hyperopt.fmin`."""
    trace = []

    def function(config):
        value = objective(config)
        trace.append((dict(config), value))
        return {"status": STATUS_FAIL} if math.isnan(value) else {"status": STATUS_OK, "loss": value}

    def suggest(*args):
        return tpe.suggest(*args, **parameters)

    generator = np.random.default_rng(seed)
    fmin(function, space, suggest, n, rstate=generator, verbose=False, points_to_evaluate=points)
    return trace


def test_trials_are_those_of_fmin():
    assert run(CURRIN, currin, 40, seed=2**62 + 5) == bare(CURRIN_BARE, currin, 40, seed=2**62 + 5)


def test_trials_are_those_of_fmin_with_failures_and_every_kind_of_parameter():
    ours, theirs = run(MIXED, mixed, 35, seed=3), bare(MIXED_BARE, mixed, 35, seed=3)
    assert 5 < sum(math.isnan(value) for _, value in ours) < 15
    assert repr([sorted(config.items()) for config, _ in ours]) == repr(
        [
            sorted({**config, "units": int(config["units"]), "depth": int(config["depth"])}.items())
            for config, _ in theirs
        ]
    )


def test_parameters_reach_hyperopt():
    options = {"n_startup_jobs": 5, "n_EI_candidates": 7, "gamma": 1.5}
    ours = run(CURRIN, currin, 12, seed=0, **options)
    assert ours == bare(CURRIN_BARE, currin, 12, seed=0, **options)
    for name, default in (("n_startup_jobs", 20), ("n_EI_candidates", 24), ("gamma", 0.25)):
        assert run(CURRIN, currin, 12, seed=0, **{**options, name: default}) != ours


def test_a_shared_start_is_that_of_points_to_evaluate():
    heavy_start = (
        {"units": 8, "rate": 1e-4, "kind": None, "depth": 3},
        {"units": 512, "rate": 1.0, "kind": 1.0, "depth": -1},
        {"units": 100, "rate": 0.03, "kind": True, "depth": 0},
    )
    initial = InitialDesign(light=(*heavy_start, heavy_start[0]), heavy=heavy_start)
    ours = run(MIXED, mixed, 12, seed=4, initial=initial, n_startup_jobs=6)
    assert repr([config for config, _ in ours[:3]]) == repr(list(heavy_start))
    points = [{**config, "kind": number} for config, number in zip(heavy_start, (4, 3, 1), strict=True)]
    theirs = bare(MIXED_BARE, mixed, 9, seed=4, points=points, n_startup_jobs=6)  # fmin counts new trials only
    assert [config for config, _ in ours] == [config for config, _ in theirs]


def test_shared_trials_may_be_told_in_any_order():
    points = tuple({"x1": x, "x2": x} for x in (0.25, 0.5))
    method = TPE(Problem(CURRIN, 9, initial=InitialDesign(points, points)), seed=0, n_startup_jobs=2)
    asked = [method.ask() for _ in range(4)]
    assert [trial.config for trial in asked[:2]] == list(points)
    for trial in reversed(asked):
        method.tell(trial, Measurement(currin(trial.config)))
    assert method.ask().number == 4


def test_pending_trials_are_as_bad_as_failed_ones():
    """hyperopt's own rule: both have infinite loss."""
    pending, failed = (TPE(Problem(CURRIN, 9), seed=1, n_startup_jobs=6) for _ in range(2))
    for k in range(12):
        trial = pending.ask()
        assert failed.ask() == trial
        failed.tell(trial, Measurement(-100.0, "killed") if k % 3 == 0 else Measurement(currin(trial.config)))
        if k % 3:
            pending.tell(trial, Measurement(currin(trial.config)))


def nested(config):
    """Least with sgd, a momentum of 0.9 and damping."""
    value = abs(math.log10(config["rate"]) + 2) + abs(config.get("momentum", 0.0) - 0.9)
    return value + abs(config.get("damping", 6) - 3)


def test_conditional_parameters_are_those_of_nested_choices():
    n, seed, start = 40, 5, {"rate": 0.5, "optimizer": "sgd", "momentum": 0.5, "damped": True, "damping": 2}
    ours = run(NESTED, nested, n, seed, InitialDesign((start,), (start,)), n_startup_jobs=10)

    def flat(config):
        inner = dict(config["optimizer"])
        return {"rate": config["rate"]} | inner.pop("damped", {}) | inner

    def function(config):
        values.append(nested(flat(config)))
        return {"status": STATUS_OK, "loss": values[-1]}

    values = []
    labels = {"rate": 0.5, "optimizer": 1, "momentum": 0.5, "damped": 1, "damping": 2}
    options = {"algo": functools.partial(tpe.suggest, n_startup_jobs=10), "max_evals": n - 1, "show_progressbar": False}
    generator = np.random.default_rng(seed)
    fmin(function, NESTED_BARE, points_to_evaluate=[labels], rstate=generator, verbose=False, **options)
    assert [value for _, value in ours] == values
    assert len({tuple(config) for config, _ in ours}) == 4


def test_what_hyperopt_cannot_nest_is_drawn_and_left_out():
    space = Space(
        {"n": Integer(1, 3), "c": Categorical(("a", "b")), "x": Real(0, 1), "y": Real(0, 1)},
        conditions={"x": When("n", 2, 3), "y": [When("n", 1), When("c", "b")]},
    )
    start = ({"n": 1, "c": "a"}, {"n": 3, "c": "b", "x": 0.25})
    trace = run(space, lambda config: sum(config.get(name, 0.3) for name in "xy"), 30, 0, InitialDesign(start, start))
    assert [config for config, _ in trace[:2]] == [*start]
    for config, _ in trace:
        assert space.validate(config) == config
    assert {tuple(config) for config, _ in trace} == {("n", "c"), ("n", "c", "x"), ("n", "c", "y")}
    (caution,) = TPE(Problem(space, 9), 0).cautions
    assert "no other condition: x, y will be drawn and modeled where inactive" in caution
    assert TPE(Problem(NESTED, 9), 0).cautions == []
    parameters = {"n": Integer(1, 3), "c": Categorical(("a", "b")), "d": Real(0, 1), "b": Real(0, 1)}
    deeper = Space(parameters, conditions={"c": When("n", 2), "b": When("c", "b")})
    (caution,) = TPE(Problem(deeper, 9), 0).cautions
    assert "no other condition: c, b will be drawn" in caution


@pytest.fixture(scope="module")
def prior():
    """3000 draws of hyperopt from a translated space, by name."""
    space = Space(
        {
            "a": Integer(1, 4),
            "b": Integer(0, 3),
            "c": Integer(1, 6, log=True),
            "d": Integer(100, 103, log=True),
            "kind": Categorical(("a", "b", "c")),
            "step": Ordinal((1, 10, 1000, 1001)),
            "x": Real(-2.0, 3.0),
            "y": Real(1e-3, 10.0, log=True),
        }
    )
    domain = Domain(None, expression(space))
    _, values = rand.suggest_batch(list(range(3000)), domain, Trials(), 11)
    return space, values


@pytest.mark.parametrize("name", ["a", "b", "c", "d", "kind", "step"])
def test_discrete_values_are_as_likely_as_their_bins_are_wide(prior, name):
    space, draws = prior[0], np.asarray(prior[1][name], dtype=int)
    kind = space.parameters[name]
    low, size = (0, kind.size) if name in ("kind", "step") else (kind.low, kind.size)
    if name in ("c", "d"):
        edges = np.log(np.arange(low, kind.high + 2) - 0.5)
        expected = np.diff(edges) / (edges[-1] - edges[0])
    else:
        expected = np.full(size, 1 / size)
    counts = np.bincount(draws - low, minlength=size)
    assert len(counts) == size
    assert stats.chisquare(counts, 3000 * expected).pvalue > 1e-3


@pytest.mark.parametrize("name", ["x", "y"])
def test_real_values_are_uniform_on_their_scale(prior, name):
    kind = prior[0].parameters[name]
    assert stats.kstest([kind.to_unit(float(value)) for value in prior[1][name]], "uniform").pvalue > 1e-3


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("log", [False, True])
def test_the_model_reaches_both_ends_of_an_integer(log, sign):
    low, high = (1, 40) if log else (-20, 19)
    trace = run(
        Space({"n": Integer(low, high, log=log)}), lambda config: sign * config["n"], 30, seed=0, n_startup_jobs=5
    )
    values = [config["n"] for config, _ in trace]
    assert all(type(value) is int and low <= value <= high for value in values)
    assert (low if sign > 0 else high) in values


def test_values_stay_within_bounds_where_exp_of_log_does_not():
    low, high = 10.0 - 1e-14, 10.0
    space = Space({"x": Real(low, high, log=True), "y": Real(1.0, math.nextafter(1.0, 2.0))})
    raw = np.exp(np.random.default_rng(0).uniform(math.log(low), math.log(high), 1000))
    assert raw.max() > high
    for config, _ in run(space, lambda config: config["x"], 40, seed=0):
        assert space.validate(config) == config


def test_no_configuration_is_refused_in_the_widest_integer_ranges():
    space = Space({"n": Integer(-(2**39), 2**39), "m": Integer(1, 2**40, log=True)})
    for config, _ in run(space, lambda config: config["n"] / 2**39 + math.log(config["m"]), 30, seed=0):
        assert space.validate(config) == config


def test_large_seeds_do_not_repeat_the_trials_of_small_ones():
    seeds = (0, 1, 2**32, 2**62 + 1, 2**63 - 1)
    assert len({TPE(Problem(CURRIN, 9), seed).ask().config["x1"] for seed in seeds}) == len(seeds)


def test_trials_do_not_depend_on_the_hash_seed():
    program = """
from baselines.protocol import Measurement, Problem
from baselines.tpe import TPE
from btao import Categorical, Integer, Ordinal, Real, Space
space = Space({"b": Real(0.0, 1.0), "a": Categorical(("u", "v")), "c": Integer(1, 9, log=True)})
method = TPE(Problem(space, 9), seed=7, n_startup_jobs=4)
for _ in range(12):
    trial = method.ask()
    method.tell(trial, Measurement(trial.config["b"] * trial.config["c"]))
    print(trial)
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().count("Trial(") == 12


def test_a_finite_space_is_searched_with_repeats_and_never_exhausted():
    trace = run(Space({"n": Integer(1, 2)}), lambda config: config["n"], 12, seed=0, n_startup_jobs=4)
    assert {config["n"] for config, _ in trace} == {1, 2}


def test_nothing_outside_is_changed(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def outside():
        root = logging.getLogger()
        return dict(os.environ), os.getcwd(), np.geterr(), warnings.filters[:], root.level, root.handlers[:]

    before = outside()
    run(MIXED, mixed, 8, seed=0, n_startup_jobs=4)
    assert outside() == before
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_the_library_is_imported_only_when_it_is_used():
    program = "import sys, baselines.tpe; assert 'hyperopt' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_startup_jobs": 0}, r"n_startup_jobs must be an integer of at least 1, got 0"),
        ({"n_startup_jobs": True}, r"n_startup_jobs must be an integer of at least 1, got True"),
        ({"n_EI_candidates": 2.0}, r"n_EI_candidates must be an integer of at least 1, got 2\.0"),
        ({"gamma": 0}, r"gamma must be a finite number above 0, got 0"),
        ({"gamma": math.nan}, r"gamma must be a finite number above 0, got nan"),
        ({"gamma": "0.25"}, r"gamma must be a finite number above 0, got '0\.25'"),
        ({"seed": -1}, r"seed must be an integer of at least 0, got -1"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        TPE(Problem(CURRIN, 9), **{"seed": 0, **parameters})


def test_tell_takes_each_asked_trial_once():
    method = TPE(Problem(CURRIN, 9), seed=0)
    trial = method.ask()
    method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="trial 0 is not pending"):
        method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="trial 7 is not pending"):
        method.tell(Trial(7, trial.config, True, 9), Measurement(0.0))
