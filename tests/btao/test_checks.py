"""Checks of arguments: what counts as an integer and as a number, and what the errors say."""

import math
from fractions import Fraction

import numpy as np
import pytest

from btao.checks import check_integer, is_integer, is_number


@pytest.mark.parametrize("value", [0, -3, 2**70, np.int8(1), np.uint64(2**63)])
def test_integers(value):
    assert is_integer(value)
    assert is_number(value)


@pytest.mark.parametrize("value", [1.0, np.float32(0.5), math.nan, math.inf])
def test_numbers_that_are_no_integers(value):
    assert is_number(value)
    assert not is_integer(value)


@pytest.mark.parametrize("value", [True, np.bool_(True), None, "1", 1j, [1], np.array(1), Fraction(1, 2)])
def test_neither(value):
    assert not is_number(value)
    assert not is_integer(value)


def test_an_integer_comes_back_as_one_of_python():
    assert type(check_integer("n", np.int64(3))) is int
    assert check_integer("n", 0, least=0) == 0
    assert check_integer("n", None, none="null") is None


@pytest.mark.parametrize(
    ("value", "least", "none", "message"),
    [
        (0, 1, "", "n must be an integer of at least 1, got 0"),
        (None, 1, "", "n must be an integer of at least 1, got None"),
        (True, 0, "", "n must be an integer of at least 0, got True"),
        (2.0, 1, "null", "n must be null or an integer of at least 1, got 2.0"),
        (0, 1, "None", "n must be None or an integer of at least 1, got 0"),
    ],
)
def test_what_is_wrong_is_named(value, least, none, message):
    with pytest.raises(ValueError) as reason:
        check_integer("n", value, least, none=none)
    assert str(reason.value) == message
