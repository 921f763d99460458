"""The paper's rule and the joint one make the trials of the first version that was recorded: an extract of its records.

The toy's bounds on delta make ln P part of its likelihood. Its search is another one now (METHOD item 6), so its trials
are the same to the accuracy of that search alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import records

FIRST = json.loads((Path(__file__).parent / "first_version.json").read_text())
HEAVY_RUNS = {"currin": 20, "park": 20, "toy": 6}
ACCURACY = {"currin": 1e-12, "park": 1e-12, "toy": 1e-8}


@pytest.mark.parametrize("task", HEAVY_RUNS)
def test_trials_are_those_of_the_first_version(task, tmp_path):
    methods = [name.split("/")[1] for name in FIRST if name.startswith(f"{task}/")]
    command = [f"task={task}", f"method=[{','.join(methods)}]", "seeds=1", f"budget.heavy={HEAVY_RUNS[task]}"]
    subprocess.run([sys.executable, "-m", "benchmarks.run", *command, f"out={tmp_path}"], check=True)
    trials = records.load(tmp_path)
    assert set(trials["method"]) == {*methods}
    for method, mine in trials.groupby("method"):
        first = FIRST[f"{task}/{method}"]
        assert "".join("H" if heavy else "l" for heavy in mine["heavy"]) == first["levels"]
        assert mine["value"].tolist() == pytest.approx(first["values"], rel=ACCURACY[task])
