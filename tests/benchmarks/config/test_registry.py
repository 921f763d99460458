"""The files of `conf/`: what is wrong with one is said in a line that names it."""

from pathlib import Path

import pytest

from benchmarks.common.errors import UsageError
from benchmarks.config import registry as catalog
from benchmarks.config.help import help_text
from benchmarks.config.request import read
from benchmarks.records.command import RUN_MODULE, Command

SUITE = catalog.CONF


@pytest.mark.parametrize("group", catalog.GROUPS)
def test_the_files_of_the_suite_are_sound(group):
    for name in catalog.choices(group):
        assert catalog.document(group, name)["_target_"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# @package methods.mine\n_target_: [", "mine.yaml is no YAML: "),
        ("# @package methods.mine\n", "mine.yaml must hold names with their values, got None"),
        ("\ufeff# @package methods.mine\n_target_: a.B\n", "mine.yaml begins with a byte-order mark: save it as UTF-8"),
        ("_target_: a.B\n", "mine.yaml must begin with the line '# @package methods.mine'"),
        ("# @package methods.other\n_target_: a.B\n", "mine.yaml must begin with the line '# @package methods.mine'"),
        ("# @package methods.mine\nn_init: 3\n", "mine.yaml: the key '_target_' is missing"),
        ("# @package methods.mine\n_target_: a.B\nk: 1\nk: 2\n", "mine.yaml is no YAML: the key 'k' is there twice"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(catalog, "CONF", tmp_path)
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_text(text)
    with pytest.raises(UsageError) as reason:
        catalog.document("method", "mine")
    assert message in str(reason.value)
    assert "\n" not in str(reason.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "CONF", tmp_path)
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "mine.yaml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"mine\.yaml is no YAML: 'utf-8' codec"):
        catalog.document("task", "mine")
    (tmp_path / "task" / "lost.yaml").symlink_to("nowhere")
    with pytest.raises(UsageError, match=r"lost\.yaml cannot be read: No such file"):
        catalog.document("task", "lost")


def test_records_go_into_the_checkout_from_any_folder_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "INSTALLED", False)
    monkeypatch.setattr(catalog, "ROOT", tmp_path / "checkout")
    (tmp_path / "checkout" / "notebooks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    assert catalog.default_out() == catalog.out_folder([]) == Path("results/runs")
    monkeypatch.chdir("notebooks")
    assert catalog.default_out() == catalog.out_folder([]) == tmp_path / "checkout" / "results" / "runs"
    assert read(["task=toy"])[0].out == catalog.default_out()
    assert (
        read(["task=toy", "out=results/runs"])[0].out
        == catalog.out_folder(["out=results/runs"])
        == Path("results/runs")
    )
    command = Command(RUN_MODULE, ("task=toy",))
    assert command.at(catalog.default_out()) == command
    monkeypatch.chdir(tmp_path)
    assert catalog.default_out() == Path("results/runs")
    monkeypatch.setattr(catalog, "INSTALLED", True)
    monkeypatch.chdir(tmp_path / "checkout" / "notebooks")
    assert catalog.default_out() == Path("results/runs")


def test_a_file_that_is_no_good_is_listed_with_the_reason_beside_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "CONF", tmp_path)
    for group, good in (("task", "toy"), ("method", "btao")):
        (tmp_path / group).mkdir()
        (tmp_path / group / f"{good}.yaml").write_text((SUITE / group / f"{good}.yaml").read_text())
        (tmp_path / group / "empty.yaml").write_text("")
    lines = help_text().splitlines()
    for name, said in (("toy", "A sine on"), ("btao", "rule=rate")):
        assert any(line.split()[:1] == [name] and said in line for line in lines)
    assert sum("empty" in line and "cannot be used: " in line and "got None" in line for line in lines) == 2
