"""BTAO: Bayesian optimization of hyperparameters with truncated additive models."""

from btao.minimization import OptimizationResult, minimize
from btao.optimizer import BTAO, SpaceExhausted
from btao.space import Categorical, Integer, Real, Space
from btao.tam import TruncationWarning
from btao.trial import Trial

__all__ = [
    "BTAO",
    "Categorical",
    "Integer",
    "OptimizationResult",
    "Real",
    "Space",
    "SpaceExhausted",
    "Trial",
    "TruncationWarning",
    "minimize",
]
