"""What each package imports: declared in pyproject.toml, and only from the stories and floors below.

Run as a script, this file prints the rooms of `benchmarks`: `.venv/bin/python tests/packaging/test_imports.py`.
"""

from __future__ import annotations

import ast
import graphlib
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path
from unittest.mock import Mock

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import btao
from baselines.bohb import BOHB

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = ("optuna", "dehb", "botorch")  # extras of single methods
CONVERTED = {"ConfigSpace", "optuna"}  # named for their types alone, or imported to convert their spaces
NO_EXTRA = {"dehb"}  # their own pins are out of date
STORIES = {"btao": set(), "baselines": {"btao"}, "benchmarks": {"btao", "baselines"}}
# The rooms of `benchmarks`, lowest floor first: a room imports only from floors below its own, whether at the head of a
# module, inside a function or under TYPE_CHECKING. A module that lies in no room is a command.
FLOORS = (
    ("common", "data"),
    ("objectives", "config"),
    ("records",),
    ("tables",),
    ("running", "analysis"),
    ("console", "figures"),
    ("reporting",),
    ("studies",),
    ("commands",),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS, start=1) for room in rooms}
MOST_FLOORS, MOST_MODULES, MOST_LINES = 9, 15, 150  # of the house, of a folder, of a command


def imported(package: str, without: str = "") -> set[str]:
    """The top-level names that a package imports, at any depth of its code, but for itself and Python's own.

    `without` is a folder of the package that is left out.
    """
    names: set[str] = set()
    for path in (ROOT / package).rglob("*.py"):
        if without and path.is_relative_to(ROOT / package / without):
            continue
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


def test_btao_imports_numpy_and_scipy_alone_but_for_what_is_optional():
    assert imported("btao", without="search_cv") - CONVERTED <= {"numpy", "scipy"}
    assert declared() == {"numpy", "scipy"}
    assert imported("btao/search_cv") == {"btao", "numpy", "sklearn"}
    assert declared("sklearn") == {"numpy", "scipy", "scikit-learn"}


def test_btao_has_the_version_that_is_declared():
    assert btao.__version__ == PROJECT["version"] and "__version__" in dir(btao)


def test_where_btao_is_not_installed_it_has_no_version(monkeypatch):
    monkeypatch.delitem(vars(btao), "__version__", raising=False)
    monkeypatch.setattr(importlib.metadata, "distribution", Mock(side_effect=importlib.metadata.PackageNotFoundError))
    assert not hasattr(btao, "__version__")


@pytest.mark.parametrize("package", STORIES)
def test_a_story_imports_only_from_below(package):
    assert imported(package) & set(STORIES) <= STORIES[package]


def test_what_the_suite_imports_is_declared():
    distributions = packages_distributions()
    allowed = declared("bench", "suite", "bohb", *OPTIONAL) | {"setuptools"}  # which the build requires
    undeclared = {
        name
        for name in (imported("baselines") | imported("benchmarks")) - set(STORIES)
        # The optional ones may not be installed; a module is called as its distribution is, then.
        if not (allowed | NO_EXTRA) & {canonicalize_name(each) for each in distributions.get(name, [name])}
    }
    assert undeclared == set()


def test_what_is_installed_without_its_dependencies_is_what_is_declared():
    alone = BOHB.capabilities.without_dependencies
    assert {*alone} <= {*PROJECT["optional-dependencies"]["bohb"]}
    rest = declared(BOHB.capabilities.extra, "bench")
    assert declared("bohb") - {canonicalize_name(Requirement(text).name) for text in alone} <= rest


def test_importing_btao_loads_neither_scipy_nor_anything_of_the_suite():
    script = "import btao, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = {"baselines", "benchmarks", "hydra", "matplotlib", "pandas", "rich", "scipy", "sklearn", "tensorflow"}
    assert not heavy & set(run.stdout.split())


def module_name(path: Path) -> str:
    """The dotted name of a file; that of its package for an `__init__.py`."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted((ROOT / "benchmarks").rglob("*.py"))}


def room_of(module: str) -> str | None:
    """The room of a module; None for `benchmarks` itself, which is only a docstring."""
    if module == "benchmarks":
        return None
    parts = module.split(".")
    return parts[1] if len(parts) > 2 or MODULES[module].name == "__init__.py" else "commands"


def imports_of(path: Path) -> Iterator[str]:
    """The modules of `benchmarks` that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            members = (f"{node.module}.{alias.name}" for alias in node.names)
            names = [member if member in MODULES else node.module for member in members]
        yield from (name for name in names if name.partition(".")[0] == "benchmarks")


ARROWS = {module: set(imports_of(path)) - {module} for module, path in MODULES.items()}


def rooms() -> dict[str, set[str]]:
    """By room, the other rooms that it imports."""
    graph: dict[str, set[str]] = {room_of(module): set() for module in MODULES if module != "benchmarks"}
    for module, imports in ARROWS.items():
        if module != "benchmarks":
            graph[room_of(module)] |= {room_of(name) for name in imports} - {room_of(module), None}
    return graph


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """A circle of a graph, node by node; empty if there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def modules_in(room: str) -> list[str]:
    """The modules of a room, without its `__init__.py`."""
    return [name for name, path in MODULES.items() if path.name != "__init__.py" and room_of(name) == room]


def test_every_room_has_a_floor_and_there_are_few_floors():
    assert set(rooms()) == set(FLOOR_OF)
    assert len(FLOORS) <= MOST_FLOORS


def test_a_room_imports_only_from_floors_below():
    up = {
        f"{module} imports {name}"
        for module, imports in ARROWS.items()
        for name in imports
        if None not in (room_of(module), room_of(name))
        and room_of(module) != room_of(name)
        and FLOOR_OF[room_of(name)] >= FLOOR_OF[room_of(module)]
    }
    assert up == set()


def test_nothing_runs_in_a_circle():
    assert circle(rooms()) == []
    assert circle(ARROWS) == []


@pytest.mark.parametrize("package", STORIES)
def test_a_folder_holds_few_modules_and_says_which(package):
    for init in sorted((ROOT / package).rglob("__init__.py")):
        assert len([*init.parent.glob("*.py")]) - 1 <= MOST_MODULES, init.parent
        assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))), init


@pytest.mark.parametrize("room", sorted(FLOOR_OF.keys() - {"commands"}))
def test_a_room_says_what_each_of_its_modules_is(room):
    folder = ROOT / "benchmarks" / room
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert [name for name in sorted(names) if not re.search(rf"`{name}\b", said)] == []


# What a comment at the head of a module calls a library that is imported by another name.
SPELLED = {"sklearn": "scikit-learn", "scikit_posthocs": "scikit-posthocs"}
DIRECTIVE = re.compile(r"#\s*(noqa|type:).*")


def late_imports_without_reason(source: str) -> list[str]:
    """The imports inside functions that no comment on them, alone before them or at the head of the module explains.

    That at the head says of what it is: libraries by their names, modules of ours in words, "the pages" or "what runs
    experiments".
    """
    lines = ["", *(DIRECTIVE.sub("", line).strip() for line in source.splitlines())]
    head = " ".join(line for line in lines if re.match(r'(#|""").*\bimported (when|where)\b', line))
    said = re.split(r"\bimported wh", head)[0]
    found = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                name = node.names[0].name.partition(".")[0]
            elif isinstance(node, ast.ImportFrom):
                name = node.module.partition(".")[0]
            else:
                continue
            named = r"(the|what) \w+" if name in STORIES else re.escape(SPELLED.get(name, name))
            explained = "#" in lines[node.lineno] or lines[node.lineno - 1].startswith("#")
            if not explained and not re.search(rf"(?<![\w-]){named}\b", said, re.IGNORECASE):
                found.append(f"{node.lineno}: {lines[node.lineno]}")
    return found


@pytest.mark.parametrize(
    ("head", "line", "explained"),
    [
        ("# pandas is imported when used: slow.", "import pandas", True),
        ("# pandas is imported when used: slow.", "from numpy import array", False),
        ("# scikit-learn is imported when used: slow.", "import sklearn.svm  # noqa: F401", True),
        ("# pandas is imported when used: the rest is quick.", "from benchmarks import records", False),
        ("# The pages are imported when used: slow.", "from benchmarks import records", True),
        ("", "import pandas  # slow", True),
        ("", "import pandas  # noqa: F401", False),
        ("", "pass  # for another line\n    import pandas", False),
        ("", "# slow\n    import pandas", True),
    ],
)
def test_a_reason_names_what_it_is_for(head, line, explained):
    assert (late_imports_without_reason(f"{head}\ndef function():\n    {line}\n") == []) == explained


@pytest.mark.parametrize("package", sorted(STORIES))
def test_an_import_inside_a_function_says_why(package):
    unexplained = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        if lines := late_imports_without_reason(path.read_text(encoding="utf-8")):
            unexplained[module_name(path)] = lines
    assert unexplained == {}


@pytest.mark.parametrize("command", modules_in("commands"))
def test_a_command_is_short_and_imports_no_other(command):
    assert len(MODULES[command].read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert [name for name in ARROWS[command] if room_of(name) == "commands"] == []


def print_rooms() -> None:
    """Print every room with its floor, the number of its modules and the rooms that it imports."""
    graph = rooms()
    print(f"{'floor':5}  {'room':10}  {'modules':7}  imports")
    for room, floor in FLOOR_OF.items():
        imports = " ".join(sorted(graph[room], key=lambda name: (FLOOR_OF[name], name)))
        print(f"{floor:5}  {room:10}  {len(modules_in(room)):7}  {imports or '–'}")
    circles = [" -> ".join(found) for found in (circle(graph), circle(ARROWS)) if found]
    print(*circles, f"{len(circles)} circles, {len(FLOORS)} floors", sep="\n")


if __name__ == "__main__":
    print_rooms()
