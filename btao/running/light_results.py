"""What a light objective returns beside its value, kept for the heavy run of the same configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from typing import Any

from btao.parameters import key
from btao.trial import Trial


class LightResults:
    """A model, the path of a checkpoint or whatever a heavy run goes on from.

    A result is kept until the heavy run of its configuration begins, and none longer than this object.

    Parameters
    ----------
    heavy : callable
        The heavy objective. It takes part by a parameter named `light`: then the light one may return a pair, its value
        and a result, and the heavy one is given the result, or None where there is none. Of a pair that the heavy one
        returns, as where one function trains at both levels, the result is dropped.
    """

    def __init__(self, heavy: Callable[..., Any]) -> None:
        self.wanted = takes_light(heavy)
        self._kept: dict[Hashable, Any] = {}

    def arguments(self, trial: Trial) -> dict[str, Any]:
        """What the objective of a trial is given beside the configuration; a result is handed out once."""
        if not self.wanted or trial.level == "light":
            return {}
        return {"light": self._kept.pop(_key(trial), None)}

    def drop(self, trial: Trial) -> None:
        """Forget the result of a light run that failed, after which no heavy one comes."""
        if trial.level == "light" and trial.status != "ok":
            self._kept.pop(_key(trial), None)

    def value(self, trial: Trial, returned: Any) -> Any:
        """The value of what an objective returned, without the result beside it, which is kept."""
        if not (self.wanted and isinstance(returned, tuple) and len(returned) == 2):
            return returned
        value, result = returned
        if trial.level == "light":
            self._kept[_key(trial)] = result
        return value


def _key(trial: Trial) -> Hashable:
    """The configuration, in which 1 and True are two values."""
    return tuple((name, key(value)) for name, value in trial.config.items())


def takes_light(heavy: Callable[..., Any]) -> bool:
    """Whether the heavy objective goes on from what the light one returned."""
    try:
        return "light" in inspect.signature(heavy).parameters
    except ValueError:  # of some built-in functions there is no signature
        return False
