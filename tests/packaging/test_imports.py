"""What each package imports: declared in pyproject.toml, and only from the storeys below."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from baselines.bohb import BOHB

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = ("optuna", "dehb", "botorch")  # extras of single methods
NO_EXTRA = {"dehb"}  # their own pins are out of date
STOREYS = {"btao": set(), "baselines": {"btao"}, "benchmarks": {"btao", "baselines"}}


def imported(package: str) -> set[str]:
    """The top-level names that a package imports, at any depth of its code, but for itself and Python's own."""
    names: set[str] = set()
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(node.module.partition(".")[0])
    return names - {package} - set(sys.stdlib_module_names)


def declared(*extras: str) -> set[str]:
    texts = list(PROJECT["dependencies"])
    for extra in extras:
        texts += PROJECT["optional-dependencies"][extra]
    return {canonicalize_name(Requirement(text).name) for text in texts}


def test_btao_imports_numpy_and_scipy_alone():
    assert imported("btao") <= {"numpy", "scipy"}
    assert declared() == {"numpy", "scipy"}


@pytest.mark.parametrize("package", STOREYS)
def test_a_storey_imports_only_from_below(package):
    assert imported(package) & set(STOREYS) <= STOREYS[package]


def test_what_the_suite_imports_is_declared():
    distributions = packages_distributions()
    allowed = declared("bench", "suite", "bohb", *OPTIONAL) | {"setuptools"}  # which the build requires
    undeclared = {
        name
        for name in (imported("baselines") | imported("benchmarks")) - set(STOREYS)
        # The optional ones may not be installed; a module is called as its distribution is, then.
        if not (allowed | NO_EXTRA) & {canonicalize_name(each) for each in distributions.get(name, [name])}
    }
    assert undeclared == set()


def test_what_is_installed_without_its_dependencies_is_what_is_declared():
    alone = BOHB.capabilities.without_dependencies
    assert {*alone} <= {*PROJECT["optional-dependencies"]["bohb"]}
    rest = declared(BOHB.capabilities.extra, "bench")
    assert declared("bohb") - {canonicalize_name(Requirement(text).name) for text in alone} <= rest


def test_importing_btao_loads_nothing_of_the_suite():
    script = "import btao, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = {"baselines", "benchmarks", "hydra", "matplotlib", "pandas", "rich", "sklearn", "tensorflow"}
    assert not heavy & set(run.stdout.split())
