"""What an optimizer shows of its trials and of its model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from btao.arrays import FloatArray
from btao.interface.parts import Parts
from btao.trial import Trial
from btao.viewing.frames import trials_frame
from btao.viewing.html import summary
from btao.viewing.importance import total_effects
from btao.viewing.plots import plot_history, plot_profile
from btao.viewing.profile_explorer import ProfileExplorer


class Showing(Parts):
    """The methods of `BTAO` by which results are looked at."""

    @property
    def direction(self) -> str:
        """Whether values are to be small ("minimize") or large ("maximize")."""
        return self._direction.name

    @property
    def trials(self) -> list[Trial]:
        """All trials in the order of asking."""
        with self._lock:  # here and below: no other thread's warm start is seen by half
            return [self._shown(trial) for trial in self._history.trials]

    @property
    def pending(self) -> list[Trial]:
        """Trials that were asked and not told."""
        with self._lock:
            return [self._shown(trial) for trial in self._history.select(status="pending")]

    @property
    def best(self) -> Trial | None:
        """The best successful heavy trial (the first of equals), or None before there is one."""
        with self._lock:
            return self._shown(self._rule.best())

    @property
    def recommended(self) -> Trial | None:
        """The successful heavy trial whose response the model expects to be best, or None before there is one.

        The model is that of the last proposal, told all results since; before there is one, this is `best`. It
        differs from `best` where the model takes a difference of results for noise.
        """
        with self._lock:
            return self._shown(self._rule.recommended())

    def predict(self, configs: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> tuple[FloatArray, FloatArray]:
        """The performance profile: mean and standard deviation of the heavy response.

        Parameters
        ----------
        configs : list of m dicts, or one dict

        Returns
        -------
        mean, std : (m,) arrays
            In the units of the values told. Rules "joint" and "paper" use a light value where it is known (METHOD items
            7 and 8). "rate" takes light values without their noise (item 29), and gives the moments of a lognormal
            where its model is of logarithms (item 20).

        Raises
        ------
        RuntimeError
            Before a configuration has a light and a heavy result.
        TypeError, ValueError
            If a configuration is not of the space.

        Examples
        --------
        >>> from btao import BTAO, Real, Space
        >>> optimizer = BTAO(Space({"rate": Real(0, 1)}))
        >>> for rate, value in ((0.1, 0.5), (0.5, 0.2), (0.9, 0.4)):
        ...     for level in ("light", "heavy"):
        ...         told = optimizer.tell({"rate": rate}, level, value)
        >>> mean, std = optimizer.predict([{"rate": 0.5}, {"rate": 0.7}])
        >>> bool(abs(mean[0] - 0.2) < 1e-3), bool(std[0] < std[1])
        (True, True)
        """
        if isinstance(configs, Mapping):
            configs = [configs]
        points = np.array([self.space.to_unit(config) for config in configs]).reshape(-1, self.space.dim)
        with self._lock:
            if not self._history.paired():
                raise RuntimeError("predict needs a successful light and heavy trial at one configuration at least")
            mean, std = self._rule.predict(points)
        return self._direction.turn(mean), std

    def importance(self) -> dict[str, float]:
        """How much of the variation of the heavy response each parameter makes, by the model: its total Sobol' index.

        Returns
        -------
        dict of str to float
            By parameter, from the largest, each from 0 to about 1. Their sum exceeds 1 where parameters act together.

        Raises
        ------
        RuntimeError
            Before a configuration has a light and a heavy result.

        Examples
        --------
        The second parameter does nothing.

        >>> from btao import BTAO, Real, Space
        >>> optimizer = BTAO(Space({"rate": Real(0, 1), "idle": Real(0, 1)}), n_init=6)
        >>> while len(optimizer.trials) < 18:
        ...     trial = optimizer.ask()
        ...     told = optimizer.tell(trial, (trial.config["rate"] - 0.3) ** 2)
        >>> list(optimizer.importance())
        ['rate', 'idle']
        """
        self.predict([])  # raises it
        with self._lock:
            return total_effects(lambda points: self._rule.predict(points)[0], self.space)

    def plot_profile(self, *names: str, at: Mapping[str, Any] | None = None, ax: Any = None) -> Any:
        """Draw the heavy response along one parameter or two, as `btao.viewing.plots.plot_profile` has it."""
        return plot_profile(self, *names, at=at, ax=ax)

    def explore_profile(self, *names: str) -> ProfileExplorer:
        """The same in a notebook, with sliders that move it: see `btao.viewing.profile_explorer.ProfileExplorer`."""
        return ProfileExplorer(self, *names)

    def _repr_html_(self) -> str:
        return summary(self)

    def plot_history(self, ax: Any = None) -> Any:
        """Draw the values of all trials, and the best so far, as `btao.viewing.plots.plot_history` has it."""
        return plot_history(self, ax=ax)

    def trials_frame(self) -> Any:
        """All trials as a DataFrame of pandas: a column for each attribute of `Trial` and each parameter.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return trials_frame(self.trials, self.space)
