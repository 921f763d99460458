"""btao.spaces.configspace: spaces come back from ConfigSpace as they were, and what cannot is named."""

import sys

import ConfigSpace as cs
import pytest

from btao import Categorical, Constant, Integer, Ordinal, Real, Space, When
from btao.spaces.configspace import from_configspace, to_configspace

SPACE = Space(
    {
        "x": Real(-2.0, 3.0),
        "rate": Real(1e-5, 1e-1, log=True),
        "n": Integer(-3, 9),
        "units": Integer(8, 512, log=True),
        "octave": Ordinal((8, 16, 64)),
        "share": Ordinal((0.0, 0.5, 0.9)),
        "kind": Categorical(("sgd", "adam", "none")),
        "fixed": Constant("relu"),
    },
    conditions={
        "x": When("kind", "sgd"),
        "units": [When("kind", "sgd", "adam"), When("n", 1, 2)],
        "share": When("octave", 16, 64),
        "rate": When("share", 0.5),
    },
)


def test_a_space_comes_back_as_it_was():
    assert from_configspace(to_configspace(SPACE)) == Space(
        # ConfigSpace has conditional parameters after those on which they depend.
        {name: SPACE.parameters[name] for name in to_configspace(SPACE)},
        conditions=SPACE.conditions,
    )
    plain = Space({name: kind for name, kind in SPACE.parameters.items() if name not in SPACE.conditions})
    assert {**from_configspace(to_configspace(plain)).parameters} == plain.parameters


def test_samples_are_configurations_of_the_space():
    samples = to_configspace(SPACE, seed=3).sample_configuration(40)
    configs = [SPACE.validate(dict(sample)) for sample in samples]
    assert len({tuple(config) for config in configs}) > 5
    assert to_configspace(SPACE, seed=3).sample_configuration(40) == samples


def test_steps_become_ordinals_and_single_values_constants():
    space = Space(
        {"a": Real(0.1, 0.3, step=0.1), "b": Integer(2, 8, step=3), "c": Integer(4, 4), "d": Categorical(["e"])}
    )
    again = from_configspace(to_configspace(space))
    assert again.parameters == {
        **{"a": Ordinal((0.1, 0.2, 0.3)), "b": Ordinal((2, 5, 8))},
        **{"c": Constant(4), "d": Constant("e")},
    }


@pytest.fixture
def parents():
    return cs.ConfigurationSpace({"n": (1, 5), "kind": ["a", "b", "c"], "child": (0.0, 1.0)})


@pytest.mark.parametrize(
    ("make", "whens"),
    [
        (lambda c: cs.EqualsCondition(c["child"], c["kind"], "b"), [When("kind", "b")]),
        (lambda c: cs.InCondition(c["child"], c["n"], [2, 5]), [When("n", 2, 5)]),
        (lambda c: cs.NotEqualsCondition(c["child"], c["kind"], "b"), [When("kind", "a", "c")]),
        (lambda c: cs.LessThanCondition(c["child"], c["n"], 3), [When("n", 1, 2)]),
        (lambda c: cs.GreaterThanCondition(c["child"], c["n"], 3), [When("n", 4, 5)]),
        (
            lambda c: cs.AndConjunction(
                cs.EqualsCondition(c["child"], c["kind"], "b"), cs.GreaterThanCondition(c["child"], c["n"], 4)
            ),
            [When("kind", "b"), When("n", 5)],
        ),
        (
            lambda c: cs.OrConjunction(
                cs.EqualsCondition(c["child"], c["n"], 1), cs.GreaterThanCondition(c["child"], c["n"], 4)
            ),
            [When("n", 1, 5)],
        ),
    ],
)
def test_every_kind_of_condition_holds_at_the_same_values(parents, make, whens):
    parents.add(make(parents))
    space = from_configspace(parents)
    assert space.conditions == {"child": tuple(whens)}
    parents.seed(0)
    for sample in parents.sample_configuration(30):
        assert space.validate(dict(sample)) == dict(sample)


@pytest.mark.parametrize(
    ("parent", "given", "held"),
    [
        (["a", True], 1, True),
        ([1, 2.5], 1.0, 1),
        ([1.0, 2.0], 2, 2.0),
        ((1, 5), 3.0, 3),
        ((1, 10**6), True, 1),
        (cs.OrdinalHyperparameter("p", [8, 16]), 16.0, 16),
    ],
)
def test_a_condition_means_the_value_of_its_parent_that_configspace_takes_for_the_given_one(parent, given, held):
    space = cs.ConfigurationSpace({"p": parent, "child": (0.0, 1.0)})
    space.add(cs.EqualsCondition(space["child"], space["p"], given))
    (value,) = from_configspace(space).conditions["child"][0].values
    assert value == held and type(value) is type(held)


@pytest.mark.parametrize("kind", [cs.EqualsCondition, cs.GreaterThanCondition, cs.NotEqualsCondition])
def test_a_condition_on_a_float_is_named(kind):
    space = cs.ConfigurationSpace({"x": (0.0, 1.0), "child": (0.0, 1.0)})
    space.add(kind(space["child"], space["x"], 0.5))
    refuse("condition child .* cannot be converted: 'x' is a float, and", lambda: from_configspace(space))


def refuse(message, make):
    with pytest.raises(ValueError, match=message) as reason:
        make()
    assert "\n" not in str(reason.value)


def test_what_a_space_cannot_hold_is_named(parents):
    kinds = cs.hyperparameters
    for each in (
        kinds.NormalFloatHyperparameter("p", mu=0, sigma=1, lower=-1, upper=1),
        kinds.CategoricalHyperparameter("p", ["a", "b"], weights=[1, 2]),
        kinds.OrdinalHyperparameter("p", ["small", "large"]),
    ):
        refuse(
            "parameter 'p' cannot be converted", lambda each=each: from_configspace(cs.ConfigurationSpace({"p": each}))
        )
    either = cs.OrConjunction(
        cs.EqualsCondition(parents["child"], parents["n"], 1),
        cs.EqualsCondition(parents["child"], parents["kind"], "a"),
    )
    parents.add(either)
    refuse("condition .* cannot be converted: its parts must be on one parameter", lambda: from_configspace(parents))
    forbidden = cs.ConfigurationSpace({"n": (1, 5)})
    forbidden.add(cs.ForbiddenEqualsClause(forbidden["n"], 5))
    refuse("configspace has forbidden clauses, .*n == 5: remove them", lambda: from_configspace(forbidden))
    with pytest.raises(TypeError, match=r"configspace must be a ConfigurationSpace, got {'n': 3}"):
        from_configspace({"n": 3})


def test_what_a_configspace_cannot_hold_is_named():
    plane = {"x": Real(0, 1), "y": Real(0, 1)}
    refuse("space has a constraint", lambda: to_configspace(Space(plane, constraint=lambda config: True)))
    refuse("parameter 'c': ConfigSpace takes some of", lambda: to_configspace(Space({"c": Categorical((True, 1))})))
    refuse(
        "parameter 'c': ConfigSpace makes numbers of one type of",
        lambda: to_configspace(Space({"c": Categorical((1, 2.5))})),
    )
    refuse(
        "parameter 'x' cannot be converted: its values must be listed",
        lambda: to_configspace(Space({"x": Real(0, 1, step=1e-4)})),
    )


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ConfigSpace", None)
    with pytest.raises(ImportError, match="needs ConfigSpace, which is not installed: pip install ConfigSpace"):
        to_configspace(SPACE)
