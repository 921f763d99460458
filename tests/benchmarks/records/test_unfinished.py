"""Results that take hours go on where a file that was committed left them."""

import pytest

from baselines.protocol import Capabilities
from benchmarks.config.request import read
from benchmarks.records.unfinished import Unfinished
from benchmarks.running.plan import plan
from benchmarks.studies import execution, reference, verification

RUNS = ["-m", "task=forrester,branin", "budget.iterations=20", "method=[random_search,btao]", "jobs=1"]
COMMAND = [*RUNS, "seeds=[1000,1001]"]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A function that makes a small `functions` below a folder, without figures; in it the tasks run, in order."""
    monkeypatch.setattr("benchmarks.figures.curves.figure_run", lambda trials, path, **_: path)
    monkeypatch.setattr(reference, "portably", lambda *_: None)
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    monkeypatch.setitem(verification.COMMANDS, "functions", [COMMAND])
    monkeypatch.setitem(reference.COMMANDS, "functions", [COMMAND])
    execute = execution.execute

    def make(out, until=None):
        make.ran = []

        def counted(plans, command):
            names = [each.request.task["name"] for each in plans]
            if until in names:
                raise KeyboardInterrupt
            make.ran += names
            return execute(plans, command)

        monkeypatch.setattr(execution, "execute", counted)
        return reference.record("functions", tmp_path / out)

    return make


def test_what_is_finished_is_kept_and_another_machine_runs_the_rest_to_the_same_result(made, tmp_path):
    whole = reference.load("functions", folder=made("whole").parent)
    assert made.ran == ["forrester", "branin"]
    unfinished = tmp_path / "reference" / "unfinished" / "functions"
    assert not unfinished.exists()
    with pytest.raises(KeyboardInterrupt):
        made("one", until="branin")
    assert made.ran == ["forrester"] and [path.name for path in unfinished.iterdir()] == ["forrester.parquet"]
    again = reference.load("functions", folder=made("another").parent)
    assert made.ran == ["branin"] and not unfinished.exists()
    assert reference.sha256(again) == reference.sha256(whole)
    assert list(again.dtypes) == list(whole.dtypes)
    assert sorted(path.name for path in (tmp_path / "another").iterdir()) == ["branin"]


def test_runs_of_other_settings_are_not_taken_for_these_and_left_out(made, tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        made("one", until="branin")
    longer = [word.replace("iterations=20", "iterations=25") for word in COMMAND]
    monkeypatch.setitem(reference.COMMANDS, "functions", [longer])
    trials = reference.load("functions", folder=made("another").parent)
    assert made.ran == ["forrester", "branin"]
    (hashes,) = trials[trials["task"] == "forrester"].groupby("method")["hash"].nunique().unique()
    assert hashes == 1


def test_what_is_missing_is_told_run_by_run(made, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        made("one", until="branin")
    kept = Unfinished(tmp_path / "reference" / "unfinished" / "functions")
    forrester, branin = (plan(each).experiments for each in read([*COMMAND, f"out={tmp_path / 'new'}"]))
    assert kept.missing(reference._runs(forrester)) == [] and kept.missing(reference._runs(branin)) == [0, 1, 2, 3]
    (more, _) = read([*COMMAND[:-1], "seeds=[1000,1001,1002]", f"out={tmp_path / 'new'}"])
    seeds = [each.seed for each in plan(more).experiments]
    assert [seeds[place] for place in kept.missing(reference._runs(plan(more).experiments))] == [1002, 1002]
    assert Unfinished(tmp_path / "none").missing(reference._runs(forrester)) == [0, 1, 2, 3]


def test_of_a_task_that_is_there_in_part_the_rest_is_run(made, tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        made("one", until="branin")
    monkeypatch.setitem(reference.COMMANDS, "functions", [[*COMMAND[:-1], "seeds=[1000,1001,1002]"]])
    trials = reference.load("functions", folder=made("another").parent)
    assert made.ran == ["forrester", "branin"] and trials["seed"].nunique() == 3
    assert not trials.duplicated(["task", "hash", "seed", "trial"]).any()
    new = sorted(path.name for path in (tmp_path / "another" / "forrester").glob("*/seed-*"))
    assert new == ["seed-1002", "seed-1002"]


def test_a_method_whose_library_is_missing_ends_it_before_anything_is_lost(made, tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        made("one", until="branin")
    kept = tmp_path / "reference" / "unfinished" / "functions" / "forrester.parquet"
    before = kept.read_bytes()
    monkeypatch.setattr("baselines.btao.BTAORateMethod.capabilities", Capabilities(requires=("no_such_library",)))
    with pytest.raises(RuntimeError, match=r"a reference result is of all its methods: .*no_such_library"):
        made("another")
    assert kept.read_bytes() == before


def test_whether_a_training_was_cached_is_known_of_all_tasks(made, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        made("one", until="branin")
    kept = Unfinished(tmp_path / "reference" / "unfinished" / "functions")
    forrester, branin = (plan(each).experiments for each in read([*COMMAND, f"out={tmp_path / 'new'}"]))
    rows = kept.of(reference._runs(forrester))
    other = rows.assign(task="branin", cached=rows["heavy"])
    for run in branin:
        other.loc[(other["method"] == run.method.name) & (other["seed"] == run.seed), "hash"] = run.hash
    kept.add(other)
    found = kept.of(reference._runs([*forrester, *branin]))
    assert found["cached"].dtype == bool
    assert found.groupby("task")["cached"].sum().to_dict() == {"branin": rows["heavy"].sum(), "forrester": 0}
