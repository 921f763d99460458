"""The examples in the docstrings of btao run, and give what they show."""

import doctest
import importlib

import pytest

EXAMPLES = {
    "btao.interface.saving": ["Saving.from_json"],
    "btao.interface.showing": ["Showing.importance", "Showing.predict"],
    "btao.interface.telling": ["Telling.add_trials", "Telling.enqueue", "Telling.reopen"],
    "btao.minimization": ["minimize"],
    "btao.optimizer": ["BTAO"],
    "btao.parameters": ["Categorical", "Constant", "Integer", "Ordinal", "Real"],
    "btao.search_cv.search": ["BTAOSearchCV"],
    "btao.space": ["Space"],
    "btao.spaces.conditions": ["When"],
    "btao.spaces.configspace": ["from_configspace", "to_configspace"],
    "btao.spaces.optuna": ["from_distributions", "suggest", "to_distributions"],
    "btao.training": ["Level"],
}
NEEDS = {"btao.spaces.optuna": "optuna"}  # an extra, which may not be installed


@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_run(module):
    if module in NEEDS:
        pytest.importorskip(NEEDS[module])
    found = importlib.import_module(module)
    tests = {test.name: test for test in doctest.DocTestFinder(exclude_empty=True).find(found) if test.examples}
    assert {f"{module}.{name}" for name in EXAMPLES[module]} <= {*tests}
    runner = doctest.DocTestRunner()
    for test in tests.values():
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
