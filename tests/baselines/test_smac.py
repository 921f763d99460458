"""SMAC: the trajectory of the bare library, reproducible, without a trace on disk."""

import dataclasses
import json
import logging
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ConfigSpace import Configuration

from baselines.libraries.configspace import from_configuration, to_configspace
from baselines.libraries.smac_stable_order import keep_order
from baselines.protocol import InitialDesign, Measurement, Problem, SearchExhausted
from baselines.smac import FACADES, SMAC
from btao import Categorical, Integer, Real, Space
from support import reserve_less_for_trees

PLANE = Space({"x": Real(-2.0, 3.0), "y": Real(0.0, 1.0)})
PROBLEM = Problem(PLANE, heavy_iterations=9, n_heavy=12)

both = pytest.mark.parametrize("surrogate", FACADES)


@pytest.fixture(autouse=True, scope="module")
def same_forest_sooner():
    with pytest.MonkeyPatch.context() as patch:
        reserve_less_for_trees(patch)
        yield


def bowl(config):
    return (config["x"] - 1.0) ** 2 + (config["y"] - 0.3) ** 2


def run(method, n, value=bowl):
    trials = []
    for _ in range(n):
        trials.append(method.ask())
        method.tell(trials[-1], Measurement(value(trials[-1].config)))
    return trials


def sobol_asks(method, n):
    """How many of n trials, none of them told, come from SMAC's initial design."""
    for _ in range(n):
        method.ask()
    return sum("Sobol" in str(info.config.origin) for info in method._asked)


@pytest.mark.parametrize(("surrogate", "n"), [("random_forest", 11), ("gaussian_process", 6)])
def test_the_trajectory_is_that_of_the_bare_library_optimizing_by_itself(surrogate, n, tmp_path):
    """By the facade's own loop, with its own seed and threads; only the order of its local search is fixed."""
    import smac

    facade = getattr(smac, FACADES[surrogate])
    seen = []

    def target(config: Configuration, seed: int) -> float:
        seen.append(from_configuration(PLANE, config))
        return bowl(seen[-1])

    scenario = smac.Scenario(
        to_configspace(PLANE, 0),
        output_directory=tmp_path,
        deterministic=True,
        n_trials=n,
        seed=int(np.random.SeedSequence(5).generate_state(1)[0]),
    )
    maximizer = keep_order(facade.get_acquisition_maximizer(scenario))
    facade(scenario, target, acquisition_maximizer=maximizer, logging_level=False, overwrite=True).optimize()
    trials = run(SMAC(Problem(PLANE, heavy_iterations=9, n_heavy=n), seed=5, surrogate=surrogate), n)
    assert [trial.config for trial in trials] == seen


def test_the_order_of_bare_smac_depends_on_the_salt_of_hashes_still(monkeypatch):
    """When this fails, smac_stable_order is no longer needed."""
    from smac.acquisition.maximizer import LocalAndSortedRandomSearch

    space = to_configspace(PLANE, 0)
    points = space.sample_configuration(8)
    bare, ordered = LocalAndSortedRandomSearch(space), keep_order(LocalAndSortedRandomSearch(space))
    for maximizer in (bare, ordered):
        monkeypatch.setattr(maximizer._local_search, "_sort_by_acquisition_value", lambda c: list(enumerate(c)))
        monkeypatch.setattr(maximizer._local_search, "_acquisition_function", FlatAcquisition())
    starts = {}
    for salt in (1, 2):
        monkeypatch.setattr(Configuration, "__hash__", lambda self, salt=salt: hash((salt, repr(self))))
        for name, maximizer in (("bare", bare), ("ordered", ordered)):
            starts[name, salt] = maximizer._local_search._get_initial_points(points, 8, [])
    assert starts["bare", 1] != starts["bare", 2]
    assert starts["ordered", 1] == starts["ordered", 2]
    assert set(starts["ordered", 1]) == set(points)


class FlatAcquisition:
    """What the local search sorts its starting points by."""

    class model:
        @staticmethod
        def predict_marginalized(X):
            return np.zeros((len(X), 1)), np.ones((len(X), 1))

    def __call__(self, configurations):
        return np.zeros((len(configurations), 1))


ELSEWHERE = """
import json
from baselines.protocol import Measurement, Problem
from baselines.smac import SMAC
from btao import Real, Space

problem = Problem(Space({"x": Real(-2.0, 3.0), "y": Real(0.0, 1.0)}), heavy_iterations=9)
method = SMAC(problem, seed=2**63 - 1, surrogate="gaussian_process", n_init=3)
configs = []
for _ in range(5):
    trial = method.ask()
    method.tell(trial, Measurement(sum(trial.config.values())))
    configs.append(trial.config)
print(json.dumps(configs))
"""


def test_processes_with_other_salts_ask_alike_and_write_nothing(tmp_path):
    root = str(Path(__file__).parents[2])
    places = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    runs = [
        subprocess.Popen(
            [sys.executable, "-B", "-c", ELSEWHERE],
            env={**os.environ, **places, "PYTHONPATH": root, "PYTHONHASHSEED": salt},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for salt in ("1", "2")
    ]
    first, second = [process.communicate() for process in runs]
    assert json.loads(first[0]) == json.loads(second[0])
    assert (first[1], second[1]) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_all_bits_of_the_seed_count():
    firsts = {seed: SMAC(PROBLEM, seed).ask().config["x"] for seed in (1, 1 + 2**32, 2**63 - 1)}
    assert len(set(firsts.values())) == 3


@pytest.mark.parametrize(
    ("surrogate", "n_heavy", "n_init", "expected"),
    [
        ("random_forest", 20, None, 5),  # a quarter
        ("gaussian_process", 20, None, 5),
        ("random_forest", None, None, 20),  # 10 for each parameter
        ("gaussian_process", None, None, 16),  # 8 for each
        ("random_forest", 12, 7, 7),
        ("random_forest", 3, 7, 7),
        ("random_forest", 1, None, 1),
    ],
)
def test_the_start_is_as_long_as_smac_has_it_or_as_asked(surrogate, n_heavy, n_init, expected):
    problem = Problem(PLANE, heavy_iterations=9, n_heavy=n_heavy)
    assert sobol_asks(SMAC(problem, 0, surrogate, n_init), expected + 3) == expected


def test_n_trials_stands_in_for_an_unknown_number_of_heavy_trials():
    unknown = Problem(PLANE, heavy_iterations=9)
    assert sobol_asks(SMAC(unknown, 0, n_trials=16), 8) == 4
    assert sobol_asks(SMAC(PROBLEM, 0, n_trials=16), 8) == 3


@both
def test_a_prescribed_start_is_asked_to_the_last_bit_and_modeled(surrogate):
    design = tuple({"x": -2.0 + 5.0 * k / 7.0, "y": math.sqrt(k) / 3.0} for k in range(6))
    problem = Problem(PLANE, heavy_iterations=9, n_heavy=4, initial=InitialDesign(design, design[:5]))
    method = SMAC(problem, 0, surrogate)
    assert [trial.config for trial in run(method, 5)] == list(design[:5])
    assert "Acquisition" in method._smac.ask().config.origin


def test_a_prescribed_start_excludes_one_of_its_own():
    design = ({"x": 0.0, "y": 0.0},)
    problem = Problem(PLANE, heavy_iterations=9, initial=InitialDesign(design, design))
    with pytest.raises(ValueError, match="n_init=4 has no effect with shared_init=true"):
        SMAC(problem, 0, n_init=4)


def test_a_failure_costs_the_worst_value_whenever_that_is_known():
    from smac.runhistory import StatusType

    method = SMAC(PROBLEM, 0, n_init=5)
    history = method._smac.runhistory

    def failures():
        return [value.cost for value in history.values() if value.status == StatusType.CRASHED]

    def tell(value):
        method.tell(method.ask(), Measurement(value))

    tell(math.nan)
    assert (failures(), history.finished) == ([], 0)
    tell(1.0)
    assert failures() == [1.0]
    tell(-math.inf)
    assert failures() == [1.0, 1.0]
    tell(5.0)
    tell(2.0)
    assert failures() == [5.0, 5.0]
    assert (history.finished, len(history.get_running_trials())) == (5, 0)
    assert method._smac.intensifier.get_incumbent() == method._asked[1].config


@both
def test_smac_cannot_model_its_own_cost_of_a_crash_still(surrogate):
    """When this fails, failures can be told at SMAC's crash_cost."""
    from smac.runhistory import StatusType, TrialValue

    method = SMAC(PROBLEM, 0, surrogate, n_init=2)
    method.tell(method.ask(), Measurement(1.0))
    method.ask()
    with method._isolated:
        method._smac.tell(method._asked[1], TrialValue(cost=math.inf, status=StatusType.CRASHED), save=False)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        method.ask()


def test_failures_alone_are_survived_and_not_repeated():
    method = SMAC(Problem(PLANE, heavy_iterations=9, n_heavy=4), 0)
    configs = [tuple(trial.config.values()) for trial in run(method, 6, lambda config: math.nan)]
    assert len(set(configs)) == 6


def test_trials_are_told_in_any_order():
    method = SMAC(PROBLEM, 0)
    trials = [method.ask() for _ in range(6)]
    for trial in reversed(trials):
        method.tell(trial, Measurement(bowl(trial.config)))
    history = method._smac.runhistory
    costs = [history.get_cost(configuration) for configuration in history.get_configs()]
    assert costs == [bowl(trial.config) for trial in trials]


def test_a_finite_space_ends_in_smacs_own_words():
    space = Space({"n": Integer(1, 3), "kind": Categorical((None, True, 1))})
    method = SMAC(Problem(space, heavy_iterations=9, n_heavy=20), 0)
    seen = []
    with pytest.raises(SearchExhausted, match=r"among the 9 of the space: Could not return a new configuration"):
        for _ in range(10):
            (trial,) = run(method, 1, lambda config: float(config["n"]))
            seen.append((trial.config["n"], type(trial.config["kind"])))
    assert len(seen) == len(set(seen)) >= 8
    with pytest.raises(SearchExhausted):
        method.ask()


def test_the_forest_takes_one_thread_and_says_nothing(monkeypatch, capfd):
    def refuse(*_, **__):
        raise AssertionError("a pool of threads")

    monkeypatch.setattr("multiprocessing.pool.ThreadPool.__init__", refuse)
    level = logging.getLogger("smac").level
    run(SMAC(PROBLEM, 0, n_init=2), 4)
    assert logging.getLogger("smac").level == level
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"surrogate": "forest"}, "surrogate must be one of"),
        ({"n_init": 0}, "n_init must be null or an integer of at least 1, got 0"),
        ({"n_init": True}, "n_init must be null or an integer of at least 1, got True"),
        ({"n_trials": None}, "n_trials must be an integer of at least 1, got None"),
        ({"retrain_after": 2.5}, "retrain_after must be null or an integer of at least 1, got 2.5"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        SMAC(PROBLEM, **{"seed": 0, **parameters})


def test_files_go_to_the_folder_of_the_problem(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(SMAC(dataclasses.replace(PROBLEM, folder=tmp_path / "library"), seed=0), 2)
    assert [path.name for path in tmp_path.iterdir()] == ["library"]
    # Continued: what is there is written anew and never read.
    again = SMAC(dataclasses.replace(PROBLEM, folder=tmp_path / "library"), seed=0)
    assert run(again, 3)[:2] == run(SMAC(PROBLEM, seed=0), 2)
