"""Files that are replaced as a whole."""

from __future__ import annotations

import errno

import pytest

from btao.running.files import replacing, write_whole


@pytest.mark.parametrize(("content", "written"), [("é\n", b"\xc3\xa9\n"), (b"\x00", b"\x00"), ("", b"")])
def test_a_file_is_made_or_replaced_with_its_folder(tmp_path, content, written):
    path = tmp_path / "new" / "file (1).json"
    for _ in range(2):
        write_whole(path, content)
        assert path.read_bytes() == written
    assert [each.name for each in path.parent.iterdir()] == ["file (1).json"]


def test_after_an_error_the_file_is_as_it_was_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "table.parquet"
    write_whole(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old" and temporary.suffix == ".parquet"
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_of_the_disk_names_the_file(tmp_path):
    path = tmp_path / "run.json"
    with pytest.raises(OSError) as caught, replacing(path) as temporary:
        raise OSError(errno.ENOSPC, "No space left on device", str(temporary))
    assert caught.value.filename == str(path) and caught.value.errno == errno.ENOSPC


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    path = tmp_path / "report.html"
    with replacing(path) as first, replacing(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # the outer block ends last
