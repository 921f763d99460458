"""The files of `conf/`: what is wrong with one is said in a line that names it."""

import pytest

from benchmarks.common.errors import UsageError
from benchmarks.config import registry as catalog


@pytest.mark.parametrize("group", catalog.GROUPS)
def test_the_files_of_the_suite_are_sound(group):
    for name in catalog.choices(group):
        assert catalog.document(group, name)["_target_"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# @package methods.mine\n_target_: [", "mine.yaml is no YAML: "),
        ("# @package methods.mine\n", "mine.yaml must hold names with their values, got None"),
        ("_target_: a.B\n", "mine.yaml must begin with the line '# @package methods.mine'"),
        ("# @package methods.other\n_target_: a.B\n", "mine.yaml must begin with the line '# @package methods.mine'"),
        ("# @package methods.mine\nn_init: 3\n", "mine.yaml lacks '_target_'"),
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
