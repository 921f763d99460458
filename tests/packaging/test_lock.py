"""requirements.lock: complete, exact, and in keeping with pyproject.toml on every supported Python."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LINES = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKED_EXTRAS = ("suite", "bohb", "notebooks", "docs", "test")
# Without a wheel and in need of a C compiler; hpbandster runs without it.
LEFT_OUT = {"netifaces"}

# 3.11.2 is older than a bound that one of the packages sets within 3.11.
PYTHONS = ["3.11.2", "3.11.14", "3.12.12", "3.13.9"]
MACHINES = ["x86_64", "aarch64"]


def marker_environment(python: str, machine: str) -> dict[str, str]:
    minor = ".".join(python.split(".")[:2])
    here = {"python_version": minor, "python_full_version": python, "platform_machine": machine}
    return {**default_environment(), **here, "sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"}


def applies(requirement: Requirement, environment: dict[str, str], extras: frozenset[str] = frozenset()) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in {"", *extras})


def locked(environment: dict[str, str]) -> dict[str, str]:
    """The version of every package that the lock installs in `environment`."""
    versions: dict[str, str] = {}
    for line in LINES:
        requirement = Requirement(line)
        if applies(requirement, environment):
            assert requirement.name not in versions, f"{requirement.name} is locked twice"
            (specifier,) = requirement.specifier
            versions[requirement.name] = specifier.version
    return versions


def project_requirements() -> list[Requirement]:
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    texts = [*project["dependencies"], *extras["bench"], *PROJECT["dependency-groups"]["setup"]]
    texts += PROJECT["build-system"]["requires"]
    texts += [text for extra in LOCKED_EXTRAS for text in extras[extra]]
    return [requirement for requirement in map(Requirement, texts) if requirement.name != project["name"]]


def requirements_of(name: str) -> list[Requirement]:
    try:
        return [Requirement(text) for text in distribution(name).requires or []]
    except PackageNotFoundError:
        return []  # for another interpreter or machine than this one


def test_every_line_is_one_exact_version():
    name_and_version = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][a-z0-9.]*( ; .+)?")
    assert [line for line in LINES if not name_and_version.fullmatch(line)] == []


def test_netifaces_is_left_out():
    assert not LEFT_OUT & {Requirement(line).name for line in LINES}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_meets_pyproject(python, machine):
    environment = marker_environment(python, machine)
    versions = locked(environment)
    assert python in SpecifierSet(PROJECT["project"]["requires-python"])
    for requirement in project_requirements():
        if applies(requirement, environment):
            name = canonicalize_name(requirement.name)
            assert name in versions, f"{requirement} of pyproject.toml is not locked"
            assert versions[name] in requirement.specifier, f"{requirement} is locked as {versions[name]}"


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_is_closed_under_the_requirements_of_what_it_locks(python):
    """Installed without dependencies, it must bring them all: what `pip check` asks, on every Python at once."""
    environment = marker_environment(python, default_environment()["platform_machine"])
    versions = locked(environment)
    extras: dict[str, set[str]] = {}
    for requirement in project_requirements():
        extras.setdefault(canonicalize_name(requirement.name), set()).update(requirement.extras)
    unmet = []
    for name in versions:
        for requirement in requirements_of(name):
            needed = canonicalize_name(requirement.name)
            if not applies(requirement, environment, frozenset(extras.get(name, ()))) or needed in LEFT_OUT:
                continue
            if needed not in versions or not requirement.specifier.contains(versions[needed], prereleases=True):
                unmet.append(f"{name} requires {requirement}, locked: {versions.get(needed)}")
    assert unmet == []
