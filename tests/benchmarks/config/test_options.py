"""Values of options, and the nearest right name."""

from __future__ import annotations

import re

import pytest

from benchmarks.common.errors import UsageError
from benchmarks.config.options import alike, given, seeds, text, unknown


@pytest.mark.parametrize(("value", "expected"), [(1, (0,)), (10, tuple(range(10))), ([3, 7], (3, 7)), ([7, 3], (7, 3))])
def test_seeds(value, expected):
    assert seeds(value) == expected


@pytest.mark.parametrize("value", [0, -1, [], [1, 1], [-1], [2**63], [1.5], 2.5, "three", None, True, [True], {"a": 1}])
def test_wrong_seeds_are_refused_with_what_would_be_right(value):
    with pytest.raises(UsageError, match=r"seeds=.*seeds=10.*seeds=\[3,7\]"):
        seeds(value)


def test_values_that_are_given():
    known = {"out": "a folder", "match": "a text"}
    assert given(["+out=here", "match=a=b", "out=there"], known) == {"out": "there", "match": "a=b"}
    assert given([], known) == {}


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("out", "'out' is not of the form option=value; --help lists the options"),
        ("out=", "out=: give a folder"),
        ("uot=here", "unknown option 'uot': did you mean 'out'?"),
    ],
)
def test_arguments_that_are_no_option_are_refused(argument, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        given(["out=here", argument], {"out": "a folder"})


def test_nearest_name_and_none():
    assert unknown("task", "curin", ["currin", "park"]) == "unknown task 'curin': did you mean 'currin'?"
    assert unknown("task", "zzz", ["currin", "park"]) == "unknown task 'zzz': choose one of currin, park"


@pytest.mark.parametrize(("value", "written"), [(None, "null"), ([1, [None]], "[1,[null]]"), (2.5, "2.5")])
def test_values_are_shown_as_they_are_written(value, written):
    assert text(value) == written


@pytest.mark.parametrize(
    ("value", "default"), [(2, 1.0), (0.5, 1), (False, True), ("a", "b"), ("a", None), (None, 1), ([1, 2], [3])]
)
def test_values_of_the_kind_of_the_default_pass(value, default):
    alike("x", value, default)


@pytest.mark.parametrize(
    ("value", "default", "right"),
    [
        ("a", 1.0, "a number"),
        (True, 1, "a number"),
        (1, True, "true or false"),
        ("yes", False, "true or false"),
        (1, "a", "a text"),
        ("abc", [1.0], "a list"),
    ],
)
def test_values_of_another_kind_are_refused(value, default, right):
    with pytest.raises(UsageError, match=re.escape(f"x={text(value)}: give {right}, as in x={text(default)}")):
        alike("x", value, default)
