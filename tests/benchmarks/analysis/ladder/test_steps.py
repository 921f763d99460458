"""The steps of the ladder as commands, and found again by what a run records of its method."""

from __future__ import annotations

import pytest

from benchmarks.analysis.ladder.steps import STEPS, commands, name_of
from benchmarks.config.request import read
from benchmarks.config.spec import Spec, jsonable


def parameters(words):
    """The method of a command and its parameters, as its runs record them."""
    (request,) = read(words)
    ((name, document),) = request.methods.items()
    given = {key: value for key, value in document.items() if key != "_target_"}
    spec = Spec(name, document["_target_"], given)
    spec.check({"problem", "seed"})
    return name, jsonable(spec.typed_parameters)


def test_runs_of_each_command_are_of_its_step():
    found = [name_of(*parameters(words)) for words in commands(["task=branin"], errors=True)]
    assert found == [step.name for step in STEPS]


def test_what_matters_to_errors_alone_is_not_run_on_functions():
    every = zip(STEPS, commands(["task=branin"], errors=True), strict=True)
    left_out = ("no bounds on δ and ρ", "logarithm of errors")
    assert commands(["task=branin"], errors=False) == [words for step, words in every if step.name not in left_out]


def test_the_ladder_goes_from_the_paper_to_the_rate_rule_as_they_are():
    first, *_, last = commands([], errors=True)
    assert (first, last) == (["method=btao_paper"], ["method=btao"])


@pytest.mark.parametrize(("method", "given"), [("btao", {"n_init": 3}), ("gp_bo", {})])
def test_a_run_of_no_step_is_refused(method, given):
    with pytest.raises(ValueError, match=rf"a ladder is of its steps alone: got trials of {method} with "):
        name_of(method, given)
