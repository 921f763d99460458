"""btao.search_cv.candidates: parameters, distributions and lists become a space, and its configurations parameters."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

from btao import Categorical, Integer, Ordinal, Real, Space
from btao.search_cv.candidates import Candidates


def parameter(given):
    return Candidates.of({"x": given}).space.parameters["x"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Real(0, 1), Real(0, 1)),
        (stats.uniform(2, 3), Real(2, 5)),
        (stats.loguniform(1e-3, 10), Real(1e-3, 10, log=True)),
        (stats.reciprocal(1e-3, 10), Real(1e-3, 10, log=True)),
        (stats.randint(3, 9), Integer(3, 8)),
        (stats.poisson(4), Integer(0, 11)),
        (stats.norm(), Real(0.001, 0.999)),
        (stats.expon(), Real(0, 0.999)),
        (stats.beta(2, 2), Real(0, 1)),
        ([3, 1, 2, 1], Ordinal([1, 2, 3])),
        (np.array([0.5, 0.25]), Ordinal([0.25, 0.5])),
        (np.arange(1, 3), Ordinal([1, 2])),
        (["a", "b", "a"], Categorical(["a", "b"])),
        ([None, 3], Categorical([None, 3])),
        ([0.5, 1], Categorical([0.5, 1])),
        ([True, False], Categorical([True, False])),
        ([(100,), (50, 50)], Categorical([0, 1])),
        ([1.0, np.nan], Categorical([0, 1])),
    ],
)
def test_what_is_given_becomes_a_parameter(given, expected):
    assert parameter(given) == expected


def test_a_space_is_taken_as_it_is():
    space = Space({"x": Real(0, 1)})
    candidates = Candidates.of(space)
    assert candidates.space is space and candidates.params({"x": 0.25}) == {"x": 0.25}


def test_configurations_become_parameters_of_the_estimator():
    ridge = Ridge()
    candidates = Candidates.of({"alpha": stats.norm(5, 2), "model": [None, ridge], "tol": [1e-3], "n": [1, 2]})
    assert candidates.names == {"alpha", "model", "tol", "n"}
    assert candidates.space.names == ("alpha", "model", "n")
    params = candidates.params({"alpha": 0.5, "model": 1, "n": 2})
    assert params == {"alpha": 5.0, "model": ridge, "tol": 1e-3, "n": 2} and params["model"] is ridge
    assert candidates.params({"alpha": 0.975, "model": 0, "n": 1})["alpha"] == pytest.approx(5 + 2 * 1.959964)


def test_lists_of_one_value_alone_are_a_space_of_one_configuration():
    ridge = Ridge()
    candidates = Candidates.of({"C": [1.0], "kind": ["a"], "model": [ridge]})
    assert candidates.space.size == 1
    params = candidates.params(candidates.space.from_unit([0.5, 0.5, 0.5]))
    assert params == {"C": 1.0, "kind": "a", "model": ridge} and params["model"] is ridge


@pytest.mark.parametrize(
    ("space", "error", "message"),
    [
        ([{"x": [1, 2]}], TypeError, "space must be a btao.Space, or map names to parameters"),
        ({"x": 3}, TypeError, "space: 'x' must be a btao parameter, a list or a frozen distribution of scipy.stats"),
        ({"x": "ab"}, TypeError, "space: 'x' must be a btao parameter"),
        ({"x": []}, ValueError, "space: the list of 'x' must hold a value at least, got none"),
        ({}, ValueError, "space must hold a parameter at least, got {}"),
    ],
)
def test_a_mistake_is_named(space, error, message):
    with pytest.raises(error, match=message):
        Candidates.of(space)
