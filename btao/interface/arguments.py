"""The arguments of `BTAO` that name its rule, and those that only some rules have a use for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from btao.interface.state import FORMER_RULES

LIGHT_PER_HEAVY = 2  # of "joint" and "paper", where nothing else is given
RULES = ("rate", "joint", "paper")
# Arguments that are of some rules only.
OF_RULES = {
    **dict.fromkeys(("light_per_heavy", "delta_bounds", "rho_bounds", "square_root_beta"), ("joint", "paper")),
    **dict.fromkeys(("logarithm", "ordered", "heavy_cost", "continues", "n_init_heavy"), ("rate",)),
}


def rule_of(rule: str | None, candidates: str | None) -> str:
    """The rule that the arguments name, by its own name or by the former one."""
    if candidates is not None:
        if candidates not in FORMER_RULES:
            raise ValueError(f"candidates must be one of {tuple(FORMER_RULES)}, got {candidates!r}")
        if rule is not None:
            raise ValueError(
                f"candidates={candidates!r} is the former name of rule={FORMER_RULES[candidates]!r}: give one"
            )
        return FORMER_RULES[candidates]
    rule = "rate" if rule is None else rule
    if rule not in RULES:
        raise ValueError(f"rule must be one of {RULES}, got {rule!r}")
    return rule


def has(rule: str, argument: str) -> bool:
    """Whether a rule has a use for an argument."""
    return rule in OF_RULES.get(argument, RULES)


def supplied(rule: str, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of arguments that the rule has a use for, and that are not given or None."""
    return {name: value for name, value in defaults.items() if given.get(name) is None and has(rule, name)}


def check_of_rule(rule: str, given: Mapping[str, Any]) -> None:
    """Refuse arguments that are given, so not None, and have no effect with the rule."""
    for name, value in given.items():
        if value is not None and not has(rule, name):
            rules = " or ".join(f"rule={each!r}" for each in OF_RULES[name])
            raise ValueError(f"{name} has no effect with rule={rule!r}: leave it out, or give {rules}, got {value!r}")
