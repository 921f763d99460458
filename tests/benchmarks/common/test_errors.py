"""Errors in one line."""

import pytest

from benchmarks.common.errors import LENGTH, describe_error

EXHAUSTED = """Graph execution error:

Detected at node gradients/MatMul defined at (most recent call last):
  File "train.py", line 7, in <module>

OOM when allocating tensor with shape[5000,1000] and type float
\t [[{{node gradients/MatMul}}]]
Hint: If you want to see a list of allocated tensors, add something.
"""


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("x must be\n  at least 1"), "ValueError: x must be at least 1"),
        (RuntimeError(EXHAUSTED), "RuntimeError: OOM when allocating tensor with shape[5000,1000] and type float"),
        (RuntimeError("Hint: nothing else"), "RuntimeError: Hint: nothing else"),
        (MemoryError(), "MemoryError: "),
    ],
)
def test_what_happened_is_one_line(error, line):
    assert describe_error(error) == line


def test_a_long_line_is_cut():
    line = describe_error(ValueError("x" * 5000))
    assert len(line) == LENGTH
    assert line.startswith("ValueError: xxx") and line.endswith("…")
