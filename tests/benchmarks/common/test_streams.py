"""Printing loses at most what is printed: pipes that are closed, full disks, streams that were never open."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = ("run", "record", "status", "report", "claims", "reference", "profile", "retime")

WORK = """
import sys
from pathlib import Path
from benchmarks.common.streams import unfailing

with unfailing():
    with open("record", "w") as record:
        print("said")
        print("said", file=sys.stderr, flush=True)
        sys.stdout.flush()
        record.write("done")
sys.exit(3)
"""
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def shell(redirected, folder, code=WORK):
    """Run Python code with streams redirected by a shell: exit status, stdout and stderr."""
    command = f'"$0" -c "$1" {redirected}'
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, code], cwd=folder, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("redirected", "stdout", "stderr"),
    [
        ("", "said\n", "said\n"),
        (">&-", "", "said\n"),
        ("2>&-", "said\n", ""),
        ("<&- >&- 2>&-", "", ""),
        pytest.param(">/dev/full", "", "said\nstdout could not be written: No space left on device\n", marks=FULL),
        pytest.param("2>/dev/full", "said\n", "", marks=FULL),
        pytest.param(">/dev/full 2>&1", "", "", marks=FULL),
    ],
)
def test_work_files_and_exit_status_are_the_same_whatever_takes_the_output(tmp_path, redirected, stdout, stderr):
    assert shell(redirected, tmp_path) == (3, stdout, stderr)
    assert (tmp_path / "record").read_text() == "done"


def test_a_pipe_that_is_closed_is_silent(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WORK]
    done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (3, "said\n")
    assert (tmp_path / "record").read_text() == "done"


def test_what_the_encoding_lacks_is_written_as_escapes(tmp_path):
    code = 'from benchmarks.common.streams import unfailing\nwith unfailing():\n    print("0–9")'
    assert shell("", tmp_path, f"import sys\nsys.stdout.reconfigure(encoding='ascii')\n{code}")[1] == "0\\u20139\n"


@FULL
def test_every_command_prints_so(tmp_path):
    code = f"""
from importlib import import_module
assert not any(import_module("benchmarks." + name).main(["--help"]) for name in {COMMANDS})
"""
    status, _, err = shell(">/dev/full", tmp_path, code)
    assert (status, err.count("stdout could not be written")) == (0, len(COMMANDS)), err
