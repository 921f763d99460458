"""btao.errors: which errors are of the code."""

import numpy as np
import pytest

from btao.errors import is_of_code


class InvalidParameter(ValueError, TypeError):
    """As scikit-learn's."""


@pytest.mark.parametrize(
    "error",
    [
        *(TypeError(), NameError(), UnboundLocalError(), AttributeError(), KeyError("rate"), IndexError()),
        *(ImportError(), ModuleNotFoundError(), AssertionError(), NotImplementedError(), RecursionError()),
    ],
)
def test_errors_of_code(error):
    assert is_of_code(error)


@pytest.mark.parametrize(
    "error",
    [
        *(ValueError(), MemoryError(), FloatingPointError(), ZeroDivisionError(), OverflowError(), OSError()),
        *(RuntimeError(), np.linalg.LinAlgError(), InvalidParameter(), Exception()),
    ],
)
def test_errors_of_training(error):
    assert not is_of_code(error)
