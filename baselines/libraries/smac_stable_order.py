"""The one correction to SMAC: its local search starts in an order that depends on the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ConfigSpace import Configuration
    from smac.acquisition.maximizer import LocalAndSortedRandomSearch


def _vector(configuration: Configuration) -> list[float]:
    vector: list[float] = np.nan_to_num(configuration.get_array(), nan=-1.0).tolist()
    return vector


def keep_order(maximizer: LocalAndSortedRandomSearch) -> LocalAndSortedRandomSearch:
    """Let a maximizer's local search start from its points in a fixed order.

    SMAC 2.4.1 drops repeated starting points by a `set` of configurations. These are hashed by their
    text, which Python salts anew in every process, so the order in which the searches draw random
    numbers is another one in every process. Here the points are the same, sorted by their vectors:
    one of the orders that the set could have had. What is inactive is nan there, and counts as -1.

    Parameters
    ----------
    maximizer : LocalAndSortedRandomSearch
        Changed in place.

    Returns
    -------
    LocalAndSortedRandomSearch
        `maximizer`.
    """
    search = maximizer._local_search
    unordered = search._get_init_points_from_previous_configs

    def ordered(*args: Any, **kwargs: Any) -> list[Configuration]:
        return sorted(unordered(*args, **kwargs), key=_vector)

    search._get_init_points_from_previous_configs = ordered  # type: ignore[method-assign]
    return maximizer
