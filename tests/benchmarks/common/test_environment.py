"""Arithmetic that does not depend on the processor: what is set, when, and that it reaches the processes."""

from __future__ import annotations

import os
import platform

import numpy as np
import pytest

from benchmarks.common import environment as arithmetic
from benchmarks.config import options

NEW = {"baseline": ["X86_V2"], "found": ["X86_V3", "X86_V4", "AVX512_ICL"], "not found": ["AVX512_SPR"]}
OLD = {"baseline": ["SSE3"], "found": ["AVX2", "FMA3", "AVX512F", "AVX512_SKX"]}


@pytest.fixture
def on(monkeypatch):
    """On a machine of this kind, where numpy finds these extensions and the user has set nothing."""
    for name in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES"):
        monkeypatch.delenv(name, raising=False)

    def machine(kind, extensions):
        monkeypatch.setattr(platform, "machine", lambda: kind)
        monkeypatch.setattr(np, "show_config", lambda mode: {"SIMD Extensions": extensions} if extensions else {})

    return machine


def beyond_threads():
    return {name: value for name, value in arithmetic.variables(1).items() if name not in arithmetic.THREADS}


@pytest.mark.parametrize(
    ("kind", "extensions", "expected"),
    [
        ("x86_64", NEW, {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"}),
        ("AMD64", OLD, {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX"}),
        ("x86_64", {"baseline": ["X86_V2"], "found": ["X86_V3"]}, {"OPENBLAS_CORETYPE": "Haswell"}),
        ("x86_64", {"baseline": ["X86_V2", "X86_V3"]}, {"OPENBLAS_CORETYPE": "Haswell"}),
        ("x86_64", {"baseline": ["X86_V2"]}, {}),
        ("x86_64", None, {}),
        ("aarch64", {"baseline": ["NEON"], "found": ["ASIMDHP"]}, {}),
    ],
)
def test_avx2_code_is_chosen_where_there_is_any(on, kind, extensions, expected):
    on(kind, extensions)
    assert beyond_threads() == expected


def test_what_the_user_has_set_stays(on, monkeypatch):
    on("x86_64", NEW)
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    assert beyond_threads() == {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"}


def test_numpy_takes_features_on_or_off_and_not_both(on, monkeypatch):
    on("x86_64", NEW)
    monkeypatch.setenv("NPY_ENABLE_CPU_FEATURES", "X86_V3 X86_V4")
    assert beyond_threads() == {"OPENBLAS_CORETYPE": "Haswell"}


def test_threads_are_set_too():
    variables = arithmetic.variables(3)
    assert {variables[name] for name in arithmetic.THREADS} == {"3"}


def test_the_environment_is_given_back(monkeypatch):
    monkeypatch.setenv("A_NAME", "old")
    monkeypatch.delenv("ANOTHER", raising=False)
    with pytest.raises(KeyError), arithmetic.environment({"A_NAME": "new", "ANOTHER": "1"}):
        assert (os.environ["A_NAME"], os.environ["ANOTHER"]) == ("new", "1")
        raise KeyError
    assert os.environ["A_NAME"] == "old" and "ANOTHER" not in os.environ


def test_a_process_with_portable_arithmetic_uses_none_of_avx_512():
    """The real numpy and OpenBLAS, on whatever processor this is."""
    config = arithmetic.portably(np.show_config, "dicts")
    assert not [name for name in config["SIMD Extensions"].get("found", []) if name.startswith(arithmetic.BEYOND)]
    if "OPENBLAS_CORETYPE" in arithmetic.variables(1):
        (blas, *_) = arithmetic.portably(libraries)
        assert (blas["architecture"], blas["num_threads"]) == ("Haswell", 1)


def libraries():
    """The linear algebra that this process has loaded."""
    from threadpoolctl import threadpool_info

    return [each for each in threadpool_info() if each["internal_api"] == "openblas"]


def test_errors_come_back():
    with pytest.raises(options.UsageError, match="give an integer of at least 1"):
        arithmetic.portably(options.count, "n", 0)
