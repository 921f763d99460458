"""btao.spaces.optuna: spaces come back from Optuna's distributions, and trials suggest active parameters alone."""

import json
import sys

import pytest

from btao import Categorical, Constant, Integer, Ordinal, Real, Space, When
from btao.spaces.optuna import from_distributions, suggest, to_distributions

PLAIN = Space(
    {
        "x": Real(-2.0, 3.0),
        "rate": Real(1e-5, 1e-1, log=True),
        "share": Real(0.1, 0.7, step=0.2),
        "n": Integer(-3, 9),
        "units": Integer(8, 512, log=True),
        "batch": Integer(16, 64, step=16),
        "kind": Categorical(("sgd", None, 2.5)),
        "one": Integer(4, 4),
    }
)
LISTED = Space({"octave": Ordinal((8, 16, 64)), "fixed": Constant("relu")})


def test_a_space_that_cannot_be_written_is_refused_before_optuna_is_needed():
    with pytest.raises(ValueError, match=r"space has conditions, .*: call suggest\(trial, space\) in the objective"):
        to_distributions(Space(PLAIN.parameters, conditions={"x": When("kind", "sgd")}))
    with pytest.raises(ValueError, match="space has a constraint, which Optuna's distributions cannot hold"):
        to_distributions(Space(PLAIN.parameters, constraint=lambda config: True))


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match="needs optuna, which is not installed: pip install optuna"):
        to_distributions(PLAIN)


class TestOptuna:
    @pytest.fixture(autouse=True)
    def optuna(self):
        optuna = pytest.importorskip("optuna", reason="needs the extra 'optuna': pip install 'btao[optuna]'")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        return optuna

    def test_a_space_comes_back_as_it_was(self):
        assert from_distributions(to_distributions(PLAIN)) == PLAIN

    def test_ordinals_and_constants_become_categories(self):
        again = from_distributions(to_distributions(LISTED))
        assert again.parameters == {"octave": Categorical((8, 16, 64)), "fixed": Categorical(("relu",))}

    def test_distributions_come_back_as_they_were(self, optuna):
        kinds = optuna.distributions
        given = {
            "a": kinds.FloatDistribution(0.0, 1.0, step=0.25),
            "b": kinds.FloatDistribution(1e-3, 1.0, log=True),
            "c": kinds.IntDistribution(1, 10, step=3),
            "d": kinds.IntDistribution(1, 100, log=True),
            "e": kinds.CategoricalDistribution(("x", None, 3)),
        }
        assert to_distributions(from_distributions(given)) == given
        with pytest.raises(TypeError, match=r"distributions\['n'\] must be a FloatDistribution, .*, got \(1, 3\)"):
            from_distributions({"n": (1, 3)})

    def test_a_trial_suggests_the_active_parameters(self, optuna):
        conditions = {"x": When("kind", "sgd"), "units": [When("n", 0, 1, 2, 3), When("kind", "sgd", None)]}
        space = Space({**PLAIN.parameters, **LISTED.parameters}, conditions=conditions)
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        shapes = set()
        for _ in range(40):
            trial = study.ask()
            config = suggest(trial, space)
            assert space.validate(json.loads(json.dumps(config))) == config
            assert {*trial.params} == {*config}
            shapes.add(tuple(config))
            study.tell(trial, 0.0)
        assert len(shapes) == 4

    def test_choices_that_optuna_takes_for_one_are_refused(self):
        with pytest.raises(ValueError, match=r"parameter 'c': Optuna takes some of \[True, 1\] for one choice"):
            to_distributions(Space({"c": Categorical((True, 1))}))
