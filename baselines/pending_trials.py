"""What every method checks and keeps account of: its seed, and the trials asked and not told yet."""

from __future__ import annotations

from baselines.protocol import Trial
from btao.checks import check_integer


def check_seed(seed: int) -> int:
    """`seed`, or ValueError if it is no integer of at least 0."""
    return check_integer("seed", seed, least=0)


class PendingTrials:
    """The pending trials of a method."""

    def __init__(self) -> None:
        self._pending: dict[int, Trial] = {}

    def open(self, trial: Trial) -> Trial:
        """Note a trial that is asked; returns it."""
        self._pending[trial.number] = trial
        return trial

    def close(self, trial: Trial) -> None:
        """Strike out a trial that is told.

        Raises
        ------
        ValueError
            If it was not asked for, or was told before.
        """
        if self._pending.get(trial.number) != trial:
            raise ValueError(f"trial {trial.number} is not pending: it was never asked for, or was told before")
        del self._pending[trial.number]
