"""Tasks and methods outside of the suite: of a folder, and of an installed package. tests/cookie is an example of both.

The package is installed where its folder is on the path of modules.
"""

import shutil
import sys
from pathlib import Path

import pytest

from benchmarks.common.errors import UsageError
from benchmarks.config import registry
from benchmarks.config.help import help_text
from benchmarks.config.request import read
from benchmarks.run import main
from benchmarks.running.plan import plan
from benchmarks.studies.execution import command_of

COOKIE = Path(__file__).resolve().parents[2] / "cookie"
BAKING = ["task=baking", "method=[tasting]", "seeds=1"]


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """The module alone can be imported: the package is not installed."""
    folder = tmp_path / "modules"
    folder.mkdir()
    shutil.copy(COOKIE / "cookie.py", folder)
    monkeypatch.delitem(sys.modules, "cookie", raising=False)
    monkeypatch.syspath_prepend(folder)


@pytest.fixture
def package(monkeypatch):
    monkeypatch.delitem(sys.modules, "cookie", raising=False)
    monkeypatch.syspath_prepend(COOKIE)


@pytest.fixture
def folder(tmp_path, modules):
    return Path(shutil.copytree(COOKIE / "conf", tmp_path / "my own, conf"))


def install(tmp_path, monkeypatch, name, entry_points):
    """Let the interpreter find an installed package of version 1 with these entry points."""
    info = tmp_path / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(entry_points)
    monkeypatch.syspath_prepend(tmp_path)


def identity(*arguments):
    (experiment,) = plan(read([*BAKING, *arguments])[0]).experiments
    return experiment.identity


def test_a_folder_has_tasks_and_methods(folder, tmp_path):
    (request,) = read([*BAKING, f"conf={folder}", "methods.tasting.bites=2", f"out={tmp_path}"])
    assert request.methods["tasting"] == {"_target_": "cookie.Tasting", "bites": 2}
    assert request.budget == {"heavy": 2}
    assert "baking" not in registry.choices("task")  # but for this command


def test_a_package_has_them_without_a_folder(package, tmp_path):
    (request,) = read([*BAKING, f"out={tmp_path}"])
    assert request.methods["tasting"] == {"_target_": "cookie:Tasting", "bites": 1}
    assert request.task["description"] == "How long to bake: the sine of the toy."
    assert registry.target_of("method", "tasting") == "cookie:Tasting"


def test_a_run_is_the_same_whether_a_file_or_a_package_names_the_class(folder, tmp_path, monkeypatch):
    of_folder = identity(f"conf={folder}", f"out={tmp_path}")
    monkeypatch.syspath_prepend(COOKIE)
    of_package = identity(f"out={tmp_path}")
    assert of_folder == of_package
    assert of_folder["method"] == {"name": "tasting", "version": 3, "parameters": {"bites": 1}}
    other = identity(f"out={tmp_path}", "methods.tasting._target_=cookie.Nibbling")
    assert other["method"] == of_package["method"] | {"target": "cookie.Nibbling"}


def test_a_command_runs_them_in_workers_and_is_recorded_with_the_whole_path(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = [*BAKING, f"conf={folder.name}", "out=out", "display=plain"]
    assert main(arguments) == 0
    (path,) = (tmp_path / "out" / "baking").glob("tasting-*/seed-0/trials.jsonl")
    assert len(path.read_text().splitlines()) == 2
    command = command_of(arguments, [plan(each) for each in read(arguments)])
    assert f"conf={folder}" in command.arguments


def test_help_lists_them_with_where_they_are_from(package, tmp_path, capsys):
    (tmp_path / "task").mkdir()
    text = (COOKIE / "conf" / "task" / "baking.yaml").read_text().replace("baking", "frying")
    (tmp_path / "task" / "frying.yaml").write_text(text)
    assert main([f"conf={tmp_path}", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("  tasting ") and line.endswith(" bites=1  (cookie 1.2)") for line in lines)
    assert any(line.startswith("  frying ") and line.endswith(f"({tmp_path}/task/frying.yaml)") for line in lines)
    assert "frying" not in help_text()


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    assert main([*BAKING, f"conf={tmp_path / 'no'}"]) == 2
    assert capsys.readouterr().err == f"error: conf={tmp_path / 'no'}: there is no such folder\n"
    assert main([f"conf={tmp_path}", "--help"]) == 2
    message = f"error: conf={tmp_path}: give a folder with task/NAME.yaml or method/NAME.yaml in it\n"
    assert capsys.readouterr().err == message


def test_a_name_that_is_there_twice_is_refused_when_it_is_chosen(folder, package):
    with pytest.raises(UsageError, match=r"^task baking is there twice: in cookie 1.2 and in .*baking.yaml; rename"):
        read([*BAKING, f"conf={folder}"])
    (folder / "method" / "tpe.yaml").write_text("# @package methods.tpe\n_target_: cookie.Tasting\n")
    with pytest.raises(UsageError, match=r"^method tpe is there twice: in conf/method/tpe.yaml and in .*tpe.yaml; re"):
        read(["task=toy", "method=tpe", f"conf={folder}"])
    assert len(read(["task=toy", "method=btao", f"conf={folder}"])) == 1
    assert "cannot be used: method tpe is there twice" in help_text([f"conf={folder}"])


def test_a_package_may_not_take_the_name_of_a_method_of_the_suite(package, tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, "other", "[btao.methods]\nbtao = cookie:Tasting\ntasting = cookie:Tasting\n")
    with pytest.raises(
        UsageError, match=r"method btao is there twice: in conf/method/btao.yaml and in other 1; rename"
    ):
        read(["task=toy", "method=btao"])
    with pytest.raises(UsageError, match=r"method tasting is there twice: in .* 1.* and in .* 1"):
        read(["task=toy", "method=tasting"])
    assert len(read(["task=toy", "method=tpe"])) == 1


def test_a_package_that_cannot_be_imported_is_named_when_it_is_chosen(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, "broken", "[btao.methods]\nbroken = no_such_module:Thing\n")
    with pytest.raises(
        UsageError, match=r"^method broken: 'no_such_module:Thing' cannot be imported: ModuleNotFoundErr"
    ):
        read(["task=toy", "method=broken"])
