"""The search for garbage, put off."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from benchmarks.garbage import no_search


@pytest.fixture(autouse=True)
def enabled():
    yield
    gc.enable()


@pytest.mark.parametrize("before", [True, False])
def test_there_is_no_search_meanwhile_and_afterwards_what_was_before(before):
    (gc.enable if before else gc.disable)()
    with pytest.raises(ValueError, match="an error"), no_search():
        assert not gc.isenabled()
        raise ValueError("an error")
    assert gc.isenabled() == before


def test_a_worker_begins_before_anything_large_is_imported():
    text = "import sys, benchmarks.worker_start; print({'numpy', 'benchmarks.worker'} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    assert printed == "set()\n"
