"""The wheel carries all packages with the YAML of conf/, and nothing else; installed, it runs from any folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("btao", "baselines", "benchmarks")
# Where each folder of the checkout is in the wheel.
PLACES = {**{name: name for name in PACKAGES}, "conf": "benchmarks/conf"}
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
TOY = ("task=toy", "method=random_search", "scale=smoke", "seeds=1", "jobs=1", "display=plain")


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A copy, so that the checkout gets no build folders."""
    source = tmp_path_factory.mktemp("source")
    for name in (*PLACES, "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    return source


def build(script: str, source: Path, target: Path) -> None:
    run = subprocess.run([sys.executable, "-c", script, str(target)], cwd=source, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory) -> zipfile.ZipFile:
    target = tmp_path_factory.mktemp("wheel")
    build(BUILD, source, target)
    (path,) = target.glob("btao-*-py3-none-any.whl")
    return zipfile.ZipFile(path)


def environment_with(tmp_path_factory, packages: Path) -> Path:
    """The Python of a new environment that has these packages, and what they need from the one that runs this."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    scheme = {"base": str(folder), "platbase": str(folder)}
    # Python reads no .pth file of folders that one names: the checkout, installed editable there, is out of reach.
    needed = {sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("site-packages"))}
    lines = [str(packages), *sorted(needed)]
    (Path(sysconfig.get_path("purelib", vars=scheme)) / "packages.pth").write_text("".join(f"{x}\n" for x in lines))
    return python


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    wheel.extractall(folder)
    return environment_with(tmp_path_factory, folder)


@pytest.fixture(scope="module")
def editable(source, tmp_path_factory) -> Path:
    """As `pip install -e` leaves it: a .pth file, not a hook, names the checkout."""
    folder = tmp_path_factory.mktemp("editable")
    build(BUILD.replace("build_wheel", "build_editable"), source, folder)
    (path,) = folder.glob("btao-*.whl")
    with zipfile.ZipFile(path) as archive:
        (line,) = (archive.read(name).decode() for name in archive.namelist() if ".dist-info/" not in name)
    assert Path(line.strip()) == source
    return environment_with(tmp_path_factory, Path(line.strip()))


def test_all_modules_and_yaml_are_in_it_and_nothing_else(wheel):
    files = {name for name in wheel.namelist() if ".dist-info/" not in name}
    expected = {
        (place / path.relative_to(ROOT / folder)).as_posix()
        for folder, place in ((folder, Path(place)) for folder, place in PLACES.items())
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".yaml", ".md", ".typed"}
    }
    assert files == expected
    assert {name.partition("/")[0] for name in files} == {*PACKAGES}


def test_the_license_is_in_it(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith("LICENSE"))
    assert wheel.read(name).decode().startswith("BSD 3-Clause License\n\nCopyright (c) 2026, The BTAO developers")


def test_a_source_distribution_makes_the_same_wheel(source, wheel, tmp_path):
    build(BUILD.replace("build_wheel", "build_sdist"), source, tmp_path)
    (archive,) = tmp_path.glob("btao-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path, filter="data")
    build(BUILD, tmp_path / archive.name.removesuffix(".tar.gz"), tmp_path)
    (path,) = tmp_path.glob("*.whl")
    assert sorted(zipfile.ZipFile(path).namelist()) == sorted(wheel.namelist())


def call(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([python, "-m", *arguments], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("how", ["installed", "editable"])
def test_the_suite_runs_in_an_empty_folder(how, request, tmp_path):
    python = request.getfixturevalue(how)
    listing = call(python, tmp_path, "benchmarks.run", "--help")
    assert listing.returncode == 0 and "random_search" in listing.stdout, listing.stderr
    assert not [*tmp_path.iterdir()]
    run = call(python, tmp_path, "benchmarks.run", *TOY)
    assert run.returncode == 0, run.stderr
    assert len([*(tmp_path / "results" / "runs" / "toy").rglob("trials.jsonl")]) == 1


def test_installed_tables_are_looked_for_below_the_working_folder(installed, tmp_path):
    run = call(installed, tmp_path, "benchmarks.run", "task=svm", "source=table")
    assert run.returncode == 2
    assert f"no table of task svm in {tmp_path / 'results' / 'tables'} (there are: none)" in run.stderr
    assert "those that the suite was published with are in its repository" in run.stderr
