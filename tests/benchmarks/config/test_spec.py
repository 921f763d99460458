"""Names of classes with their parameters."""

import re
import sys

import pytest

from benchmarks.running.experiment import Spec


class AnyKeyword:
    def __init__(self, **options):
        self.options = options


def test_a_class_that_takes_any_keyword_checks_them_itself():
    assert Spec("any", f"{__name__}:AnyKeyword", {"a": 1}).build(b=2).options == {"a": 1, "b": 2}


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "-x"])
def test_a_name_must_be_able_to_name_a_folder(name):
    with pytest.raises(ValueError, match="name must be letters"):
        Spec(name, "x.Y")


def test_where_the_module_of_a_class_must_be_is_said_if_there_is_none_of_its_name():
    advice = r"nothing to be found at 'no_such_module\.Method' .*: Python must find it, from its folder or"
    with pytest.raises(ValueError, match=advice):
        Spec("missing", "no_such_module.Method").resolve()
    with pytest.raises(ValueError, match=r"nothing to be found at 'benchmarks\.no_such\.Method' \(.*\)$"):
        Spec("missing", "benchmarks.no_such.Method").resolve()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_library", "cannot be imported: ModuleNotFoundError: No module named 'no_such_library'"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("def", "cannot be imported: SyntaxError"),
        ("", "nothing to be found at 'broken_method.Method'"),
    ],
)
def test_an_error_in_the_file_of_a_method_is_told_from_a_wrong_name(tmp_path, monkeypatch, code, message):
    (tmp_path / "broken_method.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_method", raising=False)
    with pytest.raises(ValueError, match=re.escape(message)):
        Spec("broken", "broken_method.Method").resolve()
