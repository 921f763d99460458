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


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_one_and_its_target_is_replaced(tmp_path, there):
    link, target = tmp_path / "run.json", tmp_path / "disk" / "real.json"
    if there:
        write_whole(target, "old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert [each.name for each in target.parent.iterdir()] == ["real.json"]


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444, 0o200])
def test_a_file_keeps_its_permissions_and_has_them_while_it_is_written(tmp_path, mode):
    path = tmp_path / "run.json"
    write_whole(path, "old")
    path.chmod(mode)
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert temporary.stat().st_mode & 0o777 == mode | 0o600
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == mode


def test_after_an_error_the_file_is_as_it_was_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "table.parquet"
    write_whole(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old" and temporary.suffix == ".parquet"
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("named", [True, False])
def test_an_error_of_the_disk_names_the_file(tmp_path, named):
    path = tmp_path / "run.json"
    with pytest.raises(OSError, match="No space left") as caught, replacing(path) as temporary:
        raise OSError(errno.ENOSPC, "No space left on device", *[str(temporary)] * named)
    assert caught.value.filename == str(path) and caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory", "other.csv"),
        ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
        OSError("a library's own text"),
    ],
)
def test_an_error_of_something_else_stays_as_it_is(tmp_path, error):
    with pytest.raises(OSError) as caught, replacing(tmp_path / "run.json"):
        raise error
    assert caught.value is error


def test_where_no_folder_can_be_made_the_error_names_it(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError) as caught, replacing(tmp_path / "file" / "folder" / "run.json"):
        pass
    assert caught.value.filename == str(tmp_path / "file" / "folder")


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    path = tmp_path / "report.html"
    with replacing(path) as first, replacing(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # the outer block ends last


def test_a_block_that_writes_nothing_leaves_the_file(tmp_path):
    path = tmp_path / "run.json"
    write_whole(path, "old")
    with pytest.raises(FileNotFoundError, match="nothing was written"), replacing(path):
        pass
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    write_whole(path, "")
    assert path.read_text() == ""


def test_a_link_to_itself_is_an_error(tmp_path):
    link = tmp_path / "run.json"
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links"):
        write_whole(link, "new")
    assert link.is_symlink()
