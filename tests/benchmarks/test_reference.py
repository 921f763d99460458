"""python -m benchmarks.reference: what it takes, and how to go on after Ctrl-C."""

from benchmarks import reference
from benchmarks.studies.reference import NAMES


def test_the_command_says_what_it_takes(capsys):
    assert reference.main(["--help"]) == 0
    assert "usage: python -m benchmarks.reference [all | NAME ...]" in capsys.readouterr().out
    assert reference.main(["toy", "tony"]) == 2
    assert capsys.readouterr().err.startswith("error: there is no reference 'tony'; there are toy, synthetic")


def test_without_names_all_is_made_but_what_verifies_one_method_further(capsys, monkeypatch):
    made = []
    monkeypatch.setattr(reference, "record", lambda name, out: made.append(name))
    assert reference.main([]) == 0
    assert made == ["toy", "synthetic", "svm", "fcn", "cnn", "ablation", "functions", "live", "profile"]
    assert reference.main(["ladder", "toy"]) == 0
    assert made[-2:] == ["ladder", "toy"]
    made.clear()
    assert reference.main(["all"]) == 0
    assert made == list(NAMES)


def test_an_interruption_says_how_to_go_on(capsys, monkeypatch):
    def interrupted(name, out):
        raise KeyboardInterrupt

    monkeypatch.setattr(reference, "record", interrupted)
    assert reference.main(["toy"]) == 130
    assert capsys.readouterr().err.endswith("-m benchmarks.reference toy\n")
