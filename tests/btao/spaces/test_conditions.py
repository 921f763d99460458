"""btao.spaces.conditions: which parameters are active, and that inactive ones change nothing (METHOD item 15)."""

import itertools
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from btao import BTAO, Categorical, Integer, Ordinal, Real, Space, SpaceExhausted, When
from btao.gp import Kernel
from btao.parameters import MAX_INTEGER_RANGE
from optimizer_runs import free

MOMENTUM = Space(
    {
        "momentum": Real(0.0, 0.99),
        "optimizer": Categorical(("adam", "sgd", "none")),
        "nesterov": Categorical((False, True)),
        "rate": Real(1e-4, 1.0, log=True),
        "damping": Ordinal((0.0, 0.1, 0.5)),
    },
    conditions={
        "momentum": When("optimizer", "sgd"),
        "nesterov": When("optimizer", "sgd"),
        "rate": When("optimizer", "adam", "sgd"),
        "damping": [When("nesterov", True)],
    },
)
# Coordinates of the categories, by their bins.
ADAM, SGD, NONE = 1 / 6, 0.5, 5 / 6
NO, YES = 0.25, 0.75


def finite(conditions):
    parameters = {"a": Categorical(("x", "y", "z")), "b": Integer(1, 4), "c": Ordinal((1, 2)), "d": Integer(0, 1)}
    return Space(parameters, conditions=conditions)


def brute_force(space):
    """All configurations, by assembling every combination of values."""
    every = itertools.product(*(range(kind.size) for kind in space.parameters.values()))
    found = set()
    for indices in every:
        values = {name: kind.at(i) for (name, kind), i in zip(space.parameters.items(), indices, strict=True)}
        found.add(tuple(space.assemble(values.__getitem__).items()))
    return found


FINITE = [
    finite({}),
    finite({"b": When("a", "x")}),
    finite({"b": When("a", "x", "z"), "c": When("b", 2, 3)}),
    finite({"a": When("d", 1), "b": When("a", "y"), "c": When("d", 0)}),
    finite({"c": [When("a", "x"), When("b", 1, 4)], "d": When("c", 2)}),
    finite({"c": [When("a", "x"), When("a", "y")]}),  # never active
]


@st.composite
def conditional_spaces(draw):
    kinds = [Categorical(["p", "q", "r"]), Integer(1, 3), Ordinal((0.5, 2.0)), Categorical([True, 1, 1.0]), Real(0, 1)]
    parameters = {name: draw(st.sampled_from(kinds)) for name in "abcde"}
    names = draw(st.permutations(list(parameters)))
    conditions = {}
    for place, name in enumerate(names):
        others = [other for other in names[:place] if not isinstance(parameters[other], Real)]
        chosen = draw(st.lists(st.sampled_from(others), max_size=2, unique=True)) if others else []
        if chosen:
            conditions[name] = [
                When(other, *(parameters[other].at(i) for i in draw(st.sets(st.integers(0, 1), min_size=1))))
                for other in chosen
            ]
    return Space(parameters, conditions=conditions)


def typed(config):
    return {name: (type(value), value) for name, value in config.items()}


class TestConfigurations:
    def test_inactive_parameters_are_absent_and_the_others_in_their_order(self):
        assert MOMENTUM.from_unit([0.0, ADAM, YES, 1.0, 0.9]) == {"optimizer": "adam", "rate": 1.0}
        assert MOMENTUM.from_unit([0.0, NONE, YES, 1.0, 0.9]) == {"optimizer": "none"}
        plain = {"momentum": 0.0, "optimizer": "sgd", "nesterov": False, "rate": 1.0}
        assert list(MOMENTUM.from_unit([0.0, SGD, NO, 1.0, 0.9]).items()) == list(plain.items())
        assert MOMENTUM.from_unit([0.0, SGD, YES, 1.0, 0.9]) == plain | {"nesterov": True, "damping": 0.5}

    @pytest.mark.parametrize("named", [(3,), tuple(range(2, 10)), tuple(range(1, 40, 2))])
    def test_a_condition_may_name_any_number_of_values(self, named):
        space = Space({"n": Integer(1, 50), "x": Real(0, 1)}, conditions={"x": When("n", *named)})
        points = np.array([space.to_unit({"n": n} | ({"x": 0.5} if n in named else {})) for n in range(1, 51)])
        assert [n for n, (_, on) in enumerate(space.active(points), start=1) if on] == list(named)

    def test_a_point_of_the_cube_has_inactive_coordinates_in_the_middle(self):
        assert MOMENTUM.to_unit({"optimizer": "adam", "rate": 1.0}).tolist() == [0.5, ADAM, 0.5, 1.0, 0.5]

    @settings(max_examples=60, deadline=None)
    @given(conditional_spaces(), st.lists(st.floats(0, 1), min_size=5, max_size=5))
    def test_points_and_configurations_stand_for_each_other(self, space, point):
        config = space.from_unit(point)
        assert typed(space.validate(config)) == typed(config)
        assert np.allclose(space.snap([point])[0], space.to_unit(config), atol=1e-12)
        assert typed(space.from_unit(space.snap([point])[0])) == typed(config)
        assert set(config) == {name for name, on in zip(space.names, space.active([point])[0], strict=True) if on}
        assert np.array_equal(space.snap(space.snap([point])), space.snap([point]))

    @settings(max_examples=60, deadline=None)
    @given(conditional_spaces(), hnp.arrays(float, (3, 5), elements=st.floats(0, 1)))
    def test_a_constraint_is_asked_of_active_parameters_in_their_order(self, space, points):
        asked = []
        parameters, conditions = space.parameters, space.conditions
        recording = Space(parameters, conditions=conditions, constraint=lambda config: asked.append(config) or True)
        assert recording.allowed(points).all()
        assert [list(typed(config).items()) for config in asked] == [
            list(typed(space.from_unit(point)).items()) for point in points
        ]

    @settings(max_examples=60, deadline=None)
    @given(conditional_spaces(), st.lists(st.floats(0, 1), min_size=5, max_size=5), st.integers(0, 4), st.floats(0, 1))
    def test_an_inactive_coordinate_changes_nothing(self, space, point, place, value):
        other = list(point)
        other[place] = value
        same = space.from_unit(point) == space.from_unit(other)
        if not space.active([point])[0, place]:
            assert same
            assert np.array_equal(space.features([point]), space.features([other]))
        kernel = Kernel(space.dim, space)
        if not isinstance(space.parameters[space.names[place]], Real):
            assert kernel.same(np.array([point]), np.array([other])).item() == (
                typed(space.from_unit(point)) == typed(space.from_unit(other))
            )

    def test_features_of_an_inactive_category_are_as_far_from_each_choice(self):
        features = MOMENTUM.features([[0.1, ADAM, YES, 0.3, 0.1], [0.5, SGD, NO, 0.3, 0.5], [0.5, SGD, YES, 0.3, 0.5]])
        nesterov = features[:, MOMENTUM.groups == 2]
        assert nesterov[0].tolist() == [0, 0]
        assert ((nesterov[1:] - nesterov[0]) ** 2).sum(axis=1) == pytest.approx([0.5, 0.5])
        assert features[0, [0, -1]].tolist() == [0.5, 0.5]

    def test_a_function_is_asked_for_active_values_in_the_order_of_the_conditions(self):
        asked = []

        def value_of(name):
            asked.append(name)
            return {"optimizer": "sgd", "nesterov": True}.get(name, 0.1)

        config = MOMENTUM.assemble(value_of)
        assert asked == ["optimizer", "momentum", "nesterov", "rate", "damping"]
        assert list(config) == ["momentum", "optimizer", "nesterov", "rate", "damping"]


class TestSize:
    @pytest.mark.parametrize("space", FINITE)
    def test_size_and_points_are_those_of_all_configurations(self, space):
        expected = brute_force(space)
        points = space.all_points
        assert space.size == len(points) == len(expected)
        assert {tuple(space.from_unit(point).items()) for point in points} == expected
        assert np.array_equal(space.snap(points), points)

    def test_many_switches_are_counted_at_once(self):
        kinds = {f"on{i}": Categorical((False, True)) for i in range(60)} | {f"n{i}": Integer(1, 9) for i in range(60)}
        space = Space(kinds, conditions={f"n{i}": When(f"on{i}", True) for i in range(60)})
        assert space.size == 10**60
        below = {f"on{i}": When("on0", True) for i in range(1, 60)}
        assert Space(kinds, conditions={**space.conditions, **below}).size == 1 * 1 + 9 * 10**59

    def test_a_long_range_on_which_others_depend_is_counted_by_cases(self):
        space = Space({"n": Integer(1, MAX_INTEGER_RANGE), "m": Integer(1, 5)}, conditions={"m": When("n", 3, 7)})
        assert space.size == (MAX_INTEGER_RANGE - 2) + 2 * 5

    def test_a_real_parameter_makes_a_space_infinite_unless_it_is_never_active(self):
        assert MOMENTUM.size == math.inf
        wide = {f"k{i}": Integer(0, MAX_INTEGER_RANGE) for i in range(40)}
        space = Space({**wide, "on": Integer(0, 1), "x": Real(0, 1)}, conditions={"x": When("on", 1)})
        assert space.size == math.inf


class TestDictionaries:
    @settings(max_examples=60, deadline=None)
    @given(conditional_spaces())
    def test_json_round_trip(self, space):
        again = Space.from_dict(json.loads(json.dumps(space.to_dict(), sort_keys=True, allow_nan=False)))
        assert again == space and hash(again) == hash(space)
        assert again.conditions == space.conditions
        assert pickle.loads(pickle.dumps(space)) == space

    def test_conditions_are_written_beside_the_parameter_that_has_them(self):
        space = Space({"c": Categorical(("a", "b")), "n": Integer(1, 2)}, conditions={"n": When("c", "b")})
        assert space.to_dict() == {
            "parameters": [
                {"name": "c", "type": "categorical", "choices": ["a", "b"]},
                {
                    **{"name": "n", "type": "integer", "low": 1, "high": 2, "log": False},
                    "when": [{"parameter": "c", "values": ["b"]}],
                },
            ]
        }

    def test_conditions_tell_spaces_apart(self):
        parameters = {"c": Categorical((True, 1)), "n": Integer(1, 2)}
        spaces = [Space(parameters), *(Space(parameters, conditions={"n": When("c", value)}) for value in (True, 1))]
        assert len({*spaces}) == 3
        assert "When(parameter='c', values=(True,))" in repr(spaces[1])
        assert "conditions" not in repr(spaces[0])


class TestErrors:
    @pytest.mark.parametrize(
        ("config", "message"),
        [
            (
                {"optimizer": "adam", "rate": 0.1, "momentum": 0.5},
                "config has a value for 'momentum', which is active only where optimizer is 'sgd': leave it out",
            ),
            ({"optimizer": "adam"}, "lacks a value for 'rate', which is active where optimizer is 'adam' or 'sgd'"),
            ({"rate": 0.1}, r"config lacks a value for \['optimizer'\]"),
            ({"optimizer": "rmsprop"}, "parameter 'optimizer': must be one of"),
            ({"optimizer": "none", "damping": 0.1}, "'damping', which is active only where nesterov is True"),
            ({"optimizer": "none", "dampin": 0.1}, "did you mean 'damping'"),
        ],
    )
    def test_configurations(self, config, message):
        with pytest.raises(ValueError, match=message):
            MOMENTUM.validate(config)

    @pytest.mark.parametrize(
        ("conditions", "error", "message"),
        [
            ({"e": When("a", "x")}, ValueError, r"conditions: no parameter is called 'e'; the names are \['a', "),
            ({"b": When("e", 1)}, ValueError, r"conditions\['b'\]: no parameter is called 'e'"),
            ({"b": When("a", "w")}, ValueError, r"conditions\['b'\]: parameter 'a': must be one of .*, got 'w'"),
            ({"a": When("b", 2.0)}, TypeError, r"conditions\['a'\]: parameter 'b': value must be an integer, got 2.0"),
            ({"b": "a"}, TypeError, r"conditions\['b'\] must be a When or a list of them, got 'a'"),
            ({"b": []}, TypeError, r"conditions\['b'\] must be a When or a list of them, got \[\]"),
            ([When("a", "x")], TypeError, "conditions must map names of parameters to When"),
            ({"a": When("a", "x")}, ValueError, r"form a circle, so that none of \['a'\] is ever active"),
            ({"a": When("b", 1), "b": When("c", 1), "c": When("a", "x")}, ValueError, "circle.*'a', 'b', 'c'"),
        ],
    )
    def test_conditions(self, conditions, error, message):
        with pytest.raises(error, match=message):
            finite(conditions)

    def test_a_real_parameter_has_no_values_to_depend_on(self):
        with pytest.raises(TypeError, match="'x' is real; a condition is on an integer, ordinal or categorical"):
            Space({"x": Real(0, 1), "n": Integer(0, 1)}, conditions={"n": When("x", 0.5)})

    def test_a_condition_names_a_parameter_and_values(self):
        with pytest.raises(ValueError, match="give the values of 'a' at which the parameter is active"):
            When("a")
        with pytest.raises(TypeError, match="When: parameter must be the name of a parameter, got 3"):
            When(3, 4)


def value(config, level):
    """Least, 0 heavily, with sgd, nesterov and a momentum of 0.9."""
    base = {"adam": 0.3, "none": 0.8, "sgd": 0.2 * (not config.get("nesterov", False))}[config["optimizer"]]
    return base + abs(config.get("momentum", 0.9) - 0.9) + 0.05 * config.get("damping", 0.0) + 0.1 * (level == "light")


@pytest.mark.parametrize("rule", ["joint", "paper", "rate"])
def test_every_rule_asks_for_valid_configurations_never_twice_and_continues_from_json(rule):
    optimizer = BTAO(MOMENTUM, rule=rule, seed=1, n_init=3)
    for _ in range(14):
        trial = optimizer.ask()
        assert MOMENTUM.validate(trial.config) == trial.config
        optimizer.tell(trial, value(trial.config, trial.level))
    asked = [(trial.level, tuple(trial.config.items())) for trial in optimizer.trials]
    assert len({*asked}) == len(asked)
    again = BTAO.from_json(optimizer.to_json())
    assert again.space == MOMENTUM
    assert [trial.config for trial in again.trials] == [trial.config for trial in optimizer.trials]
    assert again.ask().config == optimizer.ask().config
    mean, std = optimizer.predict([{"optimizer": "none"}, {"optimizer": "adam", "rate": 0.1}])
    assert np.isfinite(mean).all() and (std >= 0).all()


@pytest.mark.parametrize("rule", ["joint", "paper", "rate"])
def test_a_finite_conditional_space_is_tried_to_its_end(rule):
    space = finite({"b": When("a", "x"), "c": When("a", "y"), "d": When("b", 2)})
    assert space.size == 8
    optimizer = BTAO(space, n_init=2, **free(rule))
    tried = []
    with pytest.raises(SpaceExhausted, match="all 8 configurations"):
        while True:
            trial = optimizer.ask()
            tried.append((trial.level, tuple(trial.config.items())))
            optimizer.tell(trial, len(trial.config) + trial.config.get("b", 0.5) + 0.1 * (trial.level == "light"))
    for level in ("light", "heavy"):
        assert sorted(str(config) for name, config in tried if name == level) == sorted(map(str, brute_force(space)))
