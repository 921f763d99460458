"""What is kept of a run's code, and which runs are said to be of older code."""

import hashlib
import json
import subprocess
import sys

import pytest

from benchmarks.config.spec import Spec
from benchmarks.records import source_code
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import RunInfo, Start
from benchmarks.records.source_code import changed, digests, outdated
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment

CODE = "class Method:\n    pass\n\nclass Task:\n    pass\n"


@pytest.fixture
def both(tmp_path, monkeypatch):
    """An experiment whose classes are in one file, and that file."""
    path = tmp_path / "both_of_them.py"
    path.write_text(CODE)
    monkeypatch.delitem(sys.modules, "both_of_them", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    task, method = Spec("task", "both_of_them.Task"), Spec("method", "both_of_them.Method")
    return Experiment(task, method, 0, Budget(heavy=1)), path


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def written(experiment, out, starts, n_trials=3):
    """A run.json; its folder, and its parts."""
    folder = RunFolder(experiment.folder(out))
    names = experiment.task.name, experiment.method.name, 0, experiment.hash, experiment.identity
    folder.begin(RunInfo(*names, n_trials=n_trials, starts=tuple(Start(**start) for start in starts)))
    return folder.path, experiment.parts


def code(text):
    return {name: {"both_of_them": digest(text)} for name in ("method", "task")}


def old_code(text):
    return {"method": digest(text), "task": digest(text)}


def test_a_process_goes_on_with_the_code_that_it_imported(both):
    experiment, path = both
    assert digests(experiment.parts) == code(CODE)
    path.write_text(CODE + "# changed\n")
    assert digests(experiment.parts) == code(CODE)


@pytest.mark.parametrize(
    ("starts", "is_changed"),
    [
        ([{"code": code(CODE)}], False),
        ([{"code": code("old")}], True),
        ([{"code": code(CODE) | {"task": {"both_of_them": digest("old")}}}], True),
        ([{"code": code(CODE) | {"task": code(CODE)["task"] | {"gone": digest("old")}}}], True),
        ([{"code": old_code(CODE)}], False),  # of before modules were told apart
        ([{"code": old_code("old")}], True),
        ([{}], False),  # it does not say
        ([{"code": {"method": None, "task": None}}], False),
        ([{"code": code("old")}, {"code": code(CODE), "first_trial": 2}], True),  # begun by other code
        ([{"code": code("old")}, {"code": code(CODE), "first_trial": 0}], False),  # which made no trial
    ],
)
def test_a_run_is_of_older_code_if_any_of_its_trials_is(both, tmp_path, starts, is_changed):
    experiment, _ = both
    run = written(experiment, tmp_path / "out", starts)
    lines = changed([run])
    assert bool(lines) == is_changed == bool(outdated([run]))
    for line in lines:
        assert line.startswith(("the code of method method", "the code of task task"))
        assert "has changed since 1 of these runs were made (" in line
        assert line.endswith("they stay as they are: rerun=changed makes them anew and keeps these aside")


def test_what_a_class_imports_from_the_project_or_from_beside_it_is_its_code_and_no_more(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "a_package_of_mine"
    package.mkdir()
    files = {
        "a_package_of_mine/__init__.py": "",
        "a_package_of_mine/method.py": (
            "import json, numpy\nfrom typing import TYPE_CHECKING\nfrom . import near\nimport beside_it\n"
            "from btao import Real, Space\nif TYPE_CHECKING:\n    from btao.optimizer import BTAO\n"
            "else:\n    from .other import value\n"
            "class Method:\n    def ask(self):\n        from a_package_of_mine.later import late\n"
        ),
        "a_package_of_mine/near.py": "from .deeper import depth\n",
        "a_package_of_mine/deeper.py": "depth = 1\n",
        "a_package_of_mine/other.py": "value = 1\n",
        "a_package_of_mine/later.py": "raise RuntimeError('imported for nothing')\n",
        "beside_it.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (found,) = digests({"method": Spec("method", "a_package_of_mine.method.Method")}).values()
    assert next(iter(found)) == "a_package_of_mine.method"
    mine = {f"a_package_of_mine.{name}" for name in ("method", "near", "deeper", "other", "later")}
    assert {name for name in found if not name.startswith("btao")} == mine | {"a_package_of_mine"}
    assert {"btao", "btao.space", "btao.parameters"} <= found.keys() and "btao.optimizer" not in found
    assert found["a_package_of_mine.deeper"] == digest(files["a_package_of_mine/deeper.py"])

    run = written(
        Experiment(
            Spec("t", "benchmarks.objectives.toy.Toy"), Spec("m", "a_package_of_mine.method.Method"), 0, Budget(heavy=1)
        ),
        tmp_path / "out",
        [{"code": {"method": found}}],
    )
    assert changed([run]) == []
    (package / "deeper.py").write_text("depth = 2\n")
    (line,) = changed([run])
    assert line.startswith(
        "the code of method m has changed since 1 of these runs were made (a_package_of_mine.deeper)"
    )


@pytest.mark.parametrize("target", ["baselines.bohb.BOHB", "baselines.gp_bo.GPBO", "baselines.btao.BTAOMethod"])
def test_what_a_process_has_loaded_meanwhile_does_not_change_a_digest(target):
    script = (
        "import sys\nfrom benchmarks.config.spec import Spec\nfrom benchmarks.records.source_code import digests\n"
        f"spec = Spec('m', '{target}')\nspec.resolve()\n"
        "if sys.argv[1:]:\n    import btao, benchmarks.studies.execution\n    btao.BTAO, btao.minimize\n"
        "print(sorted(digests({'method': spec})['method']))"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", script, *more], capture_output=True, text=True, check=True).stdout
        for more in ([], ["all"])
    )
    assert first == second and "btao.optimizer" in first


def test_a_folder_without_init_is_a_package_too(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "names_only"
    folder.mkdir()
    (folder / "helper.py").write_text("x = 1\n")
    (folder / "method.py").write_text("from names_only.helper import x\nclass Method:\n    pass\n")
    (found,) = digests({"method": Spec("m", "names_only.method.Method")}).values()
    assert list(found) == ["names_only.method", "names_only.helper"]


def test_a_module_beside_a_class_that_is_in_no_package_is_its_code(both):
    experiment, path = both
    path.with_name("helper_of_both.py").write_text("x = 1\n")
    path.write_text("import helper_of_both\n" + CODE)
    assert list(digests(experiment.parts)["task"]) == ["both_of_them", "helper_of_both"]


def test_a_record_that_is_not_there_says_nothing(both, tmp_path):
    assert changed([(tmp_path, both[0].parts)]) == []


@pytest.mark.parametrize("error", [None, TypeError, OSError])
def test_a_class_without_a_file_has_no_digest(both, monkeypatch, error):
    def no_file(cls):
        if error is not None:
            raise error("source code not available")

    monkeypatch.setattr(source_code.inspect, "getsourcefile", no_file)
    assert digests(both[0].parts) == {"method": None, "task": None}
    assert json.dumps(digests(both[0].parts))
