"""Names at the ends of curves, where there is room for them."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

SIZE = 7.5  # points
LINE = 1.2 * SIZE / 72  # inches from one name to the next
MOVED = 1.0  # lines that a name may be above its curve
EDGE = 0.97  # share of the axis beyond which a curve has to end: further left a name would lie on other curves


def label_ends(
    axes: Axes, ends: Mapping[str, tuple[float, float]], colors: Mapping[str, str], height: float
) -> list[str]:
    """Write names beside the ends of their curves, to the right of the axes; the names written, from below.

    Names that are too close are moved up, those that would have to move further than `MOVED` are left out.

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
    shares = {name: (to_axes.transform((right, y))[1], x) for name, (x, y) in ends.items() if x >= EDGE * right}
    written, lowest = [], float("-inf")
    for name, (share, x) in sorted(shares.items(), key=lambda item: item[1][0]):
        place = max(share, lowest)
        if place - share > MOVED * line:
            continue
        axes.annotate(
            name,
            (x, place),
            xycoords=("data", "axes fraction"),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SIZE,
            color=colors[name],
            annotation_clip=False,
        )
        written.append(name)
        lowest = place + line
    return written
