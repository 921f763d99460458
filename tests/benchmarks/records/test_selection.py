"""A part of what was recorded."""

import pandas as pd
import pytest

from benchmarks.records.selection import selected

TRIALS = pd.DataFrame({"method": list("aabbc"), "seed": [0, 3, 0, 5, 5]})


def test_all_is_taken_where_nothing_is_named():
    pd.testing.assert_frame_equal(selected(TRIALS), TRIALS)


def test_methods_and_seeds_are_named_or_the_first_seeds_counted():
    assert selected(TRIALS, ["b", "c"]).to_numpy().tolist() == [["b", 0], ["b", 5], ["c", 5]]
    assert selected(TRIALS, seeds=2)["seed"].tolist() == [0, 3, 0]
    assert selected(TRIALS, ["a"], seeds=[3]).to_numpy().tolist() == [["a", 3]]


@pytest.mark.parametrize(
    ("methods", "seeds", "message"),
    [
        (["d"], None, "methods: 'd' is not there; there are a, b, c"),
        ("a", None, "methods='a': give a list of at least one of a, b, c"),
        ([], None, r"methods=\[\]: give a list"),
        (None, [1], "seeds: 1 is not there; there are 0, 3, 5"),
        (None, 4, "seeds=4: give a number from 1 to 3, which is how many there are"),
    ],
)
def test_what_is_not_there_is_refused(methods, seeds, message):
    with pytest.raises(ValueError, match=message):
        selected(TRIALS, methods, seeds)
