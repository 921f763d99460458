"""Names at the ends of curves, where there is room for them."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

SIZE = 7.5  # points
LINE = 1.2 * SIZE / 72  # inches from one name to the next
MOVED = 0.6  # lines that a name may be above or below its curve: two of one end both have one
EDGE = 0.97  # share of the axis beyond which a curve has to end: further left a name would lie on other curves


def label_ends(
    axes: Axes, ends: Mapping[str, tuple[float, float]], colors: Mapping[str, str], height: float
) -> list[str]:
    """Write names beside the ends of their curves, all to the right of the last; the names written, from below.

    Names that are too close are moved apart, and off the axis below them. Those that would have to move further than
    `MOVED` are left out.

    Parameters
    ----------
    axes : Axes
        With its scales and vertical limits set.
    ends : mapping
        By name: where its curve ends.
    colors : mapping
        By name.
    height : float
        Of the axes, in inches.
    """
    to_axes = axes.transScale + axes.transLimits
    right = max((x for x, _ in ends.values()), default=0.0)
    line = LINE / height
    shares = {name: to_axes.transform((right, y))[1] for name, (x, y) in ends.items() if x >= EDGE * right}
    shares = dict(sorted(shares.items(), key=lambda item: item[1]))
    places = _apart(list(shares.values()), line)
    while shares:
        moved = {name: abs(place - share) for (name, share), place in zip(shares.items(), places, strict=True)}
        farthest = max(moved, key=moved.__getitem__)
        if moved[farthest] <= MOVED * line:
            break
        del shares[farthest]
        places = _apart(list(shares.values()), line)
    for name, place in zip(shares, places, strict=True):
        axes.annotate(
            name,
            (right, place),
            xycoords=("data", "axes fraction"),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SIZE,
            color=colors[name],
            annotation_clip=False,
        )
    return list(shares)


def _apart(wanted: list[float], line: float) -> list[float]:
    """Places at least a line apart and half a line above 0, as close as can be to those wanted, which increase."""
    groups: list[tuple[float, int]] = []  # the lowest place of neighbors a line apart, and their number
    for share in wanted:
        low, count = share, 1
        while True:
            low = max(low, line / 2)
            if not groups or groups[-1][0] + groups[-1][1] * line <= low:
                break
            below, number = groups.pop()
            # The mean of what both move, as if each place had asked for the lowest.
            low, count = (below * number + (low - number * line) * count) / (number + count), number + count
        groups.append((low, count))
    return [low + number * line for low, count in groups for number in range(count)]
