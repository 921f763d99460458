"""Arithmetic that does not depend on the processor, so that the same command gives the same tables on other machines.

numpy and OpenBLAS choose code for the processor that they find. AVX-512 code rounds otherwise than AVX2
code, in the last bit, and a search that goes on from its own results carries such a bit far. So the
processes that run experiments use AVX2 code on processors that have both: 2 to 4% slower for the SVM.
TensorFlow's own choices are left as they are, but for oneDNN's (see `benchmarks.objectives.tensorflow_session`), as
networks would take up to twice the time: what is *trained* still depends on the processor, and is recorded
once. So are those of PyTorch and of MKL, where optional methods or another build of numpy use them.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar, cast

Result = TypeVar("Result")

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
)
AVX2 = {"AVX2", "X86_V3"}  # numpy's names, before 2.4 and since
BEYOND = ("AVX512", "X86_V4")  # how those of what we do without begin
CORE = "Haswell"  # OpenBLAS's name of the first processor with AVX2
START: Final = "spawn"  # how a process is started whose environment counts: as a new one (see `multiprocessing`)


def variables(threads: int) -> dict[str, str]:
    """Environment variables of a process that is to compute with so many threads, as on any x86-64 processor with AVX2.

    They count when numpy is loaded. Where the processor has no AVX2 or is of another kind, there are only those
    of threads, and results are that kind's own.
    """
    return dict.fromkeys(THREADS, str(threads)) | _portable()


def extensions() -> dict[str, list[str]]:
    """The extensions of the processor by numpy's names: lists of those in its "baseline", "found" and "not found".

    A list that would be empty is left out. What the environment of this process forbids is among those not found.
    """
    import numpy  # when it is loaded, it reads the environment, which may have to be set first

    return cast(dict[str, list[str]], numpy.show_config(mode="dicts").get("SIMD Extensions", {}))


def _portable() -> dict[str, str]:
    """Those of the processor's code; none of what the user has set already."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return {}
    there = extensions()
    found = there.get("found", [])
    if not AVX2 & {*found, *there.get("baseline", [])}:
        return {}
    wanted = {"OPENBLAS_CORETYPE": CORE}
    beyond = [name for name in found if name.startswith(BEYOND)]
    if beyond and "NPY_ENABLE_CPU_FEATURES" not in os.environ:  # it takes one of the two, and names that it has
        wanted["NPY_DISABLE_CPU_FEATURES"] = " ".join(beyond)
    return {name: value for name, value in wanted.items() if name not in os.environ}


@contextlib.contextmanager
def environment(added: Mapping[str, str]) -> Iterator[None]:
    """The environment of this process with these variables in it, for what is started meanwhile."""
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def portably(function: Callable[..., Result], *arguments: Any) -> Result:
    """What a function of a module returns, or raises, when called in a new process with `variables(1)`."""
    context = multiprocessing.get_context(START)
    with environment(variables(1)), concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()
