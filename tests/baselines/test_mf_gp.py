"""BoTorch's multi-fidelity Gaussian process: proposals of the bare library, levels, spaces, failures."""

import logging
import math
import os
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest

from baselines.initial_design import initial_design
from baselines.mf_gp import N_CANDIDATES, MultiFidelityGP, encoded
from baselines.protocol import InitialDesign, Measurement, Problem, Trial
from btao import Categorical, Integer, Real, Space

WHY = "needs the extra 'botorch': pip install 'btao[botorch]'"
torch = pytest.importorskip("torch", reason=WHY)
pytest.importorskip("botorch", reason=WHY)

PLANE = Space({"x": Real(-2.0, 3.0), "y": Real(1e-3, 1.0, log=True)})
MIXED = Space(
    {
        "units": Integer(8, 512, log=True),
        "depth": Integer(-1, 3),
        "kind": Categorical(("relu", "tanh", "none")),
        "rate": Real(1e-4, 1.0, log=True),
    }
)
MINIMIZER = 0.37
SEED = 2**62 + 6


def plane(**changes):
    return Problem(PLANE, **{"heavy_iterations": 10, "light_iterations": 2, **changes})


def value(space, trial):
    """A bowl; its light values lie higher, and lowest a little further."""
    u = space.to_unit(trial.config)
    return float(np.sum((u - MINIMIZER - (0.0 if trial.heavy else 0.05)) ** 2)) + (0.0 if trial.heavy else 0.1)


def step(method, space=PLANE, answer=None):
    trial = method.ask()
    method.tell(trial, Measurement(value(space, trial)) if answer is None else answer(trial))
    return trial


def after_start(problem=None, seed=SEED, n_init=3, **parameters):
    """A method that was told its start, and the trials of it."""
    problem = problem or plane()
    method = MultiFidelityGP(problem, seed, n_init=n_init, **parameters)
    return method, [step(method, problem.space) for _ in range(3 * n_init)]


def bare(trials, values, light):
    """BoTorch's own choice and recommendation after trials in the plane, as its tutorials write them."""
    from botorch.acquisition import PosteriorMean
    from botorch.acquisition.cost_aware import InverseCostWeightedUtility
    from botorch.acquisition.fixed_feature import FixedFeatureAcquisitionFunction
    from botorch.acquisition.max_value_entropy_search import qMultiFidelityMaxValueEntropy
    from botorch.acquisition.utils import project_to_target_fidelity
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import AffineFidelityCostModel, SingleTaskMultiFidelityGP
    from botorch.optim import optimize_acqf, optimize_acqf_mixed
    from botorch.utils.sampling import draw_sobol_samples
    from gpytorch.mlls import ExactMarginalLogLikelihood

    word = np.random.SeedSequence([SEED, len(trials)]).generate_state(1, np.uint64)[0]
    bounds = torch.tensor([[0.0, 0.0, light], [1.0, 1.0, 1.0]], dtype=torch.double)
    rows = [[*PLANE.to_unit(trial.config), 1.0 if trial.heavy else light] for trial in trials]
    X, y = torch.tensor(rows, dtype=torch.double), -torch.tensor(values, dtype=torch.double).unsqueeze(-1)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(int(word))
        model = SingleTaskMultiFidelityGP(X, y, data_fidelities=[2])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        cost = AffineFidelityCostModel(fidelity_weights={2: 1 / light}, fixed_cost=0.0)
        acquisition = qMultiFidelityMaxValueEntropy(
            model,
            draw_sobol_samples(bounds[:, :2], n=N_CANDIDATES, q=1).squeeze(1),
            cost_aware_utility=InverseCostWeightedUtility(cost_model=cost),
            project=partial(project_to_target_fidelity, target_fidelities={2: 1.0}, d=3),
        )
        size = {"q": 1, "num_restarts": 5, "raw_samples": 128}
        chosen, _ = optimize_acqf_mixed(acquisition, bounds, fixed_features_list=[{2: light}, {2: 1.0}], **size)
        recommendation, _ = optimize_acqf(
            FixedFeatureAcquisitionFunction(PosteriorMean(model), d=3, columns=[2], values=[1.0]), bounds[:, :2], **size
        )
    return chosen[0].numpy(), recommendation[0].numpy()


def test_the_start_is_a_sobol_sequence_whose_first_half_is_run_heavily():
    _, trials = after_start(n_init=4)
    assert [trial.heavy for trial in trials] == [False] * 8 + [True] * 4
    assert [trial.budget for trial in trials] == [2] * 8 + [10] * 4
    assert [trial.config for trial in trials[8:]] == [trial.config for trial in trials[:4]]
    eighths = sorted((PLANE.to_unit(trial.config) * 8).astype(int).tolist() for trial in trials[:8])
    assert [first for first, _ in eighths] == sorted(second for _, second in eighths) == list(range(8))
    default = MultiFidelityGP(plane(), SEED)
    assert [step(default).heavy for _ in range(12)] == [False] * 8 + [True] * 4


def misleading(trial):
    """Light values that say little about the heavy ones."""
    u = PLANE.to_unit(trial.config)
    if trial.heavy:
        return float(np.sum((u - MINIMIZER) ** 2))
    return float(np.sum((u - 0.8) ** 2)) + 0.3 * math.sin(9 * u[0])


def test_trials_are_those_of_the_bare_library_and_the_last_heavy_one_is_its_recommendation():
    problems = [plane(heavy_iterations=6, light_iterations=5, n_heavy=n_heavy) for n_heavy in (None, 5)]
    endless, ending = (MultiFidelityGP(problem, SEED, n_init=4) for problem in problems)
    trials = []
    while len(trials) < 15:
        trials.append(step(endless, answer=lambda trial: Measurement(misleading(trial))))
        last = step(ending, answer=lambda trial: Measurement(misleading(trial)))
        if len(trials) > 13:
            choice, recommendation = bare(trials[:-1], [misleading(trial) for trial in trials[:-1]], light=5 / 6)
            np.testing.assert_allclose(PLANE.to_unit(trials[-1].config), choice[:2], atol=1e-4)
            assert trials[-1].heavy == (choice[2] == 1.0)
    assert [trial.heavy for trial in trials[12:]] == [False, False, True]
    assert last.heavy
    np.testing.assert_allclose(PLANE.to_unit(last.config), recommendation, atol=2e-3)
    assert np.abs(choice[:2] - recommendation).max() > 0.02


@pytest.mark.parametrize(("most", "levels"), [(1, [False, True, False]), (2, [False, False, True])])
def test_light_trials_in_a_row_are_limited_and_a_recommendation_follows(most, levels):
    # A light trial costs next to nothing.
    method, trials = after_start(plane(heavy_iterations=100_000, light_iterations=1), light_per_heavy_max=most)
    for heavy in levels:
        trials.append(step(method))
        assert trials[-1].heavy == heavy
        if heavy:
            _, recommendation = bare(trials[:-1], [value(PLANE, trial) for trial in trials[:-1]], light=1e-5)
            np.testing.assert_allclose(PLANE.to_unit(trials[-1].config), recommendation, atol=2e-3)


def test_a_recommendation_that_was_run_heavily_is_not_run_again():
    """Of a slope the model recommends the same corner again and again."""

    def slope(trial):
        return Measurement(float(np.sum(PLANE.to_unit(trial.config))))

    problem = plane(heavy_iterations=100_000, light_iterations=1)
    method = MultiFidelityGP(problem, SEED - 1, n_init=3, light_per_heavy_max=1)
    trials = [step(method, answer=slope) for _ in range(13)]
    first, second = (trial for trial in trials[9:] if trial.heavy)
    assert first.config == {"x": -2.0, "y": 1e-3}
    assert second.config != first.config


def test_the_search_sees_the_features_of_the_space():
    """Whatever point of a bin the search tries, the model sees its configuration as it was trained on it."""
    from botorch.acquisition import AcquisitionFunction

    class Seen(AcquisitionFunction):
        def forward(self, X):
            return X

    U = np.random.default_rng(0).random((40, MIXED.dim))
    U[:, :2] = MIXED.snap(U)[:, :2]  # integers are searched at the centers, or rounded to them afterwards
    U[0], U[1] = MIXED.snap(np.zeros((1, 4))), MIXED.snap(np.ones((1, 4)))
    rows = torch.from_numpy(np.column_stack([U, np.full(40, 0.2)]))
    seen = encoded(Seen(model=torch.nn.Identity()), MIXED)(rows.unsqueeze(1)).squeeze(1).numpy()
    np.testing.assert_array_equal(seen, np.column_stack([MIXED.features(U), np.full(40, 0.2)]))


@pytest.mark.parametrize(
    "space", [MIXED, Space({"n": Integer(1, 2**40), "b": Integer(0, 1)})], ids=["mixed", "integers only"]
)
def test_configurations_of_discrete_parameters_are_valid_and_improve(space):
    method, trials = after_start(Problem(space, 10, 2), n_init=5, light_per_heavy_max=1)
    trials += [step(method, space) for _ in range(2)]
    for trial in trials[15:]:
        assert repr(space.validate(trial.config)) == repr(trial.config)
    best = min(value(space, trial) for trial in trials[:15] if trial.heavy)
    assert min(value(space, trial) for trial in trials[15:] if trial.heavy) < best


def test_a_failure_counts_as_the_worst_value_however_it_is_reported():
    def run(failure, n):
        method = MultiFidelityGP(plane(), SEED, n_init=3)
        return [
            step(method, answer=lambda trial: failure if trial.number in (1, 7) else Measurement(value(PLANE, trial)))
            for _ in range(n)
        ]

    trials = run(Measurement(math.nan), 10)
    worst = max(value(PLANE, trial) for trial in trials if trial.number not in (1, 7))
    for failure in (Measurement(-1e9, "killed"), Measurement(worst)):
        assert run(failure, 10) == trials


def test_failures_only_are_followed_by_new_configurations_at_both_levels():
    method = MultiFidelityGP(plane(), SEED, n_init=2, light_per_heavy_max=2)
    trials = [step(method, answer=lambda trial: Measurement(math.nan)) for _ in range(12)]
    assert [trial.heavy for trial in trials[6:]] == [False, False, True] * 2
    assert len({repr(trial.config) for trial in trials}) == 10


def test_trials_that_are_pending_are_taken_into_account():
    method, _ = after_start()
    first, second = method.ask(), method.ask()
    distance = np.abs(PLANE.to_unit(first.config) - PLANE.to_unit(second.config)).max()
    assert distance > 0.01 or first.heavy != second.heavy
    for trial in (second, first):
        method.tell(trial, Measurement(value(PLANE, trial)))


def test_a_shared_start_is_taken_as_it_is():
    start = initial_design(MIXED, seed=0)
    method = MultiFidelityGP(Problem(MIXED, 9, 3, initial=start), seed=1)
    trials = [step(method, MIXED) for _ in range(len(start.light) + len(start.heavy))]
    assert repr([trial.config for trial in trials if not trial.heavy]) == repr(list(start.light))
    assert repr([trial.config for trial in trials if trial.heavy]) == repr(list(start.heavy))


def test_large_seeds_do_not_repeat_the_trials_of_small_ones():
    seeds = (0, 1, 2**32, 2**62 + 1, 2**63 - 1)
    assert len({MultiFidelityGP(plane(), seed).ask().config["x"] for seed in seeds}) == len(seeds)


def test_trials_do_not_depend_on_the_hash_seed():
    program = """
from baselines.mf_gp import MultiFidelityGP
from baselines.protocol import Measurement, Problem
from btao import Categorical, Integer, Real, Space
space = Space({"b": Real(0.0, 1.0), "a": Categorical(("u", "v")), "c": Integer(1, 9, log=True)})
method = MultiFidelityGP(Problem(space, 9, 3), seed=7, n_init=2)
for _ in range(7):
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
    assert printed.count("Trial(") == 7
    assert complaints == ""


def test_nothing_outside_is_changed(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(3)

    def outside():
        root, ours = logging.getLogger(), logging.getLogger("botorch")
        return (
            dict(os.environ),
            os.getcwd(),
            np.geterr(),
            warnings.filters[:],
            [(x.level, x.handlers[:], x.propagate) for x in (root, ours)],
            np.random.get_state()[1].tolist(),  # noqa: NPY002
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.get_default_device(),
            torch.is_grad_enabled(),
            torch.get_rng_state().tolist(),
        )

    before = outside()
    method, _ = after_start(n_init=2)
    trial = step(method)
    assert outside() == before
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    torch.manual_seed(4)
    assert step(after_start(n_init=2)[0]) == trial


def test_the_library_is_imported_only_when_it_is_used():
    program = "import sys, baselines.mf_gp; assert not {'botorch', 'gpytorch', 'torch'} & set(sys.modules)"
    subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=True
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_init": 0}, r"n_init must be an integer of at least 1, got 0"),
        ({"light_per_heavy_max": 0}, r"light_per_heavy_max must be an integer of at least 1, got 0"),
        ({"light_per_heavy_max": None}, r"light_per_heavy_max must be an integer of at least 1, got None"),
        ({"num_restarts": True}, r"num_restarts must be an integer of at least 1, got True"),
        ({"raw_samples": 4}, r"raw_samples must be an integer of at least 5, got 4"),
        ({"seed": -1}, r"seed must be an integer of at least 0, got -1"),
        ({"problem": plane(light_iterations=None)}, r"light_iterations"),
        ({"problem": plane(initial=InitialDesign((), ())), "n_init": 3}, r"n_init=3 .*shared_init"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiFidelityGP(**{"problem": plane(), "seed": 0, **parameters})


def test_tell_takes_each_asked_trial_once():
    method = MultiFidelityGP(plane(), seed=0)
    trial = step(method)
    with pytest.raises(ValueError, match="trial 0 is not pending"):
        method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="trial 7 is not pending"):
        method.tell(Trial(7, trial.config, True, 10), Measurement(0.0))
