"""The runs that judge the rule: equal costs, seeds of their own, noise by the range, and what is kept of them."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import qmc

from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.ladder.steps import STEPS
from benchmarks.config.request import read
from benchmarks.config.spec import Spec
from benchmarks.studies import verification
from support import frame, run


def requests(name):
    return [request for command in verification.COMMANDS[name] for request in read(command)]


@pytest.mark.parametrize(
    ("name", "tasks", "methods", "heavy", "share"),
    [
        ("functions", 12, 10, 40, 0.2),
        ("functions_tenth", 12, 10, 40, 0.1),
        ("noise_1", 5, 4, 40, 0.2),
        ("noise_5", 5, 4, 40, 0.2),
        ("live", 4, 10, 15, None),
    ],
)
def test_all_methods_spend_the_same_iterations_with_seeds_of_their_own(name, tasks, methods, heavy, share):
    made = requests(name)
    assert len({request.task["name"] for request in made}) == len(made) == tasks
    for request in made:
        parameters = request.task["parameters"]
        assert request.budget == {"iterations": heavy * parameters["heavy_iterations"]}
        assert share in (None, parameters["light_iterations"] / parameters["heavy_iterations"])
        assert request.seeds == tuple(range(1000, 1030))
        assert len(request.methods) == methods and verification.FIRST in request.methods
        assert request.cache == (name == "live")


def test_the_ladder_is_climbed_on_functions_and_tables_by_seeds_of_its_own():
    commands = verification.COMMANDS["ladder"]
    runs = Counter(word for words in commands for word in words if word.startswith("task="))
    tables = [f"task={task}" for task in verification.TABLES]
    assert runs == {verification.FUNCTIONS: 5, **dict.fromkeys(tables, len(STEPS))}
    for words in (commands[0], commands[-1]):
        made = read(words)
        for request in made:
            assert request.seeds == tuple(range(1000, 1030)) and len(request.methods) == 1
            assert request.budget == ({"heavy": 20} if request.source == "table" else {"iterations": 200})
        assert len(made) == (12 if words is commands[0] else 1)


@pytest.mark.parametrize(("name", "share"), [("noise_1", 0.01), ("noise_5", 0.05)])
def test_noise_is_a_share_of_the_range_of_heavy_values(name, share):
    for request in requests(name):
        objective = Spec(*(request.task[part] for part in ("name", "_target_", "parameters"))).build()
        space = objective.space
        corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * space.dim), axis=-1).reshape(-1, space.dim)
        points = [*corners, *qmc.Sobol(space.dim, seed=0).random(1024)]
        values = [objective.truth(space.from_unit(point)) for point in points]
        width = max(values) - objective.optimum
        assert objective.noise == pytest.approx(share * width, rel=0.15)  # the sample misses the ends


def test_what_is_kept_says_the_same_of_runs():
    noisy = frame(run("LHLH", [1.0, 0.5, 0.7, 0.4], seed=1000))
    noisy = noisy.assign(truth=[1.0, 0.5, 0.7, 0.45], **{"config.x": 0.3}, time=[0.00151, 0.0024, 0.0041, 0.0052])
    kept = verification.slim(noisy)
    assert "config.x" not in kept
    assert kept["truth"].isna().tolist() == [True, True, True, False] and kept["truth"].iloc[3] == 0.45
    assert kept["time"].tolist() == [0.002, 0.002, 0.004, 0.005]
    names = ["value", "regret", "heavy_equivalents"]
    pd.testing.assert_frame_equal(incumbents(kept)[names], incumbents(noisy)[names])
