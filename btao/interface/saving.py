"""An optimizer as text, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from btao.interface.arguments import has
from btao.interface.parts import Parts
from btao.interface.state import bounds_to_json, read_state, read_trial, write_state
from btao.space import Space
from btao.spaces.constraint import ConstraintMismatch
from btao.tam import check_bounds

BOUNDS = ("delta_bounds", "rho_bounds")
OPTIONS = (
    *("seed", "direction", "rule", "n_init", "light_per_heavy", "square_root_beta"),
    *("noise", "logarithm", "ordered", "heavy_cost", "continues", "n_init_heavy"),
)


class Saving(Parts):
    """The methods of `BTAO` by which its state is kept."""

    def to_dict(self) -> dict[str, Any]:
        """The whole state as data that JSON can hold."""
        with self._lock:
            return {
                "space": self.space.to_dict(),
                **{name: bounds_to_json(getattr(self, name)) for name in BOUNDS},
                **{name: getattr(self, name) for name in OPTIONS},
                "configs": [dict(config) for config in self._history.given.values()],
                "design": self._rule.design.tolist(),
                "trials": [trial.to_dict() for trial in map(self._direction.turn_trial, self._history.trials)],
                "enqueued": self._enqueued.to_list(),
                "state": self._rule.state(),
            }

    def to_json(self) -> str:
        """`to_dict` as JSON text, from which `from_json` continues exactly."""
        return write_state(self.to_dict())

    @classmethod
    def from_json(cls, text: str, *, constraint: Callable[[dict[str, Any]], bool] | None = None) -> Self:
        """The optimizer that `to_json` described: it asks what the original would have asked.

        States of earlier versions are read, too.

        Parameters
        ----------
        text : str
        constraint : callable, optional
            That of the space, if it had one: the same function.

        Raises
        ------
        ValueError
            If the text is not such a state, or (`ConstraintMismatch`) the constraint is missing or too many.
        ConstraintFailure
            If the constraint raises an error.

        Examples
        --------
        >>> from btao import BTAO, Real, Space
        >>> optimizer = BTAO(Space({"rate": Real(0, 1)}))
        >>> told = optimizer.tell(optimizer.ask(), 0.5)
        >>> again = BTAO.from_json(optimizer.to_json())
        >>> again.trials == optimizer.trials and again.ask() == optimizer.ask()
        True
        """
        try:
            state = read_state(text)
            bounds = {name: check_bounds(state[name], name) for name in BOUNDS}
            options = bounds | {name: state[name] for name in OPTIONS}
            make: Callable[..., Self] = cls
            optimizer = make(
                Space.from_dict(state["space"], constraint=constraint),
                **{name: options[name] for name in options if has(state["rule"], name)},
            )
            optimizer._rule = optimizer._make_rule(np.array(state["design"]))
            history = optimizer._history
            for config in state["configs"]:
                history.keep(optimizer.space.validate(config))
            for number, row in enumerate(state["trials"]):
                history.add(optimizer._direction.turn_trial(read_trial(row, number, history.config)))
            history.n_told = len(history.trials) - len(history.select(status="pending"))
            optimizer._enqueued.restore(state["enqueued"])
            optimizer._rule.restore(state["state"])
        except ConstraintMismatch:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            why = f"it lacks {error}" if isinstance(error, KeyError) else error
            raise ValueError(f"not a state of BTAO as to_json writes it: {why}") from error
        return optimizer
