"""The search for garbage, put off."""

from __future__ import annotations

import gc

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
