"""The data sets that scikit-learn carries: what they hold, and their split."""

import numpy as np
import pytest

from benchmarks.data import carried


@pytest.mark.parametrize(
    ("name", "shape", "counts"),
    [
        ("digits", (1797, 64), (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)),
        ("breast_cancer", (569, 30), (212, 357)),
    ],
)
def test_a_data_set_is_the_one_that_was_published(name, shape, counts):
    examples = carried.load(name)
    assert examples.x.shape == shape
    assert np.bincount(examples.y).tolist() == list(counts)
    assert not examples.x.flags.writeable


def test_a_split_takes_each_third_example_of_a_class_and_no_example_twice():
    split = carried.split("digits", 600, 590)
    examples = carried.load("digits")
    ones = examples.x[examples.y == 1]
    for place, part in enumerate((split.train, split.validation, split.test)):
        mine = part.x[part.y == 1]
        np.testing.assert_array_equal(mine, ones[place::3][: len(mine)])
    rows = np.concatenate([split.train.x, split.validation.x, split.test.x])
    assert len(np.unique(rows, axis=0)) == len(rows) == 1780
    assert (split.source.name, split.source.n_train, split.source.n_validation) == ("digits (scikit-learn)", 600, 590)


def test_a_smaller_split_is_part_of_a_larger_one_with_the_same_shares_of_classes():
    large, small = (carried.split("breast_cancer", n, n).train for n in (180, 60))
    assert {row.tobytes() for row in small.x} <= {row.tobytes() for row in large.x}
    assert abs(small.y.mean() - large.y.mean()) < 0.02


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("iris", 50, 50), r"name must be one of \['digits', 'breast_cancer'\], got 'iris'"),
        (("digits", 9, 50), "n_train must be an integer from 10 to 602 on digits, got 9"),
        (("digits", 50, 1000), "n_validation must be an integer from 10 to 599 on digits, got 1000"),
        (("digits", 50.0, 50), "n_train must be an integer from 10 to 602 on digits, got 50.0"),
    ],
)
def test_a_split_that_there_is_not_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        carried.split(*arguments)
