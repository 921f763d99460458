"""What is kept of a run's code, and which runs are said to be of older code."""

import hashlib
import json
import sys

import pytest

from benchmarks.config.spec import Spec
from benchmarks.records import source_code
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.run_info import RunInfo, Start
from benchmarks.records.source_code import changed, digests
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
        ([{"code": {"method": digest(CODE), "task": digest("old")}}], True),
        ([{}], False),  # it does not say
        ([{"code": {"method": None, "task": None}}], False),
        ([{"code": code("old")}, {"code": code(CODE), "first_trial": 2}], True),  # begun by other code
        ([{"code": code("old")}, {"code": code(CODE), "first_trial": 0}], False),  # which made no trial
    ],
)
def test_a_run_is_of_older_code_if_any_of_its_trials_is(both, tmp_path, starts, is_changed):
    experiment, path = both
    lines = changed([written(experiment, tmp_path / "out", starts)])
    assert len(lines) == is_changed
    for line in lines:
        assert line.startswith(f"{path} has changed since 1 of these runs were made")
        assert line.endswith(str(experiment.folder(tmp_path / "out").parent))


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
