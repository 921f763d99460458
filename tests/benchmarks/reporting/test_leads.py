"""Who is ahead, in words."""

import math

import pandas as pd

from benchmarks.reporting.leads import by_speed, grouped, lead


def rows(*values):
    return pd.DataFrame(values, columns=["label", "mean", "low", "high"])


def test_the_lowest_mean_is_named_with_what_overlaps_it_and_the_highest():
    four = rows(
        ("tpe", 0.4, 0.38, 0.42), ("btao", 0.1, 0.08, 0.15), ("gp_bo", 0.14, 0.12, 0.2), ("smac", 0.15, 0.15, 0.2)
    )
    assert lead(four) == (
        "`btao` has the lowest mean, 0.1 [0.08, 0.15], overlapped by the intervals of `gp_bo` and `smac`; "
        "`tpe` has the highest, 0.4"
    )
    alike = [(name, 0.1 + number / 100, 0.08, 0.2) for number, name in enumerate("abcde")]
    assert ", overlapped by the intervals of 4 of 5 others; `f` has the highest, 0.3" in lead(
        rows(*alike, ("f", 0.3, 0.3, 0.4))
    )
    apart = rows(("tpe", 0.4, 0.38, 0.42), ("btao", 0.1, 0.08, 0.15))
    assert lead(apart) == "`btao` has the lowest mean, 0.1 [0.08, 0.15]; `tpe` has the highest, 0.4"


def test_methods_of_the_same_lowest_mean_share_it():
    third = (0.1 + 0.2) / 3  # another last bit than 0.3 / 3
    assert third != 0.3 / 3
    three = rows(("tpe", 0.3 / 3, 0.09, 0.11), ("btao", third, 0.09, 0.1 + 0.01), ("smac", 0.11, 0.105, 0.2))
    assert three["high"].nunique() == 2
    assert lead(three) == (
        "`tpe` and `btao` share the lowest mean, 0.1 [0.09, 0.11], overlapped by the interval of `smac`; "
        "`smac` has the highest, 0.11"
    )
    assert lead(three[:2]) == "`tpe` and `btao` share the lowest mean, 0.1 [0.09, 0.11]"


def test_leaders_of_several_intervals_have_none_and_are_overlapped_by_what_overlaps_any():
    apart = [("tpe", 0.1, 0.0999, 0.1001), ("btao", 0.1, 0.05, 0.15), ("smac", 0.2, 0.14, 0.3)]
    for order in (apart, [apart[1], apart[0], apart[2]]):
        text = lead(rows(*order))
        assert text.endswith(
            "share the lowest mean, 0.1, overlapped by the interval of `smac`; `smac` has the highest, 0.2"
        )
    infinite = [(name, math.inf, math.nan, math.nan) for name in ("tpe", "smac")]
    assert lead(rows(*infinite)).startswith("`tpe` and `smac` share the lowest mean, ")


def test_what_has_no_interval_is_not_compared_and_what_has_no_mean_is_named():
    nan = math.nan
    late = rows(("tpe", nan, nan, nan), ("btao", 0.1, nan, nan))
    assert lead(late) == "`btao` has the lowest mean, 0.1; `tpe` has no mean yet"
    more = rows(*late.to_numpy(), ("smac", nan, nan, nan), ("gp_bo", nan, nan, nan))
    assert lead(more).endswith("; `tpe`, `smac` and `gp_bo` have no mean yet")
    assert lead(rows(("tpe", nan, nan, nan))) == "no method has a mean yet"


def test_methods_are_grouped_by_what_their_intervals_tell_and_empty_groups_are_left_out():
    infinity = math.inf
    speeds = pd.DataFrame(
        [
            ("tpe", 1.1, infinity),
            ("smac", 0.2, 0.9),
            ("bohb", 1.0, 3.0),
            ("gp_bo", 2.0, 3.0),
            ("none", math.nan, math.nan),
        ],
        columns=["over", "low", "high"],
    )
    assert grouped(speeds["over"], by_speed(speeds)) == (
        "faster than tpe, gp_bo; slower than smac; not told from bohb, none"
    )
    assert grouped(speeds["over"][:1], by_speed(speeds[:1])) == "faster than tpe"
    assert grouped(speeds["over"][:0], by_speed(speeds[:0])) == ""
