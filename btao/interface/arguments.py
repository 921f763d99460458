"""The argument of `BTAO` that names its rule."""

from __future__ import annotations

from btao.interface.state import FORMER_RULES

RULES = ("joint", "paper", "rate")


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
    rule = "joint" if rule is None else rule
    if rule not in RULES:
        raise ValueError(f"rule must be one of {RULES}, got {rule!r}")
    return rule
