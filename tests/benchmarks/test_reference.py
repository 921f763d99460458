"""benchmarks.reference: names, digests, and tables that are not committed. The notebooks exercise the rest."""

import pandas as pd
import pytest

from benchmarks import reference
from benchmarks.command_line import read


def test_an_unknown_table_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="no reference 'tony'; there are toy, synthetic, ablation, profile"):
        reference.load("tony")


def test_a_table_that_is_missing_says_what_makes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    monkeypatch.delenv("BTAO_SCALE", raising=False)
    with pytest.raises(FileNotFoundError, match=r"`python -m benchmarks.reference profile` makes it"):
        reference.load("profile")


def test_the_digest_is_of_all_but_seconds():
    frame = pd.DataFrame({"value": [1.0, None], "time": [3.0, 4.0]})
    assert reference.sha256(frame) == reference.sha256(frame.assign(time=0.0))
    assert reference.sha256(frame) != reference.sha256(frame.assign(value=[1.0, 2.0]))
    assert len(reference.sha256(frame)) == 64


def test_every_command_can_be_read_at_both_sizes():
    for name in ("toy", "synthetic", "ablation"):
        command = reference.COMMANDS[name][-1]
        small = reference.SMALL.get(name, ["scale=smoke", "seeds=2"])
        assert {request.seeds for request in read([*command, *small])} == {(0, 1)}
        assert len(read(command)) == len(read([*command, *small]))


@pytest.mark.parametrize("number", range(len(reference.PROFILE)))
def test_the_profile_is_of_tasks_that_there_are(number):
    (request,) = read([*reference.PROFILE[number], "method=btao"])
    assert request.seeds == tuple(range(30))
