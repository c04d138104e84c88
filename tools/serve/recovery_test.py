"""The file in which the server keeps its clients of NFS version 4 over a restart."""

import subprocess

import pytest

from steertag.build_paths import tool

# Everything here ends at once or has failed.
DEADLINE_S = 20


def refusal(path):
    """What the server says when it cannot use this file; it must end."""
    ended = subprocess.run(
        [tool("steertag-serve"), "--listen", "iwarp://127.0.0.1:0", "--recovery", path],
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE_S,
    )
    assert ended.returncode != 0
    assert ended.stderr.count("\n") == 1
    return ended.stderr


@pytest.mark.parametrize("line", ["2 ab", "1 xyz", "1", "something else"])
def test_a_file_with_foreign_contents_is_left_alone(tmp_path, line):
    file = tmp_path / "clients"
    file.write_text(f"1 00ff\n{line}\n")
    assert "line 2 is none that a server wrote" in refusal(file)
    assert file.read_text() == f"1 00ff\n{line}\n"


def test_it_must_be_a_regular_file(tmp_path):
    assert "it is no regular file" in refusal(tmp_path)


def test_its_directory_must_exist(tmp_path):
    assert "No such file or directory" in refusal(tmp_path / "missing" / "clients")


def test_it_needs_a_name():
    assert "--recovery needs the name of a file" in refusal("")


@pytest.mark.parametrize("seconds", ["0", "4", "3601", "soon"])
def test_leases_have_bounds(seconds):
    ended = subprocess.run(
        [tool("steertag-serve"), "--lease", seconds],
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE_S,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("steertag-serve: --lease")
