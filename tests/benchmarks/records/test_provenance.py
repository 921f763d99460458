"""Provenance names the commit of the package's own checkout, and says when there is none."""

import importlib.metadata
import json
import os
import shutil
import subprocess

import numpy as np
import pytest

from benchmarks.common import environment as portable
from benchmarks.records import provenance as module
from benchmarks.records.provenance import provenance


@pytest.fixture
def repository(tmp_path, monkeypatch):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)

    def git(*arguments):
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet")
    (tmp_path / "tracked").write_text("1")
    git("add", "tracked")
    git("commit", "--quiet", "--message", "first")
    return tmp_path, git("rev-parse", "HEAD")


def test_a_clean_and_a_changed_checkout(repository):
    folder, commit = repository
    assert module._git(folder) == {"commit": commit, "clean": True}
    (folder / "tracked").write_text("2")
    assert module._git(folder) == {"commit": commit, "clean": False}


def test_a_new_file_is_not_clean(repository):
    folder, commit = repository
    (folder / "new").write_text("")
    assert module._git(folder) == {"commit": commit, "clean": False}


def test_a_folder_inside_the_checkout_of_something_else_has_no_commit(repository):
    folder, _ = repository
    (folder / "site-packages").mkdir()
    assert module._git(folder / "site-packages") is None


def test_without_git_there_is_no_commit(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert module._git(repository[0]) is None


def test_git_is_asked_once_and_it_is_strict_json(monkeypatch):
    first = provenance()
    monkeypatch.setattr(module, "_git", None)
    assert provenance() == first
    json.dumps(first, allow_nan=False)
    assert {"python", "numpy", "scipy"} <= set(first["versions"])
    assert first["machine"]["cores"] >= 1


@pytest.mark.parametrize("name", ["torch", "optuna", "dehb", "botorch", "gpytorch"])
def test_libraries_of_optional_methods_are_among_the_versions(monkeypatch, name):
    monkeypatch.setattr(importlib.metadata, "version", lambda distribution: f"1 of {distribution}")
    assert module._versions()[name] == f"1 of {name}"


def test_the_arithmetic_of_a_worker_is_that_which_is_foreseen_for_it():
    """The real numpy in a real process."""
    variables = portable.variables(1)
    foreseen = module.arithmetic(variables)
    assert portable.portably(module.arithmetic) == foreseen
    extensions = portable.portably(np.show_config, "dicts")["SIMD Extensions"]
    assert foreseen["simd"] == [*extensions["baseline"], *extensions.get("found", [])]
    assert foreseen["OPENBLAS_CORETYPE"] == variables.get("OPENBLAS_CORETYPE", os.environ.get("OPENBLAS_CORETYPE"))


def test_arithmetic_that_the_user_chose_is_recorded(monkeypatch):
    """As variables of this process, and of one that has others too; disabled extensions are not in use."""
    monkeypatch.setattr(np, "show_config", lambda mode: {"SIMD Extensions": {"baseline": ["A"], "found": ["B", "C"]}})
    monkeypatch.setenv("OPENBLAS_CORETYPE", "SkylakeX")
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "DEFAULT")
    unset = ("NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES")
    for name in unset:
        monkeypatch.delenv(name, raising=False)
    here = {"OPENBLAS_CORETYPE": "SkylakeX", "ONEDNN_MAX_CPU_ISA": "DEFAULT"} | dict.fromkeys(unset)
    assert provenance()["machine"]["arithmetic"] == here | {"simd": ["A", "B", "C"]}
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    added = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "C D", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    assert provenance(added)["machine"]["arithmetic"] == here | added | {"simd": ["A", "B"]}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: A: B\n\nprocessor: 1\nmodel name: C\n",
            "A: B (family 25, model 1)",
        ),
        ("model name\t: A\n", "A"),
        ("processor\t: 0\nBogoMIPS\t: 50.00\n", "the platform's"),
        (None, "the platform's"),
    ],
)
def test_processors_that_a_virtual_machine_gives_one_name_are_told_apart(tmp_path, monkeypatch, text, name):
    monkeypatch.setattr(module, "CPU", tmp_path / "cpuinfo")
    monkeypatch.setattr(module.platform, "processor", lambda: "the platform's")
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    assert module._cpu_model() == name
