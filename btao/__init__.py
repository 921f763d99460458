"""BTAO: Bayesian optimization of hyperparameters with truncated additive models."""

from btao.minimization import OptimizationResult, minimize
from btao.optimizer import BTAO, SpaceExhausted
from btao.parameters import Categorical, Integer, Ordinal, Real
from btao.space import Space
from btao.tam import TruncationWarning
from btao.trial import Trial

__all__ = [
    "BTAO",
    "Categorical",
    "Integer",
    "OptimizationResult",
    "Ordinal",
    "Real",
    "Space",
    "SpaceExhausted",
    "Trial",
    "TruncationWarning",
    "minimize",
]
