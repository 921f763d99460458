"""The names that records, tables and folders keep: changing one orphans what was recorded under it."""

from __future__ import annotations

import pytest

from benchmarks.config.registry import FORMER_TARGETS, INTERNAL, choices, target_of
from benchmarks.config.spec import Spec
from benchmarks.records.run_info import Status

# By name: the version of the class. A class raises it when its results come to mean something else.
PERSISTED = {
    group: dict.fromkeys(names.split(), 1)
    for group, names in {
        "task": (
            "bohachevsky borehole branin branin_independent branin_opposite branin_shifted camel cnn currin "
            "extra_trees fcn forrester gradient_boosting hartmann3 hartmann6 linear_sgd mlp park park1 svm toy trid "
        ),
        "method": (
            "bohb btao btao_joint btao_paper dehb design gp_bo gp_ei hyperband mf_gp optuna_gp optuna_tpe "
            "random_search smac smac_gp tpe "
        ),
    }.items()
}
PERSISTED["method"] |= {"btao": 5, "gp_ei": 3, "smac": 2, "smac_gp": 2}


@pytest.mark.parametrize("group", PERSISTED)
def test_the_names_and_versions_are_those_on_record(group):
    names = [*choices(group), *(INTERNAL if group == "method" else ())]
    assert {name: Spec(name, target_of(group, name)).version for name in names} == PERSISTED[group]


@pytest.mark.parametrize("group", PERSISTED)
def test_every_name_of_a_former_record_is_still_known(group):
    assert {*FORMER_TARGETS[group]} <= {*PERSISTED[group]}


def test_the_names_of_a_status_are_those_on_record():
    assert [*Status] == ["running", "finished", "exhausted", "failed", "killed"]
