"""Files that appear whole: the old content stays until then; mode and link stay after it."""

import os
import pathlib

import pytest

from steertag.atomic_file import write_atomically


def test_an_interrupted_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "it"
    path.write_text("old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path], "the part is gone"


def test_a_text_that_cannot_be_encoded_leaves_what_was_there(tmp_path):
    path = tmp_path / "it"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_the_mode_stays(tmp_path):
    path = tmp_path / "it"
    path.write_text("old")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one(tmp_path):
    path, link = tmp_path / "it", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path.name)
    write_atomically(link, "new")
    assert link.is_symlink() and path.read_text() == "new"


def test_what_is_no_file_is_written_and_not_replaced(tmp_path):
    """A named pipe and an unnamed one, such as /dev/stdout."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    unnamed, writer = os.pipe()
    try:
        write_atomically(path, "new")
        assert os.read(reader, 100) == b"new" and path.is_fifo()
        write_atomically(pathlib.Path(f"/dev/fd/{writer}"), "newer")
        assert os.read(unnamed, 100) == b"newer"
    finally:
        for each in (reader, unnamed, writer):
            os.close(each)


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_folder_is_refused(tmp_path, name):
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / name, "new")
    assert list(tmp_path.iterdir()) == []
