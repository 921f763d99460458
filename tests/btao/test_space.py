"""btao.space: validation, the map to the unit cube and its properties (METHOD item 15)."""

import json
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from btao import Space
from btao.parameters import MAX_INTEGER_RANGE, Categorical, Constant, Integer, Ordinal, Real

# No deadline: a busy machine is no failure.
examples = settings(max_examples=60, deadline=None)

TEXT = st.text("ab ü", max_size=3)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | TEXT


def typed(config):
    """A configuration such that True, 1 and 1.0 differ."""
    return {name: (type(value), value) for name, value in config.items()}


@st.composite
def reals(draw):
    log = draw(st.booleans())
    bound = st.floats(1e-300, 1e300) if log else st.floats(-1e150, 1e150)
    low, high = sorted((draw(bound), draw(bound)))
    assume(math.log(high) > math.log(low) if log else high > low)
    return Real(low, high, log)


@st.composite
def integers(draw):
    log = draw(st.booleans())
    low = draw(st.integers(1, MAX_INTEGER_RANGE - 1) if log else st.integers(-(10**20), 10**20))
    most = MAX_INTEGER_RANGE - (low if log else 0)
    return Integer(low, low + draw(st.integers(1, most) | st.integers(1, min(most, 50))), log)


CATEGORICALS = st.lists(SCALARS, min_size=2, max_size=6, unique_by=lambda c: (type(c), c)).map(Categorical)
ORDINALS = st.one_of(
    st.lists(st.integers(-(2**60), 2**60), min_size=2, max_size=6, unique=True),
    st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=6, unique=True),
).map(lambda values: Ordinal(sorted(values)))
STEPPED = st.builds(
    lambda low, step, count: Integer(low, low + step * count, step=step), *map(st.integers, (-99, 1, 0), (99, 9, 9))
) | st.builds(
    lambda low, step, count: Real(low / 100, (low + step * count) / 100, step=step / 100),
    *map(st.integers, (-99, 1, 0), (99, 9, 9)),
)
CONSTANT = (SCALARS | st.tuples(SCALARS, SCALARS)).map(Constant)
PARAMETERS = st.one_of(reals(), integers(), ORDINALS, CATEGORICALS, STEPPED, CONSTANT)
SPACES = st.dictionaries(TEXT, PARAMETERS, min_size=1, max_size=4).map(Space)
COORDINATES = st.floats(-0.5, 1.5) | st.sampled_from([0.0, 1.0, 0.5])


@st.composite
def spaces_with_points(draw):
    space = draw(SPACES)
    return space, draw(hnp.arrays(float, (draw(st.integers(1, 4)), space.dim), elements=COORDINATES))


def mixed_space():
    return Space(
        {
            "C": Real(2**-10, 2**10, log=True),
            "momentum": Real(-1, 1),
            "units": Integer(16, 512, log=True),
            "layers": Integer(1, 5),
            "activation": Categorical(["relu", "tanh", "elu"]),
        }
    )


class TestProperties:
    @examples
    @given(spaces_with_points())
    def test_configurations_are_plain_valid_and_survive_the_round_trip(self, drawn):
        space, points = drawn
        for point in points:
            config = space.from_unit(point)
            assert tuple(config) == space.names
            assert typed(space.validate(config)) == typed(config)
            u = space.to_unit(config)
            assert ((u >= 0) & (u <= 1)).all()
            again = space.from_unit(u)
            for name, parameter in space.parameters.items():
                if not parameter.continuous:
                    assert typed(again)[name] == typed(config)[name]
                    continue
                assert type(config[name]) is float
                # Rounding of the coordinate is amplified by the logarithm's range.
                scale = max(abs(parameter.low), abs(parameter.high))
                tolerance = 2e-12 * abs(config[name]) if parameter.log else 4e-15 * scale
                assert abs(again[name] - config[name]) <= tolerance

    @examples
    @given(spaces_with_points())
    def test_snap_is_the_point_of_the_configuration(self, drawn):
        space, points = drawn
        snapped = space.snap(points)
        assert np.array_equal(space.snap(snapped), snapped)
        discrete = ~space.continuous
        for point, representative in zip(points, snapped, strict=True):
            expected = space.to_unit(space.from_unit(point))
            assert np.array_equal(representative[discrete], expected[discrete])
        assert np.array_equal(snapped[:, space.continuous], np.clip(points, 0, 1)[:, space.continuous])
        assert all(typed(space.from_unit(a)) == typed(space.from_unit(b)) for a, b in zip(points, snapped, strict=True))

    @examples
    @given(spaces_with_points())
    def test_a_constraint_is_asked_of_the_configurations_of_the_points(self, drawn):
        space, points = drawn
        asked = []
        recording = Space(space.parameters, constraint=lambda config: asked.append(config) or True)
        assert recording.allowed(points).all()
        assert [list(typed(config).items()) for config in asked] == [
            list(typed(space.from_unit(point)).items()) for point in points
        ]

    @examples
    @given(spaces_with_points())
    def test_features_depend_on_the_configuration_alone(self, drawn):
        space, points = drawn
        features = space.features(points)
        assert features.shape == (len(points), len(space.groups))
        assert np.array_equal(features, space.features(space.snap(points)))

    @examples
    @given(SPACES)
    def test_json_round_trip(self, space):
        again = Space.from_dict(json.loads(json.dumps(space.to_dict(), sort_keys=True, allow_nan=False)))
        assert again == space
        assert hash(again) == hash(space)
        assert again.names == space.names

    @examples
    @given(st.floats(1e-100, 1e100), st.floats(1.001, 1e50))
    def test_log_scale_has_the_geometric_mean_in_the_middle(self, low, factor):
        parameter = Real(low, low * factor, log=True)
        assert Space({"x": parameter}).from_unit([0.5])["x"] == pytest.approx(low * math.sqrt(factor), rel=1e-12)

    @examples
    @given(integers() | reals(), st.lists(st.floats(0, 1), min_size=2, max_size=6))
    def test_values_rise_with_the_coordinate(self, parameter, coordinates):
        values = [Space({"x": parameter}).from_unit([u])["x"] for u in sorted(coordinates)]
        assert values == sorted(values)

    @examples
    @given(integers(), st.data())
    def test_integers_round_trip_up_to_the_largest_range(self, parameter, data):
        value = data.draw(st.integers(parameter.low, parameter.high))
        space = Space({"k": parameter})
        for k in (value, parameter.low, parameter.high):
            assert space.from_unit(space.to_unit({"k": k})) == {"k": k}

    @examples
    @given(st.integers(-100, 100), st.integers(2, 12), st.floats(0, 1, exclude_max=True))
    @example(0, 2, 0.5)
    def test_bins_are_equally_wide(self, low, count, u):
        index = int(np.floor(u * count))
        integer = Space({"k": Integer(low, low + count - 1)})
        choice = Space({"k": Categorical([str(low + i) for i in range(count)])})
        assert integer.from_unit([u]) == {"k": low + index}
        assert choice.from_unit([u]) == {"k": str(low + index)}
        assert integer.snap([[u]]) == choice.snap([[u]]) == pytest.approx((index + 0.5) / count, abs=1e-15)


class TestExactValues:
    def test_ends_of_the_cube_are_the_bounds(self):
        space = mixed_space()
        lowest = {"C": 2**-10, "momentum": -1.0, "units": 16, "layers": 1, "activation": "relu"}
        highest = {"C": 2.0**10, "momentum": 1.0, "units": 512, "layers": 5, "activation": "elu"}
        assert space.from_unit(np.zeros(5)) == space.from_unit(np.full(5, -3.0)) == lowest
        assert space.from_unit(np.ones(5)) == space.from_unit(np.full(5, np.inf)) == highest
        reals_at_ends = {**lowest, "momentum": 1.0}
        assert space.to_unit(reals_at_ends)[:2].tolist() == [0.0, 1.0]

    def test_ends_are_exact_where_arithmetic_would_round(self):
        space = Space({"x": Real(0.1, 0.7, log=True), "y": Real(-0.1, 0.7)})
        assert space.from_unit([0, 0]) == {"x": 0.1, "y": -0.1}
        assert space.from_unit([1, 1]) == {"x": 0.7, "y": 0.7}

    def test_log_integer_bins(self):
        space = Space({"k": Integer(1, 3, log=True)})
        edges = np.log(np.array([0.5, 1.5, 2.5, 3.5]) / 0.5) / np.log(7)
        inside = np.concatenate([edges[:-1] + 1e-12, edges[1:] - 1e-12])
        assert [space.from_unit([u])["k"] for u in inside] == [1, 2, 3, 1, 2, 3]
        centers = [space.to_unit({"k": k})[0] for k in (1, 2, 3)]
        assert centers == pytest.approx((edges[:-1] + edges[1:]) / 2, abs=1e-15)

    def test_features_and_groups(self):
        space = Space({"x": Real(0, 1), "c": Categorical(["a", "b", "c"]), "k": Integer(1, 2)})
        root = math.sqrt(0.5)
        features = space.features([[0.3, 0.1, 0.9], [-1.0, 0.9, 0.1]])
        assert features == pytest.approx(np.array([[0.3, root, 0, 0, 0.75], [0, 0, 0, root, 0.25]]))
        assert space.groups.tolist() == [0, 1, 1, 1, 2]
        assert ((features[0] - features[1]) ** 2)[space.groups == 1].sum() == pytest.approx(1.0)

    def test_attributes(self):
        space = mixed_space()
        assert space.names == ("C", "momentum", "units", "layers", "activation")
        assert space.dim == 5
        assert space.size == math.inf
        assert space.continuous.tolist() == [True, True, False, False, False]
        assert Space({"k": Integer(3, 6), "c": Categorical(["a", "b"])}).size == 8
        wide = Integer(0, MAX_INTEGER_RANGE)
        assert Space({f"k{i}": wide for i in range(40)}).size == wide.size**40
        assert Space({**{f"k{i}": wide for i in range(40)}, "x": Real(0, 1)}).size == math.inf

    def test_real_space_returns_a_new_clipped_array(self):
        space = Space({"x": Real(0, 1), "y": Real(1, 5, log=True)})
        points = np.array([[-0.25, 0.5], [0.75, 2.0]])
        for result in (space.snap(points), space.features(points)):
            assert result.tolist() == [[0.0, 0.5], [0.75, 1.0]]
            assert not np.shares_memory(result, points)
        inside = np.full((2, 2), 0.5)
        assert not np.shares_memory(space.snap(inside), inside)

    def test_no_points(self):
        assert mixed_space().features(np.empty((0, 5))).shape == (0, 7)

    def test_input_is_not_changed(self):
        points = np.full((3, 5), 0.123)
        mixed_space().snap(points)
        assert (points == 0.123).all()

    def test_no_warning_at_the_widest_ranges(self):
        space = Space(
            {"x": Real(5e-324, 1.7e308, log=True), "y": Real(-8e307, 8e307), "k": Integer(1, 2**40, log=True)}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            space.features([[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5]])
            assert space.to_unit(space.from_unit([0.5, 0.5, 1.0]))[:2] == pytest.approx(0.5)

    def test_space_is_a_value(self):
        space = mixed_space()
        assert pickle.loads(pickle.dumps(space)) == space
        assert space != Space(dict(reversed(space.parameters.items())))
        assert space != "space"
        assert "units" in repr(space)


class TestOrdinals:
    def test_neighbors_are_equally_far_apart_and_in_their_order(self):
        space = Space({"k": Ordinal((8, 16, 512, 513))})
        assert [space.to_unit({"k": value})[0] for value in (8, 16, 512, 513)] == [0.125, 0.375, 0.625, 0.875]
        assert [space.from_unit([u])["k"] for u in (0.0, 0.24, 0.26, 0.74, 0.76, 1.0)] == [8, 8, 16, 512, 513, 513]
        assert (space.size, space.continuous.tolist(), space.features([[0.3]]).tolist()) == (4, [False], [[0.375]])

    def test_shift_stops_at_the_ends(self):
        kind = Ordinal((1.0, 2.5, 9.0))
        u = kind.centers()
        np.testing.assert_array_equal(kind.shift(u, 1), u[[1, 2, 2]])
        np.testing.assert_array_equal(kind.shift(u, -4), u[[0, 0, 0]])

    def test_values_keep_one_type(self):
        assert [type(value) for value in Ordinal((np.int64(1), 2)).values] == [int, int]
        assert [type(value) for value in Ordinal((0, 0.5)).values] == [float, float]
        space = Space({"k": Ordinal((0, 0.5))})
        assert space.validate({"k": 0}) == {"k": 0.0} and type(space.validate({"k": 0})["k"]) is float
        assert Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space
        assert hash(Ordinal([1, 2])) == hash(Ordinal((1, 2)))

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ((), "values must be at least one, got none"),
            ((2, 1), r"must ascend, got \[2, 1\]"),
            ((1, 1.0), "must ascend"),
            ((1, math.inf), "must be finite"),
            ((1, math.nan), "must be finite"),
        ],
    )
    def test_bad_values_are_refused(self, values, message):
        with pytest.raises(ValueError, match=message):
            Ordinal(values)

    @pytest.mark.parametrize("values", ["12", {1, 2}, 3, None, (1, "2"), (True, 2), (1, None)])
    def test_wrong_types_are_refused(self, values):
        with pytest.raises(TypeError, match="number"):
            Ordinal(values)

    def test_a_value_between_is_refused(self):
        with pytest.raises(ValueError, match=r"parameter 'k': must be one of \[1, 4\], got 2"):
            Space({"k": Ordinal((1, 4))}).to_unit({"k": 2})
        with pytest.raises(TypeError, match="parameter 'k': value must be a number, got '4'"):
            Space({"k": Ordinal((1, 4))}).to_unit({"k": "4"})


class TestChoices:
    def test_true_one_and_one_point_zero_are_three_choices(self):
        space = Space({"c": Categorical([True, 1, 1.0])})
        for i, value in enumerate([True, 1, 1.0]):
            u = space.to_unit({"c": value})
            assert u == pytest.approx((i + 0.5) / 3)
            assert type(space.from_unit(u)["c"]) is type(value)
        assert Categorical([True, 2]) != Categorical([1, 2]) != Categorical([1.0, 2])
        assert [type(c) for c in Space.from_dict(space.to_dict()).parameters["c"].choices] == [bool, int, float]

    def test_a_value_of_another_type_is_not_the_choice(self):
        with pytest.raises(ValueError, match=r"'c': must be one of \[1, 2\], got True"):
            Space({"c": Categorical([1, 2])}).to_unit({"c": True})

    @pytest.mark.parametrize("choices", [["a", "a"], [1, 1], [None, None], [0.0, -0.0], np.array([2, 2])])
    def test_duplicates_are_refused(self, choices):
        with pytest.raises(ValueError, match="must differ"):
            Categorical(choices)

    @pytest.mark.parametrize("choices", [[], ()])
    def test_no_choices_are_refused(self, choices):
        with pytest.raises(ValueError, match="choices must be at least one, got none"):
            Categorical(choices)

    def test_tuples_are_choices_and_json_brings_them_back(self):
        space = Space({"layers": Categorical([(64,), (64, 32), (), ("a", (1, True)), ("a", (1, 1))])})
        again = Space.from_dict(json.loads(json.dumps(space.to_dict())))
        assert again == space
        assert again.from_unit([0.3]) == {"layers": (64, 32)}
        assert again.validate({"layers": [64, 32]}) == {"layers": (64, 32)}
        assert [again.to_unit({"layers": ["a", [1, value]]})[0] for value in (True, 1)] == [0.7, 0.9]
        with pytest.raises(ValueError, match=r"must be one of .*, got \(32,\)"):
            again.validate({"layers": (32,)})

    def test_a_category_of_two_truth_values_has_finite_features(self):
        space = Space({"on": Categorical((False, True))})
        features = space.features([space.to_unit({"on": value}) for value in (False, True)])
        assert np.isfinite(features).all()
        assert ((features[0] - features[1]) ** 2).sum() == pytest.approx(1.0)
        assert [space.from_unit([u]) for u in (0.49, 0.51)] == [{"on": False}, {"on": True}]

    @pytest.mark.parametrize("choices", ["ab", b"ab", {"a", "b"}, {"a": 1}, 3, None, [([1], 2), 3], [[1], 2], [1j, 2]])
    def test_wrong_types_are_refused(self, choices):
        with pytest.raises(TypeError, match="choice"):
            Categorical(choices)

    @pytest.mark.parametrize("number", [math.nan, math.inf, np.float32(math.nan)])
    def test_numbers_that_json_lacks_are_refused(self, number):
        with pytest.raises(ValueError, match="finite"):
            Categorical([1.0, number])


CONSTANTS = [
    (Constant("adam"), "adam"),
    (Constant((64, None)), (64, None)),
    (Categorical(["adam"]), "adam"),
    (Ordinal((3,)), 3),
    (Integer(7, 7), 7),
    (Integer(7, 7, log=True), 7),
    (Integer(7, 7, step=2), 7),
    (Real(0.5, 0.5), 0.5),
    (Real(0.5, 0.5, log=True), 0.5),
    (Real(0.5, 0.5, step=0.1), 0.5),
]


class TestConstants:
    @pytest.mark.parametrize(("kind", "value"), CONSTANTS, ids=lambda each: repr(each))
    def test_a_constant_is_one_value_at_one_point(self, kind, value):
        space = Space({"k": kind, "x": Real(0, 1)})
        for u in (0.0, 0.2, 1.0):
            assert typed(space.from_unit([u, 0.5])) == {"k": (type(value), value), "x": (float, 0.5)}
            assert space.snap([[u, 0.5]]) == pytest.approx(np.array([[0.5, 0.5]]))
            assert np.array_equal(space.features([[u, 0.5]]), space.features([[0.5, 0.5]]))
        assert space.to_unit({"k": value, "x": 0.5}) == pytest.approx([0.5, 0.5])
        assert (kind.size, space.n_varying, space.dim, space.continuous.tolist()) == (1, 1, 2, [False, True])
        assert Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space
        assert Space({"k": kind}).size == 1
        with pytest.raises((TypeError, ValueError), match="parameter 'k'"):
            space.validate({"k": "other", "x": 0.5})

    def test_constants_that_are_equal_to_python_differ(self):
        assert len({Constant(True), Constant(1), Constant(1.0), Constant(1)}) == 3
        with pytest.raises(ValueError, match="parameter 'k': must be True, got 1"):
            Space({"k": Constant(True)}).validate({"k": 1})
        assert Space({"k": Constant((1, 2))}).validate({"k": [1, 2]}) == {"k": (1, 2)}

    @pytest.mark.parametrize(
        ("value", "error"), [([1], TypeError), ({}, TypeError), (1j, TypeError), (math.nan, ValueError)]
    )
    def test_a_value_that_json_lacks_is_refused(self, value, error):
        with pytest.raises(error, match="a choice must be"):
            Constant(value)


class TestSteps:
    def test_values_are_those_that_are_written(self):
        kind = Real(0.1, 0.7, step=0.1)
        assert [kind.at(index) for index in range(7)] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
        assert (kind.size, kind.continuous, kind.index(0.3)) == (7, False, 2)
        space = Space({"x": kind})
        assert space.validate({"x": 0.1 + 0.2}) == {"x": 0.3}
        assert [space.from_unit([u])["x"] for u in (0.0, 0.15, 0.999, 1.0)] == [0.1, 0.2, 0.7, 0.7]
        assert space.to_unit({"x": 0.4}) == pytest.approx([0.5])

    def test_integers_keep_their_type(self):
        space = Space({"n": Integer(16, 64, step=16)})
        values = [space.from_unit([u])["n"] for u in (0.1, 0.3, 0.6, 0.9)]
        assert (values, {*map(type, values)}, space.size) == ([16, 32, 48, 64], {int}, 4)
        assert space.features([[0.3]]).tolist() == [[0.375]]

    @pytest.mark.parametrize("kind", [Real(-1, 1, step=0.25), Integer(0, 9, step=3)])
    def test_a_step_is_kept_in_dictionaries_and_tells_parameters_apart(self, kind):
        space = Space({"k": kind})
        assert space.to_dict()["parameters"][0]["step"] == kind.step
        assert Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space
        assert space != Space({"k": type(kind)(kind.low, kind.high)})
        assert "step" not in Space({"k": type(kind)(kind.low, kind.high)}).to_dict()["parameters"][0]

    @pytest.mark.parametrize(
        ("kind", "arguments", "error", "message"),
        [
            (
                Real,
                {"high": 1, "step": 0.3},
                ValueError,
                r"steps of 0.3 from low=0.0 must reach high, got high=1.0; .* 0.9",
            ),
            (
                Integer,
                {"high": 10, "step": 4},
                ValueError,
                "steps of 4 from low=0 must reach high, got high=10; .* is 8",
            ),
            (Real, {"high": 1, "step": 0}, ValueError, "Real: step must be above 0, got 0.0"),
            (Integer, {"high": 4, "step": -2}, ValueError, "Integer: step must be above 0, got -2"),
            (Integer, {"high": 4, "step": 2.0}, TypeError, "Integer: step must be an integer, got 2.0"),
            (Real, {"high": 1, "step": "a"}, TypeError, "Real: step must be a number, got 'a'"),
            (Real, {"high": 1, "step": 1e-13}, ValueError, "cannot resolve steps of 1e-13 from 0.0 to 1.0"),
            (
                Real,
                {"low": 1, "high": 3, "log": True, "step": 1},
                ValueError,
                "a log scale has no step, got step=1.0; use",
            ),
            (Integer, {"low": 1, "high": 3, "log": True, "step": 2}, ValueError, "a log scale has no step, got step=2"),
        ],
    )
    def test_steps_that_are_none(self, kind, arguments, error, message):
        with pytest.raises(error, match=message):
            kind(**{"low": 0, **arguments})

    def test_a_value_between_steps_is_refused(self):
        space = Space({"x": Real(0, 1, step=0.25), "n": Integer(1, 7, step=3)})
        with pytest.raises(ValueError, match=r"parameter 'x': must be a number of steps of 0\.25 from 0\.0, got 0\.3"):
            space.validate({"x": 0.3, "n": 4})
        with pytest.raises(ValueError, match="parameter 'n': must be a number of steps of 3 from 1, got 5"):
            space.validate({"x": 0.25, "n": 5})


class TestBounds:
    @pytest.mark.parametrize("kind", [Real, Integer])
    def test_order_and_log(self, kind):
        with pytest.raises(ValueError, match=r"low must not exceed high, got low=2.*high=1"):
            kind(2, 1)
        for low in (0, -1):
            with pytest.raises(ValueError, match="above 0 for a log scale"):
                kind(low, 1, log=True)
        with pytest.raises(TypeError, match="log must be True or False, got 'yes'"):
            kind(1, 2, log="yes")

    @pytest.mark.parametrize("bound", [math.nan, math.inf, -math.inf, 10**400])
    def test_real_bounds_are_finite(self, bound):
        with pytest.raises(ValueError, match="low must be finite"):
            Real(bound, 1)
        with pytest.raises(ValueError, match="high must be finite"):
            Real(0, bound)

    @pytest.mark.parametrize("bound", [True, "0", None, 1j, np.bool_(True), [0]])
    def test_bounds_are_numbers(self, bound):
        with pytest.raises(TypeError, match="Real: low must be a number"):
            Real(bound, 5)
        with pytest.raises(TypeError, match="Integer: low must be an integer"):
            Integer(bound, 5)

    @pytest.mark.parametrize("bound", [1.0, np.float64(2), math.nan])
    def test_integer_bounds_are_integers(self, bound):
        with pytest.raises(TypeError, match="high must be an integer"):
            Integer(0, bound)

    def test_ranges_beyond_double_precision(self):
        with pytest.raises(ValueError, match="double precision"):
            Real(-1.7e308, 1.7e308)
        with pytest.raises(ValueError, match="double precision"):
            Real(1e300, np.nextafter(1e300, np.inf), log=True)
        with pytest.raises(ValueError, match="double precision"):
            Integer(0, 2**40 + 1)
        with pytest.raises(ValueError, match="double precision"):
            Integer(2**40, 2**40 + 1, log=True)

    def test_numpy_bounds_become_plain(self):
        real, integer = Real(np.float32(0.5), np.int64(2), np.bool_(True)), Integer(np.int8(1), np.int64(9))
        assert [type(x) for x in (real.low, real.high, real.log)] == [float, float, bool]
        assert [type(x) for x in (integer.low, integer.high, integer.log)] == [int, int, bool]


GOOD = {"C": 1.0, "momentum": 0, "units": 64, "layers": 2, "activation": "tanh"}


class TestValidation:
    def test_numpy_scalars_come_back_plain(self):
        config = {
            "C": np.float32(1),
            "momentum": np.int64(0),
            "units": np.int32(64),
            "layers": np.uint8(2),
            "activation": np.str_("tanh"),
        }
        plain = mixed_space().validate(config)
        assert plain == GOOD
        assert [type(value) for value in plain.values()] == [float, float, int, int, str]
        assert np.array_equal(mixed_space().to_unit(config), mixed_space().to_unit(GOOD))

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"units": 64.0}, TypeError, "'units': value must be an integer, got 64.0 of type float"),
            ({"units": True}, TypeError, "'units': value must be an integer"),
            ({"units": 15}, ValueError, r"'units': must lie in \[16, 512\], got 15"),
            ({"C": "1"}, TypeError, "'C': value must be a number, got '1' of type str"),
            ({"C": True}, TypeError, "'C': value must be a number"),
            ({"C": math.nan}, ValueError, "'C': value must be finite"),
            ({"C": 1024.001}, ValueError, r"'C': must lie in \[0.0009765625, 1024.0\], got 1024.001"),
            ({"activation": "Relu"}, ValueError, r"'activation': must be one of \['relu'.*got 'Relu'"),
            ({"activation": ["relu"]}, ValueError, "'activation': must be one of"),
            ({"unit": 3}, ValueError, "no parameter 'unit': did you mean 'units'"),
            ({7: 3}, ValueError, "no parameter 7"),
        ],
    )
    def test_values(self, change, error, message):
        with pytest.raises(error, match=message):
            mixed_space().to_unit({**GOOD, **change})

    def test_missing_names(self):
        with pytest.raises(ValueError, match=r"lacks a value for \['C', 'layers'\]"):
            mixed_space().to_unit({name: GOOD[name] for name in ("momentum", "units", "activation")})

    @pytest.mark.parametrize("config", [None, [1, 2], "C"])
    def test_config_is_a_mapping(self, config):
        with pytest.raises(TypeError, match="config must map"):
            mixed_space().to_unit(config)

    @pytest.mark.parametrize("u", [0.5, [0.5] * 4, [[0.5] * 5]])
    def test_shape_of_a_point(self, u):
        with pytest.raises(ValueError, match=r"u must have shape \(5,\)"):
            mixed_space().from_unit(u)

    @pytest.mark.parametrize("method", ["snap", "features"])
    def test_shape_of_points(self, method):
        with pytest.raises(ValueError, match=r"U must have shape \(n, 5\), got \(5,\)"):
            getattr(mixed_space(), method)(np.zeros(5))
        with pytest.raises(ValueError, match="nan"):
            getattr(mixed_space(), method)(np.full((2, 5), math.nan))

    def test_nan_is_refused(self):
        with pytest.raises(ValueError, match="nan"):
            mixed_space().from_unit([0.5, math.nan, 0.5, 0.5, 0.5])

    def test_arguments_of_a_space(self):
        with pytest.raises(TypeError, match="must map names"):
            Space([Real(0, 1)])
        with pytest.raises(ValueError, match="at least one"):
            Space({})
        with pytest.raises(TypeError, match="name of a parameter must be a str, got 3"):
            Space({3: Real(0, 1)})
        with pytest.raises(TypeError, match=r"'x' must be a Real.*got \(0, 1\)"):
            Space({"x": (0, 1)})

    @pytest.mark.parametrize(
        ("data", "error", "message"),
        [
            ({}, ValueError, "lacks 'parameters'"),
            ({"parameters": [{"type": "real"}]}, ValueError, "lacks 'name'"),
            ({"parameters": [{"name": "x", "type": "float"}]}, ValueError, "'x': type must be one of"),
            ({"parameters": [{"name": "x", "type": "real", "lo": 0}]}, TypeError, "lo"),
            ({"parameters": [{"name": "x", "type": "real", "low": 0, "high": 1}] * 2}, ValueError, "twice"),
            ({"parameters": []}, ValueError, "at least one"),
        ],
    )
    def test_foreign_data(self, data, error, message):
        with pytest.raises(error, match=message):
            Space.from_dict(data)
