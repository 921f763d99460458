"""The README's Python examples run as they stand, in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def examples():
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def test_the_examples_run_without_a_warning_and_print_what_they_promise(tmp_path):
    assert len(examples()) == 2
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    tuning, asking = [
        subprocess.run(
            [sys.executable, "-W", "error::UserWarning:btao", "-c", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        for code in examples()
    ]
    assert (tuning.returncode, tuning.stderr) == (0, "")
    assert re.match(r"\{'units': \d+, 'rate': [\d.e-]+\} 0\.0\d+\n\(array\(\[", tuning.stdout)
    assert (tmp_path / "tuning.json").exists()
    assert (asking.returncode, asking.stdout, asking.stderr) == (0, "", "")
