"""Optuna's samplers: the studies that Optuna itself would run, in spaces that are translated exactly."""

import logging
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import stats

from baselines.initial_design import initial_design
from baselines.optuna_samplers import OptunaGP, OptunaTPE
from baselines.protocol import InitialDesign, Measurement, Problem, Trial
from btao import Categorical, Integer, Ordinal, Real, Space, When

WHY = "needs the extra 'optuna': pip install 'btao[optuna]'"
optuna = pytest.importorskip("optuna", reason=WHY)
torch = pytest.importorskip("torch", reason=WHY)

SPACE = Space(
    {
        "units": Integer(8, 512, log=True),
        "rate": Real(1e-4, 1.0, log=True),
        "kind": Categorical(("relu", "tanh", "none")),
        "depth": Integer(-1, 3),
        "x": Real(-2.0, 3.0),
    }
)
PROBLEM = Problem(SPACE, heavy_iterations=9)
SEED = 2**62 + 5
both = pytest.mark.parametrize("method_class", [OptunaTPE, OptunaGP])


def objective(config):
    """Fails in a part of the space, at its best values."""
    value = math.log(config["units"]) - math.log10(config["rate"]) + (config["depth"] - 2) ** 2 + config["x"] ** 2
    value += 3.0 if config["kind"] == "relu" else 0.0
    return math.nan if config["rate"] > 0.15 else value


def run(method_class, problem=PROBLEM, n=10, seed=SEED, function=objective, **parameters):
    """The configurations and values of a run of ours."""
    method = method_class(problem, seed=seed, **{"n_startup_trials": 4, **parameters})
    trace = []
    for _ in range(n):
        trial = method.ask()
        value = function(trial.config)
        method.tell(trial, Measurement(value))
        trace.append((trial.config, value))
    return trace


def bare(sampler, n, start=()):
    """The same of a study, as its users write it."""
    trace = []

    def function(trial):
        config = {
            "units": trial.suggest_int("units", 8, 512, log=True),
            "rate": trial.suggest_float("rate", 1e-4, 1.0, log=True),
            "kind": trial.suggest_categorical("kind", ["relu", "tanh", "none"]),
            "depth": trial.suggest_int("depth", -1, 3),
            "x": trial.suggest_float("x", -2.0, 3.0),
        }
        trace.append((config, objective(config)))
        return trace[-1][1]  # nan: a failed trial to Optuna

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=sampler)
        for config in start:
            study.enqueue_trial(config)
        study.optimize(function, n_trials=n)
    return trace


def sampler(method_class, **options):
    seed = int(np.random.SeedSequence(SEED).generate_state(1)[0])
    name = {OptunaTPE: "TPESampler", OptunaGP: "GPSampler"}[method_class]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(optuna.samplers, name)(seed=seed, **options)


@pytest.mark.parametrize(
    ("method_class", "n", "options"),
    [
        (OptunaTPE, 30, {"n_startup_trials": 10}),
        (OptunaTPE, 10, {"n_startup_trials": 4, "n_ei_candidates": 5}),
        (OptunaGP, 9, {"n_startup_trials": 4}),
        (OptunaGP, 9, {"n_startup_trials": 4, "deterministic_objective": True}),
    ],
)
def test_trials_are_those_of_a_study(method_class, n, options):
    ours = run(method_class, n=n, **options)
    assert repr(ours) == repr(bare(sampler(method_class, **options), n))
    assert any(math.isnan(value) for _, value in ours)


@both
def test_a_shared_start_is_that_of_enqueued_trials(method_class):
    start = (
        {"units": 8, "rate": 1e-4, "kind": "none", "depth": 3, "x": -2.0},
        {"units": 512, "rate": 1.0, "kind": "relu", "depth": -1, "x": 3.0},
        {"units": 100, "rate": 0.03, "kind": "tanh", "depth": 0, "x": 1 / 3},
    )
    problem = Problem(SPACE, 9, initial=InitialDesign(start, start))
    ours = run(method_class, problem, n=6)
    assert repr([config for config, _ in ours[:3]]) == repr(list(start))
    assert repr(ours) == repr(bare(sampler(method_class, n_startup_trials=4), 6, start))


def test_a_start_of_btao_is_taken_as_it_is():
    start = initial_design(SPACE, seed=0)
    ours = run(OptunaTPE, Problem(SPACE, 9, initial=start), n=len(start.heavy))
    assert repr([config for config, _ in ours]) == repr(list(start.heavy))


@both
def test_a_value_with_an_error_counts_as_failed(method_class):
    """As nan does, however good it is: the same trials follow."""
    told, untold = (method_class(PROBLEM, seed=0, n_startup_trials=3) for _ in range(2))
    for k in range(7):
        trial = told.ask()
        assert untold.ask() == trial
        value = objective(trial.config)
        failed = k % 3 == 1 or math.isnan(value)
        told.tell(trial, Measurement(-1e9, "killed") if failed else Measurement(value))
        untold.tell(trial, Measurement(math.inf) if failed else Measurement(value))


def test_choices_that_are_equal_in_python_stay_apart():
    choices = (True, 1, 1.0, None, 0, False)
    trace = run(
        OptunaTPE,
        Problem(Space({"c": Categorical(choices)}), 9),
        n=60,
        n_startup_trials=60,
        function=lambda config: 0.0,
    )
    assert {repr(config["c"]) for config, _ in trace} == {repr(choice) for choice in choices}


def test_discrete_values_are_as_likely_as_their_bins_are_wide():
    space = Space({"a": Integer(1, 4), "c": Integer(1, 6, log=True), "kind": Categorical(("a", "b", "c"))})
    space = Space(space.parameters | {"step": Ordinal((1, 10, 1000, 1001))})
    method = OptunaTPE(Problem(space, 9), seed=1, n_startup_trials=1000)
    configs = [method.ask().config for _ in range(600)]
    edges = np.log(np.arange(1, 8) - 0.5)
    for name, values, expected in (
        ("a", range(1, 5), np.full(4, 1 / 4)),
        ("c", range(1, 7), np.diff(edges) / (edges[-1] - edges[0])),
        ("kind", "abc", np.full(3, 1 / 3)),
        ("step", (1, 10, 1000, 1001), np.full(4, 1 / 4)),
    ):
        counts = [sum(config[name] == value for config in configs) for value in values]
        assert stats.chisquare(counts, 600 * expected).pvalue > 1e-3


@both
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_model_reaches_both_ends(method_class, sign):
    space = Space({"n": Integer(1, 40, log=True)})
    trace = run(method_class, Problem(space, 9), n=12, function=lambda config: float(sign * config["n"]))
    assert all(type(config["n"]) is int and space.validate(config) for config, _ in trace)
    assert (1 if sign > 0 else 40) in [config["n"] for config, _ in trace]


def test_large_seeds_do_not_repeat_the_trials_of_small_ones():
    seeds = (0, 1, 2**32, 2**62 + 1, 2**63 - 1)
    assert len({OptunaTPE(PROBLEM, seed).ask().config["x"] for seed in seeds}) == len(seeds)


def test_trials_do_not_depend_on_the_hash_seed():
    program = """
from baselines.optuna_samplers import OptunaGP, OptunaTPE
from baselines.protocol import Measurement, Problem
from btao import Categorical, Integer, Ordinal, Real, Space
space = Space({"b": Real(0.0, 1.0), "a": Categorical(("u", "v")), "c": Integer(1, 9, log=True)})
for method_class in (OptunaTPE, OptunaGP):
    method = method_class(Problem(space, 9), seed=7, n_startup_trials=3)
    for _ in range(6):
        trial = method.ask()
        method.tell(trial, Measurement(trial.config["b"] * trial.config["c"]))
        print(trial)
"""
    outputs = {
        (done.stdout, done.stderr)
        for done in (
            subprocess.run(
                [sys.executable, "-c", program],
                env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
                check=True,
                capture_output=True,
                text=True,
            )
            for seed in ("1", "2")
        )
    }
    assert len(outputs) == 1
    printed, complaints = outputs.pop()
    assert printed.count("Trial(") == 12
    assert complaints == ""


@both
def test_nothing_outside_is_changed(method_class, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(3)

    def outside():
        root, ours = logging.getLogger(), logging.getLogger("optuna")
        return (
            dict(os.environ),
            os.getcwd(),
            np.geterr(),
            warnings.filters[:],
            [(x.level, x.handlers[:], x.propagate) for x in (root, ours)],
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.get_default_device(),
            torch.is_grad_enabled(),
            torch.get_rng_state().tolist(),
            optuna.logging.get_verbosity(),
        )

    before = outside()
    run(method_class, n=6)
    assert outside() == before
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_the_library_is_imported_only_when_it_is_used():
    program = "import sys, baselines.optuna_samplers; assert not {'optuna', 'torch'} & set(sys.modules)"
    subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=True
    )


@pytest.mark.parametrize(
    ("method_class", "parameters", "message"),
    [
        (OptunaTPE, {"n_startup_trials": 0}, r"n_startup_trials must be an integer of at least 1, got 0"),
        (OptunaTPE, {"n_ei_candidates": True}, r"n_ei_candidates must be an integer of at least 1, got True"),
        (OptunaGP, {"n_startup_trials": 2.0}, r"n_startup_trials must be an integer of at least 1, got 2\.0"),
        (OptunaGP, {"deterministic_objective": 1}, r"deterministic_objective must be true or false, got 1"),
        (OptunaGP, {"seed": -1}, r"seed must be an integer of at least 0, got -1"),
    ],
)
def test_parameters_out_of_range_are_refused(method_class, parameters, message):
    with pytest.raises(ValueError, match=message):
        method_class(PROBLEM, **{"seed": 0, **parameters})


def test_tell_takes_each_asked_trial_once():
    method = OptunaTPE(PROBLEM, seed=0)
    trial = method.ask()
    method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="trial 0 is not pending"):
        method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="trial 7 is not pending"):
        method.tell(Trial(7, trial.config, True, 9), Measurement(0.0))


def test_that_conditional_parameters_are_drawn_at_random_is_said_where_there_are_some():
    space = Space({"a": Categorical(("x", "y")), "b": Real(0, 1)}, conditions={"b": When("a", "y")})
    (caution,) = OptunaGP(Problem(space, 9), 0).cautions
    assert caution == "Optuna's GPSampler draws conditional parameters at random: b"
    assert OptunaGP(Problem(SPACE, 9), 0).cautions == []
    assert not hasattr(OptunaTPE(Problem(space, 9), 0), "cautions")
