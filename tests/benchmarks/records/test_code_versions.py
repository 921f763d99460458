"""Runs of one comparison that were made by different code."""

import pytest

from benchmarks.records.code_versions import several
from benchmarks.records.run_info import RunInfo, Start

IDENTITY = dict.fromkeys(("source", "budget", "threads", "data"), None) | {
    "task": {"parameters": {}},
    "method": {"parameters": {}},
    "budget": {},
}
OLD, NEW = {"mine": "aaa", "helper": "1"}, {"mine": "aaa", "helper": "2"}


def run(*codes, part="method"):
    starts = tuple(Start(code={part: code}, first_trial=2 * at) for at, code in enumerate(codes))
    return RunInfo("toy", "mine", 0, "0" * 10, IDENTITY, n_trials=2 * len(codes), starts=starts)


def several_of(*codes):
    """The lines of runs of one method, one a seed."""
    return several({("mine-0", seed): run(*each) for seed, each in enumerate(codes)}, {"mine-0": "mine [a=1]"})


@pytest.mark.parametrize(
    "codes",
    [
        [(OLD,), (OLD,)],
        [(OLD,), (None,)],  # one that does not say
        [(OLD,), ()],
        [(NEW,), ("aaa",)],  # an old record: of the file of the class alone, which is the same
        [("aaa",), ("aaa",)],
    ],
)
def test_runs_of_one_version_say_nothing(codes):
    assert several_of(*[each or (None,) for each in codes]) == []


def test_versions_of_a_method_are_told_with_their_seeds_and_where_they_differ():
    (line,) = several_of((OLD,), (NEW,), (OLD,))
    assert line.startswith("method mine [a=1] is here in several versions of its code (they differ in helper)")
    first, second = line.partition("a mean must not mix: ")[2].split("; ")
    assert first.endswith(" made seeds 0, 2") and second.endswith(" made seeds 1")
    assert len(first.split()[0]) == len(second.split()[0]) == 10 and first.split()[0] != second.split()[0]


def test_an_old_record_of_another_file_is_another_version():
    (line,) = several_of((OLD,), ("bbb",))
    assert "bbb made seeds 1" in line and "differ in" not in line


def test_a_run_that_two_versions_made_is_told():
    (line,) = several_of((OLD, NEW))
    assert "+" in line and line.endswith("made seeds 0")


def test_versions_of_a_task_are_told_over_all_methods():
    runs = {("a-0", 3): run(OLD, part="task"), ("b-1", 3): run(NEW, part="task")}
    (line,) = several(runs, {})
    assert line.startswith("task toy is here in several versions of its code (they differ in helper)")
    assert "made runs a 3; " in line and line.endswith("made runs b 3")
