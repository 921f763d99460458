"""Provenance names the commit of the package's own checkout, and says when there is none."""

import json
import os
import shutil
import subprocess

import pytest

from benchmarks import provenance as module
from benchmarks.provenance import provenance


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


def test_it_is_computed_once_and_is_strict_json():
    assert provenance() is provenance()
    json.dumps(provenance(), allow_nan=False)
    assert {"python", "numpy", "scipy"} <= set(provenance()["versions"])
    assert provenance()["machine"]["cores"] >= 1
