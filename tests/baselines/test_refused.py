"""Libraries that know no constraint: they are asked anew, and given up when all that they propose is refused."""

import pytest

from baselines import brackets, tpe
from baselines.hyperband import Hyperband
from baselines.protocol import Measurement, Problem, SearchExhausted
from baselines.random_search import RandomSearch
from baselines.tpe import TPE
from btao import Real, Space


def test_trials_are_numbered_by_what_is_allowed_and_told_to_the_right_proposal():
    space = Space({"x": Real(0.0, 1.0)}, constraint=lambda config: config["x"] > 0.6)
    method = TPE(Problem(space, 9), seed=0, n_startup_jobs=4)
    asked = []
    for number in range(12):
        trial = method.ask()
        assert trial.number == number
        asked.append(trial.config["x"])
        method.tell(trial, Measurement(trial.config["x"]))
    assert min(asked) > 0.6
    told = {document["misc"]["vals"]["x"][0]: document["result"] for document in method._trials.trials}
    assert len(told) > 12
    assert {x: result.get("loss") for x, result in told.items()} == {x: x if x > 0.6 else None for x in told}


@pytest.mark.parametrize(("module", "method_class"), [(tpe, TPE), (brackets, Hyperband)])
def test_a_library_whose_proposals_are_all_refused_is_given_up(module, method_class, monkeypatch):
    monkeypatch.setattr(module, "MAX_REFUSED", 5)
    space = Space({"x": Real(0.0, 1.0)}, constraint=lambda config: config["x"] == 0.123)
    method = method_class(Problem(space, 9, light_iterations=3), seed=0)
    with pytest.raises(SearchExhausted, match="configurations in a row that the constraint refuses; widen it"):
        method.ask()
    with pytest.raises(ValueError, match="constraint: none of 32,768 random configurations satisfies it"):
        RandomSearch(Problem(space, 9), seed=0).ask()
