"""The code that a run is made by: digests of the modules of its classes, and whether they have changed since."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import btao
from benchmarks.config.spec import Spec
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import Code, RunInfo, Start

PROJECT = ("btao", "baselines", "benchmarks")


def digests(parts: Mapping[str, Spec]) -> dict[str, Code]:
    """What a run keeps of its code: by module the first digits of the SHA-256 of its file.

    Of each part, the method and the task: the module of its class first, then what that imports, directly or not,
    from the project or from beside it. None where the source is not at hand. A process reads each file once, soon
    after it was imported: it goes on with that code when the file changes. Of a class without a file that any process
    can import it is the digest of its source.
    """
    return {
        name: spec.code.digest if spec.code is not None else _digests_at_first(spec.resolve()) or None
        for name, spec in parts.items()
    }


def outdated(runs: Iterable[tuple[Path, Mapping[str, Spec]]]) -> dict[Path, dict[str, list[str]]]:
    """By folder and part the modules that were others when trials were made; no run whose code is the same.

    Starts that do not say what their code was are passed over.

    Parameters
    ----------
    runs : iterable of (Path, mapping)
        The folders of runs, with their parts.
    """
    now = functools.cache(_digests)  # many runs are of few classes
    found = {}
    for folder, parts in runs:
        starts = list(starts_with_trials(RunFolder(folder).info()))
        differing = {
            name: [module for start in starts for module in _differing(start.code.get(name), now(spec.resolve()))]
            for name, spec in parts.items()
            if spec.code is None  # another source is another run
        }
        if any(differing.values()):
            found[folder] = {name: list(dict.fromkeys(modules)) for name, modules in differing.items() if modules}
    return found


def changed(runs: Iterable[tuple[Path, Mapping[str, Spec]]]) -> list[str]:
    """A line for each method and task whose code was another when trials were made.

    Parameters
    ----------
    runs : iterable of (Path, mapping)
        The folders of runs that are done, with their parts.
    """
    runs = list(runs)
    parts_of = dict(runs)
    made: dict[str, Counter[str]] = {}
    for folder, differing in outdated(runs).items():
        for name, modules in differing.items():
            made.setdefault(f"{name} {parts_of[folder][name].name}", Counter()).update([*modules, ""])
    return [
        f"the code of {part} has changed since {counts.pop('')} of these runs were made ({some(list(counts), 3)}), and "
        "they stay as they are: rerun=changed makes them anew and keeps these aside"
        for part, counts in made.items()
    ]


def some(names: Sequence[str], most: int) -> str:
    """Names in a line, of many the first and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def starts_with_trials(run: RunInfo | None) -> Iterator[Start]:
    """The starts of a run that added trials to it."""
    if run is None:
        return
    ends = [*(start.first_trial for start in run.starts[1:]), run.n_trials]
    for start, end in zip(run.starts, ends, strict=True):
        if start.first_trial != end:
            yield start


def _differing(recorded: Code, now: Mapping[str, str]) -> list[str]:
    """The modules that are not as recorded; of old records, which knew the file of the class alone, that."""
    if recorded is None or not now:
        return []
    if isinstance(recorded, str):
        own = next(iter(now))
        return [own] if now[own] != recorded else []
    return [module for module in {**recorded, **now} if recorded.get(module) != now.get(module)]


def _digests(cls: type) -> dict[str, str]:
    """By module; empty where no source is at hand."""
    return {module: hashlib.sha256(content).hexdigest()[:10] for module, content in _modules(cls)}


_digests_at_first = functools.cache(_digests)


def _modules(cls: type) -> Iterator[tuple[str, bytes]]:
    """The modules of a class with what their files hold: its own, then those it imports of the project and neighbors.

    Nothing if its own file cannot be read; others that cannot are left out.
    """
    try:
        name = inspect.getsourcefile(cls)
    except (TypeError, OSError):  # what is no class of a file: of the interpreter, or typed into it
        return
    if name is None:
        return
    waiting, beside = {cls.__module__: Path(name)}, Path(name).parent
    packages = {*PROJECT, cls.__module__.partition(".")[0]}
    seen = set(waiting)
    while waiting:
        module, path = waiting.popitem()
        try:
            content = path.read_bytes()
        except OSError:
            continue
        yield module, content
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for imported in sorted(_imports(package, content) - seen):
            file = _file(imported, packages, beside)
            if file is not None:
                seen.add(imported)
                waiting[imported] = file


def _file(module: str, packages: Iterable[str], beside: Path) -> Path | None:
    """The file of a module of these packages, or of one that lies beside a class; None for all others.

    It is looked for on the disk, as finding it by the interpreter would import what it lies in.
    """
    top = module.partition(".")[0]
    root = beside
    if top in packages and (found := importlib.util.find_spec(top)) is not None:
        folders = [Path(folder).parent for folder in found.submodule_search_locations or ()]  # several without __init__
        root = next((folder for folder in folders if _at(folder, module)), root)
    return _at(root, module)


def _at(root: Path, module: str) -> Path | None:
    """The file of a module below a folder of the search path; None if it is not there."""
    path = root.joinpath(*module.split("."))
    candidates = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


@functools.lru_cache(512)
def _imports(package: str, content: bytes) -> frozenset[str]:
    """The modules that a file of a package imports, and what may be modules in them.

    By the text alone: what the process has loaded meanwhile must not change a digest. Many classes import the same.
    """
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return frozenset()
    found: set[str] = set()
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            base = "." * node.level + (node.module or "")
            source = importlib.util.resolve_name(base, package) if node.level and package else base.lstrip(".")
            found.add(source)
            lazy = btao.LAZY if source == "btao" else {}
            found |= {lazy.get(alias.name, f"{source}.{alias.name}") for alias in node.names}
    return frozenset(found)


def _is_for_checkers(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def _statements(nodes: Iterable[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports in a file, but for those that are for type checkers alone."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and _is_for_checkers(node.test):
            yield from _statements(node.orelse)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):  # no import is within an expression
            yield from _statements(ast.iter_child_nodes(node))
