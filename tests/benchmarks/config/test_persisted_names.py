"""The names that records, tables and folders keep: changing one orphans what was recorded under it."""

from __future__ import annotations

import pytest

from benchmarks.config.registry import FORMER_TARGETS, INTERNAL, choices, target_of
from benchmarks.config.spec import Spec
from benchmarks.records.run_info import Status

# By name: the version of the class. A class raises it when its results come to mean something else.
PERSISTED = {
    "task": {"cnn": 1, "currin": 1, "fcn": 1, "park": 1, "svm": 1, "toy": 1},
    "method": {
        **{
            "bohb": 1,
            "btao": 1,
            "btao_paper": 1,
            "btao_rate": 1,
            "dehb": 1,
            "gp_bo": 1,
            "gp_ei": 1,
            "hyperband": 1,
            "mf_gp": 1,
        },
        **{"optuna_gp": 1, "optuna_tpe": 1, "random_search": 1, "smac": 1, "smac_gp": 1, "tpe": 1, "design": 1},
    },
}


@pytest.mark.parametrize("group", PERSISTED)
def test_the_names_and_versions_are_those_on_record(group):
    names = [*choices(group), *(INTERNAL if group == "method" else ())]
    assert {name: Spec(name, target_of(group, name)).version for name in names} == PERSISTED[group]


@pytest.mark.parametrize("group", PERSISTED)
def test_every_name_of_a_former_record_is_still_known(group):
    assert {*FORMER_TARGETS[group]} <= {*PERSISTED[group]}


def test_the_names_of_a_status_are_those_on_record():
    assert [*Status] == ["running", "finished", "exhausted", "failed", "killed"]
