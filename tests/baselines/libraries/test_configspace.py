"""Spaces as ConfigSpaces: the same values, the same coordinates, the same distribution."""

import math

import numpy as np
import pytest
from ConfigSpace import ConfigurationSpace, UniformFloatHyperparameter
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from baselines.libraries.configspace import from_configuration, to_configspace, to_configuration
from btao import Categorical, Constant, Integer, Ordinal, Real, Space, When

CHOICES = (None, True, 1, 1.0, "1", "none", -2.5)


@st.composite
def reals(draw):
    log = draw(st.booleans())
    bounds = st.floats(1e-300, 1e300) if log else st.floats(-1e300, 1e300)
    low, high = sorted((draw(bounds), draw(bounds)))
    try:
        return Real(low, high, log)
    except ValueError:
        assume(False)


@st.composite
def integers(draw):
    log = draw(st.booleans())
    low = draw(st.integers(1 if log else -(2**31), 2**31))
    return Integer(low, low + draw(st.integers(1, 2**20)), log)


categoricals = st.permutations(CHOICES).flatmap(
    lambda choices: st.integers(2, len(choices)).map(lambda size: Categorical(tuple(choices[:size])))
)
ordinals = st.lists(st.integers(-9, 9) | st.floats(-9, 9), min_size=2, max_size=6, unique=True).map(
    lambda values: Ordinal(sorted(values))
)
spaces = st.dictionaries(
    st.text(max_size=3), st.one_of(reals(), integers(), ordinals, categoricals), min_size=1, max_size=4
).map(Space)
units = st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4)


def plain(config):
    return [(name, type(value), value) for name, value in config.items()]


@settings(max_examples=60, deadline=None)
@given(spaces, st.integers(0, 2**63 - 1))
def test_samples_are_valid_plain_configurations_in_the_order_of_the_space(space, seed):
    for configuration in to_configspace(space, seed).sample_configuration(5):
        config = from_configuration(space, configuration)
        assert plain(config) == plain(space.validate(config))
        assert from_configuration(space, dict(configuration)) == config


@settings(max_examples=100, deadline=None)
@given(spaces, units)
def test_every_configuration_of_the_space_has_one_and_comes_back(space, unit):
    config = space.from_unit(unit[: space.dim])
    back = from_configuration(space, to_configuration(space, config, to_configspace(space, 0)))
    assert list(back) == list(config)
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Real):
            assert math.isclose(parameter.to_unit(back[name]), parameter.to_unit(config[name]), abs_tol=1e-12)
        else:
            assert (type(back[name]), back[name]) == (type(config[name]), config[name])


@settings(max_examples=60, deadline=None)
@given(spaces)
def test_bounds_are_included_exactly(space):
    for end in (0.0, 1.0):
        config = space.from_unit([end] * space.dim)
        back = from_configuration(space, to_configuration(space, config, to_configspace(space, 0)))
        assert plain(back) == plain(config)


@pytest.mark.parametrize("log", [False, True])
def test_a_real_parameter_is_searched_like_one_of_configspace_itself(log):
    """The same vectors from the same seed, and the same values of them."""
    space = Space({"x": Real(0.01, 50.0, log)})
    ours = to_configspace(space, seed=3)
    native = ConfigurationSpace(seed=0)
    native.add(UniformFloatHyperparameter("x", 0.01, 50.0, log=log))
    for seed in range(20):
        ours.seed(seed)
        native.seed(seed)
        sample, reference = ours.sample_configuration(), native.sample_configuration()
        assert sample.get_array() == pytest.approx(reference.get_array(), abs=1e-15)
        assert from_configuration(space, sample)["x"] == pytest.approx(reference["x"], rel=1e-9)


def test_bounds_below_the_decimals_of_configspace_are_kept():
    space = Space({"decay": Real(1e-18, 1e-14, log=True)})
    values = [from_configuration(space, c)["decay"] for c in to_configspace(space, 0).sample_configuration(300)]
    assert stats.kstest([math.log10(value / 1e-18) / 4 for value in values], "uniform").pvalue > 0.01


def test_integers_ordinals_and_categories_are_uniform_ends_included():
    space = Space(
        {"n": Integer(-1, 2), "kind": Categorical((None, True, 1, "1")), "step": Ordinal((1, 10, 1000, 1001))}
    )
    configs = [from_configuration(space, c) for c in to_configspace(space, 1).sample_configuration(2000)]
    for name, values in (("n", [-1, 0, 1, 2]), ("kind", [None, True, 1, "1"]), ("step", [1, 10, 1000, 1001])):
        drawn = [(type(config[name]), config[name]) for config in configs]
        assert stats.chisquare([drawn.count((type(value), value)) for value in values]).pvalue > 0.01


def test_log_integers_are_log_uniform_in_equal_bins_of_configspace():
    """It cuts low..high into one equal bin a value: the ends get no half bins."""
    space = Space({"n": Integer(1, 4, log=True)})
    drawn = [from_configuration(space, c)["n"] for c in to_configspace(space, 0).sample_configuration(3000)]
    shares = np.diff(np.log(np.linspace(1, 4, 5))) / math.log(4)
    assert stats.chisquare([drawn.count(n) for n in range(1, 5)], 3000 * shares).pvalue > 0.01


def test_the_seed_decides_all_its_bits():
    space = Space({"x": Real(0.0, 1.0)})
    firsts = {
        seed: to_configspace(space, seed).sample_configuration()["x"] for seed in (0, 1, 2**32, 2**63 - 1, 2**64 + 1)
    }
    assert len(set(firsts.values())) == 5
    assert to_configspace(space, 2**63 - 1).sample_configuration()["x"] == firsts[2**63 - 1]


CONDITIONAL = Space(
    {
        "x": Real(1e-3, 1.0, log=True),
        "kind": Categorical((None, True, 1)),
        "n": Integer(1, 4),
        "step": Ordinal((0.5, 1.0, 2.0)),
        "depth": Integer(1, 9, log=True),
    },
    conditions={"x": When("kind", True), "step": [When("n", 2, 4), When("kind", True, 1)], "depth": When("step", 2.0)},
)


def test_conditions_are_those_of_the_space():
    configspace = to_configspace(CONDITIONAL, 0)
    seen = set()
    for configuration in configspace.sample_configuration(300):
        config = from_configuration(CONDITIONAL, configuration)
        assert plain(config) == plain(CONDITIONAL.validate(config))
        assert set(configuration) == set(config)
        again = from_configuration(CONDITIONAL, to_configuration(CONDITIONAL, config, configspace))
        assert again == config | {name: pytest.approx(value, rel=1e-9) for name, value in config.items() if name == "x"}
        seen.add(tuple(config))
    assert len(seen) == 1 + 2 + 4 - 1


def test_values_of_inactive_parameters_are_left_out():
    every = {"x": 0.5, "kind": 2, "n": 2, "step": 0, "depth": 3}
    assert from_configuration(CONDITIONAL, every) == {"kind": 1, "n": 2, "step": 0.5}


def test_constants_are_left_out_and_steps_are_counted():
    space = Space(
        {
            "fixed": Constant((1, 2)),
            "only": Categorical(["sgd"]),
            "share": Real(0.1, 0.5, step=0.2),
            "n": Integer(2, 10, step=4),
            "x": Real(0, 1),
        },
        conditions={"x": When("only", "sgd"), "n": When("share", 0.3)},
    )
    configspace = to_configspace(space, 0)
    assert [*configspace] == ["share", "x", "n"]
    configs = [from_configuration(space, configuration) for configuration in configspace.sample_configuration(60)]
    assert all(plain(config) == plain(space.validate(config)) for config in configs)
    assert {config["share"] for config in configs} == {0.1, 0.3, 0.5}
    assert {config.get("n") for config in configs} == {None, 2, 6, 10}
    for config in configs:
        again = from_configuration(space, to_configuration(space, config, configspace))
        assert again == config | {"x": pytest.approx(config["x"], abs=1e-12)}
