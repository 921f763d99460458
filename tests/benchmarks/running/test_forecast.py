"""What a first heavy run takes, and budgets that do not last for it: refused, or cautioned about."""

import dataclasses
import math
from types import SimpleNamespace

import pytest
from scripted_runs import Script, Square
from small_grid import curve, save_grid

from baselines.btao import BTAOMethod
from baselines.gp_bo import GPBO
from baselines.hyperband import Hyperband
from baselines.protocol import InitialDesign, Problem, Trial
from baselines.random_search import RandomSearch
from baselines.tpe import TPE
from benchmarks.common.errors import UsageError
from benchmarks.config.request import read
from benchmarks.running.budget import Budget
from benchmarks.running.forecast import Forecast, check_budget, forecast
from benchmarks.running.plan import plan
from benchmarks.tables.replay import Replay
from btao import Real, Space
from btao.training import Level

PROBLEM = Problem(Square.space, heavy_iterations=50, light_iterations=10)


def task(patience=None, resumes=False, trains=True):
    return SimpleNamespace(
        space=Square.space,
        light=Level(10, patience),
        heavy=Level(50, patience),
        resume_training=resumes,
        trains=trains,
        data=None,
    )


@pytest.mark.parametrize(
    ("patience", "resumes", "least", "most"),
    [
        (None, False, 110, 110),  # six light runs of a start, then a heavy one
        (None, True, 100, 100),  # which goes on from its light one
        (3, False, 74, 110),  # after four iterations a light run may have brought nothing for three
        (3, True, 70, 100),
        (30, True, 100, 100),
    ],
)
def test_btao_needs_the_light_runs_of_its_start_too(patience, resumes, least, most):
    assert forecast("btao", BTAOMethod(PROBLEM, 0), task(patience, resumes)) == Forecast(least, most)


def test_a_method_of_heavy_runs_needs_one():
    assert forecast("random_search", RandomSearch(PROBLEM, 0), task(patience=3)) == Forecast(50, 50)


def test_brackets_need_their_lower_rungs():
    # Nine runs of 5 iterations and three of 17, of which one is promoted.
    problem = Problem(Square.space, heavy_iterations=50, light_iterations=5)
    assert forecast("hyperband", Hyperband(problem, 0), task(resumes=True)) == Forecast(
        9 * 5 + 3 * 12 + 33, 9 * 5 + 3 * 12 + 33
    )
    assert forecast("hyperband", Hyperband(problem, 0), task()) == Forecast(9 * 5 + 3 * 17 + 50, 9 * 5 + 3 * 17 + 50)


@pytest.mark.parametrize(("plan", "length"), [([10], 10_000), ([10, 50], 1)])
def test_a_method_that_asks_for_no_heavy_run_has_no_forecast(plan, length):
    assert forecast("script", Script(PROBLEM, 0, plan, length), task()) is None


def test_a_budget_that_covers_no_heavy_run_is_refused_with_the_least_that_each_method_needs():
    def check(iterations):
        methods = {"a": RandomSearch(PROBLEM, 0), "b": RandomSearch(PROBLEM, 1), "btao": BTAOMethod(PROBLEM, 0)}
        return check_budget(Budget(iterations=iterations), task(patience=3, resumes=True), methods)

    with pytest.raises(
        UsageError,
        match=r"^budget.iterations=49 covers no heavy run: give at least 50 for a, b; at least 70 for btao$",
    ):
        check(49)
    with pytest.raises(UsageError, match=r"^budget.iterations=69 covers no heavy run: give at least 70 for btao$"):
        check(69)
    assert (
        check(70)
        == check(99)
        == ["btao may end before its first heavy run: that is sure with budget.iterations=100 or more only"]
    )
    assert check(100) == []


class Faulty(Script):
    """A script whose trial is another each time."""

    answer = None

    def ask(self):
        if isinstance(self.answer, type):
            raise self.answer("rate")
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (KeyError, r"^method faulty: KeyError: 'rate'$"),
        (SystemExit, r"^method faulty: SystemExit: rate$"),
        (None, r"^method faulty: TypeError: ask of Faulty must return a Trial, got None$"),
        (Trial(0, {"x": 7.0}, False, 10), r"^method faulty: ValueError: ask of Faulty: parameter 'x': must lie in"),
    ],
)
def test_a_method_that_fails_when_it_is_asked_beforehand_is_named_in_a_line(answer, message):
    method = Faulty(PROBLEM, 0)
    method.answer = answer
    with pytest.raises(UsageError, match=message):
        check_budget(Budget(iterations=60), task(), {"faulty": method})


@pytest.mark.parametrize("size", [None, ("many", 1), (1,), (-1, 2), (1.0, 2)])
def test_a_size_of_a_start_that_is_none_is_refused(size):
    method = Script(PROBLEM, 0)
    method.start_size = size
    with pytest.raises(UsageError, match="method mine: start_size must be two integers, of light and heavy runs, got"):
        check_budget(Budget(heavy=1), task(), {"mine": method})


def test_what_a_method_cautions_of_is_said_with_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(RandomSearch, "cautions", ["draws x at random"], raising=False)
    (request,) = read(["task=currin", "method=[random_search,gp_bo]", f"out={tmp_path}"])
    assert plan(request).cautions == ["random_search: draws x at random"]
    for wrong in ("a text", None, [1]):
        monkeypatch.setattr(RandomSearch, "cautions", wrong, raising=False)
        with pytest.raises(UsageError, match="method random_search: cautions must be a list of texts, got "):
            plan(request)


def test_a_budget_without_iterations_asks_nothing():
    method = Script(PROBLEM, 0)
    assert check_budget(Budget(heavy=1), task(), {"script": method}) == []
    assert method.asked == 0


def test_seconds_in_which_no_recorded_heavy_run_ends_are_refused(tmp_path):
    """The first configuration diverges, so the second is the quickest: six epochs of two seconds."""
    replay = Replay(save_grid(tmp_path, errors=lambda number: [math.nan] if number == 0 else curve(number)))
    assert replay.quickest == 12.0
    assert check_budget(Budget(train_seconds=12.0), replay, {}) == []
    with pytest.raises(UsageError, match=r"budget\.train_seconds=11\.9 covers no heavy run: .* takes 12 seconds; give"):
        check_budget(Budget(train_seconds=11.9), replay, {})
    assert check_budget(Budget(seconds=0.1), replay, {}) == []  # the trial that ends it counts
    assert check_budget(Budget(train_seconds=0.1), task(), {}) == []  # live, how long it takes is not known


def test_seconds_of_training_alone_are_refused_where_nothing_is_trained():
    """They would pass in millionths: no run would ever end."""
    formula = task(trains=False)
    with pytest.raises(UsageError, match=r"budget\.train_seconds=10 alone ends no run of a task that trains nothing"):
        check_budget(Budget(train_seconds=10), formula, {})
    for other in ({"heavy": 3}, {"iterations": 500}, {"seconds": 60}):
        assert check_budget(Budget(train_seconds=10, **other), formula, {}) == []


def test_a_start_after_which_the_budget_is_spent_is_cautioned_about():
    def check(**limits):
        method = BTAOMethod(PROBLEM, 0, n_init=50)
        return check_budget(Budget(**limits), task(resumes=True), {"btao": method})

    assert check(heavy=51) == check(seconds=1) == check(iterations=3010) == []  # ten for a next light run
    (line,) = check(heavy=6)
    assert line.startswith("btao starts with 100 light and 50 heavy runs, more than budget.heavy=6 covers")
    (line,) = check(iterations=2999)
    assert line.startswith("btao starts with 100 light and 50 heavy runs, more than budget.iterations=2999 covers")
    (line,) = check(iterations=3009)
    assert "all that budget.iterations=3009 covers: no proposal is made; give" in line
    (line,) = check(heavy=50, iterations=2999)  # the worse is said
    assert "more than budget.iterations=2999 covers: light runs are paid for nothing, no proposal is made" in line


@pytest.mark.parametrize("resumes", [False, True])
def test_a_start_of_heavy_runs_resumes_nothing(resumes):
    def check(**limits):
        return check_budget(Budget(**limits), task(resumes=resumes), {"tpe": TPE(PROBLEM, 0)})

    assert check(iterations=1050) == []
    told = "covers: no proposal is made; give a larger budget or a smaller start"
    assert check(iterations=1049) == [f"tpe starts with 20 heavy runs, all that budget.iterations=1049 {told}"]
    assert check(iterations=999) == [f"tpe starts with 20 heavy runs, more than budget.iterations=999 {told}"]


def test_a_start_is_the_shared_one_where_that_is_longer_and_of_a_constrained_space_no_more_is_sure():
    shared = dataclasses.replace(PROBLEM, initial=InitialDesign((), tuple({"x": x / 40} for x in range(30))))
    constrained = dataclasses.replace(PROBLEM, space=Space({"x": Real(0.0, 1.0)}, constraint=lambda config: True))
    assert TPE(shared, 0).start_size == GPBO(shared, 0).start_size == (0, 30)
    assert TPE(PROBLEM, 0, n_startup_jobs=1).start_size == (0, 1)
    assert TPE(constrained, 0).start_size == (0, 0)
    assert check_budget(Budget(heavy=1), task(), {"tpe": TPE(constrained, 0)}) == []
    (line,) = check_budget(Budget(heavy=1), task(), {"tpe": TPE(PROBLEM, 0, n_startup_jobs=1)})
    assert line.startswith("tpe starts with 1 heavy run, all that budget.heavy=1 covers")


def test_a_random_start_that_is_all_the_budget_is_cautioned_about():
    def check(heavy):
        return check_budget(Budget(heavy=heavy), task(), {"tpe": TPE(PROBLEM, 0), "gp_bo": GPBO(PROBLEM, 0, n_init=9)})

    assert check(21) == []
    told = "covers: no proposal is made; give a larger budget or a smaller start"
    assert check(20) == [f"tpe starts with 20 heavy runs, all that budget.heavy=20 {told}"]
    assert check(8) == [
        f"tpe starts with 20 heavy runs, more than budget.heavy=8 {told}",
        f"gp_bo starts with 9 heavy runs, more than budget.heavy=8 {told}",
    ]


def test_a_start_of_thirty_dimensions_is_too_large_for_six_heavy_runs():
    problem = Problem(Space({f"x{j}": Real(0.0, 1.0) for j in range(30)}), 50, 10)
    (line,) = check_budget(Budget(heavy=6), task(), {"btao": BTAOMethod(problem, 0)})
    assert line.startswith("btao starts with 64 light and 32 heavy runs, more than budget.heavy=6 covers")
