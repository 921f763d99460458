"""Where a result came from: versions, commit and machine, as JSON-able data."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.common.environment import extensions
from benchmarks.objectives.tensorflow_session import ONEDNN

REPOSITORY = Path(__file__).resolve().parents[2]

# Distributions that can decide an outcome; those that are not installed are left out of the record.
DISTRIBUTIONS = (
    *("btao", "numpy", "scipy", "hydra-core", "pandas", "scikit-learn", "mlxtend"),
    *("hyperopt", "smac", "ConfigSpace", "hpbandster"),
    *("tensorflow", "tensorflow-cpu", "keras"),
    *("torch", "gpytorch", "botorch", "optuna", "dehb"),
)
# What chooses the code of OpenBLAS and numpy, and so how they round: see `benchmarks.common.environment`.
CHOICES = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES")
CPU = Path("/proc/cpuinfo")


def provenance(added: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The versions, the commit and the machine of this process, or of one that it starts.

    Parameters
    ----------
    added : mapping
        Environment variables that the process has, and this one has not.

    Returns
    -------
    dict
        versions : dict of str to str, Python's own among them.
        git : {"commit": str, "clean": bool}, or None where the package is no git checkout.
        machine : {"platform", "cpu", "cores", "gpus", "arithmetic"}; cores are those this process may use,
            gpus those of Nvidia's that there are, and arithmetic is that of `arithmetic`.
    """
    fixed = _fixed()
    return {**fixed, "machine": {**fixed["machine"], "arithmetic": arithmetic(added)}}


def arithmetic(added: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What decides how numpy, OpenBLAS and oneDNN round in this process, or in one that it starts with variables added.

    Returns
    -------
    dict
        The variables of `CHOICES`, None where one is not set; that of `ONEDNN` as it is when TensorFlow has
        been loaded; and "simd": the extensions of the processor that numpy uses.
    """
    environment = {**os.environ, **(added or {})}
    chosen = {name: environment.get(name) for name in CHOICES}
    chosen |= {name: environment.get(name, default) for name, default in ONEDNN.items()}
    there = extensions()
    off = re.split(r"[\s,]+", chosen["NPY_DISABLE_CPU_FEATURES"] or "")
    found = [name for name in there.get("found", []) if name not in off]
    return chosen | {"simd": [*there.get("baseline", []), *found]}


@functools.cache
def _fixed() -> dict[str, Any]:
    """What is the same in all processes that start alike; asking git takes its time."""
    return {
        "versions": {"python": platform.python_version()} | _versions(),
        "git": _git(REPOSITORY),
        "machine": {"platform": platform.platform(), "cpu": _cpu_model(), "cores": _cores(), "gpus": _gpus()},
    }


def _versions() -> dict[str, str]:
    versions = {}
    for name in DISTRIBUTIONS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def _git(repository: Path) -> dict[str, Any] | None:
    # An installed package may lie inside a checkout of something else, hence the look at the folder itself.
    if not (repository / ".git").exists():
        return None
    command = ["git", "-C", str(repository), "status", "--porcelain=v2", "--branch"]
    # Without the optional lock, runs that start together cannot get in each other's way.
    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = answer.stdout.splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), None)
    return {"commit": commit, "clean": all(line.startswith("#") for line in lines)}


def _cpu_model() -> str:
    """The processor's name and, as virtual machines give unlike ones the same, the numbers of its family and model."""
    try:
        first, _, _ = CPU.read_text().partition("\n\n")
    except OSError:
        first = ""
    said = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())}
    if "model name" not in said:
        return platform.processor() or platform.machine()
    numbers = [f"{name.split()[-1]} {said[name]}" for name in ("cpu family", "model") if name in said]
    return f"{said['model name']} ({', '.join(numbers)})" if numbers else said["model name"]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _gpus() -> int:
    """From what the driver says of itself, as asking CUDA would start it."""
    try:
        return len(list(Path("/proc/driver/nvidia/gpus").iterdir()))
    except OSError:
        return 0
