"""What every method of the suite must do. A new conf/method/<name>.yaml is tested unasked."""

import contextlib
import dataclasses
import functools
import importlib
import json
import math
import os
import pkgutil
import random
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import yaml

from baselines.initial_design import initial_design
from baselines.protocol import (
    IncompatibleMethod,
    Measurement,
    MissingLibrary,
    Problem,
    SearchExhausted,
    Trial,
    check_compatible,
)
from benchmarks.analysis.incumbents import incumbents
from benchmarks.config.spec import Spec
from benchmarks.objectives.currin import Currin
from benchmarks.objectives.protocol import Evaluation
from benchmarks.records.frames import load
from benchmarks.records.trials import Row, TrialLog
from benchmarks.running.budget import Budget, BudgetedMethod, BudgetSpent
from benchmarks.running.experiment import Experiment, run_experiment
from btao import Categorical, Constant, Integer, Ordinal, Real, Space, When
from support import reserve_less_for_trees, search_less

METHODS = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted((Path(__file__).parents[2] / "conf" / "method").glob("*.yaml"))
}

MIXED = Space(
    {
        "rate": Real(1e-4, 1.0, log=True),
        "units": Integer(8, 512, log=True),
        "depth": Integer(1, 3),
        "momentum": Ordinal((0.0, 0.5, 0.9, 0.99)),
        "kind": Categorical(("relu", "tanh", "none")),
    }
)
CONDITIONAL = Space(
    {
        "momentum": Real(0.0, 0.99),
        "optimizer": Categorical(("adam", "sgd", "none")),
        "nesterov": Categorical((False, True)),
        "layers": Integer(1, 3),
        "damping": Ordinal((0.0, 0.1, 0.5)),
    },
    conditions={
        "momentum": When("optimizer", "adam", "sgd"),
        "nesterov": When("optimizer", "sgd"),
        "damping": [When("layers", 2, 3), When("nesterov", True)],
    },
)
CONSTRAINED = Space(
    {
        "x": Real(0.0, 1.0),
        "share": Real(0.1, 0.9, step=0.2),
        "n": Integer(2, 10, step=4),
        "layers": Categorical(((64,), (64, 32), (128,))),
        "optimizer": Constant("adam"),
    },
    constraint=lambda config: config["x"] + config["share"] <= 1.2,
)
PLANE = Space({"x": Real(-2.0, 3.0), "y": Real(0.0, 1.0)})
# As of a table that is recorded on a grid.
GRID = Space(
    {"units": Ordinal((4, 8, 16, 32, 64, 128, 256, 512)), "rate": Ordinal(tuple(10.0**k for k in range(-8, 1)))}
)
PROBLEMS = {
    "real": Problem(PLANE, heavy_iterations=9, light_iterations=3, n_heavy=20),
    "mixed": Problem(MIXED, heavy_iterations=9, light_iterations=3, n_heavy=20),
    "conditional": Problem(CONDITIONAL, heavy_iterations=9, light_iterations=3, n_heavy=20),
    "constrained": Problem(CONSTRAINED, heavy_iterations=9, light_iterations=3, n_heavy=20),
    "grid": Problem(GRID, heavy_iterations=9, light_iterations=3, n_heavy=20),
    "two levels": Problem(PLANE, heavy_iterations=5, light_iterations=1, levels="two"),
    "bounded": Problem(PLANE, heavy_iterations=27, light_iterations=1, delta_bounds=(-1.0, 0.5), rho_bounds=(0.0, 2.0)),
    "one level": Problem(PLANE, heavy_iterations=9),
    "finite": Problem(Space({"kind": Categorical(("a", "b", "c"))}), heavy_iterations=9, light_iterations=3),
}


def resolve(name):
    """The class of a method and its parameters."""
    parameters = {key: value for key, value in METHODS[name].items() if key not in ("_target_", "description")}
    return pkgutil.resolve_name(METHODS[name]["_target_"]), parameters


# A short start, so that the runs here reach the models, and so do the first halves of those that are cut.
EARLY = {
    "tpe": {"n_startup_jobs": 5},
    "gp_bo": {"n_init": 3},
    "gp_ei": {"n_init": 3},
    "smac": {"n_init": 2},
    "smac_gp": {"n_init": 2, "retrain_after": 4},
    "btao": {"n_init": 3},
    "btao_joint": {"n_init": 2},
    "btao_paper": {"n_init": 2},
    "optuna_tpe": {"n_startup_trials": 5},
    "optuna_gp": {"n_startup_trials": 5},
    "mf_gp": {"n_init": 1, "light_per_heavy_max": 2, "num_restarts": 1, "raw_samples": 8},
    "bohb": {"random_fraction": 0.0, "num_samples": 8},
}

# Methods that are slow at proposing go on for a few trials beyond their start, and no more.
SHORT = {"smac": 6, "smac_gp": 6, "mf_gp": 8}
# Those whose model waits for many results of one budget go on for longer, by this factor.
LONG = {"bohb": 3}


def length(name, n):
    """The number of trials to make where any method can make `n`."""
    return min(n * LONG.get(name, 1), SHORT.get(name, math.inf))


# A proposal of these takes seconds, and each has a heavy level only: fewer kinds of tasks do.
SLOW, ENOUGH = ("smac", "smac_gp"), ("real", "mixed", "conditional", "constrained", "two levels")
CASES = [
    (name, problem)
    for name in METHODS
    for problem in PROBLEMS
    if problem != "finite" and (name not in SLOW or problem in ENOUGH)
]
every_method = pytest.mark.parametrize(("name", "problem"), CASES, ids=[f"{m}-{p}" for m, p in CASES])
each_method = pytest.mark.parametrize("name", METHODS)


CONFIG = yaml.safe_load((Path(__file__).parents[2] / "conf" / "config.yaml").read_text())
DEFAULT = next(entry["method"] for entry in CONFIG["defaults"] if "method" in entry)


@pytest.fixture(autouse=True, scope="module")
def lighter_smac():
    """What is tested here holds for any proposals; test_nothing_outside_is_changed has those of SMAC as it is."""
    with pytest.MonkeyPatch.context() as patch:
        reserve_less_for_trees(patch)
        search_less(patch)
        yield


@pytest.fixture(autouse=True)
def leave_out_what_does_not_fit(request):
    """Skip, with the reason, a method that cannot do a problem, or an optional one whose library is not installed."""
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if "name" not in parameters:
        return
    try:
        capabilities = resolve(parameters["name"])[0].capabilities
        check_compatible(parameters["name"], capabilities, PROBLEMS[parameters.get("problem", "real")])
    except IncompatibleMethod as reason:
        if isinstance(reason, MissingLibrary) and parameters["name"] in DEFAULT:
            pytest.fail(f"a method that runs by default: {reason}", pytrace=False)
        pytest.skip(str(reason))


def early(name):
    """The parameters of a method, with a short start."""
    return resolve(name)[1] | EARLY.get(name, {})


def make(name, problem, seed=0, **changes):
    # A shared start leaves no room for a start of the method's own.
    parameters = resolve(name)[1] if "initial" in changes else early(name)
    return resolve(name)[0](problem=dataclasses.replace(PROBLEMS[problem], **changes), seed=seed, **parameters)


def measure(problem, trial):
    """A bowl in the unit cube that depends on the level a little."""
    u = PROBLEMS[problem].space.to_unit(trial.config)
    return Measurement(float(np.sum((u - 0.4) ** 2)) + 0.1 / trial.budget)


def step(method, answer):
    trial = method.ask()
    method.tell(trial, answer(trial))
    return trial


@functools.cache
def begun(name, problem):
    """An undisturbed run: its method and its trials so far."""
    return make(name, problem), []


def run(name, problem, n=16):
    """The trials of an undisturbed run, which goes on where it was left as more of them are asked for."""
    method, trials = begun(name, problem)
    while len(trials) < length(name, n):
        trials.append(step(method, functools.partial(measure, problem)))
    return tuple(trials[: length(name, n)])


def test_methods_are_found():
    assert "random_search" in METHODS
    assert "random_search" in DEFAULT
    assert {*DEFAULT} <= {*METHODS}


def test_the_methods_with_a_model_are_known():
    with_model = {name for name in METHODS if resolve(name)[0].capabilities.model_based}
    assert {"btao", "btao_paper", "gp_bo", "tpe", "smac", "smac_gp", "bohb"} <= with_model
    assert not {"random_search", "hyperband", "dehb"} & with_model


@every_method
def test_either_half_of_a_run_with_failures_reaches_the_model(name, problem):
    """Other measurements, other new configurations: else the tests here would see the start alone.

    Of the methods whose capabilities say `model_based=True`.
    """
    if not resolve(name)[0].capabilities.model_based:
        pytest.skip(f"{name} has no model")

    def opposite(trial):
        measurement = fail_at_times(problem, trial)
        return dataclasses.replace(measurement, value=-measurement.value) if is_success(trial) else measurement

    expected = [trial.config for trial in run_with_failures(name, problem)]
    method, half = make(name, problem), len(expected) // 2
    other = [step(method, opposite).config for _ in range(half)]
    assert distinct(other) != distinct(expected[:half]), (
        f"{name} asks for the same {half} configurations whatever it is told: set model_based=False in its "
        "capabilities if it has no model, or give it a shorter start in EARLY of this file"
    )
    # The first that differs is enough.
    assert any(step(method, opposite).config != config for config in expected[half:])


def distinct(configs):
    """Configurations by their first appearance: which of them are promoted does not show."""
    return list({json.dumps(config, sort_keys=True): config for config in configs}.values())


@every_method
def test_trials_are_of_the_problem(name, problem):
    space = PROBLEMS[problem].space
    for number, trial in enumerate(run(name, problem)):
        assert trial.number == number
        assert list(trial.config) == [name for name in space.names if name in trial.config]
        valid = space.validate(trial.config)
        assert [(type(value), value) for value in trial.config.values()] == [
            (type(value), value) for value in valid.values()
        ]
        assert (type(trial.number), type(trial.heavy), type(trial.budget)) == (int, bool, int)


@every_method
def test_budgets_are_those_that_the_method_declares(name, problem):
    levels = make(name, problem).capabilities.levels
    assert levels in ("heavy", "two", "several", "any")
    heavy, light = PROBLEMS[problem].heavy_iterations, PROBLEMS[problem].light_iterations
    # The first bracket of successive halving over 1, 3, 9 and 27 iterations ends with its 40th trial.
    trials = run(name, problem, n=16 if levels in ("heavy", "two") else 40)
    assert any(trial.heavy for trial in trials)
    for trial in trials:
        assert trial.heavy == (trial.budget == heavy)
        if not trial.heavy:
            assert levels != "heavy"
            two = levels == "two" or PROBLEMS[problem].levels == "two"
            assert trial.budget == light if two else 1 <= trial.budget < heavy


@every_method
def test_the_seed_decides(name, problem):
    again, _ = run_again(name, problem)
    assert again == run(name, problem)[: len(again)]
    other, n = make(name, problem, seed=1), 4  # no more are needed to differ
    assert tuple(step(other, functools.partial(measure, problem)) for _ in range(n)) != run(name, problem)[:n]


@every_method
def test_a_run_split_by_replay_is_the_same_run(name, problem):
    """Two halves are the whole, failures among them."""
    half, answer = length(name, 16) // 2, functools.partial(fail_at_times, problem)
    expected = run_with_failures(name, problem)
    second = make(name, problem)
    for trial in expected[:half]:
        assert second.ask() == trial
        second.tell(trial, answer(trial))
    assert [step(second, answer) for _ in range(half)] == expected[half : 2 * half]


# First those whose values a method must not believe: the shortest runs have two failures.
FAILURES = [
    Measurement(1e101),
    Measurement(0.25, "killed after the measurement"),
    Measurement(math.nan),
    Measurement(math.inf),
    Measurement(-math.inf),
    Measurement(math.nan, "RuntimeError: out of memory"),
]
# One of each within 16 trials; two results before the first of them, for models that need as many.
FAILED = dict(zip((2, 4, 7, 9, 12, 14), FAILURES, strict=True))


def is_success(trial):
    return trial.number % 16 not in FAILED


def fail_at_times(problem, trial):
    return measure(problem, trial) if is_success(trial) else FAILED[trial.number % 16]


@functools.cache
def run_with_failures(name, problem):
    """The trials of a run some of whose trials fail, in several ways."""
    method = make(name, problem)
    return [step(method, functools.partial(fail_at_times, problem)) for _ in range(length(name, 16))]


@every_method
def test_failed_trials_are_survived(name, problem):
    for trial in run_with_failures(name, problem):
        PROBLEMS[problem].space.validate(trial.config)


@each_method
def test_the_value_of_a_failed_trial_counts_for_nothing(name):
    """Were it the best of all, the method would go where it came from."""

    def trials(value):
        method = make(name, "real")

        def answer(trial):
            return Measurement(value, "killed") if trial.number % 3 == 1 else measure("real", trial)

        return [step(method, answer) for _ in range(length(name, 16))]

    assert trials(-1e6) == trials(math.nan)


@every_method
def test_a_start_of_failures_only_is_survived(name, problem):
    method = make(name, problem)
    for _ in range(length(name, 12)):
        PROBLEMS[problem].space.validate(step(method, lambda trial: FAILURES[trial.number % len(FAILURES)]).config)
    for _ in range(length(name, 4) // 2):
        PROBLEMS[problem].space.validate(step(method, functools.partial(measure, problem)).config)


@every_method
def test_equal_values_everywhere_are_survived(name, problem):
    method = make(name, problem)
    for _ in range(length(name, 12)):
        PROBLEMS[problem].space.validate(step(method, lambda trial: Measurement(1.0)).config)


@every_method
def test_trials_may_be_told_in_any_order(name, problem):
    method = make(name, problem)
    pending = [method.ask(), method.ask()]
    for _ in range(length(name, 8)):
        trial = pending.pop()
        method.tell(trial, measure(problem, trial))
        pending.insert(0, method.ask())
    assert len({trial.number for trial in pending}) == 2
    for trial in pending:
        method.tell(trial, measure(problem, trial))


@every_method
def test_a_trial_is_told_once_and_only_if_it_was_asked(name, problem):
    method = make(name, problem)
    trial = step(method, functools.partial(measure, problem))
    with pytest.raises(ValueError, match=r"\b0\b"):
        method.tell(trial, Measurement(0.0))
    with pytest.raises(ValueError, match="999"):
        method.tell(Trial(999, trial.config, trial.heavy, trial.budget), Measurement(0.0))
    pending = method.ask()
    method.tell(pending, measure(problem, pending))


@every_method
def test_global_randomness_is_neither_used_nor_changed(name, problem):
    """Same trials, whatever the global generators hold, and the same state of these afterwards."""
    trials, (before, after) = run_again(name, problem)
    assert after == before
    assert trials == run(name, problem)[: len(trials)]


@functools.cache
def run_again(name, problem):
    """The first trials of the same run, made once more; the states of global generators before and after it."""
    if "torch" in resolve(name)[0].capabilities.requires:
        importlib.import_module("torch").manual_seed(99)
    random.seed(99)
    np.random.seed(99)  # noqa: NPY002
    before = global_states()
    method = make(name, problem)
    trials = tuple(step(method, functools.partial(measure, problem)) for _ in range(length(name, 12)))
    return trials, (before, global_states())


def global_states():
    return random.getstate(), np.random.get_state()[1].tolist(), torch_state()  # noqa: NPY002


def torch_state():
    """What a method could change of torch for the others; None where it is not loaded."""
    if (torch := sys.modules.get("torch")) is None:
        return None
    return torch.get_rng_state().tolist(), str(torch.get_default_dtype()), torch.get_num_threads()


@each_method
def test_a_finite_space_is_searched_without_an_error(name):
    """Three configurations: a method repeats them, or says that it is exhausted."""
    method = make(name, "finite")
    seen = set()
    try:
        for _ in range(16):
            trial = step(method, lambda trial: Measurement(float("abc".index(trial.config["kind"]))))
            if trial.heavy:
                seen.add(trial.config["kind"])
    except SearchExhausted:
        assert seen == {"a", "b", "c"}
    assert "a" in seen


@every_method
def test_budgets_are_kept_to_the_trial_and_nothing_is_asked_after(name, problem):
    iterations = 60
    method = BudgetedMethod(make(name, problem), Budget(heavy=5, iterations=iterations))
    trials = []
    with pytest.raises(BudgetSpent):
        while True:
            trial = method.ask()
            trials.append(trial)
            row = _row(trial, measure(problem, trial).value)
            method.tell(trial, row)
            method.spent.add(row)
    heavy, consumed = sum(trial.heavy for trial in trials), sum(trial.budget for trial in trials)
    assert heavy == 5 or iterations - consumed < PROBLEMS[problem].heavy_iterations
    assert heavy <= 5
    assert consumed <= iterations
    with pytest.raises(BudgetSpent):
        method.ask()


def _row(trial, value):
    return Row(trial.number, trial.heavy, trial.budget, trial.config, value, "ok", None, trial.budget, 0, 0, 0, None)


@each_method
def test_a_run_that_was_cut_off_ends_with_the_same_table_and_its_best_is_heavy_and_no_failure(
    name, tmp_path, monkeypatch
):
    """The method on Currin, whose light values are below many heavy ones; the cut is where the model is used.

    A part of the space fails, with values that would be the best ones.
    """
    evaluate = Currin.evaluate

    def fail_at_times(self, config, level, seed):
        if zlib.crc32(repr(config).encode()) % 3 == 0:
            return Evaluation(-1e6, level.iterations, "killed after the measurement")
        return evaluate(self, config, level, seed)

    monkeypatch.setattr(Currin, "evaluate", fail_at_times)
    n_heavy = 12
    task = Spec("currin", "benchmarks.objectives.currin.Currin")
    method = Spec(name, METHODS[name]["_target_"], early(name))
    experiment = Experiment(task, method, seed=0, budget=Budget(heavy=n_heavy))
    run_experiment(experiment, tmp_path / "whole")
    with TrialLog(experiment.folder(tmp_path / "whole")) as log:
        rows = log.rows
    with TrialLog(experiment.folder(tmp_path / "cut")) as log:
        for row in rows[: len(rows) // 2]:
            log.append(row)
    run_experiment(experiment, tmp_path / "cut")
    seconds = ["train_seconds", "method_seconds", "time"]
    frame = load(tmp_path / "whole")
    assert load(tmp_path / "cut").drop(columns=seconds).equals(frame.drop(columns=seconds))
    assert frame["heavy"].sum() == n_heavy
    assert (frame["status"] == "failed").any()
    best = min(row.value for row in rows if row.heavy and row.status == "ok")
    assert best > -1e6
    assert incumbents(frame)["value"].iloc[-1] == best
    succeeded = set()
    for row in rows:
        succeeded |= {row.trial} if row.heavy and row.status == "ok" else set()
        assert row.recommended is None or row.recommended in succeeded


@each_method
def test_a_shared_start_is_what_a_model_based_method_starts_from(name):
    start = initial_design(PLANE, seed=3)
    cls, _ = resolve(name)
    method = make(name, "bounded", seed=3, initial=start)
    heavy_only = cls.capabilities.model_based and cls.capabilities.levels == "heavy"
    n = len(start.heavy) if heavy_only else len(start.light)
    trials = [step(method, functools.partial(measure, "bounded")) for _ in range(n)]
    if cls.capabilities.model_based:
        assert trials[0].config == start.light[0] or trials[0].config in start.heavy, (
            f"{name} does not start from problem.initial (see baselines.initial_design.check_start): do so, or set "
            "model_based=False in its capabilities if it has no model"
        )
    if not cls.capabilities.model_based:
        own = make(name, "bounded", seed=3)
        assert trials == [step(own, functools.partial(measure, "bounded")) for _ in range(len(start.light))]
    elif all(trial.heavy for trial in trials):
        assert [trial.config for trial in trials[: len(start.heavy)]] == list(start.heavy)
    elif cls.capabilities.levels == "two":
        trials += [step(method, functools.partial(measure, "bounded")) for _ in start.heavy]
        assert [trial.config for trial in trials if not trial.heavy] == list(start.light)
        heavy = [trial.config for trial in trials if trial.heavy]
        assert len(heavy) == len(start.heavy)
        assert all(config in heavy for config in start.heavy)
    else:
        light = [trial.config for trial in trials if not trial.heavy]
        assert light[: len(start.heavy)] == list(start.heavy)
        assert light == list(start.light)[: len(light)]


@pytest.fixture(scope="module")
def fresh():
    """A function that runs a method in a process that has not seen its library, with a salt of hashes."""
    folders = [str(Path(__file__).parents[level]) for level in (2, 1, 0)]
    paths = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])  # where a plugin may be
    command = [sys.executable, str(Path(__file__).with_name("one_method.py"))]

    @functools.cache
    def forking(salt):
        environment = os.environ | {"PYTHONHASHSEED": salt, "PYTHONPATH": paths}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return stack.enter_context(subprocess.Popen(command, env=environment, text=True, **pipes))

    def run(salt, name, folder, *modules):
        (folder / "empty").mkdir(parents=True)
        server = forking(salt)
        with contextlib.suppress(BrokenPipeError):
            server.stdin.write(json.dumps([name, str(folder / "empty"), *modules]) + "\n")
            server.stdin.flush()
        status = server.stdout.readline()
        if not status:
            forking.cache_clear()  # the next test starts another one
            pytest.fail(f"the process that forks is gone, with exit status {server.wait()}", pytrace=False)
        errors = (folder / "err.txt").read_text()
        assert (status, errors) == ("0\n", ""), errors
        return json.loads((folder / "out.json").read_text())

    with contextlib.ExitStack() as stack:
        yield run


@each_method
def test_nothing_outside_is_changed_and_the_salt_of_hashes_changes_nothing(name, fresh, tmp_path):
    """In fresh processes, as an import shows its effects once only; torch's state shows where it is loaded before."""
    torch = ["torch"] if "torch" in resolve(name)[0].capabilities.requires else []
    one, other = fresh("1", name, tmp_path / "1"), fresh("2", name, tmp_path / "2", *torch)
    assert one["changed"] == []
    assert one == other
