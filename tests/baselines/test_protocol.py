"""The protocol: what failed means, and which method can do which task."""

import math
import sys

import pytest

from baselines.protocol import (
    Capabilities,
    IncompatibleMethod,
    Measurement,
    MissingLibrary,
    Problem,
    check_compatible,
)
from btao import Categorical, Constant, Integer, Real, Space, When

MIXED = Space({"x": Real(0.0, 1.0), "n": Integer(1, 4), "kind": Categorical(("a", "b"))})


@pytest.mark.parametrize(
    ("measurement", "failed"),
    [
        (Measurement(0.5), False),
        (Measurement(-1e100), False),
        (Measurement(-1e101), True),
        (Measurement(1e308), True),
        (Measurement(math.nan), True),
        (Measurement(math.inf), True),
        (Measurement(-math.inf), True),
        (Measurement(0.5, error="killed"), True),
        (Measurement(0.5, error=""), True),
    ],
)
def test_a_measurement_failed_if_it_has_an_error_or_a_value_that_is_no_result(measurement, failed):
    assert measurement.failed is failed


def test_a_method_of_all_types_and_one_level_can_do_every_task():
    check_compatible("m", Capabilities(), Problem(MIXED, 9))
    check_compatible("m", Capabilities(), Problem(MIXED, 9, light_iterations=3))
    check_compatible("m", Capabilities("any"), Problem(MIXED, 9))


def test_a_method_has_heavy_runs_and_no_model_unless_it_says_so():
    assert (Capabilities().levels, Capabilities().model_based) == ("heavy", False)


@pytest.mark.parametrize(
    ("types", "parameter", "kind"),
    [({"real"}, "n", "integer"), ({"real", "integer"}, "kind", "categorical"), ({"categorical"}, "x", "real")],
)
def test_an_unsearchable_parameter_is_named(types, parameter, kind):
    with pytest.raises(IncompatibleMethod, match=rf"method 'm' searches .* only, but '{parameter}' is {kind}"):
        check_compatible("m", Capabilities(types=frozenset(types)), Problem(MIXED, 9))


def test_a_method_that_knows_no_conditions_is_refused_a_conditional_space():
    problem = Problem(Space(MIXED.parameters, conditions={"n": When("kind", "a")}), 9)
    check_compatible("m", Capabilities(conditions=True), problem)
    with pytest.raises(IncompatibleMethod, match="method 'm' knows no conditional parameters, but 'n' is active at"):
        check_compatible("m", Capabilities(), problem)


def test_a_method_that_keeps_to_no_constraint_is_refused_a_constrained_space():
    problem = Problem(Space(MIXED.parameters, constraint=lambda config: config["x"] < 0.5), 9)
    check_compatible("m", Capabilities(constraint=True), problem)
    with pytest.raises(IncompatibleMethod, match="method 'm' keeps to no constraint, but the space has one"):
        check_compatible("m", Capabilities(), problem)


def test_a_library_needs_a_parameter_that_varies():
    problem = Problem(Space({"k": Constant(1), "n": Integer(2, 2)}), 9)
    check_compatible("m", Capabilities(), problem)
    with pytest.raises(IncompatibleMethod, match="method 'm' needs a parameter that varies, but all of this task are"):
        check_compatible("m", Capabilities(requires=("numpy",)), problem)


def test_a_two_level_method_needs_two_levels():
    check_compatible("m", Capabilities("two"), Problem(MIXED, 9, light_iterations=3))
    with pytest.raises(IncompatibleMethod, match="method 'm' needs a light and a heavy level"):
        check_compatible("m", Capabilities("two"), Problem(MIXED, 9))


@pytest.mark.parametrize(
    ("capabilities", "command"),
    [
        (Capabilities(requires=("no_such", "numpy"), extra="x"), "{pip} 'btao[x]'"),
        (
            Capabilities(requires=("no_such",), extra="x", without_dependencies=("y==1", "z>=2")),
            "{pip} 'btao[x]' && {pip} --no-deps y==1 'z>=2'",
        ),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_what_installs_it(capabilities, command, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/opt/a python/bin/python")
    command = command.format(pip="'/opt/a python/bin/python' -m pip install")
    with pytest.raises(MissingLibrary) as reason:
        check_compatible("m", capabilities, Problem(MIXED, 9))
    assert str(reason.value) == f"method 'm' needs no_such, which is not installed: {command}"


@pytest.mark.parametrize("levels", ["two", "several"])
def test_a_method_of_two_levels_needs_a_light_one(levels):
    check_compatible("m", Capabilities(levels), Problem(MIXED, 9, light_iterations=3))
    with pytest.raises(IncompatibleMethod, match="needs a light and a heavy level"):
        check_compatible("m", Capabilities(levels), Problem(MIXED, 9))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"levels": "lite"}, "levels of Capabilities must be one of heavy, two, several, any, got 'lite'"),
        ({"requires": "scipy"}, r"requires of Capabilities must be a tuple of texts, as \('scipy',\), got 'scipy'"),
        ({"without_dependencies": (1,)}, r"without_dependencies of Capabilities must be a tuple of texts.*got \(1,\)"),
        ({"types": {"reel"}}, "types of Capabilities must be a frozenset of some of .*real, got {'reel'}"),
        ({"types": "real"}, "types of Capabilities must be a frozenset of some of .*real, got 'real'"),
        ({"extra": None}, "extra of Capabilities must be a text, got None"),
        ({"conditions": 1}, "conditions of Capabilities must be True or False, got 1"),
        ({"constraint": None}, "constraint of Capabilities must be True or False, got None"),
        ({"model_based": "no"}, "model_based of Capabilities must be True or False, got 'no'"),
    ],
)
def test_capabilities_that_are_none_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Capabilities(**given)


def test_a_library_of_no_extra_is_installed_by_its_name():
    with pytest.raises(MissingLibrary, match=r"needs nope\.inner, which is not installed: .* -m pip install nope$"):
        check_compatible("m", Capabilities(requires=("nope.inner",)), Problem(MIXED, 9))
