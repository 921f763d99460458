"""The README's Python examples run as they stand, in an empty folder; what the texts and the map name is there."""

import ast
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import benchmarks

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES, MOST_CHARACTERS = 200, 120
TEXTS = ("README.md", "benchmarks/README.md", "benchmarks/__init__.py")


def examples():
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def test_the_examples_run_without_a_warning_and_print_what_they_promise(tmp_path):
    assert len(examples()) == 2
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    tuning, asking = [
        subprocess.run(
            [sys.executable, "-W", "error::UserWarning:btao", "-c", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        for code in examples()
    ]
    assert (tuning.returncode, tuning.stderr) == (0, "")
    assert re.match(r"\{'units': \d+, 'rate': [\d.e-]+\} 0\.0\d+\n\(array\(\[", tuning.stdout)
    assert (tmp_path / "tuning.json").exists()
    assert (asking.returncode, asking.stdout, asking.stderr) == (0, "", "")


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", TEXTS)
def test_no_line_is_long(name):
    assert [line for line in (ROOT / name).read_text().splitlines() if len(line) > MOST_CHARACTERS] == []


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_a_text_names_are_there(name):
    """Links, and paths of code, from the root, from the text's folder or below the rooms that it speaks of."""
    text = (ROOT / name).read_text()
    links = re.findall(r"\]\((?!http|#)([^)#]+)\)", text)
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []
    paths = re.findall(r"(?<![\w/.<>-])(?:\w+/)*\w+\.(?:py|ipynb|yaml)\b(?!/)", text)
    assert paths
    assert [path for path in paths if not [*ROOT.glob(f"b*/**/{path}"), *ROOT.glob(path)]] == []


@pytest.mark.parametrize("name", TEXTS)
def test_modules_that_a_text_runs_are_there(name):
    for module in re.findall(r"-m (benchmarks\.\w+)", (ROOT / name).read_text()):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module


def test_names_of_the_map_are_there():
    """Every dotted name that begins with a room: a module, or what a module defines."""
    rooms = [path.parent.name for path in (ROOT / "benchmarks").glob("*/__init__.py")]
    text = ast.get_docstring(ast.parse((ROOT / "benchmarks" / "__init__.py").read_text()))
    names = set(re.findall(rf"(?<![\w./])(?:{'|'.join(rooms)})(?:\.\w+)+(?![\w/])", text))
    names = {name for name in names if not name.endswith(".py")}
    assert len(names) > 20
    for name in names:
        pkgutil.resolve_name(f"{benchmarks.__name__}.{name}")
