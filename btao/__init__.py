"""BTAO: Bayesian optimization of hyperparameters with truncated additive models.

The optimizer is imported on first use: SciPy takes a second to load, and a space, which is all that many need, none.
"""

import importlib
from typing import TYPE_CHECKING, Any

from btao.parameters import Categorical, Constant, Integer, Ordinal, Real
from btao.space import Space
from btao.spaces.conditions import When
from btao.training import Level
from btao.trial import Measurement, Trial

if TYPE_CHECKING:
    from btao.minimization import OptimizationResult, minimize
    from btao.optimizer import BTAO
    from btao.rules.rule import SpaceExhausted
    from btao.search_cv.search import BTAOSearchCV as BTAOSearchCV
    from btao.tam import TruncationWarning

# Without BTAOSearchCV: a star-import must not need scikit-learn.
__all__ = [
    "BTAO",
    "Categorical",
    "Constant",
    "Integer",
    "Level",
    "Measurement",
    "OptimizationResult",
    "Ordinal",
    "Real",
    "Space",
    "SpaceExhausted",
    "Trial",
    "TruncationWarning",
    "When",
    "minimize",
]

LAZY = {  # by name, the module that is imported when it is first asked for
    "BTAO": "btao.optimizer",
    "BTAOSearchCV": "btao.search_cv.search",
    "OptimizationResult": "btao.minimization",
    "SpaceExhausted": "btao.rules.rule",
    "TruncationWarning": "btao.tam",
    "minimize": "btao.minimization",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = _version()
    elif name in LAZY:
        value = getattr(importlib.import_module(LAZY[name]), name)
    else:
        raise AttributeError(f"module 'btao' has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    # Imported when used: it brings the parts of an e-mail reader, which a space needs none of.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("btao")
    except PackageNotFoundError as error:
        raise AttributeError("btao has no __version__ where it is not installed") from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})  # what needs scikit-learn would raise where all is listed
