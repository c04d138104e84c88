"""`steertag grade`: files in conflict are refused before anything is written."""

import os
import subprocess
import sys

import pytest

from steertag import cli
from steertag.testing import grade_captures

DEADLINE_S = 60
CONTENT = b"what was there before"


@pytest.fixture(scope="module")
def violating(tmp_path_factory):
    return grade_captures.violating(tmp_path_factory.mktemp("captures") / "violating.pcapng")


def refusal(capsys, *arguments):
    """The error of a refused command line."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["grade", *map(str, arguments)])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert told.out == "", "it is refused before a file is graded"
    return told.err.splitlines()[-1]


def refusal_of_process(*arguments, **streams):
    """The same in a process of its own, which has a standard output that is a file or a pipe."""
    command = [sys.executable, "-m", "steertag.cli", "grade", *map(str, arguments)]
    done = subprocess.run(
        command, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=False, **streams
    )
    assert done.returncode == 2, done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("option", ["--junit", "--html", "--annotate"])
def test_only_json_prints(violating, capsys, option):
    assert "only --json prints, with -" in refusal(capsys, violating, option, "-")


@pytest.mark.parametrize(
    "one, other",
    [
        ("--json", "--junit"),
        ("--json", "--html"),
        ("--junit", "--annotate"),
        ("--html", "--annotate"),
    ],
)
def test_two_reports_are_not_one_file(violating, tmp_path, capsys, one, other):
    for there in (False, True):
        path = tmp_path / "report"
        if there:
            path.write_bytes(CONTENT)
            (tmp_path / "link").symlink_to(path)
            os.link(path, tmp_path / "name")
        names = [tmp_path / "." / "report", tmp_path / "link", tmp_path / "name"]
        for name in names if there else names[:1]:
            said = refusal(capsys, violating, one, path, other, name)
            assert f"{other} and {one} are the same file" in said
        assert not there or path.read_bytes() == CONTENT
        assert there or not path.exists()


def test_a_folder_by_another_name_holds_the_same_file(violating, tmp_path, capsys):
    (tmp_path / "link").symlink_to(tmp_path)
    one, other = tmp_path / "new", tmp_path / "link" / "new"
    assert "the same file" in refusal(capsys, violating, "--json", one, "--junit", other)


@pytest.mark.parametrize("option", ["--json", "--junit", "--html", "--annotate"])
def test_no_report_replaces_what_is_graded(violating, tmp_path, capsys, option):
    path = tmp_path / "only.pcapng"
    path.write_bytes(violating.read_bytes())
    (tmp_path / "link").symlink_to(path)
    os.link(path, tmp_path / "name")
    for name in ("only.pcapng", "link", "name"):
        said = refusal(capsys, path, option, tmp_path / name)
        assert "is a FILE to be graded, and would be overwritten" in said
    assert path.read_bytes() == violating.read_bytes()


def test_no_report_replaces_standard_input(violating, tmp_path):
    path = tmp_path / "only.pcapng"
    path.write_bytes(violating.read_bytes())
    with open(path, "rb") as file:
        said = refusal_of_process("-", "--json", path, stdin=file)
    assert "would be overwritten" in said
    assert path.read_bytes() == violating.read_bytes()


def test_a_fifo_is_not_annotated(tmp_path, capsys):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    said = refusal(capsys, fifo, "--annotate", tmp_path / "out.pcapng")
    assert said.endswith(f"--annotate reads FILE twice, and {fifo} is no regular file")


def test_a_pipe_at_standard_input_is_not_annotated(tmp_path):
    said = refusal_of_process(
        "/dev/stdin", "--annotate", tmp_path / "out.pcapng", stdin=subprocess.PIPE
    )
    assert "/dev/stdin is no regular file" in said


def test_a_file_at_standard_input_can_be_annotated(violating, tmp_path):
    out = tmp_path / "out.pcapng"
    command = [sys.executable, "-m", "steertag.cli", "grade", "/dev/stdin", "--annotate", out]
    with open(violating, "rb") as file:
        status = subprocess.run(
            command, stdin=file, stdout=subprocess.DEVNULL, timeout=DEADLINE_S, check=False
        ).returncode
    assert status == 1
    assert b"steertag: RFC" in out.read_bytes()


def test_a_copy_does_not_go_into_a_fifo(violating, tmp_path, capsys):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    said = refusal(capsys, violating, "--annotate", fifo)
    assert said.endswith(f"--annotate writes a regular file, which {fifo} is not")


@pytest.mark.parametrize("option", ["--json", "--junit", "--html", "--annotate"])
def test_no_report_goes_where_the_text_goes(violating, tmp_path, option):
    path = tmp_path / "out"
    with open(path, "wb") as file:
        said = refusal_of_process(violating, option, "/dev/stdout", stdout=file)
    assert f"{option} and standard output are the same file" in said
    assert path.read_bytes() == b""
    refusal_of_process(violating, option, "/dev/stdout", stdout=subprocess.PIPE)


def test_nothing_is_in_the_way_of_the_null_device(violating):
    command = [sys.executable, "-m", "steertag.cli", "grade", violating]
    command += ["--json", os.devnull, "--junit", os.devnull]
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, timeout=DEADLINE_S, check=False, capture_output=False
    )
    assert done.returncode == 1


def test_names_in_a_refusal_cannot_harm(tmp_path, capsys):
    fifo = tmp_path / "\x1b[31m"
    os.mkfifo(fifo)
    assert "\x1b" not in refusal(capsys, fifo, "--annotate", tmp_path / "out.pcapng")
