"""The wheel carries all packages and the YAML, and nothing else of the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ("btao", "baselines", "benchmarks", "conf")
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    """Built from a copy, so that the checkout gets no build folders."""
    source = tmp_path_factory.mktemp("source")
    for name in (*INSTALLED, "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    target = tmp_path_factory.mktemp("wheel")
    build = subprocess.run([sys.executable, "-c", BUILD, str(target)], cwd=source, capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    (path,) = target.glob("btao-*-py3-none-any.whl")
    return zipfile.ZipFile(path)


def test_all_modules_and_yaml_are_in_it_and_nothing_else(wheel):
    files = {name for name in wheel.namelist() if ".dist-info/" not in name}
    expected = {
        path.relative_to(ROOT).as_posix()
        for folder in INSTALLED
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".yaml", ".md", ".typed"}
    }
    assert files == expected


def test_the_license_is_in_it(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith("LICENSE"))
    assert wheel.read(name).decode().startswith("BSD 3-Clause License\n\nCopyright (c) 2026, The BTAO developers")
